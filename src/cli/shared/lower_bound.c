/*
 * The lower bound on times, as text and as columns.
 */
#include "cli/shared/lower_bound.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text/parse.h"

static const char ALL_LINKS[] = "all links";

const char *cli_limit_source(const trv_limit_t *limit)
{
    if (limit->startup_ns >= limit->time_ns)
        return "start-up";
    return limit->sets_ns >= limit->time_ns ? "links around a set of ranks" : ALL_LINKS;
}

static double ratio_of(double time_ns, double to_ns) { return to_ns > 0 ? time_ns / to_ns : 1; }

void cli_limit_print(const trv_limit_t *limit, const char *what, double time_ns, FILE *out)
{
    const trv_time_unit_t *unit = trv_time_unit(limit->time_ns);
    const char *source = cli_limit_source(limit);
    char text[6][TRV_TIME_TEXT_MAX];
    trv_fprintf(out,
                "limit %s, from %s%s (start-up %s; links around a set of ranks %s; all links %s): %s takes %.3f times "
                "as long\n",
                trv_format_time(limit->time_ns, unit, text[0]), strcmp(source, ALL_LINKS) == 0 ? "" : "the ", source,
                trv_format_time(limit->startup_ns, unit, text[1]), trv_format_time(limit->sets_ns, unit, text[2]),
                trv_format_time(limit->links_ns, unit, text[3]), what, ratio_of(time_ns, limit->time_ns));
    trv_fprintf(out,
                "reference, not a bound: %s (all steps and the longest route %s + transmission %s): "
                "%.3f times as long\n",
                trv_format_time(limit->reference_ns, unit, text[0]), trv_format_time(limit->steps_ns, unit, text[4]),
                trv_format_time(limit->reference_ns - limit->steps_ns, unit, text[5]),
                ratio_of(time_ns, limit->reference_ns));
}

void cli_limit_cells(cli_table_t *table, const trv_limit_t *limit, double time_ns)
{
    const bool known = !isnan(limit->time_ns);
    cli_cell_real(table, limit->time_ns, 3);
    known ? cli_cell_text(table, cli_limit_source(limit)) : cli_cell_none(table);
    cli_cell_real(table, known && !isnan(time_ns) ? ratio_of(time_ns, limit->time_ns) : NAN, 6);
    cli_cell_real(table, known ? limit->reference_ns : NAN, 3);
}
