/*
 * Reading MSCCL's XML: <algo> has a <gpu> for each rank, that a <tb> for each threadblock, and that its <step>s.
 */
#include "formats/msccl_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/room.h"
#include "formats/xml.h"

#define CHUNKS_MAX   (1 << 20)
#define BLOCKS_MAX   (1 << 16)
#define STEPS_MAX    (1 << 24)
#define CHANNELS_MAX 64

typedef struct reader {
    xml_t xml;
    trv_msccl_t *program;
    int blocks;
    int64_t block_room, step_room;
} reader_t;

static int read_kind(const reader_t *reader, const xml_tag_t *tag, int *what)
{
    enum { RECEIVE = TRV_MSCCL_RECEIVE, SOURCE = TRV_MSCCL_SOURCE, STORE = TRV_MSCCL_STORE, SEND = TRV_MSCCL_SEND };
    static const struct {
        const char *type;
        int what;
    } kind[] = {{"nop", 0},
                {"s", SOURCE | SEND},
                {"r", RECEIVE | STORE},
                {"cpy", SOURCE | STORE},
                {"re", SOURCE | TRV_MSCCL_TARGET | STORE},
                {"rcs", RECEIVE | STORE | SEND},
                {"rrc", RECEIVE | SOURCE | STORE},
                {"rrs", RECEIVE | SOURCE | SEND},
                {"rrcs", RECEIVE | SOURCE | STORE | SEND}};
    const char *type = xml_text(tag, "type");
    for (size_t i = 0; type && i < sizeof kind / sizeof kind[0]; i++)
        if (strcmp(type, kind[i].type) == 0) {
            *what = kind[i].what;
            return TRV_OK;
        }
    return xml_fail(&reader->xml, "a step's type is '%.20s'; known here are s, r, cpy, re, rcs, rrc, rrs, rrcs and nop",
                    type ? type : "");
}

/* Whether the element that <tag> began ends here. */
static int read_end(const reader_t *reader, const char *name, int more, const xml_tag_t *tag)
{
    if (more < 0)
        return more;
    if (more == 0 || strcmp(tag->name, name) != 0)
        return xml_fail(&reader->xml, "</%s> is missing", name);
    return TRV_OK;
}

static int read_buffer(const reader_t *reader, const xml_tag_t *tag, const char *key, char *buffer)
{
    const char *text = xml_text(tag, key);
    if (!text || !*text || !strchr("ios", *text) || text[1])
        return xml_fail(&reader->xml, "%s is '%.20s'; buffers are i (input), o (output) and s (scratch)", key,
                        text ? text : "");
    *buffer = *text;
    return TRV_OK;
}

static int read_step(reader_t *reader, const xml_tag_t *tag, trv_msccl_block_t *block)
{
    trv_msccl_t *program = reader->program;
    trv_msccl_step_t step = {.count = 0};
    int number = 0, waited = 0, rc;
    if (strcmp(tag->name, "step") != 0 || !tag->empty)
        return xml_fail(&reader->xml, "a threadblock has <step …/> only, not <%.40s>", tag->name);
    rc = xml_integer(&reader->xml, tag, "s", block->steps, block->steps, &number);
    rc = rc ? rc : read_kind(reader, tag, &step.what);
    rc = rc ? rc : xml_integer(&reader->xml, tag, "depid", -1, BLOCKS_MAX, &step.wait_block);
    rc = rc ? rc : xml_integer(&reader->xml, tag, "deps", -1, STEPS_MAX, &step.wait_step);
    rc = rc ? rc : xml_integer(&reader->xml, tag, "hasdep", 0, 1, &waited);
    step.waited = waited;
    if (step.what) {
        rc = rc ? rc : xml_integer(&reader->xml, tag, "cnt", 1, CHUNKS_MAX, &step.count);
        rc = rc ? rc : read_buffer(reader, tag, "srcbuf", &step.source);
        rc = rc ? rc : read_buffer(reader, tag, "dstbuf", &step.target);
        rc = rc ? rc : xml_integer(&reader->xml, tag, "srcoff", -1, CHUNKS_MAX, &step.source_at);
        rc = rc ? rc : xml_integer(&reader->xml, tag, "dstoff", -1, CHUNKS_MAX, &step.target_at);
    }
    if (!rc && program->steps == STEPS_MAX)
        rc = xml_fail(&reader->xml, "there are more than %d steps", STEPS_MAX);
    rc = rc ? rc : trv_room(&program->step, &reader->step_room, program->steps, 1, sizeof step);
    if (!rc) {
        program->step[program->steps++] = step;
        block->steps++;
    }
    return rc;
}

static int read_block(reader_t *reader, const xml_tag_t *head, int gpu)
{
    trv_msccl_t *program = reader->program;
    trv_msccl_block_t block = {.gpu = gpu,
                               .number = reader->blocks - program->first_block[gpu],
                               .first_step = program->steps};
    xml_tag_t tag;
    int number = 0, rc, more = 1;
    if (strcmp(head->name, "tb") != 0)
        return xml_fail(&reader->xml, "a GPU has <tb> only, not <%.40s>", head->name);
    rc = xml_integer(&reader->xml, head, "id", block.number, block.number, &number);
    rc = rc ? rc : xml_integer(&reader->xml, head, "send", -1, program->gpus - 1, &block.send);
    rc = rc ? rc : xml_integer(&reader->xml, head, "recv", -1, program->gpus - 1, &block.receive);
    rc = rc ? rc : xml_integer(&reader->xml, head, "chan", 0, CHANNELS_MAX - 1, &block.channel);
    while (!rc && !head->empty && (more = xml_next(&reader->xml, &tag)) > 0 && !tag.closing)
        rc = read_step(reader, &tag, &block);
    if (!rc && !head->empty)
        rc = read_end(reader, "tb", more, &tag);
    if (!rc && reader->blocks == BLOCKS_MAX)
        rc = xml_fail(&reader->xml, "there are more than %d threadblocks", BLOCKS_MAX);
    rc = rc ? rc : trv_room(&program->block, &reader->block_room, reader->blocks, 1, sizeof block);
    if (!rc)
        program->block[reader->blocks++] = block;
    return rc;
}

