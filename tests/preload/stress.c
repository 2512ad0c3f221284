/*
 * Random collectives on random communicators; every result is compared with that of the PMPI_ function. An ordinary MPI
 * program: run it with a preload library, which intercepts the MPI_ calls but not the PMPI_ ones.
 *
 *     mpirun -n 4 stress [--seed N] [--calls N]
 *
 * All ranks draw the same numbers, so they make the same calls. The seed is printed first; it reproduces the run. If
 * any result was wrong, the exit code is 1 and the first few differences are described.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "elements.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define COMMS       6
#define PENDING     4
#define CANARY      32
#define CANARY_BYTE 0x5a

static int world_rank;
static long compared, wrong, call_number;
static uint64_t seed = 1;

static void report_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void report_wrong(const char *format, ...)
{
    va_list arguments;
    if (wrong++ >= 5)
        return;
    va_start(arguments, format);
    fprintf(stderr, "rank %d, call %ld of seed %llu: ", world_rank, call_number, (unsigned long long)seed);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- Communicators: every rank is in one part of each ------------------------------------------------------------ */

static MPI_Comm comm[COMMS];

static void draw_comm(MPI_Comm from, uint64_t draw, MPI_Comm *made)
{
    int ranks, rank, dims[2] = {0, 0}, periods[2] = {1, 1}, keep[2] = {0, 1};
    MPI_Comm grid;
    MPI_Comm_size(from, &ranks);
    MPI_Comm_rank(from, &rank);
    switch (draw % 5) {
    case 0: MPI_Comm_dup(from, made); break;
    case 1: MPI_Comm_split(from, rank % 2, rank, made); break;
    case 2: MPI_Comm_split(from, 0, -rank, made); break;
    case 3:
        MPI_Dims_create(ranks, 2, dims);
        MPI_Cart_create(from, 2, dims, periods, 0, made);
        break;
    default:
        MPI_Dims_create(ranks, 2, dims);
        MPI_Cart_create(from, 2, dims, periods, 0, &grid);
        MPI_Cart_sub(grid, keep, made);
        MPI_Comm_free(&grid);
    }
}

static void renew_comm(int at, uint64_t draw)
{
    if (comm[at] != MPI_COMM_NULL)
        MPI_Comm_free(&comm[at]);
    draw_comm(MPI_COMM_WORLD, draw, &comm[at]);
}

/* ---- One call ---------------------------------------------------------------------------------------------------- */

typedef struct call {
    MPI_Comm comm;
    element_t element;
    bool in_place;
    int count;                                  /* elements of a block; of the vector for AllReduce */
    size_t in, out;                             /* elements of the buffers */
    char *input, *output, *expected, *original; /* original: initial contents of `input` */
    MPI_Request request;
} call_t;

static call_t begin_call(MPI_Comm on, uint64_t draw, bool blocks_in, bool blocks_out)
{
    static const int count_max[] = {0, 1, 2, 9, 100, 1000, 1000, 20000};
    call_t call = {.comm = on,
                   .element = elements_draw(draw),
                   .in_place = number(draw + 2) % 3 == 0,
                   .request = MPI_REQUEST_NULL};
    int ranks, rank;
    MPI_Comm_size(on, &ranks);
    MPI_Comm_rank(on, &rank);
    int limit = count_max[number(draw + 3) % 8];
    call.count = limit == 0 ? 0 : (int)(number(draw + 4) % (uint64_t)limit) + 1;
    call.in = (size_t)call.count * (size_t)(blocks_in ? ranks : 1);
    call.out = (size_t)call.count * (size_t)(blocks_out ? ranks : 1);
    size_t capacity = (call.in > call.out ? call.in : call.out) * call.element.size + CANARY;
    call.input = malloc(capacity);
    call.original = malloc(capacity);
    call.output = malloc(capacity);
    call.expected = malloc(capacity);
    memset(call.output, CANARY_BYTE, capacity);
    elements_fill(&call.element, call.input, call.in, draw ^ number((uint64_t)rank + 77));
    memcpy(call.original, call.input, call.in * call.element.size);
    size_t own = blocks_out ? (size_t)rank * (size_t)call.count * call.element.size : 0;
    if (call.in_place)
        memcpy(call.output + own, call.input, call.in * call.element.size);
    return call;
}

