/*
 * Arguments that the MPI library checks: undefined pairs of a type and an operation, and invalid arguments. The
 * functions that a preload library defines must return what the MPI library's own functions return.
 *
 *     mpirun -n 3 arguments          compares MPI_ and PMPI_ functions
 *     mpirun -n 3 arguments list     rank 0 prints the error classes, which do not depend on the component
 */
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "argument_cases.h"
#include "check.h"
#include "predefined.h"

static int rank;
static bool lists;

static void compare(const char *what, int got, int expected)
{
    if (lists && rank == 0)
        printf("%s: %d\n", what, got);
    check(lists || got == expected, "%s: class %d, not %d", what, got, expected);
}

/* Every predefined operation on every predefined type, whether MPI defines it or not. */
static void all_pairs(void)
{
    int types, ops, class[2];
    const named_type_t *type = predefined_types(&types);
    const named_op_t *op = predefined_ops(&ops);
    MPI_Comm comm[2];
    char in[64], out[2][64], what[100];
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
    }
    for (int t = 0; t < types; t++)
        for (int o = 0; o < ops; o++) {
            if (predefined_crashes(&type[t], &op[o]))
                continue;
            predefined_fill(&type[t], in, 1, rank);
            memset(out, 0, sizeof out);
            class[0] = MPI_Allreduce(in, out[0], 1, type[t].type, op[o].op, comm[0]);
            class[1] = PMPI_Allreduce(in, out[1], 1, type[t].type, op[o].op, comm[1]);
            for (int i = 0; i < 2; i++)
                if (class[i] != MPI_SUCCESS)
                    MPI_Error_class(class[i], &class[i]);
            snprintf(what, sizeof what, "%s of %s", op[o].name, type[t].name);
            compare(what, class[0], class[1]);
            check(class[1] != MPI_SUCCESS || predefined_same(&type[t], out[0], out[1], 1), "%s of %s: another result",
                  op[o].name, type[t].name);
        }
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comm[i]);
}

/* Invalid arguments cause the MPI library's own errors, on a communicator on which Trivance executes valid calls. */
static void errors(void)
{
    static const functions_t functions = FUNCTIONS(MPI_), library = FUNCTIONS(PMPI_);
    MPI_Errhandler handler;
    argument_cases(&functions, lists ? NULL : &library, MPI_COMM_WORLD, compare);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    check(handler == MPI_ERRORS_ARE_FATAL, "the error handler is another one");
    MPI_Errhandler_free(&handler);
}

/* Errors of the MPI library do not leave the communicator unusable. */
static void usable(void)
{
    int mine = 1, sum = 0, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks, "a right call at the end: %d", sum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    lists = argc > 1 && strcmp(argv[1], "list") == 0;
    all_pairs();
    errors();
    usable();
    return check_end();
}
