/*
 * A schedule as operations with dependencies, for formats of network simulators (GOAL, Chakra): each rank sends,
 * receives and calculates as its dependencies allow.
 *
 * With alpha > 0, every step of a stream in which a rank has messages begins with a calculation of alpha, which all
 * messages of the stream's previous step precede, and which precedes the messages of its own step. With alpha = 0 the
 * messages of a step directly require those of the previous one. A message's tag is unique among the messages from its
 * sender to its receiver. Streams do not wait for each other.
 */
#ifndef TRIVANCE_FORMATS_OPERATIONS_H
#define TRIVANCE_FORMATS_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/schedule.h>

#include "base/span.h"

typedef enum trv_operation_kind {
    TRV_OPERATION_CALCULATE,
    TRV_OPERATION_SEND,
    TRV_OPERATION_RECEIVE
} trv_operation_kind_t;

/* Identifies an operation of a stream: the calculation of a step (index 0), or a send or receive, by its index among
 * those of the step. */
typedef struct trv_operation_id {
    trv_operation_kind_t kind;
    int step, index;
    uint32_t number; /* position among all operations of the rank, from 0 */
} trv_operation_id_t;

/* The operations of a step of a stream that others require: either its calculation or all of its messages. They have
 * consecutive numbers, in the order calculation, sends, receives. */
typedef struct trv_operation_group {
    int step;
    int calculations, sends, receives;
    uint32_t first; /* number of the first */
} trv_operation_group_t;

static inline int trv_operation_group_size(const trv_operation_group_t *group)
{
    return group->calculations + group->sends + group->receives;
}

/* Returns member `i` of a group, from 0. */
trv_operation_id_t trv_operation_group_member(const trv_operation_group_t *group, int i);

typedef struct trv_operation {
    trv_operation_id_t id;
    int stream;
    const trv_message_t *message;          /* of a send or receive */
    uint64_t amount;                       /* bytes of a message, ns of a calculation */
    uint64_t tag;                          /* of a message */
    const trv_operation_group_t *required; /* may be empty */
} trv_operation_t;

typedef struct trv_operations {
    const trv_schedule_t *schedule;
    uint64_t vector_bytes, alpha_ns;
    uint64_t tags;    /* all tags are smaller */
    int multiplicity; /* maximum number of messages between two ranks in one step of a stream */
    trv_step_t step;
} trv_operations_t;

/* Counts the messages of a schedule, and checks the limits. `alpha_ns` is rounded to whole ns. TRV_ERR_ARGUMENT for an
 * alpha that is not from 0 to 1 hour, TRV_ERR_UNSUPPORTED above 2^26 messages, TRV_ERR_CANCELLED by the progress
 * function. In every case the caller calls trv_operations_clear. */
int trv_operations_create(trv_operations_t *operations, const trv_schedule_t *schedule, uint64_t vector_bytes,
                          double alpha_ns, trv_span_t part);
void trv_operations_clear(trv_operations_t *operations);

/* Calls `function` for every operation of a rank: by stream, then step, then kind; required operations come first. */
int trv_operations_rank(trv_operations_t *operations, int rank,
                        void (*function)(void *context, const trv_operation_t *operation), void *context);

#endif
