/*
 * The network, the checks of options and the captions of a drawing.
 */
#include "formats/front/draw.h"

#include <stdio.h>

#include "base/error.h"
#include "base/text/parse.h"
#include "draw/picture.h"
#include "formats/names.h"
#include "schedule/collective.h"
#include "torus/torus.h"

trv_network_t trv_draw_network(const trv_schedule_t *schedule, const trv_draw_options_t *options)
{
    trv_network_t network = {TRV_NETWORK, .torus = *trv_schedule_torus(schedule)};
    if (options->network) {
        network.slow_links = options->network->slow_links;
        network.slow_link = options->network->slow_link;
        network.no_forwarding = options->network->no_forwarding;
    }
    return network;
}

int trv_draw_check(const trv_schedule_t *schedule, const trv_draw_options_t *options)
{
    const int ranks = trv_schedule_torus(schedule)->ranks, streams = trv_schedule_streams(schedule);
    int rc = trv_check_size(options->size, sizeof *options, "TRV_DRAW_OPTIONS");
    if (rc)
        return rc;
    if (options->rank < -1 || options->rank >= ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "rank %d cannot be drawn: ranks are 0 to %d, and -1 draws all", options->rank,
                        ranks - 1);
    if (options->stream < -1 || options->stream >= streams)
        return trv_fail(TRV_ERR_ARGUMENT, "stream %d cannot be drawn: streams are 0 to %d, and -1 draws all",
                        options->stream, streams - 1);
    const trv_network_t network = trv_draw_network(schedule, options);
    return trv_network_check_connected(&network);
}

int trv_draw_svg_rank(const trv_torus_t *torus, const trv_draw_options_t *options)
{
    int active[TRV_DIMS_MAX];
    bool one = options->rank < 0 && !options->all_ranks && trv_torus_active(torus, active) > 1;
    return one ? trv_middle_rank(torus) : options->rank;
}

char *trv_draw_title(const trv_schedule_t *schedule, const trv_draw_options_t *options, char text[TRV_CAPTION_MAX])
{
    const trv_network_t network = trv_draw_network(schedule, options);
    char shape[TRV_SHAPE_TEXT_MAX], bytes[TRV_BYTES_TEXT_MAX];
    snprintf(text, TRV_CAPTION_MAX, "%.80s on %s: %s of %s", trv_schedule_name(schedule),
             trv_shape_words(&network, shape), trv_schedule_shape(schedule)->title,
             trv_format_bytes(options->vector_bytes, bytes));
    return text;
}

char *trv_draw_subtitle(const trv_schedule_t *schedule, const trv_draw_options_t *options, char text[TRV_CAPTION_MAX])
{
    int steps = trv_schedule_steps(schedule), streams = trv_schedule_streams(schedule);
    int used = snprintf(text, TRV_CAPTION_MAX, "%d step%s, %d stream%s", steps, steps == 1 ? "" : "s", streams,
                        streams == 1 ? "" : "s");
    if (!options->no_blocks)
        used += snprintf(text + used, (size_t)(TRV_CAPTION_MAX - used), "; %s; %s",
                         trv_schedule_exactness(schedule) == TRV_EXACT ? "every contribution exactly once"
                                                                       : "every contribution at least once",
                         trv_schedule_consistent(schedule) ? "the same bits on every rank"
                                                           : "ranks may add in different orders");
    if (options->note)
        snprintf(text + used, (size_t)(TRV_CAPTION_MAX - used), "%s", options->note);
    return text;
}
