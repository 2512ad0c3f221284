/*
 * The meeting of a job's ranks: all connect to rank 0, which says something to all, collects what each says, and tells
 * all of it to all. The connections stay until the end of the job: by them ranks hear of each other's end at once, for the
 * system closes those of a process that dies.
 *
 * A thread does all of it; the functions here wait for what it comes to. A rank has one connection, rank 0 one to each,
 * and listens only until all are there. 1,000 ranks take rank 0 well below a second of processor time.
 *
 * A meeting *fails* on all ranks together, with one sentence, and stays so: rank 0's is the one that holds, so that of
 * several ranks which fail at the same time all name the same reason.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_MEETING_H
#define TRIVANCE_BOOTSTRAP_TCP_MEETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bootstrap/tcp/sha256.h"

enum { TRV_REASON_MAX = 768, TRV_RECORD_BYTES_MAX = 1 << 14, TRV_WELCOME_BYTES_MAX = 1 << 22 };

typedef struct trv_meeting trv_meeting_t;

typedef struct trv_meeting_options {
    int rank, ranks;
    const char *address; /* of rank 0: a name or a number */
    int port;            /* 0, of rank 0: any that is free */
    bool everywhere;     /* rank 0 listens on all addresses */
    uint8_t secret[TRV_SHA256_BYTES];
    double timeout_ns; /* of each call below */
    void (*log)(void *context, const char *sentence);
    void (*failed)(void *context); /* called once, by the thread, when the meeting fails */
    void *context;
} trv_meeting_options_t;

/* Of rank 0: listens, when it returns. */
int trv_meeting_open(trv_meeting_t **meeting, const trv_meeting_options_t *options);
/* The port that rank 0 listens on. */
int trv_meeting_port(const trv_meeting_t *meeting);

/* Returns when all ranks are there; with what rank 0 says to them, which the meeting keeps. */
int trv_meeting_join(trv_meeting_t *meeting, const void *welcome, size_t bytes);
const void *trv_meeting_welcome(const trv_meeting_t *meeting, size_t *bytes);
/* The local address of this rank's connection to rank 0 as a number, "10.0.0.3"; of rank 0, the one it listens on. */
const char *trv_meeting_local(const trv_meeting_t *meeting);
/* Returns when all ranks have said something; records stay with the meeting until the next exchange but one. All ranks
 * exchange as often. */
int trv_meeting_exchange(trv_meeting_t *meeting, const void *record, size_t bytes);
const void *trv_meeting_record(const trv_meeting_t *meeting, int rank, size_t *bytes);

/* 0, or the failure as the last error. */
int trv_meeting_state(const trv_meeting_t *meeting);
bool trv_meeting_has_failed(const trv_meeting_t *meeting);
/* Makes it fail, on all ranks; returns when it has, perhaps with another sentence. */
void trv_meeting_fail(trv_meeting_t *meeting, const char *sentence);
/* The same without waiting for it; `follows`: the reason is likely to follow from another, which is given some time to
 * come. */
void trv_meeting_report(trv_meeting_t *meeting, const char *sentence, bool follows);
/* Returns when all ranks leave; calls `meanwhile` again and again until then. */
int trv_meeting_leave(trv_meeting_t *meeting, void (*meanwhile)(void *context), void *context);
/* Without `leave` before it the others take this rank for dead, unless the meeting has failed. */
void trv_meeting_close(trv_meeting_t *meeting);

#endif