/* Checks `got` elements of the result; the bytes after them and the input must be unchanged. */
static void end_call(call_t *call, const char *name)
{
    size_t at = elements_compare(&call->element, call->output, call->expected, call->out);
    size_t touched = call->in_place && call->in > call->out ? call->in : call->out;
    const char *after = call->output + touched * call->element.size;
    compared++;
    if (at < call->out)
        report_wrong("%s of %d elements, %s%s: element %zu of %zu is wrong", name, call->count,
                     elements_name(&call->element), call->in_place ? ", in place" : "", at, call->out);
    for (size_t i = 0; i < CANARY; i++)
        if (after[i] != CANARY_BYTE) {
            report_wrong("%s wrote after the end of the receive buffer", name);
            break;
        }
    if (memcmp(call->input, call->original, call->in * call->element.size) != 0)
        report_wrong("%s changed the send buffer", name);
    free(call->input);
    free(call->original);
    free(call->output);
    free(call->expected);
}

/* Floating-point results must have the same bits on all ranks. */
static void expect_identical(const call_t *call, const char *name)
{
    uint64_t sum = 0, word[2];
    for (size_t i = 0; i < call->out * call->element.size; i++)
        sum = sum * 31 + (unsigned char)call->output[i];
    word[0] = sum;
    word[1] = ~sum;
    PMPI_Allreduce(MPI_IN_PLACE, word, 2, MPI_UINT64_T, MPI_MAX, call->comm);
    bool padded = call->element.class == LONG_DOUBLE || call->element.class == PAIR_DOUBLE;
    if (!padded && word[0] != ~word[1])
        report_wrong("%s: not the same bits on all ranks", name);
}

static const void *source(const call_t *call) { return call->in_place ? MPI_IN_PLACE : call->input; }

/* ---- The collectives --------------------------------------------------------------------------------------------- */

static void allreduce(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, false, false);
    MPI_Allreduce(source(&c), c.output, c.count, c.element.type, c.element.op, on);
    PMPI_Allreduce(c.input, c.expected, c.count, c.element.type, c.element.op, on);
    expect_identical(&c, "MPI_Allreduce");
    end_call(&c, "MPI_Allreduce");
}

static void reduce_scatter_block(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, true, false);
    MPI_Reduce_scatter_block(source(&c), c.output, c.count, c.element.type, c.element.op, on);
    PMPI_Reduce_scatter_block(c.input, c.expected, c.count, c.element.type, c.element.op, on);
    end_call(&c, "MPI_Reduce_scatter_block");
}

/* Counts are equal, or the first rank's block gives one element to the last rank's. */
static void reduce_scatter(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, true, false);
    int ranks, rank;
    MPI_Comm_size(on, &ranks);
    MPI_Comm_rank(on, &rank);
    int *counts = malloc((size_t)ranks * sizeof *counts);
    for (int i = 0; i < ranks; i++)
        counts[i] = c.count;
    if (c.count > 0 && ranks > 1 && number(draw + 9) % 2)
        counts[0]--, counts[ranks - 1]++;
    /* The block may be one element larger than begin_call assumed. */
    if (counts[rank] > c.count) {
        size_t capacity = (c.in + 1) * c.element.size + CANARY;
        c.output = realloc(c.output, capacity);
        c.expected = realloc(c.expected, capacity);
        memset(c.output + c.in * c.element.size, CANARY_BYTE, c.element.size + CANARY);
        if (!c.in_place)
            memset(c.output, CANARY_BYTE, capacity);
    }
    c.out = (size_t)counts[rank];
    MPI_Reduce_scatter(source(&c), c.output, counts, c.element.type, c.element.op, on);
    PMPI_Reduce_scatter(c.input, c.expected, counts, c.element.type, c.element.op, on);
    end_call(&c, "MPI_Reduce_scatter");
    free(counts);
}

static void allgather(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, false, true);
    MPI_Allgather(source(&c), c.count, c.element.type, c.output, c.count, c.element.type, on);
    PMPI_Allgather(c.input, c.count, c.element.type, c.expected, c.count, c.element.type, on);
    end_call(&c, "MPI_Allgather");
}

