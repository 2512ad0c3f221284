/*
 * Two callbacks for the progress of a verifier: one checks the reports, the other cancels. Include it after cmocka.h.
 */
#ifndef TRIVANCE_TESTS_PROGRESS_CALLBACKS_H
#define TRIVANCE_TESTS_PROGRESS_CALLBACKS_H

#include "base/span.h"

static inline int progress_check(void *context, double fraction)
{
    double *last = context;
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
    return 0;
}

static inline int progress_cancel(void *context, double fraction) { return ++*(int *)context && fraction >= 0; }

#endif
