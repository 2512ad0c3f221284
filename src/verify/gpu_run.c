/*
 * The symbolic run of a GPU program: threadblocks run in turn, each until it must wait; gpu_memory.c detects accesses
 * whose order the program does not determine.
 *
 * The program is launched twice. A launch on a GPU begins when all its threadblocks have ended, with new inputs and
 * empty scratch memory. It therefore counts as a write to all of the GPU's memory, and an access by a peer must not
 * precede it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "verify/gpu_state.h"

#define LAUNCHES   2
#define VALUES_MAX UINT64_C(100000000) /* in memory */

int trv_run_fault(run_t *run, int block, const char *format, ...)
{
    trv_gpu_program_verdict_t *verdict = run->verdict;
    int used = 0;
    va_list arguments;
    verdict->valid = false;
    if (block >= 0) {
        verdict->gpu = run->program->block[block].gpu;
        used = snprintf(verdict->fault, sizeof verdict->fault, "GPU %d, threadblock %d, operation %d%s: ", verdict->gpu,
                        run->program->block[block].number, run->block[block].at,
                        run->block[block].launch ? " of the second launch" : "");
    }
    va_start(arguments, format);
    trv_vsnprintf(verdict->fault + used, sizeof verdict->fault - (size_t)used, format, arguments);
    va_end(arguments);
    return 1;
}

