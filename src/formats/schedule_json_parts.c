/*
 * Messages and combines of a trivance-schedule-1 file.
 */
#include "formats/schedule_json_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"

#define LISTED_FREE              (INT64_C(1) << 22)
#define LISTED_PER_BYTE          64
#define LISTED_MAX               (INT64_C(1) << 28)
#define ROUGH_UNITS              (1 << 16)
#define ROUGH_LISTED_FREE        (INT64_C(1) << 20) /* units in all messages of a file without blocks */
#define ROUGH_LISTED_PER_MESSAGE 1024
#define ROUGH_LISTED_MAX         (INT64_C(1) << 27)
#define PARTS_MAX                4096

int64_t trv_reader_listed_max(size_t length)
{
    size_t length_max = (size_t)(LISTED_MAX - LISTED_FREE) / LISTED_PER_BYTE;
    return LISTED_FREE + (int64_t)(length < length_max ? length : length_max) * LISTED_PER_BYTE;
}

static int read_port(const schedule_reader_t *reader, const json_t *value, const char *what, int *port)
{
    const char *text = json_string_value(value);
    int dims = reader->torus.dims;
    if (!text || trv_port_parse(text, port) || trv_port_dimension(*port) >= dims)
        return trv_json_fail(&reader->json, value, NULL, "%s must be \"+d\" or \"-d\" with d a dimension from 0 to %d",
                             what, dims - 1);
    return TRV_OK;
}

/* Checks that a route has the torus's order of dimensions: the port's dimension first, then the others ascending.
 * Other orders are not supported.
 *  */
static int check_route(const schedule_reader_t *reader, json_t *route, int from, int to, int port)
{
    int a[TRV_DIMS_MAX], b[TRV_DIMS_MAX], previous = -1;
    json_t *entry;
    size_t i;
    if (!json_is_array(route))
        return trv_json_fail(&reader->json, route, NULL, "\"route\" must be a list of dimensions in order of travel");
    trv_torus_coordinates(&reader->torus, from, a);
    trv_torus_coordinates(&reader->torus, to, b);
    json_array_foreach(route, i, entry)
    {
        int64_t d = 0;
        int rc = trv_json_entry(&reader->json, route, i, "a dimension in \"route\"", 0, reader->torus.dims - 1, &d);
        if (rc)
            return rc;
        if (a[d] == b[d])
            continue;
        int key = d == trv_port_dimension(port) ? 0 : (int)d + 1;
        if (key <= previous)
            return trv_json_fail(&reader->json, route, NULL,
                                 "this \"route\" is not supported: messages travel the dimension of their port "
                                 "first and then the others in ascending order");
        previous = key;
    }
    return TRV_OK;
}

typedef struct line { /* the first four entries of a message, and `nic` of the fifth (-1: absent) */
    int from, to, port, nic;
    int64_t bytes;
    json_t *message, *extra;
} line_t;

static int read_line(const schedule_reader_t *reader, json_t *message, line_t *line)
{
    const trv_json_t *json = &reader->json;
    size_t size = json_array_size(message);
    int64_t from = 0, to = 0;
    if (!json_is_array(message) || size < 4 || size > 5)
        return trv_json_fail(json, message, NULL,
                             "a message must be a list [from, to, port, bytes], for example [0, 1, \"+0\", 4096], "
                             "optionally followed by an object");
    int rc = trv_json_entry(json, message, 0, "the sender", 0, reader->torus.ranks - 1, &from);
    if (!rc)
        rc = trv_json_entry(json, message, 1, "the receiver", 0, reader->torus.ranks - 1, &to);
    if (!rc)
        rc = read_port(reader, json_array_get(message, 2), "the port", &line->port);
    if (!rc)
        rc = trv_json_entry(json, message, 3, "the number of bytes", 0, INT64_C(1) << 50, &line->bytes);
    line->from = (int)from;
    line->to = (int)to;
    line->message = message;
    line->extra = json_array_get(message, 4);
    if (!rc && from == to)
        rc = trv_json_fail(json, message, NULL, "rank %d sends to itself", line->from);
    if (!rc && line->extra && !json_is_object(line->extra))
        rc = trv_json_fail(json, message, NULL, "the fifth entry of a message must be an object");
    const json_t *nic = json_object_get(line->extra, "nic");
    line->nic = -1;
    if (!rc && nic)
        rc = read_port(reader, nic, "\"nic\"", &line->nic);
    return rc;
}

