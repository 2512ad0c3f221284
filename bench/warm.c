/*
 * The parts of the time of a warm call: the same AllReduce, with the same messages, in four implementations.
 *
 *     hand       one look-up of an attribute of the communicator, then MPI_Irecv, MPI_Isend and MPI_Waitall
 *     transport  the library's channel (src/transport/mpi) instead of MPI functions
 *     plan       the executor on a channel
 *     call       TRV_Allreduce
 *
 *     mpirun -n 2 warm [--rounds N]     mpirun -n 3 warm
 *
 * Up to SWITCH_BYTES each rank sends its whole vector to all others and adds all vectors (trivance-l-grouped, one
 * step); above it, parts of 1/n (trivance-b, two steps). The four alternate in batches, so that they run under the same
 * conditions. The table has medians over the rounds of the slowest rank's time per call. `ratio` is call / hand. `hand`
 * includes the look-up because every interposed call needs it to find its data for a communicator.
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

#define ROUNDS     60
#define ROUNDS_MAX 1000000
#define SIZES_MAX  32

enum { HAND, TRANSPORT, PLAN, CALL, SIDES };

typedef struct warm {
    hand_t hand;
    MPI_Comm comm; /* of the channels; errors are returned, as in the library */
    trv_mpi_channel_t *channel[2];
    const trv_transport_t *transport; /* of the first channel; the plan uses the second one */
    int base, slots;                  /* slots: in use */
    trv_plan_t *plan;
    bool large;
    int keyval; /* of the attribute that `hand` looks up */
} warm_t;

