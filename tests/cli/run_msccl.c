/*
 * Reader of MSCCL XML that applies the interpreter's rules. A threadblock executes its steps in order; a step that
 * names another threadblock's step waits until that step is done; sends and receives of a channel between two GPUs are
 * matched in order, and a send waits until the previous one has been received.
 */
#include "formats.h"

#include <stdlib.h>
#include <string.h>

#define TAG_ATTRIBUTES_MAX 12
#define BLOCKS_MAX         108
#define STEPS_MAX          256
#define COUNT_MAX          71
#define IDLE_MAX           20000 /* draws without progress after which all threadblocks are considered deadlocked */

/* ---- XML --------------------------------------------------------------------------------------------------------- */

typedef struct tag {
    char name[16];
    char key[TAG_ATTRIBUTES_MAX][16], value[TAG_ATTRIBUTES_MAX][64];
    int attributes;
    bool closing, empty;
} tag_t;

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* Copies `length` characters; false if there are none or they exceed `size`. */
static bool copy_characters(const char **at, size_t length, char *to, size_t size)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(to, *at, length);
    to[length] = '\0';
    *at += length;
    return true;
}

/* Reads the next tag. Only blanks and line feeds may separate tags; each attribute is one blank and key="value". */
static bool next_tag(const char **at, tag_t *tag)
{
    const char *c = *at + strspn(*at, " \n");
    memset(tag, 0, sizeof *tag);
    if (*c++ != '<')
        return false;
    tag->closing = *c == '/';
    c += tag->closing;
    if (!copy_characters(&c, strspn(c, LETTERS), tag->name, sizeof tag->name))
        return false;
    while (*c == ' ' && tag->attributes < TAG_ATTRIBUTES_MAX) {
        int i = tag->attributes++;
        c++;
        if (!copy_characters(&c, strspn(c, LETTERS), tag->key[i], sizeof tag->key[i]) || *c++ != '=' || *c++ != '"' ||
            !copy_characters(&c, strcspn(c, "\"<>\t"), tag->value[i], sizeof tag->value[i]) || *c++ != '"')
            return false;
    }
    tag->empty = *c == '/';
    c += tag->empty;
    *at = c + 1;
    return *c == '>';
}

static const char *text_of(const tag_t *tag, const char *key)
{
    for (int i = 0; i < tag->attributes; i++)
        if (strcmp(tag->key[i], key) == 0)
            return tag->value[i];
    return NULL;
}

