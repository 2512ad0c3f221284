/*
 * Checks of expectations. Failures are summed over the ranks by functions that no preload library intercepts.
 */
#include "check.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <mpi.h>

static atomic_long checked, failed;

void check(bool holds, const char *format, ...)
{
    va_list arguments;
    char text[512];
    int rank = 0;
    atomic_fetch_add(&checked, 1);
    if (holds || atomic_fetch_add(&failed, 1) >= 10)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "rank %d: %s\n", rank, text);
}

int check_end(void)
{
    long mine[2] = {checked, failed}, all[2];
    int rank;
    PMPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%ld checks, %ld failed\n", all[0], all[1]);
    MPI_Finalize();
    return all[1] > 0 || all[0] == 0;
}
