/*
 * Element types and operations: names, sizes, and the operations that are defined on each type, according to MPI-4.0
 * section 6.9.2. The function trv_op_supports defines the limits; the kernel tables follow it, and a test compares the
 * two.
 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/reduce.h>

#include "base/error.h"
#include "base/number.h"

static const struct {
    const char *name;
    size_t size;
} types[TRV_TYPES] = {
    [TRV_INT8] = {"int8", 1},
    [TRV_INT16] = {"int16", 2},
    [TRV_INT32] = {"int32", 4},
    [TRV_INT64] = {"int64", 8},
    [TRV_UINT8] = {"uint8", 1},
    [TRV_UINT16] = {"uint16", 2},
    [TRV_UINT32] = {"uint32", 4},
    [TRV_UINT64] = {"uint64", 8},
    [TRV_FLOAT16] = {"float16", 2},
    [TRV_BFLOAT16] = {"bfloat16", 2},
    [TRV_FLOAT] = {"float", sizeof(float)},
    [TRV_DOUBLE] = {"double", sizeof(double)},
    [TRV_LONG_DOUBLE] = {"longdouble", sizeof(long double)},
    [TRV_COMPLEX_FLOAT] = {"complexfloat", 2 * sizeof(float)},
    [TRV_COMPLEX_DOUBLE] = {"complexdouble", 2 * sizeof(double)},
    [TRV_COMPLEX_LONG_DOUBLE] = {"complexlongdouble", 2 * sizeof(long double)},
    [TRV_BOOL] = {"bool", sizeof(bool)},
};

static const char *const ops[TRV_OPS] = {
    [TRV_SUM] = "sum", [TRV_PROD] = "prod", [TRV_MIN] = "min",   [TRV_MAX] = "max", [TRV_LAND] = "land",
    [TRV_LOR] = "lor", [TRV_LXOR] = "lxor", [TRV_BAND] = "band", [TRV_BOR] = "bor", [TRV_BXOR] = "bxor",
};

static bool known_type(trv_type_t type) { return (unsigned)type < TRV_TYPES; }

size_t trv_type_size(trv_type_t type) { return known_type(type) ? types[type].size : 0; }

const char *trv_type_name(trv_type_t type) { return known_type(type) ? types[type].name : "none"; }

const char *trv_op_name(trv_op_t op) { return (unsigned)op < TRV_OPS ? ops[op] : "none"; }

/* Writes the names, separated by commas, for an error message. */
static void list_names(char *text, size_t size, int count, const char *(*name)(int))
{
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", name(i));
}

static const char *type_at(int i) { return types[i].name; }

static const char *op_at(int i) { return ops[i]; }

int trv_type_parse(const char *name, trv_type_t *type)
{
    for (int i = 0; name && i < TRV_TYPES; i++)
        if (!trv_strcasecmp(name, types[i].name)) {
            *type = (trv_type_t)i;
            return 0;
        }
    char list[400];
    list_names(list, sizeof list, TRV_TYPES, type_at);
    return trv_fail(TRV_ERR_ARGUMENT, "element type '%.40s' does not exist; the types are %s", name ? name : "", list);
}

int trv_op_parse(const char *name, trv_op_t *op)
{
    for (int i = 0; name && i < TRV_OPS; i++)
        if (!trv_strcasecmp(name, ops[i])) {
            *op = (trv_op_t)i;
            return 0;
        }
    char list[200];
    list_names(list, sizeof list, TRV_OPS, op_at);
    return trv_fail(TRV_ERR_ARGUMENT, "operation '%.40s' does not exist; the operations are %s", name ? name : "",
                    list);
}

static bool is_integer(trv_type_t type) { return type <= TRV_UINT64; }

static bool is_complex(trv_type_t type) { return type >= TRV_COMPLEX_FLOAT && type <= TRV_COMPLEX_LONG_DOUBLE; }

bool trv_op_supports(trv_op_t op, trv_type_t type)
{
    if (!known_type(type) || (unsigned)op >= TRV_OPS)
        return false;
    switch (op) {
    case TRV_SUM:
    case TRV_PROD: return type != TRV_BOOL;
    case TRV_MIN:
    case TRV_MAX: return type != TRV_BOOL && !is_complex(type);
    default: /* logical and bitwise */ return is_integer(type) || type == TRV_BOOL;
    }
}

bool trv_op_exact(trv_op_t op, trv_type_t type)
{
    return trv_op_supports(op, type) && (is_integer(type) || type == TRV_BOOL);
}

bool trv_op_idempotent(trv_op_t op)
{
    return op == TRV_MIN || op == TRV_MAX || op == TRV_LAND || op == TRV_LOR || op == TRV_BAND || op == TRV_BOR;
}
