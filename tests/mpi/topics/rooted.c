/*
 * TRV_Bcast, TRV_Reduce, TRV_Gather, TRV_Scatter and TRV_Alltoall in their blocking, non-blocking and persistent forms,
 * compared with the MPI library's functions on a ring, a torus and a mesh; invalid arguments; plans of these
 * collectives, and of schedules with a root.
 */
#include <stdio.h>
#include <string.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "../../exhaustive.h"

/* The form of the calls under test, as functions with the arguments of the blocking form. */
static enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form;

static int wait_for(int code, TRV_Request *request)
{
    if (code == MPI_SUCCESS && form == PERSISTENT)
        code = TRV_Start(request);
    if (code == MPI_SUCCESS)
        code = TRV_Wait(request);
    if (code == MPI_SUCCESS && form == PERSISTENT)
        code = TRV_Request_free(request);
    return code;
}

#define IN_FORM(Name, name, PARAMETERS, ...)                                                                           \
    static int call_##Name PARAMETERS                                                                                  \
    {                                                                                                                  \
        TRV_Request request = TRV_REQUEST_NULL;                                                                        \
        if (form == BLOCKING)                                                                                          \
            return TRV_##Name(__VA_ARGS__);                                                                            \
        return wait_for(form == NONBLOCKING ? TRV_I##name(__VA_ARGS__, &request)                                       \
                                            : TRV_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request),                 \
                        &request);                                                                                     \
    }
IN_FORM(Bcast, bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer, count, type, root,
        comm)
IN_FORM(Reduce, reduce,
        (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), send,
        receive, count, type, op, root, comm)
#define IN_FORM_GATHER(Name, name)                                                                                     \
    IN_FORM(Name, name,                                                                                                \
            (const void *send, int sent, MPI_Datatype sendtype, void *receive, int received, MPI_Datatype type,        \
             int root, MPI_Comm comm),                                                                                 \
            send, sent, sendtype, receive, received, type, root, comm)
IN_FORM_GATHER(Gather, gather)
IN_FORM_GATHER(Scatter, scatter)
#define IN_FORM_ALL(Name, name)                                                                                        \
    IN_FORM(Name, name,                                                                                                \
            (const void *send, int sent, MPI_Datatype sendtype, void *receive, int received, MPI_Datatype type,        \
             MPI_Comm comm),                                                                                           \
            send, sent, sendtype, receive, received, type, comm)
IN_FORM_ALL(Alltoall, alltoall)
IN_FORM_ALL(Allgather, allgather)
IN_FORM(Reduce_scatter_block, reduce_scatter_block,
        (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), send, receive, count,
        type, op, comm)
IN_FORM(Barrier, barrier, (MPI_Comm comm), comm)

/* The other forms have large counts. */
enum { BLOCKS_MAX = 64 };
static MPI_Count *large_counts(const int *counts)
{
    static MPI_Count large[BLOCKS_MAX];
    for (int r = 0; r < test_ranks && r < BLOCKS_MAX; r++)
        large[r] = counts[r];
    return large;
}

static MPI_Aint *large_displacements(const int *displs)
{
    static MPI_Aint large[BLOCKS_MAX];
    for (int r = 0; r < test_ranks && r < BLOCKS_MAX; r++)
        large[r] = displs[r];
    return large;
}

static int call_Allgatherv(const void *send, int sent, MPI_Datatype sendtype, void *receive, const int counts[],
                           const int displs[], MPI_Datatype type, MPI_Comm comm)
{
    TRV_Request request = TRV_REQUEST_NULL;
    if (form == BLOCKING)
        return TRV_Allgatherv(send, sent, sendtype, receive, counts, displs, type, comm);
    const MPI_Count *large = large_counts(counts);
    const MPI_Aint *places = large_displacements(displs);
    return wait_for(form == NONBLOCKING
                        ? TRV_Iallgatherv(send, sent, sendtype, receive, large, places, type, comm, &request)
                        : TRV_Allgatherv_init(send, sent, sendtype, receive, large, places, type, comm, MPI_INFO_NULL,
                                              &request),
                    &request);
}

