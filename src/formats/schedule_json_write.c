/*
 * Writes a schedule as trivance-schedule-1. Values are formatted by jansson. The structure around them is written
 * directly, so that every message is on one line and the file is never held in memory.
 */
#include "formats/schedule_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "formats/names.h"
#include "formats/ranges.h"
#include "formats/schedule_json_network.h"
#include "schedule/collective.h"

#define MESSAGES_MAX (INT64_C(1) << 26)

typedef struct writer {
    const trv_schedule_t *schedule;
    uint64_t vector_bytes;
    trv_span_t part;
    FILE *out;
    trv_step_t *step; /* of every rank, for the (stream, step) being written */
    trv_numbers_t sent, received;
    int64_t messages;
} writer_t;

static int put(writer_t *writer, json_t *value) { return trv_json_put(writer->out, value, JSON_COMPACT); }

static int put_header(writer_t *writer, const trv_network_t *network)
{
    const trv_schedule_t *s = writer->schedule;
    const trv_torus_t *torus = trv_schedule_torus(s);
    const int per_port = trv_schedule_messages_per_port(s);
    if (per_port < 0)
        return per_port;
    json_t *sizes = json_array();
    for (int d = 0; d < torus->dims; d++)
        json_array_append_new(sizes, json_integer(torus->size[d]));
    json_t *header = json_pack("{s:s, s:o, s:I, s:s, s:s, s:I, s:i, s:b, s:b, s:s, s:i}", "format",
                               "trivance-schedule-1", "torus", sizes, "vector_bytes", (json_int_t)writer->vector_bytes,
                               "name", trv_schedule_name(s), "collective", trv_schedule_shape(s)->name, "units",
                               (json_int_t)trv_schedule_units(s), "registers", trv_schedule_registers(s), "exact",
                               trv_schedule_exactness(s) == TRV_EXACT, "consistent", (int)trv_schedule_consistent(s),
                               "symmetry", trv_symmetry_word(trv_schedule_symmetry(s)), "messages_per_port", per_port);
    int rc = header ? TRV_OK : trv_fail_memory();
    if (!rc && trv_collective_has_root(trv_schedule_collective(s)) &&
        json_object_set_new(header, "root", json_integer(trv_schedule_root(s))))
        rc = trv_fail_memory();
    if (!rc)
        rc = trv_json_add_network(header, network);
    if (!rc) {
        fputs("{", writer->out);
        rc = trv_json_put(writer->out, json_incref(header), JSON_EMBED);
        fputs(",\n\"streams\": [", writer->out);
    }
    json_decref(header);
    return rc;
}

static json_t *ranges_json(const int64_t *number, int64_t count, int64_t limit)
{
    char *text = trv_ranges_format(number, count, limit);
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    return value;
}

static int list_blocks(const trv_blocks_t *blocks, trv_numbers_t *numbers)
{
    int64_t count = trv_blocks_count(blocks);
    if (trv_array_reserve(&numbers->number, &numbers->capacity, 0, count, sizeof *numbers->number))
        return TRV_ERR_MEMORY;
    if (count > 0)
        trv_blocks_list(blocks, numbers->number);
    numbers->count = count;
    return TRV_OK;
}

/* Appends one part as one or more objects to `list`. Units are the same on both sides; registers (slots) are written
 * in runs with a constant difference between the receiver's and the sender's numbers. */
static int append_part(writer_t *writer, json_t *list, const trv_part_t *from, const trv_part_t *to)
{
    trv_numbers_t *sent = &writer->sent, *received = &writer->received;
    int rc = list_blocks(&from->blocks, sent);
    if (!rc)
        rc = list_blocks(&to->blocks, received);
    if (rc)
        return rc;
    size_t bytes = (size_t)sent->count * sizeof *sent->number;
    if (from->slots != to->slots || sent->count != received->count ||
        (!from->slots && bytes && memcmp(sent->number, received->number, bytes) != 0))
        return trv_fail(TRV_ERR_INVALID, "the sender and the receiver list different units");
    if (!from->slots) {
        json_t *units = ranges_json(sent->number, sent->count, trv_schedule_units(writer->schedule));
        return json_array_append_new(list,
                                     json_pack("{s:i, s:i, s:o}", "reg", from->reg, "into", to->reg, "blocks", units))
                   ? trv_fail_memory()
                   : TRV_OK;
    }
    for (int64_t i = 0, end; i < sent->count; i = end) {
        int64_t reg = from->reg + sent->number[i], into = to->reg + received->number[i], first = sent->number[i];
        for (end = i + 1;
             end < sent->count && from->reg + sent->number[end] - reg == to->reg + received->number[end] - into;)
            end++;
        for (int64_t j = i; j < end; j++)
            sent->number[j] -= first;
        json_t *slots = ranges_json(sent->number + i, end - i, 0);
        if (json_array_append_new(list, json_pack("{s:I, s:I, s:o}", "reg", (json_int_t)reg, "into", (json_int_t)into,
                                                  "slots", slots)))
            return trv_fail_memory();
    }
    return TRV_OK;
}

