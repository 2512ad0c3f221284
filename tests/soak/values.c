/*
 * Types, operations and values, for up to nine ranks. Products are of numbers between 1 and 2, so that none overflows
 * and a relative tolerance is sufficient; floating-point sums have both signs. Integers do not overflow, and integers
 * that are compared have the highest bit clear, because the MPI libraries differ for it (Open MPI 4.1 adds signed char
 * with saturation where it has AVX, MPICH 4.0 compares unsigned integers as if they were signed). Logical values are 0
 * and 1.
 */
#include "values.h"

#include <math.h>
#include <string.h>

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t z) /* splitmix64 */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void draw_skip(draw_t *draw, uint64_t numbers) { draw->state += numbers * 0x9e3779b97f4a7c15u; }

uint64_t draw_next(draw_t *draw)
{
    draw_skip(draw, 1);
    return mixed(draw->state);
}

draw_t draw_begin(uint64_t seed, uint64_t stream, uint64_t number)
{
    return (draw_t){mixed(mixed(mixed(seed + 1) + stream + 1) + number + 1)};
}

int draw_below(draw_t *draw, int limit) { return (int)(draw_next(draw) % (uint64_t)limit); }

bool draw_once_in(draw_t *draw, int times) { return draw_below(draw, times) == 0; }

/* ---- User-defined operations, all associative -------------------------------------------------------------------- */

static void mix(void *in, void *inout, int *length, MPI_Datatype *type) /* commutative */
{
    const unsigned *a = in;
    unsigned *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        b[i] = a[i] + b[i] + a[i] * b[i];
}

/* The same operation on every second number. */
static void mix_gapped(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned *a = in;
    unsigned *b = inout;
    (void)type;
    for (int i = 0; i < 2 * *length; i += 2)
        b[i] = a[i] + b[i] + a[i] * b[i];
}

static void exclusive(void *in, void *inout, int *length, MPI_Datatype *type) /* commutative */
{
    const unsigned *a = in;
    unsigned *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        b[i] ^= a[i];
}

static void first(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*length * sizeof(unsigned));
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) /* composes maps x -> a x + b */
{
    const unsigned *f = in;
    unsigned *g = inout;
    (void)type;
    for (int i = 0; i < 2 * *length; i += 2) {
        g[i + 1] = f[i] * g[i + 1] + f[i + 1];
        g[i] = f[i] * g[i];
    }
}

typedef struct record {
    unsigned sum; /* may wrap around */
    double most;
} record_t;

static void merge(void *in, void *inout, int *length, MPI_Datatype *type) /* commutative */
{
    const record_t *a = in;
    record_t *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++) {
        b[i].sum += a[i].sum;
        b[i].most = a[i].most > b[i].most ? a[i].most : b[i].most;
    }
}

/* ---- Predefined types -------------------------------------------------------------------------------------------- */

/* Sets of operations that MPI allows for a type. */
enum { ORDERS = 1, ADDS = 2, DECIDES = 4, MASKS = 8, PLACES = 16 };

typedef struct row {
    const char *name;
    MPI_Datatype type;
    int operations;
    size_t extent;
    part_t part[2];
    int parts;
} row_t;

typedef struct operation {
    const char *name;
    MPI_Op op;
    int set;
} operation_t;

#define TYPES_MAX 96
static row_t row[TYPES_MAX];
static int rows;

static void add(const char *name, MPI_Datatype type, int operations, size_t extent, part_t a, part_t b)
{
    int size = 0;
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_size(type, &size);
    if (size > 0)
        row[rows++] = (row_t){name, type, operations, extent, {a, b}, b.size > 0 ? 2 : 1};
}

static void add_plain(const char *name, MPI_Datatype type, int operations, size_t size, domain_t domain)
{
    add(name, type, operations, size, (part_t){0, size, domain}, (part_t){0});
}

static void add_real(const char *name, MPI_Datatype type, size_t size, bool is_complex)
{
    size_t bytes = size == sizeof(long double) ? 10 : size;
    part_t imaginary = {size, bytes, REAL};
    add(name, type, is_complex ? ADDS : ADDS | ORDERS, is_complex ? 2 * size : size, (part_t){0, bytes, REAL},
        is_complex ? imaginary : (part_t){0});
}

static void add_pair(const char *name, MPI_Datatype type, size_t extent, part_t a, part_t b)
{
    add(name, type, PLACES, extent, a, b);
}

/* The name is the text of the type, as in the MPI standard. */
#define ROW(adder, type, ...) adder(#type, type, __VA_ARGS__)