/* Every second rank sends every second element of a longer buffer; the other ranks send contiguous elements. */
static void allgather_strided(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, false, true);
    int rank;
    MPI_Comm_rank(on, &rank);
    if (rank % 2 == 0 && c.count > 0) {
        MPI_Datatype strided;
        char *spread = calloc((size_t)c.count * 2, c.element.size);
        for (int i = 0; i < c.count; i++)
            memcpy(spread + (size_t)i * 2 * c.element.size, c.input + (size_t)i * c.element.size, c.element.size);
        MPI_Type_vector(c.count, 1, 2, c.element.type, &strided);
        MPI_Type_commit(&strided);
        MPI_Allgather(spread, 1, strided, c.output, c.count, c.element.type, on);
        MPI_Type_free(&strided);
        free(spread);
    } else {
        MPI_Allgather(c.input, c.count, c.element.type, c.output, c.count, c.element.type, on);
    }
    PMPI_Allgather(c.input, c.count, c.element.type, c.expected, c.count, c.element.type, on);
    end_call(&c, "MPI_Allgather of a strided type");
}

/* ---- Non-blocking and persistent --------------------------------------------------------------------------------- */

static call_t pending[PENDING];
static int pending_calls;

static void complete(void)
{
    for (int i = 0; i < pending_calls; i++) {
        call_t *c = &pending[i];
        MPI_Wait(&c->request, MPI_STATUS_IGNORE);
        PMPI_Allreduce(c->input, c->expected, c->count, c->element.type, c->element.op, c->comm);
        end_call(c, "MPI_Iallreduce");
    }
    pending_calls = 0;
}

static void iallreduce(MPI_Comm on, uint64_t draw)
{
    if (pending_calls == PENDING)
        complete();
    call_t *c = &pending[pending_calls++];
    *c = begin_call(on, draw, false, false);
    MPI_Iallreduce(source(c), c->output, c->count, c->element.type, c->element.op, on, &c->request);
}

static void persistent(MPI_Comm on, uint64_t draw)
{
    call_t c = begin_call(on, draw, false, false);
    c.in_place = false; /* a persistent call is started several times */
#ifdef OPEN_MPI
    MPIX_Allreduce_init(c.input, c.output, c.count, c.element.type, c.element.op, on, MPI_INFO_NULL, &c.request);
#else
    MPI_Allreduce_init(c.input, c.output, c.count, c.element.type, c.element.op, on, MPI_INFO_NULL, &c.request);
#endif
    for (int i = 0; i < 2; i++) {
        MPI_Start(&c.request);
        MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&c.request);
    PMPI_Allreduce(c.input, c.expected, c.count, c.element.type, c.element.op, on);
    end_call(&c, "MPI_Allreduce_init");
}

static void barrier(MPI_Comm on, uint64_t draw)
{
    (void)draw;
    MPI_Barrier(on);
}

static void one_call(uint64_t draw)
{
    static void (*const collective[])(MPI_Comm, uint64_t) =
        {allreduce,         allreduce,  allreduce,  reduce_scatter_block, reduce_scatter, allgather,
         allgather_strided, iallreduce, iallreduce, persistent,           barrier};
    int at = (int)(number(draw) % COMMS);
    if (number(draw + 1) % 8 == 0) {
        complete();
        renew_comm(at, number(draw + 2));
    }
    collective[number(draw + 3) % (sizeof collective / sizeof collective[0])](comm[at], number(draw + 4));
}

int main(int argc, char **argv)
{
    long calls = 300, all[2];
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--calls") == 0)
            calls = strtol(argv[i + 1], NULL, 10);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (world_rank == 0) {
        printf("stress --seed %llu --calls %ld\n", (unsigned long long)seed, calls);
        fflush(stdout);
    }
    elements_begin();
    for (int i = 0; i < COMMS; i++) {
        comm[i] = MPI_COMM_NULL;
        renew_comm(i, (uint64_t)i);
    }
    for (call_number = 0; call_number < calls; call_number++)
        one_call(number(seed) + (uint64_t)call_number * 1000);
    complete();
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    elements_end();
    long mine[2] = {compared, wrong};
    PMPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%ld results compared, %ld wrong\n", all[0], all[1]);
    MPI_Finalize();
    return all[1] > 0 || all[0] == 0;
}