static int call_Reduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm)
{
    TRV_Request request = TRV_REQUEST_NULL;
    if (form == BLOCKING)
        return TRV_Reduce_scatter(send, receive, counts, type, op, comm);
    const MPI_Count *large = large_counts(counts);
    return wait_for(form == NONBLOCKING
                        ? TRV_Ireduce_scatter(send, receive, large, type, op, comm, &request)
                        : TRV_Reduce_scatter_init(send, receive, large, type, op, comm, MPI_INFO_NULL, &request),
                    &request);
}

#define COLLECTIVE(Name) call_##Name

#define EXPECT expect
#include "rooted_cases.h"

static void try_torus(const char *torus, const char *algorithm, int roots_max)
{
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    if (expect_class(TRV_Comm_set(comm, torus, algorithm), MPI_SUCCESS, NULL, torus))
        rooted_run_all(comm, roots_max); /* makes the decisions for the other forms */
    for (form = NONBLOCKING; form < FORMS; form++) {
        rooted_run(comm, test_ranks - 1, 3, true);
        expect_class(call_Barrier(comm), MPI_SUCCESS, NULL, "a barrier");
    }
    form = BLOCKING;
    MPI_Comm_free(&comm);
}

/* No rank leaves a barrier before all ranks have begun it: rank 0 is the last, and counts what has ended before. */
static void barriers(void)
{
    TRV_Request request[3];
    int ended[3], before = 0;
    expect_class(TRV_Barrier(test_comm), MPI_SUCCESS, NULL, "TRV_Barrier");
    for (int i = 0; i < 3; i++) {
        if (test_rank == 0) {
            MPI_Status status;
            for (int r = 1; r < test_ranks; r++)
                MPI_Recv(&ended[0], 1, MPI_INT, MPI_ANY_SOURCE, i, test_comm, &status), before += ended[0];
        }
        expect_class(i == 2 ? TRV_Barrier_init(test_comm, MPI_INFO_NULL, &request[i])
                            : TRV_Ibarrier(test_comm, &request[i]),
                     MPI_SUCCESS, NULL, "a barrier");
        if (i == 2)
            expect_class(TRV_Start(&request[i]), MPI_SUCCESS, NULL, "a persistent barrier");
        ended[i] = 0;
        if (test_rank > 0) {
            expect_class(TRV_Test(&request[i], &ended[i]), MPI_SUCCESS, NULL, "a barrier");
            MPI_Send(&ended[i], 1, MPI_INT, 0, i, test_comm);
        }
    }
    for (int i = 2; i >= 0; i--)
        expect_class(TRV_Wait(&request[i]), MPI_SUCCESS, NULL, "a barrier");
    expect_class(TRV_Request_free(&request[2]), MPI_SUCCESS, NULL, "a persistent barrier");
    expect(before == 0, "%d ranks left a barrier that rank 0 had not begun", before);
}

static void invalid_arguments(void)
{
    int value = 7, all[64] = {0};
    const int roots[] = {-1, test_ranks, -1000000};
    for (size_t i = 0; i < 3; i++) {
        expect_class(TRV_Bcast(&value, 1, MPI_INT, roots[i], test_comm), MPI_ERR_ROOT, "the root is", "a wrong root");
        expect_class(TRV_Reduce(&value, all, 1, MPI_INT, MPI_SUM, roots[i], test_comm), MPI_ERR_ROOT, "the root is",
                     "a wrong root");
        expect_class(TRV_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, roots[i], test_comm), MPI_ERR_ROOT, "the root is",
                     "a wrong root");
        expect_class(TRV_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, roots[i], test_comm), MPI_ERR_ROOT, "the root is",
                     "a wrong root");
    }
    expect_class(TRV_Bcast(&value, -1, MPI_INT, 0, test_comm), MPI_ERR_COUNT, "the count is -1", "a wrong count");
    expect_class(TRV_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, test_comm), MPI_ERR_TYPE, "MPI_DATATYPE_NULL",
                 "a wrong type");
    expect_class(TRV_Bcast(NULL, 1, MPI_INT, 0, test_comm), MPI_ERR_BUFFER, "NULL", "a broadcast without a buffer");
    expect_class(TRV_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, test_comm), MPI_ERR_BUFFER, "MPI_IN_PLACE",
                 "a broadcast in place");
    expect_class(TRV_Reduce(NULL, NULL, 1, MPI_INT, MPI_SUM, 0, test_comm), MPI_ERR_BUFFER, "NULL",
                 "a reduce without buffers");
    expect_class(TRV_Alltoall(all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, test_comm), MPI_ERR_BUFFER, "MPI_IN_PLACE",
                 "an all-to-all into MPI_IN_PLACE");
    expect_class(TRV_Alltoall(all, 2, MPI_INT, all + 32, 1, MPI_INT, test_comm), MPI_ERR_COUNT, "8 bytes",
                 "an all-to-all with two sizes");
    expect_class(TRV_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM, "MPI_COMM_NULL", "no communicator");
}

