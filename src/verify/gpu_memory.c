/*
 * The memory of GPUs in a symbolic run: a chunk holds, for each GPU, how many times it contains that GPU's
 * contribution.
 *
 * One order of threadblocks represents all orders if no two accesses of a chunk, one of which writes, are unordered.
 * Every access is therefore compared with the previous ones, according to the threadblock's knowledge of the others
 * (vector_clock.h). A second clock states how much of what other threadblocks have written is visible.
 * Relaxed signals and relaxed waits establish an order, so that memory that has been read may be written, but they
 * publish nothing. Only data that a launch finds in memory needs no publishing.
 *
 * Different threads of a threadblock execute successive operations: between two operations that access the
 * same chunk there must be a nop or a barrier.
 */
#include <stdio.h>
#include <string.h>

#include "schedule/collective.h"
#include "verify/gpu_state.h"

#define TIMES_MAX 1000000 /* maximum number of times that a contribution may be counted */

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static int buffer_part(const trv_gpu_program_t *program) { return program->chunks / program->gpus; }

static int buffer_input(const trv_gpu_program_t *program)
{
    return trv_collective_shape(program->collective)->before == TRV_EVERY_RANK ? program->chunks : buffer_part(program);
}

static int buffer_output(const trv_gpu_program_t *program)
{
    return trv_collective_shape(program->collective)->after == TRV_EVERY_RANK ? program->chunks : buffer_part(program);
}

/* The size of input and output together. In place the shorter one is the GPU's part of the longer one. */
static int buffer_both(const run_t *run)
{
    return run->program->in_place ? run->program->chunks : buffer_input(run->program) + buffer_output(run->program);
}

int trv_run_cells(const run_t *run, int gpu) { return buffer_both(run) + run->program->scratch[gpu]; }

/* The cell of a chunk of a buffer in the GPU's memory; -1 if there is no such chunk. */
static int buffer_cell(const run_t *run, int gpu, char buffer, int at)
{
    const trv_gpu_program_t *program = run->program;
    const int input = buffer_input(program);
    const int limit = buffer == 's' ? program->scratch[gpu] : buffer == 'i' ? input : buffer_output(program);
    int first = buffer == 's' ? buffer_both(run) : buffer == 'o' && !program->in_place ? input : 0;
    if (program->in_place && buffer != 's' && limit < program->chunks)
        first = gpu * limit;
    return at < 0 || at >= limit ? -1 : run->first_cell[gpu] + first + at;
}

