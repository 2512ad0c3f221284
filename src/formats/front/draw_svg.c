/*
 * A schedule as an SVG drawing.
 */
#include "base/error.h"
#include "draw/svg.h"
#include "formats/front/draw.h"

#define MATRIX_RANKS_MAX 81

static int draw(const trv_schedule_t *schedule, const trv_draw_options_t *options, const trv_cost_t *cost, FILE *out)
{
    trv_picture_t picture;
    trv_progress_t progress;
    char title[TRV_CAPTION_MAX], subtitle[TRV_CAPTION_MAX];
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const trv_network_t network = trv_draw_network(schedule, options);
    int rank = trv_draw_svg_rank(torus, options);
    int rc = trv_picture_create(&picture, schedule, &network, cost, rank, options->stream);
    if (rc)
        return rc;
    rc = trv_svg_check(&picture, rank);
    /* The matrices show one stream; the other streams are its images. */
    bool matrices = !rc && !options->no_blocks && torus->ranks <= MATRIX_RANKS_MAX && torus->ranks > 1 &&
                    trv_progress_create(&progress, schedule, options->stream < 0 ? 0 : options->stream) == 0;
    if (!rc) {
        trv_svg_options_t svg = {.title = trv_draw_title(schedule, options, title),
                                 .subtitle = trv_draw_subtitle(schedule, options, subtitle),
                                 .vector_bytes = options->vector_bytes,
                                 .rank = rank,
                                 .stream = options->stream,
                                 .progress = matrices ? &progress : NULL};
        trv_svg_write(&picture, &svg, out);
    }
    if (matrices)
        trv_progress_clear(&progress);
    trv_picture_clear(&picture);
    return rc;
}

int trv_draw_svg(const trv_schedule_t *schedule, const trv_draw_options_t *options, FILE *out)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    trv_cost_t cost;
    int rc = trv_draw_check(schedule, options);
    if (!rc)
        rc = trv_svg_check_torus(torus, trv_draw_svg_rank(torus, options));
    if (rc || options->cost)
        return rc ? rc : draw(schedule, options, options->cost, out);
    rc = trv_cost_measure(schedule, &cost);
    if (rc)
        return rc;
    rc = draw(schedule, options, &cost, out);
    trv_cost_clear(&cost);
    return rc;
}
