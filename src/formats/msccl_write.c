/*
 * MSCCL XML (the interpreter in Microsoft's msccl, msccl-executor-nccl and RCCL).
 *
 * A GPU has, for every stream, a threadblock that reduces, one for every peer to which it sends and one for every peer
 * from which it receives; the threadblocks of a stream use the channel with its number. Threadblocks run concurrently:
 * a step that must follow a step of another threadblock, because of the cells that either reads or writes, names that
 * step. A step can name one; further ones are named by `nop` steps before it.
 *
 * A joint reduction is a sequence of `re` steps into the same chunks, which the interpreter executes in one pass; their
 * dependencies are named before the first.
 */
#include "formats/msccl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "formats/lower.h"
#include "formats/names.h"

#define STEPS_MAX    256 /* of a threadblock, nops included */
#define COUNT_MAX    71  /* chunks of a step */
#define BLOCKS_MAX   108 /* threadblocks of a GPU */
#define CHANNELS_MAX 32
#define USES_MAX     (INT64_C(1) << 26) /* cells * threadblocks */

typedef struct step {
    const char *type;
    int32_t src, dst; /* first cells; for a message one of them belongs to the peer */
    int count;
    int first_dependency, dependencies;
    int number;          /* index in its threadblock, including nops */
    bool has_dependents; /* another threadblock waits for it */
} step_t;

typedef struct dependency {
    int block, step;
} dependency_t;

typedef struct block {
    int stream, send, receive; /* peers, or -1 */
    int steps, numbers;
    step_t *step;           /* holds STEPS_MAX */
    int waited[BLOCKS_MAX]; /* per threadblock: the last of its steps that this one has waited for, or -1 */
} block_t;

typedef struct gpu {
    trv_lowered_t *lowered;
    int rank;
    int64_t cells; /* without temporary cells, each of which a single threadblock uses */
    int blocks;
    block_t *block;
    int dependencies;
    int64_t dependency_capacity;
    dependency_t *dependency;
    int32_t *used;         /* [cell][block]: its last step that used the cell, or -1 */
    dependency_t *wrote;   /* [cell]: the last step that wrote it; block -1: none */
    int waits[BLOCKS_MAX]; /* per threadblock the step for which the next step must wait; -1: none */
} gpu_t;

/* ---- Threadblocks ------------------------------------------------------------------------------------------------ */

static int block_of(const gpu_t *gpu, const trv_low_op_t *op)
{
    int send = op->kind == TRV_LOW_SEND ? op->peer : -1, receive = op->kind == TRV_LOW_RECEIVE ? op->peer : -1;
    for (int b = 0; b < gpu->blocks; b++)
        if (gpu->block[b].stream == op->stream && gpu->block[b].send == send && gpu->block[b].receive == receive)
            return b;
    return -1;
}

static int create_blocks(gpu_t *gpu)
{
    const trv_low_rank_t *program = &gpu->lowered->rank[gpu->rank];
    gpu->block = calloc(BLOCKS_MAX, sizeof *gpu->block);
    if (!gpu->block)
        return trv_fail_memory();
    for (int64_t i = 0; i < program->ops; i++) {
        const trv_low_op_t *op = &program->op[i];
        if (block_of(gpu, op) >= 0)
            continue;
        if (gpu->blocks == BLOCKS_MAX)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "the schedule needs more than %d threadblocks on a GPU, the maximum for MSCCL", BLOCKS_MAX);
        block_t *block = &gpu->block[gpu->blocks++];
        block->stream = op->stream;
        block->send = op->kind == TRV_LOW_SEND ? op->peer : -1;
        block->receive = op->kind == TRV_LOW_RECEIVE ? op->peer : -1;
        memset(block->waited, 0xff, sizeof block->waited);
        block->step = malloc(STEPS_MAX * sizeof *block->step);
        if (!block->step)
            return trv_fail_memory();
    }
    return TRV_OK;
}

/* ---- Dependencies ------------------------------------------------------------------------------------------------ */

static void wait_for(gpu_t *gpu, int block, int step)
{
    if (block >= 0 && step > gpu->waits[block])
        gpu->waits[block] = step;
}

