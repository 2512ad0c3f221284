/*
 * No direct sum of 8x8 in three steps has less than 10 hops, whatever its structure: all of them are tried.
 *
 * Three steps have four choices each, because a step has at most five and the product must be 64. The order of steps
 * does not matter, so their longest vectors are tried in ascending order. If there is none with 9 hops there is none
 * with 8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stars_check.h"

/* Sets of displacements of 8x8 are words of 64 bits; displacement (x, y) is bit 8 x + y. */
static int hops_8x8(int v)
{
    int x = v / 8, y = v % 8;
    return (x > 4 ? 8 - x : x) + (y > 4 ? 8 - y : y);
}

static int plus_8x8(int v, int w) { return (v / 8 + w / 8) % 8 * 8 + (v + w) % 8; }

static uint64_t shift_8x8(uint64_t set, int v)
{
    uint64_t shifted = 0;
    for (; set; set &= set - 1)
        shifted |= UINT64_C(1) << plus_8x8(__builtin_ctzll(set), v);
    return shifted;
}

/* Whether three vectors can leave by different ports. */
static bool leave_8x8(const int *v)
{
    const trv_torus_t torus = torus_of("8x8");
    trv_star_step_t step = {.vectors = 3};
    for (int i = 0; i < 3; i++) {
        step.vector[i].at[0] = v[i] / 8 > 4 ? v[i] / 8 - 8 : v[i] / 8;
        step.vector[i].at[1] = v[i] % 8 > 4 ? v[i] % 8 - 8 : v[i] % 8;
    }
    return ports_exist(&torus, &step, 0, 0);
}

typedef struct star_8x8 {
    uint64_t set;
    int v[3];
} star_8x8_t;

/* Lists all stars of vectors of at most `hops`. */
static int list_8x8(int hops, star_8x8_t *star)
{
    int count = 0, v[3];
    for (v[0] = 1; v[0] < 64; v[0]++)
        for (v[1] = v[0] + 1; v[1] < 64 && hops_8x8(v[0]) <= hops; v[1]++)
            for (v[2] = v[1] + 1; v[2] < 64 && hops_8x8(v[1]) <= hops; v[2]++)
                if (hops_8x8(v[2]) <= hops && leave_8x8(v)) {
                    star[count].set = 1 | UINT64_C(1) << v[0] | UINT64_C(1) << v[1] | UINT64_C(1) << v[2];
                    memcpy(star[count++].v, v, sizeof v);
                }
    return count;
}

/* Whether the star is the first among its images under the symmetries of the square; the others need not be tried. */
static bool is_least_8x8(const star_8x8_t *star)
{
    for (int g = 1; g < 8; g++) {
        uint64_t image = 1;
        for (int i = 0; i < 3; i++) {
            int x = star->v[i] / 8, y = star->v[i] % 8;
            x = g & 1 ? (8 - x) % 8 : x;
            y = g & 2 ? (8 - y) % 8 : y;
            image |= UINT64_C(1) << (g & 4 ? 8 * y + x : 8 * x + y);
        }
        if (image < star->set)
            return false;
    }
    return true;
}

/* Whether `left` translates of `sums` by vectors of at most `hops` cover the rest of the torus; `v` gets the
 * vectors. */
static bool tile_8x8(uint64_t there, uint64_t sums, int hops, int left, int *v)
{
    if (left == 0)
        return leave_8x8(v);
    int missing = __builtin_ctzll(~there);
    for (uint64_t rest = sums; rest; rest &= rest - 1) {
        int of = __builtin_ctzll(rest), opposite = (8 - of / 8) % 8 * 8 + (8 - of % 8) % 8;
        v[left - 1] = plus_8x8(missing, opposite);
        uint64_t more = shift_8x8(sums, v[left - 1]);
        if (hops_8x8(v[left - 1]) <= hops && !(more & there) && tile_8x8(there | more, sums, hops, left - 1, v))
            return true;
    }
    return false;
}

/* Whether there is a direct sum whose steps have at most these numbers of hops; the first two steps by exhaustion. */
static bool exists_8x8(int first, int second, int third, star_8x8_t *one, star_8x8_t *other)
{
    int ones = list_8x8(first, one), others = list_8x8(second, other), v[3];
    for (int i = 0; i < ones; i++)
        for (int j = 0; j < others && is_least_8x8(&one[i]); j++) {
            uint64_t sums = one[i].set;
            for (int k = 0; k < 3 && sums; k++) {
                uint64_t more = shift_8x8(one[i].set, other[j].v[k]);
                sums = more & sums ? 0 : more | sums;
            }
            if (sums && tile_8x8(sums, sums, third, 3, v))
                return true;
        }
    return false;
}

static void test_shortest_8x8(void **state)
{
    star_8x8_t *one = malloc(10000 * sizeof *one), *other = malloc(10000 * sizeof *other);
    (void)state;
    assert_true(one && other);
    for (int first = 1; first <= 3; first++)
        for (int second = first; first + 2 * second <= 9; second++)
            assert_false(exists_8x8(first, second, 9 - first - second, one, other));
    assert_true(exists_8x8(1, 3, 6, one, other));
    free(one);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shortest_8x8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
