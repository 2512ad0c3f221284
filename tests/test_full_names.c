/*
 * Full names (trv_schedule_full_name): the schedule is the same, message by message, without any search for chains.
 * While `searches_forbidden` is set, every function that searches or looks up a chain fails (the linker wraps these
 * functions). The quick tier compares all ranks of small tori and a few ranks of the others.
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

#include "algorithms/hybrid.h"
#include "base/error.h"
#include "planner/candidates.h"
#include "exhaustive.h"
#include "search/stars/store.h"
#include "stars_check.h"

/* Schedules of up to all_ranks() ranks are compared on every rank, larger ones on drawn_ranks() random ranks. */
static int all_ranks(void) { return exhaustive() ? 32 : 9; }
static int drawn_ranks(void) { return exhaustive() ? 12 : 3; }

/* ---- Disabled searches ------------------------------------------------------------------------------------------- */

static bool searches_forbidden;

int __real_trv_star_find(const trv_torus_t *torus, trv_star_chain_t chain[TRV_STAR_FOUND_MAX]);
int __wrap_trv_star_find(const trv_torus_t *torus, trv_star_chain_t chain[TRV_STAR_FOUND_MAX]);
int __real_trv_star_cover(const trv_torus_t *torus, trv_star_chain_t *chain);
int __wrap_trv_star_cover(const trv_torus_t *torus, trv_star_chain_t *chain);
int __real_trv_star_lookup(const char *key, char **text);
int __wrap_trv_star_lookup(const char *key, char **text);

static int fail_forbidden(void) { return trv_fail(TRV_ERR_INVALID, "a search for a chain where none is allowed"); }

int __wrap_trv_star_find(const trv_torus_t *torus, trv_star_chain_t chain[TRV_STAR_FOUND_MAX])
{
    return searches_forbidden ? fail_forbidden() : __real_trv_star_find(torus, chain);
}

int __wrap_trv_star_cover(const trv_torus_t *torus, trv_star_chain_t *chain)
{
    return searches_forbidden ? fail_forbidden() : __real_trv_star_cover(torus, chain);
}

