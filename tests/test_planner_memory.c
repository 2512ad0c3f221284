/*
 * Memory runs out while a choice is computed, at the first allocation, the second, and so on: the result is the choice
 * that is made with sufficient memory, or an error; never another choice. Ranks that plan independently, and ranks that
 * follow one that plans, must not choose differently because one of them is short of memory.
 *
 * Every allocation fails once; in the quick tier the first 60, and then every 29th.
 *
 * The linker wraps the library's allocations (and those of this file, not cmocka's).
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

#include "exhaustive.h"
#include "search/stars/store.h"
#include "stars_check.h"

/* ---- Allocations that fail --------------------------------------------------------------------------------------- */

static int64_t allocations, failing = -1; /* number so far; the one that fails, -1: none */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);

static bool fails(void) { return allocations++ == failing; }
void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return fails() ? NULL : __real_realloc(memory, bytes); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

#define CHOICES 4

typedef struct question {
    const char *torus;
    trv_collective_t collective;
    uint64_t bytes;
    trv_planner_constraints_t constraints;
    trv_link_model_t model;
} question_t;

/* The best choices, by a new planner; returns their number, or an error. The planner is kept for another question. */
static int make_choices(const question_t *question, trv_planner_t **planner, trv_planner_choice_t choice[CHOICES])
{
    const trv_torus_t torus = torus_of(question->torus);
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.model = question->model;
    int rc = *planner ? TRV_OK
                      : trv_planner_create(planner, &torus, question->collective, 0, &network, &question->constraints);
    memset(choice, 0, CHOICES * sizeof *choice);
    return rc ? rc : trv_planner_rank(*planner, question->bytes, CHOICES, choice);
}

static void expect_choices(const question_t *question, int choices, const trv_planner_choice_t *choice, int expected,
                           const trv_planner_choice_t *right)
{
    bool same = choices == expected;
    for (int i = 0; i < choices && same; i++)
        same = strcmp(choice[i].algorithm, right[i].algorithm) == 0 && choice[i].time_ns == right[i].time_ns;
    if (!same)
        fail_msg("%s, allocation %lld fails: %d plans, %s first, instead of %d, %s first (%s)", question->torus,
                 (long long)failing, choices, choice[0].algorithm, expected, right[0].algorithm, trv_last_error());
}

/* Each of the allocations of the tier fails in turn: from the 60th on, the quick tier takes every 29th, and the
 * exhaustive tier draws a third of them. Returns how many allocations there are. */
static int64_t fail_each(const question_t *question)
{
    trv_planner_choice_t right[CHOICES], choice[CHOICES];
    trv_planner_t *planner = NULL;
    trv_star_cache_clear();
    allocations = 0;
    failing = -1;
    const int expected = make_choices(question, &planner, right);
    const int64_t all = allocations;
    trv_planner_destroy(planner);
    assert_true(expected > 0);
    for (int64_t k = 0; k < all; k += k < 60 ? 1 : exhaustive() ? 1 + sample_draw(5) : 29) {
        planner = NULL;
        trv_star_cache_clear();
        allocations = 0;
        failing = k;
        int choices = make_choices(question, &planner, choice);
        assert_true(choices > 0 || choices == TRV_ERR_MEMORY);
        if (choices > 0)
            expect_choices(question, choices, choice, expected, right);
        failing = -1; /* the failed attempt must not affect the next one */
        choices = make_choices(question, &planner, choice);
        failing = k;
        expect_choices(question, choices, choice, expected, right);
        failing = -1;
        trv_planner_destroy(planner);
    }
    return all;
}

static void test_choices(void **state)
{
    static const question_t question[] = {
        {"6", TRV_ALLREDUCE, 64, {TRV_PLANNER_CONSTRAINTS, .idempotent = true}, TRV_FIFO},
        {"6", TRV_REDUCE_SCATTER, 65536, {TRV_PLANNER_CONSTRAINTS, .consistent = false}, TRV_FIFO},
        {"2x3", TRV_ALLREDUCE, 65536, {TRV_PLANNER_CONSTRAINTS, .consistent = true}, TRV_FIFO},
        {"2x5", TRV_ALLREDUCE, 4096, {TRV_PLANNER_CONSTRAINTS, .consistent = true}, TRV_DATELINE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof question / sizeof question[0]; i++)
        assert_true(fail_each(&question[i]) > 500);
}

/* Coverings, and the functions that select and store them. */
static void test_covering(void **state)
{
    const trv_torus_t torus = torus_of("7x11");
    static trv_star_chain_t right, chain;
    (void)state;
    trv_star_cache_clear();
    allocations = 0;
    assert_int_equal(trv_star_cover(&torus, &right), 0);
    const int64_t all = allocations, stride = all / 60 + 1;
    for (int64_t k = 0; k < all; k += k < 20 ? 1 : stride) {
        trv_star_cache_clear();
        allocations = 0;
        failing = k;
        int rc = trv_star_cover(&torus, &chain);
        failing = -1;
        assert_true(rc == 0 || rc == TRV_ERR_MEMORY);
        if (rc == 0)
            assert_memory_equal(&chain, &right, sizeof chain);
    }
}

/* Cached answers: a failure caches no answer, and no answer to another question. */
static void test_best(void **state)
{
    const trv_torus_t torus = torus_of("3x4");
    const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    trv_planner_choice_t choice, again;
    int failures = 0;
    (void)state;
    for (int64_t k = 0; k < 3000; k += exhaustive() ? 7 : 53) {
        const uint64_t bytes = 4096 + (uint64_t)k;
        allocations = 0;
        failing = k;
        int rc = trv_planner_best(&torus, TRV_ALLREDUCE, 0, bytes, &network, NULL, &choice);
        failing = -1;
        assert_true(rc == 0 || rc == TRV_ERR_MEMORY);
        failures += rc != 0;
        assert_int_equal(trv_planner_best(&torus, TRV_ALLREDUCE, 0, bytes, &network, NULL, &again), 0);
        if (rc == 0)
            assert_string_equal(choice.algorithm, again.algorithm);
    }
    assert_true(failures > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_covering),
        cmocka_unit_test(test_best),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trv_star_cache_clear();
    return failed;
}
