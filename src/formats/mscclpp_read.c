/*
 * Reader of MSCCL++ execution plans (format of the executor's DSL: "gpus", "threadblocks", "ops"). It matches channels:
 * the n-th connection of one GPU to another ends at the n-th connection in the opposite direction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/mscclpp.h"
#include "json/json.h"

#define CHUNKS_MAX  65536
#define BLOCKS_MAX  1024 /* of a GPU */
#define OPS_MAX     (1 << 20)
#define ARRAY_MAX   1024 /* channels or remote buffers of a GPU */
#define OPERAND_MAX 64

typedef struct reader {
    trv_json_t json;
    trv_gpu_program_t *program;
    int *first_end, *connected;       /* index of each GPU's first end, and one more; the GPU to which an end leads */
    json_t *gpu, *channels, *buffers; /* of the threadblock: channels and remote buffers, as indices into the GPU's */
    int number;                       /* of the GPU */
} reader_t;

static int integer(const reader_t *reader, json_t *object, const char *key, int max, int *value)
{
    int64_t wide = 0;
    int rc = trv_json_integer(&reader->json, object, key, true, 0, max, &wide);
    *value = (int)wide;
    return rc;
}

static int array(const reader_t *reader, json_t *object, const char *key, size_t max, json_t **found)
{
    *found = json_object_get(object, key);
    if (!json_is_array(*found) || json_array_size(*found) > max)
        return trv_json_fail(&reader->json, object, key, "\"%s\" must be an array of at most %zu entries", key, max);
    return TRV_OK;
}

/* Finds LIST in [{TYPE: "memory", LIST: […]}]. *found == NULL: the array is empty. */
static int memory_list(const reader_t *reader, json_t *object, const char *key, const char *type, const char *list,
                       json_t **found)
{
    json_t *groups = json_object_get(object, key);
    *found = NULL;
    if (!groups || json_array_size(groups) == 0)
        return json_is_array(groups) || !groups
                   ? TRV_OK
                   : trv_json_fail(&reader->json, object, key, "\"%s\" must be an array", key);
    json_t *group = json_array_get(groups, 0);
    const char *name = json_string_value(json_object_get(group, type));
    if (json_array_size(groups) > 1 || !name || strcmp(name, "memory") != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%.200s: %s are not all of type memory; only such plans are verified",
                        reader->json.name, key);
    return array(reader, group, list, ARRAY_MAX, found);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

static int read_type(const reader_t *reader, json_t *object, char *buffer)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type || strlen(type) != 1 || !strchr("ios", type[0]))
        return trv_json_fail(&reader->json, object, "type",
                             "unknown buffer type '%.20s': expected i (input), o (output) or s (scratch)",
                             type ? type : "");
    *buffer = type[0];
    return TRV_OK;
}

/* Reads an operand. A buffer of the GPU itself has a type; a buffer of a peer has the index of a remote buffer of
 * the threadblock. */
static int read_chunks(reader_t *reader, json_t *object)
{
    trv_gpu_program_t *program = reader->program;
    int id = 0, rc = trv_gpu_program_add_span(program, &(trv_gpu_span_t){.gpu = reader->number});
    if (rc)
        return rc;
    trv_gpu_span_t *chunks = &program->span[program->spans - 1];
    rc = integer(reader, object, "index", CHUNKS_MAX, &chunks->at);
    rc = rc ? rc : integer(reader, object, "size", CHUNKS_MAX, &chunks->size);
    if (rc || !json_object_get(object, "buffer_id"))
        return rc ? rc : read_type(reader, object, &chunks->buffer);
    rc = integer(reader, object, "buffer_id", ARRAY_MAX, &id);
    const json_t *index = rc ? NULL : json_array_get(reader->buffers, (size_t)id);
    json_t *remote = index && json_integer_value(index) >= 0
                         ? json_array_get(json_object_get(reader->gpu, "remote_buffers"),
                                          (size_t)json_integer_value(index))
                         : NULL;
    if (!rc && !remote)
        return trv_json_fail(&reader->json, object, "buffer_id", "the threadblock has no remote buffer %d", id);
    rc = rc ? rc : integer(reader, remote, "rank", program->gpus - 1, &chunks->gpu);
    return rc ? rc : read_type(reader, remote, &chunks->buffer);
}

static int read_buffers(reader_t *reader, json_t *object, const char *key, int *count)
{
    json_t *list;
    int rc = array(reader, object, key, OPERAND_MAX, &list);
    *count = rc ? 0 : (int)json_array_size(list);
    for (int i = 0; i < *count && !rc; i++)
        rc = read_chunks(reader, json_array_get(list, (size_t)i));
    return rc;
}

