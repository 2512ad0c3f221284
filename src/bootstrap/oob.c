/*
 * Agreement on errors: an allreduce_max finds the lowest rank that has an error, and that rank broadcasts its error
 * message.
 */
#include "bootstrap/oob.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

int trv_oob_agree(const trv_oob_t *oob, int code)
{
    struct {
        int32_t code;
        char sentence[768];
    } error = {.code = code};
    int64_t from_last = code < 0 ? oob->ranks - oob->rank : 0; /* the lowest rank has the maximum */
    if (code < 0)
        snprintf(error.sentence, sizeof error.sentence, "%s", trv_last_error());
    int rc = oob->allreduce_max(oob->context, &from_last);
    if (rc < 0 || from_last == 0)
        return rc;
    const int failed = oob->ranks - (int)from_last;
    rc = oob->broadcast(oob->context, &error, sizeof error, failed);
    if (rc < 0)
        return rc;
    error.sentence[sizeof error.sentence - 1] = '\0';
    return strncmp(error.sentence, "rank ", 5) == 0 ? trv_fail(error.code, "%s", error.sentence) /* it names a rank */
                                                    : trv_fail(error.code, "rank %d: %s", failed, error.sentence);
}
