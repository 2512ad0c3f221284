/*
 * Table of the open file descriptors that a child of fork() closes. A lock is held during fork(), so that no descriptor
 * is opened or closed meanwhile, and the child has an accurate table.
 */
#include "bootstrap/tcp/files.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool *ours; /* by file descriptor: whether a child of fork() closes it */
static int capacity;

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void)
{
    for (int file = 0; file < capacity; file++)
        if (ours[file])
            close(file);
    free(ours);
    ours = NULL;
    capacity = 0;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

static void begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

/* Enters a file descriptor that was just opened into the table, and releases the lock that `begin` has taken. Closes
 * the descriptor and returns -1 if there is no memory for the table. */
static int end(int file)
{
    const int error = errno;
    if (file >= capacity) {
        const int more = 2 * file + 64;
        bool *grown = realloc(ours, (size_t)more * sizeof *ours);
        if (grown) {
            memset(grown + capacity, 0, (size_t)(more - capacity) * sizeof *grown);
            ours = grown;
            capacity = more;
        }
    }
    const bool fits = file < capacity;
    if (fits && file >= 0)
        ours[file] = true;
    if (!fits)
        close(file);
    pthread_mutex_unlock(&lock);
    errno = fits ? error : ENOMEM;
    return fits ? file : -1;
}

int trv_file_socket(int family, int type)
{
    begin();
    return end(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int trv_file_accept(int listener, struct sockaddr_storage *from, socklen_t *length)
{
    begin();
    return end(accept4(listener, (struct sockaddr *)from, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int trv_file_epoll(void)
{
    begin();
    return end(epoll_create1(EPOLL_CLOEXEC));
}

int trv_file_event(void)
{
    begin();
    return end(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void trv_file_close(int file)
{
    const int error = errno;
    begin();
    if (file >= 0 && file < capacity && ours[file]) {
        ours[file] = false;
        close(file);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
}
