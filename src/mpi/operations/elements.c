/*
 * Maps MPI types and operations to the core's kernels. Pair types, Fortran logicals, 16-byte reals and user-defined
 * operations use MPI_Reduce_local; types with gaps are left to the MPI library.
 */
#include "mpi/operations/elements.h"

#include <pthread.h>
#include <stdint.h>

#include "base/error.h"
#include "mpi/operations/contiguous.h"

#define TYPES_MAX 80

typedef struct known_type {
    MPI_Datatype datatype;
    trv_type_t type;
    bool bits_only; /* MPI_BYTE: bitwise operations only */
} known_type_t;

static known_type_t known[TYPES_MAX];
static int known_types;
static MPI_Datatype local_type[12]; /* predefined types without a kernel: pairs, logicals, 16-byte reals */
static int local_types;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_type(MPI_Datatype datatype, trv_type_t type)
{
    if (datatype != MPI_DATATYPE_NULL && known_types < TYPES_MAX)
        known[known_types++] = (known_type_t){.datatype = datatype, .type = type};
}

static void add_integer(MPI_Datatype datatype, size_t size, bool is_signed)
{
    static const trv_type_t with_sign[] = {TRV_INT8, TRV_INT16, TRV_INT32, TRV_INT64};
    static const trv_type_t without[] = {TRV_UINT8, TRV_UINT16, TRV_UINT32, TRV_UINT64};
    int at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (at >= 0)
        add_type(datatype, is_signed ? with_sign[at] : without[at]);
}

static void add_c_types(void)
{
    add_integer(MPI_CHAR, 1, (char)-1 < 0); /* no integer type in MPI's list, but both MPI libraries reduce it */
    add_integer(MPI_SIGNED_CHAR, 1, true);
    add_integer(MPI_UNSIGNED_CHAR, 1, false);
    add_integer(MPI_SHORT, sizeof(short), true);
    add_integer(MPI_UNSIGNED_SHORT, sizeof(short), false);
    add_integer(MPI_INT, sizeof(int), true);
    add_integer(MPI_UNSIGNED, sizeof(int), false);
    add_integer(MPI_LONG, sizeof(long), true);
    add_integer(MPI_UNSIGNED_LONG, sizeof(long), false);
    add_integer(MPI_LONG_LONG, sizeof(long long), true);
    add_integer(MPI_UNSIGNED_LONG_LONG, sizeof(long long), false);
    add_integer(MPI_INT8_T, 1, true);
    add_integer(MPI_INT16_T, 2, true);
    add_integer(MPI_INT32_T, 4, true);
    add_integer(MPI_INT64_T, 8, true);
    add_integer(MPI_UINT8_T, 1, false);
    add_integer(MPI_UINT16_T, 2, false);
    add_integer(MPI_UINT32_T, 4, false);
    add_integer(MPI_UINT64_T, 8, false);
    add_integer(MPI_AINT, sizeof(MPI_Aint), true);
    add_integer(MPI_OFFSET, sizeof(MPI_Offset), true);
    add_integer(MPI_COUNT, sizeof(MPI_Count), true);
    add_type(MPI_FLOAT, TRV_FLOAT);
    add_type(MPI_DOUBLE, TRV_DOUBLE);
    add_type(MPI_LONG_DOUBLE, TRV_LONG_DOUBLE);
    add_type(MPI_C_FLOAT_COMPLEX, TRV_COMPLEX_FLOAT);
    add_type(MPI_C_DOUBLE_COMPLEX, TRV_COMPLEX_DOUBLE);
    add_type(MPI_C_LONG_DOUBLE_COMPLEX, TRV_COMPLEX_LONG_DOUBLE);
    add_type(MPI_C_BOOL, TRV_BOOL);
    add_type(MPI_CXX_BOOL, TRV_BOOL);
    add_type(MPI_CXX_FLOAT_COMPLEX, TRV_COMPLEX_FLOAT);
    add_type(MPI_CXX_DOUBLE_COMPLEX, TRV_COMPLEX_DOUBLE);
    add_type(MPI_CXX_LONG_DOUBLE_COMPLEX, TRV_COMPLEX_LONG_DOUBLE);
#ifdef MPIX_C_FLOAT16
    add_type(MPIX_C_FLOAT16, TRV_FLOAT16);
#endif
}