static void add_integers(void)
{
    const int all = ORDERS | ADDS | DECIDES | MASKS, fortran = ORDERS | ADDS | MASKS;
    ROW(add_plain, MPI_SIGNED_CHAR, all, 1, INTEGER);
    ROW(add_plain, MPI_UNSIGNED_CHAR, all, 1, INTEGER);
    ROW(add_plain, MPI_SHORT, all, sizeof(short), INTEGER);
    ROW(add_plain, MPI_UNSIGNED_SHORT, all, sizeof(short), INTEGER);
    ROW(add_plain, MPI_INT, all, sizeof(int), INTEGER);
    ROW(add_plain, MPI_UNSIGNED, all, sizeof(int), INTEGER);
    ROW(add_plain, MPI_LONG, all, sizeof(long), INTEGER);
    ROW(add_plain, MPI_UNSIGNED_LONG, all, sizeof(long), INTEGER);
    ROW(add_plain, MPI_LONG_LONG, all, sizeof(long long), INTEGER);
    ROW(add_plain, MPI_UNSIGNED_LONG_LONG, all, sizeof(long long), INTEGER);
    ROW(add_plain, MPI_INT8_T, all, 1, INTEGER);
    ROW(add_plain, MPI_INT16_T, all, 2, INTEGER);
    ROW(add_plain, MPI_INT32_T, all, 4, INTEGER);
    ROW(add_plain, MPI_INT64_T, all, 8, INTEGER);
    ROW(add_plain, MPI_UINT8_T, all, 1, INTEGER);
    ROW(add_plain, MPI_UINT16_T, all, 2, INTEGER);
    ROW(add_plain, MPI_UINT32_T, all, 4, INTEGER);
    ROW(add_plain, MPI_UINT64_T, all, 8, INTEGER);
    ROW(add_plain, MPI_AINT, fortran, sizeof(MPI_Aint), INTEGER);
    ROW(add_plain, MPI_OFFSET, fortran, sizeof(MPI_Offset), INTEGER);
    ROW(add_plain, MPI_COUNT, fortran, sizeof(MPI_Count), INTEGER);
    ROW(add_plain, MPI_INTEGER, fortran, sizeof(MPI_Fint), INTEGER);
    ROW(add_plain, MPI_INTEGER1, fortran, 1, INTEGER);
    ROW(add_plain, MPI_INTEGER2, fortran, 2, INTEGER);
    ROW(add_plain, MPI_INTEGER4, fortran, 4, INTEGER);
    ROW(add_plain, MPI_INTEGER8, fortran, 8, INTEGER);
    ROW(add_plain, MPI_BYTE, MASKS, 1, INTEGER);
    ROW(add_plain, MPI_C_BOOL, DECIDES, sizeof(bool), LOGICAL);
    ROW(add_plain, MPI_LOGICAL, DECIDES, sizeof(MPI_Fint), LOGICAL);
    ROW(add_plain, MPI_CXX_BOOL, DECIDES, sizeof(bool), LOGICAL);
    ROW(add_plain, MPI_CHAR, 0, 1, INTEGER);
    ROW(add_plain, MPI_WCHAR, 0, sizeof(int), INTEGER);
    ROW(add_plain, MPI_CHARACTER, 0, 1, INTEGER);
}

static void add_reals(void)
{
    ROW(add_real, MPI_FLOAT, sizeof(float), false);
    ROW(add_real, MPI_DOUBLE, sizeof(double), false);
    ROW(add_real, MPI_LONG_DOUBLE, sizeof(long double), false);
    ROW(add_real, MPI_REAL, sizeof(float), false);
    ROW(add_real, MPI_REAL4, sizeof(float), false);
    ROW(add_real, MPI_REAL8, sizeof(double), false);
    ROW(add_real, MPI_DOUBLE_PRECISION, sizeof(double), false);
    ROW(add_real, MPI_C_FLOAT_COMPLEX, sizeof(float), true);
    ROW(add_real, MPI_C_DOUBLE_COMPLEX, sizeof(double), true);
    ROW(add_real, MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double), true);
    ROW(add_real, MPI_COMPLEX, sizeof(float), true);
    ROW(add_real, MPI_COMPLEX8, sizeof(float), true);
    ROW(add_real, MPI_COMPLEX16, sizeof(double), true);
    ROW(add_real, MPI_DOUBLE_COMPLEX, sizeof(double), true);
    ROW(add_real, MPI_CXX_FLOAT_COMPLEX, sizeof(float), true);
    ROW(add_real, MPI_CXX_DOUBLE_COMPLEX, sizeof(double), true);
    ROW(add_real, MPI_CXX_LONG_DOUBLE_COMPLEX, sizeof(long double), true);
}

