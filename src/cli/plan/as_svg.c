/*
 * A schedule as a picture, and what stands above pictures and text.
 */
#include <math.h>
#include <stdio.h>

#include "cli/plan/plan.h"
#include "formats/names.h"
#include "draw/svg.h"
#include "base/text/parse.h"
#include "cli/shared/network_options.h"
#include "schedule/collective.h"

void cli_plan_title(const cli_shown_t *plan, char text[CLI_PLAN_TEXT_MAX])
{
    const trv_network_t network = cli_network_on(trv_schedule_torus(plan->schedule), plan->network);
    char shape[TRV_SHAPE_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX];
    snprintf(text, CLI_PLAN_TEXT_MAX, "%.80s on %s: %s of %s", trv_schedule_name(plan->schedule),
             trv_shape_words(&network, shape), trv_collective_shape(trv_schedule_collective(plan->schedule))->title,
             trv_format_bytes(plan->vector_bytes, bytes));
}

void cli_plan_subtitle(const cli_shown_t *plan, char text[CLI_PLAN_TEXT_MAX])
{
    const trv_simulate_options_t *network = plan->network;
    char time[TRV_TIME_TEXT_MAX];
    int steps = trv_schedule_steps(plan->schedule), streams = trv_schedule_streams(plan->schedule);
    int used = snprintf(text, CLI_PLAN_TEXT_MAX, "%d step%s, %d stream%s", steps, steps == 1 ? "" : "s", streams,
                        streams == 1 ? "" : "s");
    if (plan->has_blocks)
        used += snprintf(text + used, (size_t)(CLI_PLAN_TEXT_MAX - used), "; %s; %s",
                         trv_schedule_exactness(plan->schedule) == TRV_EXACT ? "every contribution exactly once"
                                                                             : "every contribution at least once",
                         trv_schedule_consistent(plan->schedule) ? "the same bits on every rank"
                                                                 : "ranks may add in different orders");
    if (!isnan(plan->time.ns))
        snprintf(text + used, (size_t)(CLI_PLAN_TEXT_MAX - used), "; %s%s at %g Gb/s, alpha %g us, hops %g ns",
                 trv_format_time(plan->time.ns, trv_time_unit(plan->time.ns), time),
                 plan->time.modelled ? " by its model" : " simulated", network->bandwidth_bps / 1e9,
                 network->alpha_ns / 1e3, cli_hop_ns(network));
}

/* On a ring or line the arrows of all ranks show the pattern, on a torus or mesh they hide it. */
static int drawn_rank(const cli_shown_t *plan, const trv_torus_t *torus)
{
    int active[TRV_DIMS_MAX];
    bool one = plan->rank < 0 && !plan->all_ranks && trv_active_dimensions(torus, active) > 1;
    return one ? trv_middle_rank(torus) : plan->rank;
}

int cli_plan_svg_check(const cli_shown_t *plan, const trv_torus_t *torus)
{
    return trv_svg_check_torus(torus, drawn_rank(plan, torus));
}

int cli_plan_svg(const cli_shown_t *plan, FILE *out)
{
    trv_picture_t picture;
    trv_progress_t progress;
    char title[CLI_PLAN_TEXT_MAX], subtitle[CLI_PLAN_TEXT_MAX];
    const trv_torus_t *torus = trv_schedule_torus(plan->schedule);
    const trv_network_t network = cli_network_on(torus, plan->network);
    int rank = drawn_rank(plan, torus);
    int rc = trv_picture_create(&picture, plan->schedule, &network, &plan->cost, rank, plan->stream);
    if (rc)
        return rc;
    rc = trv_svg_check(&picture, rank);
    /* The matrices are of one stream; the others are its images. */
    bool matrices = !rc && plan->has_blocks && torus->ranks <= 81 && torus->ranks > 1 &&
                    trv_progress_create(&progress, plan->schedule, plan->stream < 0 ? 0 : plan->stream) == 0;
    if (!rc) {
        cli_plan_title(plan, title);
        cli_plan_subtitle(plan, subtitle);
        trv_svg_options_t options = {title, subtitle,     plan->vector_bytes,
                                     rank,  plan->stream, matrices ? &progress : NULL};
        trv_svg_write(&picture, &options, out);
    }
    if (matrices)
        trv_progress_clear(&progress);
    trv_picture_clear(&picture);
    return rc;
}
