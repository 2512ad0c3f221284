/*
 * Computes the arrows, panels, segments and tracks of a picture, and its marked links.
 */
#include "draw/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "base/number.h"
#include "torus/torus.h"

int trv_ring_dimension(const trv_torus_t *torus)
{
    int active[TRV_DIMS_MAX];
    return trv_torus_active(torus, active) ? active[0] : 0;
}

int trv_middle_rank(const trv_torus_t *torus)
{
    int at[TRV_DIMS_MAX];
    for (int d = 0; d < torus->dims; d++)
        at[d] = (torus->size[d] - 1) / 2;
    return trv_torus_rank(torus, at);
}

/* ---- Arrows ------------------------------------------------------------------------------------------------------ */

static int add_arrow(trv_panel_t *panel, int64_t *capacity, const trv_arrow_t *arrow)
{
    if (trv_array_reserve(&panel->arrow, capacity, panel->arrows, 1, sizeof *panel->arrow))
        return TRV_ERR_MEMORY;
    panel->arrow[panel->arrows++] = *arrow;
    return TRV_OK;
}

/* Messages of a file that is not verified may name peers and ports that do not exist. */
static bool exists(const trv_schedule_t *schedule, const trv_message_t *message)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    return message->peer >= 0 && message->peer < torus->ranks && message->port >= 0 &&
           message->port < trv_port_count(torus);
}

static int collect_arrows(const trv_schedule_t *schedule, int step, int only_rank, int only_stream, trv_panel_t *panel)
{
    trv_step_t out = TRV_STEP_INIT;
    int rc = TRV_OK, ranks = trv_schedule_torus(schedule)->ranks;
    int64_t capacity = 0;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int rank = 0; rank < ranks && !rc; rank++) {
            if ((only_rank >= 0 && rank != only_rank) || (only_stream >= 0 && stream != only_stream))
                continue;
            rc = trv_schedule_step(schedule, rank, stream, step, &out);
            for (int i = 0; i < out.sends && !rc; i++) {
                if (!exists(schedule, &out.send[i]))
                    continue;
                int64_t units = trv_message_units(schedule, &out.send[i]);
                trv_arrow_t arrow = {rank, out.send[i].peer, stream, out.send[i].port, units};
                rc = add_arrow(panel, &capacity, &arrow);
                if (panel->arrows == 1 || units < panel->units_min)
                    panel->units_min = units;
                if (units > panel->units_max)
                    panel->units_max = units;
            }
        }
    trv_step_clear(&out);
    return rc;
}

