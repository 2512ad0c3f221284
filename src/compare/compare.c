/*
 * The list of points, their candidates' names, and their rows.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/cost.h>

#include "algorithms/family.h"
#include "base/array.h"
#include "base/error.h"
#include "compare/point.h"
#include "simulate/simulator.h"

static const char PLANNED[] = "planned";

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static int name_add(trv_point_t *point, int64_t *capacity, const char *text)
{
    for (int64_t i = 0; i < point->names; i++)
        if (strcmp(point->name[i].text, text) == 0)
            return TRV_OK;
    if (trv_array_reserve(&point->name, capacity, point->names, 1, sizeof *point->name))
        return TRV_ERR_MEMORY;
    strcpy(point->name[point->names++].text, text);
    return TRV_OK;
}

/* Adds an algorithm, or the members of a family that support the collective, if any does. */
static int names_add(trv_point_t *point, int64_t *capacity, const char *text)
{
    const trv_algorithm_t *member[TRV_FAMILY_MAX];
    int rc = TRV_OK, members = trv_is_family(text) ? trv_family_members(text, member) : 0;
    const int supporting = trv_family_restrict(member, members, 1U << point->asked.collective);
    if (members == 0)
        return trv_algorithm_find(text) ? name_add(point, capacity, text) : TRV_ERR_ARGUMENT;
    for (int i = 0; i < (supporting ? supporting : members) && !rc; i++)
        rc = name_add(point, capacity, trv_algorithm_name(member[i]));
    return rc;
}

static int point_set_names(trv_point_t *point)
{
    int64_t capacity = 0;
    int rc = TRV_OK;
    for (const char *rest = point->algorithms; *rest && !point->planned && !rc;) {
        trv_candidate_name_t item;
        const size_t length = strcspn(rest, ",");
        if (length >= sizeof item.text)
            return trv_fail(TRV_ERR_ARGUMENT, "the name of an algorithm has at most %d characters",
                            TRV_ALGORITHM_NAME_MAX - 1);
        memcpy(item.text, rest, length);
        item.text[length] = '\0';
        rest += length + (rest[length] == ',');
        rc = names_add(point, &capacity, item.text);
    }
    return rc;
}

int trv_compare_limit(const trv_torus_t *torus, const trv_simulate_options_t *network, trv_collective_t collective,
                      int root, uint64_t vector_bytes, trv_limit_t *limit)
{
    const trv_network_t on = trv_simulate_network(torus, network);
    const double routers_ns = network->router_in_ns + network->router_out_ns;
    const trv_hockney_t times = {network->bandwidth_bps, network->alpha_ns, network->link_latency_ns + routers_ns,
                                 2 * network->host_latency_ns + routers_ns};
    const uint64_t unpaid_bytes = network->delivery == TRV_DELIVERY_HEAD ? network->packet_bytes : 0;
    return trv_limit_find(&on, &times, collective, root, vector_bytes, unpaid_bytes, limit);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static int copy_array(void *copy, const void *from, int count, size_t size)
{
    void *made = count > 0 ? malloc((size_t)count * size) : NULL;
    if (count > 0 && !made)
        return trv_fail_memory();
    if (made)
        memcpy(made, from, (size_t)count * size);
    memcpy(copy, &made, sizeof made);
    return TRV_OK;
}

/* Copies the network and what it refers to. */
static int point_set_network(trv_point_t *point)
{
    static const trv_simulate_options_t defaults = TRV_SIMULATE_DEFAULTS;
    trv_simulate_options_t *options = &point->options;
    *options = point->asked.network ? *point->asked.network : defaults;
    int rc = trv_check_size(options->size, sizeof *options, "TRV_SIMULATE_DEFAULTS");
    if (!rc)
        rc = copy_array(&point->link, options->slow_link, options->slow_links, sizeof *point->link);
    if (!rc)
        rc = copy_array(&point->slow, options->slow_rank, options->slow_ranks, sizeof *point->slow);
    options->slow_link = point->link;
    options->slow_rank = point->slow;
    options->observer = NULL;
    options->link_loads = false;
    options->progress = NULL;
    point->network = trv_simulate_network(&point->asked.torus, options);
    return rc;
}

static int check_point(const trv_compare_point_t *asked)
{
    int rc = trv_check_size(asked->size, sizeof *asked, "TRV_COMPARE_POINT");
    if (!rc && !asked->schedule && (!asked->algorithms || !*asked->algorithms))
        rc = trv_fail(TRV_ERR_ARGUMENT, "there is no candidate; expected names of algorithms or families, for example "
                                        "trivance, or a schedule");
    if (!rc && asked->algorithms && strcmp(asked->algorithms, PLANNED) == 0 && asked->schedule)
        rc = trv_fail(TRV_ERR_ARGUMENT, "planned is the only candidate of a point; leave out the schedule");
    return rc;
}

static void point_clear(trv_point_t *point)
{
    free(point->link);
    free(point->slow);
    free(point->algorithms);
    free(point->name);
    free(point->reason);
}

static int point_create(trv_point_t *point, const trv_compare_point_t *asked)
{
    const char *algorithms = asked->algorithms ? asked->algorithms : "";
    *point = (trv_point_t){.asked = *asked, .planned = strcmp(algorithms, PLANNED) == 0};
    if (asked->schedule && !*algorithms) {
        point->asked.torus = *trv_schedule_torus(asked->schedule);
        point->asked.collective = trv_schedule_collective(asked->schedule);
        point->asked.root = trv_schedule_root(asked->schedule);
    }
    int rc = point_set_network(point);
    if (!rc && !(point->algorithms = strdup(algorithms)))
        rc = trv_fail_memory();
    if (!rc)
        rc = point_set_names(point);
    if (rc)
        point_clear(point);
    return rc;
}

int trv_compare_create(trv_compare_t **compare)
{
    *compare = calloc(1, sizeof **compare);
    return *compare ? TRV_OK : trv_fail_memory();
}

void trv_compare_destroy(trv_compare_t *compare)
{
    if (!compare)
        return;
    for (int64_t i = 0; i < compare->points; i++)
        point_clear(&compare->point[i]);
    free(compare->point);
    free(compare->row);
    free(compare);
}

int64_t trv_compare_add(trv_compare_t *compare, const trv_compare_point_t *asked)
{
    int rc = check_point(asked);
    if (!rc)
        rc = trv_array_reserve(&compare->point, &compare->point_capacity, compare->points, 1, sizeof *compare->point);
    if (!rc)
        rc = trv_array_reserve(&compare->row, &compare->row_capacity, compare->points, 1, sizeof *compare->row);
    if (!rc)
        rc = point_create(&compare->point[compare->points], asked);
    if (rc)
        return rc;
    compare->row[compare->points] = (trv_compare_row_t){0};
    return compare->points++;
}

const trv_compare_row_t *trv_compare_row(const trv_compare_t *compare, int64_t index)
{
    return index >= 0 && index < compare->points ? &compare->row[index] : NULL;
}

int trv_compare_one(const trv_compare_point_t *point, trv_compare_row_t *row)
{
    trv_compare_t *compare;
    int rc = trv_compare_create(&compare);
    if (!rc)
        rc = (int)trv_compare_add(compare, point);
    if (!rc)
        rc = trv_compare_run(compare, NULL);
    if (!rc) {
        *row = compare->row[0];
        rc = row->code ? trv_fail(row->code, "%s", row->reason) : TRV_OK;
        row->reason = NULL;
    }
    trv_compare_destroy(compare);
    return rc;
}
