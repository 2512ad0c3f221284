/*
 * Prospects for a set of nodes, see nodes.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "algorithms/algorithm.h"
#include "base/error.h"
#include "planner/node_search.h"
#include "planner/timing.h"
#include "schedule/per_port.h"
#include "torus/torus.h"

#define RING_CHOICES  8   /* number of choices for the ring */
#define PRIORITY_STEP 100 /* difference in priority between two successive prospects of a list */
#define COLLECT_MAX   512 /* nodes; above this, collecting candidates for lines takes longer than simulating */
#define LINES_MAX     8   /* number of candidates of algorithms made for lines */
#define RING_HOPS_MAX 3e4 /* maximum packet-hops in a simulation of the ring's planner, whose work is not counted */

/* Adds a prospect, unless there is one of this name and shape. Returns the prospect, or NULL if the list is full. */
static trv_node_prospect_t *add_prospect(trv_node_search_t *search, const char *name, trv_node_shape_t shape,
                                         int priority)
{
    for (int i = 0; i < search->prospects; i++)
        if (search->prospect[i].shape == shape && strcmp(search->prospect[i].name, name) == 0)
            return &search->prospect[i];
    if (search->prospects == TRV_NODE_PROSPECTS_MAX)
        return NULL;
    trv_node_prospect_t *prospect = &search->prospect[search->prospects++];
    snprintf(prospect->name, sizeof prospect->name, "%s", name);
    prospect->shape = shape;
    prospect->priority = priority;
    prospect->listed = false;
    return prospect;
}

static int by_priority(const void *a, const void *b)
{
    return ((const trv_node_prospect_t *)a)->priority - ((const trv_node_prospect_t *)b)->priority;
}

/* Adds the fastest choices for the ring without the machine. */
static int add_ring(trv_node_search_t *search)
{
    trv_planner_choice_t ring_choice[RING_CHOICES];
    search->ring->hops_max = RING_HOPS_MAX;
    const int found = trv_planner_rank_within(search->ring, search->vector_bytes, RING_CHOICES, INFINITY, ring_choice);
    for (int i = 0; i < found; i++)
        add_prospect(search, ring_choice[i].algorithm, TRV_NODE_RING, PRIORITY_STEP * i);
    return found < 0 && found != TRV_ERR_UNSUPPORTED ? found : TRV_OK;
}

typedef struct estimate {
    trv_candidate_t *candidate;
    double ns;
} estimate_t;

static int by_estimate(const void *a, const void *b)
{
    const estimate_t *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return strcmp(x->candidate->name, y->candidate->name);
}

/* Whether the first or the middle rank of a line has more messages per port than the network allows. On the machine the
 * others are checked, too. */
static int exceeds_on_line(const trv_node_search_t *search, const trv_candidate_t *candidate, bool *exceeds)
{
    const trv_candidates_t *list = &search->line;
    trv_timing_traffic_t traffic = {0};
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, &list->network, candidate->name, list->collective, list->root);
    for (int i = 0; i < 2 && !rc; i++)
        rc = trv_timing_add_traffic(schedule, i * search->nodes / 2, &search->network, search->vector_bytes, &traffic);
    trv_schedule_destroy(schedule);
    const int limit = list->network.messages_per_port;
    *exceeds = limit > 0 && trv_messages_per_port(&list->network.torus, traffic.simultaneous) > limit;
    return rc;
}

static int add_lines(trv_node_search_t *search)
{
    trv_candidates_t *list = &search->line;
    if (search->nodes <= COLLECT_MAX) {
        int rc = trv_candidates_collect_lines(list, 1, search->ring->constraints.consistent);
        if (rc)
            return rc;
    }
    estimate_t *estimate = malloc(((size_t)list->count + 1) * sizeof *estimate);
    int count = 0;
    if (!estimate)
        return trv_fail_memory();
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (trv_algorithm_at(i)->lines && !trv_algorithm_at(i)->relays)
            add_prospect(search, trv_algorithm_name(trv_algorithm_at(i)), TRV_NODE_LINE, PRIORITY_STEP - 1 - i);
    for (int i = 0; i < list->count; i++)
        if (list->candidate[i].model.steps > 0)
            estimate[count++] = (estimate_t){&list->candidate[i],
                                             trv_planner_estimate(search->ring, &list->candidate[i].model,
                                                                  search->vector_bytes)};
    qsort(estimate, (size_t)count, sizeof *estimate, by_estimate);
    int rc = TRV_OK;
    for (int i = 0, added = 0; i < count && added < LINES_MAX && !rc; i++) {
        bool exceeds;
        rc = exceeds_on_line(search, estimate[i].candidate, &exceeds);
        if (!rc && !exceeds)
            add_prospect(search, estimate[i].candidate->name, TRV_NODE_LINE, PRIORITY_STEP * added++ + 1);
    }
    free(estimate);
    return rc;
}

