/*
 * trivance simulate: the tables. Each has a line per algorithm and a column per size.
 */
#include "cli/simulate/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/shared/choose.h"
#include "cli/shared/excess.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "formats/names.h"
#include "schedule/collective.h"
#include "torus/torus.h"

#define CELL_MAX 96

/* The unit of a column; all its numbers have the same unit, so that they can be compared at a glance. */
static const trv_time_unit_t *column_unit(const cli_group_t *group, int size)
{
    return trv_time_unit(cli_group_best_ns(group, size));
}

static const cli_point_t *point_at(const cli_group_t *group, int line, int size)
{
    return &group->point[line * group->sizes + size];
}

static const char *label_of(const cli_group_t *group, int line) { return point_at(group, line, 0)->choice->label; }

static bool runs(const cli_group_t *group, int line)
{
    for (int size = 0; size < group->sizes; size++)
        if (!point_at(group, line, size)->row.code)
            return true;
    return false;
}

/* ---- Tables of lines and sizes ----------------------------------------------------------------------------------- */

typedef void cell_t(const cli_group_t *group, int line, int size, char text[CELL_MAX]);

/* The label of a line, marked if its algorithm, or the first of its members, has too many messages per port. */
static const char *marked_label(const cli_group_t *group, int line, cli_excess_t *excess, char label[CLI_MARKED_MAX])
{
    for (int size = 0; size < group->sizes; size++) {
        const trv_compare_row_t *row = &point_at(group, line, size)->row;
        if (!row->code && !point_at(group, line, size)->choice->planned && cli_excess_of(excess, row->algorithm))
            return cli_excess_mark(excess, label_of(group, line), row->algorithm, label);
    }
    return label_of(group, line);
}

/* `margin` characters remain free behind every title, for the marks of the cells. Lines that cannot run are
 * omitted. `excess`: labels are marked; NULL: they are not. */