/* Adds a Fortran type ('i' integer, 'r' real, 'c' complex). Its size depends on how the MPI library was built; the type
 * may be missing. */
static void add_fortran(MPI_Datatype datatype, char class)
{
    int size = 0;
    if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) != MPI_SUCCESS)
        return;
    if (class == 'i')
        add_integer(datatype, (size_t)size, true);
    if (class == 'r' && size == sizeof(float))
        add_type(datatype, TRV_FLOAT);
    if (class == 'r' && size == sizeof(double))
        add_type(datatype, TRV_DOUBLE);
    if (class == 'c' && size == 2 * sizeof(float))
        add_type(datatype, TRV_COMPLEX_FLOAT);
    if (class == 'c' && size == 2 * sizeof(double))
        add_type(datatype, TRV_COMPLEX_DOUBLE);
}

static void add_fortran_types(void)
{
    add_fortran(MPI_INTEGER, 'i');
    add_fortran(MPI_INTEGER1, 'i');
    add_fortran(MPI_INTEGER2, 'i');
    add_fortran(MPI_INTEGER4, 'i');
    add_fortran(MPI_INTEGER8, 'i');
    add_fortran(MPI_REAL, 'r');
    add_fortran(MPI_REAL4, 'r');
    add_fortran(MPI_REAL8, 'r');
    add_fortran(MPI_DOUBLE_PRECISION, 'r');
    add_fortran(MPI_COMPLEX, 'c');
    add_fortran(MPI_COMPLEX8, 'c');
    add_fortran(MPI_COMPLEX16, 'c');
    add_fortran(MPI_DOUBLE_COMPLEX, 'c');
}

static void add_types(void)
{
    add_c_types();
    add_fortran_types();
    add_type(MPI_BYTE, TRV_UINT8);
    known[known_types - 1].bits_only = true;
    const MPI_Datatype local[] = {MPI_FLOAT_INT,         MPI_DOUBLE_INT,      MPI_LONG_INT, MPI_2INT,
                                  MPI_SHORT_INT,         MPI_LONG_DOUBLE_INT, MPI_2INTEGER, MPI_2REAL,
                                  MPI_2DOUBLE_PRECISION, MPI_LOGICAL,         MPI_REAL16,   MPI_COMPLEX32};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (local[i] != MPI_DATATYPE_NULL)
            local_type[local_types++] = local[i];
}

static const known_type_t *find_known(MPI_Datatype datatype)
{
    for (int i = 0; i < known_types; i++)
        if (known[i].datatype == datatype)
            return &known[i];
    return NULL;
}

static bool is_local_type(MPI_Datatype datatype)
{
    for (int i = 0; i < local_types; i++)
        if (local_type[i] == datatype)
            return true;
    return false;
}

