/*
 * Execution plans of MSCCL++, run symbolically: a chunk of memory holds how often it has the contribution of each GPU.
 *
 * GPUs write into each other's memory, so that order is all: as in msccl_verify.c, threadblocks keep how far they know
 * each other to be, which signals and barriers pass on, and each access is compared with those before it. A second clock
 * says how much of what the others have written is visible: relaxed signals and relaxed waits order, so that what has
 * been read may be written, but they publish nothing. Only what a launch finds in memory needs no publishing.
 *
 * Within a threadblock other threads do the next operation: between two that touch the same chunk and before a signal
 * there must be a nop or a barrier, and what a wait was for is known behind one only.
 *
 * One order stands for all only if it is settled which threadblocks meet at a barrier and which signal a wait gets:
 * those that use the same barrier or channel must know of each other.
 *
 * The plan is launched twice. A launch of a GPU begins where all its threadblocks have ended, with new inputs and
 * scratch that has nothing: that is a write of all its memory, which peers must not come before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/advance.h"
#include "base/clock.h"
#include "base/error.h"
#include "formats/mscclpp_run.h"

#define LAUNCHES      2
#define NUMBERS_PER_S 2e9 /* on a core that has nothing else to do */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Whether what the cell has is known to be written, and not visible. */
static bool is_hidden(const run_t *run, int block, int cell)
{
    const cell_t *at = &run->cell[cell];
    return at->writer >= 0 && at->writer != block && !at->launched && clock_of(run, block)[at->writer] >= at->written &&
           visible_to(run, block)[at->writer] < at->written;
}

/* The threadblock whose access of the cell is not known to be before, or hidden; -1: all are. */
static int unordered(const run_t *run, int block, int cell, bool writes)
{
    const int32_t *mine = clock_of(run, block), *read = run->read + (size_t)cell * (size_t)run->blocks;
    const int32_t *visible = run->cell[cell].launched ? mine : visible_to(run, block);
    if (run->cell[cell].writer >= 0 && run->cell[cell].writer != block &&
        visible[run->cell[cell].writer] < run->cell[cell].written)
        return run->cell[cell].writer;
    for (int b = 0; writes && b < run->blocks; b++)
        if (b != block && mine[b] < read[b])
            return b;
    return -1;
}

/* 1 where the access is not ordered: with another threadblock, or with the other threads of its own. */
static int touch(run_t *run, int block, int cell, bool writes)
{
    const int other = unordered(run, block, cell, writes), stretch = run->own_stretch[block];
    const int32_t now = clock_of(run, block)[block] + 1;
    if (is_hidden(run, block, cell))
        return trv_pp_fault(
            run, block,
            "it %s what threadblock %d of GPU %d has written, and a relaxed signal or wait between them "
            "publishes nothing",
            writes ? "writes" : "reads", run->program->block[other].number, run->program->block[other].gpu);
    if (other >= 0)
        return trv_pp_fault(run, block,
                            "it %s memory that threadblock %d of GPU %d uses, and nothing says which comes first",
                            writes ? "writes" : "reads", run->program->block[other].number,
                            run->program->block[other].gpu);
    if (run->cell[cell].wrote_within == stretch || (writes && run->cell[cell].read_within == stretch))
        return trv_pp_fault(run, block, "other threads of the threadblock use what it %s: a nop is missing",
                            writes ? "writes" : "reads");
    if (writes) {
        memset(run->read + (size_t)cell * (size_t)run->blocks, 0, (size_t)run->blocks * sizeof *run->read);
        run->cell[cell].writer = block;
        run->cell[cell].written = now;
        run->cell[cell].launched = false;
        run->cell[cell].wrote_within = stretch;
    } else {
        run->read[(size_t)cell * (size_t)run->blocks + (size_t)block] = now;
        run->cell[cell].read_within = stretch;
    }
    return 0;
}

static int find_cell(run_t *run, int block, const trv_pp_chunks_t *chunks, int i)
{
    const int cell = trv_msccl_cell(&run->program->head, run->in_place, chunks->gpu, chunks->buffer, chunks->at + i);
    if (cell >= 0)
        return run->first_cell[chunks->gpu] + cell;
    trv_pp_fault(run, block, "there is no chunk %d in buffer %c of GPU %d", chunks->at + i, chunks->buffer,
                 chunks->gpu);
    return -1;
}

