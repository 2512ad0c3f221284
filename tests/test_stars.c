/*
 * Star chains: what is read, printed and checked, against counting one by one; and the user's cache folder.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "stars/search.h"
#include "stars/store.h"
#include "stars_check.h"

#define TEXT_MAX 8192
static trv_star_chain_t found[TRV_STAR_FOUND_MAX], chain; /* large */

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
    /* Half way round is one displacement, whichever way it is written. */
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
        {"1.0 0.1", TRV_ERR_ARGUMENT, "after a vector comes / "},
        {"1/2", TRV_ERR_UNSUPPORTED, "has 1 coordinate, but the torus 2"},
        {"3.0", TRV_ERR_UNSUPPORTED, "from -2 to 2"},
        {"1.0/0.1/-1.0_2.1/0.2", TRV_ERR_UNSUPPORTED, "factors of the chain are 4 x 3, but 4x4 has 16 ranks"},
        {"1.0/0.1/-1.0_0.0/0.2/2.-1", TRV_ERR_UNSUPPORTED, "vector 0.0 in step 1 of the chain leads nowhere"},
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
    assert_non_null(strstr(trv_last_error(), "covers 11 of the 16 displacements of 4x4 only"));
}

/* Whether the sums of these steps, each as often as any other, are closed under addition. */
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

/* A random chain; about half of them with the factors that a direct sum has. */
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

/* Sets of steps that may be done as L, as bits, of chains found elsewhere by a greedy search. */
static void test_known_subgroups(void **state)
{
    static const struct {
        const char *torus, *text;
        unsigned set[8]; /* those but none and all, ascending; then 0 */
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
        assert_int_equal(trv_star_tails(&chain), i != 3 && i != 4);
    }
}

/* A chain of a torus with more ranks than sums are listed for: proved by its tails. */
static void test_large(void **state)
{
    const trv_torus_t ring = torus_of("1073741824");
    char text[TEXT_MAX] = "1";
    (void)state;
    for (int k = 1; k < 30; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "_%d", 1 << k);
    assert_int_equal(trv_star_parse(&chain, &ring, text, false), 0);
    assert_true(chain.direct && trv_star_tails(&chain));
    text[0] = '2'; /* twice the vector 2 */
    assert_int_equal(trv_star_parse(&chain, &ring, text, false), TRV_ERR_UNSUPPORTED);
    assert_non_null(strstr(trv_last_error(), "every tail of a chain has to be a subgroup"));
}