/* Sets the dependencies of the next step: if it reads these cells, on their last writer; if it writes them, on all
 * steps that used them. */
static void wait_to_read(gpu_t *gpu, int32_t first, int64_t count)
{
    for (int64_t c = first; c < first + count && c < gpu->cells; c++)
        wait_for(gpu, gpu->wrote[c].block, gpu->wrote[c].step);
}

static void wait_to_write(gpu_t *gpu, int32_t first, int64_t count)
{
    for (int64_t c = first; c < first + count && c < gpu->cells; c++)
        for (int b = 0; b < gpu->blocks; b++)
            wait_for(gpu, b, gpu->used[c * gpu->blocks + b]);
}

/* Records that the last step of a threadblock uses these cells. */
static void mark_used(gpu_t *gpu, int block, int32_t first, int64_t count, bool write)
{
    int step = gpu->block[block].steps - 1;
    for (int64_t c = first; c < first + count && c < gpu->cells; c++) {
        gpu->used[c * gpu->blocks + block] = step;
        if (write)
            gpu->wrote[c] = (dependency_t){block, step};
    }
}

static int add_dependency(gpu_t *gpu, int block, int step)
{
    if (trv_array_reserve(&gpu->dependency, &gpu->dependency_capacity, gpu->dependencies, 1, sizeof *gpu->dependency))
        return TRV_ERR_MEMORY;
    gpu->block[block].step[step].has_dependents = true;
    gpu->dependency[gpu->dependencies++] = (dependency_t){block, step};
    return TRV_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Appends a step with the dependencies in gpu->waits to a threadblock. */
static int add_step(gpu_t *gpu, int b, const char *type, int32_t src, int32_t dst, int64_t count)
{
    block_t *block = &gpu->block[b];
    step_t step = {.type = type, .src = src, .dst = dst, .count = (int)count, .first_dependency = gpu->dependencies};
    int rc = TRV_OK;
    for (int other = 0; other < gpu->blocks && !rc; other++) {
        if (other != b && gpu->waits[other] > block->waited[other]) {
            block->waited[other] = gpu->waits[other];
            rc = add_dependency(gpu, other, gpu->waits[other]);
        }
        gpu->waits[other] = -1;
    }
    step.dependencies = gpu->dependencies - step.first_dependency;
    step.number = block->numbers + (step.dependencies > 1 ? step.dependencies - 1 : 0);
    block->numbers = step.number + 1;
    if (!rc && block->numbers > STEPS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule needs more than %d steps in a threadblock, the maximum for MSCCL", STEPS_MAX);
    /* The interpreter merges `re` steps into the same destination and uses the count of the last one, so steps with
     * different counts must be separated. */
    step_t *last = block->steps > 0 ? &block->step[block->steps - 1] : NULL;
    if (last && strcmp(type, "re") == 0 && strcmp(last->type, "re") == 0 && last->dst == dst && last->count != count)
        last->has_dependents = true;
    block->step[block->steps++] = step;
    return rc;
}

static int add_message(gpu_t *gpu, const trv_low_op_t *op)
{
    bool send = op->kind == TRV_LOW_SEND;
    int b = block_of(gpu, op), rc = TRV_OK;
    for (int64_t i = 0, count; i < op->count && !rc; i += count) {
        int32_t src = trv_low_cells(gpu->lowered, op, 0)[i], dst = trv_low_cells(gpu->lowered, op, -1)[i];
        count = trv_low_run(gpu->lowered, op, i, COUNT_MAX);
        if (send)
            wait_to_read(gpu, src, count);
        else
            wait_to_write(gpu, dst, count);
        rc = add_step(gpu, b, send ? "s" : "r", src, dst, count);
        mark_used(gpu, b, send ? src : dst, count, !send);
    }
    return rc;
}

/* Returns the source with which the sum begins: the destination itself if it is the first or the second source (the
 * sum of two is bitwise the same in either order); otherwise the first, which is copied. *late: the destination is a
 * later source, so the sum must be accumulated in other cells. */
static int first_source(const int32_t *src, int sources, int32_t dst, bool *late)
{
    *late = false;
    for (int s = 2; s < sources; s++)
        *late |= src[s] == dst;
    return !*late && sources > 1 && src[1] == dst ? 1 : 0;
}

/* Adds the sources src[0], src[1], …, of `count` cells each, in that order into dst. */
static int add_sum(gpu_t *gpu, int b, const int32_t *src, int sources, int32_t dst, int64_t count)
{
    bool late;
    int first = first_source(src, sources, dst, &late), rc = TRV_OK;
    int32_t sum = late ? (int32_t)trv_low_scratch(gpu->lowered, gpu->rank, count) : dst;
    for (int s = 0; s < sources; s++)
        wait_to_read(gpu, src[s], count);
    wait_to_write(gpu, dst, count);
    if (src[first] != sum)
        rc = add_step(gpu, b, "cpy", src[first], sum, count);
    for (int s = 0; s < sources && !rc; s++)
        if (s != first)
            rc = add_step(gpu, b, "re", src[s], sum, count);
    if (!rc && late)
        rc = add_step(gpu, b, "cpy", sum, dst, count);
    for (int s = 0; s < sources; s++)
        mark_used(gpu, b, src[s], count, false);
    mark_used(gpu, b, dst, count, true);
    return rc;
}

static int add_reduction(gpu_t *gpu, const trv_low_op_t *op)
{
    int b = block_of(gpu, op), rc = TRV_OK;
    int32_t *src = malloc((size_t)op->sources * sizeof *src);
    if (!src)
        return trv_fail_memory();
    for (int64_t i = 0, count; i < op->count && !rc; i += count) {
        int32_t dst = trv_low_cells(gpu->lowered, op, -1)[i];
        for (int s = 0; s < op->sources; s++)
            src[s] = trv_low_cells(gpu->lowered, op, s)[i];
        count = trv_low_run(gpu->lowered, op, i, COUNT_MAX);
        if (op->sources > 1 || src[0] != dst)
            rc = add_sum(gpu, b, src, op->sources, dst, count);
    }
    free(src);
    return rc;
}

/* ---- A GPU ------------------------------------------------------------------------------------------------------- */

static int build_gpu(gpu_t *gpu)
{
    const trv_low_rank_t *program = &gpu->lowered->rank[gpu->rank];
    int64_t ops = program->ops;
    int rc = create_blocks(gpu);
    if (rc)
        return rc;
    gpu->cells = program->cells;
    if (gpu->cells * (gpu->blocks + 1) > USES_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule needs too much memory on a GPU for the analysis of dependencies, %lld chunks",
                        (long long)gpu->cells);
    size_t uses = (size_t)gpu->cells * (size_t)(gpu->blocks + 1);
    gpu->used = malloc(uses * sizeof *gpu->used);
    gpu->wrote = malloc((size_t)gpu->cells * sizeof *gpu->wrote);
    if (!gpu->used || !gpu->wrote)
        return trv_fail_memory();
    memset(gpu->used, 0xff, uses * sizeof *gpu->used);
    memset(gpu->wrote, 0xff, (size_t)gpu->cells * sizeof *gpu->wrote);
    memset(gpu->waits, 0xff, sizeof gpu->waits);
    for (int64_t i = 0; i < ops && !rc; i++) {
        const trv_low_op_t *op = &program->op[i];
        rc = op->kind == TRV_LOW_REDUCE ? add_reduction(gpu, op) : add_message(gpu, op);
    }
    return rc;
}

static void clear_gpu(gpu_t *gpu)
{
    for (int b = 0; b < gpu->blocks; b++)
        free(gpu->block[b].step);
    free(gpu->block);
    free(gpu->dependency);
    free(gpu->used);
    free(gpu->wrote);
}

/* ---- XML --------------------------------------------------------------------------------------------------------- */

typedef struct document {
    const trv_schedule_t *schedule;
    trv_lowered_t lowered;
    gpu_t *gpu;
    FILE *out;
} document_t;

/* Writes the buffer and index of a cell. The vector is the input, or for allgather the output; in place both are the
 * same memory. */
static void put_cell(const document_t *document, const char *which, int32_t cell)
{
    bool gather = trv_schedule_collective(document->schedule) == TRV_ALLGATHER;
    bool scratch = cell >= document->lowered.chunks;
    fprintf(document->out, " %sbuf=\"%s\" %soff=\"%lld\"", which,
            scratch  ? "s"
            : gather ? "o"
                     : "i",
            which, (long long)cell - (scratch ? document->lowered.chunks : 0));
}

static void put_dependency(const document_t *document, const gpu_t *gpu, const dependency_t *dependency)
{
    if (dependency)
        fprintf(document->out, " depid=\"%d\" deps=\"%d\"", dependency->block,
                gpu->block[dependency->block].step[dependency->step].number);
    else
        fprintf(document->out, " depid=\"-1\" deps=\"-1\"");
}

static void put_step(const document_t *document, const gpu_t *gpu, const step_t *step)
{
    const dependency_t *dependency = step->dependencies > 0 ? &gpu->dependency[step->first_dependency] : NULL;
    for (int i = 0; i < step->dependencies - 1; i++) {
        fprintf(document->out,
                "      <step s=\"%d\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" "
                "dstoff=\"-1\" cnt=\"0\"",
                step->number - (step->dependencies - 1) + i);
        put_dependency(document, gpu, &dependency[i]);
        fputs(" hasdep=\"0\"/>\n", document->out);
    }
    fprintf(document->out, "      <step s=\"%d\" type=\"%s\"", step->number, step->type);
    put_cell(document, "src", step->src);
    put_cell(document, "dst", step->dst);
    fprintf(document->out, " cnt=\"%d\"", step->count);
    put_dependency(document, gpu, dependency ? &dependency[step->dependencies - 1] : NULL);
    fprintf(document->out, " hasdep=\"%d\"/>\n", step->has_dependents);
}

static void put_gpu(const document_t *document, const gpu_t *gpu)
{
    const trv_lowered_t *lowered = &document->lowered;
    fprintf(document->out, "  <gpu id=\"%d\" i_chunks=\"%lld\" o_chunks=\"%lld\" s_chunks=\"%lld\">\n", gpu->rank,
            (long long)lowered->input, (long long)lowered->output,
            (long long)(lowered->rank[gpu->rank].cells - lowered->chunks));
    for (int b = 0; b < gpu->blocks; b++) {
        const block_t *block = &gpu->block[b];
        fprintf(document->out, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", b, block->send,
                block->receive, block->stream);
        for (int s = 0; s < block->steps; s++)
            put_step(document, gpu, &block->step[s]);
        fputs("    </tb>\n", document->out);
    }
    fputs("  </gpu>\n", document->out);
}

static void put_document(const document_t *document)
{
    static const char *const collective[] = {"allreduce", "reducescatter", "allgather"};
    char name[64];
    fprintf(document->out,
            "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%d\" nchunksperloop=\"%lld\" ngpus=\"%d\" "
            "coll=\"%s\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">\n",
            trv_plain_name(document->schedule, name), document->lowered.streams, (long long)document->lowered.chunks,
            document->lowered.ranks, collective[trv_schedule_collective(document->schedule)]);
    for (int rank = 0; rank < document->lowered.ranks; rank++)
        put_gpu(document, &document->gpu[rank]);
    fputs("</algo>\n", document->out);
}

int trv_msccl_write(const trv_schedule_t *schedule, FILE *out)
{
    document_t document = {.schedule = schedule, .out = out};
    int rc = trv_lower(schedule, false, &document.lowered), ranks = document.lowered.ranks;
    if (rc)
        return rc;
    if (document.lowered.streams > CHANNELS_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has %d streams; MSCCL has only %d channels",
                      document.lowered.streams, CHANNELS_MAX);
    document.gpu = calloc((size_t)ranks, sizeof *document.gpu);
    if (!document.gpu)
        rc = trv_fail_memory();
    for (int rank = 0; rank < ranks && !rc; rank++) {
        document.gpu[rank].lowered = &document.lowered;
        document.gpu[rank].rank = rank;
        rc = build_gpu(&document.gpu[rank]);
    }
    if (!rc)
        put_document(&document);
    for (int rank = 0; rank < ranks && document.gpu; rank++)
        clear_gpu(&document.gpu[rank]);
    free(document.gpu);
    trv_lowered_clear(&document.lowered);
    return rc;
}
