/*
 * Reader of MSCCL's XML: <algo> contains a <gpu> for each rank, <gpu> a <tb> for each threadblock, and <tb> its
 * <step>s.
 */
#include "formats/msccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/xml.h"

#define CHUNKS_MAX   (1 << 20)
#define BLOCKS_MAX   (1 << 16)
#define STEPS_MAX    (1 << 24)
#define CHANNELS_MAX 64

typedef struct reader {
    xml_t xml;
    trv_gpu_program_t *program;
    int gpu;
} reader_t;

static int read_kind(const reader_t *reader, const xml_tag_t *tag, int *actions)
{
    enum { RECEIVE = TRV_ACT_RECEIVE, SOURCE = TRV_ACT_SOURCE, STORE = TRV_ACT_STORE, SEND = TRV_ACT_SEND };
    static const struct {
        const char *type;
        int actions;
    } kind[] = {{"nop", 0},
                {"s", SOURCE | SEND},
                {"r", RECEIVE | STORE},
                {"cpy", SOURCE | STORE},
                {"re", SOURCE | TRV_ACT_TARGET | STORE},
                {"rcs", RECEIVE | STORE | SEND},
                {"rrc", RECEIVE | SOURCE | STORE},
                {"rrs", RECEIVE | SOURCE | SEND},
                {"rrcs", RECEIVE | SOURCE | STORE | SEND}};
    const char *type = trv_xml_text(tag, "type");
    for (size_t i = 0; type && i < sizeof kind / sizeof kind[0]; i++)
        if (strcmp(type, kind[i].type) == 0) {
            *actions = kind[i].actions;
            return TRV_OK;
        }
    return trv_xml_fail(&reader->xml, "unknown step type '%.20s': expected s, r, cpy, re, rcs, rrc, rrs, rrcs or nop",
                        type ? type : "");
}

/* Whether the element that <tag> began ends here. */
static int read_end(const reader_t *reader, const char *name, int more, const xml_tag_t *tag)
{
    if (more < 0)
        return more;
    if (more == 0 || strcmp(tag->name, name) != 0)
        return trv_xml_fail(&reader->xml, "</%s> is missing", name);
    return TRV_OK;
}

static int read_buffer(const reader_t *reader, const xml_tag_t *tag, const char *key, char *buffer)
{
    const char *text = trv_xml_text(tag, key);
    if (!text || !*text || !strchr("ios", *text) || text[1])
        return trv_xml_fail(&reader->xml, "%s is '%.20s': expected i (input), o (output) or s (scratch)", key,
                            text ? text : "");
    *buffer = *text;
    return TRV_OK;
}

static int read_step(reader_t *reader, const xml_tag_t *tag)
{
    trv_gpu_program_t *program = reader->program;
    trv_gpu_op_t op = {.kind = TRV_OP_STEP, .first = program->spans};
    trv_gpu_span_t source = {.gpu = reader->gpu}, target = source;
    const int number = program->block[program->blocks - 1].ops;
    int read = 0, waited = 0, rc;
    if (strcmp(tag->name, "step") != 0 || !tag->empty)
        return trv_xml_fail(&reader->xml, "unexpected <%.40s> in a threadblock: expected <step …/>", tag->name);
    rc = trv_xml_integer(&reader->xml, tag, "s", number, number, &read);
    rc = rc ? rc : read_kind(reader, tag, &op.actions);
    rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "depid", -1, BLOCKS_MAX, &op.wait_block);
    rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "deps", -1, STEPS_MAX, &op.wait_step);
    rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "hasdep", 0, 1, &waited);
    op.waited = waited;
    if (op.actions) {
        rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "cnt", 1, CHUNKS_MAX, &source.size);
        target.size = source.size;
        rc = rc ? rc : read_buffer(reader, tag, "srcbuf", &source.buffer);
        rc = rc ? rc : read_buffer(reader, tag, "dstbuf", &target.buffer);
        rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "srcoff", -1, CHUNKS_MAX, &source.at);
        rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "dstoff", -1, CHUNKS_MAX, &target.at);
        rc = rc ? rc : trv_gpu_program_add_span(program, &source);
        rc = rc ? rc : trv_gpu_program_add_span(program, &target);
    }
    if (!rc && program->ops == STEPS_MAX)
        rc = trv_xml_fail(&reader->xml, "there are more than %d steps", STEPS_MAX);
    return rc ? rc : trv_gpu_program_add_op(program, &op);
}

