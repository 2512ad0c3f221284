/*
 * libtrivance_testbed.so, before the libraries of every rank on the testbed.
 *
 * Many ranks share one core there, and MPI libraries that wait by polling take it from one another. When several polls
 * that may not wait have found nothing, one after another, the next waits, for at most a millisecond, which any event
 * ends; so a rank that has nothing to do leaves the core to one that has. Not the first: a library polls once more
 * after what it has found, or (MPICH) for every request that it is asked about, also when all is there.
 *
 * MPICH over UCX's TCP hangs in MPI_Finalize where there are four ranks or more (openucx issue 8738): both ends wait
 * for the other's disconnect. Here nobody does.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>

#define EXPORT      __attribute__((visibility("default")))
#define WAIT_MS     1
#define EMPTY_POLLS 8

static _Thread_local unsigned empty_polls;

/* How long a poll may wait that was to wait so long. */
static int patience(int timeout_ms) { return timeout_ms == 0 && empty_polls >= EMPTY_POLLS ? WAIT_MS : timeout_ms; }

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
    return count == 0 ? next(descriptor, count, timeout_ms) : counted(next(descriptor, count, patience(timeout_ms)));
}

EXPORT int epoll_wait(int epoll, struct epoll_event *event, int most, int timeout_ms)
{
    static int (*next)(int, struct epoll_event *, int, int);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
    return counted(next(epoll, event, most, patience(timeout_ms)));
}

EXPORT void *ucp_disconnect_nb(void *endpoint);
EXPORT void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL; /* done at once */
}
