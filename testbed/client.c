/*
 * Sends requests to the emulator of a testbed, which emulator/control.c answers.
 */
#include "testbed/testbed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "testbed/emulator/names.h"

#define TIMEOUT_S    5
#define ATTEMPTS_MAX 20

/* Returns the whole answer, which the caller frees, or NULL. *connected: the emulator accepted the connection. */
static char *exchange_once(const char *line, bool *connected)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = TB_CONTROL};
    struct timeval timeout = {TIMEOUT_S, 0};
    char *text = NULL, part[4096];
    size_t size = 0, length = strlen(line);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0)
        return NULL;
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    *connected = connect(server, (struct sockaddr *)&address, sizeof address) == 0;
    FILE *all = *connected && send(server, line, length, MSG_NOSIGNAL) == (ssize_t)length ? open_memstream(&text, &size)
                                                                                          : NULL;
    for (ssize_t got; all && (got = recv(server, part, sizeof part, 0)) > 0;)
        fwrite(part, 1, (size_t)got, all);
    close(server);
    if (all && fclose(all) == 0 && size > 0)
        return text;
    free(text);
    return NULL;
}

/* Repeats a request that was not answered. The emulator works in real time, so it does not wait for the line of a
 * client that was descheduled after connecting. A line that it has not read has had no effect. */
static char *exchange(const char *request)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    char line[256], *text = NULL;
    bool connected = true;
    snprintf(line, sizeof line, "%s\n", request);
    for (int attempts = 0; !text && connected && attempts < ATTEMPTS_MAX; attempts++) {
        if (attempts > 0)
            nanosleep(&pause, NULL);
        text = exchange_once(line, &connected);
    }
    return text;
}

static int silent(void)
{
    if (trv_testbed_root() < 0)
        return TRV_ERR_UNSUPPORTED;
    if (access(TB_NODES, F_OK) != 0)
        return trv_fail(TRV_ERR_STATE, "no testbed is up; start one, for example with `trivance testbed up 3x3`");
    return trv_fail(TRV_ERR_STATE, "the testbed's emulator does not answer; `trivance testbed down` removes the "
                                   "testbed");
}

int trv_testbed_ask(const char *request, char **answer)
{
    char *text = exchange(request);
    if (!text)
        return silent();
    size_t length = strcspn(text, "\n");
    if (strncmp(text, "ok", length) != 0) {
        int code = trv_fail(TRV_ERR_ARGUMENT, "%.*s", (int)(length > 6 ? length - 6 : 0), text + 6);
        free(text);
        return code;
    }
    if (answer)
        memmove(*answer = text, text + length + 1, strlen(text + length));
    else
        free(text);
    return TRV_OK;
}

/* The number that follows `word` at the beginning of a line; 0 if there is none. */
static double number(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
        if (strncmp(text, word, length) == 0 && text[length] == ' ')
            return trv_strtod(text + length, NULL);
    return 0;
}

int trv_testbed_status(tb_status_t *status)
{
    char *text, torus[TRV_TORUS_TEXT_MAX] = "";
    int code = trv_testbed_ask("status", &text);
    if (code < 0)
        return code;
    sscanf(text, "torus %95s", torus);
    code = trv_torus_parse(torus, &status->network.torus);
    status->network.bandwidth_bps = number(text, "bandwidth_bps");
    status->network.latency_ns = number(text, "latency_ns");
    status->network.ports = number(text, "ports") > 0;
    status->network.no_forwarding = number(text, "no_forwarding") > 0;
    status->network.management_bps = number(text, "management_bps");
    status->process = (int)number(text, "process");
    status->core = (int)number(text, "core");
    status->realtime = number(text, "realtime") > 0;
    status->seconds = number(text, "seconds");
    status->packets = (uint64_t)number(text, "packets");
    status->link_bytes = (uint64_t)number(text, "link_bytes");
    status->dropped = (uint64_t)number(text, "dropped");
    status->misaddressed = (uint64_t)number(text, "misaddressed");
    status->management_bytes = (uint64_t)number(text, "management_bytes");
    status->lateness_p50_ns = number(text, "lateness_p50_ns");
    status->lateness_p99_ns = number(text, "lateness_p99_ns");
    status->lateness_max_ns = number(text, "lateness_max_ns");
    free(text);
    return code;
}
