/*
 * An unmodified MPI program: collectives of all forms on all kinds of communicators, with a check of every result.
 * component.sh runs it with the component. Its argument selects a case, so that several launches use one program.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int rank, ranks, failed;

static void check(int holds, const char *what)
{
    if (holds)
        return;
    if (failed++ < 10)
        fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void fill(double *buffer, int count, int salt)
{
    for (int i = 0; i < count; i++)
        buffer[i] = (rank + 1) * (i % 100 + salt);
}

static int is_expected(const double *buffer, int count, int salt, int members)
{
    for (int i = 0; i < count; i++)
        if (buffer[i] != members * (members + 1) / 2 * (double)(i % 100 + salt))
            return 0;
    return 1;
}

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

enum { COUNT = 500, REQUESTS = 30 };
static double in[REQUESTS][COUNT], out[REQUESTS][COUNT];

static void blocking(void)
{
    int *all = malloc((size_t)ranks * sizeof *all), wrong = 0;
    fill(in[0], COUNT, 1);
    MPI_Allreduce(in[0], out[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(is_expected(out[0], COUNT, 1, ranks), "MPI_Allreduce");
    MPI_Allreduce(MPI_IN_PLACE, in[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(is_expected(in[0], COUNT, 1, ranks), "MPI_Allreduce in place");
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        wrong += all[r] != r;
    double *wide = malloc((size_t)ranks * COUNT * sizeof *wide);
    fill(wide, ranks * COUNT, 2);
    MPI_Reduce_scatter_block(wide, out[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        wrong += out[0][i] != ranks * (ranks + 1) / 2 * (double)((rank * COUNT + i) % 100 + 2);
    check(wrong == 0, "MPI_Allgather and MPI_Reduce_scatter_block");
    MPI_Barrier(MPI_COMM_WORLD);
    free(all);
    free(wide);
}

/* Collectives with a root, and all-to-all: blocking, and then non-blocking with another root. */
static void rooted(void)
{
    enum { BLOCK = 50 };
    const int last = ranks - 1;
    double *wide = malloc((size_t)ranks * BLOCK * sizeof *wide), *all = malloc((size_t)ranks * BLOCK * sizeof *all);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        const int root = nonblocking ? last : 0;
        MPI_Request request[5];
        double block[3][BLOCK], *message = out[2];
        int wrong = 0;
        fill(in[0], BLOCK, 1);
        fill(wide, ranks * BLOCK, 4);
        for (int i = 0; i < BLOCK; i++)
            message[i] = rank == root ? i + 5 : -1;
        if (nonblocking) {
            MPI_Ibcast(message, BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD, &request[0]);
            MPI_Ireduce(in[0], rank == root ? block[0] : NULL, BLOCK, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD,
                        &request[1]);
            MPI_Iscatter(wide, BLOCK, MPI_DOUBLE, block[1], BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD, &request[2]);
            MPI_Ialltoall(wide, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD, &request[3]);
            MPI_Igather(in[0], BLOCK, MPI_DOUBLE, rank == root ? out[3] : NULL, BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD,
                        &request[4]);
            MPI_Waitall(5, request, MPI_STATUSES_IGNORE);
        } else {
            MPI_Bcast(message, BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD);
            MPI_Reduce(in[0], rank == root ? block[0] : NULL, BLOCK, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            MPI_Scatter(wide, BLOCK, MPI_DOUBLE, block[1], BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD);
            MPI_Alltoall(wide, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
            MPI_Gather(in[0], BLOCK, MPI_DOUBLE, rank == root ? out[3] : NULL, BLOCK, MPI_DOUBLE, root, MPI_COMM_WORLD);
        }
        for (int i = 0; i < BLOCK; i++) {
            wrong += message[i] != i + 5;
            wrong += block[1][i] != (root + 1) * (double)((rank * BLOCK + i) % 100 + 4);
        }
        for (int i = 0; i < ranks * BLOCK; i++) {
            wrong += all[i] != (i / BLOCK + 1) * (double)((rank * BLOCK + i % BLOCK) % 100 + 4);
            wrong += rank == root && out[3][i] != (i / BLOCK + 1) * (double)(i % BLOCK + 1);
        }
        check(wrong == 0 && (rank != root || is_expected(block[0], BLOCK, 1, ranks)),
              nonblocking ? "MPI_Ibcast and others" : "MPI_Bcast and others");
    }
    MPI_Scan(in[0], out[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(wide);
    free(all);
}

/* Persistent forms of collectives with a root, all-to-all and Barrier, started twice, and a non-blocking Barrier. A new
 * communicator has positions for all of them. */
static void persistent_rooted(void)
{
    enum { BLOCK = 50, KEPT = 6 };
    const int root = ranks - 1;
    double *wide = malloc((size_t)ranks * BLOCK * sizeof *wide), *all = malloc((size_t)ranks * BLOCK * sizeof *all);
    double block[2][BLOCK], *message = out[2];
    MPI_Comm comm;
    MPI_Request request[KEPT], barrier;
    int wrong = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill(in[0], BLOCK, 1); /* blocking calls first, which make the decisions */
    fill(wide, ranks * BLOCK, 4);
    MPI_Bcast(message, BLOCK, MPI_DOUBLE, root, comm);
    MPI_Reduce(in[0], block[0], BLOCK, MPI_DOUBLE, MPI_SUM, root, comm);
    MPI_Scatter(wide, BLOCK, MPI_DOUBLE, block[1], BLOCK, MPI_DOUBLE, root, comm);
    MPI_Alltoall(wide, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, comm);
    MPI_Gather(in[0], BLOCK, MPI_DOUBLE, out[3], BLOCK, MPI_DOUBLE, root, comm);
    MPI_Barrier(comm);
    MPIX_Bcast_init(message, BLOCK, MPI_DOUBLE, root, comm, MPI_INFO_NULL, &request[0]);
    MPIX_Reduce_init(in[0], block[0], BLOCK, MPI_DOUBLE, MPI_SUM, root, comm, MPI_INFO_NULL, &request[1]);
    MPIX_Scatter_init(wide, BLOCK, MPI_DOUBLE, block[1], BLOCK, MPI_DOUBLE, root, comm, MPI_INFO_NULL, &request[2]);
    MPIX_Alltoall_init(wide, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, comm, MPI_INFO_NULL, &request[3]);
    MPIX_Gather_init(in[0], BLOCK, MPI_DOUBLE, out[3], BLOCK, MPI_DOUBLE, root, comm, MPI_INFO_NULL, &request[4]);
    MPIX_Barrier_init(comm, MPI_INFO_NULL, &request[5]);
    for (int round = 0; round < 2; round++) {
        fill(in[0], BLOCK, 1 + round);
        fill(wide, ranks * BLOCK, 4 + round);
        for (int i = 0; i < BLOCK; i++)
            message[i] = rank == root ? i + round : -1;
        MPI_Startall(KEPT, request);
        MPI_Ibarrier(comm, &barrier);
        MPI_Waitall(KEPT, request, MPI_STATUSES_IGNORE);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        for (int i = 0; i < BLOCK; i++) {
            wrong += message[i] != i + round;
            wrong += block[1][i] != (root + 1) * (double)((rank * BLOCK + i) % 100 + 4 + round);
        }
        for (int i = 0; i < ranks * BLOCK; i++) {
            wrong += all[i] != (i / BLOCK + 1) * (double)((rank * BLOCK + i % BLOCK) % 100 + 4 + round);
            wrong += rank == root && out[3][i] != (i / BLOCK + 1) * (double)(i % BLOCK + 1 + round);
        }
        check(wrong == 0 && (rank != root || is_expected(block[0], BLOCK, 1 + round, ranks)),
              "MPIX_Bcast_init and others");
    }
    for (int r = 0; r < KEPT; r++)
        MPI_Request_free(&request[r]);
    MPI_Comm_free(&comm);
    free(wide);
    free(all);
}

static void outstanding(void)
{
    MPI_Request request[REQUESTS];
    for (int r = 0; r < REQUESTS; r++) {
        fill(in[r], COUNT, r);
        MPI_Iallreduce(in[r], out[r], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request[r]);
        if (r == REQUESTS / 2)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank % 2)
        MPI_Wait(&request[REQUESTS - 1], MPI_STATUS_IGNORE);
    MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE);
    for (int r = 0; r < REQUESTS; r++)
        check(is_expected(out[r], COUNT, r, ranks), "one of many MPI_Iallreduce");
}

/* Rank 0 is inside MPI_Recv, for a message that another rank sends after its collective is complete. */
static void progress_in_mpi(void)
{
    MPI_Request request;
    int word = 0;
    fill(in[0], COUNT, 5);
    MPI_Iallreduce(in[0], out[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0)
        for (int r = 1; r < ranks; r++)
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(&word, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    check(is_expected(out[0], COUNT, 5, ranks), "MPI_Iallreduce while another rank receives");
}

static void completed_by_test(void)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0;
    fill(in[0], COUNT, 6);
    MPI_Iallreduce(in[0], out[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, &status);
    check(request == MPI_REQUEST_NULL, "a complete request is left");
    check(is_expected(out[0], COUNT, 6, ranks), "MPI_Iallreduce by MPI_Test alone");
}

static void add(void *from, void *to, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((double *)to)[i] += ((double *)from)[i];
}

/* A program may free an operation as soon as a call has begun. (Open MPI 4.1 does not retain it for persistent
 * requests.) */
static void user_operation(void)
{
    MPI_Request request[2];
    MPI_Op op, persistent_op;
    MPI_Op_create(add, 1, &op);
    MPI_Op_create(add, 1, &persistent_op);
    fill(in[0], COUNT, 7);
    MPI_Allreduce(in[0], out[0], COUNT, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Iallreduce(in[0], out[1], COUNT, MPI_DOUBLE, op, MPI_COMM_WORLD, &request[0]);
    MPIX_Allreduce_init(in[0], out[2], COUNT, MPI_DOUBLE, persistent_op, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    MPI_Start(&request[1]);
    MPI_Op_free(&op);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Start(&request[1]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[1]);
    MPI_Op_free(&persistent_op);
    for (int i = 0; i < 3; i++)
        check(is_expected(out[i], COUNT, 7, ranks), "a user-defined operation");
}

/* With an operation that does not commute, Open MPI executes this call as an MPI_Reduce and an MPI_Scatter of its
 * own. */
static void ordered_operation(void)
{
    enum { BLOCK = 3 };
    MPI_Op op;
    double *wide = malloc((size_t)ranks * BLOCK * sizeof *wide);
    int wrong = 0;
    MPI_Op_create(add, 0, &op);
    fill(wide, ranks * BLOCK, 8);
    MPI_Reduce_scatter_block(wide, out[0], BLOCK, MPI_DOUBLE, op, MPI_COMM_WORLD);
    for (int i = 0; i < BLOCK; i++)
        wrong += out[0][i] != ranks * (ranks + 1) / 2 * (double)((rank * BLOCK + i) % 100 + 8);
    check(wrong == 0, "MPI_Reduce_scatter_block with an operation that does not commute");
    MPI_Op_free(&op);
    free(wide);
}

static void persistent(void)
{
    enum { KEPT = 5 };
    MPI_Request request[KEPT];
    for (int r = 0; r < KEPT; r++)
        MPIX_Allreduce_init(in[r], out[r], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[r]);
    for (int round = 0; round < 4; round++) {
        for (int r = 0; r < KEPT; r++)
            fill(in[r], COUNT, r + round);
        MPI_Startall(KEPT, request);
        MPI_Waitall(KEPT, request, MPI_STATUSES_IGNORE);
        for (int r = 0; r < KEPT; r++)
            check(is_expected(out[r], COUNT, r + round, ranks), "MPIX_Allreduce_init");
    }
    for (int r = 0; r < KEPT; r++)
        MPI_Request_free(&request[(r + rank) % KEPT]);
}

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static void call_on(MPI_Comm comm, const char *what)
{
    int members, one = 1, sum = 0;
    MPI_Request request;
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == members, what);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == members, what);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, comm, &request); /* as Open MPI itself does */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == 1, what);
}

static void communicators(void)
{
    int size[] = {ranks}, periodic[] = {1}, *memory;
    MPI_Comm comm, cart, duplicate;
    MPI_Request request;
    MPI_Win window;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    call_on(comm, "a split communicator");
    MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &cart);
    call_on(cart, "a Cartesian communicator");
    MPI_Comm_idup(cart, &duplicate, &request);
    for (int i = 0; i < 5; i++)
        call_on(cart, "a communicator that is being copied");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    call_on(duplicate, "a copied communicator");
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, duplicate, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&duplicate);
    MPI_Comm_free(&cart);
    call_on(MPI_COMM_SELF, "MPI_COMM_SELF");
}