int trv_reader_check_message(schedule_reader_t *reader, json_t *message)
{
    static const char *const known[] = {"nic", "route", "reg", "into", "blocks", "slots", "parts", NULL};
    line_t line = {0};
    int rc = read_line(reader, message, &line);
    if (rc)
        return rc;
    if (line.extra) {
        json_t *route = json_object_get(line.extra, "route");
        trv_json_check_keys(&reader->json, line.extra, known);
        if (route && (rc = check_route(reader, route, line.from, line.to, line.port)) != 0)
            return rc;
        if (json_object_get(line.extra, "blocks") || json_object_get(line.extra, "slots") ||
            json_object_get(line.extra, "parts"))
            reader->with_blocks++;
    }
    if (trv_array_reserve(&reader->bytes, &reader->bytes_capacity, reader->messages, 1, sizeof *reader->bytes))
        return TRV_ERR_MEMORY;
    reader->bytes[reader->messages++] = line.bytes;
    return TRV_OK;
}

/* ---- Files without blocks ---------------------------------------------------------------------------------------- */

/* Returns the number of units of a message of `bytes` if a slice has `units`. */
static int64_t nearest_units(const schedule_reader_t *reader, int64_t bytes, int64_t units)
{
    double share = (double)bytes * reader->options.streams / (double)reader->vector_bytes;
    int64_t nearest = llround(share * (double)units);
    return nearest < 1 ? 1 : nearest;
}

/* Whether with `units` per slice every message has exactly its bytes, rounded up as the cost model and the
 * simulators do. */
static bool fits(const schedule_reader_t *reader, int64_t units)
{
    int64_t whole = reader->options.streams * units, vector = (int64_t)reader->vector_bytes;
    if (vector > INT64_MAX / whole / 4096)
        return false;
    for (int64_t i = 0; i < reader->messages; i++) {
        int64_t count = nearest_units(reader, reader->bytes[i], units);
        if (count > units * 4096)
            return false;
        int64_t bytes = (count * vector + whole - 1) / whole;
        if ((bytes < 1 ? 1 : bytes) != reader->bytes[i])
            return false;
    }
    return true;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t remainder = a % b;
        a = b;
        b = remainder;
    }
    return a;
}

int trv_reader_choose_units(schedule_reader_t *reader)
{
    uint64_t divisor = reader->vector_bytes, streams = (uint64_t)reader->options.streams;
    double total = 0;
    for (int64_t i = 0; i < reader->messages; i++) {
        divisor = gcd((uint64_t)reader->bytes[i] * streams, divisor);
        total += (double)reader->bytes[i] * (double)streams / (double)reader->vector_bytes;
        if (reader->bytes[i] * (double)streams > PARTS_MAX / 2 * (double)reader->vector_bytes)
            return trv_json_fail(&reader->json, NULL, NULL,
                                 "a message has more than %d times the bytes of a stream's slice", PARTS_MAX / 2);
    }
    int64_t listed = ROUGH_LISTED_FREE + ROUGH_LISTED_PER_MESSAGE * reader->messages;
    double units_max = total > 0 ? (double)(listed < ROUGH_LISTED_MAX ? listed : ROUGH_LISTED_MAX) / total
                                 : ROUGH_UNITS;
    if (units_max < 1)
        return trv_json_fail(&reader->json, NULL, NULL, "the messages have too many bytes to be read");
    int64_t ranks = reader->torus.ranks;
    int64_t candidate[] = {1, ranks, 2 * ranks, (int64_t)(reader->vector_bytes / divisor)};
    reader->options.registers = 1;
    for (size_t i = 0; i < sizeof candidate / sizeof candidate[0]; i++)
        if (candidate[i] <= (units_max < 1 << 20 ? units_max : 1 << 20) && fits(reader, candidate[i])) {
            reader->options.units = candidate[i];
            return TRV_OK;
        }
    reader->options.units = (int64_t)(units_max < ROUGH_UNITS ? units_max : ROUGH_UNITS);
    trv_json_warn(&reader->json, NULL, NULL,
                  "the bytes of its messages are rounded to 1/%" PRId64 " of a stream's slice", reader->options.units);
    return TRV_OK;
}