static int print_table(const cli_simulate_t *job, const cli_group_t *group, const char *corner, int margin,
                       cell_t *cell, cli_excess_t *excess)
{
    char marked[CLI_MARKED_MAX], label[CLI_MARKED_MAX + 2];
    cli_column_t column[CLI_SIMULATE_SIZES_MAX + 2] = {{NULL, corner, false, 0}};
    char title[CLI_SIMULATE_SIZES_MAX][TRV_BYTES_TEXT_MAX + 8], bytes[TRV_BYTES_TEXT_MAX], text[CELL_MAX];
    cli_table_t table;
    for (int size = 0; size < group->sizes; size++) {
        snprintf(title[size], sizeof title[size], "%s%*s",
                 job->goal ? "" : trv_format_bytes(point_at(group, 0, size)->bytes, bytes), margin, "");
        column[size + 1] = (cli_column_t){NULL, title[size], true, 0};
    }
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int line = 0; line < group->lines; line++) {
        if (!runs(group, line))
            continue;
        const char *shown = excess ? marked_label(group, line, excess, marked) : label_of(group, line);
        cli_cell_text(&table, cli_covers_label(shown, cli_group_covers(group, line), label));
        for (int size = 0; size < group->sizes; size++) {
            snprintf(text, sizeof text, "-%*s", margin, "");
            if (!point_at(group, line, size)->row.code)
                cell(group, line, size, text);
            cli_cell_both(&table, text, json_null()); /* with the codes of bold text */
        }
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static void time_cell(const cli_group_t *group, int line, int size, char text[CELL_MAX])
{
    const cli_point_t *point = point_at(group, line, size);
    char time[TRV_TIME_TEXT_MAX];
    bool best = group->lines > 1 && cli_group_is_best(group, line, size);
    bool bold = best && cli_stdout_is_terminal();
    char member = point->choice->members > 1 ? *cli_member_letter(point->row.algorithm) : ' ';
    trv_format_time(point->row.time_ns, column_unit(group, size), time);
    snprintf(text, CELL_MAX, "%s%s%s%c%c", bold ? "\033[1m" : "", time, bold ? "\033[0m" : "",
             best && !bold ? '*' : ' ', member);
}

static void relative_cell(const cli_group_t *group, int line, int size, char text[CELL_MAX])
{
    const double ratio = cli_group_vs_trivance(group, line, size);
    trv_snprintf(text, CELL_MAX, isnan(ratio) ? "-" : ratio < 10 ? "%.2fx" : "%.1fx", ratio);
}

static void cost_cell(const cli_group_t *group, int line, int size, char text[CELL_MAX])
{
    double cost_ns = group->detail[line * group->sizes + size].cost_ns;
    char time[TRV_TIME_TEXT_MAX];
    trv_format_time(cost_ns, column_unit(group, size), time);
    if (cost_ns > 0)
        trv_snprintf(text, CELL_MAX, "%s %.3f", time, point_at(group, line, size)->row.time_ns / cost_ns);
    else
        snprintf(text, CELL_MAX, "%s", time);
}

static void print_plans(const cli_group_t *group)
{
    const char *name[CLI_SIMULATE_SIZES_MAX];
    uint64_t bytes[CLI_SIMULATE_SIZES_MAX];
    for (int line = 0; line < group->lines; line++) {
        if (!point_at(group, line, 0)->choice->planned)
            continue;
        for (int size = 0; size < group->sizes; size++) {
            const cli_point_t *point = point_at(group, line, size);
            name[size] = point->row.code ? NULL : point->row.algorithm;
            bytes[size] = point->bytes;
        }
        cli_print_planned("planned is ", name, bytes, group->sizes);
    }
}

/* Prints the order of the plan at each size, and its torus, line or ring. */
static void print_orders(const cli_group_t *group)
{
    char order[CLI_SIMULATE_SIZES_MAX][TRV_TORUS_TEXT_MAX + 32], torus[TRV_TORUS_TEXT_MAX];
    const char *name[CLI_SIMULATE_SIZES_MAX];
    uint64_t bytes[CLI_SIMULATE_SIZES_MAX];
    for (int size = 0; size < group->sizes; size++) {
        const trv_planner_node_choice_t *plan = &group->plan[size];
        snprintf(order[size], sizeof order[size], "%s on %s", trv_order_name(plan->order),
                 trv_torus_format(&plan->torus, torus, sizeof torus));
        name[size] = order[size];
        bytes[size] = point_at(group, 0, size)->bytes;
    }
    cli_print_planned("order of the ranks, that of the plan: ", name, bytes, group->sizes);
}

static int print_times(const cli_simulate_t *job, const cli_group_t *group)
{
    bool families = false;
    cli_excess_t excess = cli_group_excess(group);
    int rc = print_table(job, group, "time", job->goal ? 0 : 2, time_cell, job->goal ? NULL : &excess);
    for (int line = 0; line < group->lines; line++)
        families |= runs(group, line) && point_at(group, line, 0)->choice->members > 1;
    if (group->lines > 1)
        printf("%s%s", cli_stdout_is_terminal() ? "bold: fastest" : "* fastest", families ? "; " : "\n");
    if (families)
        puts(CLI_MEMBER_LETTERS);
    cli_excess_explain(&excess, stdout);
    return rc;
}

/* States from which size on times are those of larger packets. */
static void print_approximate(const cli_group_t *group)
{
    char bytes[TRV_BYTES_TEXT_MAX];
    for (int size = 0; size < group->sizes; size++)
        for (int line = 0; line < group->lines; line++)
            if (!point_at(group, line, size)->row.code && point_at(group, line, size)->row.approximate) {
                printf("%s%s: %s\n", trv_format_bytes(point_at(group, line, size)->bytes, bytes),
                       size + 1 < group->sizes ? " and more" : "", CLI_APPROXIMATE);
                return;
            }
}

/* Prints the schedules that were planned, and the reasons why algorithms are missing. */
static void print_remarks(const cli_group_t *group)
{
    bool covers = false;
    print_plans(group);
    if (group->nodes)
        print_orders(group);
    for (int line = 0; line < group->lines; line++)
        covers = covers || cli_group_covers(group, line);
    if (covers)
        puts(CLI_COVERS_REMARK);
    print_approximate(group);
    for (int line = 0; line < group->lines; line++)
        for (int size = 0; size < group->sizes; size++)
            if (point_at(group, line, size)->row.code) {
                printf("%s cannot run: %s\n", label_of(group, line), point_at(group, line, size)->row.reason);
                break;
            }
}

static int print_relative(const cli_simulate_t *job, const cli_group_t *group)
{
    bool known = false;
    for (int size = 0; size < group->sizes; size++)
        known |= !isnan(cli_group_trivance_ns(group, size));
    if (!known || group->lines < 2)
        return TRV_OK;
    puts("\nTime divided by Trivance's time; below 1x: faster than Trivance");
    return print_table(job, group, "", 0, relative_cell, NULL);
}

static int print_costs(const cli_simulate_t *job, const cli_group_t *group)
{
    puts("\nTime by the cost model (`trivance cost`), and the ratio of the simulated time to it");
    return print_table(job, group, "", 0, cost_cell, NULL);
}

/* Prints the lower bound for each size, and the ratio of the fastest time to it. */
static int print_limits(const cli_group_t *group)
{
    puts("\nA lower bound on " CLI_LIMITED ", and the ratio of the fastest time to it");
    for (int size = 0; size < group->sizes; size++) {
        const cli_point_t *point = point_at(group, 0, size);
        char bytes[TRV_BYTES_TEXT_MAX];
        trv_limit_t limit;
        int rc = trv_compare_limit(&group->torus, &group->options, group->collective, group->root, point->bytes,
                                   &limit);
        if (rc)
            return rc;
        printf("%s: ", trv_format_bytes(point->bytes, bytes));
        cli_limit_print(&limit, "the fastest", cli_group_best_ns(group, size), stdout);
    }
    return TRV_OK;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static int print_busiest(const cli_group_t *group, const cli_point_t *point, const cli_detail_t *detail)
{
    static const cli_column_t column[] = {{NULL, "from", true, 0},
                                          {NULL, "port", false, 0},
                                          {NULL, "to", true, 0},
                                          {NULL, "busy %", true, 0},
                                          {NULL, "bytes", true, 0},
                                          {NULL, "packets", true, 0},
                                          {NULL, "longest queue", true, 0},
                                          {0}};
    int ports = trv_port_count(&group->torus);
    char port_text[TRV_PORT_TEXT_MAX];
    cli_table_t table;
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int i = 0; i < detail->busiest; i++) {
        const trv_link_load_t *load = &detail->load[i];
        int rank = detail->link[i] / ports, port = detail->link[i] % ports;
        cli_cell_int(&table, rank);
        cli_cell_text(&table, trv_port_format(port, port_text));
        cli_cell_int(&table, trv_torus_shift(&group->torus, rank, trv_port_dimension(port), trv_port_sign(port)));
        cli_cell_real(&table, 100 * load->busy_ns / point->row.time_ns, 1);
        cli_cell_int(&table, (int64_t)load->bytes);
        cli_cell_int(&table, (int64_t)load->packets);
        cli_cell_int(&table, load->queue_max);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static int print_links(const cli_simulate_t *job, const cli_group_t *group)
{
    int rc = TRV_OK;
    char bytes[TRV_BYTES_TEXT_MAX];
    for (int i = 0; i < group->lines * group->sizes && !rc; i++) {
        const cli_point_t *point = &group->point[i];
        const cli_detail_t *detail = &group->detail[i];
        if (point->row.code)
            continue;
        trv_fprintf(stdout, "\nLinks under %s%s%s: %d of %d used, busy %.1f %% of the time on average%s\n",
                    point->row.algorithm, job->goal ? "" : ", ", job->goal ? "" : trv_format_bytes(point->bytes, bytes),
                    detail->links_used, detail->links, 100 * detail->utilisation_mean,
                    detail->busiest ? "; the busiest" : "");
        if (detail->busiest > 0)
            rc = print_busiest(group, point, detail);
    }
    return rc;
}

/* ---- The whole output -------------------------------------------------------------------------------------------- */

static void print_header(const cli_simulate_t *job, const cli_group_t *group)
{
    const trv_network_t wired = cli_network_on(&group->torus, &job->network.options);
    char shape[TRV_SHAPE_TEXT_MAX], network[CLI_NETWORK_TEXT_MAX];
    int ranks = group->torus.ranks;
    printf("%s on %s (%d rank%s)%s\n%s\n", job->goal ? "GOAL program" : trv_collective_shape(group->collective)->title,
           trv_shape_words(&wired, shape), ranks, ranks == 1 ? "" : "s",
           job->goal ? "; alpha is paid in addition to its calculations" : "",
           cli_network_format(&job->network, network));
    if (group->nodes)
        printf("a job on %d of its nodes\n", group->nodes);
    putchar('\n');
}

int cli_simulate_text(const cli_simulate_t *job, const cli_outcome_t *outcome)
{
    int rc = TRV_OK;
    for (int g = 0; g < outcome->groups && !rc; g++) {
        const cli_group_t *group = &outcome->group[g];
        if (g > 0)
            putchar('\n');
        print_header(job, group);
        rc = job->ranking ? cli_simulate_ranking(group) : print_times(job, group);
        if (!rc)
            print_remarks(group);
        if (!rc && !job->ranking)
            rc = print_relative(job, group);
        if (!rc && job->compare)
            rc = print_costs(job, group);
        if (!rc && job->limit)
            rc = print_limits(group);
        if (!rc && job->links)
            rc = print_links(job, group);
    }
    if (!rc && job->trace)
        printf("\n%s: %llu events, for ui.perfetto.dev or chrome://tracing\n", job->trace,
               (unsigned long long)outcome->trace_events);
    return rc;
}