static int read_channels(reader_t *reader, json_t *object, int *count)
{
    trv_gpu_program_t *program = reader->program;
    json_t *list;
    int rc = array(reader, object, "channel_ids", OPERAND_MAX, &list);
    const int first = reader->first_end[reader->number], ends = reader->first_end[reader->number + 1] - first;
    *count = rc ? 0 : (int)json_array_size(list);
    for (int i = 0; i < *count && !rc; i++) {
        int64_t id = 0, end = 0;
        rc = trv_json_entry(&reader->json, list, (size_t)i, "channel_ids", 0,
                            (int64_t)json_array_size(reader->channels) - 1, &id);
        if (!rc)
            rc = trv_json_entry(&reader->json, reader->channels, (size_t)id, "channel_ids", 0, ends - 1, &end);
        if (!rc && program->other[first + end] < 0)
            rc = trv_json_fail(&reader->json, NULL, NULL, "GPU %d has no channel in the opposite direction",
                               reader->connected[first + end]);
        rc = rc ? rc : trv_gpu_program_add_channel(program, first + (int)end);
    }
    return rc;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static const struct known {
    const char *name;
    trv_op_kind_t kind;
    bool relaxed;
} known[] = {
    {"nop", TRV_OP_NOP, false},       {"flush", TRV_OP_NOP, false},       {"barrier", TRV_OP_BARRIER, false},
    {"signal", TRV_OP_SIGNAL, false}, {"rlxsignal", TRV_OP_SIGNAL, true}, {"wait", TRV_OP_WAIT, false},
    {"rlxwait", TRV_OP_WAIT, true},   {"put", TRV_OP_MOVE, false},        {"get", TRV_OP_MOVE, false},
    {"copy", TRV_OP_MOVE, false},     {"re", TRV_OP_SUM, false},          {"res", TRV_OP_SUM, false},
    {"rre", TRV_OP_SUM, false},       {"rres", TRV_OP_SUM, false},
};

static int find_kind(const reader_t *reader, json_t *object, trv_gpu_op_t *op)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *type = json_string_value(json_object_get(object, "channel_type"));
    const char *sum = json_string_value(json_object_get(object, "reduce_op"));
    for (size_t i = 0; name && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) {
            op->kind = known[i].kind;
            op->relaxed = known[i].relaxed;
            if (type && strcmp(type, "memory") != 0)
                return trv_fail(TRV_ERR_UNSUPPORTED,
                                "%.200s: a channel has the type '%.20s'; only plans with memory channels are verified",
                                reader->json.name, type);
            if (json_object_get(object, "tbg_info"))
                return trv_fail(
                    TRV_ERR_UNSUPPORTED,
                    "%.200s: threadblocks share an operation (tbg_info); only plans without shared operations "
                    "are verified",
                    reader->json.name);
            if (sum && strcmp(sum, "sum") != 0)
                return trv_fail(TRV_ERR_UNSUPPORTED,
                                "%.200s: the reduction is '%.20s'; only plans with sum are verified", reader->json.name,
                                sum);
            return TRV_OK;
        }
    return name ? trv_fail(TRV_ERR_UNSUPPORTED,
                           "%.200s: unknown operation '%.40s': expected nop, flush, barrier, signal, rlxsignal, wait, "
                           "rlxwait, "
                           "put, get, copy, re, res, rre or rres",
                           reader->json.name, name)
                : trv_json_fail(&reader->json, object, NULL, "an operation must have a \"name\", for example \"put\"");
}