/* ---- Operations: 1 a fault --------------------------------------------------------------------------------------- */

static int take(run_t *run, int block, const trv_pp_chunks_t *source, int i, bool add)
{
    const int cell = find_cell(run, block, source, i);
    if (cell < 0 || touch(run, block, cell, false))
        return 1;
    const int32_t *from = row_of(run, cell);
    if (from[0] < 0)
        return trv_pp_fault(run, block, "chunk %d of buffer %c of GPU %d has nothing yet", source->at + i,
                            source->buffer, source->gpu);
    if (add && from[0] != run->row[0])
        return trv_pp_fault(run, block, "it adds chunk %d of the vector to chunk %d", from[0], run->row[0]);
    for (int k = 1; k < run->width; k++) {
        run->row[k] = from[k] + (add ? run->row[k] : 0);
        if (run->row[k] > TRV_MSCCL_TIMES_MAX)
            return trv_pp_fault(run, block, "a contribution counts more than a million times");
    }
    run->row[0] = from[0];
    return 0;
}

static int store(run_t *run, int block, const trv_pp_chunks_t *target, int i, bool own)
{
    const int cell = find_cell(run, block, target, i);
    if (cell < 0 || (!own && touch(run, block, cell, true)))
        return 1;
    run->cell[cell].wrote_within = run->own_stretch[block];
    memcpy(row_of(run, cell), run->row, (size_t)run->width * sizeof *run->row);
    run->verdict->messages += target->gpu != run->program->block[block].gpu && i == 0;
    return 0;
}

static bool is_same(const trv_pp_chunks_t *a, const trv_pp_chunks_t *b)
{
    return a->gpu == b->gpu && a->buffer == b->buffer && a->at == b->at;
}

/* Whether a target is a source, too, which each thread writes where it has read itself. */
static bool is_own(const trv_pp_op_t *op, const trv_pp_chunks_t *chunks, int target)
{
    bool own = false;
    for (int s = 0; s < op->sources; s++)
        own |= is_same(&chunks[s], &chunks[target]);
    return own;
}

static int add(run_t *run, int block, const trv_pp_op_t *op, const trv_pp_chunks_t *chunks, int i)
{
    for (int t = op->sources; t < op->count; t++) {
        const int cell = is_own(op, chunks, t) ? find_cell(run, block, &chunks[t], i) : -1;
        if (is_own(op, chunks, t) && (cell < 0 || touch(run, block, cell, true)))
            return 1;
        if (cell >= 0)
            run->cell[cell].wrote_within = 0; /* what this operation itself reads may be written */
    }
    for (int s = 0; s < op->sources; s++)
        if (take(run, block, &chunks[s], i, s > 0))
            return 1;
    for (int t = op->sources; t < op->count; t++)
        if (store(run, block, &chunks[t], i, is_own(op, chunks, t)))
            return 1;
    return 0;
}

static int move(run_t *run, int block, const trv_pp_op_t *op)
{
    const trv_pp_chunks_t *chunks = &run->program->chunks[op->first];
    const bool sum = op->kind == TRV_PP_SUM;
    if (run->block[block].waited)
        return trv_pp_fault(run, block, "a nop is missing between a wait and the memory that it is for");
    for (int i = 0; sum && i < chunks[0].size; i++)
        if (add(run, block, op, chunks, i))
            return 1;
    for (int p = 0; !sum && p < op->sources; p++)
        for (int i = 0; i < chunks[p].size; i++)
            if (take(run, block, &chunks[p], i, false) || store(run, block, &chunks[op->sources + p], i, false))
                return 1;
    run->block[block].moved = true;
    return 0;
}

static int perform(run_t *run, int block, const trv_pp_op_t *op, bool *done)
{
    *done = true;
    switch (op->kind) {
    case TRV_PP_NOP: trv_pp_begin_stretch(run, block); return 0;
    case TRV_PP_BARRIER: return trv_pp_meet(run, block, op, done);
    case TRV_PP_SIGNAL: return trv_pp_signal(run, block, op);
    case TRV_PP_WAIT: return trv_pp_wait(run, block, op, done);
    default: return move(run, block, op);
    }
}