/* Open MPI's own MPI_Iallreduce of the same arguments, on the same communicator, between the program's. The test counts
 * the program's. */
static void internal(void)
{
    int one = 1, max = 0;
    MPI_Comm comm, duplicate, pending;
    MPI_Request request[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(&one, &max, 1, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < 20; i++) {
        MPI_Comm_idup(comm, &pending, &request[0]);
        one = i;
        MPI_Iallreduce(&one, &max, 1, MPI_INT, MPI_MAX, comm, &request[1]);
        MPI_Wait(&request[(i + rank) % 2], MPI_STATUS_IGNORE);
        MPI_Wait(&request[(i + rank + 1) % 2], MPI_STATUS_IGNORE);
        check(max == i, "MPI_Iallreduce during MPI_Comm_idup");
        MPI_Comm_dup(comm, &duplicate);
        MPI_Comm_free(&duplicate);
        MPI_Comm_free(&pending);
    }
    MPI_Comm_free(&comm);
}

static long kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Creates and frees many communicators, one after another. */
static void thousands(void)
{
    enum { FIRST = 300, ALL = 1200 };
    long before = 0;
    for (int i = 0; i < ALL; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        call_on(comm, "one of thousands");
        MPI_Comm_free(&comm);
        if (i == FIRST)
            before = kilobytes();
    }
    if (!getenv("NO_MEMORY_CHECK")) /* sanitizers keep freed memory, and find leaks themselves */
        check(kilobytes() - before < 8192, "memory of freed communicators is not released");
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *work(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    for (int i = 0; i < 200; i++) {
        double mine[40], sum[40], again[40];
        MPI_Request request;
        fill(mine, 40, i);
        MPI_Allreduce(mine, sum, 40, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Iallreduce(mine, again, 40, MPI_DOUBLE, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(is_expected(sum, 40, i, ranks) && is_expected(again, 40, i, ranks), "a thread's result");
    }
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, &comm[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        MPI_Comm_free(&comm[t]);
    }
}

/* ---- Late ranks -------------------------------------------------------------------------------------------------- */

/* The other ranks wait for rank 1, in a request and in the first call with a new operation signature. */
static void late(void)
{
    const struct timespec time = {.tv_sec = 1, .tv_nsec = 200000000};
    int in[3] = {1, 1, 1}, out[3];
    blocking();
    if (rank == 1)
        nanosleep(&time, NULL);
    outstanding();
    if (rank == 1)
        nanosleep(&time, NULL);
    MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(out[2] == ranks, "a new operation signature");
}

/* ---- Tools' view ------------------------------------------------------------------------------------------------- */

/* A blocking call and others of the same kind; and one that the component does not execute. */
static void requested(void)
{
    const int counts[] = {COUNT / 2, COUNT / 2};
    fill(in[0], COUNT, 1);
    MPI_Allreduce(in[0], out[0], COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    completed_by_test();
    MPI_Reduce_scatter(in[0], out[0], counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(out[0][0] == 3.0 * (rank * COUNT / 2 % 100 + 6), "MPI_Reduce_scatter on two ranks");
}

static void control_variable(void)
{
    int provided, index, count;
    char value[256] = "";
    MPI_T_cvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index("coll_trivance_torus", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, value);
        MPI_T_cvar_handle_free(&handle);
    }
    check(atoi(value) == ranks, "MPI_T does not show coll_trivance_torus");
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int provided, all;
    MPI_Init_thread(&argc, &argv, strcmp(name, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(name, "threads") == 0) {
        threads();
    } else if (strcmp(name, "thousands") == 0) {
        thousands();
    } else if (strcmp(name, "late") == 0) {
        late();
    } else if (strcmp(name, "requested") == 0) {
        requested();
    } else if (strcmp(name, "internal") == 0) {
        internal();
    } else {
        outstanding(); /* the first calls on the communicator */
        blocking();
        rooted();
        persistent_rooted();
        outstanding();
        progress_in_mpi();
        completed_by_test();
        user_operation();
        ordered_operation();
        persistent();
        communicators();
        control_variable();
    }
    MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d failed\n", name, all);
    MPI_Finalize();
    return failed > 0;
}
