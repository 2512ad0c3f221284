/*
 * Every predefined type with every operation that MPI defines on it, compared with the MPI library's result; and
 * AllGather with derived types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topics.h"
#include "transport/mpi/waiting.h"

#define COUNT 37

typedef struct named_type {
    const char *name;
    MPI_Datatype type;
    char class; /* i integer, f floating, c complex, l logical, b byte, p pair */
} named_type_t;

#define TYPE(type, class)                                                                                              \
    {                                                                                                                  \
#type, type, class                                                                                             \
    }

static const named_type_t *types(int *count)
{
    static named_type_t list[80];
    const named_type_t all[] = {
        TYPE(MPI_SIGNED_CHAR, 'i'),
        TYPE(MPI_UNSIGNED_CHAR, 'i'),
        TYPE(MPI_SHORT, 'i'),
        TYPE(MPI_UNSIGNED_SHORT, 'i'),
        TYPE(MPI_INT, 'i'),
        TYPE(MPI_UNSIGNED, 'i'),
        TYPE(MPI_LONG, 'i'),
        TYPE(MPI_UNSIGNED_LONG, 'i'),
        TYPE(MPI_LONG_LONG, 'i'),
        TYPE(MPI_UNSIGNED_LONG_LONG, 'i'),
        TYPE(MPI_INT8_T, 'i'),
        TYPE(MPI_INT16_T, 'i'),
        TYPE(MPI_INT32_T, 'i'),
        TYPE(MPI_INT64_T, 'i'),
        TYPE(MPI_UINT8_T, 'i'),
        TYPE(MPI_UINT16_T, 'i'),
        TYPE(MPI_UINT32_T, 'i'),
        TYPE(MPI_UINT64_T, 'i'),
        TYPE(MPI_AINT, 'i'),
        TYPE(MPI_OFFSET, 'i'),
        TYPE(MPI_COUNT, 'i'),
        TYPE(MPI_INTEGER, 'i'),
        TYPE(MPI_INTEGER1, 'i'),
        TYPE(MPI_INTEGER2, 'i'),
        TYPE(MPI_INTEGER4, 'i'),
        TYPE(MPI_INTEGER8, 'i'),
        TYPE(MPI_FLOAT, 'f'),
        TYPE(MPI_DOUBLE, 'f'),
        TYPE(MPI_LONG_DOUBLE, 'f'),
        TYPE(MPI_REAL, 'f'),
        TYPE(MPI_REAL4, 'f'),
        TYPE(MPI_REAL8, 'f'),
        TYPE(MPI_DOUBLE_PRECISION, 'f'),
        TYPE(MPI_C_FLOAT_COMPLEX, 'c'),
        TYPE(MPI_C_DOUBLE_COMPLEX, 'c'),
        TYPE(MPI_C_LONG_DOUBLE_COMPLEX, 'c'),
        TYPE(MPI_COMPLEX, 'c'),
        TYPE(MPI_DOUBLE_COMPLEX, 'c'),
        TYPE(MPI_CXX_FLOAT_COMPLEX, 'c'),
        TYPE(MPI_CXX_DOUBLE_COMPLEX, 'c'),
        TYPE(MPI_C_BOOL, 'l'),
        TYPE(MPI_CXX_BOOL, 'l'),
        TYPE(MPI_LOGICAL, 'l'),
        TYPE(MPI_BYTE, 'b'),
        TYPE(MPI_2INT, 'p'),
        TYPE(MPI_FLOAT_INT, 'p'),
        TYPE(MPI_DOUBLE_INT, 'p'),
        TYPE(MPI_LONG_INT, 'p'),
        TYPE(MPI_SHORT_INT, 'p'),
        TYPE(MPI_LONG_DOUBLE_INT, 'p'),
        TYPE(MPI_2INTEGER, 'p'),
        TYPE(MPI_2REAL, 'p'),
        TYPE(MPI_2DOUBLE_PRECISION, 'p'),
    };
    *count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].type != MPI_DATATYPE_NULL)
            list[(*count)++] = all[i];
    return list;
}

typedef struct named_op {
    const char *name;
    MPI_Op op;
    const char *classes; /* the classes of types on which MPI defines it */
} named_op_t;

static const named_op_t *ops(int *count)
{
    static named_op_t list[12];
    const named_op_t all[] = {
        {"MPI_SUM", MPI_SUM, "ifc"},  {"MPI_PROD", MPI_PROD, "ifc"},   {"MPI_MIN", MPI_MIN, "if"},
        {"MPI_MAX", MPI_MAX, "if"},   {"MPI_LAND", MPI_LAND, "il"},    {"MPI_LOR", MPI_LOR, "il"},
        {"MPI_LXOR", MPI_LXOR, "il"}, {"MPI_BAND", MPI_BAND, "ib"},    {"MPI_BOR", MPI_BOR, "ib"},
        {"MPI_BXOR", MPI_BXOR, "ib"}, {"MPI_MINLOC", MPI_MINLOC, "p"}, {"MPI_MAXLOC", MPI_MAXLOC, "p"},
    };
    memcpy(list, all, sizeof all);
    *count = (int)(sizeof all / sizeof all[0]);
    return list;
}

