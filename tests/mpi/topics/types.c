/*
 * Every predefined type with every predefined operation, compared with the MPI library's result or error; and AllGather
 * with derived types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "predefined.h"
#include "topics.h"
#include "transport/mpi/waiting.h"

#define COUNT 37

static void try_pair(const named_type_t *type, const named_op_t *op, MPI_Comm comm)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type->type, &lower, &extent);
    size_t bytes = COUNT * (size_t)extent;
    char *input = malloc(bytes), *got = calloc(1, bytes), *want = calloc(1, bytes);
    predefined_fill(type, input, COUNT, test_rank);
    MPI_Request request;
    bool defined = MPI_Iallreduce(input, want, COUNT, type->type, op->op, comm, &request) == MPI_SUCCESS;
    if (defined)
        trv_mpi_poll(&request);
    int code = TRV_Allreduce(input, got, COUNT, type->type, op->op, comm);
    expect(defined ? code == MPI_SUCCESS && predefined_same(type, got, want, COUNT)
                   : code == MPI_ERR_OP && strstr(trv_last_error(), op->name),
           "%s of %s: class %d (%s), or not MPI's result", op->name, type->name, code, code ? trv_last_error() : "");
    free(input);
    free(got);
    free(want);
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

/* Ranks may describe the same bytes by different types. */
static void gather_mixed(MPI_Comm comm)
{
    MPI_Datatype four, spread;
    int mine[8], *all = malloc(sizeof(int) * 4 * (size_t)test_ranks),
                 *wide = malloc(sizeof(int) * 8 * (size_t)test_ranks);
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_vector(4, 1, 2, MPI_INT, &spread); /* every other int, 7 ints long */
    MPI_Type_commit(&four);
    MPI_Type_commit(&spread);
    for (int i = 0; i < 8; i++)
        mine[i] = 100 * test_rank + i;
    memset(wide, 0xff, sizeof(int) * 8 * (size_t)test_ranks);
    int code;
    if (test_rank % 3 == 0)
        code = TRV_Allgather(mine, 4, MPI_INT, all, 4, MPI_INT, comm);
    else if (test_rank % 3 == 1)
        code = TRV_Allgather(mine, 1, four, all, 1, four, comm);
    else
        code = TRV_Allgather(mine, 1, spread, all, 4, MPI_INT, comm);
    expect_class(code, MPI_SUCCESS, NULL, "TRV_Allgather with other types on other ranks");
    for (int r = 0; r < test_ranks; r++)
        for (int i = 0; i < 4; i++)
            expect(all[4 * r + i] == 100 * r + (r % 3 == 2 ? 2 * i : i), "block %d, element %d is %d", r, i,
                   all[4 * r + i]);
    MPI_Datatype padded; /* 4 ints with gaps, 8 ints from one to the next */
    MPI_Type_create_resized(spread, 0, 8 * sizeof(int), &padded);
    MPI_Type_commit(&padded);
    memcpy(wide + 8 * test_rank, mine, sizeof mine);
    code = TRV_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, wide, 1, padded, comm);
    expect_class(code, MPI_SUCCESS, NULL, "TRV_Allgather in place, a type with gaps");
    for (int r = 0; r < test_ranks; r++)
        for (int i = 0; i < 8; i++)
            expect(wide[8 * r + i] == (i % 2 == 0 || r == test_rank ? 100 * r + i : -1), "gap or block %d, %d is %d", r,
                   i, wide[8 * r + i]);
    MPI_Type_free(&four);
    MPI_Type_free(&spread);
    MPI_Type_free(&padded);
    free(all);
    free(wide);
}

void topic_types(void)
{
    int type_count, op_count;
    const named_type_t *type = predefined_types(&type_count);
    const named_op_t *op = predefined_ops(&op_count);
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* not all pairs are defined */
    for (int t = 0; t < type_count; t++)
        for (int o = 0; o < op_count; o++)
            if (!predefined_crashes(&type[t], &op[o]))
                try_pair(&type[t], &op[o], comm);
    gather_mixed(comm);
    MPI_Comm_free(&comm);
}