/* Adds a message of a number of unspecified units: whole slices, and the remainder. */
static int add_bytes(schedule_reader_t *reader, const line_t *line)
{
    int64_t units = reader->options.units, count = nearest_units(reader, line->bytes, units);
    int parts = (int)((count + units - 1) / units);
    while (reader->numbers.count < units && !trv_numbers_add(&reader->numbers, reader->numbers.count))
        ;
    trv_explicit_part_t *part = calloc((size_t)parts, sizeof *part);
    if (!part || reader->numbers.count < units) {
        free(part);
        return trv_fail_memory();
    }
    for (int p = 0; p < parts; p++) {
        part[p].unit = reader->numbers.number;
        part[p].count = p < parts - 1 ? units : count - (int64_t)(parts - 1) * units;
    }
    int rc = trv_explicit_message(reader->schedule, reader->stream, reader->step, line->from, line->to, line->port,
                                  line->nic, TRV_SEND | TRV_RECEIVE, parts, part);
    free(part);
    return rc;
}

/* ---- Files with blocks ------------------------------------------------------------------------------------------- */

/* Appends the list at `value` (text, number or list of numbers) to reader->numbers. */
static int read_list(schedule_reader_t *reader, json_t *value, int64_t limit)
{
    trv_numbers_t *numbers = &reader->numbers;
    int64_t before = numbers->count, previous = -1;
    int rc = TRV_OK;
    if (json_is_string(value)) {
        if (trv_ranges_parse(json_string_value(value), limit, before + reader->listed_max - reader->listed, numbers))
            rc = trv_json_fail(&reader->json, value, NULL, "%s", trv_last_error());
    } else if (json_is_integer(value) || json_is_array(value)) {
        size_t size = json_is_array(value) ? json_array_size(value) : 1;
        for (size_t i = 0; i < size && !rc; i++) {
            json_t *entry = json_is_array(value) ? json_array_get(value, i) : value;
            if (!json_is_integer(entry) || json_integer_value(entry) <= previous || json_integer_value(entry) >= limit)
                return trv_json_fail(&reader->json, entry, NULL,
                                     "a list must have ascending whole numbers from 0 to %" PRId64, limit - 1);
            previous = json_integer_value(entry);
            rc = trv_numbers_add(numbers, previous);
        }
    } else {
        rc = trv_json_fail(&reader->json, value, NULL,
                           "a list must be a string such as \"0-8,12\", a number or a list of numbers");
    }
    reader->listed += numbers->count - before;
    return rc;
}

static int read_part(schedule_reader_t *reader, json_t *object, trv_explicit_part_t *part)
{
    const trv_json_t *json = &reader->json;
    json_t *blocks = json_object_get(object, "blocks"), *slots = json_object_get(object, "slots");
    int64_t reg = 0, into = 0, registers = reader->options.registers, first = reader->numbers.count;
    if (!json_is_object(object) || !blocks == !slots)
        return trv_json_fail(json, object, NULL, "a part must be an object with either \"blocks\" or \"slots\"");
    int rc = trv_json_integer(json, object, "reg", false, 0, registers - 1, &reg);
    if (!rc)
        rc = trv_json_integer(json, object, "into", false, 0, registers - 1, &into);
    if (!rc)
        rc = read_list(reader, blocks ? blocks : slots, blocks ? reader->options.units : registers);
    if (rc)
        return rc;
    part->from_reg = (int)reg;
    part->to_reg = (int)into;
    part->slots = slots != NULL;
    part->count = reader->numbers.count - first;
    int64_t last = part->count ? reader->numbers.number[reader->numbers.count - 1] : 0;
    if (slots && (reg + last >= registers || into + last >= registers))
        return trv_json_fail(json, slots, NULL,
                             "\"slots\" reaches register %" PRId64 ", but there are %" PRId64 " registers",
                             (reg > into ? reg : into) + last, registers);
    return TRV_OK;
}

