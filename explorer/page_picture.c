/*
 * The explorer's picture of a schedule: one line of JSON per step, with the load of links and the messages; a step that
 * was not asked for is null.
 *
 * Of a set of nodes, "nodes" lists the node of each of its ranks, and the contributions are those of these ranks.
 *
 * The contributions that ranks hold after each step are strings with one character per column, 0 (none) to z (all), see
 * draw/holdings.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "draw/svg.h"
#include "explorer/explore.h"
#include "formats/names.h"
#include "schedule/collective.h"
#include "torus/torus.h"

#define TOGETHER_MAX 300 /* messages of a step that can be drawn at once */
#define MESSAGES_MAX (1 << 20)
#define CELLS_MAX    (1 << 22)
#define SHADES       35

static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static const char *truth(bool value) { return value ? "true" : "false"; }

static void put_schedule(const explore_ask_t *ask, const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    fputs("{\"name\": ", stdout);
    trv_json_put(stdout, json_string(trv_schedule_name(schedule)), JSON_ENCODE_ANY);
    trv_fprintf(stdout,
                ", \"ranks\": %d, \"collective\": \"%s\", \"bytes\": %" PRIu64 ", \"steps\": %d, \"streams\": %d, "
                "\"registers\": %d, \"exact\": %s, \"consistent\": %s, \"messages\": %" PRIu64
                ", \"lambda\": %.6f, \"delta\": %.6f, \"theta\": %.6f,\n\"costs\": [",
                ask->torus->ranks, trv_schedule_shape(schedule)->name, ask->bytes, trv_schedule_steps(schedule),
                trv_schedule_streams(schedule), trv_schedule_registers(schedule),
                truth(trv_schedule_exactness(schedule) == TRV_EXACT), truth(trv_schedule_consistent(schedule)),
                cost->messages, cost->lambda, cost->delta, cost->theta);
    for (int k = 0; k < cost->steps; k++)
        trv_fprintf(stdout, "%s{\"link\": %.9g, \"hops\": %d}", k ? ", " : "", cost->step[k].link_fraction,
                    cost->step[k].hops);
    fputs("],\n\"colours\": [", stdout);
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
        printf("%s\"%s\"", stream ? ", " : "", trv_svg_colour(stream));
    fputs("]", stdout);
    if (ask->node)
        fputs(",\n\"nodes\": [", stdout);
    for (int i = 0; i < ask->nodes; i++)
        printf("%s%d", i ? ", " : "", ask->node[i]);
    if (ask->node)
        fputs("]", stdout);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Writes the messages of a panel: [stream, from, to, bytes, hops, "+0·2 -1", path, path of the head, width of the
 * line]. Returns their number. */
static int put_panel(const explore_ask_t *ask, const trv_schedule_t *schedule, trv_layout_t layout,
                     const trv_panel_t *panel, const char *comma)
{
    trv_arrow_ends_t ends;
    int count = 0;
    trv_layout_fit(&layout, panel);
    for (int i = 0; i < panel->segments; count++) {
        const trv_arrow_t *arrow = &panel->arrow[panel->segment[i].arrow];
        int last = i, hops;
        for (hops = panel->segment[last].hops; !panel->segment[last].last; hops += panel->segment[last].hops)
            last++;
        printf("%s[%d,%d,%d,%" PRIu64 ",%d,\"", count ? "," : comma, arrow->stream, arrow->from, arrow->to,
               trv_units_bytes(schedule, arrow->stream, arrow->units, ask->bytes), hops);
        for (int s = i; s <= last; s++) {
            char port[TRV_PORT_TEXT_MAX];
            printf("%s%s", s > i ? " " : "",
                   trv_port_format(trv_port(panel->segment[s].dimension, panel->segment[s].sign), port));
            if (panel->segment[s].hops > 1)
                printf("·%d", panel->segment[s].hops);
        }
        fputs("\",\"", stdout);
        i += trv_layout_message(&layout, panel, i, stdout, &ends);
        fputs("\",\"", stdout);
        trv_layout_head(&ends, stdout);
        trv_fprintf(stdout, "\",%.2g]", trv_layout_width(&layout));
    }
    return count;
}

/* Writes the loads of links: [rank, port, messages, bytes]. */
static int put_loads(const explore_ask_t *ask, const trv_schedule_t *schedule, const trv_panel_t *panel)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    const int ports = trv_port_count(torus), links = torus->ranks * ports;
    struct load {
        int messages;
        uint64_t bytes;
    } *load = calloc((size_t)links, sizeof *load);
    const char *comma = "";
    if (!load)
        return trv_fail_memory();
    for (int i = 0; i < panel->segments; i++) {
        const trv_segment_t *segment = &panel->segment[i];
        const trv_arrow_t *arrow = &panel->arrow[segment->arrow];
        for (int hop = 0; hop < segment->hops; hop++) {
            const int rank = trv_torus_shift(torus, segment->from, segment->dimension, segment->sign * hop);
            struct load *at = &load[rank * ports + trv_port(segment->dimension, segment->sign)];
            at->messages++;
            at->bytes += trv_units_bytes(schedule, arrow->stream, arrow->units, ask->bytes);
        }
    }
    for (int i = 0; i < links; i++)
        if (load[i].messages) {
            printf("%s[%d,%d,%d,%" PRIu64 "]", comma, i / ports, i % ports, load[i].messages, load[i].bytes);
            comma = ",";
        }
    free(load);
    return TRV_OK;
}

