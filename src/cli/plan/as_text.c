/*
 * A schedule as text: a summary, the table of one rank's messages, that rank's program, and the drawings.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/shared/tool.h"
#include "cli/plan/plan.h"
#include "cli/shared/network_options.h"
#include "cli/shared/table.h"
#include "base/error.h"
#include "formats/ranges.h"

#define BLOCKS_WIDTH 28
#define ROWS_MAX     100  /* of the table without --rank: no step begins after this many rows */
#define WIDTH        110  /* of pictures, if the number of columns is unknown */
#define LISTED_MAX   4096 /* blocks; longer lists are shown as a count */

/* Formats the blocks of a message's parts or of a combine: "0-8,12", cut to `width` columns (0: not cut), or "8000
 * of 27000" for many. `first` is added to each number; the numbers 0 … limit - 1 are "all". The caller frees the
 * result. */
static char *describe_list(const trv_blocks_t *blocks, int64_t first, int64_t limit, int width)
{
    int64_t count = trv_blocks_count(blocks);
    char *text = NULL;
    if (count > LISTED_MAX && count < limit)
        return asprintf(&text, "%lld of %lld", (long long)count, (long long)limit) < 0 ? NULL : text;
    int64_t *unit = malloc(((size_t)count + 1) * sizeof *unit);
    if (unit) {
        trv_blocks_list(blocks, unit);
        for (int64_t i = 0; i < count; i++)
            unit[i] += first;
        text = trv_ranges_format(unit, count, limit);
    }
    free(unit);
    if (text && width > 0 && (int)strlen(text) > width) {
        int end = width - 4; /* after a whole number */
        while (end > 0 && text[end] != ',')
            end--;
        strcpy(text + (end > 0 ? end : width - 4), ",...");
    }
    return text;
}

/* Formats the blocks of all parts of a message: "all", "0-2", or "registers 3-5" for parts that are whole registers. */
static void describe_parts(const cli_shown_t *shown, const trv_message_t *message, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    if (!shown->has_blocks)
        return;
    for (int p = 0; p < message->parts && used < size; p++) {
        const trv_part_t *part = &message->part[p];
        int64_t count = trv_blocks_count(&part->blocks);
        if (part->slots) {
            used += (size_t)snprintf(text + used, size - used, "%s%lld register%s", used ? " + " : "", (long long)count,
                                     count == 1 ? "" : "s");
            continue;
        }
        char *list = describe_list(&part->blocks, 0, trv_schedule_units(shown->schedule), BLOCKS_WIDTH);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " + " : "", list ? list : "?");
        free(list);
    }
}

static int route_hops(const cli_shown_t *shown, int rank, int stream, const trv_message_t *message)
{
    trv_route_t route;
    trv_route_begin(&route, trv_schedule_torus(shown->schedule), rank, message->peer, message->port,
                    trv_schedule_mirrored(shown->schedule, stream));
    return trv_route_length(&route);
}

/* ---- The table of messages --------------------------------------------------------------------------------------- */

typedef struct row_head { /* printed once for the rows of a step, and of a stream */
    bool step, stream;
} row_head_t;

static void add_message(cli_table_t *table, const cli_shown_t *shown, int rank, int stream, int step,
                        const trv_step_t *out, const trv_message_t *message, row_head_t *head)
{
    char port[16], blocks[160];
    const trv_step_cost_t *cost = &shown->cost.step[step];
    snprintf(port, sizeof port, "%c%d", trv_port_sign(message->port) > 0 ? '+' : '-',
             trv_port_dimension(message->port));
    describe_parts(shown, message, blocks, sizeof blocks);
    head->step ? cli_cell_int(table, step) : cli_cell_none(table);
    head->stream ? cli_cell_int(table, stream) : cli_cell_none(table);
    head->stream && out->dimension >= 0 ? cli_cell_int(table, out->dimension) : cli_cell_none(table);
    cli_cell_int(table, message->peer);
    cli_cell_text(table, port);
    cli_cell_int(table, route_hops(shown, rank, stream, message));
    cli_cell_int(table, (int64_t)trv_message_bytes(shown->schedule, stream, message, shown->vector_bytes));
    cli_cell_text(table, blocks);
    if (head->step) {
        cli_cell_int(table, cost->messages);
        cli_cell_real(table, ceil(cost->link_fraction * (double)shown->vector_bytes - 1e-6), 0);
    } else {
        cli_cell_none(table);
        cli_cell_none(table);
    }
    cli_row_end(table);
    *head = (row_head_t){false, false};
}

