/*
 * trivance plan --nodes: the plans for any set of nodes, and the mapping of ranks to nodes.
 */
#include "cli/plan/ask.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/parse.h"
#include "cli/shared/output.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"

#define PLANS_MAX   12
#define MAP_COLUMNS 24 /* machines with longer rows are not drawn as a map */

typedef struct nodes {
    const cli_plan_ask_t *ask;
    trv_network_t machine;
    int count, *node; /* in the order that was needed last */
    int plans;
    trv_planner_node_choice_t plan[PLANS_MAX];
} nodes_t;

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* Reads a node ("5") or a range of nodes ("0-9"). */
static int read_range(const char *item, int last, int *from, int *to)
{
    char first[16];
    const char *dash = strchr(item, '-');
    const size_t length = dash ? (size_t)(dash - item) : strlen(item);
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : sizeof first - 1), item);
    int rc = trv_parse_int(first, "--nodes", 0, last, from);
    *to = *from;
    if (!rc && dash)
        rc = trv_parse_int(dash + 1, "--nodes", 0, last, to);
    if (rc)
        return trv_fail(rc,
                        "--nodes: '%.40s' is not a node from 0 to %d, or a range of them, for example 0-%d; without "
                        "--nodes the plan is for all",
                        item, last, last / 2);
    if (*to < *from)
        return trv_fail(TRV_ERR_ARGUMENT, "--nodes: %.40s ends before it begins; for example 0-9,16-25", item);
    return TRV_OK;
}

