/*
 * Writes a schedule as GOAL text. Every step of a stream in which a rank has messages begins with a calculation of
 * alpha, which its sends and receives require; the next step's calculation requires all of these:
 *
 *     a0_1: calc 1500                         // stream 0, step 1
 *     a0_1 requires s0_0_0                    // … and all other messages of step 0
 *     s0_1_0: send 1024b to 3 tag 4
 *     s0_1_0 requires a0_1
 *
 * A message's tag is unique among the messages between its two ranks. Every stream has a different cpu, because streams
 * do not wait for each other. A message's nic is the number of its port, or of its port and interface
 * (simulate/goal_run.h).
 */
#include "formats/goal_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/network_limits.h"
#include "formats/names.h"
#include "schedule/collective.h"

#define MESSAGES_MAX (INT64_C(1) << 26)
#define FIELD_MAX    255 /* LogGOPSim stores cpu and nic in one byte each */

typedef struct writer {
    const trv_schedule_t *schedule;
    uint64_t vector_bytes;
    int64_t alpha_ns;
    int multiplicity; /* maximum number of messages between two ranks in one step of a stream */
    trv_span_t part;
    FILE *out;
    trv_step_t step;
} writer_t;

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Counts the messages to or from this peer among the first `count`. */
static int count_with_peer(const trv_message_t *message, int count, int peer)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number += message[i].peer == peer;
    return number;
}