static int read_gpu(reader_t *reader, int gpu)
{
    trv_msccl_t *program = reader->program;
    xml_tag_t head, tag;
    int number = 0, rc = TRV_OK, more = xml_next(&reader->xml, &head);
    if (more <= 0 || head.closing || strcmp(head.name, "gpu") != 0)
        return more < 0 ? more : xml_fail(&reader->xml, "there are %d <gpu>, and ngpus is %d", gpu, program->gpus);
    program->first_block[gpu] = reader->blocks;
    rc = xml_integer(&reader->xml, &head, "id", gpu, gpu, &number);
    rc = rc ? rc : xml_integer(&reader->xml, &head, "s_chunks", 0, CHUNKS_MAX, &program->scratch[gpu]);
    while (!rc && !head.empty && (more = xml_next(&reader->xml, &tag)) > 0 && !tag.closing)
        rc = read_block(reader, &tag, gpu);
    if (!rc && !head.empty)
        rc = read_end(reader, "gpu", more, &tag);
    program->first_block[gpu + 1] = reader->blocks;
    return rc;
}

static int read_collective(const reader_t *reader, const xml_tag_t *tag, trv_collective_t *collective)
{
    static const char *const name[] = {"allreduce", "reducescatter", "allgather", "reduce_scatter", "all_gather"};
    const char *text = xml_text(tag, "coll");
    for (int i = 0; text && i < 5; i++)
        if (strcmp(text, name[i]) == 0) {
            *collective = (trv_collective_t)(i < 3 ? i : i - 2);
            return TRV_OK;
        }
    return trv_fail(
        TRV_ERR_UNSUPPORTED,
        "%.200s: the collective is '%.40s', and only allreduce, reduce_scatter and allgather can be verified",
        reader->xml.file, text ? text : "");
}

static int read_head(reader_t *reader, xml_tag_t *tag)
{
    trv_msccl_t *program = reader->program;
    int rc = xml_next(&reader->xml, tag);
    if (rc < 0)
        return rc;
    if (rc == 0 || tag->closing || strcmp(tag->name, "algo") != 0)
        return xml_fail(&reader->xml, "it is no MSCCL program, which begins with <algo …>");
    snprintf(program->name, sizeof program->name, "%s", xml_text(tag, "name") ? xml_text(tag, "name") : "");
    trv_make_printable(program->name);
    rc = xml_integer(&reader->xml, tag, "ngpus", 1, TRV_MSCCL_GPUS_MAX, &program->gpus);
    rc = rc ? rc : xml_integer(&reader->xml, tag, "nchunksperloop", 1, CHUNKS_MAX, &program->chunks);
    rc = rc ? rc : read_collective(reader, tag, &program->collective);
    if (!rc && xml_text(tag, "inplace"))
        rc = xml_integer(&reader->xml, tag, "inplace", 0, 1, &program->mode[0]);
    program->mode[1] = !program->mode[0];
    if (!rc && xml_text(tag, "outofplace"))
        rc = xml_integer(&reader->xml, tag, "outofplace", 0, 1, &program->mode[1]);
    if (!rc && program->collective != TRV_ALLREDUCE && program->chunks % program->gpus)
        rc = xml_fail(&reader->xml, "nchunksperloop is %d, no multiple of the %d GPUs", program->chunks, program->gpus);
    return rc;
}

static int read_all(reader_t *reader)
{
    trv_msccl_t *program = reader->program;
    xml_tag_t tag;
    int rc = read_head(reader, &tag);
    if (rc)
        return rc;
    program->scratch = calloc((size_t)program->gpus, sizeof *program->scratch);
    program->first_block = calloc((size_t)program->gpus + 1, sizeof *program->first_block);
    if (!program->scratch || !program->first_block)
        return trv_fail_memory();
    for (int gpu = 0; gpu < program->gpus && !rc; gpu++)
        rc = read_gpu(reader, gpu);
    if (rc)
        return rc;
    rc = xml_next(&reader->xml, &tag);
    if (rc >= 0 && (rc == 0 || !tag.closing || strcmp(tag.name, "algo") != 0))
        rc = xml_fail(&reader->xml, "</algo> is missing behind %d <gpu>", program->gpus);
    if (rc > 0 && (rc = xml_next(&reader->xml, &tag)) > 0)
        rc = xml_fail(&reader->xml, "there is more behind </algo>");
    return rc;
}

int trv_msccl_read(char *text, const char *file, trv_msccl_t *program)
{
    *program = (trv_msccl_t){.gpus = 0};
    reader_t reader = {.xml = {file, text, 1}, .program = program};
    int rc = read_all(&reader);
    if (rc)
        trv_msccl_clear(program);
    return rc;
}

void trv_msccl_clear(trv_msccl_t *program)
{
    free(program->scratch);
    free(program->first_block);
    free(program->block);
    free(program->step);
    *program = (trv_msccl_t){.gpus = 0};
}