static int print_messages(const cli_shown_t *shown, int rank, FILE *out)
{
    static const cli_column_t column[] = {{NULL, "step", true, 0},
                                          {NULL, "stream", true, 0},
                                          {NULL, "dim", true, 0},
                                          {NULL, "sends to", true, 0},
                                          {NULL, "port", false, 0},
                                          {NULL, "hops", true, 0},
                                          {NULL, "bytes", true, 8},
                                          {NULL, "blocks", false, 6},
                                          {NULL, "congestion", true, 0},
                                          {NULL, "busiest link", true, 0},
                                          {0}};
    cli_table_t table;
    trv_step_t step = TRV_STEP_INIT;
    int rc = TRV_OK, messages = 0, steps = trv_schedule_steps(shown->schedule), k;
    fprintf(out, "rank %d\n", rank);
    cli_table_begin(&table, out, CLI_FORMAT_TABLE, column);
    for (k = 0; k < steps && !rc && (shown->rank >= 0 || messages < ROWS_MAX); k++) {
        row_head_t head = {true, true};
        for (int stream = 0; stream < trv_schedule_streams(shown->schedule) && !rc; stream++) {
            if (shown->stream >= 0 && stream != shown->stream)
                continue;
            head.stream = true;
            rc = trv_schedule_step(shown->schedule, rank, stream, k, &step);
            for (int i = 0; i < step.sends && !rc; i++, messages++)
                add_message(&table, shown, rank, stream, k, &step, &step.send[i], &head);
        }
    }
    trv_step_clear(&step);
    int end = messages ? cli_table_end(&table) : TRV_OK;
    if (!messages)
        fputs("sends nothing\n", out);
    else if (!rc && k < steps)
        fprintf(out, "and %d more step%s; --rank=%d shows all of them, --format=json those of all ranks\n", steps - k,
                steps - k == 1 ? "" : "s", rank);
    return rc ? rc : end;
}

/* ---- The program of one rank ------------------------------------------------------------------------------------- */

static void print_program_message(const cli_shown_t *shown, const trv_message_t *message, bool send, FILE *out)
{
    char port[TRV_PORT_TEXT_MAX];
    fprintf(out, "    %s %4d  by %s port %s", send ? "send    to  " : "receive from", message->peer,
            send ? "own" : "its", trv_port_format(message->port, port));
    for (int p = 0; p < message->parts; p++) {
        const trv_part_t *part = &message->part[p];
        int64_t limit = part->slots ? 0 : trv_schedule_units(shown->schedule);
        char *list = describe_list(&part->blocks, part->slots ? part->reg : 0, limit, 0);
        if (part->slots)
            fprintf(out, "  registers %s", list ? list : "?");
        else
            fprintf(out, "  register %d blocks %s", part->reg, list ? list : "?");
        free(list);
    }
    fputc('\n', out);
}

static void print_program_combine(const cli_shown_t *shown, const trv_combine_t *combine, FILE *out)
{
    char *list = describe_list(&combine->blocks, 0, trv_schedule_units(shown->schedule), 0);
    fprintf(out, "    reduce   register %d =", combine->dst);
    for (int i = 0; i < combine->sources; i++)
        fprintf(out, "%s %d", i ? " +" : "", combine->source ? combine->source[i] : combine->first + i);
    fprintf(out, "  blocks %s\n", list ? list : "?");
    free(list);
}

static int print_program(const cli_shown_t *shown, FILE *out)
{
    trv_step_t step = TRV_STEP_INIT;
    int rc = TRV_OK;
    fprintf(out, "\nprogram of rank %d (register 0 holds the contribution at the start, the result at the end)\n",
            shown->rank);
    for (int stream = 0; stream < trv_schedule_streams(shown->schedule) && !rc; stream++) {
        if (shown->stream >= 0 && stream != shown->stream)
            continue;
        for (int k = 0; k < trv_schedule_steps(shown->schedule) && !rc; k++) {
            rc = trv_schedule_step(shown->schedule, shown->rank, stream, k, &step);
            if (rc || step.sends + step.receives + step.combines == 0)
                continue;
            fprintf(out, "  stream %d step %d\n", stream, k);
            for (int i = 0; i < step.sends; i++)
                print_program_message(shown, &step.send[i], true, out);
            for (int i = 0; i < step.receives; i++)
                print_program_message(shown, &step.receive[i], false, out);
            for (int i = 0; i < step.combines; i++)
                print_program_combine(shown, &step.combine[i], out);
        }
    }
    trv_step_clear(&step);
    return rc;
}

int cli_plan_text(const cli_shown_t *shown, FILE *out)
{
    char text[TRV_CAPTION_MAX], note[TRV_CAPTION_MAX];
    int rank = shown->rank >= 0 ? shown->rank : 0;
    const trv_network_t network = cli_network_on(trv_schedule_torus(shown->schedule), shown->network);
    trv_draw_options_t drawn = cli_plan_drawn(shown, &network, note);
    drawn.ascii = !cli_utf8();
    drawn.columns = out == stdout ? cli_stdout_columns(WIDTH) : WIDTH;
    fputs(trv_draw_title(shown->schedule, &drawn, text), out);
    if (shown->own)
        fprintf(out, " (planned: %s is the fastest at this size)", shown->own);
    else if (shown->chosen_for && strcmp(shown->chosen_for, "planned") == 0)
        fputs(" (planned: the fastest at this size)", out);
    else if (shown->chosen_for)
        fprintf(out, " (the fastest of %s at this size)", shown->chosen_for);
    trv_fprintf(out, "\n%s\nLambda %.3f, Delta %.3f, Theta %.3f; %llu messages in all\n\n",
                trv_draw_subtitle(shown->schedule, &drawn, text), shown->cost.lambda, shown->cost.delta,
                shown->cost.theta, (unsigned long long)shown->cost.messages);
    int rc = print_messages(shown, rank, out);
    if (!rc && shown->rank >= 0 && shown->has_blocks)
        rc = print_program(shown, out);
    if (!rc)
        rc = trv_draw_text(shown->schedule, &drawn, out);
    return rc;
}
