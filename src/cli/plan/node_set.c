/*
 * trivance plan --nodes: the plans for any set of nodes, and the mapping of ranks to nodes.
 */
#include "cli/plan/query.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text/parse.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"

#define CHOICES_MAX 12
#define TREES_MAX   3
#define MAP_COLUMNS 24 /* machines with longer rows are not drawn as a map */

typedef struct nodes {
    const cli_plan_query_t *query;
    trv_network_t machine; /* the torus with the links of the query */
    bool all;              /* all nodes, of a network in which cuts divide a row */
    int count, *node;      /* in the order that was needed last */
    int choices;
    trv_planner_node_choice_t choice[CHOICES_MAX];
} nodes_t;

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void add_time(cli_table_t *table, double time_ns)
{
    char text[TRV_TIME_TEXT_MAX];
    cli_cell_both(table, trv_format_time(time_ns, trv_time_unit(time_ns), text), json_real(time_ns));
}

static void add_slower(cli_table_t *table, int index, double ratio)
{
    char text[32];
    trv_snprintf(text, sizeof text, "%.2fx", ratio);
    cli_cell_both(table, index == 0 ? "chosen" : ratio > 1 ? text : "as fast", json_real(ratio));
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

static int print_choices(const nodes_t *nodes, FILE *out)
{
    static const cli_column_t column[] = {{"plan", "plan", false, 0},
                                          {"shape", "shape", false, 0},
                                          {"order", "order", false, 0},
                                          {"steps", "steps", true, 0},
                                          {"time_ns", "time", true, 0},
                                          {"alpha_ns", "alpha", true, 0},
                                          {"hops_ns", "hops", true, 0},
                                          {"transmission_ns", "transmission", true, 0},
                                          {"slower", "times as long", true, 0},
                                          {"nodes", NULL, false, 0},
                                          {0}};
    cli_table_t table;
    int rc = TRV_OK;
    cli_table_begin(&table, out, nodes->query->format, column);
    for (int i = 0; i < nodes->choices && !rc; i++) {
        const trv_planner_node_choice_t *row = &nodes->choice[i];
        cli_cell_text(&table, row->choice.algorithm);
        char torus[TRV_TORUS_TEXT_MAX];
        cli_cell_text(&table, row->torus.dims > 1 ? trv_torus_format(&row->torus, torus, sizeof torus)
                              : row->torus.lines  ? "line"
                                                  : "ring");
        cli_cell_text(&table, trv_order_name(row->order));
        cli_cell_int(&table, row->choice.steps);
        add_time(&table, row->choice.time_ns);
        add_time(&table, row->choice.alpha_ns);
        add_time(&table, row->choice.hops_ns);
        add_time(&table, row->choice.transmission_ns);
        const double best_ns = nodes->choice[0].choice.time_ns; /* 0 for a single node */
        add_slower(&table, i, best_ns > 0 ? row->choice.time_ns / best_ns : 1);
        rc = add_nodes(&table, nodes, row->order);
        cli_row_end(&table);
    }
    const int ended = cli_table_end(&table);
    return rc ? rc : ended;
}

/* Prints the ranks on a map of the machine: a row of its last dimension per line, "." for a node without a rank. */
static int print_map(const nodes_t *nodes, FILE *out)
{
    const trv_torus_t *torus = &nodes->query->torus;
    int rc = trv_order_nodes(&nodes->machine, nodes->choice[0].order, nodes->count, nodes->node);
    if (rc)
        return rc;
    const int columns = torus->size[torus->dims - 1];
    fprintf(out, "\nranks on the nodes, in the order of the plan\n");
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

static int print_nodes(const nodes_t *nodes, FILE *out)
{
    const bool text = nodes->query->format == CLI_FORMAT_TABLE;
    if (text) {
        cli_plan_query_header(nodes->query, out);
        fprintf(out, "a job on %d of its nodes\n\n", nodes->count);
    }
    int rc = print_choices(nodes, out);
    return rc || !text ? rc : print_map(nodes, out);
}

/* Inserts a choice, which may replace the slowest. */
static void insert_choice(nodes_t *nodes, const trv_planner_node_choice_t *added)
{
    int at = nodes->choices < 0 ? 0 : nodes->choices;
    if (at == CHOICES_MAX && added->choice.time_ns >= nodes->choice[--at].choice.time_ns)
        return;
    nodes->choices = at + 1;
    for (; at > 0 && nodes->choice[at - 1].choice.time_ns > added->choice.time_ns; at--)
        nodes->choice[at] = nodes->choice[at - 1];
    nodes->choice[at] = *added;
}

/* Adds schedules along trees of the whole network, whose ranks are its nodes. Without them, an error of the planner for
 * sets of nodes remains. */
static void add_trees(nodes_t *nodes, const trv_simulate_options_t *network)
{
    const cli_plan_query_t *query = nodes->query;
    trv_planner_choice_t tree[TREES_MAX];
    trv_planner_t *planner;
    char error[512];
    snprintf(error, sizeof error, "%s", trv_last_error());
    int found = trv_planner_create(&planner, &query->torus, query->collective, query->root, network,
                                   &query->constraints);
    if (!found) {
        found = trv_planner_rank(planner, query->bytes, TREES_MAX, tree);
        trv_planner_destroy(planner);
    }
    for (int i = 0; i < found; i++)
        insert_choice(nodes, &(trv_planner_node_choice_t){TRV_ORDER_ROWS, query->torus, tree[i]});
    if (nodes->choices < 0)
        trv_fail(nodes->choices, "%s", error);
}

static int plan_nodes(nodes_t *nodes)
{
    const cli_plan_query_t *query = nodes->query;
    cli_progress_t progress;
    trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t network = cli_network_reporting(&query->network.options, &all);
    nodes->choices = trv_planner_nodes(&query->torus, nodes->count, nodes->node, query->collective, query->root,
                                       query->bytes, &network, &query->constraints, CHOICES_MAX, nodes->choice);
    if (nodes->all)
        add_trees(nodes, &network);
    cli_progress_end(&progress);
    if (nodes->choices < 0)
        return nodes->choices;
    if (nodes->count == 1)
        nodes->choices = 1; /* nothing is sent, so all plans are equal */
    cli_output_t output;
    int rc = cli_output_begin(&output, query->output);
    if (rc)
        return rc;
    rc = print_nodes(nodes, output.stream);
    return cli_output_end(&output, rc);
}

int cli_plan_nodes(const cli_plan_query_t *query, const char *list)
{
    nodes_t nodes = {.query = query, .machine = cli_network_on(&query->torus, &query->network.options)};
    nodes.all = !list;
    nodes.node = malloc((size_t)query->torus.ranks * sizeof *nodes.node);
    if (!nodes.node)
        return trv_fail_memory();
    for (int n = 0; !list && n < query->torus.ranks; n++)
        nodes.node[nodes.count++] = n;
    int rc = list ? cli_read_nodes(list, query->torus.ranks, nodes.node, &nodes.count) : TRV_OK;
    if (!rc)
        rc = plan_nodes(&nodes);
    free(nodes.node);
    return rc;
}