/* A plan of a schedule that the program has created, with the last rank as the root. */
static void plan_of_schedule(trv_collective_t collective, const char *algorithm)
{
    trv_schedule_t *schedule;
    trv_network_t network = {TRV_NETWORK};
    TRV_Plan plan = TRV_PLAN_NULL;
    enum { COUNT = 5 };
    int send[64 * COUNT], receive[64 * COUNT], wrong = 0;
    const int root = test_ranks - 1, blocks = collective == TRV_GATHER ? test_ranks : 1;
    trv_torus_init(&network.torus, 1, &test_ranks);
    if (!expect(trv_schedule_create_on(&schedule, &network, algorithm, collective, root) == TRV_OK, "%s: %s", algorithm,
                trv_last_error()))
        return;
    expect_class(TRV_Plan_create(schedule, COUNT, MPI_INT, MPI_SUM, test_comm, &plan), MPI_SUCCESS, NULL, algorithm);
    test_fill(send, COUNT, 3);
    for (int run = 0; run < 2; run++) {
        memset(receive, 0, sizeof receive);
        const bool is_root = test_rank == root, sends = collective != TRV_BROADCAST || is_root;
        const bool receives = collective == TRV_BROADCAST || is_root;
        expect_class(TRV_Plan_run(plan, sends ? send : NULL, receives ? receive : NULL), MPI_SUCCESS, NULL, algorithm);
        for (int i = 0; receives && i < blocks * COUNT; i++) {
            const int factor = collective == TRV_BROADCAST ? root + 1
                               : collective == TRV_GATHER  ? i / COUNT + 1
                                                           : test_ranks * (test_ranks + 1) / 2;
            wrong += receive[i] != factor * (i % COUNT + 3);
        }
    }
    expect(wrong == 0, "the plan of %s: %d wrong", algorithm, wrong);
    TRV_Plan_free(&plan);
    trv_schedule_destroy(schedule);
}

/* The plans of one collective, out of place and in place. `send` has the input of this rank in `sent` elements, and the
 * rank receives `received` elements. */
static void run_plan(TRV_Plan plan, const int *send, int sent, int received, const int *expected, const char *what)
{
    enum { MOST = 64 * 5 };
    int out[MOST], wrong = 0;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    expect_class(TRV_Plan_query(plan, &info), MPI_SUCCESS, NULL, what);
    expect(test_ranks == 1 || strcmp(info.algorithm, "mpi") != 0, "%s: the plan uses the MPI library", what);
    for (int run = 0; run < 2; run++) {
        memset(out, 0, sizeof out);
        expect_class(TRV_Plan_run(plan, sent ? send : NULL, received ? out : NULL), MPI_SUCCESS, NULL, what);
        for (int i = 0; i < received; i++)
            wrong += out[i] != expected[i];
    }
    expect(wrong == 0, "%s: %d elements are wrong", what, wrong);
    expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, what);
}