/* Writes a step. Many messages are drawn for one rank at a time, so only the messages of a rank are on different
 * tracks. */
static int put_step(const explore_ask_t *ask, const trv_schedule_t *schedule, const trv_layout_t *layout, int k,
                    int *messages)
{
    trv_panel_t panel;
    int rc = trv_panel_create(&panel, schedule, k, -1, -1), written = 0;
    if (rc)
        return rc;
    const bool together = panel.arrows <= TOGETHER_MAX;
    *messages += panel.arrows;
    if (*messages > MESSAGES_MAX)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule has more than 2^20 messages, too many to be drawn at once");
    printf("{\"together\": %s, \"loads\": [", truth(together));
    if (!rc)
        rc = put_loads(ask, schedule, &panel);
    fputs("], \"messages\": [", stdout);
    if (!rc && together)
        rc = trv_panel_assign_tracks(&panel, ask->torus);
    if (!rc && together)
        put_panel(ask, schedule, *layout, &panel, "");
    trv_panel_clear(&panel);
    for (int rank = 0; rank < ask->torus->ranks && !together && !rc; rank++) {
        rc = trv_panel_create(&panel, schedule, k, rank, -1);
        if (!rc)
            rc = trv_panel_assign_tracks(&panel, ask->torus);
        if (!rc)
            written += put_panel(ask, schedule, *layout, &panel, written ? "," : "");
        trv_panel_clear(&panel);
    }
    fputs("]}", stdout);
    return rc;
}

static int put_messages(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    const int steps = trv_schedule_steps(schedule);
    trv_picture_t network;
    trv_layout_t layout;
    int messages = 0, rc = explore_lay_out(ask, &network, &layout);
    if (rc == TRV_ERR_UNSUPPORTED) /* the page shows the schedule as text */
        return TRV_OK;
    fputs(",\n\"message\": [", stdout);
    for (int k = 0; k < steps && !rc; k++) {
        fputs(k ? ",\n " : "\n ", stdout);
        if (ask->step == -1 || ask->step == k)
            rc = put_step(ask, schedule, &layout, k, &messages);
        else
            fputs("null", stdout);
    }
    putchar(']');
    trv_picture_clear(&network);
    return rc;
}

/* ---- Contributions ----------------------------------------------------------------------------------------------- */

static char shade(const trv_progress_t *progress, int after, int rank, int column)
{
    const float value = trv_progress_at(progress, after, rank, column);
    const int level = (int)(SHADES * value / progress->full);
    return digit[value > 0 && level < 1 ? 1 : level > SHADES ? SHADES : level];
}

static int put_held(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    trv_progress_t progress;
    const int ranks = trv_schedule_torus(schedule)->ranks;
    if (ask->rank >= ranks || ask->stream >= trv_schedule_streams(schedule))
        return trv_fail(TRV_ERR_ARGUMENT, "the schedule has no such rank or stream");
    const int first = ask->rank < 0 ? 0 : ask->rank, end = ask->rank < 0 ? ranks : ask->rank + 1;
    int rc = trv_schedule_shape(schedule)->exchanges
                 ? trv_fail(TRV_ERR_UNSUPPORTED,
                            "In an all-to-all every rank holds the same number of blocks after each step.")
                 : trv_progress_create(&progress, schedule, ask->stream);
    if (!rc && (int64_t)(end - first) * progress.columns * (progress.steps + 1) > CELLS_MAX) {
        trv_progress_clear(&progress);
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "the schedule is too large to show the data held by each rank");
    }
    if (rc == TRV_ERR_UNSUPPORTED) { /* the messages can still be drawn */
        fputs(",\n\"held_reason\": ", stdout);
        trv_json_put(stdout, json_string(trv_last_error()), JSON_ENCODE_ANY);
        return TRV_OK;
    }
    if (!rc)
        printf(",\n\"held\": {\"by_block\": %s, \"columns\": %d, \"stream\": %d, \"first\": %d, \"state\": [",
               truth(progress.by_block), progress.columns, ask->stream, first);
    for (int after = 0; after <= progress.steps && !rc; after++) {
        fputs(after ? ",\n \"" : "\n \"", stdout);
        for (int rank = first; rank < end; rank++)
            for (int column = 0; column < progress.columns; column++)
                putchar(shade(&progress, after, rank, column));
        putchar('"');
    }
    if (!rc) {
        fputs("]}", stdout);
        trv_progress_clear(&progress);
    }
    return rc;
}

static int write_picture(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    const bool wrong = ask->schedule != NULL; /* a schedule from a file may be wrong, so its cost is not measured */
    trv_cost_t cost = {0};
    int rc = wrong ? TRV_OK : trv_cost_measure(schedule, &cost);
    if (rc)
        return rc;
    put_schedule(ask, schedule, &cost);
    trv_cost_clear(&cost);
    if (ask->step > -2)
        rc = put_messages(ask, schedule);
    if (!rc && ask->rank > -2 && ask->has_blocks)
        rc = put_held(ask, ask->on_set ? ask->on_set : schedule);
    puts("}");
    return rc;
}

int explore_picture(int argc, char **argv) { return explore_answer(argc, argv, write_picture); }
