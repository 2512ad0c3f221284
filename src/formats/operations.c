/*
 * The operations of a schedule and their dependencies.
 */
#include "formats/operations.h"

#include "base/error.h"
#include "base/network_limits.h"

#define MESSAGES_MAX (INT64_C(1) << 26)

trv_operation_id_t trv_operation_group_member(const trv_operation_group_t *group, int i)
{
    const uint32_t number = group->first + (uint32_t)i;
    if (i < group->calculations)
        return (trv_operation_id_t){TRV_OPERATION_CALCULATE, group->step, i, number};
    i -= group->calculations;
    if (i < group->sends)
        return (trv_operation_id_t){TRV_OPERATION_SEND, group->step, i, number};
    return (trv_operation_id_t){TRV_OPERATION_RECEIVE, group->step, i - group->sends, number};
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Counts the messages to or from this peer among the first `count`. */
static int count_with_peer(const trv_message_t *message, int count, int peer)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number += message[i].peer == peer;
    return number;
}

static void measure_step(trv_operations_t *operations)
{
    const trv_step_t *step = &operations->step;
    for (int i = 0; i < step->sends; i++) {
        const int number = count_with_peer(step->send, i + 1, step->send[i].peer);
        if (number > operations->multiplicity)
            operations->multiplicity = number;
    }
}

int trv_operations_create(trv_operations_t *operations, const trv_schedule_t *schedule, uint64_t vector_bytes,
                          double alpha_ns, trv_span_t part)
{
    *operations = (trv_operations_t){.schedule = schedule,
                                     .vector_bytes = vector_bytes,
                                     .multiplicity = 1,
                                     .step = TRV_STEP_INIT};
    if (!(alpha_ns >= 0 && alpha_ns <= TRV_TIME_MAX_NS))
        return trv_fail(TRV_ERR_ARGUMENT, "alpha is %g ns: expected a time from 0 to 1 hour, for example 1.5us",
                        alpha_ns);
    operations->alpha_ns = (uint64_t)(alpha_ns + 0.5);
    const int ranks = trv_schedule_torus(schedule)->ranks, streams = trv_schedule_streams(schedule),
              steps = trv_schedule_steps(schedule);
    int64_t messages = 0;
    int rc = TRV_OK;
    for (int rank = 0; rank < ranks && !rc; rank++) {
        rc = trv_span_report(part, (double)rank / ranks);
        for (int stream = 0; stream < streams && !rc; stream++)
            for (int step = 0; step < steps && !rc; step++) {
                rc = trv_schedule_step(schedule, rank, stream, step, &operations->step);
                if (rc)
                    break;
                measure_step(operations);
                messages += operations->step.sends;
                if (messages > MESSAGES_MAX)
                    rc = trv_fail(TRV_ERR_UNSUPPORTED,
                                  "the schedule has too many messages for this format: at most 2^26 are written");
            }
    }
    operations->tags = (uint64_t)streams * (uint64_t)steps * (uint64_t)operations->multiplicity;
    return rc;
}

void trv_operations_clear(trv_operations_t *operations) { trv_step_clear(&operations->step); }

/* ---- Enumeration ------------------------------------------------------------------------------------------------- */

typedef struct visit {
    trv_operations_t *operations;
    void (*function)(void *context, const trv_operation_t *operation);
    void *context;
    int stream;
    uint32_t number; /* of the next operation */
} visit_t;

static void visit_messages(visit_t *visit, int step, trv_operation_kind_t kind, const trv_operation_group_t *required)
{
    const trv_operations_t *operations = visit->operations;
    const trv_schedule_t *schedule = operations->schedule;
    const bool send = kind == TRV_OPERATION_SEND;
    const trv_message_t *list = send ? operations->step.send : operations->step.receive;
    const int count = send ? operations->step.sends : operations->step.receives;
    const uint64_t tag = ((uint64_t)visit->stream * (uint64_t)trv_schedule_steps(schedule) + (uint64_t)step) *
                         (uint64_t)operations->multiplicity;
    for (int i = 0; i < count; i++)
        visit->function(visit->context,
                        &(trv_operation_t){
                            .id = {kind, step, i, visit->number++},
                            .stream = visit->stream,
                            .message = &list[i],
                            .amount = trv_message_bytes(schedule, visit->stream, &list[i], operations->vector_bytes),
                            .tag = tag + (uint64_t)count_with_peer(list, i, list[i].peer),
                            .required = required,
                        });
}

/* `previous` becomes the group of the step's messages. */
static void visit_step(visit_t *visit, int step, trv_operation_group_t *previous)
{
    const trv_operations_t *operations = visit->operations;
    trv_operation_group_t required = *previous;
    if (operations->alpha_ns > 0) {
        required = (trv_operation_group_t){step, 1, 0, 0, visit->number};
        visit->function(visit->context, &(trv_operation_t){
                                            .id = {TRV_OPERATION_CALCULATE, step, 0, visit->number++},
                                            .stream = visit->stream,
                                            .amount = operations->alpha_ns,
                                            .required = previous,
                                        });
    }
    *previous = (trv_operation_group_t){step, 0, operations->step.sends, operations->step.receives, visit->number};
    visit_messages(visit, step, TRV_OPERATION_SEND, &required);
    visit_messages(visit, step, TRV_OPERATION_RECEIVE, &required);
}

int trv_operations_rank(trv_operations_t *operations, int rank,
                        void (*function)(void *context, const trv_operation_t *operation), void *context)
{
    const trv_schedule_t *schedule = operations->schedule;
    visit_t visit = {operations, function, context, 0, 0};
    int rc = TRV_OK;
    for (; visit.stream < trv_schedule_streams(schedule) && !rc; visit.stream++) {
        trv_operation_group_t previous = {0};
        for (int step = 0; step < trv_schedule_steps(schedule) && !rc; step++) {
            rc = trv_schedule_step(schedule, rank, visit.stream, step, &operations->step);
            if (!rc && operations->step.sends + operations->step.receives > 0)
                visit_step(&visit, step, &previous);
        }
    }
    return rc;
}
