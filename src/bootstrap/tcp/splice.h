/*
 * Splices: pairs of TCP connections between which bytes are copied in both directions, without knowledge of their
 * content. If one peer ends its output, the other receives the end after all bytes before it; a splice is closed when
 * both have ended, or when one of its connections fails.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_SPLICE_H
#define TRIVANCE_BOOTSTRAP_TCP_SPLICE_H

#include <stdbool.h>

typedef struct trv_splices {
    int epoll; /* is readable when trv_splices_event has something to do; -1: not open */
    int count;
    struct trv_splice *first;
} trv_splices_t;

#define TRV_SPLICES                                                                                                    \
    {                                                                                                                  \
        .epoll = -1                                                                                                    \
    }

bool trv_splices_open(trv_splices_t *splices);
/* Adds a splice of two non-blocking sockets of trv_file_*, which it owns from then on, also on error; `there` may still
 * be connecting. False if file descriptors or memory are exhausted. */
bool trv_splices_add(trv_splices_t *splices, int here, int there);
/* Copies the bytes that one connection has received. */
void trv_splices_event(trv_splices_t *splices);
/* Closes all splices, and the epoll. */
void trv_splices_close(trv_splices_t *splices);

#endif