static int read_block(reader_t *reader, const xml_tag_t *head)
{
    trv_gpu_program_t *program = reader->program;
    trv_threadblock_t block = {.gpu = reader->gpu,
                               .number = program->blocks - program->first_block[reader->gpu],
                               .first_op = program->ops};
    xml_tag_t tag;
    int number = 0, rc, more = 1;
    if (strcmp(head->name, "tb") != 0)
        return trv_xml_fail(&reader->xml, "unexpected <%.40s> in a GPU: expected <tb …>", head->name);
    rc = trv_xml_integer(&reader->xml, head, "id", block.number, block.number, &number);
    rc = rc ? rc : trv_xml_integer(&reader->xml, head, "send", -1, program->gpus - 1, &block.send);
    rc = rc ? rc : trv_xml_integer(&reader->xml, head, "recv", -1, program->gpus - 1, &block.receive);
    rc = rc ? rc : trv_xml_integer(&reader->xml, head, "chan", 0, CHANNELS_MAX - 1, &block.channel);
    if (!rc && program->blocks == BLOCKS_MAX)
        rc = trv_xml_fail(&reader->xml, "there are more than %d threadblocks", BLOCKS_MAX);
    rc = rc ? rc : trv_gpu_program_add_block(program, &block);
    while (!rc && !head->empty && (more = trv_xml_next(&reader->xml, &tag)) > 0 && !tag.closing)
        rc = read_step(reader, &tag);
    return rc || head->empty ? rc : read_end(reader, "tb", more, &tag);
}

static int read_gpu(reader_t *reader)
{
    trv_gpu_program_t *program = reader->program;
    const int gpu = reader->gpu;
    xml_tag_t head, tag;
    int number = 0, rc = TRV_OK, more = trv_xml_next(&reader->xml, &head);
    if (more <= 0 || head.closing || strcmp(head.name, "gpu") != 0)
        return more < 0
                   ? more
                   : trv_xml_fail(&reader->xml, "the file has %d <gpu> elements, but ngpus is %d", gpu, program->gpus);
    program->first_block[gpu] = program->blocks;
    rc = trv_xml_integer(&reader->xml, &head, "id", gpu, gpu, &number);
    rc = rc ? rc : trv_xml_integer(&reader->xml, &head, "s_chunks", 0, CHUNKS_MAX, &program->scratch[gpu]);
    while (!rc && !head.empty && (more = trv_xml_next(&reader->xml, &tag)) > 0 && !tag.closing)
        rc = read_block(reader, &tag);
    if (!rc && !head.empty)
        rc = read_end(reader, "gpu", more, &tag);
    program->first_block[gpu + 1] = program->blocks;
    return rc;
}

static int read_collective(const reader_t *reader, const xml_tag_t *tag, trv_collective_t *collective)
{
    static const char *const name[] = {"allreduce", "reducescatter", "allgather", "reduce_scatter", "all_gather"};
    const char *text = trv_xml_text(tag, "coll");
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
    trv_gpu_program_t *program = reader->program;
    int rc = trv_xml_next(&reader->xml, tag);
    if (rc < 0)
        return rc;
    if (rc == 0 || tag->closing || strcmp(tag->name, "algo") != 0)
        return trv_xml_fail(&reader->xml, "not an MSCCL program: expected <algo …> at the beginning");
    snprintf(program->name, sizeof program->name, "%s", trv_xml_text(tag, "name") ? trv_xml_text(tag, "name") : "");
    trv_make_printable(program->name);
    rc = trv_xml_integer(&reader->xml, tag, "ngpus", 1, TRV_GPUS_MAX, &program->gpus);
    rc = rc ? rc : trv_xml_integer(&reader->xml, tag, "nchunksperloop", 1, CHUNKS_MAX, &program->chunks);
    rc = rc ? rc : read_collective(reader, tag, &program->collective);
    if (!rc && trv_xml_text(tag, "inplace"))
        rc = trv_xml_integer(&reader->xml, tag, "inplace", 0, 1, &program->mode[0]);
    program->mode[1] = !program->mode[0];
    if (!rc && trv_xml_text(tag, "outofplace"))
        rc = trv_xml_integer(&reader->xml, tag, "outofplace", 0, 1, &program->mode[1]);
    if (!rc && program->collective != TRV_ALLREDUCE && program->chunks % program->gpus)
        rc = trv_xml_fail(&reader->xml, "nchunksperloop is %d, which is not a multiple of the number of GPUs, %d",
                          program->chunks, program->gpus);
    return rc;
}

static int read_all(reader_t *reader)
{
    trv_gpu_program_t *program = reader->program;
    xml_tag_t tag;
    int rc = read_head(reader, &tag);
    if (rc)
        return rc;
    rc = trv_gpu_program_create_gpus(program);
    for (reader->gpu = 0; reader->gpu < program->gpus && !rc; reader->gpu++)
        rc = read_gpu(reader);
    if (rc)
        return rc;
    rc = trv_xml_next(&reader->xml, &tag);
    if (rc >= 0 && (rc == 0 || !tag.closing || strcmp(tag.name, "algo") != 0))
        rc = trv_xml_fail(&reader->xml, "</algo> is missing after %d <gpu> elements", program->gpus);
    if (rc > 0 && (rc = trv_xml_next(&reader->xml, &tag)) > 0)
        rc = trv_xml_fail(&reader->xml, "unexpected element after </algo>");
    return rc;
}

int trv_msccl_read(char *text, const char *file, trv_gpu_program_t *program)
{
    *program = (trv_gpu_program_t){.gpus = 0};
    reader_t reader = {.xml = {file, text, 1}, .program = program};
    int rc = read_all(&reader);
    if (rc)
        trv_gpu_program_clear(program);
    return rc;
}
