/*
 * Whoever listens to a verifier hears how far it is, up to the end. After cmocka.h.
 */
#ifndef TRIVANCE_TESTS_HEARD_H
#define TRIVANCE_TESTS_HEARD_H

#include "base/advance.h"

static inline void heard_listen(void *context, double done)
{
    double *last = context;
    assert_true(done > *last && done <= 1);
    *last = done;
}

/* `verify` returns NULL if the text is right. */
static inline void heard(const char *(*verify)(const char *text), const char *text)
{
    double last = 0;
    trv_advance_listen(heard_listen, &last);
    assert_null(verify(text));
    trv_advance_listen(NULL, NULL);
    assert_true(last > 0.999);
}

#endif
