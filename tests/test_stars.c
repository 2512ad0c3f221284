/*
 * Star chains: parsing, printing and checking them, compared with counting one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "search/stars/search.h"
#include "search/stars/store.h"
#include "stars_check.h"

#define TEXT_MAX 8192
static trv_star_chain_t found[TRV_STAR_FOUND_MAX], chain; /* static because they are large */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void test_text(void **state)
{
    static const char text[] = "1.0/0.1/-1.0_2.1/0.2/2.-1";
    const trv_torus_t torus = torus_of("4x4");
    char printed[64], little[8];
    (void)state;
    assert_int_equal(trv_star_parse(&chain, &torus, text, false), 0);
    assert_int_equal(trv_star_format(&chain, printed, sizeof printed), strlen(text));
    assert_string_equal(printed, text);
    assert_int_equal(trv_star_format(&chain, little, sizeof little), strlen(text));
    assert_string_equal(little, "1.0/0.1");
    assert_true(chain.direct);
    assert_int_equal(chain.steps, 2);
    assert_int_equal(trv_star_hops(&chain, 1), 3);
    assert_int_equal(trv_star_load(&chain, 1), 4);
    assert_int_equal(trv_star_dimension_load(&chain, 0, 1), 1);
    expect_ports(&chain);
    /* Half way round is one displacement, whichever sign it is written with. */
    assert_int_equal(trv_star_parse(&chain, &torus, "1.0/0.1/-1.0_-2.1/0.-2/-2.-1", false), 0);
    trv_star_format(&chain, printed, sizeof printed);
    assert_string_equal(printed, text);
}

static void test_bad_text(void **state)
{
    static const struct {
        const char *text;
        int rc;
        const char *words;
    } bad[] = {
        {"", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.0/0.1/-1.0_", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.0//0.1", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.x", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.99999999999999999999", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.1.1.1.1.1.1.1.1", TRV_ERR_ARGUMENT, "is not a chain"},
        {"1.0 0.1", TRV_ERR_ARGUMENT, "expected / and another vector of the step"},
        {"1/2", TRV_ERR_UNSUPPORTED, "has 1 coordinate, but the torus has 2"},
        {"3.0", TRV_ERR_UNSUPPORTED, "are -2 to 2"},
        {"1.0/0.1/-1.0_2.1/0.2", TRV_ERR_UNSUPPORTED, "factors of the chain are 4 x 3, but 4x4 has 16 ranks"},
        {"1.0/0.1/-1.0_0.0/0.2/2.-1", TRV_ERR_UNSUPPORTED, "vector 0.0 in step 1 of the chain is zero"},
        {"1.0/1.0/-1.0_2.1/0.2/2.-1", TRV_ERR_UNSUPPORTED, "vectors 1.0 and 1.0 in step 0 of the chain share a port"},
        {"1.0/0.1/-1.0_2.1/0.2/1.1", TRV_ERR_UNSUPPORTED, "-1.0 + 2.1 and 1.1 both lead to 1.1"},
        {"0.1/1.0/0.-1/-1.0/1.1", TRV_ERR_UNSUPPORTED, "more than 4 vectors"},
    };
    const trv_torus_t torus = torus_of("4x4");
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(trv_star_parse(&chain, &torus, bad[i].text, false), bad[i].rc);
        if (!strstr(trv_last_error(), bad[i].words))
            fail_msg("%s: %s", bad[i].text, trv_last_error());
    }
    assert_int_equal(trv_star_parse(&chain, &torus, "1.0/0.1/-1.0/0.-1_1.0/0.1/-1.0/0.-1", true), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "covers only 11 of the 16 displacements of 4x4"));
}

/* Whether the sums of these steps, each equally often, are closed under addition. */
static bool is_subgroup(const trv_star_chain_t *stars, unsigned steps)
{
    const trv_torus_t *torus = &stars->torus;
    int *times = calloc((size_t)torus->ranks, sizeof *times), c[TRV_DIMS_MAX];
    bool closed = true;
    count_sums(stars, 0, steps, 0, times);
    for (int r = 0; r < torus->ranks; r++) {
        trv_torus_coordinates(torus, r, c);
        for (int s = 0; times[r] && s < torus->ranks; s++)
            closed = closed && (!times[s] || times[plus(torus, s, c)]);
    }
    free(times);
    return closed;
}

