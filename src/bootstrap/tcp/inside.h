/*
 * What the parts of a meeting share: the thread (thread.c), rank 0's end (serve.c), the others' (join.c).
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_INSIDE_H
#define TRIVANCE_BOOTSTRAP_TCP_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "bootstrap/tcp/link.h"
#include "bootstrap/tcp/meeting.h"

enum { TRV_NUMERIC_MAX = 80, TRV_NOBODY = -1 };

/* A connection. */
typedef struct trv_end {
    int fd;
    int rank;            /* of the other side; TRV_NOBODY before it has said so */
    bool writes, leaves; /* wants to write; has said that it leaves */
    bool closing;        /* when all is written */
    int records;         /* that it has sent */
    double since_ns;
    char from[TRV_NUMERIC_MAX];
    trv_link_t link;
    struct trv_end *next; /* the next connection that has not authenticated itself */
} trv_end_t;

typedef struct trv_saying {
    uint8_t *data;
    size_t bytes;
    bool there;
} trv_saying_t;

struct trv_meeting {
    trv_meeting_options_t options;
    char address[256], local[TRV_NUMERIC_MAX];
    int port;
    int listener, epoll, wake;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stop;
    atomic_bool failed;
    char reason[TRV_REASON_MAX];
    bool told; /* the failure, to the others */
    /* What is to become the failure: at once, or at that time. */
    char proposal[TRV_REASON_MAX];
    double propose_ns; /* 0: there is none */
    bool proposed;     /* to rank 0, which decides */
    /* Steps, as they are reached. */
    bool joins, joined, exchanged, leaves, gone;
    int round, sent;                  /* exchanges that have begun here; and those whose record, or table, is sent */
    int come, spoken, left;           /* of rank 0: how many ranks; spoken: in the exchange that is not over */
    trv_saying_t welcome, *record[2]; /* of this exchange and the one before */
    trv_writer_t table;               /* of rank 0: as it is sent */
    trv_end_t **end;                  /* of rank 0: by rank */
    trv_end_t *stranger;
    int strangers;
    trv_end_t *up;          /* of the others: to rank 0 */
    double next_try_ns;     /* to connect */
    const char *why_not;    /* the last try failed */
    int refused;            /* so many strangers */
    bool full;              /* the last connection could not be taken … */
    double accept_again_ns; /* … and none is, until then; 0: at any time */
};

/* thread.c. The lock is held. */
void trv_meeting_fail_locked(trv_meeting_t *meeting, const char *sentence);
void trv_meeting_log(trv_meeting_t *meeting, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets what holds for the socket of a connection. */
void trv_end_prepare(int fd);
trv_end_t *trv_end_make(trv_meeting_t *meeting, int fd, bool serves);
void trv_end_free(trv_meeting_t *meeting, trv_end_t *end);
/* Writes what it can; false where the connection is over. */
bool trv_end_write(trv_meeting_t *meeting, trv_end_t *end);
bool trv_saying_set(trv_saying_t *saying, const void *data, size_t bytes);
/* Whether somebody's report has become due. */
bool trv_meeting_proposes(const trv_meeting_t *meeting, double now_ns);
/* A rank's in the present exchange. */
trv_saying_t *trv_meeting_saying(const trv_meeting_t *meeting, int rank);
/* Reads the records of a table; false if it is none. */
bool trv_meeting_read_table(trv_meeting_t *meeting, const void *table, size_t bytes);

/* serve.c: rank 0. */
int trv_serve_listen(trv_meeting_t *meeting);
void trv_serve_accept(trv_meeting_t *meeting);
void trv_serve_frame(trv_meeting_t *meeting, trv_end_t *end, const trv_frame_t *frame);
/* The connection is over, or (wrong) the last error says what it has sent. */
void trv_serve_over(trv_meeting_t *meeting, trv_end_t *end, bool wrong);
/* Does what can be done now. */
void trv_serve_step(trv_meeting_t *meeting, double now_ns);
void trv_serve_missing(const trv_meeting_t *meeting, char *text, size_t size);

/* join.c: the others. */
void trv_join_frame(trv_meeting_t *meeting, const trv_frame_t *frame);
void trv_join_over(trv_meeting_t *meeting, bool wrong);
void trv_join_step(trv_meeting_t *meeting, double now_ns);

#endif
