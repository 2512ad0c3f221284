/*
 * For the tests of the verifier: every algorithm of the table that supports a torus, all three collectives.
 */
#ifndef TRIVANCE_TESTS_VERIFY_ALL_H
#define TRIVANCE_TESTS_VERIFY_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "exhaustive.h"

static const char *const collective_names[] = {"allreduce", "reduce-scatter", "allgather"};

static void verify_one(const trv_algorithm_t *algorithm, const trv_torus_t *torus, trv_collective_t collective,
                       trv_verify_method_t method)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_schedule_t *schedule;
    trv_verdict_t verdict = {TRV_VERDICT};
    const char *name = trv_algorithm_name(algorithm);
    trv_torus_format(torus, text, sizeof text);
    if (trv_schedule_create(&schedule, torus, name, collective))
        fail_msg("%s on %s, %s: %s", name, text, collective_names[collective], trv_last_error());
    if (trv_verify(schedule, method, &verdict, NULL, NULL))
        fail_msg("%s on %s, %s: %s", name, text, collective_names[collective], trv_last_error());
    if (!verdict.valid)
        fail_msg("%s on %s, %s: %s", name, text, collective_names[collective], verdict.fault);
    if (trv_schedule_exactness(schedule) == TRV_EXACT)
        assert_int_equal(verdict.method, method);
    assert_int_equal(verdict.ranks, torus->ranks);
    if (torus->ranks > 1)
        assert_true(verdict.messages >= torus->ranks - 1);
    trv_schedule_destroy(schedule);
}

/* Algorithms with parameters other than a number of ports are verified up to this size; test_star and test_verify_large
 * have larger tori. */
enum { RANKS_MAX_WITH_PARAMETERS = 1024 };

static inline bool has_parameters(const trv_algorithm_t *algorithm)
{
    const char *parameters = trv_algorithm_parameters(algorithm);
    return parameters && strcmp(parameters, "PORTS") != 0;
}

/* Verifies every algorithm that supports the torus; returns the number of schedules. */
static int verify_torus(const trv_torus_t *torus, trv_verify_method_t method, int first_collective, int last_collective)
{
    int verified = 0;
    for (int i = 0; i < trv_algorithms_count(); i++)
        for (int c = first_collective; c <= last_collective; c++)
            if ((torus->ranks <= RANKS_MAX_WITH_PARAMETERS || !has_parameters(trv_algorithm_at(i))) &&
                trv_algorithm_supports(trv_algorithm_at(i), torus, (trv_collective_t)c) == TRV_OK) {
                verify_one(trv_algorithm_at(i), torus, (trv_collective_t)c, method);
                verified++;
            }
    return verified;
}

static inline void verify_text(const char *text, trv_verify_method_t method, int first_collective, int last_collective)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    assert_true(verify_torus(&torus, method, first_collective, last_collective) > 0);
}

#endif
