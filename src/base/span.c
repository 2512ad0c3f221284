/*
 * Reports of progress to a callback.
 */
#include "base/span.h"

#include <stddef.h>

#include "base/error.h"

int trv_span_report(trv_span_t span, double fraction)
{
    if (!span.callback || !span.callback(span.context, span.first + span.size * (fraction < 1 ? fraction : 1)))
        return TRV_OK;
    return trv_fail(TRV_ERR_CANCELLED, "the operation was cancelled before its end");
}

int trv_span_callback(void *span, double fraction) { return trv_span_report(*(const trv_span_t *)span, fraction); }