int trv_run_find(run_t *run, int block, const trv_gpu_span_t *span, int i)
{
    const int cell = buffer_cell(run, span->gpu, span->buffer, span->at + i);
    if (cell < 0)
        trv_run_fault(run, block, "there is no chunk %d in buffer %c of GPU %d", span->at + i, span->buffer, span->gpu);
    return cell;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

/* The times, since the last write, at which each threadblock read a cell last. */
static int32_t *access_readers(const run_t *run, int cell) { return run->read + (size_t)cell * (size_t)run->blocks; }

/* Whether the threadblock knows that the cell was written, but the data is not visible to it. */
static bool access_is_hidden(const run_t *run, int block, int cell)
{
    const cell_t *at = &run->cell[cell];
    return at->writer >= 0 && at->writer != block && !at->launched && clock_of(run, block)[at->writer] >= at->written &&
           visible_to(run, block)[at->writer] < at->written;
}

int trv_run_unordered(const run_t *run, int block, int cell, bool writes)
{
    const cell_t *at = &run->cell[cell];
    const int32_t *mine = clock_of(run, block), *visible = at->launched ? mine : visible_to(run, block);
    const int32_t *read = access_readers(run, cell);
    if (at->writer >= 0 && at->writer != block && visible[at->writer] < at->written)
        return at->writer;
    for (int b = 0; writes && b < run->blocks; b++)
        if (b != block && mine[b] < read[b])
            return b;
    return -1;
}

static int access_fault(run_t *run, int block, int cell, bool writes, int other)
{
    const trv_threadblock_t *owner_block = &run->program->block[other];
    const char *verb = writes ? "writes" : "reads";
    if (access_is_hidden(run, block, cell))
        return trv_run_fault(run, block,
                             "it %s memory that threadblock %d of GPU %d has written, but the signal or wait between "
                             "them is relaxed and publishes nothing",
                             verb, owner_block->number, owner_block->gpu);
    return trv_run_fault(run, block,
                         "it %s memory that threadblock %d of GPU %d accesses, too, and their order is undefined", verb,
                         owner_block->number, owner_block->gpu);
}

int trv_run_touch(run_t *run, int block, int cell, bool writes)
{
    cell_t *at = &run->cell[cell];
    const int other = trv_run_unordered(run, block, cell, writes), epoch = run->block[block].epoch;
    const int32_t now = clock_of(run, block)[block] + 1;
    int32_t *read = access_readers(run, cell);
    if (other >= 0)
        return access_fault(run, block, cell, writes, other);
    if (at->write_epoch == epoch || (writes && at->read_epoch == epoch))
        return trv_run_fault(run, block, "it %s memory that other threads of the threadblock access: a nop is missing",
                             writes ? "writes" : "reads");
    if (writes) {
        memset(read, 0, (size_t)run->blocks * sizeof *read);
        at->writer = block;
        at->written = now;
        at->launched = false;
        at->write_epoch = epoch;
    } else {
        read[block] = now;
        at->read_epoch = epoch;
    }
    return 0;
}

int trv_run_take(run_t *run, int block, const trv_gpu_span_t *span, int i, int32_t *row, bool add)
{
    const int cell = trv_run_find(run, block, span, i);
    if (cell < 0 || trv_run_touch(run, block, cell, false))
        return 1;
    const int32_t *from = row_of(run, cell);
    if (from[0] < 0)
        return trv_run_fault(run, block, "chunk %d of buffer %c of GPU %d is empty", span->at + i, span->buffer,
                             span->gpu);
    if (add && from[0] != row[0])
        return trv_run_fault(run, block, "it adds chunk %d of the vector to chunk %d", from[0], row[0]);
    for (int k = 1; k < run->width; k++) {
        row[k] = from[k] + (add ? row[k] : 0);
        if (row[k] > TIMES_MAX)
            return trv_run_fault(run, block, "a contribution is added more than a million times");
    }
    row[0] = from[0];
    return 0;
}

int trv_run_store(run_t *run, int block, const trv_gpu_span_t *span, int i, const int32_t *row, bool touched)
{
    const int cell = trv_run_find(run, block, span, i);
    if (cell < 0 || (!touched && trv_run_touch(run, block, cell, true)))
        return 1;
    run->cell[cell].write_epoch = run->block[block].epoch;
    memcpy(row_of(run, cell), row, (size_t)run->width * sizeof *row);
    run->verdict->messages += i == 0 && span->gpu != run->program->block[block].gpu;
    return 0;
}

/* ---- The start and the end --------------------------------------------------------------------------------------- */

void trv_run_fill_inputs(run_t *run, int gpu)
{
    const trv_gpu_program_t *program = run->program;
    const trv_collective_shape_t *shape = trv_collective_shape(program->collective);
    const int input = buffer_input(program);
    for (int cell = run->first_cell[gpu]; cell < run->first_cell[gpu + 1]; cell++)
        row_of(run, cell)[0] = -1;
    for (int i = 0; i < input; i++) {
        int32_t *row = row_of(run, buffer_cell(run, gpu, 'i', i));
        memset(row, 0, (size_t)run->width * sizeof *row);
        row[0] = shape->before == TRV_EVERY_RANK ? i : gpu * input + i;
        row[1 + gpu] = 1;
    }
}

int trv_run_check_outputs(run_t *run, int gpu)
{
    const trv_gpu_program_t *program = run->program;
    const trv_collective_shape_t *shape = trv_collective_shape(program->collective);
    const int first = shape->after == TRV_EVERY_RANK ? 0 : gpu * buffer_part(program);
    for (int i = 0; i < buffer_output(program); i++) {
        const int32_t *row = row_of(run, buffer_cell(run, gpu, 'o', i));
        const int chunk = first + i;
        if (row[0] < 0)
            return trv_run_fault(run, -1, "GPU %d ends without chunk %d of the result", gpu, chunk);
        if (row[0] != chunk)
            return trv_run_fault(run, -1, "GPU %d ends with chunk %d where chunk %d should be", gpu, row[0], chunk);
        for (int from = 0; from < program->gpus; from++)
            if (row[1 + from] != (shape->before == TRV_EVERY_RANK || chunk / buffer_part(program) == from))
                return trv_run_fault(run, -1, "GPU %d ends with the contribution of GPU %d to chunk %d %d times", gpu,
                                     from, chunk, row[1 + from]);
    }
    return 0;
}
