/*
 * AllReduce in an MPI program: first with the arguments of MPI_Allreduce, then as a plan, which is created once and run
 * many times.
 *
 *     mpicc.openmpi allreduce_mpi.c $(pkg-config --cflags --libs trivance-mpi-openmpi) -o allreduce_mpi
 *     mpirun.openmpi -n 9 ./allreduce_mpi            (or with mpich in place of openmpi, three times)
 */
#include <stdio.h>

#include <trivance/trivance_mpi.h>

enum { COUNT = 1 << 16 };
static double gradient[COUNT], sum[COUNT];

static void check(int code)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "allreduce_mpi: %s\n", trv_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COUNT; i++)
        gradient[i] = rank + i;

    /* Replaces MPI_Allreduce. The torus is set by TRIVANCE_TORUS or by TRV_Comm_set; the default is a ring. */
    check(TRV_Allreduce(gradient, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));

    /* The same as a prepared plan, for calls in every iteration of a training loop or a solver. */
    TRV_Plan plan;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    check(TRV_Allreduce_plan_create(COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &plan));
    check(TRV_Plan_query(plan, &info));
    for (int iteration = 0; iteration < 10; iteration++) {
        check(TRV_Plan_start(plan, gradient, sum));
        int complete = 0;
        while (!complete)
            check(TRV_Plan_test(plan, &complete)); /* compute here while the call is in progress */
    }
    check(TRV_Plan_free(&plan));

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += sum[i] != ranks * (ranks - 1) / 2.0 + (double)ranks * i;
    if (rank == 0)
        printf("%d ranks by %s on %s in %d steps: %d wrong\n", ranks, info.algorithm, info.torus, info.steps, wrong);
    MPI_Finalize();
    return wrong != 0;
}
