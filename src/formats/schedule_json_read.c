/*
 * Reads trivance-schedule-1: the frame (header, streams, steps); messages and combines are read by
 * schedule_json_parts.c.
 *
 * Two passes: the first checks the structure of every message and whether the file has blocks; then the explicit
 * schedule is created and the second pass fills it. Limits keep the memory for a hostile file in proportion to its
 * length.
 */
#include "formats/schedule_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/mscclpp.h"
#include "formats/names.h"
#include "formats/schedule_json_network.h"
#include "formats/schedule_json_parts.h"
#include "base/text/whole_file.h"
#include "schedule/collective.h"

/* Limits on streams * steps * ranks, the number of records in an explicit schedule: a fixed number for small files,
 * and more in proportion to the number of messages. */
#define CELLS_FREE        (INT64_C(1) << 20)
#define CELLS_PER_MESSAGE 256
#define STREAMS_MAX       1024
#define STEPS_MAX         (1 << 20)

static json_t *step_of(json_t *root, int stream, const char *key, int step)
{
    json_t *object = json_array_get(json_object_get(root, "streams"), (size_t)stream);
    return json_array_get(json_object_get(object, key), (size_t)step);
}

/* Reads the rank that is the root of the collective; 0 if absent. */
static int read_root(schedule_reader_t *reader, json_t *root, trv_collective_t collective, int64_t *rank)
{
    const trv_json_t *json = &reader->json;
    if (json_object_get(root, "root") && !trv_collective_has_root(collective))
        return trv_json_fail(json, root, "root", "\"root\" is given, but %s has no root; remove it",
                             trv_collective_shapes[collective].name);
    return trv_json_integer(json, root, "root", false, 0, reader->torus.ranks - 1, rank);
}

