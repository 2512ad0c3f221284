/*
 * A schedule as an SVG drawing, and the tool's additions to its captions.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "base/text/parse.h"
#include "cli/plan/plan.h"
#include "cli/shared/network_options.h"
#include "draw/svg.h"

trv_draw_options_t cli_plan_drawn(const cli_shown_t *shown, const trv_network_t *network, char note[TRV_CAPTION_MAX])
{
    const trv_simulate_options_t *options = shown->network;
    char time[TRV_TIME_TEXT_MAX], model[TRV_PARAMETER_TEXT_MAX];
    note[0] = '\0';
    if (!isnan(shown->time.ns))
        trv_snprintf(note, TRV_CAPTION_MAX, "; %s %s (%s) at %g Gb/s, alpha %g us, hops %g ns",
                     trv_format_time(shown->time.ns, trv_time_unit(shown->time.ns), time),
                     shown->time.approximate ? "simulated (usually within 1 %)" : "simulated",
                     trv_parameter_format(options, trv_parameter_find("model"), model), options->bandwidth_bps / 1e9,
                     options->alpha_ns / 1e3, cli_hop_ns(options));
    trv_draw_options_t drawn = {TRV_DRAW_OPTIONS, .network = network, .cost = &shown->cost};
    drawn.vector_bytes = shown->vector_bytes;
    drawn.rank = shown->rank;
    drawn.all_ranks = shown->all_ranks;
    drawn.stream = shown->stream;
    drawn.no_blocks = !shown->has_blocks;
    drawn.note = note;
    return drawn;
}

int cli_plan_svg_check(const cli_shown_t *shown, const trv_torus_t *torus)
{
    const trv_draw_options_t drawn = {.rank = shown->rank, .all_ranks = shown->all_ranks};
    return trv_svg_check_torus(torus, trv_draw_svg_rank(torus, &drawn));
}

int cli_plan_svg(const cli_shown_t *shown, FILE *out)
{
    char note[TRV_CAPTION_MAX];
    const trv_network_t network = cli_network_on(trv_schedule_torus(shown->schedule), shown->network);
    const trv_draw_options_t drawn = cli_plan_drawn(shown, &network, note);
    return trv_draw_svg(shown->schedule, &drawn, out);
}