static void add_pairs(void)
{
    const part_t place4 = {4, 4, INTEGER}, place8 = {8, 4, INTEGER}, place16 = {16, 4, INTEGER};
    ROW(add_pair, MPI_2INT, 8, (part_t){0, 4, INTEGER}, place4);
    ROW(add_pair, MPI_SHORT_INT, 8, (part_t){0, 2, INTEGER}, place4);
    ROW(add_pair, MPI_LONG_INT, 16, (part_t){0, 8, INTEGER}, place8);
    ROW(add_pair, MPI_FLOAT_INT, 8, (part_t){0, 4, REAL}, place4);
    ROW(add_pair, MPI_DOUBLE_INT, 16, (part_t){0, 8, REAL}, place8);
    ROW(add_pair, MPI_LONG_DOUBLE_INT, 32, (part_t){0, 10, REAL}, place16);
    ROW(add_pair, MPI_2INTEGER, 8, (part_t){0, 4, INTEGER}, place4);
    ROW(add_pair, MPI_2REAL, 8, (part_t){0, 4, REAL}, (part_t){4, 4, REAL});
    ROW(add_pair, MPI_2DOUBLE_PRECISION, 16, (part_t){0, 8, REAL}, (part_t){8, 8, REAL});
}

void values_begin(void)
{
    rows = 0;
    add_integers();
    add_reals();
    add_pairs();
}

/* ---- Random elements --------------------------------------------------------------------------------------------- */

static void draw_operation(draw_t *draw, int set, element_t *element)
{
    const operation_t operation[] = {{"MPI_SUM", MPI_SUM, ADDS},         {"MPI_PROD", MPI_PROD, ADDS},
                                     {"MPI_MIN", MPI_MIN, ORDERS},       {"MPI_MAX", MPI_MAX, ORDERS},
                                     {"MPI_LAND", MPI_LAND, DECIDES},    {"MPI_LOR", MPI_LOR, DECIDES},
                                     {"MPI_LXOR", MPI_LXOR, DECIDES},    {"MPI_BAND", MPI_BAND, MASKS},
                                     {"MPI_BOR", MPI_BOR, MASKS},        {"MPI_BXOR", MPI_BXOR, MASKS},
                                     {"MPI_MINLOC", MPI_MINLOC, PLACES}, {"MPI_MAXLOC", MPI_MAXLOC, PLACES}};
    int fits[sizeof operation / sizeof operation[0]], found = 0;
    for (int i = 0; i < (int)(sizeof operation / sizeof operation[0]); i++)
        if (operation[i].set & set)
            fits[found++] = i;
    const operation_t *drawn = &operation[fits[draw_below(draw, found)]];
    element->op = drawn->op;
    element->op_name = drawn->name;
}

static element_t draw_predefined(draw_t *draw, bool reduces)
{
    const row_t *drawn = &row[draw_below(draw, rows)];
    while (reduces && drawn->operations == 0)
        drawn = &row[draw_below(draw, rows)];
    element_t element = {.type = drawn->type,
                         .op = MPI_OP_NULL,
                         .type_name = drawn->name,
                         .op_name = "moved",
                         .extent = drawn->extent,
                         .part = {drawn->part[0], drawn->part[1]},
                         .parts = drawn->parts};
    if (reduces)
        draw_operation(draw, drawn->operations, &element);
    element.exact = drawn->part[0].domain != REAL || (element.op != MPI_SUM && element.op != MPI_PROD);
    return element;
}

static MPI_Datatype record_type(void)
{
    int one[2] = {1, 1};
    MPI_Aint at[2] = {offsetof(record_t, sum), offsetof(record_t, most)};
    MPI_Datatype part[2] = {MPI_UNSIGNED, MPI_DOUBLE}, made;
    MPI_Type_create_struct(2, one, at, part, &made);
    return made;
}

/* Operations and types are created and freed with the element, so a handle that MPI reuses denotes another one. */
static element_t draw_own(draw_t *draw)
{
    const part_t word = {0, 4, INTEGER}, second = {4, 4, INTEGER};
    element_t element = {.type = MPI_UNSIGNED,
                         .type_name = "MPI_UNSIGNED",
                         .extent = 4,
                         .part = {word, second},
                         .parts = 1,
                         .own_op = true,
                         .exact = true};
    switch (draw_below(draw, 6)) {
    case 0: MPI_Op_create(mix, 1, &element.op), element.op_name = "user-defined mix"; break;
    case 1: MPI_Op_create(exclusive, 1, &element.op), element.op_name = "user-defined exclusive or"; break;
    case 2: MPI_Op_create(first, 0, &element.op), element.op_name = "user-defined first"; break;
    case 3:
        MPI_Op_create(compose, 0, &element.op), element.op_name = "user-defined compose";
        MPI_Type_contiguous(2, MPI_UNSIGNED, &element.type), element.type_name = "two MPI_UNSIGNED";
        element.own_type = true, element.extent = 8, element.parts = 2;
        break;
    case 4:
        MPI_Op_create(mix_gapped, 1, &element.op), element.op_name = "user-defined mix";
        MPI_Type_create_resized(MPI_UNSIGNED, 0, 8, &element.type), element.type_name = "MPI_UNSIGNED and a gap";
        element.own_type = true, element.extent = 8;
        break;
    default:
        MPI_Op_create(merge, 1, &element.op), element.op_name = "user-defined merge";
        element.type = record_type(), element.type_name = "a struct";
        element.part[1] = (part_t){offsetof(record_t, most), sizeof(double), REAL};
        element.own_type = true, element.extent = sizeof(record_t), element.parts = 2;
    }
    if (element.own_type)
        MPI_Type_commit(&element.type);
    return element;
}

