/*
 * All messages of a schedule as one list.
 */
#include <stdlib.h>

#include <trivance/schedule.h>

#include "base/array.h"
#include "base/error.h"
#include "base/span.h"

static int add_sends(trv_messages_t *messages, int64_t *capacity, const trv_schedule_t *schedule,
                     const trv_step_t *step, trv_sent_message_t sent, uint64_t vector_bytes)
{
    if (trv_array_reserve(&messages->message, capacity, messages->count, step->sends, sizeof *messages->message))
        return TRV_ERR_MEMORY;
    for (int i = 0; i < step->sends; i++) {
        sent.to = step->send[i].peer;
        sent.port = step->send[i].port;
        sent.nic = step->send[i].nic;
        sent.units = trv_message_units(schedule, &step->send[i]);
        sent.bytes = trv_units_bytes(schedule, sent.stream, sent.units, vector_bytes);
        messages->message[messages->count++] = sent;
    }
    return TRV_OK;
}

int trv_schedule_messages(const trv_schedule_t *schedule, uint64_t vector_bytes, trv_messages_t *messages,
                          int (*progress)(void *context, double fraction), void *context)
{
    const int ranks = trv_schedule_torus(schedule)->ranks, steps = trv_schedule_steps(schedule);
    const int parts = trv_schedule_streams(schedule) * steps;
    const trv_span_t all = {progress, context, 0, 1};
    trv_step_t step = TRV_STEP_INIT;
    int64_t capacity = 0;
    int rc = TRV_OK;
    *messages = (trv_messages_t){0};
    for (int part = 0; part < parts && !rc; part++) {
        rc = trv_span_report(all, (double)part / parts);
        for (int rank = 0; rank < ranks && !rc; rank++) {
            const trv_sent_message_t sent = {.stream = part / steps, .step = part % steps, .from = rank};
            if (rank % 4096 == 4095)
                rc = trv_span_report(all, (part + (double)rank / ranks) / parts);
            if (!rc)
                rc = trv_schedule_step(schedule, rank, sent.stream, sent.step, &step);
            if (!rc)
                rc = add_sends(messages, &capacity, schedule, &step, sent, vector_bytes);
        }
    }
    trv_step_clear(&step);
    if (rc)
        trv_messages_clear(messages);
    return rc;
}

void trv_messages_clear(trv_messages_t *messages)
{
    free(messages->message);
    *messages = (trv_messages_t){0};
}