static int read_nodes(nodes_t *nodes, const char *list)
{
    char item[64];
    const int ranks = nodes->ask->torus.ranks;
    int more, rc = TRV_OK;
    while (!rc && (more = trv_next_item(&list, "--nodes", item, sizeof item)) != 0) {
        int from = 0, to = -1;
        rc = more < 0 ? more : read_range(item, ranks - 1, &from, &to);
        for (int n = from; !rc && n <= to; n++) {
            if (nodes->count == ranks)
                return trv_fail(TRV_ERR_ARGUMENT,
                                "--nodes lists more than the %d nodes that there are: one is listed twice", ranks);
            nodes->node[nodes->count++] = n;
        }
    }
    return rc ? rc : trv_order_nodes(&nodes->machine, TRV_ORDER_SNAKE, nodes->count, nodes->node);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void add_time(cli_table_t *table, double time_ns)
{
    char text[TRV_TIME_TEXT_MAX];
    cli_cell_both(table, trv_format_time(time_ns, trv_time_unit(time_ns), text), json_real(time_ns));
}

static void add_slower(cli_table_t *table, int row, double ratio)
{
    char text[32];
    snprintf(text, sizeof text, "%.2fx", ratio);
    cli_cell_both(table, row == 0 ? "chosen" : ratio > 1 ? text : "as fast", json_real(ratio));
}

/* Adds the list of nodes in the plan's order: node i of the list is rank i. */
static int add_nodes(cli_table_t *table, const nodes_t *nodes, trv_order_t order)
{
    int rc = trv_order_nodes(&nodes->machine, order, nodes->count, nodes->node);
    json_t *list = rc ? NULL : json_array();
    char *text = malloc((size_t)nodes->count * 12 + 1), *end = text;
    for (int i = 0; !rc && text && i < nodes->count; i++) {
        end += sprintf(end, "%s%d", i ? " " : "", nodes->node[i]);
        json_array_append_new(list, json_integer(nodes->node[i]));
    }
    if (!rc && !text)
        rc = trv_fail_memory();
    cli_cell_both(table, text ? text : "", list);
    free(text);
    return rc;
}

static int print_plans(const nodes_t *nodes, FILE *out)
{
    static const cli_column_t column[] =
        {{"plan", "plan", false, 0},           {"shape", "shape", false, 0},
         {"order", "order", false, 0},         {"steps", "steps", true, 0},
         {"time_ns", "time", true, 0},         {"alpha_ns", "alpha", true, 0},
         {"hops_ns", "hops", true, 0},         {"transmission_ns", "transmission", true, 0},
         {"slower", "times as long", true, 0}, {"nodes", NULL, false, 0}};
    cli_table_t table;
    int rc = TRV_OK;
    cli_table_begin(&table, out, nodes->ask->format, column, sizeof column / sizeof column[0],
                    nodes->ask->format == CLI_FORMAT_TABLE && out == stdout && cli_stdout_is_terminal());
    for (int i = 0; i < nodes->plans && !rc; i++) {
        const trv_planner_node_choice_t *plan = &nodes->plan[i];
        cli_cell_text(&table, plan->choice.algorithm);
        char torus[TRV_TORUS_TEXT_MAX];
        cli_cell_text(&table, plan->torus.dims > 1 ? trv_torus_format(&plan->torus, torus, sizeof torus)
                              : plan->torus.lines  ? "line"
                                                   : "ring");
        cli_cell_text(&table, trv_order_name(plan->order));
        cli_cell_int(&table, plan->choice.steps);
        add_time(&table, plan->choice.time_ns);
        add_time(&table, plan->choice.alpha_ns);
        add_time(&table, plan->choice.hops_ns);
        add_time(&table, plan->choice.transmission_ns);
        const double best_ns = nodes->plan[0].choice.time_ns; /* 0 for a single node */
        add_slower(&table, i, best_ns > 0 ? plan->choice.time_ns / best_ns : 1);
        rc = add_nodes(&table, nodes, plan->order);
        cli_row_end(&table);
    }
    const int ended = cli_table_end(&table);
    return rc ? rc : ended;
}

/* Prints the ranks on a map of the machine: a row of its last dimension per line, "." for a node without a rank. */
static int print_map(const nodes_t *nodes, FILE *out)
{
    const trv_torus_t *torus = &nodes->ask->torus;
    int rc = trv_order_nodes(&nodes->machine, nodes->plan[0].order, nodes->count, nodes->node);
    if (rc)
        return rc;
    const int columns = torus->size[torus->dims - 1];
    fprintf(out, "\nranks on the machine, in the order of the plan\n");
    if (columns > MAP_COLUMNS || torus->dims > 2) {
        for (int i = 0; i < nodes->count; i++)
            fprintf(out, "%s%d", i == 0 ? "nodes " : ", ", nodes->node[i]);
        fprintf(out, "\n");
        return TRV_OK;
    }
    int *rank = malloc((size_t)torus->ranks * sizeof *rank);
    if (!rank)
        return trv_fail_memory();
    for (int n = 0; n < torus->ranks; n++)
        rank[n] = -1;
    for (int i = 0; i < nodes->count; i++)
        rank[nodes->node[i]] = i;
    for (int n = 0; n < torus->ranks; n++) {
        char text[16] = ".";
        if (rank[n] >= 0)
            snprintf(text, sizeof text, "%d", rank[n]);
        fprintf(out, "%s%5s", n % columns == 0 ? " " : "", text);
        if ((n + 1) % columns == 0)
            fprintf(out, "\n");
    }
    free(rank);
    return TRV_OK;
}

static int print(const nodes_t *nodes, FILE *out)
{
    const bool text = nodes->ask->format == CLI_FORMAT_TABLE;
    if (text) {
        cli_plan_ask_header(nodes->ask, out);
        fprintf(out, "a job on %d of its nodes\n\n", nodes->count);
    }
    int rc = print_plans(nodes, out);
    return rc || !text ? rc : print_map(nodes, out);
}

static int plan(nodes_t *nodes)
{
    const cli_plan_ask_t *ask = nodes->ask;
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t network = cli_network_reporting(&ask->network.options, &all);
    nodes->plans = trv_planner_nodes(&ask->torus, nodes->count, nodes->node, ask->collective, 0, ask->bytes, &network,
                                     &ask->constraints, PLANS_MAX, nodes->plan);
    cli_progress_end(&progress);
    if (nodes->plans < 0)
        return nodes->plans;
    if (nodes->count == 1)
        nodes->plans = 1; /* nothing is sent, so all plans are equal */
    cli_output_t output;
    int rc = cli_output_begin(&output, ask->output);
    if (rc)
        return rc;
    rc = print(nodes, output.stream);
    return cli_output_end(&output, rc);
}

int cli_plan_nodes(const cli_plan_ask_t *ask, const char *list)
{
    nodes_t nodes = {.ask = ask, .machine = cli_network_on(&ask->torus, &ask->network.options)};
    nodes.node = malloc((size_t)ask->torus.ranks * sizeof *nodes.node);
    if (!nodes.node)
        return trv_fail_memory();
    for (int n = 0; !list && n < ask->torus.ranks; n++)
        nodes.node[nodes.count++] = n;
    int rc = list ? read_nodes(&nodes, list) : TRV_OK;
    if (!rc)
        rc = plan(&nodes);
    free(nodes.node);
    return rc;
}
