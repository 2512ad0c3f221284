/*
 * libtrivance_testbed.so is preloaded before the libraries of every rank on the testbed.
 *
 * Many ranks share one core there, and MPI libraries that wait by polling take it from each other. After several
 * successive polls that must not wait and found nothing, the next one waits, for at most a millisecond or until any
 * event. So an idle rank leaves the core to one that has work. The first such poll does not wait yet: a library polls
 * once more after it found something, or (MPICH) for every request that it tests, even if all data is there. A rank
 * that sends is not idle: MPICH also polls when it tests a send that is complete, and the rank may have more to send.
 * MPI libraries send by the three functions below.
 *
 * MPICH over UCX's TCP hangs in MPI_Finalize with four or more ranks (openucx issue 8738), because both ends wait for
 * the other's disconnect. This library makes the disconnect return at once.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define EXPORT      __attribute__((visibility("default")))
#define WAIT_MS     1
#define EMPTY_POLLS 8

static _Thread_local unsigned empty_polls;

/* The timeout for a poll that asks for `timeout_ms`. */
static int poll_timeout(int timeout_ms) { return timeout_ms == 0 && empty_polls >= EMPTY_POLLS ? WAIT_MS : timeout_ms; }

static int counted(int found)
{
    empty_polls = found == 0 ? empty_polls + 1 : 0;
    return found;
}

EXPORT int poll(struct pollfd *descriptor, nfds_t count, int timeout_ms)
{
    static int (*next)(struct pollfd *, nfds_t, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "poll");
    return count == 0 ? next(descriptor, count, timeout_ms)
                      : counted(next(descriptor, count, poll_timeout(timeout_ms)));
}

EXPORT int epoll_wait(int epoll, struct epoll_event *event, int events_max, int timeout_ms)
{
    static int (*next)(int, struct epoll_event *, int, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
    return counted(next(epoll, event, events_max, poll_timeout(timeout_ms)));
}

EXPORT ssize_t send(int socket, const void *data, size_t bytes, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "send");
    empty_polls = 0;
    return next(socket, data, bytes, flags);
}

EXPORT ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, const struct msghdr *, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    empty_polls = 0;
    return next(socket, message, flags);
}

EXPORT ssize_t writev(int descriptor, const struct iovec *vector, int count)
{
    static ssize_t (*next)(int, const struct iovec *, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "writev");
    empty_polls = 0;
    return next(descriptor, vector, count);
}

EXPORT void *ucp_disconnect_nb(void *endpoint);
EXPORT void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL; /* completed */
}
