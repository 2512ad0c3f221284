/*
 * Where the time of a warm call goes: the same AllReduce, with the same messages, four times.
 *
 *     hand       MPI_Isend, MPI_Irecv and MPI_Waitall by hand
 *     transport  the library's channel (src/transport/mpi) instead of MPI's calls, by hand too
 *     plan       the executor on a channel
 *     call       TRV_Allreduce, with all that finds the plan
 *
 *     mpirun -n 2 warm [--rounds N]     mpirun -n 3 warm
 *
 * As in overhead.c every rank sends its whole vector to every other one up to the switch (trivance-l-grouped), and
 * parts of 1/n above it (trivance-b). All take turns in batches, so that they see the same machine; shown are medians
 * over the rounds of the slowest rank's time per call. `ratio` is plan / hand: what transport and executor cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "by_hand.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

#define ROUNDS       60
#define SWITCH_BYTES 65536
#define SIZES_MAX    32

enum { HAND, TRANSPORT, PLAN, CALL, SIDES };

typedef struct bench {
    hand_t hand;
    MPI_Comm comm; /* of the channels; errors are returned, as in the library */
    trv_mpi_channel_t *channel[2];
    const trv_transport_t *transport; /* of the first channel, the second one is the plan's */
    int base;
    trv_plan_t *plan;
    bool large;
    double *input, *output;
    size_t count;
} bench_t;