element_t element_draw(draw_t *draw, bool reduces)
{
    return draw_once_in(draw, 6) ? draw_own(draw) : draw_predefined(draw, reduces);
}

void element_free(element_t *element)
{
    if (element->own_type)
        MPI_Type_free(&element->type);
    if (element->own_op)
        MPI_Op_free(&element->op);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void put_real(char *at, size_t size, double value)
{
    float single = (float)value;
    long double large = (long double)value;
    memcpy(at, size == 4 ? (const void *)&single : size == 8 ? (const void *)&value : (const void *)&large, size);
}

static long double get_real(const char *at, size_t size)
{
    float single;
    double value;
    long double large = 0;
    if (size == 4)
        return memcpy(&single, at, size), single;
    if (size == 8)
        return memcpy(&value, at, size), value;
    memcpy(&large, at, size);
    return large;
}

static void fill_part(const element_t *element, const part_t *part, char *at, uint64_t bits)
{
    bool masks = element->op == MPI_BAND || element->op == MPI_BOR || element->op == MPI_BXOR;
    bool any = masks || element->own_op || element->op == MPI_OP_NULL;
    double fraction = (double)(bits >> 40) / (double)(1 << 24);
    /* Few different values, so that the index decides; no sum or product of nine overflows. */
    unsigned char small[8] = {bits % (element->op == MPI_PROD && part->size == 1 ? 2 : 4)};
    if (part->domain == LOGICAL)
        small[0] = bits & 1;
    if (part->domain != REAL)
        memcpy(at, any && part->domain == INTEGER ? (const void *)&bits : (const void *)small, part->size);
    else if (element->op == MPI_MINLOC || element->op == MPI_MAXLOC)
        put_real(at, part->size, (double)(bits % 5));
    else
        put_real(at, part->size, element->op == MPI_PROD ? 1 + fraction : 2 * fraction - 1);
}

void element_fill(const element_t *element, void *buffer, size_t first, size_t count, uint64_t seed)
{
    draw_t draw = {seed};
    draw_skip(&draw, first * (uint64_t)element->parts);
    memset(buffer, 0, count * element->extent);
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < element->parts; p++)
            fill_part(element, &element->part[p], (char *)buffer + i * element->extent + element->part[p].at,
                      draw_next(&draw));
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static bool near(const element_t *element, const char *got, const char *wanted)
{
    long double size = element->op == MPI_SUM ? 4 : 0, worst = 0;
    for (int p = 0; p < element->parts; p++) {
        const part_t *part = &element->part[p];
        long double w = get_real(wanted + part->at, part->size), off = fabsl(get_real(got + part->at, part->size) - w);
        size += fabsl(w);
        if (isnan(off))
            return false;
        worst = off > worst ? off : worst;
    }
    return worst <= size * (element->part[0].size == 4 ? 1e-5L : 1e-13L);
}

static bool identical(const element_t *element, const char *got, const char *wanted)
{
    for (int p = 0; p < element->parts; p++)
        if (memcmp(got + element->part[p].at, wanted + element->part[p].at, element->part[p].size) != 0)
            return false;
    return true;
}

size_t element_compare(const element_t *element, const void *got, const void *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *a = (const char *)got + i * element->extent, *b = (const char *)wanted + i * element->extent;
        if (!(element->exact ? identical(element, a, b) : near(element, a, b)))
            return i;
    }
    return count;
}

uint64_t element_hash(const element_t *element, const void *buffer, size_t count)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < element->parts; p++) {
            const unsigned char *at = (const unsigned char *)buffer + i * element->extent + element->part[p].at;
            for (size_t b = 0; b < element->part[p].size; b++)
                sum = (sum ^ at[b]) * 1099511628211u;
        }
    return sum;
}