static void plans_of_collectives(void)
{
    enum { COUNT = 5, MOST = 64 * COUNT };
    int send[MOST], expected[MOST];
    const int all = test_ranks * COUNT;
    MPI_Comm comm;
    TRV_Plan plan;
    MPI_Comm_dup(test_comm, &comm);
    for (int root = 0; root < test_ranks && root < 3; root++) {
        const bool is_root = test_rank == root;
        for (int i = 0; i < all; i++)
            send[i] = 1000 * test_rank + i;
        for (int i = 0; i < COUNT; i++)
            expected[i] = 1000 * root + i;
        expect_class(TRV_Bcast_plan_create(COUNT, MPI_INT, root, comm, &plan), MPI_SUCCESS, NULL, "a broadcast");
        run_plan(plan, send, is_root ? COUNT : 0, COUNT, expected, "the plan of a broadcast");
        for (int i = 0; i < COUNT; i++)
            expected[i] = 1000 * test_ranks * (test_ranks - 1) / 2 + test_ranks * i;
        expect_class(TRV_Reduce_plan_create(COUNT, MPI_INT, MPI_SUM, root, comm, &plan), MPI_SUCCESS, NULL, "a reduce");
        run_plan(plan, send, COUNT, is_root ? COUNT : 0, expected, "the plan of a reduce");
        for (int i = 0; i < all; i++)
            expected[i] = 1000 * (i / COUNT) + i % COUNT;
        expect_class(TRV_Gather_plan_create(COUNT, MPI_INT, root, comm, &plan), MPI_SUCCESS, NULL, "a gather");
        run_plan(plan, send, COUNT, is_root ? all : 0, expected, "the plan of a gather");
        for (int i = 0; i < COUNT; i++)
            expected[i] = 1000 * root + test_rank * COUNT + i;
        expect_class(TRV_Scatter_plan_create(COUNT, MPI_INT, root, comm, &plan), MPI_SUCCESS, NULL, "a scatter");
        run_plan(plan, send, is_root ? all : 0, COUNT, expected, "the plan of a scatter");
        for (int i = 0; i < all; i++)
            expected[i] = 1000 * (i / COUNT) + test_rank * COUNT + i % COUNT;
        expect_class(TRV_Alltoall_plan_create(COUNT, MPI_INT, comm, &plan), MPI_SUCCESS, NULL, "an all-to-all");
        run_plan(plan, send, all, all, expected, "the plan of an all-to-all");
    }
    expect_class(TRV_Bcast_plan_create(COUNT, MPI_INT, test_ranks, comm, &plan), MPI_ERR_ROOT, "the root is",
                 "a plan with a wrong root");
    MPI_Comm_free(&comm);
}

/* All-to-alls whose vectors exceed TRIVANCE_MEMORY on the leader of a node are left to the MPI library; shorter ones
 * are not. */
static void node_memory(void)
{
    static const int count[] = {5, 100000};
    for (int i = 0; i < 2; i++) {
        TRV_Plan plan;
        TRV_Plan_info info = {TRV_PLAN_INFO};
        expect_class(TRV_Alltoall_plan_create(count[i], MPI_INT, test_comm, &plan), MPI_SUCCESS, NULL, "an all-to-all");
        expect_class(TRV_Plan_query(plan, &info), MPI_SUCCESS, NULL, "an all-to-all");
        expect((strcmp(info.algorithm, "mpi") == 0) == (i == 1), "an all-to-all of %d elements is executed by %s",
               count[i], info.algorithm);
        expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, "an all-to-all");
    }
}

/* A plan with a new root, for which one rank has no memory: no rank gets it, and later plans are correct. */
static void plan_without_memory(void)
{
    const int last = test_ranks - 1;
    int value, received;
    MPI_Comm comm;
    TRV_Plan plan;
    MPI_Comm_dup(test_comm, &comm);
    for (int root = 0; root < 2; root++) {
        test_calloc_fails = root == 1 && test_rank == last;
        const int code = TRV_Bcast_plan_create(1, MPI_INT, root, comm, &plan);
        test_calloc_fails = false;
        expect_class(code, root == 1 ? MPI_ERR_NO_MEM : MPI_SUCCESS, NULL, "a plan that one rank has no memory for");
        if (root == 0)
            expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, "a plan");
    }
    expect_class(TRV_Bcast_plan_create(1, MPI_INT, 1, comm, &plan), MPI_SUCCESS, NULL, "a later plan");
    value = received = test_rank;
    expect_class(TRV_Plan_run(plan, &value, &received), MPI_SUCCESS, NULL, "a later plan");
    expect(received == 1, "a later plan: %d", received);
    expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, "a later plan");
    MPI_Comm_free(&comm);
}