/* Draws a random chain; about half of them with the factors of a direct sum. */
static void draw_chain(trv_star_chain_t *stars, const trv_torus_t *torus, const int *factor, int steps)
{
    memset(stars, 0, sizeof *stars);
    stars->torus = *torus;
    stars->steps = steps;
    for (int k = 0; k < steps; k++) {
        stars->step[k].vectors = factor[k] - 1;
        for (int i = 0; i < factor[k] - 1; i++)
            for (int d = 0; d < torus->dims; d++)
                stars->step[k].vector[i].at[d] = rand() % torus->size[d] - (torus->size[d] - 1) / 2;
    }
}

static void test_random_chains(void **state)
{
    static const struct {
        const char *torus;
        int steps, factor[3];
    } kind[] = {{"2x4", 2, {2, 4}}, {"3x4", 2, {4, 3}},   {"2x2x2", 2, {4, 2}}, {"9", 2, {3, 3}},
                {"4x3", 2, {5, 3}}, {"2x3x2", 2, {6, 2}}, {"8", 3, {2, 2, 2}},  {"2x3", 2, {3, 3}}};
    int direct = 0, covering = 0, neither = 0;
    (void)state;
    srand(7);
    for (int tries = 0; tries < 40000; tries++) {
        const size_t of = (size_t)rand() % (sizeof kind / sizeof kind[0]);
        const trv_torus_t torus = torus_of(kind[of].torus);
        char text[TEXT_MAX];
        draw_chain(&chain, &torus, kind[of].factor, kind[of].steps);
        bool ports = true;
        for (int k = 0; k < chain.steps; k++)
            ports = ports && ports_exist(&torus, &chain.step[k], 0, 0);
        bool covers = ports && counts_between(&chain, 1, 1 << 20), exact = ports && counts_between(&chain, 1, 1);
        trv_star_format(&chain, text, sizeof text);
        assert_int_equal(trv_star_parse(&found[0], &torus, text, false) == 0, exact);
        assert_int_equal(trv_star_parse(&found[1], &torus, text, true) == 0, covers);
        direct += exact;
        covering += covers && !exact;
        neither += !covers;
        if (!covers)
            continue;
        assert_int_equal(found[1].direct, exact);
        expect_ports(&found[1]);
        for (unsigned steps = 0; exact && steps < 1u << chain.steps; steps++)
            assert_int_equal(trv_star_is_subgroup(&found[0], steps), is_subgroup(&found[0], steps));
    }
    assert_true(direct > 100 && covering > 100 && neither > 1000);
}

/* The sets of steps, as bits, that may be done as L, for chains that a greedy search found elsewhere. */
static void test_known_subgroups(void **state)
{
    static const struct {
        const char *torus, *text;
        unsigned set[8]; /* the proper nonempty ones, ascending; then 0 */
    } known[] = {
        {"4x4", "1.0/0.1/-1.0_2.1/0.2/2.-1", {2}},
        {"5x5", "-1.0/1.0/0.-1/0.1_-2.1/-1.-2/2.-1/1.2", {2}},
        {"8x8", "0.1/1.0/0.-1_1.2/-2.0/1.-2_4.0/-2.4/2.4", {4, 6}},
        {"4x4x4", "0.0.1/0.-1.0/0.0.-1_1.0.1/2.0.0/-1.0.-1_0.-1.2/0.2.0/0.1.2", {4, 5}},
        {"4x4x8", "0.1.0/-1.0.0/0.-1.0_0.0.-1/-1.0.1/0.0.2_1.2.0/-1.2.0/2.0.0_0.0.4", {4, 5, 8, 12, 13}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const trv_torus_t torus = torus_of(known[i].torus);
        assert_int_equal(trv_star_parse(&chain, &torus, known[i].text, false), 0);
        for (unsigned set = 1, next = 0; set < (1u << chain.steps) - 1; set++) {
            bool is_known = known[i].set[next] == set;
            assert_int_equal(trv_star_is_subgroup(&chain, set), is_known);
            next += is_known;
        }
        assert_int_equal(trv_star_has_subgroup_tails(&chain), i != 3 && i != 4);
    }
}

/* A chain for a torus with too many ranks to list the sums of the chain: it is proved by its tails. */
static void test_large(void **state)
{
    const trv_torus_t ring = torus_of("1073741824");
    char text[TEXT_MAX] = "1";
    (void)state;
    for (int k = 1; k < 30; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "_%d", 1 << k);
    assert_int_equal(trv_star_parse(&chain, &ring, text, false), 0);
    assert_true(chain.direct && trv_star_has_subgroup_tails(&chain));
    text[0] = '2'; /* twice the vector 2 */
    assert_int_equal(trv_star_parse(&chain, &ring, text, false), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "every tail of a chain must be a subgroup"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_random_chains), cmocka_unit_test(test_known_subgroups),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