/* Returns the k-th message from `from` among the receives of a step; NULL if there are fewer. */
static const trv_message_t *find_receive(const trv_step_t *step, int from, int k)
{
    for (int i = 0; i < step->receives; i++)
        if (step->receive[i].peer == from && k-- == 0)
            return &step->receive[i];
    return NULL;
}

static int put_message(writer_t *writer, int stream, int rank, const trv_message_t *send, const trv_message_t *receive)
{
    if (!receive || receive->parts != send->parts || receive->port != send->port || receive->nic != send->nic)
        return trv_fail(TRV_ERR_INVALID, "the receive on rank %d does not match the send", send->peer);
    json_t *parts = json_array();
    int rc = parts ? TRV_OK : trv_fail_memory();
    for (int p = 0; p < send->parts && !rc; p++)
        rc = append_part(writer, parts, &send->part[p], &receive->part[p]);
    if (rc) {
        json_decref(parts);
        return rc;
    }
    json_t *extra;
    if (json_array_size(parts) == 1) {
        extra = json_incref(json_array_get(parts, 0));
        json_decref(parts);
    } else {
        extra = json_pack("{s:o}", "parts", parts);
    }
    char port[TRV_PORT_TEXT_MAX];
    if (send->nic >= 0 && json_object_set_new(extra, "nic", json_string(trv_port_format(send->nic, port)))) {
        json_decref(extra);
        return trv_fail_memory();
    }
    fputs(writer->messages++ ? ",\n   " : "\n   ", writer->out);
    return put(writer,
               json_pack("[i, i, s, I, o]", rank, send->peer, trv_port_format(send->port, port),
                         (json_int_t)trv_message_bytes(writer->schedule, stream, send, writer->vector_bytes), extra));
}

/* Checks that every receive has a matching send, by counting both. */
static int check_receives(const writer_t *writer, int stream, int step)
{
    int ranks = trv_schedule_torus(writer->schedule)->ranks;
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < writer->step[rank].receives; i++) {
            int peer = writer->step[rank].receive[i].peer, sent = 0, received = 0;
            for (int j = 0; j < writer->step[rank].receives; j++)
                received += writer->step[rank].receive[j].peer == peer;
            for (int j = 0; peer >= 0 && peer < ranks && j < writer->step[peer].sends; j++)
                sent += writer->step[peer].send[j].peer == rank;
            if (sent < received)
                return trv_fail(TRV_ERR_INVALID,
                                "in step %d of stream %d rank %d waits for a message that rank %d does not "
                                "send; such a schedule cannot be written",
                                step, stream, rank, peer);
        }
    return TRV_OK;
}

static int put_sends(writer_t *writer, int stream, int step)
{
    int ranks = trv_schedule_torus(writer->schedule)->ranks;
    writer->messages = 0;
    fputs("[", writer->out);
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < writer->step[rank].sends; i++) {
            const trv_message_t *send = &writer->step[rank].send[i];
            int nth = 0;
            for (int j = 0; j < i; j++)
                nth += writer->step[rank].send[j].peer == send->peer;
            const trv_message_t *receive = NULL;
            if (send->peer >= 0 && send->peer < ranks)
                receive = find_receive(&writer->step[send->peer], rank, nth);
            if (put_message(writer, stream, rank, send, receive)) {
                char reason[512];
                snprintf(reason, sizeof reason, "%s", trv_last_error());
                return trv_fail(TRV_ERR_INVALID,
                                "the message from rank %d to rank %d in step %d of stream %d cannot be "
                                "written: %s",
                                rank, send->peer, step, stream, reason);
            }
        }
    fputs("]", writer->out);
    return check_receives(writer, stream, step);
}

static int put_combine(writer_t *writer, int rank, const trv_combine_t *combine)
{
    json_t *sources = json_array();
    for (int i = 0; i < combine->sources; i++)
        json_array_append_new(sources, json_integer(combine->source ? combine->source[i] : combine->first + i));
    int rc = list_blocks(&combine->blocks, &writer->sent);
    if (rc) {
        json_decref(sources);
        return rc;
    }
    fputs(writer->messages++ ? ",\n   " : "\n   ", writer->out);
    json_t *units = ranges_json(writer->sent.number, writer->sent.count, trv_schedule_units(writer->schedule));
    return put(writer, json_pack("[i, i, o, o]", rank, combine->dst, sources, units));
}