/* How many numbers an operation reads or writes, about. */
static double count_work(const trv_mscclpp_t *program, const trv_pp_op_t *op)
{
    const double blocks = program->blocks, row = 1 + program->head.gpus;
    const bool on_memory = op->kind == TRV_PP_MOVE || op->kind == TRV_PP_SUM;
    double work = 10 + (op->kind == TRV_PP_NOP ? 0 : 2 * blocks * (op->count + 1));
    for (int i = 0; on_memory && i < op->count; i++)
        work += program->chunks[op->first + i].size * (row + (i < op->sources ? 0 : 2 * blocks) + 10);
    return work;
}

static double count_all(const trv_mscclpp_t *program)
{
    double work = 0;
    for (int i = 0; i < program->op_count; i++)
        work += LAUNCHES * count_work(program, &program->op[i]);
    return work;
}

double trv_mscclpp_seconds(const trv_mscclpp_t *program) { return count_all(program) / NUMBERS_PER_S; }

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* New inputs, and all else empty: a write of the GPU's memory behind all that its threadblocks did. */
static int launch(run_t *run, int gpu)
{
    const trv_msccl_t *head = &run->program->head;
    const int first = head->first_block[gpu], last = head->first_block[gpu + 1];
    for (int b = first; b < last; b++) {
        trv_pp_begin_stretch(run, b);
        join(clock_of(run, first), clock_of(run, b), 2 * run->blocks);
    }
    for (int cell = run->first_cell[gpu]; cell < run->first_cell[gpu + 1]; cell++) {
        const int other = first < last ? unordered(run, first, cell, true) : -1;
        if (other >= 0)
            return trv_pp_fault(run, other, "GPU %d may have ended its launch while it still uses the GPU's memory",
                                gpu);
        row_of(run, cell)[0] = -1;
        if (first < last && touch(run, first, cell, true))
            return 1;
        run->cell[cell].launched = true;
    }
    if (first < last)
        go_on(run, first);
    for (int b = first; b < last; b++) {
        join(clock_of(run, b), clock_of(run, first), 2 * run->blocks);
        trv_pp_begin_stretch(run, b);
    }
    for (int i = 0; i < trv_msccl_input(head); i++) {
        int32_t *row = row_of(run, run->first_cell[gpu] + trv_msccl_cell(head, run->in_place, gpu, 'i', i));
        memset(row, 0, (size_t)run->width * sizeof *row);
        row[0] = head->collective == TRV_ALLGATHER ? gpu * trv_msccl_input(head) + i : i;
        row[1 + gpu] = 1;
    }
    return 0;
}

/* Begins the GPU's next launch where the one before has ended, with the right result. */
static int relaunch(run_t *run, int gpu, bool *moved)
{
    const trv_mscclpp_t *program = run->program;
    const int first = program->head.first_block[gpu], last = program->head.first_block[gpu + 1];
    char text[256];
    for (int b = first; b < last; b++)
        if (run->block[b].at < program->block[b].ops || run->block[b].launch == LAUNCHES)
            return 0;
    if (first == last)
        return 0;
    for (int i = 0; i < trv_msccl_output(&program->head); i++) {
        const int cell = run->first_cell[gpu] + trv_msccl_cell(&program->head, run->in_place, gpu, 'o', i);
        if (!trv_msccl_is_result(&program->head, gpu, i, row_of(run, cell), text))
            return trv_pp_fault(run, -1, "%s", text);
    }
    *moved = true;
    for (int b = first; b < last; b++)
        run->block[b].at = ++run->block[b].launch == LAUNCHES ? program->block[b].ops : 0;
    return run->block[first].launch == LAUNCHES ? 0 : launch(run, gpu);
}