static bool same_arrows(const trv_panel_t *a, const trv_panel_t *b)
{
    if (a->arrows != b->arrows || a->messages != b->messages)
        return false;
    for (int i = 0; i < a->arrows; i++)
        if (a->arrow[i].from != b->arrow[i].from || a->arrow[i].to != b->arrow[i].to ||
            a->arrow[i].stream != b->arrow[i].stream || a->arrow[i].port != b->arrow[i].port)
            return false;
    return true;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

/* Cuts the route of an arrow where it turns; writes at most one segment per dimension. Returns their number. */
static int cut_route(const trv_schedule_t *schedule, const trv_panel_t *panel, int index, trv_segment_t *segment)
{
    const trv_arrow_t *arrow = &panel->arrow[index];
    trv_route_t route;
    int node = arrow->from, port, count = 0, previous = -1;
    trv_route_begin(&route, trv_schedule_torus(schedule), arrow->from, arrow->to, arrow->port,
                    trv_schedule_mirrored(schedule, arrow->stream));
    while ((port = trv_route_next(&route, &node)) >= 0) {
        if (port != previous)
            segment[count++] = (trv_segment_t){.arrow = index,
                                               .dimension = trv_port_dimension(port),
                                               .sign = trv_port_sign(port),
                                               .from = node};
        segment[count - 1].hops++;
        previous = port;
    }
    if (count)
        segment[count - 1].last = true;
    return count;
}

static int cut_routes(const trv_schedule_t *schedule, trv_panel_t *panel)
{
    panel->segment = malloc(((size_t)panel->arrows * TRV_DIMS_MAX + 1) * sizeof *panel->segment);
    if (!panel->segment)
        return trv_fail_memory();
    for (int i = 0; i < panel->arrows; i++)
        panel->segments += cut_route(schedule, panel, i, panel->segment + panel->segments);
    return TRV_OK;
}

/* The occupied links of each track, identified by the rank at the link's lower end, dimension and direction. */
typedef struct tracks {
    const trv_torus_t *torus;
    unsigned char *taken; /* [track][(rank * dims + dimension) * 2 + direction] */
    size_t links;
    int count;
} tracks_t;

static size_t link_index(const tracks_t *tracks, const trv_segment_t *segment, int hop)
{
    int low = trv_torus_shift(tracks->torus, segment->from, segment->dimension, segment->sign > 0 ? hop : -hop - 1);
    return ((size_t)low * (size_t)tracks->torus->dims + (size_t)segment->dimension) * 2 + (segment->sign < 0);
}

static bool is_free(const tracks_t *tracks, const trv_segment_t *segment, int track)
{
    for (int hop = 0; hop < segment->hops; hop++)
        if (tracks->taken[(size_t)track * tracks->links + link_index(tracks, segment, hop)])
            return false;
    return true;
}

static int assign_track(tracks_t *tracks, trv_segment_t *segment)
{
    int track = 0;
    while (track < tracks->count && !is_free(tracks, segment, track))
        track++;
    if (track == tracks->count) {
        unsigned char *grown = realloc(tracks->taken, (size_t)(track + 1) * tracks->links);
        if (!grown)
            return trv_fail_memory();
        memset(grown + (size_t)track * tracks->links, 0, tracks->links);
        tracks->taken = grown;
        tracks->count++;
    }
    for (int hop = 0; hop < segment->hops; hop++)
        tracks->taken[(size_t)track * tracks->links + link_index(tracks, segment, hop)] = 1;
    segment->track = track;
    return TRV_OK;
}

int trv_panel_assign_tracks(trv_panel_t *panel, const trv_torus_t *torus)
{
    tracks_t tracks = {.torus = torus, .links = (size_t)torus->ranks * (size_t)torus->dims * 2};
    int rc = TRV_OK;
    for (int i = 0; i < panel->segments && !rc; i++) {
        trv_segment_t *segment = &panel->segment[i];
        int *tracks_max = &panel->tracks[segment->dimension][segment->sign < 0];
        rc = assign_track(&tracks, segment);
        if (!rc && segment->track >= *tracks_max)
            *tracks_max = segment->track + 1;
    }
    free(tracks.taken);
    return rc;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

bool trv_mark_is_cut(const trv_mark_t *mark) { return isinf(mark->factor[0]) || isinf(mark->factor[1]); }
bool trv_mark_is_broken(const trv_mark_t *mark) { return isinf(mark->factor[0]) && isinf(mark->factor[1]); }

int trv_mark_neighbour(const trv_picture_t *picture, const trv_mark_t *mark)
{
    return trv_torus_shift(picture->torus, mark->rank, mark->dimension, 1);
}

bool trv_mark_goes_round(const trv_picture_t *picture, const trv_mark_t *mark)
{
    return trv_mark_neighbour(picture, mark) < mark->rank; /* ranks ascend along a row */
}

char *trv_mark_describe(const trv_mark_t *mark, char text[TRV_MARK_TEXT_MAX])
{
    const bool both = mark->factor[0] == mark->factor[1];
    int used = 0;
    text[0] = '\0';
    for (int sign = 0; sign < (both ? 1 : 2); sign++) {
        const size_t left = (size_t)(TRV_MARK_TEXT_MAX - used);
        char port[16] = "";
        if (mark->factor[sign] == 1)
            continue;
        if (!both)
            snprintf(port, sizeof port, "%s%c%d ", used ? ", " : "", sign ? '-' : '+', mark->dimension);
        used += isinf(mark->factor[sign]) ? snprintf(text + used, left, "%scut", port)
                                          : trv_snprintf(text + used, left, "%s%gx", port, mark->factor[sign]);
    }
    return text;
}

/* Both directions of a link share a mark. */
static void add_link(trv_picture_t *picture, const trv_slow_link_t *link)
{
    const int d = trv_port_dimension(link->port), sign = trv_port_sign(link->port);
    const int low = sign > 0 ? link->rank : trv_torus_shift(picture->torus, link->rank, d, -1);
    int i = 0;
    while (i < picture->marks && (picture->mark[i].rank != low || picture->mark[i].dimension != d))
        i++;
    if (i == picture->marks)
        picture->mark[picture->marks++] = (trv_mark_t){.rank = low, .dimension = d, .factor = {1, 1}};
    picture->mark[i].factor[sign < 0] = link->factor;
}

int trv_picture_mark(trv_picture_t *picture, const trv_torus_t *torus, const trv_network_t *network)
{
    picture->torus = torus;
    if (!network || network->slow_links == 0)
        return TRV_OK;
    picture->mark = malloc((size_t)network->slow_links * sizeof *picture->mark);
    if (!picture->mark)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++)
        add_link(picture, &network->slow_link[i]);
    int kept = 0; /* a later entry may have restored a link */
    for (int i = 0; i < picture->marks; i++)
        if (picture->mark[i].factor[0] != 1 || picture->mark[i].factor[1] != 1)
            picture->mark[kept++] = picture->mark[i];
    picture->marks = kept;
    return TRV_OK;
}

/* ---- Panels ------------------------------------------------------------------------------------------------------ */

int trv_panel_create(trv_panel_t *panel, const trv_schedule_t *schedule, int step, int rank, int stream)
{
    *panel = (trv_panel_t){.first_step = step, .last_step = step};
    int rc = collect_arrows(schedule, step, rank, stream, panel);
    if (!rc)
        rc = cut_routes(schedule, panel);
    if (rc)
        trv_panel_clear(panel);
    return rc;
}

void trv_panel_clear(trv_panel_t *panel)
{
    free(panel->arrow);
    free(panel->segment);
}

void trv_picture_clear(trv_picture_t *picture)
{
    for (int i = 0; i < picture->panels; i++)
        trv_panel_clear(&picture->panel[i]);
    free(picture->panel);
    free(picture->mark);
    *picture = (trv_picture_t){0};
}

int trv_picture_create(trv_picture_t *picture, const trv_schedule_t *schedule, const trv_network_t *network,
                       const trv_cost_t *cost, int rank, int stream)
{
    int steps = trv_schedule_steps(schedule);
    *picture = (trv_picture_t){.schedule = schedule, .panel = calloc((size_t)steps + 1, sizeof(trv_panel_t))};
    int rc = picture->panel ? trv_picture_mark(picture, trv_schedule_torus(schedule), network) : trv_fail_memory();
    for (int step = 0; step < steps && !rc; step++) {
        trv_panel_t panel = {.first_step = step, .last_step = step, .messages = cost->step[step].messages};
        trv_panel_t *previous = picture->panels ? &picture->panel[picture->panels - 1] : NULL;
        rc = collect_arrows(schedule, step, rank, stream, &panel);
        if (!rc && previous && same_arrows(previous, &panel)) {
            previous->last_step = step;
            previous->units_min = panel.units_min < previous->units_min ? panel.units_min : previous->units_min;
            previous->units_max = panel.units_max > previous->units_max ? panel.units_max : previous->units_max;
            trv_panel_clear(&panel);
        } else {
            picture->panel[picture->panels++] = panel;
        }
    }
    for (int i = 0; i < picture->panels && !rc; i++) {
        rc = cut_routes(schedule, &picture->panel[i]);
        if (!rc)
            rc = trv_panel_assign_tracks(&picture->panel[i], picture->torus);
    }
    if (rc)
        trv_picture_clear(picture);
    return rc;
}

void trv_panel_describe(const trv_picture_t *picture, const trv_panel_t *panel, char *text, int text_size)
{
    int active[TRV_DIMS_MAX], hops_min = 0, hops_max = 0, dimension = -1;
    bool several = false;
    for (int i = 0, hops = 0; i < panel->segments; i++) {
        const trv_segment_t *segment = &panel->segment[i];
        several |= dimension >= 0 && dimension != segment->dimension;
        dimension = segment->dimension;
        hops += segment->hops;
        if (!segment->last)
            continue;
        hops_min = hops_min == 0 || hops < hops_min ? hops : hops_min;
        hops_max = hops > hops_max ? hops : hops_max;
        hops = 0;
    }
    text[0] = '\0';
    if (hops_max == 0)
        return;
    int used = 0;
    if (!several && trv_torus_active(picture->torus, active) > 1)
        used = snprintf(text, (size_t)text_size, "dimension %d, ", dimension);
    if (hops_min == hops_max)
        snprintf(text + used, (size_t)(text_size - used), "distance %d", hops_max);
    else
        snprintf(text + used, (size_t)(text_size - used), "distance %d to %d", hops_min, hops_max);
}
