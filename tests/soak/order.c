/*
 * Threads that create communicators while other threads are in the first collective of theirs. An ordinary MPI program
 * under MPI_THREAD_MULTIPLE; every communicator is used by one thread of each of its ranks.
 *
 *     mpirun -n 3 order [--rounds N] [--seed N]
 *
 * Three of the ranks, a, b and c, have three new communicators in every round, x = {a, b}, y = {b, c}, p = {a, b}:
 *
 *              thread 0         thread 1
 *         a    barrier(x)                       dup(p)
 *         b    barrier(x)       barrier(y), then dup(p)
 *         c                     barrier(y)
 *
 * The program itself has no circular wait. But Open MPI creates communicators one after another, in an order of its
 * own: if a library creates one inside the program's barriers, dup(p) waits for barrier(y), which waits for the
 * communicator of barrier(x), which waits for dup(p). The first rounds are this scenario with the delays that expose
 * it; in the other rounds the roles of the ranks, the collectives, the delays and the order in which x, y and p are
 * created are random.
 *
 * Exit code 1 with a message if a round does not end within PATIENCE seconds.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#define PATIENCE     30
#define PLAIN_ROUNDS 3 /* rounds of the scenario above */

enum { X, Y, P };

/* Drawn identically on all ranks. */
typedef struct round {
    int role[3];     /* ranks of a, b, c */
    int order[3];    /* in which x, y and p are created */
    int delay_us[4]; /* of the threads 0 of a and b, and 1 of a and b */
    int collective[2];
    int creation;
} round_t;

typedef struct errand {
    const round_t *round;
    MPI_Comm comm[3];
    int rank;
} errand_t;

static uint64_t draws;
static int rounds_done, world_rank;
static int wrong[2]; /* of thread 0 and of thread 1 */

static int below(int limit)
{
    draws += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = draws;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

static void on_alarm(int signal)
{
    (void)signal;
    char text[96];
    int length = snprintf(text, sizeof text, "rank %d: round %d does not end within %d s\n", world_rank, rounds_done,
                          PATIENCE);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(2);
    _exit(1);
}

static void wait_us(int us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L}, NULL);
}

/* ---- One round --------------------------------------------------------------------------------------------------- */

static void collective(int which, MPI_Comm comm, int *wrongs)
{
    int rank, ranks, sum = 0, each[2] = {-1, -1};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    switch (which) {
    case 0: MPI_Barrier(comm); break;
    case 1:
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        *wrongs += sum != 1;
        break;
    case 2:
        MPI_Allgather(&rank, 1, MPI_INT, each, 1, MPI_INT, comm);
        *wrongs += each[0] != 0 || each[1] != 1;
        break;
    default:
        each[0] = 3, each[1] = 5;
        MPI_Reduce_scatter_block(each, &sum, 1, MPI_INT, MPI_SUM, comm);
        *wrongs += sum != (rank == 0 ? 6 : 10);
    }
}

static void create(int which, MPI_Comm from, int *wrongs)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Request request;
    switch (which) {
    case 0: MPI_Comm_dup(from, &made); break;
    case 1: MPI_Comm_split(from, 0, 0, &made); break;
    case 2:
        MPI_Comm_idup(from, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Comm_group(from, &group);
        MPI_Comm_create_group(from, group, 1, &made);
        MPI_Group_free(&group);
    }
    collective(1, made, wrongs);
    MPI_Comm_free(&made);
}

static void *thread_0(void *context)
{
    const errand_t *errand = context;
    const round_t *round = errand->round;
    if (errand->comm[X] == MPI_COMM_NULL)
        return NULL;
    wait_us(round->delay_us[errand->rank == round->role[1]]);
    collective(round->collective[X], errand->comm[X], &wrong[0]);
    return NULL;
}

static void *thread_1(void *context)
{
    const errand_t *errand = context;
    const round_t *round = errand->round;
    wait_us(round->delay_us[2 + (errand->rank == round->role[1])]);
    if (errand->comm[Y] != MPI_COMM_NULL)
        collective(round->collective[Y], errand->comm[Y], &wrong[1]);
    if (errand->comm[P] != MPI_COMM_NULL)
        create(round->creation, errand->comm[P], &wrong[1]);
    return NULL;
}

static void run_round(const round_t *round)
{
    static const int first[] = {0, 1, 0}; /* x, y and p: the role of the first of their two ranks */
    errand_t errand = {.round = round, .rank = world_rank};
    pthread_t threads[2];
    MPI_Group world, pair;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 3; i++) {
        int which = round->order[i];
        MPI_Group_incl(world, 2, &round->role[first[which]], &pair);
        MPI_Comm_create(MPI_COMM_WORLD, pair, &errand.comm[which]);
        MPI_Group_free(&pair);
    }
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD); /* so that the delays begin at the same time */
    pthread_create(&threads[0], NULL, thread_0, &errand);
    pthread_create(&threads[1], NULL, thread_1, &errand);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    for (int i = 0; i < 3; i++)
        if (errand.comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&errand.comm[i]);
}

static void shuffle(int *items, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = below(i + 1), kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}

static round_t draw_round(int number)
{
    /* On a, dup(p) has started when barrier(x) starts; on b, barrier(x) has started when barrier(y) starts. */
    round_t round = {.role = {0, 1, 2}, .order = {P, X, Y}, .delay_us = {20000, 0, 0, 40000}};
    if (number < PLAIN_ROUNDS)
        return round;
    shuffle(round.role, 3);
    shuffle(round.order, 3);
    for (int i = 0; i < 4; i++)
        round.delay_us[i] = below(2) ? below(3000) : 0;
    round.collective[X] = below(4);
    round.collective[Y] = below(4);
    round.creation = below(4);
    return round;
}

int main(int argc, char **argv)
{
    int rounds = 100, provided, ranks, all = 0;
    long seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0)
            seed = atol(argv[i + 1]);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided < MPI_THREAD_MULTIPLE || ranks < 3) {
        fprintf(stderr, "order: expected 3 ranks and MPI_THREAD_MULTIPLE, not %d ranks and level %d\n", ranks,
                provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    signal(SIGALRM, on_alarm);
    draws = (uint64_t)seed;
    for (; rounds_done < rounds; rounds_done++) {
        round_t round = draw_round(rounds_done);
        alarm(PATIENCE);
        run_round(&round);
    }
    alarm(PATIENCE);
    int mine = wrong[0] + wrong[1];
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("order --rounds %d --seed %ld: %d rounds ended, %d results wrong\n", rounds, seed, rounds, all);
    MPI_Finalize();
    return all > 0 || rounds < 1;
}