/* Rank 0 and all other ranks as the groups of an intercommunicator: the counts of an Allgatherv are those of the other
 * group, the counts of a Reduce_scatter those of the own group. */
static void unequal_groups(void)
{
    MPI_Comm group, inter;
    int local, remote, counts[BLOCKS_MAX] = {0}, displs[BLOCKS_MAX] = {0}, result[BLOCKS_MAX], send[BLOCKS_MAX];
    MPI_Comm_split(test_comm, test_rank > 0, test_rank, &group);
    MPI_Intercomm_create(group, 0, test_comm, test_rank > 0 ? 0 : 1, 5, &inter);
    MPI_Comm_size(group, &local);
    MPI_Comm_remote_size(inter, &remote);
    const int first = test_rank > 0 ? 0 : 1, all = test_ranks - 1; /* of the other group; elements of a reduction */
    for (form = BLOCKING; form < PERSISTENT; form++) {
        int wrong = 0, sum = 0;
        for (int r = 0; r < remote; r++) {
            counts[r] = 1;
            displs[r] = remote - 1 - r;
            sum += first + r;
        }
        expect_class(call_Allgatherv(&test_rank, 1, MPI_INT, result, counts, displs, MPI_INT, inter), MPI_SUCCESS, NULL,
                     "an allgatherv between groups");
        for (int r = 0; r < remote; r++)
            wrong += result[displs[r]] != first + r;
        for (int r = 0; r < local; r++)
            counts[r] = all / local;
        for (int i = 0; i < all; i++)
            send[i] = test_rank;
        expect_class(call_Reduce_scatter(send, result, counts, MPI_INT, MPI_SUM, inter), MPI_SUCCESS, NULL,
                     "a reduce-scatter between groups");
        for (int i = 0; i < all / local; i++)
            wrong += result[i] != sum;
        expect(wrong == 0, "%d wrong elements between groups of different sizes", wrong);
    }
    form = BLOCKING;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
}

/* An intercommunicator, on which all forms use the MPI library. */
static void intercommunicator(void)
{
    MPI_Comm half, inter;
    int value = test_rank;
    MPI_Comm_split(test_comm, test_rank % 2, test_rank, &half);
    MPI_Intercomm_create(half, 0, test_comm, test_rank % 2 ? 0 : 1, 5, &inter);
    for (form = BLOCKING; form < PERSISTENT; form++) {
        value = test_rank;
        const int root = test_rank % 2 ? 0 : test_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        expect_class(call_Bcast(&value, 1, MPI_INT, root, inter), MPI_SUCCESS, NULL, "between groups");
        expect(value == (test_rank % 2 ? 0 : test_rank), "a broadcast to the other group: %d", value);
    }
    form = BLOCKING;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    unequal_groups();
}

void rooted_before_init(void) { avoid_defects_of_mpich(); }

void topic_rooted(void)
{
    char torus[32];
    const int roots_max = exhaustive() ? test_ranks : 2;
    if (test_ranks == 1) {
        rooted_run_all(test_comm, 1);
        return;
    }
    if (getenv("TRIVANCE_TOPOLOGY_FILE")) { /* several ranks share a node */
        try_torus(NULL, NULL, test_ranks);
        plans_of_collectives();
        barriers();
        if (getenv("TRIVANCE_MEMORY"))
            node_memory();
        return;
    }
    snprintf(torus, sizeof torus, "%d", test_ranks);
    try_torus(torus, NULL, roots_max + 1);
    snprintf(torus, sizeof torus, "%dm", test_ranks);
    try_torus(torus, NULL, roots_max);
    for (int side = 2; side < test_ranks; side++)
        if (test_ranks % side == 0) {
            snprintf(torus, sizeof torus, "%dx%d", side, test_ranks / side);
            try_torus(torus, NULL, roots_max);
            break;
        }
    barriers();
    intercommunicator();
    plans_of_collectives();
    plan_without_memory();
    plan_of_schedule(TRV_BROADCAST, "trivance-tree");
    plan_of_schedule(TRV_REDUCE, "trivance-tree");
    plan_of_schedule(TRV_GATHER, "trivance-tree");
    invalid_arguments();
}
