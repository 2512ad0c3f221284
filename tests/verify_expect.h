/*
 * For the tests with faulty schedules: the expected verdict, by counts and by random values alike. With SHOW_FAULTS in
 * the environment every message is printed.
 */
#ifndef TRIVANCE_TESTS_VERIFY_EXPECT_H
#define TRIVANCE_TESTS_VERIFY_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

#include "schedule/schedule.h"

typedef struct expected {
    int step, rank;
    int64_t unit;
    const char *words[6]; /* parts of the message, in this order */
} expected_t;

static void expect_by(trv_schedule_t *schedule, trv_verify_method_t method, const expected_t *expected)
{
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, method, &verdict, NULL, NULL), TRV_OK);
    if (getenv("SHOW_FAULTS"))
        printf("    %s\n", verdict.fault);
    const char *at = verdict.fault;
    assert_false(verdict.valid);
    for (int i = 0; expected->words[i]; i++) {
        const char *found = strstr(at, expected->words[i]);
        if (!found)
            fail_msg("'%s' does not have '%s' in its place", verdict.fault, expected->words[i]);
        at = found + strlen(expected->words[i]);
    }
    if (verdict.fault_step != expected->step || verdict.fault_rank != expected->rank ||
        verdict.fault_unit != expected->unit)
        fail_msg("'%s' is at step %d, rank %d, unit %lld, not %d, %d, %lld", verdict.fault, verdict.fault_step,
                 verdict.fault_rank, (long long)verdict.fault_unit, expected->step, expected->rank,
                 (long long)expected->unit);
}

/* Expects the fault, and destroys the schedule. */
static inline void expect(trv_schedule_t *schedule, expected_t expected)
{
    expect_by(schedule, TRV_VERIFY_EXHAUSTIVE, &expected);
    expect_by(schedule, TRV_VERIFY_RANDOM, &expected);
    trv_schedule_destroy(schedule);
}

#endif
