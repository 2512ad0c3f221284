/*
 * What libfabric reads from the environment, once in a process, and both ends of a connection must have alike: where
 * ofi_rxm's limits differ, its messages wait for each other for ever. So rank 0 says what holds.
 *
 * Where a program has used libfabric before, it has read them already, which nothing tells: such programs set them for all
 * ranks. Unless its user has set one of them, libfabric's own values make way for others where tcp is what ofi_rxm carries:
 *
 *     eager limit    tcp takes an eager message straight into the buffer that is due, of any length, so that a
 *                    rendezvous saves no copy: it costs a round trip, two to three times the time of 32 KiB to 1 MiB on
 *                    one host (bench/net)
 *     rendezvous     by writes. With reads, libfabric 1.17 crashes when an endpoint is closed whose request to read has
 *                    not left yet, as after a message of a wrong length: its tcp provider reports the request without
 *                    the context that ofi_rxm then follows
 *
 * Over verbs the eager limit has to be the size of the buffers, so hosts with such devices keep what libfabric has.
 *
 * One more may differ: ofi_rxm's buffers for receiving, 4096 of 16 KiB, which every process touches at the start. A message
 * that nobody waits for keeps its buffer, but another takes its place: so 512 serve as well (with one, twelve ranks whose
 * messages nobody waits for take no longer).
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "transport/fabric/inside.h"

static const struct {
    const char *name, *value; /* NULL: libfabric's own */
} PARAMETER[] = {{"FI_OFI_RXM_EAGER_LIMIT", "1048576"},
                 {"FI_OFI_RXM_USE_RNDV_WRITE", "1"},
                 {"FI_OFI_RXM_BUFFER_SIZE", NULL},
                 {"FI_OFI_RXM_SAR_LIMIT", NULL}};

#define BUFFERS_NAME  "FI_OFI_RXM_MSG_RX_SIZE"
#define BUFFERS_VALUE "512"

enum { PARAMETERS = sizeof PARAMETER / sizeof *PARAMETER, VALUE_MAX = 32 };

/* NULL: it is not set, or empty. */
static const char *value_of(int i)
{
    const char *value = getenv(PARAMETER[i].name);
    return value && *value ? value : NULL;
}

static bool any_set(void)
{
    bool set = false;
    for (int i = 0; i < PARAMETERS; i++)
        set = set || value_of(i);
    return set;
}

static bool has_verbs(void)
{
    bool has = false;
    DIR *devices = opendir("/sys/class/infiniband");
    for (const struct dirent *entry; devices && !has && (entry = readdir(devices));)
        has = entry->d_name[0] != '.';
    if (devices)
        closedir(devices);
    return has;
}

/* Of "NAME=VALUE NAME=VALUE"; "" if it is not there. */
static void find_value(const char *text, const char *name, char value[VALUE_MAX])
{
    const size_t length = strlen(name);
    *value = '\0';
    for (const char *at = text; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            snprintf(value, VALUE_MAX, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
}

/* Nobody is asked to take back what this process's user has set: trv_fabric_learn finds the difference. */
static void adopt(const char *told)
{
    const bool verbs = has_verbs(), ours = !told && !any_set() && !verbs;
    if (!verbs)
        setenv(BUFFERS_NAME, BUFFERS_VALUE, 0);
    for (int i = 0; i < PARAMETERS; i++) {
        char value[VALUE_MAX] = "";
        if (told)
            find_value(told, PARAMETER[i].name, value);
        else if (ours && PARAMETER[i].value)
            snprintf(value, sizeof value, "%s", PARAMETER[i].value);
        if (*value && !value_of(i))
            setenv(PARAMETER[i].name, value, 1);
    }
}

static void format(char text[TRV_PARAMETERS_MAX])
{
    size_t used = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        const char *value = value_of(i);
        const size_t length = value ? strcspn(value, " ") : 0;
        if (value)
            used += (size_t)snprintf(text + used, TRV_PARAMETERS_MAX - used, "%s%s=%.*s", used ? " " : "",
                                     PARAMETER[i].name, (int)(length < VALUE_MAX ? length : VALUE_MAX - 1), value);
    }
}

const char *trv_fabric_parameters(const char *told)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool known;
    static char text[TRV_PARAMETERS_MAX];
    pthread_mutex_lock(&lock);
    if (!known) {
        adopt(told);
        format(text);
        known = true;
    }
    pthread_mutex_unlock(&lock);
    return text;
}
