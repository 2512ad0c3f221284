/*
 * Bootstrap protocol of all ranks except rank 0: a rank attempts to connect until rank 0 listens, and then follows the
 * frames that rank 0 sends.
 */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/inside.h"

#define PAUSE_NS  50e6
#define ANSWER_NS 500e6
enum { CONNECT_MS = 2000 };

/* ---- Connecting -------------------------------------------------------------------------------------------------- */

/* True if the socket is connected to itself: a connection to a local port on which no process listens succeeds if the
 * system selects that same port as its source. */
static bool is_own(int fd)
{
    struct sockaddr_storage local = {0}, other = {0};
    socklen_t length = sizeof local, other_length = sizeof other;
    return getsockname(fd, (struct sockaddr *)&local, &length) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &other_length) == 0 && length == other_length &&
           memcmp(&local, &other, length) == 0;
}

static int connect_to(const struct addrinfo *at, int *error)
{
    socklen_t length = sizeof *error;
    int fd = trv_file_socket(at->ai_family, SOCK_STREAM);
    if (fd < 0) {
        *error = errno;
        return -1;
    }
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    *error = connect(fd, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (*error == EINPROGRESS && poll(&ready, 1, CONNECT_MS) == 1)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &length);
    if (*error == 0 && !is_own(fd)) {
        trv_end_prepare(fd);
        return fd;
    }
    if (*error == 0) /* connected to itself: reset it, so that rank 0 can listen on the port at once */
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    trv_file_close(fd);
    return -1;
}

/* Resolves the address of rank 0 and tries to connect. Releases the lock meanwhile: name resolution may block. */
static int connect_somewhere(trv_bootstrap_t *bootstrap, const char **why_not)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[16];
    int error = 0, fd = -1;
    snprintf(port, sizeof port, "%d", bootstrap->port);
    pthread_mutex_unlock(&bootstrap->lock);
    int code = getaddrinfo(bootstrap->address, port, &hints, &found);
    for (const struct addrinfo *at = found; code == 0 && at && fd < 0; at = at->ai_next)
        fd = connect_to(at, &error);
    if (code == 0)
        freeaddrinfo(found);
    pthread_mutex_lock(&bootstrap->lock);
    *why_not = fd >= 0 ? NULL : code != 0 ? "has an address that nobody knows" : "does not listen there";
    return fd;
}

static void try_join(trv_bootstrap_t *bootstrap, double now_ns)
{
    if (now_ns < bootstrap->next_try_ns)
        return;
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    int fd = connect_somewhere(bootstrap, &bootstrap->why_not);
    bootstrap->next_try_ns = trv_now_ns() + PAUSE_NS;
    if (fd < 0)
        return;
    if (getsockname(fd, (struct sockaddr *)&local, &length) == 0)
        getnameinfo((struct sockaddr *)&local, length, bootstrap->local, sizeof bootstrap->local, NULL, 0,
                    NI_NUMERICHOST);
    bootstrap->up = trv_end_make(bootstrap, fd, false);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static void fail(trv_bootstrap_t *bootstrap, const char *before, const char *why, size_t bytes)
{
    char sentence[TRV_REASON_MAX], text[TRV_REASON_MAX / 2];
    snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1), why);
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    snprintf(sentence, sizeof sentence, "%s%s", before, text);
    trv_bootstrap_fail_locked(bootstrap, sentence);
}

/* Fails with a sentence about rank 0, or the process that listens at its address: `what`, the address, and the
 * predicate `why`. */
static void fail_there(trv_bootstrap_t *bootstrap, const char *what, const char *why, size_t bytes)
{
    char before[TRV_REASON_MAX / 2];
    snprintf(before, sizeof before, "%s at %.200s, port %d, ", what, bootstrap->address, bootstrap->port);
    fail(bootstrap, before, why, bytes);
}

void trv_join_frame(trv_bootstrap_t *bootstrap, const trv_frame_t *frame)
{
    trv_link_t *link = &bootstrap->up->link;
    if (frame->type == TRV_FRAME_REFUSED) {
        fail_there(bootstrap, "rank 0",
                   "refuses this rank, which it says does not know the job's secret: "
                   "TRIVANCE_SECRET must be the same on all ranks, and without one WORLD_SIZE and the run id",
                   TRV_REASON_MAX);
        bootstrap->told = true;
    } else if (frame->type == TRV_FRAME_WELCOME && !bootstrap->joined) {
        bootstrap->joined = trv_payload_set(&bootstrap->welcome, frame->content, frame->bytes);
        link->frame_bytes_max = TRV_RECORD_BYTES_MAX;
    } else if (frame->type == TRV_FRAME_TABLE && bootstrap->sent == bootstrap->round && !bootstrap->exchanged) {
        bootstrap->exchanged = trv_bootstrap_read_table(bootstrap, frame->content, frame->bytes);
        if (!bootstrap->exchanged)
            trv_bootstrap_fail_locked(bootstrap, "the addresses of the ranks from rank 0 arrived corrupted");
        link->frame_bytes_max = TRV_RECORD_BYTES_MAX;
    } else if (frame->type == TRV_FRAME_FAIL) {
        bootstrap->told = true;
        fail(bootstrap, "", (const char *)frame->content, frame->bytes);
    } else if (frame->type == TRV_FRAME_GONE) {
        bootstrap->gone = true;
    } else {
        trv_bootstrap_fail_locked(bootstrap, "rank 0 said something that was not its turn");
    }
    pthread_cond_broadcast(&bootstrap->changed);
}

