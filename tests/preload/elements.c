/*
 * Types, operations and values. Floating-point values are between 1 and 2, so that sums and products of a few values do
 * not cancel and a relative tolerance is sufficient. Integers do not overflow, and integers that are compared have the
 * highest bit clear, because the MPI libraries differ for it (Open MPI 4.1 adds signed char with saturation where it
 * has AVX, MPICH 4.0 compares unsigned integers as if they were signed).
 */
#include "elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static MPI_Op mix_op, first_op, compose_op;
static MPI_Datatype map_type; /* two unsigned: x -> a x + b */

uint64_t number(uint64_t seed)
{
    seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return seed ^ (seed >> 31);
}

/* ---- User-defined operations, all associative -------------------------------------------------------------------- */

static void mix(void *in, void *inout, int *length, MPI_Datatype *type) /* commutative */
{
    const unsigned *a = in;
    unsigned *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        b[i] = a[i] + b[i] + a[i] * b[i];
}

static void first(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*length * sizeof(unsigned));
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned *f = in;
    unsigned *g = inout;
    (void)type;
    for (int i = 0; i < 2 * *length; i += 2) {
        g[i + 1] = f[i] * g[i + 1] + f[i + 1];
        g[i] = f[i] * g[i];
    }
}

void elements_begin(void)
{
    MPI_Op_create(mix, 1, &mix_op);
    MPI_Op_create(first, 0, &first_op);
    MPI_Op_create(compose, 0, &compose_op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &map_type);
    MPI_Type_commit(&map_type);
}

void elements_end(void)
{
    MPI_Op_free(&mix_op);
    MPI_Op_free(&first_op);
    MPI_Op_free(&compose_op);
    MPI_Type_free(&map_type);
}

/* ---- Random elements --------------------------------------------------------------------------------------------- */

static MPI_Op one_of(const MPI_Op *op, int count, uint64_t seed) { return op[number(seed) % (uint64_t)count]; }

element_t elements_draw(uint64_t seed)
{
    const MPI_Op integer[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                              MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    const MPI_Op location[] = {MPI_MINLOC, MPI_MAXLOC};
    const element_t element[] = {
        {MPI_INT, sizeof(int), INTEGER, one_of(integer, 10, seed), true},
        {MPI_LONG, sizeof(long), INTEGER, one_of(integer, 10, seed), true},
        {MPI_UNSIGNED_SHORT, sizeof(short), INTEGER, one_of(integer, 10, seed), true},
        {MPI_SIGNED_CHAR, 1, INTEGER, one_of(integer, 10, seed), true},
        {MPI_UINT64_T, 8, INTEGER, one_of(integer, 10, seed), true},
        {MPI_AINT, sizeof(MPI_Aint), INTEGER, one_of(integer, 4, seed), true},
        {MPI_INTEGER, sizeof(MPI_Fint), INTEGER, one_of(integer, 4, seed), true},
        {MPI_C_BOOL, sizeof(bool), LOGICAL, one_of(integer + 4, 3, seed), true},
        {MPI_BYTE, 1, BITS, one_of(integer + 7, 3, seed), true},
        {MPI_FLOAT, sizeof(float), FLOAT, one_of(integer, 4, seed), false},
        {MPI_DOUBLE, sizeof(double), DOUBLE, one_of(integer, 4, seed), false},
        {MPI_DOUBLE, sizeof(double), DOUBLE, MPI_SUM, false},
        {MPI_DOUBLE_PRECISION, sizeof(double), DOUBLE, one_of(integer, 4, seed), false},
        {MPI_LONG_DOUBLE, sizeof(long double), LONG_DOUBLE, one_of(integer, 4, seed), false},
        {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float), FLOATS, MPI_SUM, false},
        {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), DOUBLES, MPI_SUM, false},
        {MPI_2INT, 2 * sizeof(int), PAIR_INT, one_of(location, 2, seed), true},
        {MPI_DOUBLE_INT, 2 * sizeof(double), PAIR_DOUBLE, one_of(location, 2, seed), true},
        {MPI_UNSIGNED, sizeof(unsigned), INTEGER, mix_op, true},
        {MPI_UNSIGNED, sizeof(unsigned), INTEGER, first_op, true},
        {map_type, 2 * sizeof(unsigned), INTEGER, compose_op, true},
    };
    return element[number(seed + 1) % (sizeof element / sizeof element[0])];
}