/* Adds choice `i` for the box: as an entry if its time is known, otherwise as a prospect that precedes the others of
 * equal rank. */
static void add_box(trv_node_search_t *search, int i)
{
    const trv_box_choices_t *box = &search->box;
    trv_node_entry_t entry = {.prospect = {.shape = TRV_NODE_BOX},
                              .order = box->order,
                              .time_ns = box->choice[i].time_ns,
                              .exact = true,
                              .approximate = box->choice[i].approximate,
                              .known = box->choice[i]};
    memcpy(entry.prospect.name, box->choice[i].algorithm, sizeof entry.prospect.name);
    if (box->exact)
        trv_node_entry_insert(search, &entry);
    else
        add_prospect(search, box->choice[i].algorithm, TRV_NODE_BOX, PRIORITY_STEP * i - 1);
}

/* Whether algorithms of the table must be tried on the box. The planner for the box has compared those with at most the
 * network's messages per port of the box; the machine can have more ports. */
static bool must_try_box(const trv_node_search_t *search)
{
    const trv_box_choices_t *box = &search->box;
    const bool more_ports = search->network.messages_per_port > 0 &&
                            trv_torus_ports(&box->torus) < trv_torus_ports(search->machine);
    return box->planner && box->torus.dims > 1 && (!box->exact || more_ports);
}

/* Marks all algorithms of the table, and adds those that are missing, to be tried last: baselines before others, rings
 * before lines. */
static void add_listed(trv_node_search_t *search)
{
    const bool has_box = must_try_box(search);
    for (int shape = 0; shape <= TRV_NODE_BOX; shape++)
        for (int i = 0; i < trv_algorithms_count(); i++) {
            const trv_algorithm_t *algorithm = trv_algorithm_at(i);
            const int order = shape + (trv_algorithm_baseline(algorithm) ? 0 : TRV_NODE_BOX + 1);
            if (!trv_algorithm_has_collective(algorithm, search->collective) ||
                (shape == TRV_NODE_LINE && search->nodes == 1) || (shape == TRV_NODE_BOX && !has_box))
                continue;
            trv_node_prospect_t *prospect = add_prospect(search, trv_algorithm_name(algorithm), (trv_node_shape_t)shape,
                                                         PRIORITY_STEP * (TRV_NODE_PROSPECTS_MAX + order) + i);
            if (prospect)
                prospect->listed = true;
        }
}

/* Slow and cut links and shared paths belong to the machine; the line or ring for which candidates are found has
 * equal links. */
int trv_node_prospects_find(trv_node_search_t *search, const trv_planner_constraints_t *constraints)
{
    trv_torus_t torus;
    trv_simulate_options_t ring_network = trv_timing_network(&search->network);
    ring_network.slow_links = 0;
    ring_network.slow_link = NULL;
    ring_network.shared_paths = ring_network.shared_paths !=
                                0; /* the ring's only dimension has a shared path if any of the machine's has */
    int rc = trv_torus_init(&torus, 1, &search->nodes);
    if (!rc)
        rc = trv_planner_create(&search->ring, &torus, search->collective, 0, &ring_network, constraints);
    if (!rc && search->nodes > 1)
        rc = trv_torus_set_lines(&torus, 1);
    search->line = (trv_candidates_t){.network = {TRV_NETWORK, .torus = torus, .routes = ring_network.routes,
                                                  .no_forwarding = ring_network.no_forwarding},
                                      .collective = search->collective};
    search->line.network.messages_per_port = (int)ring_network.messages_per_port;
    if (!rc)
        rc = add_ring(search);
    if (!rc && search->nodes > 1)
        rc = add_lines(search);
    if (!rc)
        rc = trv_box_choices_find(&search->box, search->machine, search->nodes, search->node, search->collective,
                                  search->root_node, search->vector_bytes, &search->network, constraints);
    for (int i = 0; i < search->box.count && !rc; i++)
        add_box(search, i);
    add_listed(search);
    qsort(search->prospect, (size_t)search->prospects, sizeof *search->prospect, by_priority);
    return rc;
}