/* 1: a fault, or an error. */
static int run_all(run_t *run)
{
    const trv_mscclpp_t *program = run->program;
    const double all = count_all(program);
    double work = 0;
    bool moved = true, done = true;
    for (int gpu = 0; gpu < program->head.gpus; gpu++)
        if (launch(run, gpu))
            return 1;
    while (moved) {
        moved = false;
        for (int b = 0; b < run->blocks; b++)
            for (done = true; done && run->block[b].at < program->block[b].ops;) {
                const trv_pp_op_t *op = &program->op[program->block[b].first_op + run->block[b].at];
                int rc = perform(run, b, op, &done);
                if (rc)
                    return rc;
                work += done ? count_work(program, op) : 0;
                trv_advance(work / all);
                run->block[b].at += done;
                moved |= done;
                if (done)
                    go_on(run, b);
            }
        for (int gpu = 0; gpu < program->head.gpus; gpu++)
            if (relaunch(run, gpu, &moved))
                return 1;
    }
    for (int b = 0; b < run->blocks; b++)
        if (run->block[b].launch < LAUNCHES && run->block[b].at < program->block[b].ops)
            return trv_pp_fault(run, b, "it waits for ever");
    for (int end = 0; end < program->ends; end++)
        if (run->end[end].first)
            return trv_pp_fault(run, -1, "a signal is never waited for, so that a later launch takes it for its own");
    for (int gpu = 0; gpu < program->head.gpus; gpu++)
        if (program->head.first_block[gpu] == program->head.first_block[gpu + 1])
            return trv_pp_fault(run, -1, "GPU %d has no threadblocks", gpu);
    return 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int make(run_t *run)
{
    const trv_mscclpp_t *program = run->program;
    const trv_msccl_t *head = &program->head;
    const int whole = run->in_place ? head->chunks : trv_msccl_input(head) + trv_msccl_output(head);
    const size_t blocks = (size_t)run->blocks, ends = (size_t)program->ends;
    uint64_t cells = 0;
    run->first_cell = calloc((size_t)head->gpus + 1, sizeof *run->first_cell);
    if (!run->first_cell)
        return trv_fail_memory();
    for (int gpu = 0; gpu < head->gpus; gpu++) {
        cells += (uint64_t)whole + (uint64_t)head->scratch[gpu];
        if (cells * ((uint64_t)run->width + blocks) > TRV_PP_ROOM_MAX || 2 * blocks * blocks > TRV_PP_ROOM_MAX)
            return trv_fail(TRV_ERR_UNSUPPORTED, "the plan has too many GPUs, chunks and threadblocks to be verified");
        run->first_cell[gpu + 1] = (int)cells;
    }
    run->memory = calloc(cells * (size_t)run->width + 1, sizeof *run->memory);
    run->row = calloc((size_t)run->width, sizeof *run->row);
    run->clock = calloc(2 * blocks * blocks + 1, sizeof *run->clock);
    run->cell = calloc(cells + 1, sizeof *run->cell);
    run->read = calloc(cells * blocks + 1, sizeof *run->read);
    run->own_stretch = calloc(blocks + 1, sizeof *run->own_stretch);
    run->block = calloc(blocks + 1, sizeof *run->block);
    run->barrier = calloc((size_t)head->gpus * TRV_PP_BARRIERS, sizeof *run->barrier);
    run->end = calloc(ends + 1, sizeof *run->end);
    if (!run->memory || !run->row || !run->clock || !run->cell || !run->read || !run->own_stretch || !run->block ||
        !run->barrier || !run->end)
        return trv_fail_memory();
    for (size_t c = 0; c < cells; c++)
        run->cell[c].writer = -1;
    for (size_t b = 0; b < blocks; b++)
        run->block[b].barrier = -1;
    for (size_t e = 0; e < ends; e++)
        run->end[e] = (end_t){.last = &run->end[e].first, .user = {-1, -1}};
    return TRV_OK;
}

static void clear(run_t *run)
{
    trv_pp_order_clear(run);
    void *const memory[] = {run->first_cell, run->memory,      run->row,   run->clock,   run->cell,
                            run->read,       run->own_stretch, run->block, run->barrier, run->end};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
}

int trv_mscclpp_verify(const trv_mscclpp_t *program, trv_msccl_verdict_t *verdict)
{
    const double begun_ns = trv_now_ns();
    *verdict = (trv_msccl_verdict_t){.valid = true, .gpu = -1, .block = -1, .step = -1};
    run_t run = {.program = program,
                 .verdict = verdict,
                 .in_place = program->head.mode[0] != 0,
                 .width = 1 + program->head.gpus,
                 .blocks = program->blocks};
    int rc = make(&run);
    if (!rc) {
        rc = run_all(&run);
        rc = rc > 0 ? TRV_OK : rc; /* a fault is in the verdict */
    }
    verdict->messages /= LAUNCHES;
    clear(&run);
    verdict->seconds = 1e-9 * (trv_now_ns() - begun_ns);
    return rc;
}
