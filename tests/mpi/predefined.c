/* The lists of predefined.h. */
#include "predefined.h"

#include <stdint.h>
#include <string.h>

#define PACKED_MAX 4096

#define TYPE(type, class)                                                                                              \
    {                                                                                                                  \
#type, type, class                                                                                             \
    }

const named_type_t *predefined_types(int *count)
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
        TYPE(MPI_AINT, 'm'),
        TYPE(MPI_OFFSET, 'm'),
        TYPE(MPI_COUNT, 'm'),
        TYPE(MPI_INTEGER, 'm'),
        TYPE(MPI_INTEGER1, 'm'),
        TYPE(MPI_INTEGER2, 'm'),
        TYPE(MPI_INTEGER4, 'm'),
        TYPE(MPI_INTEGER8, 'm'),
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
        TYPE(MPI_REAL16, 'f'),
        TYPE(MPI_COMPLEX8, 'c'),
        TYPE(MPI_COMPLEX16, 'c'),
        TYPE(MPI_COMPLEX32, 'c'),
        TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, 'c'),
        TYPE(MPI_CHAR, 'n'),
        TYPE(MPI_WCHAR, 'n'),
        TYPE(MPI_CHARACTER, 'n'),
        TYPE(MPI_PACKED, 'n'),
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

const named_op_t *predefined_ops(int *count)
{
    static named_op_t list[14];
    const named_op_t all[] = {
        {"MPI_SUM", MPI_SUM, "imfc"},     {"MPI_PROD", MPI_PROD, "imfc"},  {"MPI_MIN", MPI_MIN, "imf"},
        {"MPI_MAX", MPI_MAX, "imf"},      {"MPI_LAND", MPI_LAND, "il"},    {"MPI_LOR", MPI_LOR, "il"},
        {"MPI_LXOR", MPI_LXOR, "il"},     {"MPI_BAND", MPI_BAND, "imb"},   {"MPI_BOR", MPI_BOR, "imb"},
        {"MPI_BXOR", MPI_BXOR, "imb"},    {"MPI_MINLOC", MPI_MINLOC, "p"}, {"MPI_MAXLOC", MPI_MAXLOC, "p"},
        {"MPI_REPLACE", MPI_REPLACE, ""}, {"MPI_NO_OP", MPI_NO_OP, ""},
    };
    memcpy(list, all, sizeof all);
    *count = (int)(sizeof all / sizeof all[0]);
    return list;
}

/* Small whole numbers, which are exact in every type. Pairs are written according to MPI's description of the type. */
static void fill(const named_type_t *type, char *buffer, size_t extent, int count, int rank)
{
    for (int i = 0; i < count; i++) {
        char *to = buffer + (size_t)i * extent;
        int number = (7 * rank + 5 * i) % 3 + (type->class == 'l' ? 0 : 1);
        memset(to, 0, extent);
        if (type->type == MPI_REAL16 || type->type == MPI_COMPLEX32)
            continue; /* their format differs between libraries: 0 */
        if (strchr("imbn", type->class)) {
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
static void fill_pairs(MPI_Datatype type, char *buffer, size_t extent, int count, int rank)
{
    memset(buffer, 0, (size_t)count * extent);
    for (int i = 0; i < count; i++) {
        char *to = buffer + (size_t)i * extent;
        int value = (7 * rank + 5 * i) % 4, index = rank;
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

void predefined_fill(const named_type_t *type, void *buffer, int count, int rank)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type->type, &lower, &extent);
    if (type->class == 'p')
        fill_pairs(type->type, buffer, (size_t)extent, count, rank);
    else
        fill(type, buffer, (size_t)extent, count, rank);
}

bool predefined_same(const named_type_t *type, const void *a, const void *b, int count)
{
    char packed[2][PACKED_MAX];
    const char *x = a, *y = b;
    int position[2] = {0, 0};
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type->type, &lower, &extent);
    if (type->type == MPI_LONG_DOUBLE || type->type == MPI_C_LONG_DOUBLE_COMPLEX ||
        type->type == MPI_CXX_LONG_DOUBLE_COMPLEX || type->type == MPI_LONG_DOUBLE_INT) {
        bool equal = true; /* a number has 10 of 16 bytes */
        for (size_t at = 0; at < (size_t)count * (size_t)extent; at += 16)
            equal = equal && (memcmp(x + at, y + at, 10) == 0 ||
                              (type->type == MPI_LONG_DOUBLE_INT && at % 32 == 16 && memcmp(x + at, y + at, 4) == 0));
        return equal;
    }
    MPI_Pack(a, count, type->type, packed[0], PACKED_MAX, &position[0], MPI_COMM_SELF);
    MPI_Pack(b, count, type->type, packed[1], PACKED_MAX, &position[1], MPI_COMM_SELF);
    return position[0] == position[1] && memcmp(packed[0], packed[1], (size_t)position[0]) == 0;
}

bool predefined_crashes(const named_type_t *type, const named_op_t *op)
{
#if defined(MPICH)
    return type->class == 'f' && (op->op == MPI_LAND || op->op == MPI_LOR || op->op == MPI_LXOR);
#else
    (void)type, (void)op;
    return false;
#endif
}
