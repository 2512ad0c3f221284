/*
 * TRV_Bcast, TRV_Reduce, TRV_Gather, TRV_Scatter and TRV_Alltoall, compared with the MPI library's functions on a ring, a
 * torus and a mesh; invalid arguments; plans of schedules with a root; more roots than a communicator keeps.
 */
#include <stdio.h>
#include <string.h>

#include <trivance/trivance.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "../../exhaustive.h"

#define COLLECTIVE(Name) TRV_##Name
#define EXPECT           expect
#include "rooted_cases.h"

static void try_torus(const char *torus, const char *algorithm, int roots_max)
{
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    if (expect_class(TRV_Comm_set(comm, torus, algorithm), MPI_SUCCESS, NULL, torus))
        rooted_run_all(comm, roots_max);
    MPI_Comm_free(&comm);
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

void topic_rooted(void)
{
    char torus[32];
    const int roots_max = exhaustive() ? test_ranks : 2;
    if (test_ranks == 1) {
        rooted_run_all(test_comm, 1);
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
    plan_of_schedule(TRV_BROADCAST, "trivance-tree");
    plan_of_schedule(TRV_REDUCE, "trivance-tree");
    plan_of_schedule(TRV_GATHER, "trivance-tree");
    invalid_arguments();
}