/* The core's operation; TRV_OPS for a predefined operation that the core does not have, -1 for a user-defined one. */
static int find_op(MPI_Op op)
{
    const MPI_Op mpi[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    const trv_op_t core[] = {TRV_SUM, TRV_PROD, TRV_MIN,  TRV_MAX, TRV_LAND,
                             TRV_LOR, TRV_LXOR, TRV_BAND, TRV_BOR, TRV_BXOR};
    for (size_t i = 0; i < sizeof mpi / sizeof mpi[0]; i++)
        if (mpi[i] == op)
            return (int)core[i];
    return op == MPI_MINLOC || op == MPI_MAXLOC || op == MPI_REPLACE || op == MPI_NO_OP ? TRV_OPS : -1;
}

static bool is_bitwise(int op) { return op == TRV_BAND || op == TRV_BOR || op == TRV_BXOR; }

/* Elements for which no kernel exists, because of the type or because of the operation. They use MPI_Reduce_local or,
 * with the reason in elements->reason, the MPI library's collective. `core_op`: see find_op. MPI_SUCCESS or an error
 * class. */
static int local_elements(MPI_Datatype datatype, MPI_Op op, bool known_type, int core_op, trv_mpi_elements_t *elements)
{
    int commutative = 1;
    if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_ARGUMENT, "the operation is invalid; pass MPI_SUM, for example"), MPI_ERR_OP;
    int code = trv_mpi_contiguous(datatype, &elements->size);
    if (code != MPI_SUCCESS)
        return code;
    elements->reducer = TRV_MPI_LOCAL;
    elements->commutative = commutative;
    elements->predefined = (known_type || is_local_type(datatype)) && core_op >= 0;
    if (core_op >= 0 && !elements->predefined)
        elements->reason = "a predefined operation on a derived type";
    else if (op == MPI_REPLACE || op == MPI_NO_OP)
        elements->reason = "MPI_REPLACE and MPI_NO_OP are for one-sided communication";
    else if (is_local_type(datatype)) {
        MPI_Count lower = 0, extent = 0; /* a pair includes its padding */
        PMPI_Type_get_extent_x(datatype, &lower, &extent);
        elements->size = (size_t)extent;
    } else if (elements->size == 0)
        elements->reason = "a type with gaps";
    if (elements->reason) {
        MPI_Count bytes = 0;
        PMPI_Type_size_x(datatype, &bytes);
        elements->size = (size_t)bytes;
        elements->reducer = TRV_MPI_LIBRARY;
    }
    return MPI_SUCCESS;
}

int trv_mpi_elements(MPI_Datatype datatype, MPI_Op op, trv_mpi_elements_t *elements)
{
    pthread_once(&once, add_types);
    *elements = (trv_mpi_elements_t){.reducer = TRV_MPI_KERNEL, .commutative = true};
    if (datatype == MPI_DATATYPE_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the datatype is MPI_DATATYPE_NULL; pass a committed type"), MPI_ERR_TYPE;
    if (op == MPI_OP_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the operation is MPI_OP_NULL; pass MPI_SUM, for example"), MPI_ERR_OP;
    const known_type_t *type = find_known(datatype);
    int core_op = find_op(op);
    if (!type || core_op < 0 || core_op >= TRV_OPS)
        return local_elements(datatype, op, type != NULL, core_op, elements);
    elements->type = type->type;
    elements->op = (trv_op_t)core_op;
    elements->size = trv_type_size(type->type);
    elements->predefined = true;
    elements->exact = trv_op_exact(elements->op, elements->type);
    elements->idempotent = trv_op_idempotent(elements->op);
    if (!trv_op_supports(elements->op, elements->type) || (type->bits_only && !is_bitwise(core_op)))
        return trv_fail(TRV_ERR_UNSUPPORTED, "MPI does not define the operation %s on the type %s",
                        trv_op_name(elements->op), type->bits_only ? "MPI_BYTE" : trv_type_name(elements->type)),
               MPI_ERR_OP;
    return MPI_SUCCESS;
}

int trv_mpi_count_bytes(MPI_Count count, size_t size, size_t *bytes)
{
    const MPI_Count count_max = size > 0 ? (MPI_Count)(((uint64_t)1 << 50) / size) : count;
    *bytes = 0;
    if (count < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the count is %lld; it must be 0 or more", (long long)count), MPI_ERR_COUNT;
    if (count > count_max)
        return trv_fail(TRV_ERR_ARGUMENT, "the count is %lld; for elements of %zu bytes it must be at most %lld",
                        (long long)count, size, (long long)count_max),
               MPI_ERR_COUNT;
    *bytes = (size_t)count * size;
    return MPI_SUCCESS;
}
