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
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool *close_in_child; /* by file descriptor: whether a child of fork() closes it */
static int capacity;

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void)
{
    for (int file = 0; file < capacity; file++)
        if (close_in_child[file])
            close(file);
    free(close_in_child);
    close_in_child = NULL;
    capacity = 0;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

static void table_lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
}

/* Enters a file descriptor that was just opened into the table, and releases the lock that `begin` has taken. Closes
 * the descriptor and returns -1 if there is no memory for the table. */
static int table_add(int file)
{
    const int error = errno;
    if (file >= capacity) {
        const int more = 2 * file + 64;
        bool *grown = realloc(close_in_child, (size_t)more * sizeof *close_in_child);
        if (grown) {
            memset(grown + capacity, 0, (size_t)(more - capacity) * sizeof *grown);
            close_in_child = grown;
            capacity = more;
        }
    }
    const bool fits = file < capacity;
    if (fits && file >= 0)
        close_in_child[file] = true;
    if (!fits)
        close(file);
    pthread_mutex_unlock(&lock);
    errno = fits ? error : ENOMEM;
    return fits ? file : -1;
}

int trv_file_socket(int family, int type)
{
    table_lock();
    return table_add(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int trv_file_accept(int listener, struct sockaddr_storage *from, socklen_t *length)
{
    table_lock();
    return table_add(accept4(listener, (struct sockaddr *)from, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int trv_file_epoll(void)
{
    table_lock();
    return table_add(epoll_create1(EPOLL_CLOEXEC));
}

int trv_file_event(void)
{
    table_lock();
    return table_add(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void trv_file_close(int file)
{
    const int error = errno;
    table_lock();
    if (file >= 0 && file < capacity && close_in_child[file]) {
        close_in_child[file] = false;
        close(file);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
}

void trv_file_limit_raise(int ranks)
{
    enum { FILES_MORE = 320 };
    struct rlimit limit;
    const rlim_t needed = 2 * (rlim_t)ranks + FILES_MORE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return;
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