/* Checks that the schedule fits into the format, and computes `multiplicity`. */
static int measure(writer_t *writer)
{
    const trv_schedule_t *s = writer->schedule;
    int ranks = trv_schedule_torus(s)->ranks, rc = TRV_OK;
    int64_t messages = 0;
    writer->multiplicity = 1;
    for (int rank = 0; rank < ranks && !rc; rank++) {
        rc = trv_span_report(writer->part, 0.5 * rank / ranks);
        for (int stream = 0; stream < trv_schedule_streams(s) && !rc; stream++)
            for (int step = 0; step < trv_schedule_steps(s) && !rc; step++) {
                rc = trv_schedule_step(s, rank, stream, step, &writer->step);
                messages += writer->step.sends + writer->step.receives;
                for (int i = 0; i < writer->step.sends; i++) {
                    int number = count_with_peer(writer->step.send, i + 1, writer->step.send[i].peer);
                    if (number > writer->multiplicity)
                        writer->multiplicity = number;
                }
                if (!rc && messages > MESSAGES_MAX)
                    rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has too many messages for GOAL: at most 2^26 are "
                                                       "written");
            }
    }
    int64_t tags = (int64_t)trv_schedule_streams(s) * trv_schedule_steps(s) * writer->multiplicity;
    if (!rc && tags > UINT32_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has too many steps for GOAL, in which tags are below 2^32");
    return rc;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void put_message(writer_t *writer, int stream, int step, bool send, int index)
{
    const trv_message_t *list = send ? writer->step.send : writer->step.receive, *m = &list[index];
    uint64_t tag = (uint64_t)stream * (uint64_t)trv_schedule_steps(writer->schedule) + (uint64_t)step;
    tag = tag * (uint64_t)writer->multiplicity + (uint64_t)count_with_peer(list, index, m->peer);
    fprintf(writer->out, "%c%d_%d_%d: %s %" PRIu64 "b %s %d tag %" PRIu64, send ? 's' : 'r', stream, step, index,
            send ? "send" : "recv", trv_message_bytes(writer->schedule, stream, m, writer->vector_bytes),
            send ? "to" : "from", m->peer, tag);
    if (stream > 0)
        fprintf(writer->out, " cpu %d", stream & FIELD_MAX);
    int ports = 2 * trv_schedule_torus(writer->schedule)->dims, nic = m->port + ports * (1 + m->nic);
    fprintf(writer->out, " nic %d\n", nic <= FIELD_MAX ? nic : m->port);
}

/* Writes that an operation, identified by its letter and numbers, requires every message of a step. */
static void put_requires(writer_t *writer, const char *operation, int stream, int step, int sends, int receives)
{
    for (int i = 0; i < sends; i++)
        fprintf(writer->out, "%s requires s%d_%d_%d\n", operation, stream, step, i);
    for (int i = 0; i < receives; i++)
        fprintf(writer->out, "%s requires r%d_%d_%d\n", operation, stream, step, i);
}

typedef struct previous { /* the last step in which the rank had messages; step < 0: none */
    int step, sends, receives;
} previous_t;

static void put_step(writer_t *writer, int stream, int step, const previous_t *previous)
{
    char name[64];
    bool alpha = writer->alpha_ns > 0;
    if (alpha) {
        fprintf(writer->out, "a%d_%d: calc %" PRId64, stream, step, writer->alpha_ns);
        fprintf(writer->out, stream > 0 ? " cpu %d\n" : "\n", stream & FIELD_MAX);
        snprintf(name, sizeof name, "a%d_%d", stream, step);
        put_requires(writer, name, stream, previous->step, previous->sends, previous->receives);
    }
    for (int i = 0; i < writer->step.sends + writer->step.receives; i++) {
        bool send = i < writer->step.sends;
        int index = send ? i : i - writer->step.sends;
        put_message(writer, stream, step, send, index);
        snprintf(name, sizeof name, "%c%d_%d_%d", send ? 's' : 'r', stream, step, index);
        if (alpha)
            fprintf(writer->out, "%s requires a%d_%d\n", name, stream, step);
        else
            put_requires(writer, name, stream, previous->step, previous->sends, previous->receives);
    }
}

static int put_rank(writer_t *writer, int rank)
{
    const trv_schedule_t *s = writer->schedule;
    int rc = TRV_OK;
    fprintf(writer->out, "\nrank %d {\n", rank);
    for (int stream = 0; stream < trv_schedule_streams(s) && !rc; stream++) {
        previous_t previous = {-1, 0, 0};
        for (int step = 0; step < trv_schedule_steps(s) && !rc; step++) {
            rc = trv_schedule_step(s, rank, stream, step, &writer->step);
            if (rc || writer->step.sends + writer->step.receives == 0)
                continue;
            put_step(writer, stream, step, &previous);
            previous = (previous_t){step, writer->step.sends, writer->step.receives};
        }
    }
    fputs("}\n", writer->out);
    return rc;
}

int trv_goal_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, double alpha_ns, trv_span_t part,
                        FILE *out)
{
    if (!(alpha_ns >= 0 && alpha_ns <= TRV_TIME_MAX_NS))
        return trv_fail(TRV_ERR_ARGUMENT, "alpha is %g ns: expected a time from 0 to 1 hour, for example 1.5us",
                        alpha_ns);
    writer_t writer = {schedule, vector_bytes, (int64_t)(alpha_ns + 0.5), 1, part, out, TRV_STEP_INIT};
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const trv_network_t network = {TRV_NETWORK, .torus = *torus};
    char text[TRV_SHAPE_TEXT_MAX], name[64];
    int rc = measure(&writer);
    if (!rc) {
        fprintf(out, "// %s, %s of %" PRIu64 " byte%s on %s; alpha %" PRId64 " ns\n", trv_plain_name(schedule, name),
                trv_schedule_shape(schedule)->name, vector_bytes, vector_bytes == 1 ? "" : "s",
                trv_shape_words(&network, text), writer.alpha_ns);
        fprintf(out, "num_ranks %d\n", torus->ranks);
    }
    for (int rank = 0; rank < torus->ranks && !rc; rank++) {
        rc = trv_span_report(part, 0.5 + 0.5 * rank / torus->ranks);
        if (!rc)
            rc = put_rank(&writer, rank);
    }
    trv_step_clear(&writer.step);
    return rc;
}
