/*
 * Progress of long work, reported to the callback of a caller, which may cancel the work.
 *
 * A span is an interval of the caller's work: a function that takes a span reports fractions of its own work, and hands
 * smaller spans to the functions that it calls. A span without a callback, {0}, reports nothing.
 */
#ifndef TRIVANCE_BASE_SPAN_H
#define TRIVANCE_BASE_SPAN_H

#include <trivance/common.h>

typedef struct trv_span {
    int (*callback)(void *context, double fraction); /* of all the work; a result other than 0 cancels it; or NULL */
    void *context;
    double first, size; /* where the span begins, and how much of all the work it is */
} trv_span_t;

/* The span of `whole` that begins at `first` and is `size` of it, as fractions. */
static inline trv_span_t trv_span(trv_span_t whole, double first, double size)
{
    return (trv_span_t){whole.callback, whole.context, whole.first + whole.size * first, whole.size * size};
}

/* Reports that `fraction` of the span is done; estimates above 1 count as 1. 0, or TRV_ERR_CANCELLED. */
TRV_API int trv_span_report(trv_span_t span, double fraction);

/* The same as a callback, for functions that take one: `span` points to a trv_span_t. */
int trv_span_callback(void *span, double fraction);

#endif
