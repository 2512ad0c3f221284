/*
 * TRIVANCE_TORUS and TRIVANCE_ALGORITHM. They are read once per process, so each case is a separate launch:
 * test_environment CASE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/planner.h>
#include <trivance/trivance_mpi.h>

#include "harness.h"

static void query(MPI_Comm comm, TRV_Plan_info *info)
{
    static char name[TRV_ALGORITHM_NAME_MAX];
    TRV_Plan plan;
    *info = (TRV_Plan_info){TRV_PLAN_INFO, .algorithm = ""};
    if (!expect_class(TRV_Allreduce_plan_create(100, MPI_INT, MPI_SUM, comm, &plan), MPI_SUCCESS, NULL, "a plan"))
        return;
    TRV_Plan_query(plan, info);
    snprintf(name, sizeof name, "%s", info->algorithm);
    info->algorithm = name;
    TRV_Plan_free(&plan);
}

/* A communicator gets the torus of the list that fits it; a sub-communicator that no torus fits is a ring. */
static void valid_environment(void)
{
    TRV_Plan_info info = {TRV_PLAN_INFO};
    MPI_Comm half;
    query(MPI_COMM_WORLD, &info);
    expect(strcmp(info.torus, "2x2") == 0 && strcmp(info.algorithm, "bucket") == 0, "%s on %s", info.algorithm,
           info.torus);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 0, 0, &half);
    query(half, &info);
    expect(strcmp(info.torus, test_rank == 0 ? "1" : "3") == 0, "the part's torus is %s", info.torus);
    MPI_Comm_free(&half);
}

static void invalid_environment(const char *words)
{
    int in = 1, out = 0;
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_ARG, words,
                 "a wrong environment");
    expect_class(TRV_Comm_set(MPI_COMM_WORLD, "4", "auto"), MPI_SUCCESS, NULL, "TRV_Comm_set after the error");
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS, NULL, "a call after that");
    expect(out == test_ranks, "the sum of ones is %d", out);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *torus, *algorithm, *words;
    } cases[] = {
        {"good", "9,2x2,4x4", "bucket", NULL},
        {"torus", "3x3", "auto", "TRIVANCE_TORUS=3x3 has 9 ranks; this job has 4 ranks on 1 node, and"},
        {"torus-text", "3x", "auto", "TRIVANCE_TORUS: "},
        {"algorithm", "4", "trivance-x", "TRIVANCE_ALGORITHM: there is no algorithm 'trivance-x'"},
    };
    const char *name = argc > 1 ? argv[1] : "";
    size_t at = 0;
    while (at < sizeof cases / sizeof cases[0] && strcmp(cases[at].name, name) != 0)
        at++;
    if (at == sizeof cases / sizeof cases[0])
        return fprintf(stderr, "test_environment: there is no case '%s'\n", name), 2;
    setenv("TRIVANCE_TORUS", cases[at].torus, 1);
    setenv("TRIVANCE_ALGORITHM", cases[at].algorithm, 1);
    test_begin(&argc, &argv);
    if (!cases[at].words)
        valid_environment();
    else
        invalid_environment(cases[at].words);
    return test_end();
}