static int put_combines(writer_t *writer)
{
    int rc = TRV_OK, ranks = trv_schedule_torus(writer->schedule)->ranks;
    writer->messages = 0;
    fputs("[", writer->out);
    for (int rank = 0; rank < ranks && !rc; rank++)
        for (int i = 0; i < writer->step[rank].combines && !rc; i++)
            rc = put_combine(writer, rank, &writer->step[rank].combine[i]);
    fputs("]", writer->out);
    return rc;
}

static int put_steps(writer_t *writer, int stream, int (*put_step)(writer_t *, int stream, int step))
{
    int rc = TRV_OK, ranks = trv_schedule_torus(writer->schedule)->ranks;
    for (int step = 0; step < trv_schedule_steps(writer->schedule) && !rc; step++) {
        fputs(step ? ",\n  " : "\n  ", writer->out);
        rc = trv_span_report(writer->part, (stream + (double)step / trv_schedule_steps(writer->schedule)) /
                                               trv_schedule_streams(writer->schedule));
        for (int rank = 0; rank < ranks && !rc; rank++)
            rc = trv_schedule_step(writer->schedule, rank, stream, step, &writer->step[rank]);
        if (!rc)
            rc = put_step(writer, stream, step);
    }
    return rc;
}

static int put_step_combines(writer_t *writer, int stream, int step)
{
    (void)stream, (void)step;
    return put_combines(writer);
}

/* Writes the positions of the units in the slice, unless they are in order. */
static int put_position(writer_t *writer, int stream)
{
    int64_t units = trv_schedule_units(writer->schedule);
    bool identity = true;
    for (int64_t u = 0; u < units && identity; u++)
        identity = trv_schedule_position(writer->schedule, stream, u) == u;
    if (identity)
        return TRV_OK;
    json_t *position = json_array();
    for (int64_t u = 0; u < units; u++)
        json_array_append_new(position, json_integer(trv_schedule_position(writer->schedule, stream, u)));
    fputs("\"position\": ", writer->out);
    int rc = put(writer, position);
    fputs(", ", writer->out);
    return rc;
}

static int put_stream(writer_t *writer, int stream)
{
    fprintf(writer->out, "%s\n {\"mirrored\": %s, ", stream ? "," : "",
            trv_schedule_mirrored(writer->schedule, stream) ? "true" : "false");
    if (trv_schedule_weight(writer->schedule, stream) != 1)
        fprintf(writer->out, "\"weight\": %d, ", trv_schedule_weight(writer->schedule, stream));
    int rc = put_position(writer, stream);
    fputs("\"steps\": [", writer->out);
    if (!rc)
        rc = put_steps(writer, stream, put_sends);
    fputs("],\n  \"combines\": [", writer->out);
    if (!rc)
        rc = put_steps(writer, stream, put_step_combines);
    fputs("]}", writer->out);
    return rc;
}

/* Checks the limit on messages, estimated from the messages of rank 0. */
static int check_size(const trv_schedule_t *schedule)
{
    trv_step_t step = TRV_STEP_INIT;
    int64_t messages = 0;
    int rc = TRV_OK;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int k = 0; k < trv_schedule_steps(schedule) && !rc && messages <= MESSAGES_MAX; k++) {
            rc = trv_schedule_step(schedule, 0, stream, k, &step);
            messages += (int64_t)step.sends * trv_schedule_torus(schedule)->ranks;
        }
    trv_step_clear(&step);
    if (!rc && messages > MESSAGES_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule has at least about %" PRId64 " messages, too many for a file: at most "
                        "2^26 are written",
                        messages);
    return rc;
}

int trv_schedule_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, FILE *out)
{
    const trv_network_t network = {TRV_NETWORK, .torus = *trv_schedule_torus(schedule)};
    return trv_schedule_file_write_on(schedule, &network, vector_bytes, (trv_span_t){0}, out);
}

int trv_schedule_file_write_on(const trv_schedule_t *schedule, const trv_network_t *network, uint64_t vector_bytes,
                               trv_span_t part, FILE *out)
{
    writer_t writer = {.schedule = schedule, .vector_bytes = vector_bytes, .part = part, .out = out};
    int ranks = trv_schedule_torus(schedule)->ranks;
    int rc = check_size(schedule);
    if (rc)
        return rc;
    writer.step = malloc((size_t)ranks * sizeof *writer.step);
    if (!writer.step)
        return trv_fail_memory();
    for (int rank = 0; rank < ranks; rank++)
        writer.step[rank] = (trv_step_t)TRV_STEP_INIT;
    rc = put_header(&writer, network);
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        rc = put_stream(&writer, stream);
    fputs("\n]}\n", out);
    for (int rank = 0; rank < ranks; rank++)
        trv_step_clear(&writer.step[rank]);
    free(writer.step);
    free(writer.sent.number);
    free(writer.received.number);
    return rc;
}
