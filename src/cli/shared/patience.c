/*
 * Estimates are right within a factor of two or three, so they are told roughly.
 */
#include "cli/shared/patience.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/shared/tool.h"

#define MINUTE_S 60.0
#define HOUR_S   3600.0
#define DAY_S    86400.0

/* "12 minutes": one unit, rounded; "more than a year". */
static void format_roughly(double seconds, char *text, size_t size)
{
    double unit_s = seconds < 2 * HOUR_S ? MINUTE_S : seconds < 2 * DAY_S ? HOUR_S : DAY_S;
    if (seconds > 365 * DAY_S)
        snprintf(text, size, "more than a year");
    else
        snprintf(text, size, "about %.0f %s%s", seconds / unit_s,
                 unit_s == MINUTE_S ? "minute"
                 : unit_s == HOUR_S ? "hour"
                                    : "day",
                 seconds < 1.5 * unit_s ? "" : "s");
}

bool cli_is_refused(double seconds, bool allowed) { return seconds > HOUR_S && !allowed; }

int cli_patience(const char *command, double seconds, bool allowed, const char *cheaper)
{
    char time[64];
    if (seconds <= MINUTE_S)
        return TRV_OK;
    format_roughly(seconds, time, sizeof time);
    if (cli_is_refused(seconds, allowed))
        return trv_fail(TRV_ERR_ARGUMENT, "this takes %s; --long does it all the same%s%s", time, cheaper ? "; " : "",
                        cheaper ? cheaper : "");
    cli_warn(command, "this takes %s%s%s", time, cheaper ? "; " : "", cheaper ? cheaper : "");
    return TRV_OK;
}