/* Compares a message's bytes with its blocks. The blocks take precedence; the first difference is reported as a
 * warning. */
static void compare_bytes(schedule_reader_t *reader, const line_t *line, const trv_explicit_part_t *part, size_t parts)
{
    int64_t units = 0;
    for (size_t p = 0; p < parts; p++)
        units += part[p].slots ? part[p].count * reader->options.units : part[p].count;
    uint64_t bytes = trv_units_bytes(reader->schedule, reader->stream, units, reader->vector_bytes);
    if (bytes != (uint64_t)line->bytes && !reader->warned_bytes) {
        reader->warned_bytes = true;
        trv_json_warn(&reader->json, line->message, NULL,
                      "it has %" PRId64 " bytes, but its blocks have %" PRIu64 "; the blocks are used (further "
                      "differences are not shown)",
                      line->bytes, bytes);
    }
}

static int add_blocks(schedule_reader_t *reader, const line_t *line)
{
    static const char *const known[] = {"reg", "into", "blocks", "slots", NULL};
    json_t *list = json_object_get(line->extra, "parts");
    size_t parts = list ? json_array_size(list) : 1;
    if (list && !json_is_array(list))
        return trv_json_fail(&reader->json, list, NULL, "\"parts\" must be a list of objects");
    trv_explicit_part_t *part = calloc(parts + 1, sizeof *part);
    int rc = part ? TRV_OK : trv_fail_memory();
    reader->numbers.count = 0;
    for (size_t p = 0; p < parts && !rc; p++) {
        json_t *object = list ? json_array_get(list, p) : line->extra;
        if (list && json_is_object(object))
            trv_json_check_keys(&reader->json, object, known);
        rc = read_part(reader, object, &part[p]);
    }
    int64_t first = 0;
    for (size_t p = 0; p < parts && !rc; p++) { /* not earlier, because the array may move while it grows */
        part[p].unit = part[p].count ? reader->numbers.number + first : NULL;
        first += part[p].count;
    }
    if (!rc)
        compare_bytes(reader, line, part, parts);
    if (!rc)
        rc = trv_explicit_message(reader->schedule, reader->stream, reader->step, line->from, line->to, line->port,
                                  line->nic, TRV_SEND | TRV_RECEIVE, (int)parts, part);
    free(part);
    return rc;
}

int trv_reader_add_message(schedule_reader_t *reader, json_t *message)
{
    line_t line = {0};
    int rc = read_line(reader, message, &line);
    if (rc)
        return rc;
    return reader->with_blocks ? add_blocks(reader, &line) : add_bytes(reader, &line);
}

int trv_reader_add_combine(schedule_reader_t *reader, json_t *combine)
{
    const trv_json_t *json = &reader->json;
    json_t *list = json_array_get(combine, 2);
    int64_t rank = 0, dst = 0;
    size_t sources = json_array_size(list);
    if (!json_is_array(combine) || json_array_size(combine) != 4 || !json_is_array(list) || sources < 1)
        return trv_json_fail(json, combine, NULL,
                             "a combine must be a list [rank, register, [sources], blocks], for example "
                             "[0, 0, [1, 0, 2], \"all\"]");
    int rc = trv_json_entry(json, combine, 0, "the rank", 0, reader->torus.ranks - 1, &rank);
    if (!rc)
        rc = trv_json_entry(json, combine, 1, "the register", 0, reader->options.registers - 1, &dst);
    int *source = malloc(sources * sizeof *source);
    if (!source)
        return trv_fail_memory();
    for (size_t i = 0; i < sources && !rc; i++) {
        int64_t value = 0;
        rc = trv_json_entry(json, list, i, "a source", 0, reader->options.registers - 1, &value);
        source[i] = (int)value;
    }
    reader->numbers.count = 0;
    if (!rc)
        rc = read_list(reader, json_array_get(combine, 3), reader->options.units);
    if (!rc)
        rc = trv_explicit_combine(reader->schedule, reader->stream, reader->step, (int)rank, (int)dst, (int)sources,
                                  source, reader->numbers.count, reader->numbers.number);
    free(source);
    return rc;
}