static void warm_check(int code, const char *what)
{
    if (code >= 0)
        return;
    fprintf(stderr, "warm: %s: %s\n", what, trv_last_error());
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* ---- The channel by hand ----------------------------------------------------------------------------------------- */

static void channel_complete(void *context)
{
    warm_t *warm = context;
    const trv_transport_t *t = warm->transport;
    int first = 0;
    for (unsigned polls = 1; first < warm->slots; polls++) {
        int code = t->test(t->context, warm->base, first);
        warm_check(code, "test");
        first += code;
        if (code == 0)
            trv_mpi_pause(polls);
    }
    warm->slots = 0;
}

static void channel_receive(void *context, int peer, int tag, void *data, size_t bytes)
{
    warm_t *warm = context;
    const trv_transport_t *t = warm->transport;
    warm_check(t->receive(t->context, warm->base, warm->slots++, peer, tag, data, bytes), "receive");
}

static void channel_send(void *context, int peer, int tag, const void *data, size_t bytes)
{
    warm_t *warm = context;
    const trv_transport_t *t = warm->transport;
    warm_check(t->send(t->context, warm->base, warm->slots++, peer, tag, data, bytes), "send");
}

static void channel_run(warm_t *warm)
{
    const exchange_way_t way = {channel_receive, channel_send, channel_complete};
    const hand_t *hand = &warm->hand;
    exchange_run(&hand->exchange, way, warm, warm->large, hand->input, hand->output, hand->count);
}

/* ---- The four ---------------------------------------------------------------------------------------------------- */

static void run_plan(const warm_t *warm)
{
    int code = trv_plan_start(warm->plan, warm->hand.input, warm->hand.output);
    warm_check(code, "starting a plan");
    for (unsigned polls = 1; (code = trv_plan_test(warm->plan)) == 0; polls++)
        trv_mpi_pause(polls);
    warm_check(code, "running a plan");
}

static void warm_call(const hand_t *hand, void *context, int side)
{
    warm_t *warm = context;
    void *attribute;
    int found;
    if (side == HAND) {
        PMPI_Comm_get_attr(hand->comm, warm->keyval, (void *)&attribute, &found);
        hand_run(hand, warm->large);
    } else if (side == TRANSPORT) {
        channel_run(warm);
    } else if (side == PLAN) {
        run_plan(warm);
    } else {
        TRV_Allreduce(hand->input, hand->output, (int)hand->count, MPI_DOUBLE, MPI_SUM, hand->comm);
    }
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void measure_size(warm_t *warm, size_t bytes, int rounds, double median[SIDES])
{
    trv_torus_t ring;
    trv_schedule_t *schedule = NULL;
    trv_elements_t elements = {.type = TRV_DOUBLE, .op = TRV_SUM};
    warm->hand.count = bytes / sizeof(double);
    warm->large = bytes > SWITCH_BYTES;
    const char *algorithm = warm->large ? "trivance-b" : "trivance-l-grouped";
    warm_check(trv_torus_init(&ring, 1, &warm->hand.exchange.ranks), "the ring");
    warm_check(trv_schedule_create(&schedule, &ring, algorithm, TRV_ALLREDUCE), algorithm);
    warm_check(trv_plan_create(&warm->plan, schedule, warm->hand.exchange.rank, warm->hand.count, &elements,
                               trv_mpi_channel_transport(warm->channel[1]), NULL),
               "a plan");
    TRV_Comm_set(warm->hand.comm, NULL, algorithm);
    hand_sides(&warm->hand, warm_call, warm, SIDES, rounds, median);
    trv_plan_destroy(warm->plan);
    trv_schedule_destroy(schedule);
}

static void warm_sizes(warm_t *warm, int rounds)
{
    double ratio[SIDES][SIZES_MAX];
    int sizes = 0, small = 0; /* small: up to SWITCH_BYTES */
    if (warm->hand.exchange.rank == 0)
        printf("Warm calls on %d ranks, sum of double, us per call\n%10s  %9s  %9s  %9s  %9s  %6s\n",
               warm->hand.exchange.ranks, "bytes", "hand", "transport", "plan", "call", "ratio");
    for (size_t bytes = 8; bytes <= BYTES_MAX; small += bytes <= SWITCH_BYTES, bytes *= 2, sizes++) {
        double median[SIDES];
        measure_size(warm, bytes, rounds, median);
        for (int side = 0; side < SIDES; side++)
            ratio[side][sizes] = median[side] / median[HAND];
        if (warm->hand.exchange.rank == 0)
            printf("%10zu  %9.2f  %9.2f  %9.2f  %9.2f  %6.3f\n", bytes, median[HAND], median[TRANSPORT], median[PLAN],
                   median[CALL], ratio[CALL][sizes]);
    }
    double middle[SIDES];
    for (int side = 0; side < SIDES; side++)
        middle[side] = trv_median(ratio[side], small);
    if (warm->hand.exchange.rank == 0)
        printf("median up to 64 KiB, of the time by hand: transport %.3f, plan %.3f, call %.3f (aim: at most %s)\n",
               middle[TRANSPORT], middle[PLAN], middle[CALL],
#ifdef OPEN_MPI
               "1.05");
#else
               "1.10");
#endif
}

static void warm_begin(warm_t *warm)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &warm->comm);
    MPI_Comm_set_errhandler(warm->comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &warm->keyval, NULL);
    MPI_Comm_set_attr(warm->hand.comm, warm->keyval, warm);
    for (int c = 0; c < 2; c++) {
        warm_check(trv_mpi_channel_create(&warm->channel[c], warm->comm, 0), "a channel");
        trv_mpi_channel_set_tag(warm->channel[c], c * TRV_MPI_POSITION_TAGS);
    }
    warm->transport = trv_mpi_channel_transport(warm->channel[0]);
    warm_check(warm->transport->open(warm->transport->context, 2 * RANKS_MAX, 2, &warm->base), "open");
}

static void warm_end(warm_t *warm)
{
    for (int c = 0; c < 2; c++)
        trv_mpi_channel_destroy(warm->channel[c]);
    MPI_Comm_free(&warm->comm);
    MPI_Comm_delete_attr(warm->hand.comm, warm->keyval);
    MPI_Comm_free_keyval(&warm->keyval);
    hand_end(&warm->hand);
}

int main(int argc, char **argv)
{
    warm_t warm = {0};
    MPI_Init(&argc, &argv);
    int rounds = argc == 1                                       ? ROUNDS
                 : argc == 3 && strcmp(argv[1], "--rounds") == 0 ? measure_number(argv[2], ROUNDS_MAX)
                                                                 : 0;
    if (rounds == 0) {
        fprintf(stderr, "warm: usage: mpirun -n 2 warm [--rounds N], with N from 1 to %d\n", ROUNDS_MAX);
        MPI_Finalize();
        return 2;
    }
    if (!hand_begin(&warm.hand, MPI_COMM_WORLD, "warm"))
        return MPI_Finalize(), 2;
    warm_begin(&warm);
    warm_sizes(&warm, rounds);
    warm_end(&warm);
    MPI_Finalize();
    return 0;
}
