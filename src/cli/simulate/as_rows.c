/*
 * trivance simulate: JSON and CSV, one object or row per result.
 */
#include "cli/simulate/simulate.h"

#include <math.h>

#include "base/append.h"
#include "schedule/collective.h"
#include "torus/torus.h"

static void begin_rows(const cli_simulate_t *job, cli_table_t *table)
{
    char keys[CLI_KEYS_MAX] = "torus collective algorithm chosen_for";
    cli_network_keys(keys);
    trv_append(keys, sizeof keys,
               " bytes time_ns time_vs_trivance best packet_hops simulated_hops messages_per_port wall_s error%s%s%s%s",
               job->compare ? " cost_ns cost_ratio" : "", job->limit ? CLI_LIMIT_KEYS : "",
               job->links ? " links_used utilisation_mean links" : "",
               job->network.links.count > 0 ? " slow_links" : "");
    cli_table_begin_keys(table, stdout, job->format, keys);
}

static void add_result(const cli_group_t *group, int line, int size, cli_excess_t *excess, cli_table_t *table)
{
    const cli_point_t *point = &group->point[line * group->sizes + size];
    if (point->row.code) {
        for (int cell = 0; cell < 7; cell++)
            cli_cell_none(table);
        cli_cell_text(table, point->row.reason);
        return;
    }
    cli_cell_real(table, point->row.time_ns, 3);
    cli_cell_real(table, cli_group_vs_trivance(group, line, size), 6);
    cli_cell_bool(table, cli_group_is_best(group, line, size));
    cli_cell_int(table, (int64_t)point->row.packet_hops);
    cli_cell_int(table, (int64_t)point->row.simulated_hops);
    const int messages = cli_messages_per_port(excess, point->row.algorithm);
    messages > 0 ? cli_cell_int(table, messages) : cli_cell_none(table); /* a GOAL program has no schedule */
    cli_cell_real(table, point->row.wall_s, 6);
    cli_cell_none(table);
}

static json_t *link_object(const cli_group_t *group, const cli_point_t *point, int link, const trv_link_load_t *load)
{
    int ports = trv_port_count(&group->torus), rank = link / ports, port = link % ports;
    char text[TRV_PORT_TEXT_MAX];
    return json_pack("{s:i, s:s, s:i, s:f, s:I, s:I, s:I}", "from", rank, "port", trv_port_format(port, text), "to",
                     trv_torus_shift(&group->torus, rank, trv_port_dimension(port), trv_port_sign(port)), "utilisation",
                     round(1e6 * load->busy_ns / point->row.time_ns) / 1e6, "bytes", (json_int_t)load->bytes, "packets",
                     (json_int_t)load->packets, "queue_max", (json_int_t)load->queue_max);
}

static void add_links(const cli_group_t *group, int index, cli_table_t *table)
{
    const cli_detail_t *detail = &group->detail[index];
    if (group->point[index].row.code) {
        for (int cell = 0; cell < 3; cell++)
            cli_cell_none(table);
        return;
    }
    json_t *links = json_array();
    for (int i = 0; i < detail->busiest; i++)
        json_array_append_new(links, link_object(group, &group->point[index], detail->link[i], &detail->load[i]));
    cli_cell_int(table, detail->links_used);
    cli_cell_real(table, detail->utilisation_mean, 6);
    cli_cell_both(table, "", links);
}

static void add_limit(const cli_group_t *group, const cli_point_t *point, cli_table_t *table)
{
    trv_limit_t limit = {.time_ns = NAN};
    (void)trv_compare_limit(&group->torus, &group->options, group->collective, group->root, point->bytes, &limit);
    cli_limit_cells(table, &limit, point->row.code ? NAN : point->row.time_ns);
}

static void add_row(const cli_simulate_t *job, const cli_group_t *group, int line, int size, cli_excess_t *excess,
                    cli_table_t *table)
{
    char torus[TRV_TORUS_TEXT_MAX], slow[CLI_LINKS_TEXT_MAX];
    int index = line * group->sizes + size;
    const cli_point_t *point = &group->point[index];
    const char *algorithm = cli_is_several(point->choice) ? point->row.algorithm : point->choice->label;
    cli_cell_text(table, trv_torus_format(&group->torus, torus, sizeof torus));
    job->goal ? cli_cell_none(table) : cli_cell_text(table, trv_collective_shape(group->collective)->name);
    algorithm[0] ? cli_cell_text(table, algorithm) : cli_cell_none(table);
    cli_cell_text(table, point->choice->label);
    cli_network_cells(&group->options, table);
    job->goal ? cli_cell_none(table) : cli_cell_int(table, (int64_t)point->bytes);
    add_result(group, line, size, excess, table);
    if (job->compare) {
        double cost_ns = group->detail[index].cost_ns;
        cli_cell_real(table, cost_ns, 3);
        cli_cell_real(table, point->row.time_ns / cost_ns, 6);
    }
    if (job->limit)
        add_limit(group, point, table);
    if (job->links)
        add_links(group, index, table);
    if (job->network.links.count > 0)
        cli_cell_text(table, cli_links_format(&job->network.links, "", slow));
    cli_row_end(table);
}

int cli_simulate_rows(const cli_simulate_t *job, const cli_outcome_t *outcome)
{
    cli_table_t table;
    begin_rows(job, &table);
    for (int g = 0; g < outcome->groups; g++) {
        const cli_group_t *group = &outcome->group[g];
        cli_excess_t excess = cli_group_excess(group);
        if (outcome->schedule)
            cli_excess_add(&excess, outcome->choice.label, outcome->schedule);
        for (int line = 0; line < group->lines; line++)
            for (int size = 0; size < group->sizes; size++)
                add_row(job, group, line, size, &excess, &table);
    }
    return cli_table_end(&table);
}