int trv_run_limit(uint64_t values, const char *what)
{
    return values <= VALUES_MAX ? TRV_OK
                                : trv_fail(TRV_ERR_UNSUPPORTED, "the plan has too many %s to be verified", what);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static bool span_is_same(const trv_gpu_span_t *a, const trv_gpu_span_t *b)
{
    return a->gpu == b->gpu && a->buffer == b->buffer && a->at == b->at;
}

/* Whether a target is also a source. Each thread then writes only chunks that it has read itself. */
static bool sum_is_in_place(const trv_gpu_op_t *op, const trv_gpu_span_t *span, int target)
{
    bool own = false;
    for (int s = 0; s < op->sources; s++)
        own |= span_is_same(&span[s], &span[target]);
    return own;
}

static int sum_chunk(run_t *run, int block, const trv_gpu_op_t *op, const trv_gpu_span_t *span, int i)
{
    for (int t = op->sources; t < op->count; t++)
        if (sum_is_in_place(op, span, t)) {
            const int cell = trv_run_find(run, block, &span[t], i);
            if (cell < 0 || trv_run_touch(run, block, cell, true))
                return 1;
            run->cell[cell].write_epoch = 0; /* chunks that this operation itself reads may be written */
        }
    for (int s = 0; s < op->sources; s++)
        if (trv_run_take(run, block, &span[s], i, run->row, s > 0))
            return 1;
    for (int t = op->sources; t < op->count; t++)
        if (trv_run_store(run, block, &span[t], i, run->row, sum_is_in_place(op, span, t)))
            return 1;
    return 0;
}

/* A sum of all sources, or a copy of each source to its target. */
static int move_chunks(run_t *run, int block, const trv_gpu_op_t *op)
{
    const trv_gpu_span_t *span = &run->program->span[op->first];
    const bool sum = op->kind == TRV_OP_SUM;
    if (run->block[block].waited)
        return trv_run_fault(run, block, "a nop is missing between a wait and the access to the memory that it guards");
    for (int i = 0; sum && i < span[0].size; i++)
        if (sum_chunk(run, block, op, span, i))
            return 1;
    for (int p = 0; !sum && p < op->sources; p++)
        for (int i = 0; i < span[p].size; i++)
            if (trv_run_take(run, block, &span[p], i, run->row, false) ||
                trv_run_store(run, block, &span[op->sources + p], i, run->row, false))
                return 1;
    run->block[block].moved = true;
    return 0;
}

static int op_perform(run_t *run, int block, const trv_gpu_op_t *op, bool *done)
{
    *done = true;
    switch (op->kind) {
    case TRV_OP_NOP: trv_run_begin_epoch(run, block); return 0;
    case TRV_OP_BARRIER: return trv_run_barrier(run, block, op, done);
    case TRV_OP_SIGNAL: return trv_run_signal(run, block, op);
    case TRV_OP_WAIT: return trv_run_wait(run, block, op, done);
    default: return move_chunks(run, block, op);
    }
}

/* ---- Work -------------------------------------------------------------------------------------------------------- */

/* The approximate number of values that an operation reads or writes. */
static double op_work(const trv_gpu_program_t *program, const trv_gpu_op_t *op)
{
    const double blocks = program->blocks, row = 1 + program->gpus;
    double work = 10 + (op->kind == TRV_OP_NOP ? 0 : 2 * blocks * (op->count + 1));
    for (int i = 0; (op->kind == TRV_OP_MOVE || op->kind == TRV_OP_SUM) && i < op->count; i++)
        work += program->span[op->first + i].size * (row + (i < op->sources ? 0 : 2 * blocks) + 10);
    return work;
}

/* The work of all launches. */
static double program_work(const trv_gpu_program_t *program)
{
    double work = 0;
    for (int i = 0; i < program->ops; i++)
        work += op_work(program, &program->op[i]);
    return work * LAUNCHES;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* Begins a launch: fills the inputs, clears all other memory, and records a write of the GPU's memory that follows all
 * operations of its threadblocks. */
static int launch_begin(run_t *run, int gpu)
{
    const int first = run->program->first_block[gpu], last = run->program->first_block[gpu + 1];
    const int count = 2 * run->blocks;
    for (int b = first; b < last; b++) {
        trv_run_begin_epoch(run, b);
        trv_clock_join(clock_of(run, first), clock_of(run, b), count);
    }
    for (int cell = run->first_cell[gpu]; cell < run->first_cell[gpu + 1] && first < last; cell++) {
        const int other = trv_run_unordered(run, first, cell, true);
        if (other >= 0)
            return trv_run_fault(run, other, "GPU %d may have ended its launch while it still uses the GPU's memory",
                                 gpu);
        if (trv_run_touch(run, first, cell, true))
            return 1;
        run->cell[cell].launched = true;
    }
    if (first < last)
        clock_tick(run, first, clock_of(run, first), count);
    for (int b = first; b < last; b++) {
        trv_clock_join(clock_of(run, b), clock_of(run, first), count);
        trv_run_begin_epoch(run, b);
    }
    trv_run_fill_inputs(run, gpu);
    return 0;
}

/* Begins the next launch of the GPU if the previous one has ended. Its result must be correct. */
static int launch_again(run_t *run, int gpu, bool *advanced)
{
    const trv_gpu_program_t *program = run->program;
    const int first = program->first_block[gpu], last = program->first_block[gpu + 1];
    for (int b = first; b < last; b++)
        if (run->block[b].at < program->block[b].ops || run->block[b].launch == LAUNCHES)
            return 0;
    if (first == last)
        return 0;
    if (trv_run_check_outputs(run, gpu))
        return 1;
    *advanced = true;
    for (int b = first; b < last; b++)
        run->block[b].at = ++run->block[b].launch == LAUNCHES ? program->block[b].ops : 0;
    return run->block[first].launch == LAUNCHES ? 0 : launch_begin(run, gpu);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* Executes operations of a threadblock until one has to wait. *moved is set if any was executed. */
static int run_block(run_t *run, int block, bool *advanced)
{
    const trv_gpu_program_t *program = run->program;
    block_t *state = &run->block[block];
    while (state->at < program->block[block].ops) {
        const trv_gpu_op_t *op = &program->op[program->block[block].first_op + state->at];
        bool done;
        int rc = op_perform(run, block, op, &done);
        if (rc || !done)
            return rc;
        run->work += op_work(program, op);
        rc = trv_span_report(run->progress, run->work / run->all_work);
        if (rc)
            return rc;
        state->at++;
        clock_tick(run, block, clock_of(run, block), 2 * run->blocks);
        *advanced = true;
    }
    return 0;
}

/* Checks the state of the program when no threadblock can continue. */
static int run_check_end(run_t *run)
{
    const trv_gpu_program_t *program = run->program;
    for (int b = 0; b < run->blocks; b++)
        if (run->block[b].at < program->block[b].ops)
            return trv_run_fault(run, b, "it waits forever");
    for (int q = 0; q < program->ends; q++)
        if (run->queue[q].first)
            return trv_run_fault(run, -1, "no threadblock waits for a signal, so a later launch would receive it");
    for (int gpu = 0; gpu < program->gpus; gpu++)
        if (program->first_block[gpu] == program->first_block[gpu + 1])
            return trv_run_fault(run, -1, "GPU %d has no threadblocks", gpu);
    return 0;
}

static int run_all(run_t *run)
{
    const trv_gpu_program_t *program = run->program;
    int rc = 0;
    for (int gpu = 0; gpu < program->gpus && !rc; gpu++)
        rc = launch_begin(run, gpu);
    for (bool advanced = true; advanced && !rc;) {
        advanced = false;
        for (int b = 0; b < run->blocks && !rc; b++)
            rc = run_block(run, b, &advanced);
        for (int gpu = 0; gpu < program->gpus && !rc; gpu++)
            rc = launch_again(run, gpu, &advanced);
    }
    return rc ? rc : run_check_end(run);
}

/* ---- Set-up ------------------------------------------------------------------------------------------------------ */

/* Determines the positions of cells, and rejects programs that would need too much memory. */
static int run_lay_out(run_t *run)
{
    const uint64_t blocks = (uint64_t)run->blocks, width = (uint64_t)run->width;
    uint64_t cells = 0;
    int rc = TRV_OK;
    for (int gpu = 0; gpu < run->program->gpus && !rc; gpu++) {
        run->first_cell[gpu] = (int)cells;
        cells += (uint64_t)trv_run_cells(run, gpu);
        rc = trv_run_limit(cells * (width + blocks), "GPUs, chunks and threadblocks");
    }
    run->first_cell[run->program->gpus] = (int)cells;
    return rc ? rc : trv_run_limit(2 * blocks * blocks, "GPUs, chunks and threadblocks");
}

static int run_create(run_t *run)
{
    const size_t gpus = (size_t)run->program->gpus, blocks = (size_t)run->blocks, width = (size_t)run->width;
    const size_t ends = (size_t)run->program->ends;
    run->first_cell = calloc(gpus + 1, sizeof *run->first_cell);
    int rc = run->first_cell ? run_lay_out(run) : trv_fail_memory();
    if (rc)
        return rc;
    const size_t cells = (size_t)run->first_cell[gpus];
    run->memory = calloc(cells * width + 1, sizeof *run->memory);
    run->row = calloc(width, sizeof *run->row);
    run->cell = calloc(cells + 1, sizeof *run->cell);
    run->read = calloc(cells * blocks + 1, sizeof *run->read);
    run->clock = calloc(2 * blocks * blocks + 1, sizeof *run->clock);
    run->block = calloc(blocks + 1, sizeof *run->block);
    run->barrier = calloc((size_t)run->barriers + 1, sizeof *run->barrier);
    run->queue = calloc(ends + 1, sizeof *run->queue);
    if (!run->memory || !run->row || !run->cell || !run->read || !run->clock || !run->block || !run->barrier ||
        !run->queue)
        return trv_fail_memory();
    for (size_t c = 0; c < cells; c++)
        run->cell[c].writer = -1;
    for (size_t b = 0; b < blocks; b++)
        run->block[b].barrier = -1;
    for (size_t q = 0; q < ends; q++)
        run->queue[q] = (queue_t){.last = &run->queue[q].first, .user = {-1, -1}};
    return TRV_OK;
}

static void run_clear(run_t *run)
{
    trv_run_clear_order(run);
    void *const memory[] = {run->first_cell, run->memory, run->row,     run->cell, run->read,
                            run->clock,      run->block,  run->barrier, run->queue};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
}

int trv_gpu_program_verify(const trv_gpu_program_t *program, trv_span_t progress, trv_gpu_program_verdict_t *verdict)
{
    const double begun_ns = trv_now_ns();
    run_t run = {.program = program,
                 .verdict = verdict,
                 .progress = progress,
                 .blocks = program->blocks,
                 .width = 1 + program->gpus,
                 .barriers = program->gpus * TRV_GPU_BARRIERS_MAX,
                 .all_work = program_work(program)};
    *verdict = (trv_gpu_program_verdict_t){.valid = true, .gpu = -1};
    int rc = run_create(&run);
    rc = rc ? rc : run_all(&run);
    run_clear(&run);
    verdict->messages /= LAUNCHES;
    verdict->seconds = 1e-9 * (trv_now_ns() - begun_ns);
    return rc > 0 ? TRV_OK : rc; /* a fault is reported in the verdict */
}