static int read_header(schedule_reader_t *reader, json_t *root)
{
    static const char *const known[] = {"format",  "torus",      "vector_bytes", "name",
                                        "streams", "collective", "units",        "registers",
                                        "exact",   "consistent", "symmetry",     "messages_per_port",
                                        "wrap",    "links",      "root",         "forwarding",
                                        NULL};
    trv_json_t *json = &reader->json;
    const char *format = json_string_value(json_object_get(root, "format"));
    if (json_object_get(root, "gpus") && json_object_get(root, "collective"))
        return trv_json_fail(json, root, NULL,
                             "not a schedule but an MSCCL++ execution plan, which only `trivance verify` reads");
    if (!json_is_object(root) || !format || strcmp(format, "trivance-schedule-1") != 0)
        return trv_json_fail(json, root, "format", "not a schedule: \"format\" must be \"trivance-schedule-1\"");
    trv_json_check_keys(json, root, known);
    json_t *name = json_object_get(root, "name");
    if (name && !json_is_string(name))
        return trv_json_fail(json, root, "name", "\"name\" must be a string");
    for (const char *c = json_string_value(name); c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return trv_json_fail(json, root, "name", "\"name\" must have printable characters only");
    int64_t vector = 1, registers = 1, per_port = 0, units = 0, rank = 0;
    int words[2] = {0, 0};
    const char *collective[TRV_COLLECTIVES];
    for (int i = 0; i < TRV_COLLECTIVES; i++)
        collective[i] = trv_collective_shapes[i].name;
    bool exact = true, consistent = false;
    int rc = trv_json_torus(json, root, &reader->torus);
    if (!rc)
        rc = trv_json_integer(json, root, "vector_bytes", true, 1, INT64_C(1) << 50, &vector);
    units = reader->torus.ranks;
    if (!rc)
        rc = trv_json_integer(json, root, "units", false, 1, 1 << 24, &units);
    if (!rc)
        rc = trv_json_integer(json, root, "registers", false, 1, 1 << 20, &registers);
    if (!rc)
        rc = trv_json_integer(json, root, "messages_per_port", false, 1, 1 << 20, &per_port);
    if (!rc)
        rc = trv_json_boolean(json, root, "exact", &exact);
    if (!rc)
        rc = trv_json_boolean(json, root, "consistent", &consistent);
    if (!rc)
        rc = trv_json_word(json, root, "collective", collective, TRV_COLLECTIVES, &words[0]);
    if (!rc)
        rc = read_root(reader, root, (trv_collective_t)words[0], &rank);
    if (!rc)
        rc = trv_json_word(json, root, "symmetry", trv_symmetry_words, 3, &words[1]);
    reader->vector_bytes = (uint64_t)vector;
    reader->options = (trv_explicit_options_t){TRV_EXPLICIT_OPTIONS,
                                               .collective = (trv_collective_t)words[0],
                                               .root = (int)rank,
                                               .registers = (int)registers,
                                               .units = units,
                                               .symmetry = (trv_symmetry_t)words[1],
                                               .exactness = exact ? TRV_EXACT : TRV_COVERS,
                                               .consistent = consistent,
                                               .messages_per_port = (int)per_port};
    return rc;
}

/* Checks a stream. Mirrored streams must come last; *mirrored: on entry whether the previous stream was mirrored, on
 * return whether this one is. */
static int check_stream(schedule_reader_t *reader, json_t *stream, bool *mirrored)
{
    static const char *const known[] = {"steps", "combines", "mirrored", "position", "weight", NULL};
    trv_json_t *json = &reader->json;
    json_t *steps = json_object_get(stream, "steps"), *combines = json_object_get(stream, "combines");
    bool previous = *mirrored;
    *mirrored = false;
    if (!json_is_object(stream) || !json_is_array(steps))
        return trv_json_fail(json, stream, "steps", "a stream must be an object with a list \"steps\"");
    trv_json_check_keys(json, stream, known);
    if (combines && (!json_is_array(combines) || json_array_size(combines) > json_array_size(steps)))
        return trv_json_fail(json, combines, NULL,
                             "\"combines\" must be a list beside \"steps\", with one list for every step");
    if (json_array_size(steps) > STEPS_MAX)
        return trv_json_fail(json, steps, NULL, "a stream has more than 2^20 steps");
    int rc = trv_json_boolean(json, stream, "mirrored", mirrored);
    if (!rc && previous && !*mirrored)
        return trv_json_fail(json, stream, "mirrored", "mirrored streams must be last");
    reader->options.mirrored_streams += *mirrored;
    if ((int)json_array_size(steps) > reader->options.steps)
        reader->options.steps = (int)json_array_size(steps);
    return rc;
}

static int check_streams(schedule_reader_t *reader, json_t *root)
{
    json_t *streams = json_object_get(root, "streams");
    bool mirrored = false;
    if (!json_is_array(streams) || json_array_size(streams) < 1 || json_array_size(streams) > STREAMS_MAX)
        return trv_json_fail(&reader->json, root, "streams", "\"streams\" must be a list of 1 to %d streams",
                             STREAMS_MAX);
    reader->options.streams = (int)json_array_size(streams);
    for (int i = 0; i < reader->options.streams; i++) {
        trv_json_at(&reader->json, 0, "stream", i);
        int rc = check_stream(reader, json_array_get(streams, (size_t)i), &mirrored);
        if (rc)
            return rc;
    }
    reader->json.levels = 0;
    return TRV_OK;
}

static int check_cells(const schedule_reader_t *reader)
{
    double cells = (double)reader->options.streams * reader->options.steps * reader->torus.ranks;
    if (cells > (double)(CELLS_FREE + CELLS_PER_MESSAGE * reader->messages))
        return trv_json_fail(&reader->json, NULL, NULL,
                             "ranks times streams times steps is %.0f, too much for a file of %lld messages", cells,
                             (long long)reader->messages);
    return TRV_OK;
}

/* Calls `visit` for every entry of the lists at `key` ("steps" or "combines"), with the current position set. */
static int for_each(schedule_reader_t *reader, json_t *root, const char *key, const char *what,
                    int (*visit)(schedule_reader_t *, json_t *))
{
    int rc = TRV_OK;
    for (int stream = 0; stream < reader->options.streams && !rc; stream++)
        for (int step = 0; step < reader->options.steps && !rc; step++) {
            json_t *list = step_of(root, stream, key, step), *entry;
            size_t i;
            reader->stream = stream;
            reader->step = step;
            trv_json_at(&reader->json, 0, "stream", stream);
            trv_json_at(&reader->json, 1, "step", step);
            if (list && !json_is_array(list))
                return trv_json_fail(&reader->json, list, NULL, "a step must be a list in \"%s\"", key);
            json_array_foreach(list, i, entry)
            {
                trv_json_at(&reader->json, 2, what, (long long)i);
                rc = visit(reader, entry);
                if (rc)
                    break;
            }
        }
    reader->json.levels = 0;
    return rc;
}

/* Reads the positions of all streams; NULL if no stream has any. */
static int read_positions(schedule_reader_t *reader, json_t *root, int64_t **positions)
{
    int64_t units = reader->options.units;
    bool any = false;
    for (int i = 0; i < reader->options.streams; i++)
        any |= json_object_get(json_array_get(json_object_get(root, "streams"), (size_t)i), "position") != NULL;
    *positions = NULL;
    if (!any)
        return TRV_OK;
    if (units * reader->options.streams > 1 << 24)
        return trv_json_fail(&reader->json, NULL, NULL, "the file has more than 2^24 positions, too many to be read");
    int64_t *position = malloc((size_t)(units * reader->options.streams) * sizeof *position);
    char *taken = malloc((size_t)units);
    int rc = position && taken ? TRV_OK : trv_fail_memory();
    for (int i = 0; i < reader->options.streams && !rc; i++) {
        json_t *list = json_object_get(json_array_get(json_object_get(root, "streams"), (size_t)i), "position");
        memset(taken, 0, (size_t)units);
        trv_json_at(&reader->json, 0, "stream", i);
        if (list && (!json_is_array(list) || (int64_t)json_array_size(list) != units))
            rc = trv_json_fail(&reader->json, list, NULL,
                               "\"position\" must be a list with a number for each unit of the slice");
        for (int64_t u = 0; u < units && !rc; u++) {
            int64_t at = u;
            if (list)
                rc = trv_json_entry(&reader->json, list, (size_t)u, "a number in \"position\"", 0, units - 1, &at);
            if (!rc && taken[at]++)
                rc = trv_json_fail(&reader->json, list, NULL, "two units have the same \"position\"");
            position[i * units + u] = at;
        }
    }
    reader->json.levels = 0;
    free(taken);
    *positions = position;
    if (rc) {
        free(position);
        *positions = NULL;
    }
    return rc;
}

/* Reads the weights of all streams. */
static int read_weights(schedule_reader_t *reader, json_t *root, int **weights)
{
    int *weight = *weights = malloc((size_t)reader->options.streams * sizeof *weight);
    int rc = weight ? TRV_OK : trv_fail_memory();
    for (int i = 0; i < reader->options.streams && !rc; i++) {
        int64_t value = 1;
        trv_json_at(&reader->json, 0, "stream", i);
        rc = trv_json_integer(&reader->json, json_array_get(json_object_get(root, "streams"), (size_t)i), "weight",
                              false, 1, TRV_WEIGHT_MAX, &value);
        weight[i] = (int)value;
    }
    reader->json.levels = 0;
    return rc;
}

/* Fills the explicit schedule. In a file without blocks the bytes of the messages are sufficient: without slices,
 * positions and weights have no effect. */
static int fill(schedule_reader_t *reader, json_t *root, trv_schedule_file_t *file)
{
    const char *name = json_string_value(json_object_get(root, "name"));
    int64_t *positions = NULL;
    int *weights = NULL;
    bool has_blocks = reader->with_blocks > 0;
    int rc = check_cells(reader);
    if (!rc && !has_blocks)
        rc = trv_reader_choose_units(reader);
    else if (!rc)
        rc = read_positions(reader, root, &positions);
    if (!rc && has_blocks)
        rc = read_weights(reader, root, &weights);
    reader->options.position = positions;
    reader->options.weight = weights;
    if (!rc)
        rc = trv_explicit_create(&reader->schedule, &reader->torus, name ? name : "unnamed", &reader->options);
    free(positions);
    free(weights);
    if (!rc)
        rc = for_each(reader, root, "steps", "message", trv_reader_add_message);
    if (!rc && has_blocks)
        rc = for_each(reader, root, "combines", "combine", trv_reader_add_combine);
    if (!rc)
        rc = trv_reader_check_symmetry(reader);
    if (rc) {
        trv_schedule_destroy(reader->schedule);
        return rc;
    }
    file->schedule = reader->schedule;
    file->vector_bytes = reader->vector_bytes;
    file->has_blocks = has_blocks;
    return TRV_OK;
}

int trv_schedule_file_parse(const char *text, size_t length, const char *name, trv_schedule_file_t *file,
                            trv_warn_t *warn, void *context)
{
    schedule_reader_t reader = {.json = {.warn = warn, .context = context},
                                .listed_max = trv_reader_listed_max(length)};
    if (trv_json_is_blank(text, length))
        return trv_fail(TRV_ERR_INVALID,
                        "%.200s:1:1: the file is empty; `trivance plan 9 --format=json -o nine.json` writes a schedule",
                        name);
    int rc = trv_json_parse(&reader.json, name, text, length);
    if (rc && text[0] == '<')
        rc = trv_fail(rc, "%.200s:1:1: not a schedule but XML; " TRV_MSCCL_REMOVED, name);
    else if (rc && memmem(text, length, "num_ranks", strlen("num_ranks")))
        rc = trv_fail(rc, "%.200s:1:1: not a schedule but a GOAL program, which only `trivance simulate --goal` reads",
                      name);
    json_t *root = reader.json.root;
    if (!rc)
        rc = read_header(&reader, root);
    if (!rc)
        rc = trv_json_read_network(&reader.json, root, &reader.torus, file);
    if (!rc)
        rc = check_streams(&reader, root);
    if (!rc)
        rc = for_each(&reader, root, "steps", "message", trv_reader_check_message);
    if (!rc && reader.with_blocks > 0 && reader.with_blocks < reader.messages)
        rc = trv_json_fail(&reader.json, NULL, NULL,
                           "%lld of the %lld messages have blocks; either all must have blocks, or none",
                           (long long)reader.with_blocks, (long long)reader.messages);
    if (!rc)
        rc = fill(&reader, root, file);
    trv_reader_clear(&reader);
    trv_json_close(&reader.json);
    return rc;
}

int trv_schedule_file_read(const char *path, trv_schedule_file_t *file, trv_warn_t *warn, void *context)
{
    const char *name;
    char *text;
    size_t length;
    int rc = trv_whole_file_read(path, &name, &text, &length);
    if (rc)
        return rc;
    rc = trv_schedule_file_parse(text, length, name, file, warn, context);
    free(text);
    return rc;
}