void trv_join_over(trv_bootstrap_t *bootstrap, bool wrong)
{
    if (wrong)
        fail_there(bootstrap, "what answers", trv_last_error(), TRV_REASON_MAX);
    else if (bootstrap->joined && !bootstrap->gone)
        fail_there(bootstrap, "rank 0", "has died, or left without a word: its connection was closed", TRV_REASON_MAX);
    else
        bootstrap->why_not = "closed the connection";
    trv_end_free(bootstrap, bootstrap->up);
    bootstrap->up = NULL;
    bootstrap->next_try_ns = trv_now_ns() + PAUSE_NS;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void send_frame(trv_bootstrap_t *bootstrap, trv_frame_type_t type, const void *content, size_t bytes)
{
    if (trv_link_send(&bootstrap->up->link, type, content, bytes) < 0)
        trv_bootstrap_fail_locked(bootstrap, "this rank is out of memory");
    bootstrap->up->closing = type == TRV_FRAME_FAIL;
    trv_end_write(bootstrap, bootstrap->up);
}

static void send_hello(trv_bootstrap_t *bootstrap)
{
    trv_writer_t writer = {.data = NULL};
    trv_write_text(&writer, TRV_VERSION);
    trv_write_number(&writer, (uint32_t)bootstrap->options.rank);
    trv_write_number(&writer, (uint32_t)bootstrap->options.ranks);
    bootstrap->up->link.frame_bytes_max = TRV_WELCOME_BYTES_MAX;
    if (writer.failed)
        trv_bootstrap_fail_locked(bootstrap, "this rank is out of memory");
    else
        send_frame(bootstrap, TRV_FRAME_HELLO, writer.data, writer.used);
    trv_writer_clear(&writer);
}

/* Sends the reported failure to rank 0, which decides with which sentence the job fails. If there is no connection, or
 * no answer within ANSWER_NS, this rank fails with its own sentence. */
static void propose(trv_bootstrap_t *bootstrap, double now_ns)
{
    const bool asks = bootstrap->up && bootstrap->up->link.sent > 0;
    if (asks && !bootstrap->proposed) {
        send_frame(bootstrap, TRV_FRAME_FAIL, bootstrap->proposal, strlen(bootstrap->proposal));
        bootstrap->proposed = bootstrap->told = true;
    }
    if (!asks || now_ns - bootstrap->propose_ns > ANSWER_NS)
        trv_bootstrap_fail_locked(bootstrap, bootstrap->proposal);
}

void trv_join_step(trv_bootstrap_t *bootstrap, double now_ns)
{
    if (!atomic_load(&bootstrap->failed) && trv_bootstrap_proposes(bootstrap, now_ns))
        propose(bootstrap, now_ns);
    if (atomic_load(&bootstrap->failed)) {
        if (bootstrap->up && !bootstrap->told && bootstrap->up->link.sent > 0)
            send_frame(bootstrap, TRV_FRAME_FAIL, bootstrap->reason, strlen(bootstrap->reason));
        else if (bootstrap->up && !bootstrap->up->closing && bootstrap->up->fd >= 0)
            shutdown(bootstrap->up->fd, SHUT_WR);
        bootstrap->told = true;
        return;
    }
    if (!bootstrap->up && !bootstrap->joined && bootstrap->joins)
        try_join(bootstrap, now_ns);
    if (!bootstrap->up || bootstrap->proposed)
        return;
    if (bootstrap->up->link.greeted && bootstrap->up->link.sent == 0)
        send_hello(bootstrap);
    if (bootstrap->joined && bootstrap->sent < bootstrap->round) {
        const trv_payload_t *own = trv_bootstrap_payload(bootstrap, bootstrap->options.rank);
        bootstrap->sent = bootstrap->round;
        bootstrap->up->link.frame_bytes_max = (size_t)bootstrap->options.ranks * (TRV_RECORD_BYTES_MAX + 4);
        send_frame(bootstrap, TRV_FRAME_RECORD, own->data, own->bytes);
    }
    if (bootstrap->leaves && !bootstrap->up->leaves) {
        bootstrap->up->leaves = true;
        send_frame(bootstrap, TRV_FRAME_BYE, NULL, 0);
    }
}
