/*
 * Faults between collectives: a rank is killed, a rank is stopped for two seconds, a rank has no memory.
 *
 *     mpirun -n 3 faults kill | stop | memory
 *
 * `memory` requires tests/preload/mock_memory.c to be preloaded, which makes allocations of the preload library fail.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "check.h"

static int rank, ranks;

static void sum(MPI_Comm comm, int count, const char *what)
{
    int *mine = calloc((size_t)count, sizeof *mine), *all = calloc((size_t)count, sizeof *all), correct = 0;
    for (int i = 0; i < count; i++)
        mine[i] = rank + i;
    MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        correct += all[i] == ranks * (ranks - 1) / 2 + i * ranks;
    check(correct == count, "%s: %d of %d sums are right", what, correct, count);
    free(mine);
    free(all);
}

/* The last rank is killed between two calls; MPI ends the other ranks, which wait for it. */
static void kill_one(void)
{
    for (int i = 0; i < 20; i++) {
        if (i == 10 && rank == ranks - 1)
            raise(SIGKILL);
        sum(MPI_COMM_WORLD, 100, "before the end");
    }
}

static void stop_one(void)
{
    for (int i = 0; i < 20; i++) {
        if (i == 10 && rank == ranks - 1) {
            char command[64];
            snprintf(command, sizeof command, "(sleep 2; kill -CONT %d) &", (int)getpid());
            check(system(command) == 0, "a shell");
            raise(SIGSTOP);
        }
        sum(MPI_COMM_WORLD, i % 2 ? 100 : 30000, "while a rank is stopped");
    }
}

/* Allocation fails on rank 1 only: when a plan is created, and at the first collective of a communicator. */
static void no_memory(void)
{
    int *failing = dlsym(RTLD_DEFAULT, "mock_memory_fails");
    check(failing != NULL, "mock_memory is not preloaded");
    if (!failing)
        return;
    MPI_Comm comm;
    sum(MPI_COMM_WORLD, 100, "with memory");
    for (int turn = 0; turn < 2; turn++) {
        *failing = rank == 1 && turn == 0;
        sum(MPI_COMM_WORLD, 200, "a plan that one rank cannot create");
        *failing = 0;
        sum(MPI_COMM_WORLD, 100, "the plan from before");
        sum(MPI_COMM_WORLD, 300, "a new plan after that");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    *failing = rank == 1;
    sum(comm, 100, "a communicator that one rank cannot initialize");
    *failing = 0;
    sum(comm, 100, "the same communicator later");
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum(comm, 100, "another communicator");
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(fault, "kill") == 0)
        kill_one();
    else if (strcmp(fault, "stop") == 0)
        stop_one();
    else
        no_memory();
    return check_end();
}