/* Returns -1000 if the attribute is missing or not a number. */
static int number_of(const tag_t *tag, const char *key)
{
    const char *text = text_of(tag, key);
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end ? (int)value : -1000;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

typedef struct step {
    char type[8], src[4], dst[4];
    int srcoff, dstoff, count, depid, deps;
    bool hasdep;
} step_t;

typedef struct block {
    int send, receive, channel, steps, at;
    step_t step[STEPS_MAX];
} block_t;

typedef struct gpu {
    memory_t memory;
    int blocks;
    block_t *block;
} gpu_t;

typedef struct wire { /* between two GPUs on a channel: holds at most one message */
    bool full;
    int count;
    value_t value[COUNT_MAX];
} wire_t;

typedef struct algorithm {
    int gpus, channels;
    gpu_t gpu[FORMAT_RANKS_MAX];
    wire_t *wire; /* (channel * gpus + from) * gpus + to */
} algorithm_t;

static const char *read_step(const tag_t *tag, block_t *block)
{
    static const char *const key[] = {"s",      "type", "srcbuf", "srcoff", "dstbuf",
                                      "dstoff", "cnt",  "depid",  "deps",   "hasdep"};
    if (tag->attributes != 10 || !tag->empty)
        return "a step has ten attributes";
    for (int i = 0; i < 10; i++)
        if (strcmp(tag->key[i], key[i]) != 0)
            return format_error("a step's attribute is %s, not %s", tag->key[i], key[i]);
    if (number_of(tag, "s") != block->steps || block->steps == STEPS_MAX)
        return format_error("step %s follows %d others", text_of(tag, "s"), block->steps);
    step_t *step = &block->step[block->steps++];
    snprintf(step->type, sizeof step->type, "%.7s", text_of(tag, "type"));
    snprintf(step->src, sizeof step->src, "%.3s", text_of(tag, "srcbuf"));
    snprintf(step->dst, sizeof step->dst, "%.3s", text_of(tag, "dstbuf"));
    step->srcoff = number_of(tag, "srcoff");
    step->dstoff = number_of(tag, "dstoff");
    step->count = number_of(tag, "cnt");
    step->depid = number_of(tag, "depid");
    step->deps = number_of(tag, "deps");
    step->hasdep = number_of(tag, "hasdep") == 1;
    bool nop = strcmp(step->type, "nop") == 0;
    if (step->count < (nop ? 0 : 1) || step->count > COUNT_MAX || (nop && step->depid < 0))
        return format_error("step %d has a bad count, or is a nop for nothing", block->steps - 1);
    return NULL;
}

static const char *read_gpu(const char **at, gpu_t *gpu)
{
    tag_t tag;
    gpu->block = calloc(BLOCKS_MAX, sizeof *gpu->block);
    while (next_tag(at, &tag) && !tag.closing) {
        if (strcmp(tag.name, "tb") != 0 || number_of(&tag, "id") != gpu->blocks || gpu->blocks == BLOCKS_MAX)
            return "threadblocks are not numbered";
        block_t *block = &gpu->block[gpu->blocks++];
        block->send = number_of(&tag, "send");
        block->receive = number_of(&tag, "recv");
        block->channel = number_of(&tag, "chan");
        while (next_tag(at, &tag) && !tag.closing) {
            const char *error = strcmp(tag.name, "step") == 0 ? read_step(&tag, block) : "a tb has steps only";
            if (error)
                return error;
        }
    }
    return strcmp(tag.name, "gpu") == 0 ? NULL : "</gpu> is missing";
}

static const char *read_algorithm(const char *text, int ranks, algorithm_t *a)
{
    tag_t tag;
    format_collective_t collective;
    if (strncmp(text, "<algo ", 6) != 0 || !next_tag(&text, &tag) || tag.attributes != 10 || !text_of(&tag, "name"))
        return "it does not begin with <algo and ten attributes";
    int chunks = number_of(&tag, "nchunksperloop");
    a->gpus = number_of(&tag, "ngpus");
    a->channels = number_of(&tag, "nchannels");
    if (a->gpus != ranks || a->channels < 1 || a->channels > 32 || chunks < 1 || number_of(&tag, "inplace") != 1 ||
        number_of(&tag, "outofplace") != 0 || number_of(&tag, "minBytes") != 0 || number_of(&tag, "maxBytes") != 0 ||
        strcmp(text_of(&tag, "proto"), "Simple") != 0 || !format_collective(text_of(&tag, "coll"), &collective))
        return "the attributes of <algo> are wrong";
    for (int g = 0; g < ranks; g++) {
        if (!next_tag(&text, &tag) || strcmp(tag.name, "gpu") != 0 || number_of(&tag, "id") != g)
            return "GPUs are not numbered";
        a->gpu[g].memory = (memory_t){collective,
                                      g,
                                      ranks,
                                      chunks,
                                      number_of(&tag, "i_chunks"),
                                      number_of(&tag, "o_chunks"),
                                      number_of(&tag, "s_chunks"),
                                      NULL};
        const char *error = read_gpu(&text, &a->gpu[g]);
        if (error)
            return error;
    }
    if (!next_tag(&text, &tag) || !tag.closing || strcmp(tag.name, "algo") != 0 || strcmp(text, "\n") != 0)
        return "</algo> is missing";
    a->wire = calloc((size_t)a->channels * (size_t)ranks * (size_t)ranks, sizeof *a->wire);
    return NULL;
}

/* ---- Requirements of the interpreter's parser -------------------------------------------------------------------- */

static const char *check_block(const gpu_t *gpu, const block_t *block)
{
    for (int b = 0; b < gpu->blocks; b++) {
        const block_t *other = &gpu->block[b];
        if (other != block && other->channel == block->channel &&
            ((block->send >= 0 && other->send == block->send) ||
             (block->receive >= 0 && other->receive == block->receive)))
            return "two threadblocks share a connection";
    }
    for (int s = 0; s < block->steps; s++) {
        const step_t *step = &block->step[s], *last = s > 0 ? step - 1 : NULL;
        if (step->depid >= 0) {
            if (step->depid >= gpu->blocks || step->deps < 0 || step->deps >= gpu->block[step->depid].steps ||
                !gpu->block[step->depid].step[step->deps].hasdep ||
                strcmp(gpu->block[step->depid].step[step->deps].type, "nop") == 0)
                return format_error("step %d depends on step %d of threadblock %d, which says nothing", s, step->deps,
                                    step->depid);
        } else if (last && strcmp(last->type, "nop") == 0) {
            return format_error("step %d ends a chain of nops and depends on nothing itself", s);
        }
        /* The interpreter fuses consecutive `re` steps and uses the count of the last one. */
        if (last && strcmp(step->type, "re") == 0 && strcmp(last->type, "re") == 0 && !last->hasdep &&
            step->depid < 0 && step->dstoff == last->dstoff && strcmp(step->dst, last->dst) == 0 &&
            strcmp(step->src, last->src) == 0 && step->count != last->count)
            return format_error("step %d is joined to one of another count", s);
    }
    return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Moves `count` values; false if a buffer index does not exist, the source is empty, or a sum would be wrong. */
static bool move(const memory_t *m, const step_t *step, value_t *wire, bool from_wire, bool add)
{
    for (int i = 0; i < step->count; i++) {
        value_t *src = from_wire ? &wire[i] : format_at(m, step->src, step->srcoff + i);
        value_t *dst = wire && !from_wire ? &wire[i] : format_at(m, step->dst, step->dstoff + i);
        if (!src || !dst || src->chunk < 0 || (add && !format_add(dst, src)))
            return false;
        if (!add)
            *dst = *src;
    }
    return true;
}

/* Returns 1 if the threadblock's next step was executed, 0 if it must wait, -1 if it is wrong. */
static int run_step(algorithm_t *a, int g, int b, bool no_dependencies)
{
    gpu_t *gpu = &a->gpu[g];
    block_t *block = &gpu->block[b];
    const step_t *step = &block->step[block->at];
    bool sends = strcmp(step->type, "s") == 0, receives = strcmp(step->type, "r") == 0, good = true;
    int peer = sends ? block->send : block->receive;
    if (step->depid >= 0 && !no_dependencies && gpu->block[step->depid].at <= step->deps)
        return 0;
    if (sends || receives) {
        if (peer < 0 || peer >= a->gpus || peer == g || block->channel < 0 || block->channel >= a->channels)
            return -1;
        wire_t *wire = &a->wire[(block->channel * a->gpus + (sends ? g : peer)) * a->gpus + (sends ? peer : g)];
        if (wire->full == sends)
            return 0;
        good = (sends || wire->count == step->count) && move(&gpu->memory, step, wire->value, receives, false);
        wire->full = sends;
        wire->count = step->count;
    } else if (strcmp(step->type, "re") == 0 || strcmp(step->type, "cpy") == 0) {
        good = move(&gpu->memory, step, NULL, false, step->type[0] == 'r');
    } else if (strcmp(step->type, "nop") != 0) {
        good = false;
    }
    block->at++;
    return good ? 1 : -1;
}

/* Repeatedly selects a threadblock at random and executes its steps until it must wait. */
static const char *run_all(algorithm_t *a, const msccl_options_t *options)
{
    unsigned seed = options->seed;
    for (int idle = 0; idle < IDLE_MAX; idle++) {
        int g = (int)(format_random(&seed) % (unsigned)a->gpus), moved;
        if (a->gpu[g].blocks == 0)
            continue;
        int b = (int)(format_random(&seed) % (unsigned)a->gpu[g].blocks);
        block_t *block = &a->gpu[g].block[b];
        while (block->at < block->steps && (moved = run_step(a, g, b, options->no_dependencies)) != 0) {
            idle = 0;
            if (moved < 0)
                return format_error("GPU %d, threadblock %d, step %d uses what it must not", g, b, block->at - 1);
        }
    }
    for (int g = 0; g < a->gpus; g++) {
        for (int b = 0; b < a->gpu[g].blocks; b++)
            if (a->gpu[g].block[b].at < a->gpu[g].block[b].steps)
                return format_error("GPU %d, threadblock %d waits forever in step %d", g, b, a->gpu[g].block[b].at);
        if (!format_complete(&a->gpu[g].memory, 0))
            return format_error("GPU %d ends with a wrong result", g);
    }
    return NULL;
}

const char *msccl_run(const char *text, int ranks, const msccl_options_t *options)
{
    algorithm_t a = {0};
    const char *error = read_algorithm(text, ranks, &a);
    for (int g = 0; g < ranks && !error; g++) {
        memory_t *m = &a.gpu[g].memory;
        for (int b = 0; b < a.gpu[g].blocks && !error; b++)
            error = check_block(&a.gpu[g], &a.gpu[g].block[b]);
        m->value = calloc((size_t)m->chunks + (size_t)m->scratch, sizeof *m->value);
        for (int s = 0; s < m->scratch; s++)
            m->value[m->chunks + s].chunk = -1;
        format_begin(m, 0);
    }
    if (!error)
        error = run_all(&a, options);
    for (int g = 0; g < ranks; g++) {
        free(a.gpu[g].block);
        free(a.gpu[g].memory.value);
    }
    free(a.wire);
    return error;
}