static int read_op(reader_t *reader, json_t *object)
{
    trv_gpu_program_t *program = reader->program;
    trv_gpu_op_t op = {.kind = TRV_OP_NOP};
    int targets = 0, rc = find_kind(reader, object, &op);
    if (!rc && program->ops == OPS_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "%.200s has more than %d operations", reader->json.name, OPS_MAX);
    if (rc)
        return rc;
    op.first = op.kind == TRV_OP_MOVE || op.kind == TRV_OP_SUM ? program->spans : program->channels;
    if (op.kind == TRV_OP_SIGNAL || op.kind == TRV_OP_WAIT) {
        rc = read_channels(reader, object, &op.count);
    } else if (op.kind == TRV_OP_BARRIER) {
        rc = integer(reader, object, "barrier_id", TRV_GPU_BARRIERS_MAX - 1, &op.barrier);
        if (!rc)
            rc = integer(reader, object, "num_threadblocks", BLOCKS_MAX, &op.blocks);
        if (!rc && op.blocks == 0)
            rc = trv_json_fail(&reader->json, object, NULL, "\"num_threadblocks\" of a barrier must be at least 1");
    } else if (op.kind != TRV_OP_NOP) {
        rc = read_buffers(reader, object, "src_buff", &op.sources);
        if (!rc)
            rc = read_buffers(reader, object, "dst_buff", &targets);
        op.count = op.sources + targets;
        if (!rc && (op.sources == 0 || targets == 0 || (op.kind == TRV_OP_MOVE && op.sources != targets)))
            rc = trv_json_fail(&reader->json, object, NULL,
                               "the numbers of sources and destinations, %d and %d, do not match", op.sources, targets);
        for (int i = 1; i < op.count && !rc; i++) {
            const trv_gpu_span_t *chunks = &program->span[op.first];
            if (chunks[i].size != chunks[op.kind == TRV_OP_SUM || i < op.sources ? 0 : i - op.sources].size &&
                (op.kind == TRV_OP_SUM || i >= op.sources))
                rc = trv_json_fail(&reader->json, object, NULL, "the sources and destinations have different sizes");
        }
    }
    return rc ? rc : trv_gpu_program_add_op(program, &op);
}

static int read_block(reader_t *reader, json_t *object, int number)
{
    trv_gpu_program_t *program = reader->program;
    json_t *ops;
    trv_json_at(&reader->json, 1, "threadblock", number);
    int rc = trv_gpu_program_add_block(program, &(trv_threadblock_t){reader->number, number, .first_op = program->ops});
    rc = rc ? rc : array(reader, object, "ops", OPS_MAX, &ops);
    rc = rc ? rc : memory_list(reader, object, "channels", "channel_type", "channel_ids", &reader->channels);
    rc = rc ? rc
            : memory_list(reader, object, "remote_buffer_refs", "access_channel_type", "remote_buffer_ids",
                          &reader->buffers);
    for (size_t i = 0; !rc && i < json_array_size(ops); i++) {
        trv_json_at(&reader->json, 2, "operation", (long long)i);
        rc = read_op(reader, json_array_get(ops, i));
    }
    return rc;
}

/* ---- GPUs -------------------------------------------------------------------------------------------------------- */

static json_t *connections_of(const reader_t *reader, json_t *gpu, int *rc)
{
    json_t *list = NULL;
    *rc = memory_list(reader, gpu, "channels", "channel_type", "connected_to", &list);
    return list;
}

/* Reads the ends of all channels and their destinations. */
static int read_ends(reader_t *reader, json_t *gpus)
{
    trv_gpu_program_t *program = reader->program;
    const int count = program->gpus;
    int rc = TRV_OK;
    reader->first_end = calloc((size_t)count + 1, sizeof *reader->first_end);
    reader->connected = calloc((size_t)count * ARRAY_MAX + 1, sizeof *reader->connected);
    if (!reader->first_end || !reader->connected)
        return trv_fail_memory();
    for (int g = 0; g < count && !rc; g++) {
        json_t *list = connections_of(reader, json_array_get(gpus, (size_t)g), &rc);
        for (size_t i = 0; !rc && i < json_array_size(list); i++) {
            int64_t to = 0;
            rc = trv_json_entry(&reader->json, list, i, "connected_to", 0, count - 1, &to);
            reader->connected[program->ends++] = (int)to;
        }
        reader->first_end[g + 1] = program->ends;
    }
    program->other = malloc(((size_t)program->ends + 1) * sizeof *program->other);
    if (!rc && !program->other)
        return trv_fail_memory();
    for (int g = 0; g < count && !rc; g++)
        for (int e = reader->first_end[g]; e < reader->first_end[g + 1]; e++) {
            const int to = reader->connected[e];
            int nth = 0;
            for (int i = reader->first_end[g]; i < e; i++)
                nth += reader->connected[i] == to;
            program->other[e] = -1;
            for (int i = reader->first_end[to]; i < reader->first_end[to + 1] && to != g; i++)
                if (reader->connected[i] == g && nth-- == 0)
                    program->other[e] = i;
        }
    return rc;
}

/* Reads the sizes of a GPU's buffers, which must be the same for all GPUs. */
static int read_sizes(reader_t *reader, json_t *object)
{
    trv_gpu_program_t *program = reader->program;
    int input = 0, output = 0, rc = integer(reader, object, "input_chunks", CHUNKS_MAX, &input);
    rc = rc ? rc : integer(reader, object, "output_chunks", CHUNKS_MAX, &output);
    rc = rc ? rc : integer(reader, object, "scratch_chunks", CHUNKS_MAX, &program->scratch[reader->number]);
    const int chunks = program->collective == TRV_ALLGATHER ? output : input;
    const int parts = program->collective == TRV_ALLREDUCE ? 1 : program->gpus;
    const int other = program->collective == TRV_ALLGATHER ? input : output;
    if (!rc && (chunks < 1 || chunks != other * parts || (reader->number > 0 && chunks != program->chunks)))
        rc = trv_json_fail(&reader->json, object, NULL,
                           "%d input and %d output chunks do not match the collective on %d GPUs", input, output,
                           program->gpus);
    program->chunks = chunks;
    return rc;
}