int __wrap_trv_star_lookup(const char *key, char **text)
{
    return searches_forbidden ? fail_forbidden() : __real_trv_star_lookup(key, text);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static bool same_ints(const int *a, const int *b, int count)
{
    return a == b || (a && b && memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static bool same_product(const trv_product_t *a, const trv_product_t *b, int dims)
{
    if (a->halves != b->halves || a->shifts != b->shifts || !same_ints(a->count, b->count, dims))
        return false;
    for (int d = 0; d < dims; d++)
        if (!same_ints(a->value[d], b->value[d], a->count[d]))
            return false;
    for (int s = 0; s < a->shifts; s++)
        if (a->shift[s].count != b->shift[s].count ||
            !same_ints(a->shift[s].vector, b->shift[s].vector, a->shift[s].count * dims))
            return false;
    return true;
}

static bool same_torus(const trv_torus_t *a, const trv_torus_t *b)
{
    return a->dims == b->dims && same_ints(a->size, b->size, a->dims);
}

static bool same_blocks(const trv_blocks_t *a, const trv_blocks_t *b)
{
    bool same = a->halves == b->halves && a->terms == b->terms && same_torus(a->space, b->space);
    for (int t = 0; same && t < a->terms; t++)
        same = same_product(&a->term[t], &b->term[t], a->space->dims);
    return same;
}

static bool same_messages(const trv_message_t *a, const trv_message_t *b, int count)
{
    for (int i = 0; i < count; i++) {
        if (a[i].peer != b[i].peer || a[i].port != b[i].port || a[i].nic != b[i].nic || a[i].parts != b[i].parts)
            return false;
        for (int p = 0; p < a[i].parts; p++)
            if (a[i].part[p].reg != b[i].part[p].reg || a[i].part[p].slots != b[i].part[p].slots ||
                !same_blocks(&a[i].part[p].blocks, &b[i].part[p].blocks))
                return false;
    }
    return true;
}

static bool same_steps(const trv_step_t *a, const trv_step_t *b)
{
    if (a->dimension != b->dimension || a->sends != b->sends || a->receives != b->receives ||
        a->combines != b->combines)
        return false;
    for (int i = 0; i < a->combines; i++) {
        const trv_combine_t *x = &a->combine[i], *y = &b->combine[i];
        if (x->dst != y->dst || x->sources != y->sources || x->first != y->first ||
            !same_ints(x->source, y->source, x->sources) || !same_blocks(&x->blocks, &y->blocks))
            return false;
    }
    return same_messages(a->send, b->send, a->sends) && same_messages(a->receive, b->receive, a->receives);
}

static bool same_facts(const trv_schedule_t *a, const trv_schedule_t *b)
{
    bool same = trv_schedule_streams(a) == trv_schedule_streams(b) && trv_schedule_steps(a) == trv_schedule_steps(b) &&
                trv_schedule_registers(a) == trv_schedule_registers(b) &&
                trv_schedule_halves(a) == trv_schedule_halves(b) &&
                same_torus(trv_schedule_space(a), trv_schedule_space(b)) &&
                trv_schedule_symmetry(a) == trv_schedule_symmetry(b) &&
                trv_schedule_exactness(a) == trv_schedule_exactness(b) &&
                trv_schedule_consistent(a) == trv_schedule_consistent(b) &&
                trv_schedule_messages_per_port(a) == trv_schedule_messages_per_port(b);
    for (int s = 0; same && s < trv_schedule_streams(a); s++) {
        const int64_t units = trv_schedule_units(a), stride = units / 64 + 1;
        same = trv_schedule_mirrored(a, s) == trv_schedule_mirrored(b, s) &&
               trv_schedule_weight(a, s) == trv_schedule_weight(b, s);
        for (int64_t u = 0; same && u < units; u += stride)
            same = trv_schedule_position(a, s, u) == trv_schedule_position(b, s, u) &&
                   trv_schedule_owner(a, u) == trv_schedule_owner(b, u);
    }
    return same;
}

static bool same_ranks(const trv_schedule_t *a, const trv_schedule_t *b)
{
    const int ranks = trv_schedule_torus(a)->ranks;
    trv_step_t x = TRV_STEP_INIT, y = TRV_STEP_INIT;
    bool same = true;
    const bool all = ranks <= all_ranks();
    for (int i = 0; i < (all ? ranks : drawn_ranks()); i++)
        for (int s = 0, rank = all ? i : rand() % ranks; s < trv_schedule_streams(a); s++)
            for (int k = 0; same && k < trv_schedule_steps(a); k++)
                same = trv_schedule_step(a, rank, s, k, &x) == 0 && trv_schedule_step(b, rank, s, k, &y) == 0 &&
                       same_steps(&x, &y);
    trv_step_clear(&x);
    trv_step_clear(&y);
    return same;
}

/* ---- Full names -------------------------------------------------------------------------------------------------- */

/* Compares the schedules of a name and of its full name. Returns whether there is such a schedule. */
static bool expect_same_schedule(const trv_torus_t *torus, const char *name, trv_collective_t collective)
{
    char text[TRV_FULL_NAME_MAX], again[TRV_FULL_NAME_MAX];
    trv_schedule_t *schedule, *full;
    int rc = trv_schedule_create(&schedule, torus, name, collective);
    if (rc) {
        assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
        return false;
    }
    if (trv_schedule_full_name(torus, name, collective, text, sizeof text))
        fail_msg("%s has no full name: %s", name, trv_last_error());
    searches_forbidden = true;
    if (trv_schedule_full_name(torus, text, collective, again, sizeof again))
        fail_msg("the full name of %s, %s, has no full name: %s", name, text, trv_last_error());
    assert_string_equal(text, again);
    if (trv_schedule_create(&full, torus, text, collective))
        fail_msg("%s as %s: %s", name, text, trv_last_error());
    searches_forbidden = false;
    assert_string_equal(trv_schedule_name(full), text);
    if (!same_facts(schedule, full) || !same_ranks(schedule, full))
        fail_msg("%s and %s are not the same", name, text);
    trv_schedule_destroy(schedule);
    trv_schedule_destroy(full);
    return true;
}

/* Checks all names that the planner knows on a torus, and the names of the other forms of chains. */
static int expect_all(const trv_torus_t *torus, trv_collective_t collective)
{
    static const char *const more[] = {"star", "star:l", "star:overlap", "star:gathered", "star:overlap::1", "hybrid"};
    trv_candidates_t list = {.network = {TRV_NETWORK, .torus = *torus}, .collective = collective};
    int compared = 0;
    assert_int_equal(trv_candidates_collect(&list, false), 0);
    assert_int_equal(trv_candidates_collect(&list, true), 0);
    /* There are thousands of hybrids of many dimensions, all similar, and those of large tori take longest. */
    const int stride = list.count / (!exhaustive() ? 10 : torus->ranks > 200 ? 10 : 40) + 1;
    for (int i = 0; i < list.count; i += strncmp(list.candidate[i].name, "hybrid", 6) == 0 ? stride : 1)
        compared += expect_same_schedule(torus, list.candidate[i].name, collective);
    trv_candidates_clear(&list);
    for (int i = 0; i < trv_algorithms_count(); i++)
        compared += expect_same_schedule(torus, trv_algorithm_name(trv_algorithm_at(i)), collective);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        compared += expect_same_schedule(torus, more[i], collective);
    return compared;
}

/* Tori of the table, and others whose chains are searched. */
static void test_all(void **state)
{
    static const char *const name[] = {
        "1",
        "1x1",
        "2",
        "2x1",
        "3",
        "4",
        "5",
        "7",
        "8",
        "9",
        "12",
        "27",
        "31",
        "32",
        "2x2",
        "2x3",
        "4x4",
        "3x9",
        "9x3",
        "4x8",
        "5x5",
        "6x6",
        "2x6",
        "6x10",
        "1x8x1",
        "7x11",
        "12x12",
        "2x2x2",
        "2x2x4",
        "4x4x4",
        "3x3x3",
        "2x3x5",
        "4x4x8",
        "6x6x6",
        "2x2x2x2",
        "2x3x4x3",
        "2x2x2x2x2x2x2x2",
        "32x32",
        "27x27",
        "30x36",
        "10x12x14",
        "2x3x4x5x6",
    };
    static const trv_collective_t collective[] = {TRV_ALLREDUCE, TRV_REDUCE_SCATTER, TRV_ALLGATHER};
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const trv_torus_t torus = torus_of(name[i]);
        for (int c = 0; c < 3 && (exhaustive() || torus.ranks <= 81); c++)
            if (expect_all(&torus, collective[c]) < (c == 0 ? 8 : 3))
                fail_msg("on %s there are too few names", name[i]);
    }
}

/* The text of full names, on which other tools may rely. */
static void test_texts(void **state)
{
    static const struct {
        const char *torus, *name, *text;
    } row[] = {
        {"9", "trivance-b", "trivance-b"},
        {"4x4", "star:l:1.0/0.1/-1.0_2.1/0.2/2.-1:1", "star:l:1.0/0.1/-1.0_2.1/0.2/2.-1:1"},
        {"2", "star:l", "star:l:-1:2"},
        {"9", "star:1", "star:1:1/-1_3/-3:1"},
        {"1", "star:l:0", "star:b::1"},
        {"8x9", "hybrid:4x3:grouped", "hybrid:4/2x3/1:all:grouped:interleaved"},
        {"8x9", "hybrid:1x3:own:sequential", "hybrid:1x3/1:own1:windows:sequential"},
        {"8x8", "hybrid:2", "hybrid:2/1x2/1:all:windows:interleaved"},
        {"8x9", "hybrid:8x9/4/2:streams3:weights5/4", "hybrid:8/2x9/4/2:all:windows:interleaved:streams3:weights5/4"},
        {"8mx9", "hybrid:8x9:folded:streams2", "hybrid:8/2x9/2:all:windows:interleaved:streams2:folded"},
        {"8x9", "bucket", "bucket"},
        {"8x9", "bucket:09/8", "bucket:9/8"},
        {"8x8", "swing-l", "swing-l"},
        {"8x8", "recdoub-b:04", "recdoub-b:4"},
    };
    char text[TRV_FULL_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const trv_torus_t torus = torus_of(row[i].torus);
        assert_int_equal(trv_schedule_full_name(&torus, row[i].name, TRV_ALLREDUCE, text, sizeof text), 0);
        assert_string_equal(text, row[i].text);
    }
}

static void expect_error(const char *torus_name, const char *name, trv_collective_t collective, size_t size, int code,
                         const char *sentence)
{
    char text[TRV_FULL_NAME_MAX] = "x";
    const trv_torus_t torus = torus_of(torus_name);
    assert_int_equal(trv_schedule_full_name(&torus, name, collective, text, size), code);
    assert_string_equal(text, size > 0 ? "" : "x");
    if (!strstr(trv_last_error(), sentence))
        fail_msg("%s: %s", name, trv_last_error());
}

static void test_errors(void **state)
{
    char text[TRV_FULL_NAME_MAX + 100], digits[TRV_FULL_NAME_MAX];
    const trv_torus_t torus = torus_of("9");
    trv_schedule_t *schedule;
    (void)state;
    expect_error("9", "nothing", TRV_ALLREDUCE, 100, TRV_ERR_ARGUMENT, "there is no algorithm 'nothing'");
    expect_error("9", "trivance-b:1", TRV_ALLREDUCE, 100, TRV_ERR_ARGUMENT, "takes no parameters");
    expect_error("9", "trivance-l", TRV_ALLGATHER, 100, TRV_ERR_UNSUPPORTED, "supports only AllReduce");
    expect_error("3x3", "ring", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED, "ring supports only rings");
    expect_error("7x11", "star", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED, "7x11 has no star chain");
    expect_error("4x4", "star:l:9", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED, "there is no star chain 9");
    expect_error("4x4", "star:l:0:3of4", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED,
                 "of the chain's streams differ, not '3of4'");
    expect_error("4x4", "star:l:0:2of3", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED, "1, 2 or 4 streams");
    expect_error("8", "hybrid:3", TRV_ALLREDUCE, 100, TRV_ERR_UNSUPPORTED, "not a divisor of dimension 0");
    expect_error("9", "trivance-b", TRV_ALLREDUCE, 10, TRV_ERR_ARGUMENT, "has 10 characters, but the buffer holds 9");
    expect_error("9", "trivance-b", TRV_ALLREDUCE, 0, TRV_ERR_ARGUMENT, "has 10 characters, but the buffer holds 0");
    expect_error("4x4", "star", TRV_ALLREDUCE, 12, TRV_ERR_ARGUMENT, "the buffer holds 11");
    memset(digits, '0', sizeof digits);
    snprintf(text, sizeof text, "star:l:%.*s", TRV_FULL_NAME_MAX - 8, digits);
    assert_int_equal(trv_schedule_create(&schedule, &torus, text, TRV_ALLREDUCE), 0);
    trv_schedule_destroy(schedule);
    strcat(text, "0");
    assert_int_equal(trv_schedule_create(&schedule, &torus, text, TRV_ALLREDUCE), TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "is too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
