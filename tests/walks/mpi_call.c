/*
 * An MPI program for walks.py: in the last MPI_Allreduce, after walk_begins, everything is already prepared.
 */
#include <mpi.h>

/* The function at which valgrind starts a new profile. */
__attribute__((noinline)) static void walk_begins(void) { __asm__ volatile(""); }

int main(int argc, char **argv)
{
    double input = 1, output = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int call = 0; call < 4; call++) {
        if (call == 3)
            walk_begins();
        MPI_Allreduce(&input, &output, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return output == ranks ? 0 : 1;
}