static int read_gpu(reader_t *reader, json_t *object)
{
    trv_gpu_program_t *program = reader->program;
    json_t *blocks;
    trv_json_at(&reader->json, 0, "GPU", reader->number);
    reader->gpu = object;
    int id = 0, rc = integer(reader, object, "id", TRV_GPUS_MAX, &id);
    if (!rc && id != reader->number)
        rc = trv_json_fail(&reader->json, object, "id", "\"id\" is %d; GPUs must be in ascending order", id);
    rc = rc ? rc : read_sizes(reader, object);
    rc = rc ? rc : array(reader, object, "threadblocks", BLOCKS_MAX, &blocks);
    for (size_t b = 0; !rc && b < json_array_size(blocks); b++)
        rc = read_block(reader, json_array_get(blocks, b), (int)b);
    program->first_block[reader->number + 1] = program->blocks;
    return rc;
}

static int read_plan(reader_t *reader, json_t *root)
{
    static const char *const collective[] = {"allreduce", "reducescatter", "allgather"};
    trv_gpu_program_t *program = reader->program;
    const char *name = json_string_value(json_object_get(root, "name"));
    const char *protocol = json_string_value(json_object_get(root, "protocol"));
    json_t *gpus;
    int kind = 0;
    int rc = array(reader, root, "gpus", TRV_GPUS_MAX, &gpus);
    if (!rc && json_array_size(gpus) == 0)
        rc = trv_json_fail(&reader->json, root, "gpus", "\"gpus\" must have at least one GPU");
    rc = rc ? rc : trv_json_word(&reader->json, root, "collective", collective, 3, &kind);
    rc = rc ? rc : trv_json_boolean(&reader->json, root, "inplace", &program->in_place);
    if (!rc && (!protocol || strcmp(protocol, "Simple") != 0))
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "%.200s: the protocol is '%.20s'; only plans with Simple are verified",
                      reader->json.name, protocol ? protocol : "");
    if (!rc && json_is_true(json_object_get(root, "use_double_scratch_buffer")))
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "%.200s: launches take turns with two halves of the scratch buffer; only plans that use all of "
                      "it are verified",
                      reader->json.name);
    if (rc)
        return rc;
    snprintf(program->name, sizeof program->name, "%s", name ? name : "");
    trv_make_printable(program->name);
    program->collective = (trv_collective_t)kind;
    program->gpus = (int)json_array_size(gpus);
    rc = trv_gpu_program_create_gpus(program);
    rc = rc ? rc : read_ends(reader, gpus);
    for (reader->number = 0; reader->number < program->gpus && !rc; reader->number++)
        rc = read_gpu(reader, json_array_get(gpus, (size_t)reader->number));
    return rc;
}

/* Returns a copy of the text in which longer numbers are cut to 18 digits; NULL when out of memory. json_loadb
 * accepts no number above 2^63 - 1, but max_message_size is often 2^64 - 1. The numbers that this reader uses are
 * smaller. */
static char *shorten_numbers(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    size_t digits = 0;
    bool quoted = false, whole = true;
    for (size_t i = 0; copy && i < length; i++) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        whole = text[i] != '.' && (whole || !digit);
        digits = digit && whole && !quoted ? digits + 1 : 0;
        copy[i] = digits > 18 ? ' ' : text[i];
        if (text[i] == '"')
            quoted = !quoted;
        else if (text[i] == '\\' && quoted && i + 1 < length)
            copy[i + 1] = text[i + 1], i++;
    }
    return copy;
}

int trv_mscclpp_read(const char *text, size_t length, const char *file, trv_gpu_program_t *program)
{
    *program = (trv_gpu_program_t){.in_place = true};
    reader_t reader = {.program = program};
    char *copy = shorten_numbers(text, length);
    if (!copy)
        return trv_fail_memory();
    int rc = trv_json_parse(&reader.json, file, copy, length);
    if (!rc)
        rc = read_plan(&reader, reader.json.root);
    free(reader.first_end);
    free(reader.connected);
    trv_json_close(&reader.json);
    free(copy);
    if (rc)
        trv_gpu_program_clear(program);
    return rc;
}