/* Small whole numbers, which are exact in every type. Pairs are written according to MPI's description of the type. */
static void fill(const named_type_t *type, char *buffer, size_t extent)
{
    for (int i = 0; i < COUNT; i++) {
        char *to = buffer + (size_t)i * extent;
        int number = (int)(test_random((uint64_t)(test_rank * 1000 + i)) % 3) + (type->class == 'l' ? 0 : 1);
        memset(to, 0, extent);
        if (type->class == 'i' || type->class == 'b') {
            int64_t wide = number;
            memcpy(to, &wide, extent < sizeof wide ? extent : sizeof wide);
        } else if (type->class == 'l') {
            to[0] = number > 0; /* little-endian: a logical of any size */
        } else if (type->class == 'f' || type->class == 'c') {
            size_t part = type->class == 'c' ? extent / 2 : extent;
            float f = (float)number;
            double d = number;
            long double l = number;
            memcpy(to,
                   part == sizeof f   ? (void *)&f
                   : part == sizeof d ? (void *)&d
                                      : (void *)&l,
                   part < 10 ? part : 10);
        }
    }
}

/* Pairs of a value and an index; values are often equal. */
static void fill_pairs(MPI_Datatype type, char *buffer, size_t extent)
{
    memset(buffer, 0, COUNT * extent);
    for (int i = 0; i < COUNT; i++) {
        char *to = buffer + (size_t)i * extent;
        int value = (int)(test_random((uint64_t)(test_rank * 1000 + i)) % 4), index = test_rank;
        if (type == MPI_2INT || type == MPI_2INTEGER) {
            memcpy(to, (int[]){value, index}, 2 * sizeof(int));
        } else if (type == MPI_2REAL) {
            memcpy(to, (float[]){(float)value, (float)index}, 2 * sizeof(float));
        } else if (type == MPI_2DOUBLE_PRECISION) {
            memcpy(to, (double[]){value, index}, 2 * sizeof(double));
        } else {
            struct {
                float v;
                int i;
            } f = {(float)value, index};
            struct {
                double v;
                int i;
            } d = {value, index};
            struct {
                long v;
                int i;
            } l = {value, index};
            struct {
                short v;
                int i;
            } s = {(short)value, index};
            struct {
                long double v;
                int i;
            } e = {value, index};
            void *pair = type == MPI_FLOAT_INT    ? (void *)&f
                         : type == MPI_DOUBLE_INT ? (void *)&d
                         : type == MPI_LONG_INT   ? (void *)&l
                         : type == MPI_SHORT_INT  ? (void *)&s
                                                  : (void *)&e;
            memcpy(to, pair, extent);
        }
    }
}

/* Compares what the type maps, not the padding: both are packed. */
static bool same_values(MPI_Datatype type, const char *a, const char *b, size_t extent)
{
    char packed[2][COUNT * 64];
    int position[2] = {0, 0};
    MPI_Pack(a, COUNT, type, packed[0], sizeof packed[0], &position[0], MPI_COMM_SELF);
    MPI_Pack(b, COUNT, type, packed[1], sizeof packed[1], &position[1], MPI_COMM_SELF);
    if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_LONG_DOUBLE_INT) {
        bool equal = true; /* a number has 10 of 16 bytes */
        for (size_t at = 0; at < COUNT * extent; at += 16)
            equal = equal && (memcmp(a + at, b + at, 10) == 0 ||
                              (type == MPI_LONG_DOUBLE_INT && at % 32 == 16 && memcmp(a + at, b + at, 4) == 0));
        return equal;
    }
    return position[0] == position[1] && memcmp(packed[0], packed[1], (size_t)position[0]) == 0;
}

static void try_pair(const named_type_t *type, const named_op_t *op, MPI_Comm comm)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type->type, &lower, &extent);
    size_t bytes = COUNT * (size_t)extent;
    char *input = malloc(bytes), *got = calloc(1, bytes), *want = calloc(1, bytes);
    if (type->class == 'p')
        fill_pairs(type->type, input, (size_t)extent);
    else
        fill(type, input, (size_t)extent);
    MPI_Request request;
    bool defined = MPI_Iallreduce(input, want, COUNT, type->type, op->op, comm, &request) == MPI_SUCCESS;
    if (defined)
        trv_mpi_poll(&request);
    int code = TRV_Allreduce(input, got, COUNT, type->type, op->op, comm);
    expect(!defined || (code == MPI_SUCCESS && same_values(type->type, got, want, (size_t)extent)),
           "%s of %s: class %d (%s), or not MPI's result", op->name, type->name, code, code ? trv_last_error() : "");
    free(input);
    free(got);
    free(want);
}

static void try_undefined(MPI_Comm comm)
{
    double input[2] = {1, 2}, output[2];
    expect_class(TRV_Allreduce(input, output, 2, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP, "band on the type double",
                 "BAND");
    expect_class(TRV_Allreduce(input, output, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, comm), MPI_ERR_OP, "max",
                 "MAX of complex");
    expect_class(TRV_Allreduce(input, output, 2, MPI_BYTE, MPI_SUM, comm), MPI_ERR_OP, "MPI_BYTE", "SUM of MPI_BYTE");
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
    const named_type_t *type = types(&type_count);
    const named_op_t *op = ops(&op_count);
    MPI_Comm comm;
    MPI_Comm_dup(test_comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* Open MPI has no logical operations on Fortran's integers */
    for (int t = 0; t < type_count; t++)
        for (int o = 0; o < op_count; o++)
            if (strchr(op[o].classes, type[t].class))
                try_pair(&type[t], &op[o], comm);
    try_undefined(comm);
    gather_mixed(comm);
    MPI_Comm_free(&comm);
}