/* ---- Symmetry ---------------------------------------------------------------------------------------------------- */

typedef struct send_key {
    int port, nic, displacement;
    int64_t units;
} send_key_t;

static int compare_keys(const void *left, const void *right)
{
    const send_key_t *a = left, *b = right;
    if (a->port != b->port)
        return a->port < b->port ? -1 : 1;
    if (a->nic != b->nic)
        return a->nic < b->nic ? -1 : 1;
    if (a->displacement != b->displacement)
        return a->displacement < b->displacement ? -1 : 1;
    return (a->units > b->units) - (a->units < b->units);
}

/* Returns the sends of a rank in a step relative to the rank, sorted. The caller frees the list; NULL when out of
 * memory. */
static send_key_t *list_keys(const schedule_reader_t *reader, int rank, int stream, int step, trv_step_t *out,
                             int *count)
{
    int own[TRV_DIMS_MAX], peer[TRV_DIMS_MAX];
    if (trv_schedule_step(reader->schedule, rank, stream, step, out))
        return NULL;
    send_key_t *key = calloc((size_t)out->sends + 1, sizeof *key);
    *count = out->sends;
    trv_torus_coordinates(&reader->torus, rank, own);
    for (int i = 0; key && i < out->sends; i++) {
        trv_torus_coordinates(&reader->torus, out->send[i].peer, peer);
        for (int d = 0; d < reader->torus.dims; d++)
            peer[d] = (peer[d] - own[d] + reader->torus.size[d]) % reader->torus.size[d];
        key[i] = (send_key_t){out->send[i].port, out->send[i].nic, trv_torus_rank(&reader->torus, peer),
                              trv_message_units(reader->schedule, &out->send[i])};
    }
    if (key)
        qsort(key, (size_t)out->sends, sizeof *key, compare_keys);
    return key;
}

/* Returns 1 if the two ranks' sends are the same relative to the ranks, 0 if not, and a negative code when out of
 * memory. */
static int same_sends(const schedule_reader_t *reader, int a, int b, int stream, int step, trv_step_t *out)
{
    int count_a = 0, count_b = 0;
    send_key_t *keys_a = list_keys(reader, a, stream, step, out, &count_a);
    send_key_t *keys_b = list_keys(reader, b, stream, step, out, &count_b);
    int same = keys_a && keys_b ? count_a == count_b : trv_fail_memory();
    for (int i = 0; same > 0 && i < count_a; i++)
        same = compare_keys(&keys_a[i], &keys_b[i]) == 0;
    free(keys_a);
    free(keys_b);
    return same;
}

int trv_reader_check_symmetry(schedule_reader_t *reader)
{
    const trv_torus_t *torus = &reader->torus;
    int by = reader->options.symmetry == TRV_SYMMETRY_TRANSLATION ? 1 : 2, same = 1;
    trv_step_t out = TRV_STEP_INIT;
    if (reader->options.symmetry == TRV_SYMMETRY_NONE)
        return TRV_OK;
    for (int stream = 0; stream < reader->options.streams && same > 0; stream++)
        for (int step = 0; step < reader->options.steps && same > 0; step++)
            for (int rank = 0; rank < torus->ranks && same > 0; rank++)
                for (int d = 0; d < torus->dims && same > 0; d++) {
                    int at[TRV_DIMS_MAX];
                    trv_torus_coordinates(torus, rank, at);
                    at[d] = (at[d] + by) % torus->size[d];
                    int other = trv_torus_rank(torus, at);
                    same = same_sends(reader, rank, other, stream, step, &out);
                    if (same == 0)
                        trv_json_fail(&reader->json, reader->json.root, "symmetry",
                                      "\"symmetry\" is \"%s\", but in step %d of stream %d rank %d does "
                                      "not send as rank %d does",
                                      by == 1 ? "translation" : "parity", step, stream, other, rank);
                }
    trv_step_clear(&out);
    return same > 0 ? TRV_OK : same < 0 ? same : TRV_ERR_INVALID;
}

void trv_reader_clear(schedule_reader_t *reader)
{
    free(reader->bytes);
    free(reader->numbers.number);
}