const char *elements_name(const element_t *element)
{
    static const char *const name[] = {"MPI_SUM",  "MPI_PROD", "MPI_MIN", "MPI_MAX",  "MPI_LAND",   "MPI_LOR",
                                       "MPI_LXOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC"};
    const MPI_Op op[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                         MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    static char text[MPI_MAX_OBJECT_NAME + 32];
    int length = 0;
    size_t at = 0;
    MPI_Type_get_name(element->type, text, &length);
    while (at < sizeof op / sizeof op[0] && op[at] != element->op)
        at++;
    snprintf(text + length, sizeof text - (size_t)length, ", %s",
             at < sizeof op / sizeof op[0] ? name[at] : "a user-defined operation");
    return text;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static double fraction(uint64_t seed) { return 1 + (double)(number(seed) >> 40) / (double)(1 << 24); }

/* Returns a value of which sums and products of up to nine do not overflow. */
static uint64_t small(const element_t *element, uint64_t seed)
{
    return number(seed) % (element->op == MPI_PROD && element->size == 1 ? 2 : 4);
}

static bool is_bitwise(MPI_Op op) { return op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR; }

static void fill_one(const element_t *element, char *at, uint64_t seed)
{
    uint64_t bits[2] = {number(seed), number(seed + 1)};
    if (element->class == INTEGER && element->type != map_type && !is_bitwise(element->op))
        bits[0] = small(element, seed); /* little-endian: the first bytes are the lowest */
    switch (element->class) {
    case INTEGER:
    case BITS: memcpy(at, bits, element->size); break;
    case LOGICAL: *(bool *)at = bits[0] & 1; break;
    case FLOAT: *(float *)at = (float)fraction(seed); break;
    case DOUBLE: *(double *)at = fraction(seed); break;
    case LONG_DOUBLE: *(long double *)at = fraction(seed); break;
    case FLOATS: ((float *)at)[0] = (float)fraction(seed), ((float *)at)[1] = (float)fraction(seed + 1); break;
    case DOUBLES: ((double *)at)[0] = fraction(seed), ((double *)at)[1] = fraction(seed + 1); break;
    case PAIR_INT: ((int *)at)[0] = (int)(bits[0] % 5), ((int *)at)[1] = (int)(bits[1] % 100); break;
    case PAIR_DOUBLE: *(double *)at = (double)(bits[0] % 5), ((int *)at)[2] = (int)(bits[1] % 100); break;
    }
}

void elements_fill(const element_t *element, void *buffer, size_t count, uint64_t seed)
{
    memset(buffer, 0, count * element->size);
    for (size_t i = 0; i < count; i++)
        fill_one(element, (char *)buffer + i * element->size, number(seed) + i);
}

static bool is_near(double got, double expected, double tolerance)
{
    return fabs(got - expected) <= tolerance * fabs(expected);
}

static bool is_equal(const element_t *element, const char *got, const char *expected)
{
    const float *f = (const float *)got, *g = (const float *)expected;
    const double *d = (const double *)got, *e = (const double *)expected;
    switch (element->class) {
    case FLOAT: return is_near(*f, *g, 1e-5);
    case FLOATS: return is_near(f[0], g[0], 1e-5) && is_near(f[1], g[1], 1e-5);
    case DOUBLE: return is_near(*d, *e, 1e-13);
    case DOUBLES: return is_near(d[0], e[0], 1e-13) && is_near(d[1], e[1], 1e-13);
    case LONG_DOUBLE: return is_near((double)*(const long double *)got, (double)*(const long double *)expected, 1e-13);
    case PAIR_DOUBLE: return memcmp(got, expected, sizeof(double) + sizeof(int)) == 0; /* the rest is padding */
    default: return memcmp(got, expected, element->size) == 0;
    }
}

size_t elements_compare(const element_t *element, const void *got, const void *expected, size_t count)
{
    size_t i = 0;
    while (i < count &&
           is_equal(element, (const char *)got + i * element->size, (const char *)expected + i * element->size))
        i++;
    return i;
}
