/*
 * MSCCL programs, run symbolically: a chunk of memory holds how often it has the contribution of each GPU.
 *
 * Threadblocks run side by side, and only messages and dependencies order them. One order stands for all if no two
 * accesses of a chunk, one of which writes, are unordered: every threadblock keeps how far it knows each of the others
 * to be (a vector clock), which messages and dependencies pass on, and every access is compared with those before it.
 * A connection holds two messages, as MSCCL's do; a program that needs more room waits for ever.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/advance.h"
#include "base/clock.h"
#include "base/error.h"
#include "formats/msccl_program.h"

#define ROOM_MAX      (UINT64_C(1) << 27) /* numbers */
#define SLOTS         2                   /* of a connection */
#define NUMBERS_PER_S 1.5e9               /* on a core that has nothing else to do */

typedef struct wire { /* into a threadblock */
    int from;         /* the threadblock that sends into it, or -1 */
    int sent, received;
    int count[SLOTS];
    int32_t *value[SLOTS]; /* rows, as in memory */
    int32_t *clock[SLOTS]; /* the sender's */
} wire_t;

typedef struct run {
    const trv_msccl_t *program;
    trv_msccl_verdict_t *verdict;
    bool in_place;
    int blocks, width; /* width of a row: the chunk of the vector that it is of (-1: nothing), then per GPU how often */
    int *first_cell;   /* of each GPU; one more */
    int32_t *memory;   /* rows */
    int32_t *clock;    /* [threadblock][threadblock]: steps that are known to be done; the own one: that are done */
    int32_t *kept;     /* clocks of steps that others may wait for */
    int *kept_at;      /* per step, or -1 */
    int *writer, *written;
    int32_t *read; /* [cell][threadblock of its GPU]: the last step that read it since it was written, counted from 1 */
    size_t *first_read; /* of each GPU's cells */
    int *to;            /* per threadblock: the one that it sends to, or -1 */
    wire_t *wire;
    int32_t *row;          /* a step's result */
    double work, all_work; /* done, and of all ways to run it */
} run_t;

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* Always 1: that there is one. */
__attribute__((format(printf, 3, 4))) static int fault(run_t *run, int block, const char *format, ...)
{
    trv_msccl_verdict_t *verdict = run->verdict;
    const trv_msccl_block_t *b = block < 0 ? NULL : &run->program->block[block];
    int used = 0;
    va_list arguments;
    verdict->valid = false;
    if (b) {
        verdict->gpu = b->gpu;
        verdict->block = b->number;
        verdict->step = run->clock[(size_t)block * (size_t)run->blocks + (size_t)block];
        used = snprintf(verdict->fault, sizeof verdict->fault, "GPU %d, threadblock %d, step %d: ", b->gpu, b->number,
                        verdict->step);
    }
    va_start(arguments, format);
    vsnprintf(verdict->fault + used, sizeof verdict->fault - (size_t)used, format, arguments);
    va_end(arguments);
    return 1;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static int part(const trv_msccl_t *program) { return program->chunks / program->gpus; }

int trv_msccl_input(const trv_msccl_t *program)
{
    return program->collective == TRV_ALLGATHER ? part(program) : program->chunks;
}

int trv_msccl_output(const trv_msccl_t *program)
{
    return program->collective == TRV_REDUCE_SCATTER ? part(program) : program->chunks;
}

int trv_msccl_cell(const trv_msccl_t *program, bool in_place, int gpu, char buffer, int at)
{
    const int input = trv_msccl_input(program), output = trv_msccl_output(program);
    const int whole = in_place ? program->chunks : input + output;
    const int limit = buffer == 's' ? program->scratch[gpu] : buffer == 'i' ? input : output;
    int first = buffer == 's' ? whole : buffer == 'o' && !in_place ? input : 0;
    if (in_place && buffer != 's' && limit < program->chunks)
        first = gpu * limit;
    return at < 0 || at >= limit ? -1 : first + at;
}

static int cell_of(const run_t *run, int gpu, char buffer, int at)
{
    const int cell = trv_msccl_cell(run->program, run->in_place, gpu, buffer, at);
    return cell < 0 ? -1 : run->first_cell[gpu] + cell;
}

static int32_t *row_of(const run_t *run, int cell) { return run->memory + (size_t)cell * (size_t)run->width; }

static void fill_inputs(const run_t *run)
{
    const trv_msccl_t *program = run->program;
    for (int cell = 0; cell < run->first_cell[program->gpus]; cell++)
        row_of(run, cell)[0] = -1;
    for (int gpu = 0; gpu < program->gpus; gpu++)
        for (int i = 0; i < trv_msccl_input(program); i++) {
            int32_t *row = row_of(run, cell_of(run, gpu, 'i', i));
            row[0] = program->collective == TRV_ALLGATHER ? gpu * part(program) + i : i;
            row[1 + gpu] = 1;
        }
}

bool trv_msccl_is_result(const trv_msccl_t *program, int gpu, int at, const int32_t *row, char fault[256])
{
    const int chunk = program->collective == TRV_REDUCE_SCATTER ? gpu * part(program) + at : at;
    fault[0] = '\0';
    if (row[0] < 0)
        snprintf(fault, 256, "GPU %d ends without chunk %d of the result", gpu, chunk);
    else if (row[0] != chunk)
        snprintf(fault, 256, "GPU %d ends with chunk %d where chunk %d should be", gpu, row[0], chunk);
    for (int from = 0; from < program->gpus && !fault[0]; from++) {
        const int wanted = program->collective != TRV_ALLGATHER || chunk / part(program) == from;
        if (row[1 + from] != wanted)
            snprintf(fault, 256, "GPU %d ends with the contribution of GPU %d to chunk %d %d times", gpu, from, chunk,
                     row[1 + from]);
    }
    return !fault[0];
}

static int check_outputs(run_t *run)
{
    const trv_msccl_t *program = run->program;
    for (int gpu = 0; gpu < program->gpus; gpu++)
        for (int i = 0; i < trv_msccl_output(program); i++) {
            char text[256];
            if (!trv_msccl_is_result(program, gpu, i, row_of(run, cell_of(run, gpu, 'o', i)), text))
                return fault(run, -1, "%s", text);
        }
    return 0;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static int32_t *clock_of(const run_t *run, int block) { return run->clock + (size_t)block * (size_t)run->blocks; }

static void join(const run_t *run, int block, const int32_t *known)
{
    int32_t *mine = clock_of(run, block);
    for (int i = 0; i < run->blocks; i++)
        mine[i] = i != block && known[i] > mine[i] ? known[i] : mine[i];
}

/* Notes that the threadblock's step reads or writes a cell of its GPU; 1 where that is not ordered. */
static int touch(run_t *run, int block, int cell, bool writes)
{
    const trv_msccl_t *program = run->program;
    const int gpu = program->block[block].gpu, first = program->first_block[gpu];
    const int blocks = program->first_block[gpu + 1] - first;
    int32_t *mine = clock_of(run, block),
            *read = run->read + run->first_read[gpu] + (size_t)(cell - run->first_cell[gpu]) * (size_t)blocks;
    int other = run->writer[cell], at = run->written[cell];
    bool ordered = other < 0 || other == block || mine[other] >= at;
    for (int b = 0; writes && ordered && b < blocks; b++) {
        other = first + b;
        at = read[b];
        ordered = other == block || mine[other] >= at;
    }
    if (!ordered)
        return fault(run, block, "it %s what step %d of threadblock %d %s, and nothing says which comes first",
                     writes ? "writes" : "reads", at - 1, program->block[other].number,
                     other == run->writer[cell] && at == run->written[cell] ? "writes" : "reads");
    if (writes) {
        memset(read, 0, (size_t)blocks * sizeof *read);
        run->writer[cell] = block;
        run->written[cell] = mine[block] + 1;
    } else {
        read[block - first] = mine[block] + 1;
    }
    return 0;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* The rows of one buffer into the result, or added to what is there. */
static int take(run_t *run, int block, const trv_msccl_step_t *step, char buffer, int at, bool add)
{
    for (int i = 0; i < step->count; i++) {
        const int cell = cell_of(run, run->program->block[block].gpu, buffer, at + i);
        int32_t *to = run->row + (size_t)i * (size_t)run->width;
        if (cell < 0)
            return fault(run, block, "there is no chunk %d in buffer %c", at + i, buffer);
        if (touch(run, block, cell, false))
            return 1;
        const int32_t *from = row_of(run, cell);
        if (from[0] < 0)
            return fault(run, block, "chunk %d of buffer %c has nothing yet", at + i, buffer);
        if (add && from[0] != to[0])
            return fault(run, block, "it adds chunk %d of the vector to chunk %d", from[0], to[0]);
        for (int k = 1; k < run->width; k++) {
            to[k] = from[k] + (add ? to[k] : 0);
            if (to[k] > TRV_MSCCL_TIMES_MAX)
                return fault(run, block, "a contribution counts more than a million times");
        }
        to[0] = from[0];
    }
    return 0;
}

static int store(run_t *run, int block, const trv_msccl_step_t *step)
{
    for (int i = 0; i < step->count; i++) {
        const int cell = cell_of(run, run->program->block[block].gpu, step->target, step->target_at + i);
        if (cell < 0)
            return fault(run, block, "there is no chunk %d in buffer %c", step->target_at + i, step->target);
        if (touch(run, block, cell, true))
            return 1;
        memcpy(row_of(run, cell), run->row + (size_t)i * (size_t)run->width, (size_t)run->width * sizeof(int32_t));
    }
    return 0;
}

/* What the step does once it may. */
static int perform(run_t *run, int block, const trv_msccl_step_t *step)
{
    wire_t *in = &run->wire[block], *out = step->what & TRV_MSCCL_SEND ? &run->wire[run->to[block]] : NULL;
    const size_t bytes = (size_t)step->count * (size_t)run->width * sizeof(int32_t);
    const bool receives = step->what & TRV_MSCCL_RECEIVE;
    if (receives) {
        const int slot = in->received++ % SLOTS;
        if (in->count[slot] != step->count)
            return fault(run, block, "%d chunks are sent to it, and it receives %d", in->count[slot], step->count);
        memcpy(run->row, in->value[slot], bytes);
        join(run, block, in->clock[slot]);
    }
    if (step->what & TRV_MSCCL_SOURCE && take(run, block, step, step->source, step->source_at, receives))
        return 1;
    if (step->what & TRV_MSCCL_TARGET && take(run, block, step, step->target, step->target_at, true))
        return 1;
    if (step->what & TRV_MSCCL_STORE && store(run, block, step))
        return 1;
    if (out) {
        const int slot = out->sent++ % SLOTS;
        memcpy(out->value[slot], run->row, bytes);
        memcpy(out->clock[slot], clock_of(run, block), (size_t)run->blocks * sizeof(int32_t));
        out->clock[slot][block]++; /* this step is done when it arrives */
        out->count[slot] = step->count;
        run->verdict->messages++;
    }
    return 0;
}

/* Whether the step may be done: what it waits for, its message and the room for that which it sends are there. */
static bool is_ready(const run_t *run, int block, const trv_msccl_step_t *step)
{
    const trv_msccl_t *program = run->program;
    if (step->wait_block >= 0) {
        const int other = program->first_block[program->block[block].gpu] + step->wait_block;
        if (clock_of(run, other)[other] <= step->wait_step)
            return false;
    }
    const wire_t *out = step->what & TRV_MSCCL_SEND ? &run->wire[run->to[block]] : NULL;
    return !(step->what & TRV_MSCCL_RECEIVE && run->wire[block].sent == run->wire[block].received) &&
           !(out && out->sent == out->received + SLOTS);
}

/* How many numbers a step reads or writes, about. */
static double count_work(const trv_msccl_t *program, const trv_msccl_step_t *step)
{
    const double row = 1 + program->gpus, blocks = program->first_block[program->gpus];
    return 10 + 3 * step->count * (row + blocks / program->gpus) + 2 * blocks;
}

/* In place, out of place or both. */
static double count_all(const trv_msccl_t *program)
{
    double work = 0;
    for (int s = 0; s < program->steps; s++)
        work += count_work(program, &program->step[s]);
    return work * (program->mode[0] + program->mode[1]);
}

double trv_msccl_seconds(const trv_msccl_t *program) { return count_all(program) / NUMBERS_PER_S; }

/* Goes on in a threadblock as far as it can; *moved if that is any step. 1: a fault. */
static int run_block(run_t *run, int block, bool *moved)
{
    const trv_msccl_t *program = run->program;
    const trv_msccl_block_t *b = &program->block[block];
    int32_t *mine = clock_of(run, block);
    for (; mine[block] < b->steps; mine[block]++) {
        const int at = b->first_step + mine[block];
        const trv_msccl_step_t *step = &program->step[at];
        if (!is_ready(run, block, step))
            return 0;
        if (step->wait_block >= 0) {
            const int other = program->first_block[b->gpu] + step->wait_block;
            const int kept = run->kept_at[program->block[other].first_step + step->wait_step];
            join(run, block, run->kept + (size_t)kept * (size_t)run->blocks);
        }
        if (perform(run, block, step))
            return 1;
        run->work += count_work(program, step);
        trv_advance(run->work / run->all_work);
        *moved = true;
        if (run->kept_at[at] >= 0) {
            int32_t *kept = run->kept + (size_t)run->kept_at[at] * (size_t)run->blocks;
            memcpy(kept, mine, (size_t)run->blocks * sizeof *kept);
            kept[block]++;
        }
    }
    return 0;
}

static int run_all(run_t *run)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (int block = 0; block < run->blocks; block++)
            if (run_block(run, block, &moved))
                return 1;
    }
    for (int block = 0; block < run->blocks; block++)
        if (clock_of(run, block)[block] < run->program->block[block].steps)
            return fault(run, block, "it waits for ever");
    for (int block = 0; block < run->blocks; block++)
        if (run->wire[block].sent > run->wire[block].received)
            return fault(run, run->wire[block].from, "what it sends last is not received");
    return check_outputs(run);
}

/* ---- Connections and dependencies -------------------------------------------------------------------------------- */

static bool does(const trv_msccl_t *program, const trv_msccl_block_t *block, int what)
{
    bool any = false;
    for (int s = 0; s < block->steps; s++)
        any |= (program->step[block->first_step + s].what & what) != 0;
    return any;
}

/* The threadblock of `gpu` that receives from `from` on the channel; -1: none, -2: several. */
static int find_receiver(const trv_msccl_t *program, int gpu, int from, int channel)
{
    int found = -1;
    for (int b = program->first_block[gpu]; b < program->first_block[gpu + 1]; b++)
        if (program->block[b].receive == from && program->block[b].channel == channel)
            found = found == -1 ? b : -2;
    return found;
}

static int link_blocks(run_t *run)
{
    const trv_msccl_t *program = run->program;
    for (int b = 0; b < run->blocks; b++)
        run->wire[b].from = run->to[b] = -1;
    for (int b = 0; b < run->blocks; b++) {
        const trv_msccl_block_t *block = &program->block[b];
        if (block->send == block->gpu || block->receive == block->gpu)
            return fault(run, b, "the threadblock exchanges messages with its own GPU");
        if (!does(program, block, TRV_MSCCL_SEND))
            continue;
        const int to = block->send < 0 ? -1 : find_receiver(program, block->send, block->gpu, block->channel);
        if (to < 0)
            return fault(run, b, "the threadblock sends to GPU %d on channel %d, where %s", block->send, block->channel,
                         to == -1 ? "no threadblock receives from it" : "several threadblocks receive from it");
        if (run->wire[to].from >= 0)
            return fault(run, b, "threadblock %d sends to GPU %d on channel %d, too",
                         program->block[run->wire[to].from].number, block->send, block->channel);
        run->wire[to].from = b;
        run->to[b] = to;
    }
    return 0;
}

static int check_waits(run_t *run)
{
    const trv_msccl_t *program = run->program;
    for (int b = 0; b < run->blocks; b++) {
        const trv_msccl_block_t *block = &program->block[b];
        const int first = program->first_block[block->gpu], blocks = program->first_block[block->gpu + 1] - first;
        for (int s = 0; s < block->steps; s++) {
            const trv_msccl_step_t *step = &program->step[block->first_step + s];
            if (step->wait_block < 0)
                continue;
            clock_of(run, b)[b] = s; /* where the fault is */
            if (step->wait_block >= blocks || step->wait_step < 0 ||
                step->wait_step >= program->block[first + step->wait_block].steps)
                return fault(run, b, "it depends on step %d of threadblock %d, which there is not", step->wait_step,
                             step->wait_block);
            const int at = program->block[first + step->wait_block].first_step + step->wait_step;
            if (!program->step[at].waited)
                return fault(run, b, "it depends on step %d of threadblock %d, which has not hasdep=\"1\"",
                             step->wait_step, step->wait_block);
        }
        clock_of(run, b)[b] = 0;
    }
    return 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int refuse_size(void)
{
    return trv_fail(TRV_ERR_UNSUPPORTED, "the program has too many GPUs, chunks and threadblocks to be verified");
}

/* Places of all that follow one another; the number of rows. */
static int lay_out(run_t *run, uint64_t *reads)
{
    const trv_msccl_t *program = run->program;
    const int whole = run->in_place ? program->chunks : trv_msccl_input(program) + trv_msccl_output(program);
    uint64_t cells = 0;
    *reads = 0;
    for (int gpu = 0; gpu < program->gpus; gpu++) {
        const int own = whole + program->scratch[gpu];
        run->first_cell[gpu] = (int)cells;
        run->first_read[gpu] = *reads;
        cells += (uint64_t)own;
        *reads += (uint64_t)own * (uint64_t)(program->first_block[gpu + 1] - program->first_block[gpu]);
        if (cells * (uint64_t)run->width > ROOM_MAX || *reads > ROOM_MAX)
            return refuse_size();
    }
    run->first_cell[program->gpus] = (int)cells;
    return TRV_OK;
}

static int make_clocks(run_t *run)
{
    const trv_msccl_t *program = run->program;
    const size_t blocks = (size_t)run->blocks;
    uint64_t kept = 0, most = 1;
    for (int s = 0; s < program->steps; s++) {
        run->kept_at[s] = program->step[s].waited ? (int)kept++ : -1;
        most = (uint64_t)program->step[s].count > most ? (uint64_t)program->step[s].count : most;
    }
    if ((kept + (1 + SLOTS) * blocks) * blocks > ROOM_MAX ||
        most * (SLOTS * blocks + 1) * (uint64_t)run->width > ROOM_MAX)
        return refuse_size();
    run->clock = calloc(blocks * blocks + 1, sizeof *run->clock);
    run->kept = calloc(kept * blocks + 1, sizeof *run->kept);
    run->row = calloc(most * (size_t)run->width, sizeof *run->row);
    if (!run->clock || !run->kept || !run->row)
        return trv_fail_memory();
    for (int b = 0; b < run->blocks; b++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            run->wire[b].value[slot] = calloc(most * (size_t)run->width, sizeof(int32_t));
            run->wire[b].clock[slot] = calloc(blocks, sizeof(int32_t));
            if (!run->wire[b].value[slot] || !run->wire[b].clock[slot])
                return trv_fail_memory();
        }
    }
    return TRV_OK;
}

static int make(run_t *run)
{
    const trv_msccl_t *program = run->program;
    uint64_t reads;
    run->first_cell = calloc((size_t)program->gpus + 1, sizeof *run->first_cell);
    run->first_read = calloc((size_t)program->gpus, sizeof *run->first_read);
    run->to = calloc((size_t)run->blocks + 1, sizeof *run->to);
    run->wire = calloc((size_t)run->blocks + 1, sizeof *run->wire);
    run->kept_at = calloc((size_t)program->steps + 1, sizeof *run->kept_at);
    if (!run->first_cell || !run->first_read || !run->to || !run->wire || !run->kept_at)
        return trv_fail_memory();
    int rc = lay_out(run, &reads);
    if (!rc)
        rc = make_clocks(run);
    if (rc)
        return rc;
    const size_t cells = (size_t)run->first_cell[program->gpus];
    run->memory = calloc(cells * (size_t)run->width, sizeof *run->memory);
    run->read = calloc(reads + 1, sizeof *run->read);
    run->writer = malloc(cells * sizeof *run->writer);
    run->written = calloc(cells, sizeof *run->written);
    if (!run->memory || !run->read || !run->writer || !run->written)
        return trv_fail_memory();
    memset(run->writer, 0xff, cells * sizeof *run->writer);
    fill_inputs(run);
    return TRV_OK;
}

static void clear(run_t *run)
{
    for (int b = 0; run->wire && b < run->blocks; b++)
        for (int slot = 0; slot < SLOTS; slot++) {
            free(run->wire[b].value[slot]);
            free(run->wire[b].clock[slot]);
        }
    void *const memory[] = {run->first_cell, run->memory, run->clock, run->kept,       run->kept_at, run->writer,
                            run->written,    run->read,   run->to,    run->first_read, run->wire,    run->row};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
}

int trv_msccl_verify(const trv_msccl_t *program, trv_msccl_verdict_t *verdict)
{
    const double begun_ns = trv_now_ns();
    int rc = TRV_OK;
    *verdict = (trv_msccl_verdict_t){.valid = true, .gpu = -1, .block = -1, .step = -1};
    double work = 0;
    for (int mode = 0; mode < 2 && !rc && verdict->valid; mode++) {
        run_t run = {.program = program,
                     .verdict = verdict,
                     .in_place = mode == 0,
                     .width = 1 + program->gpus,
                     .work = work,
                     .all_work = count_all(program)};
        run.blocks = program->first_block[program->gpus];
        if (!program->mode[mode])
            continue;
        verdict->messages = 0;
        rc = make(&run);
        if (!rc && !link_blocks(&run) && !check_waits(&run))
            run_all(&run);
        work = run.work;
        clear(&run);
    }
    verdict->seconds = 1e-9 * (trv_now_ns() - begun_ns);
    return rc;
}
