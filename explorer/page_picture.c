/*
 * The explorer's picture of a schedule: one line of JSON per step. A message is
 *
 *     [stream, from, to, bytes, "ports"]      ports: one digit per hop, the port by which the route leaves each node
 *
 * Of a set of nodes, "nodes" lists the node of each of its ranks, and the contributions are those of these ranks.
 *
 * The contributions that ranks hold after each step are strings with one character per column, 0 (none) to z (all), see
 * draw/picture.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/number.h"
#include "draw/holdings.h"
#include "explorer/explore.h"
#include "formats/names.h"
#include "schedule/collective.h"

#define RANKS_MAX    4096 /* maximum number of ranks whose messages can be drawn */
#define MESSAGES_MAX (1 << 20)
#define CELLS_MAX    (1 << 22)
#define SHADES       35

static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static const char *truth(bool value) { return value ? "true" : "false"; }

static void put_schedule(const explore_ask_t *ask, const trv_schedule_t *schedule, const trv_cost_t *cost)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    char text[TRV_TORUS_TEXT_MAX];
    fputs("{\"name\": ", stdout);
    trv_json_put(stdout, json_string(trv_schedule_name(schedule)), JSON_ENCODE_ANY);
    printf(", \"torus\": \"%s\", \"ranks\": %d, \"size\": [", trv_torus_format(torus, text, sizeof text), torus->ranks);
    for (int d = 0; d < torus->dims; d++)
        printf("%s%d", d ? ", " : "", torus->size[d]);
    printf("], \"lines\": %u, \"collective\": \"%s\", \"bytes\": %" PRIu64 ", \"steps\": %d", torus->lines,
           trv_schedule_shape(schedule)->name, ask->bytes, trv_schedule_steps(schedule));
    printf(", \"units\": %" PRId64 ", \"registers\": %d, \"exact\": %s, \"consistent\": %s, \"symmetry\": \"%s\"",
           trv_schedule_units(schedule), trv_schedule_registers(schedule),
           truth(trv_schedule_exactness(schedule) == TRV_EXACT), truth(trv_schedule_consistent(schedule)),
           trv_symmetry_word(trv_schedule_symmetry(schedule)));
    trv_fprintf(stdout,
                ", \"messages_per_port\": %d, \"messages\": %" PRIu64
                ", \"lambda\": %.6f, \"delta\": %.6f, \"theta\": %.6f",
                trv_schedule_messages_per_port(schedule), cost->messages, cost->lambda, cost->delta, cost->theta);
    fputs(",\n\"streams\": [", stdout);
    for (int s = 0; s < trv_schedule_streams(schedule); s++)
        printf("%s{\"mirrored\": %s, \"weight\": %d}", s ? ", " : "", truth(trv_schedule_mirrored(schedule, s)),
               trv_schedule_weight(schedule, s));
    fputs("],\n\"costs\": [", stdout);
    for (int k = 0; k < cost->steps; k++)
        trv_fprintf(stdout, "%s{\"messages\": %d, \"link\": %.9g, \"port\": %.9g, \"hops\": %d}", k ? ", " : "",
                    cost->step[k].messages, cost->step[k].link_fraction, cost->step[k].port_fraction,
                    cost->step[k].hops);
    fputs("],\n\"links\": [", stdout);
    for (int i = 0; i < ask->network.options.slow_links; i++) {
        const trv_slow_link_t *link = &ask->network.options.slow_link[i];
        trv_fprintf(stdout, link->factor > 1e300 ? "%s[%d, %d, null]" : "%s[%d, %d, %.15g]", i ? ", " : "", link->rank,
                    link->port, link->factor);
    }
    fputs("]", stdout);
    if (ask->node)
        fputs(",\n\"nodes\": [", stdout);
    for (int i = 0; i < ask->nodes; i++)
        printf("%s%d", i ? ", " : "", ask->node[i]);
    if (ask->node)
        fputs("]", stdout);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void put_route(const trv_schedule_t *schedule, int stream, int rank, const trv_message_t *message)
{
    trv_route_t route;
    int port, node = rank;
    trv_route_begin(&route, trv_schedule_torus(schedule), rank, message->peer, message->port,
                    trv_schedule_mirrored(schedule, stream));
    while ((port = trv_route_next(&route, &node)) >= 0)
        putchar(digit[port]);
}

/* Whether a message can be drawn. Messages of an unchecked file may name peers and ports that do not exist. */
static bool is_drawn(const trv_torus_t *torus, const trv_message_t *message)
{
    return message->peer >= 0 && message->peer < torus->ranks && message->port >= 0 && message->port < 2 * torus->dims;
}

static int put_step(const explore_ask_t *ask, const trv_schedule_t *schedule, int k, trv_step_t *step,
                    int64_t *messages)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int rc = TRV_OK, written = 0;
    for (int stream = 0; stream < trv_schedule_streams(schedule) && !rc; stream++)
        for (int rank = 0; rank < torus->ranks && !rc; rank++) {
            rc = trv_schedule_step(schedule, rank, stream, k, step);
            for (int i = 0; i < step->sends && !rc; i++) {
                const trv_message_t *message = &step->send[i];
                if (!is_drawn(torus, message))
                    continue;
                printf("%s[%d,%d,%d,%" PRIu64 ",\"", written++ ? "," : "", stream, rank, message->peer,
                       trv_message_bytes(schedule, stream, message, ask->bytes));
                put_route(schedule, stream, rank, message);
                fputs("\"]", stdout);
                if (++*messages > MESSAGES_MAX)
                    rc = trv_fail(TRV_ERR_UNSUPPORTED,
                                  "the schedule has more than 2^20 messages, too many to be drawn at once");
            }
        }
    return rc;
}

static int put_messages(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    const int steps = trv_schedule_steps(schedule), ranks = trv_schedule_torus(schedule)->ranks;
    trv_step_t step = TRV_STEP_INIT;
    int64_t messages = 0;
    int rc = TRV_OK;
    if (ranks > RANKS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%d ranks are too many to draw messages: at most %d ranks are drawn",
                        ranks, RANKS_MAX);
    fputs(",\n\"message\": [", stdout);
    for (int k = 0; k < steps && !rc; k++) {
        fputs(k ? ",\n [" : "\n [", stdout);
        if (ask->step == -1 || ask->step == k)
            rc = put_step(ask, schedule, k, &step, &messages);
        putchar(']');
    }
    putchar(']');
    trv_step_clear(&step);
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
