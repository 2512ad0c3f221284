/*
 * Maps MPI types and operations to the core's kernels. Pair types, Fortran logicals, 16-byte reals and user-defined
 * operations use MPI_Reduce_local; types with gaps are left to the MPI library.
 *
 * A predefined operation is executed on the types for which both the MPI standard and the MPI library define it. MPI
 * libraries differ from the standard: what only the library accepts is left to it, and what it rejects is an error.
 */
#include "mpi/operations/elements.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"
#include "mpi/operations/contiguous.h"
#include "mpi/settings/job_settings.h"

enum { OPS_MAX = 14 }; /* predefined operations */
#define TYPES_MAX 96

/* The classes of predefined types, by which MPI defines its operations, as bits. */
enum {
    C_INTEGER = 1,
    FORTRAN_INTEGER = 2,
    FLOATING = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTE = 32,
    MULTI_LANGUAGE = 64,
    PAIR = 128
};

typedef struct known_type {
    MPI_Datatype datatype;
    int class;
    bool has_kernel;
    trv_type_t type;                /* if it has a kernel */
    atomic_schar accepted[OPS_MAX]; /* by operation: whether the MPI library accepts it; 0: not known yet, 1, or -1 */
} known_type_t;

/* `defined`: the classes of types for which the MPI standard defines the operation. `kernel`: the core's operation; it
 * has no meaning for operations on pairs and for those that no class has. */
typedef struct known_op {
    const char *name;
    MPI_Op op;
    int defined;
    trv_op_t kernel;
} known_op_t;