/* ---- The cache folder -------------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void path_of(const char *key, char path[256])
{
    snprintf(path, 256, "%s/trivance/%s.stars", getenv("XDG_CACHE_HOME"), key);
}

static void expect_file(const char *key, const char *expected)
{
    char *text = NULL;
    assert_int_equal(trv_star_read(key, &text), expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
    free(text);
}

/* What was written is found in its file, unless a byte of that is another or missing. */
static void test_cache(void **state)
{
    char path[256], good[512] = "", bad[512];
    (void)state;
    trv_star_write("key-of-the-test", "one\ntwo\n");
    path_of("key-of-the-test", path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(good, 1, sizeof good - 1, file);
    fclose(file);
    assert_true(length > 40);
    for (size_t at = 0; at < length; at++) {
        memcpy(bad, good, sizeof good);
        bad[at] ^= 1;
        write_file(path, bad);
        expect_file("key-of-the-test", NULL);
        bad[at] = '\0';
        write_file(path, bad);
        expect_file("key-of-the-test", NULL);
    }
    write_file(path, good);
    expect_file("key-of-the-test", "one\ntwo\n");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody will ever write into it */
    expect_file("key-of-the-test", NULL);
}

/* The first chain of a torus, by what is known of it. */
static void find_first(const char *key, char first[TEXT_MAX])
{
    const trv_torus_t torus = torus_of(key);
    assert_true(trv_star_find(&torus, found) > 0);
    trv_star_format(&found[0], first, TEXT_MAX);
}

/* Files with a good checksum and bad chains, in the folder and in this process: what is found is the same. */
static void test_other_files(void **state)
{
    static const char *const text[] = {
        "",
        "\n",
        "1.0\n",
        "no chain\n",
        "0.1/1.0_2.0/0.2",                  /* no end */
        "0.1/0.-1_1.0/-1.0_2.0/-2.0_0.2\n", /* a covering of 6x10, no direct sum */
        "0.1/1.0\n0.1\n0.1\n0.1\n0.1\n0.1\n0.1\n",
    };
    const trv_torus_t torus = torus_of("6x10");
    char first[TEXT_MAX], again[TEXT_MAX];
    (void)state;
    assert_true(trv_star_search(&torus, 12000000, found) > 0);
    trv_star_format(&found[0], first, sizeof first);
    for (size_t i = 0; i < 2 * sizeof text / sizeof text[0]; i++) {
        trv_star_forget();
        if (i % 2)
            assert_int_equal(trv_star_keep("6x10", text[i / 2]), 0);
        trv_star_write("6x10", text[i / 2]);
        find_first("6x10", again);
        assert_string_equal(again, first);
    }
}

/* Another user's good chain is used, unless the cache is not to be read. */
static void test_policy(void **state)
{
    static const char other[] = "0.1_0.2/0.-2_0.6_1.0/-1.0_3.0"; /* 6x12 */
    const trv_torus_t torus = torus_of("6x12");
    char path[256], text[TEXT_MAX];
    (void)state;
    assert_int_equal(trv_star_parse(&chain, &torus, other, false), 0);
    snprintf(text, sizeof text, "%s\n", other);
    trv_star_write("6x12", text);
    trv_cache_policy(false, false);
    trv_star_forget();
    find_first("6x12", text);
    assert_string_not_equal(text, other);
    trv_cache_policy(true, false);
    find_first("6x12", text); /* this process remembers */
    assert_string_not_equal(text, other);
    trv_star_forget();
    find_first("6x12", text);
    assert_string_equal(text, other);
    find_first("6x16", text);
    path_of("6x16", path);
    assert_int_not_equal(access(path, F_OK), 0);
    trv_cache_policy(true, true);
    trv_star_forget();
    find_first("6x16", text);
    assert_int_equal(access(path, F_OK), 0);
}

static int count_files(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Nothing is left behind where a file cannot take its place, and nothing but it where it can. */
static void test_nothing_left(void **state)
{
    char path[256], folder[256];
    (void)state;
    snprintf(folder, sizeof folder, "%s/trivance", getenv("XDG_CACHE_HOME"));
    trv_star_write("first", "1\n");
    int before = count_files(folder);
    path_of("second", path);
    assert_int_equal(mkdir(path, 0700), 0);
    trv_star_write("second", "1\n");
    assert_int_equal(count_files(folder), before + 1);
    trv_star_write("first", "2\n");
    assert_int_equal(count_files(folder), before + 1);
    expect_file("first", "2\n");
}

/* A folder that cannot be made: nothing is kept, everything is found. */
static void test_no_folder(void **state)
{
    const trv_torus_t torus = torus_of("6x20");
    char folder[256];
    (void)state;
    snprintf(folder, sizeof folder, "%s", getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    assert_true(trv_star_find(&torus, found) > 0);
    assert_true(trv_star_find(&torus, found) > 0);
    setenv("XDG_CACHE_HOME", folder, 1);
}

int main(void)
{
    char folder[] = "/tmp/trivance-stars-XXXXXX", remove[64];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),          cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_random_chains), cmocka_unit_test(test_known_subgroups),
        cmocka_unit_test(test_large),         cmocka_unit_test(test_cache),
        cmocka_unit_test(test_other_files),   cmocka_unit_test(test_policy),
        cmocka_unit_test(test_nothing_left),  cmocka_unit_test(test_no_folder),
    };
    if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    return system(remove) || failed;
}
