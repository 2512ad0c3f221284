/*
 * Detects types whose elements are contiguous and in the order of their addresses. Size and extents do not suffice: an
 * MPI_Type_indexed of two adjacent blocks in descending order has those of a contiguous type, but its first element has
 * the higher address. Therefore the construction of a type is examined. Constructions that are contiguous for another
 * reason than those below are treated as if they had gaps, which is correct but slower.
 */
#include "mpi/operations/contiguous.h"

#include <stdlib.h>

#include "base/error.h"
#include "mpi/communicator/attribute.h"

typedef struct shape {
    MPI_Count size, lower, extent, true_lower, true_extent;
} shape_t;

static int shape_of(MPI_Datatype type, shape_t *shape)
{
    return PMPI_Type_size_x(type, &shape->size) != MPI_SUCCESS ||
                   PMPI_Type_get_extent_x(type, &shape->lower, &shape->extent) != MPI_SUCCESS ||
                   PMPI_Type_get_true_extent_x(type, &shape->true_lower, &shape->true_extent) != MPI_SUCCESS
               ? trv_fail(TRV_ERR_ARGUMENT, "the datatype is invalid; pass a committed type")
               : TRV_OK;
}

static bool has_no_holes(const shape_t *shape)
{
    return shape->size > 0 && shape->true_lower == 0 && shape->true_extent == shape->size;
}

static bool has_no_gaps(const shape_t *shape)
{
    return has_no_holes(shape) && shape->lower == 0 && shape->extent == shape->size;
}

/* The arguments with which a type was created. */
typedef struct contents {
    int combiner, integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
} contents_t;

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

static void contents_free(contents_t *c)
{
    int integers, addresses, types, combiner;
    for (int i = 0; c->type && i < c->types; i++) {
        PMPI_Type_get_envelope(c->type[i], &integers, &addresses, &types, &combiner);
        if (!is_predefined(combiner))
            PMPI_Type_free(&c->type[i]);
    }
    free(c->integer);
    free(c->address);
    free(c->type);
}

/* Returns false if they are not available. */
static bool contents_get(MPI_Datatype type, contents_t *c)
{
    *c = (contents_t){.combiner = MPI_COMBINER_NAMED};
    if (PMPI_Type_get_envelope(type, &c->integers, &c->addresses, &c->types, &c->combiner) != MPI_SUCCESS)
        return false;
    if (is_predefined(c->combiner))
        return true;
    const int types = c->types;
    c->integer = malloc(((size_t)c->integers + 1) * sizeof *c->integer);
    c->address = malloc(((size_t)c->addresses + 1) * sizeof *c->address);
    c->type = malloc(((size_t)types + 1) * sizeof(MPI_Datatype));
    c->types = 0; /* there are none to free */
    if (!c->integer || !c->address || !c->type ||
        PMPI_Type_get_contents(type, c->integers, c->addresses, types, c->integer, c->address, c->type) != MPI_SUCCESS)
        return false;
    c->types = types;
    return true;
}

static bool is_in_order(MPI_Datatype type);

/* Whether `count` elements of the type, one after the other, are contiguous and in order. *size: bytes of one. */
static bool repeats(MPI_Datatype type, MPI_Count count, MPI_Count *size)
{
    shape_t shape;
    if (shape_of(type, &shape) < 0)
        return false;
    *size = shape.size;
    return (count > 1 ? has_no_gaps(&shape) : has_no_holes(&shape)) && is_in_order(type);
}

/* The blocks of an indexed type or a struct: each begins where the one before ends. */
static bool are_blocks_in_order(const contents_t *c)
{
    const bool is_struct = c->combiner == MPI_COMBINER_STRUCT, in_bytes = c->addresses > 0;
    const bool same_length = c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const int blocks = c->integer[0];
    const int *displacement = c->integer + (same_length ? 2 : 1 + blocks);
    MPI_Count end = 0, size = 0;
    if (!is_struct && !repeats(c->type[0], 2, &size))
        return false;
    for (int i = 0; i < blocks; i++) {
        const MPI_Count length = c->integer[same_length ? 1 : 1 + i];
        if (length == 0)
            continue;
        if (is_struct && !repeats(c->type[i], length, &size))
            return false;
        if ((in_bytes ? c->address[i] : displacement[i] * size) != end)
            return false;
        end += length * size;
    }
    return true;
}

/* Whether the parts of a type without holes are in the order of their addresses. */
static bool is_constructed_in_order(const contents_t *c)
{
    MPI_Count size = 0;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return repeats(c->type[0], 1, &size);
    case MPI_COMBINER_CONTIGUOUS: return c->integers > 0 && repeats(c->type[0], c->integer[0], &size);
    case MPI_COMBINER_VECTOR:
        return c->integers == 3 && (c->integer[0] == 1 || c->integer[2] == c->integer[1]) &&
               repeats(c->type[0], 2, &size);
    case MPI_COMBINER_HVECTOR:
        return c->integers == 2 && c->addresses == 1 && repeats(c->type[0], 2, &size) &&
               (c->integer[0] == 1 || c->address[0] == c->integer[1] * size);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: return repeats(c->type[0], 2, &size);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT: return c->integers > 0 && are_blocks_in_order(c);
    default: return false;
    }
}

static bool is_in_order(MPI_Datatype type)
{
    contents_t c;
    bool in_order = contents_get(type, &c);
    if (in_order && !is_predefined(c.combiner))
        in_order = c.types > 0 && is_constructed_in_order(&c);
    contents_free(&c);
    return in_order;
}

bool trv_mpi_is_committed(MPI_Datatype datatype)
{
    const char byte = 0; /* not sent; NULL would be an error of its own */
    MPI_Comm comm = trv_mpi_own_comm();
    return comm == MPI_COMM_NULL || PMPI_Send(&byte, 1, datatype, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS;
}

int trv_mpi_fail_uncommitted(void)
{
    return trv_fail(TRV_ERR_ARGUMENT, "the datatype is not committed; call MPI_Type_commit first"), MPI_ERR_TYPE;
}

int trv_mpi_contiguous(MPI_Datatype datatype, size_t *size)
{
    shape_t shape;
    if (datatype == MPI_DATATYPE_NULL)
        return trv_fail(TRV_ERR_ARGUMENT, "the datatype is MPI_DATATYPE_NULL; pass a committed type"), MPI_ERR_TYPE;
    if (shape_of(datatype, &shape) < 0)
        return MPI_ERR_TYPE;
    *size = has_no_gaps(&shape) && is_in_order(datatype) ? (size_t)shape.size : 0;
    return MPI_SUCCESS;
}