static known_type_t known[TYPES_MAX];
static int known_types;
static known_op_t known_op[OPS_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* permits one collective at a time on trv_mpi_own_comm */

/* Kernels besides those of trv_type_t: none, or the one that the class and the size of a type determine. */
enum { NO_KERNEL = -1, BY_SIZE = -2, UNSIGNED_BY_SIZE = -3 };

/* The kernel of a type of this class and size. The size of integers, and of Fortran's types, depends on the machine and
 * on how the MPI library was built. */
static int kernel_by_size(int class, size_t size, bool is_signed)
{
    static const trv_type_t with_sign[] = {TRV_INT8, TRV_INT16, TRV_INT32, TRV_INT64};
    static const trv_type_t without[] = {TRV_UINT8, TRV_UINT16, TRV_UINT32, TRV_UINT64};
    const int at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (class == FLOATING)
        return size == sizeof(float) ? TRV_FLOAT : size == sizeof(double) ? TRV_DOUBLE : NO_KERNEL;
    if (class == COMPLEX)
        return size == 2 * sizeof(float)    ? TRV_COMPLEX_FLOAT
               : size == 2 * sizeof(double) ? TRV_COMPLEX_DOUBLE
                                            : NO_KERNEL;
    if (at < 0)
        return NO_KERNEL;
    return (int)(is_signed ? with_sign[at] : without[at]);
}

/* Adds types, of which some may be missing in this MPI library. `kernel`: a trv_type_t, NO_KERNEL, BY_SIZE
 * (signed, if integers) or UNSIGNED_BY_SIZE. */
static void add_types(int class, int kernel, int types, const MPI_Datatype *type)
{
    for (int i = 0; i < types; i++) {
        int size = 0, found = kernel;
        if (type[i] == MPI_DATATYPE_NULL || known_types == TYPES_MAX || PMPI_Type_size(type[i], &size) != MPI_SUCCESS)
            continue;
        if (kernel == BY_SIZE || kernel == UNSIGNED_BY_SIZE)
            found = kernel_by_size(class, (size_t)size, kernel == BY_SIZE);
        known[known_types++] = (known_type_t){.datatype = type[i],
                                              .class = class,
                                              .has_kernel = found >= 0,
                                              .type = found >= 0 ? (trv_type_t)found : 0};
    }
}

#define ADD_TYPES(class, kernel, ...)                                                                                  \
    add_types(class, kernel, (int)(sizeof((MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype)),                      \
              (MPI_Datatype[]){__VA_ARGS__})

static void add_all_types(void)
{
    ADD_TYPES(C_INTEGER, BY_SIZE, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
              MPI_INT32_T, MPI_INT64_T);
    ADD_TYPES(C_INTEGER, UNSIGNED_BY_SIZE, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
              MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T);
    ADD_TYPES(MULTI_LANGUAGE, BY_SIZE, MPI_AINT, MPI_OFFSET, MPI_COUNT);
    ADD_TYPES(FLOATING, BY_SIZE, MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_REAL16,
              MPI_DOUBLE_PRECISION);
    ADD_TYPES(FLOATING, TRV_LONG_DOUBLE, MPI_LONG_DOUBLE);
    ADD_TYPES(COMPLEX, BY_SIZE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
              MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_DOUBLE_COMPLEX);
    ADD_TYPES(COMPLEX, TRV_COMPLEX_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX);
    ADD_TYPES(LOGICAL, TRV_BOOL, MPI_C_BOOL, MPI_CXX_BOOL);
    ADD_TYPES(BYTE, TRV_UINT8, MPI_BYTE);
#ifdef MPIX_C_FLOAT16
    ADD_TYPES(FLOATING, TRV_FLOAT16, MPIX_C_FLOAT16);
#endif
    ADD_TYPES(FORTRAN_INTEGER, BY_SIZE, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8);
    ADD_TYPES(LOGICAL, NO_KERNEL, MPI_LOGICAL);
    ADD_TYPES(PAIR, NO_KERNEL, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
              MPI_LONG_DOUBLE_INT, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION);
}

/* The operations on types of every class, as in the MPI standard's table. */
static void add_ops(void)
{
    const int integers = C_INTEGER | FORTRAN_INTEGER | MULTI_LANGUAGE, ordered = integers | FLOATING,
              numbers = ordered | COMPLEX, logical = C_INTEGER | LOGICAL, bits = integers | BYTE;
    const known_op_t op[OPS_MAX] = {
        {"MPI_SUM", MPI_SUM, numbers, TRV_SUM},    {"MPI_PROD", MPI_PROD, numbers, TRV_PROD},
        {"MPI_MIN", MPI_MIN, ordered, TRV_MIN},    {"MPI_MAX", MPI_MAX, ordered, TRV_MAX},
        {"MPI_LAND", MPI_LAND, logical, TRV_LAND}, {"MPI_LOR", MPI_LOR, logical, TRV_LOR},
        {"MPI_LXOR", MPI_LXOR, logical, TRV_LXOR}, {"MPI_BAND", MPI_BAND, bits, TRV_BAND},
        {"MPI_BOR", MPI_BOR, bits, TRV_BOR},       {"MPI_BXOR", MPI_BXOR, bits, TRV_BXOR},
        {"MPI_MINLOC", MPI_MINLOC, PAIR, 0},       {"MPI_MAXLOC", MPI_MAXLOC, PAIR, 0},
        {"MPI_REPLACE", MPI_REPLACE, 0, 0},        {"MPI_NO_OP", MPI_NO_OP, 0, 0},
    };
    memcpy(known_op, op, sizeof known_op);
}

static void add_all(void)
{
    add_all_types();
    add_ops();
}

static known_type_t *find_type(MPI_Datatype datatype)
{
    for (int i = 0; i < known_types; i++)
        if (known[i].datatype == datatype)
            return &known[i];
    return NULL;
}

/* NULL: a user-defined operation. */
static const known_op_t *find_op(MPI_Op op)
{
    for (int i = 0; i < OPS_MAX; i++)
        if (known_op[i].op == op)
            return &known_op[i];
    return NULL;
}

/* Whether the MPI standard defines a predefined operation on a type. */
static bool is_defined(const known_op_t *op, const known_type_t *type) { return type && op->defined & type->class; }

/* Whether the MPI library accepts a predefined operation on a type: it checks the arguments of a call without elements
 * on a communicator of this process alone. */
static bool library_accepts(MPI_Datatype datatype, MPI_Op op)
{
    pthread_mutex_lock(&lock);
    MPI_Comm comm = trv_mpi_own_comm();
    const bool accepts = comm == MPI_COMM_NULL || PMPI_Allreduce(NULL, NULL, 0, datatype, op, comm) == MPI_SUCCESS;
    pthread_mutex_unlock(&lock);
    return accepts;
}

static bool accepts(known_type_t *type, MPI_Datatype datatype, const known_op_t *op)
{
    if (!type)
        return library_accepts(datatype, op->op);
    atomic_schar *accepted = &type->accepted[op - known_op];
    if (atomic_load_explicit(accepted, memory_order_relaxed) == 0)
        atomic_store(accepted, library_accepts(datatype, op->op) ? 1 : -1);
    return atomic_load_explicit(accepted, memory_order_relaxed) > 0;
}

static int fail_undefined(MPI_Datatype datatype, const known_op_t *op)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Type_get_name(datatype, name, &length);
    return trv_fail(TRV_ERR_UNSUPPORTED, "the MPI library does not define the operation %s on %s%s", op->name,
                    *name ? "the type " : "a derived type", name),
           MPI_ERR_OP;
}

/* Elements for which no kernel exists, because of the type or because of the operation. They use MPI_Reduce_local or,
 * with the reason in elements->reason, the MPI library's collective. MPI_SUCCESS or an error class. */
static int local_elements(MPI_Datatype datatype, MPI_Op op, const known_type_t *type, const known_op_t *predefined,
                          trv_mpi_elements_t *elements)
{
    int commutative = 1;
    if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_ARGUMENT, "the operation is invalid; pass MPI_SUM, for example"), MPI_ERR_OP;
    int code = trv_mpi_contiguous(datatype, &elements->size);
    if (code == MPI_SUCCESS && !trv_mpi_is_drop_in() && !trv_mpi_is_committed(datatype))
        code = trv_mpi_fail_uncommitted(); /* the drop-in leaves derived types to the MPI library */
    if (code != MPI_SUCCESS)
        return code;
    elements->reducer = TRV_MPI_LOCAL;
    elements->commutative = commutative;
    elements->predefined = type && predefined;
    if (predefined && !is_defined(predefined, type))
        elements->reason = "a predefined operation on a type for which only the MPI library defines it";
    else if (type && !type->has_kernel) {
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
    pthread_once(&once, add_all);
    *elements = (trv_mpi_elements_t){.reducer = TRV_MPI_KERNEL, .commutative = true};
    if (datatype == MPI_DATATYPE_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the datatype is MPI_DATATYPE_NULL; pass a committed type"), MPI_ERR_TYPE;
    if (op == MPI_OP_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the operation is MPI_OP_NULL; pass MPI_SUM, for example"), MPI_ERR_OP;
    known_type_t *type = find_type(datatype);
    const known_op_t *predefined = find_op(op);
    if (predefined && !accepts(type, datatype, predefined))
        return fail_undefined(datatype, predefined);
    if (!predefined || !is_defined(predefined, type) || !type->has_kernel)
        return local_elements(datatype, op, type, predefined, elements);
    elements->type = type->type;
    elements->op = predefined->kernel;
    elements->size = trv_type_size(type->type);
    elements->predefined = true;
    elements->exact = trv_op_exact(elements->op, elements->type);
    elements->idempotent = trv_op_idempotent(elements->op);
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