static void expect(int code, const char *what)
{
    if (code >= 0)
        return;
    fprintf(stderr, "warm: %s: %s\n", what, trv_last_error());
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* ---- The channel by hand ----------------------------------------------------------------------------------------- */

static void await(const bench_t *b, int slots)
{
    const trv_transport_t *t = b->transport;
    int first = 0;
    for (unsigned polls = 1; first < slots; polls++) {
        int code = t->test(t->context, b->base, first);
        expect(code, "test");
        first += code;
        if (code == 0)
            trv_mpi_pause(polls);
    }
}

static size_t first_of(const bench_t *b, int rank) { return b->count * (size_t)rank / (size_t)b->hand.ranks; }

static size_t bytes_of(const bench_t *b, int rank)
{
    return (first_of(b, rank + 1) - first_of(b, rank)) * sizeof(double);
}

static void add(const bench_t *b, double *result, const double *mine, size_t bytes)
{
    const void *source[RANKS_MAX];
    for (int r = 0; r < b->hand.ranks; r++)
        source[r] = r == b->hand.rank ? mine : b->hand.part[r];
    trv_reduce(TRV_SUM, TRV_DOUBLE, result, source, b->hand.ranks, bytes / sizeof(double));
}

static void transport_whole(const bench_t *b)
{
    const trv_transport_t *t = b->transport;
    int slots = 0, mine = b->hand.rank;
    size_t bytes = b->count * sizeof(double);
    for (int r = 0; r < b->hand.ranks; r++)
        if (r != mine)
            expect(t->receive(t->context, b->base, slots++, r, 0, b->hand.part[r], bytes), "receive");
    for (int r = 0; r < b->hand.ranks; r++)
        if (r != mine)
            expect(t->send(t->context, b->base, slots++, r, 0, b->input, bytes), "send");
    await(b, slots);
    add(b, b->output, b->input, bytes);
}

static void transport_parts(const bench_t *b)
{
    const trv_transport_t *t = b->transport;
    int slots = 0, mine = b->hand.rank;
    for (int r = 0; r < b->hand.ranks; r++)
        if (r != mine)
            expect(t->receive(t->context, b->base, slots++, r, 0, b->hand.part[r], bytes_of(b, mine)), "receive");
    for (int r = 0; r < b->hand.ranks; r++)
        if (r != mine)
            expect(t->send(t->context, b->base, slots++, r, 0, b->input + first_of(b, r), bytes_of(b, r)), "send");
    await(b, slots);
    add(b, b->output + first_of(b, mine), b->input + first_of(b, mine), bytes_of(b, mine));
    slots = 0;
    for (int r = 0; r < b->hand.ranks; r++)
        if (r != mine) {
            expect(t->receive(t->context, b->base, slots++, r, 1, b->output + first_of(b, r), bytes_of(b, r)),
                   "receive");
            expect(t->send(t->context, b->base, slots++, r, 1, b->output + first_of(b, mine), bytes_of(b, mine)),
                   "send");
        }
    await(b, slots);
}

/* ---- The four ---------------------------------------------------------------------------------------------------- */

static void run_plan(const bench_t *b)
{
    int code = trv_plan_start(b->plan, b->input, b->output);
    expect(code, "starting a plan");
    for (unsigned polls = 1; (code = trv_plan_test(b->plan)) == 0; polls++)
        trv_mpi_pause(polls);
    expect(code, "running a plan");
}

static void call(const bench_t *b, int side)
{
    if (side == HAND && b->large)
        hand_parts(&b->hand, b->input, b->output, b->count);
    else if (side == HAND)
        hand_whole(&b->hand, b->input, b->output, b->count);
    else if (side == TRANSPORT && b->large)
        transport_parts(b);
    else if (side == TRANSPORT)
        transport_whole(b);
    else if (side == PLAN)
        run_plan(b);
    else
        TRV_Allreduce(b->input, b->output, (int)b->count, MPI_DOUBLE, MPI_SUM, b->hand.comm);
}

static void measure(const bench_t *b, int rounds, double median[SIDES])
{
    size_t bytes = b->count * sizeof(double);
    int calls = bytes <= 8192 ? 50 : bytes <= 131072 ? 10 : 3;
    double *time = malloc((size_t)(SIDES * rounds) * sizeof *time);
    for (int round = -3; round < rounds; round++) /* the first ones only warm up */
        for (int k = 0; k < SIDES; k++) {
            int side = (round + 3 + k) % SIDES;
            call(b, side);
            hand_barrier(&b->hand);
            double start = MPI_Wtime();
            for (int i = 0; i < calls; i++)
                call(b, side);
            double most = hand_most(&b->hand, 1e6 * (MPI_Wtime() - start) / calls);
            if (round >= 0)
                time[side * rounds + round] = most;
        }
    for (int side = 0; side < SIDES; side++)
        median[side] = hand_median(time + side * rounds, rounds);
    free(time);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void measure_size(bench_t *b, size_t bytes, int rounds, double median[SIDES])
{
    trv_torus_t ring;
    trv_schedule_t *schedule = NULL;
    trv_elements_t elements = {.type = TRV_DOUBLE, .op = TRV_SUM};
    b->count = bytes / sizeof(double);
    b->large = bytes > SWITCH_BYTES;
    const char *algorithm = b->large ? "trivance-b" : "trivance-l-grouped";
    expect(trv_torus_init(&ring, 1, &b->hand.ranks), "the ring");
    expect(trv_schedule_create(&schedule, &ring, algorithm, TRV_ALLREDUCE), algorithm);
    expect(trv_plan_create(&b->plan, schedule, b->hand.rank, b->count, &elements,
                           trv_mpi_channel_transport(b->channel[1]), NULL),
           "a plan");
    TRV_Comm_set(b->hand.comm, NULL, algorithm);
    measure(b, rounds, median);
    trv_plan_destroy(b->plan);
    trv_schedule_destroy(schedule);
}

static void run(bench_t *b, int rounds)
{
    double ratio[SIDES][SIZES_MAX];
    int sizes = 0;
    if (b->hand.rank == 0)
        printf("Warm calls on %d ranks, sum of double, us per call\n%10s  %9s  %9s  %9s  %9s  %6s\n", b->hand.ranks,
               "bytes", "hand", "transport", "plan", "call", "ratio");
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= 2, sizes++) {
        double median[SIDES];
        measure_size(b, bytes, rounds, median);
        for (int side = 0; side < SIDES; side++)
            ratio[side][sizes] = median[side] / median[HAND];
        if (b->hand.rank == 0)
            printf("%10zu  %9.2f  %9.2f  %9.2f  %9.2f  %6.3f\n", bytes, median[HAND], median[TRANSPORT], median[PLAN],
                   median[CALL], ratio[PLAN][sizes]);
    }
    double middle[SIDES];
    for (int side = 0; side < SIDES; side++)
        middle[side] = hand_median(ratio[side], sizes);
    if (b->hand.rank == 0)
        printf("median over the sizes, of the time by hand: transport %.3f, plan %.3f (aim: at most %s), call %.3f\n",
               middle[TRANSPORT], middle[PLAN],
#ifdef OPEN_MPI
               "1.05",
#else
               "1.08",
#endif
               middle[CALL]);
}

static void begin(bench_t *b)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &b->comm);
    MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN);
    for (int c = 0; c < 2; c++) {
        expect(trv_mpi_channel_create(&b->channel[c], b->comm, 0), "a channel");
        trv_mpi_channel_place(b->channel[c], c * TRV_MPI_POSITION_TAGS);
    }
    b->transport = trv_mpi_channel_transport(b->channel[0]);
    expect(b->transport->open(b->transport->context, 2 * RANKS_MAX, 2, &b->base), "open");
    b->input = malloc(BYTES_MAX);
    b->output = malloc(BYTES_MAX);
    for (size_t i = 0; i < BYTES_MAX / sizeof *b->input; i++)
        b->input[i] = (double)(i % 100);
}

static void end(bench_t *b)
{
    for (int c = 0; c < 2; c++)
        trv_mpi_channel_destroy(b->channel[c]);
    MPI_Comm_free(&b->comm);
    free(b->input);
    free(b->output);
    hand_end(&b->hand);
}

int main(int argc, char **argv)
{
    bench_t bench = {0};
    MPI_Init(&argc, &argv);
    int rounds = argc == 3 && strcmp(argv[1], "--rounds") == 0 ? atoi(argv[2]) : ROUNDS;
    if ((argc > 1 && argc != 3) || rounds < 1) {
        fprintf(stderr, "warm: usage: mpirun -n 2 warm [--rounds N], with N of 1 or more\n");
        MPI_Finalize();
        return 2;
    }
    if (!hand_begin(&bench.hand, MPI_COMM_WORLD, "warm"))
        return MPI_Finalize(), 2;
    begin(&bench);
    run(&bench, rounds);
    end(&bench);
    MPI_Finalize();
    return 0;
}
