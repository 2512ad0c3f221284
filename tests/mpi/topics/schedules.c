/*
 * Plans of schedules that the program passes: named schedules, explicit copies, and calls that are errors.
 */
#include <stdlib.h>

#include <trivance/algorithms.h>
#include <trivance/torus.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"

enum { COUNT = 1000 };

/* Runs an AllReduce, Reduce-Scatter or AllGather of integers by the schedule and checks every element. */
static void run(const trv_schedule_t *schedule, const char *what)
{
    trv_collective_t collective = trv_schedule_collective(schedule);
    int in_count = collective == TRV_REDUCE_SCATTER ? COUNT * test_ranks : COUNT;
    int out_count = collective == TRV_ALLGATHER ? COUNT * test_ranks : COUNT;
    int *in = malloc((size_t)in_count * sizeof *in), *out = malloc((size_t)out_count * sizeof *out), wrong = 0;
    int sum = test_ranks * (test_ranks + 1) / 2;
    TRV_Plan plan;
    for (int i = 0; i < in_count; i++)
        in[i] = (test_rank + 1) * (i + 1);
    expect_class(TRV_Plan_create(schedule, COUNT, MPI_INT, MPI_SUM, test_comm, &plan), MPI_SUCCESS, NULL, what);
    expect_class(TRV_Plan_run(plan, in, out), MPI_SUCCESS, NULL, what);
    for (int i = 0; i < out_count; i++) {
        int right = collective == TRV_ALLGATHER        ? (i / COUNT + 1) * (i % COUNT + 1)
                    : collective == TRV_REDUCE_SCATTER ? sum * (test_rank * COUNT + i + 1)
                                                       : sum * (i + 1);
        wrong += out[i] != right;
    }
    expect(wrong == 0, "%s: %d elements are wrong", what, wrong);
    expect_class(TRV_Plan_free(&plan), MPI_SUCCESS, NULL, what);
    free(in);
    free(out);
}

static void invalid_plans(const trv_schedule_t *schedule)
{
    TRV_Plan plan;
    trv_torus_t larger;
    trv_schedule_t *other;
    trv_torus_init(&larger, 1, &(int){test_ranks + 1});
    expect_class(TRV_Plan_create(NULL, 1, MPI_INT, MPI_SUM, test_comm, &plan), MPI_ERR_ARG,
                 "the schedule argument is NULL", "NULL");
    expect_class(TRV_Plan_create(schedule, 1, MPI_INT, MPI_SUM, test_comm, NULL), MPI_ERR_ARG,
                 "the plan argument is NULL", "NULL");
    expect_class(TRV_Plan_create(schedule, -1, MPI_INT, MPI_SUM, test_comm, &plan), MPI_ERR_COUNT, "count is -1", "-1");
    if (expect(trv_schedule_create(&other, &larger, "trivance-b", TRV_ALLREDUCE) == TRV_OK, "a larger ring"))
        expect_class(TRV_Plan_create(other, 1, MPI_INT, MPI_SUM, test_comm, &plan), MPI_ERR_ARG, "communicator has",
                     "a schedule for more ranks");
    trv_schedule_destroy(other);
    if (!expect(trv_schedule_create(&other, trv_schedule_torus(schedule), "trivance-l-overlap", TRV_ALLREDUCE) ==
                    TRV_OK,
                "overlapping windows"))
        return;
    expect_class(TRV_Plan_create(other, 1, MPI_INT, MPI_SUM, test_comm, &plan), MPI_ERR_OP, "twice",
                 "a sum by overlaps");
    expect_class(TRV_Plan_create(other, 1, MPI_INT, MPI_MAX, test_comm, &plan), MPI_SUCCESS, NULL,
                 "a maximum by overlaps");
    int highest = test_rank;
    expect_class(TRV_Plan_run(plan, MPI_IN_PLACE, &highest), MPI_SUCCESS, NULL, "a maximum by overlaps");
    expect(highest == test_ranks - 1, "the maximum is %d", highest);
    TRV_Plan_free(&plan);
    trv_schedule_destroy(other);
}

void topic_schedules(void)
{
    trv_torus_t ring;
    trv_torus_init(&ring, 1, &test_ranks);
    for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++) {
        trv_schedule_t *schedule, *copy;
        if (!expect(trv_schedule_create(&schedule, &ring, "trivance-b", (trv_collective_t)collective) == TRV_OK,
                    "a schedule") ||
            !expect(trv_explicit_copy(&copy, schedule) == TRV_OK, "its copy"))
            break;
        run(schedule, "trivance-b");
        run(copy, "an explicit copy of trivance-b");
        if (collective == TRV_ALLREDUCE)
            invalid_plans(schedule);
        trv_schedule_destroy(copy);
        trv_schedule_destroy(schedule);
    }
}
