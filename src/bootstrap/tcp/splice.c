/*
 * Each end of a splice has a buffer for the bytes that it has received and that the other end has not accepted yet. An
 * end is read only while its buffer is empty, so that a slow receiver slows down the sender.
 */
#include "bootstrap/tcp/splice.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bootstrap/tcp/files.h"

enum { BUFFER_BYTES = 1 << 13 };

typedef struct splice_end {
    struct trv_splice *splice;
    struct splice_end *other;
    int fd;
    bool watched; /* by epoll */
    bool ended;   /* the peer has ended its output */
    bool passed;  /* the end of that output was passed on to the other end */
    size_t used, done;
    uint8_t buffer[BUFFER_BYTES];
} splice_end_t;

typedef struct trv_splice {
    splice_end_t end[2];
    struct trv_splice *previous, *next;
} trv_splice_t;

/* A connection that is being established returns EAGAIN, one that cannot be established returns ENOTCONN. */
static bool is_temporary(int error) { return error == EAGAIN || error == EINTR; }

/* An end that can neither be read nor written is not watched, because epoll would report its errors continuously. */
static bool end_watch(const trv_splices_t *splices, splice_end_t *end)
{
    const bool reads = !end->ended && end->used == 0, writes = end->other->used > 0, watched = reads || writes;
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u), .data.ptr = end};
    const int operation = !watched ? EPOLL_CTL_DEL : end->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const bool changes = watched || end->watched;
    end->watched = watched;
    return !changes || epoll_ctl(splices->epoll, operation, end->fd, &event) == 0;
}

static void splice_free(trv_splices_t *splices, trv_splice_t *splice)
{
    *(splice->previous ? &splice->previous->next : &splices->first) = splice->next;
    if (splice->next)
        splice->next->previous = splice->previous;
    splices->count--;
    for (int i = 0; i < 2; i++)
        trv_file_close(splice->end[i].fd);
    free(splice);
}

bool trv_splices_open(trv_splices_t *splices)
{
    splices->epoll = trv_file_epoll();
    return splices->epoll >= 0;
}

bool trv_splices_add(trv_splices_t *splices, int here, int there)
{
    trv_splice_t *splice = calloc(1, sizeof *splice);
    if (!splice) {
        trv_file_close(here);
        trv_file_close(there);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        splice->end[i].splice = splice;
        splice->end[i].other = &splice->end[!i];
        splice->end[i].fd = i ? there : here;
    }
    splice->next = splices->first;
    if (splice->next)
        splice->next->previous = splice;
    splices->first = splice;
    splices->count++;
    for (int i = 0; i < 2; i++)
        if (!end_watch(splices, &splice->end[i])) {
            splice_free(splices, splice);
            return false;
        }
    return true;
}

/* Writes the buffer of an end to the other end, and after the last byte passes on the end of the output. False if the
 * connection has failed. */
static bool buffer_write(splice_end_t *from)
{
    while (from->done < from->used) {
        const ssize_t written = send(from->other->fd, from->buffer + from->done, from->used - from->done, MSG_NOSIGNAL);
        if (written < 0)
            return is_temporary(errno);
        from->done += (size_t)written;
    }
    from->used = from->done = 0;
    if (from->ended && !from->passed) {
        shutdown(from->other->fd, SHUT_WR);
        from->passed = true;
    }
    return true;
}

static bool buffer_read(splice_end_t *end)
{
    const ssize_t got = recv(end->fd, end->buffer, sizeof end->buffer, 0);
    if (got < 0)
        return is_temporary(errno);
    end->used = (size_t)got;
    end->ended = got == 0;
    return buffer_write(end);
}

void trv_splices_event(trv_splices_t *splices)
{
    struct epoll_event event;
    if (epoll_wait(splices->epoll, &event, 1, 0) != 1)
        return;
    splice_end_t *end = event.data.ptr, *other = end->other;
    bool open = !(event.events & EPOLLERR);
    if (open && other->used > 0)
        open = buffer_write(other);
    if (open && !end->ended && end->used == 0)
        open = buffer_read(end);
    open = open && !(end->passed && other->passed) && end_watch(splices, end) && end_watch(splices, other);
    if (!open)
        splice_free(splices, end->splice);
}

void trv_splices_close(trv_splices_t *splices)
{
    while (splices->first)
        splice_free(splices, splices->first);
    trv_file_close(splices->epoll);
    splices->epoll = -1;
}
