/*
 * Relayed: any algorithm on a network that does not forward. Its messages over several links are passed on by the ranks
 * on their routes (trv_schedule_relay), so that every hop costs a step of its own; a baseline there, and the only
 * schedule of some collectives.
 *
 * Name: relayed[:NAME], where NAME is an algorithm with or without parameters; by default recdoub-b, for collectives
 * with a root binomial, for an all-to-all neighbour.
 * Steps: those of NAME, each as often as its farthest message has hops.   Exact, consistent: as NAME.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "base/error.h"
#include "base/number.h"
#include "schedule/collective.h"
#include "schedule/relay.h"

#define RANKS_MAX 256 /* of the algorithm's own choice */
/* With more ranks the planner considers only neighbour, whose messages cross few links. */
#define CANDIDATE_RANKS_MAX 64

static const char *default_name(trv_collective_t collective)
{
    if (trv_collective_has_root(collective))
        return "binomial";
    return trv_collective_shape(collective)->exchanges ? "neighbour" : "recdoub-b";
}

static int relayed_supports(const trv_torus_t *torus, trv_collective_t collective)
{
    char text[TRV_TORUS_TEXT_MAX];
    if (torus->ranks > RANKS_MAX)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "relayed has no choice of its own for the %d ranks of %s, only for up to %d; name the algorithm, "
            "for example relayed:swing-b",
            torus->ranks, trv_torus_format(torus, text, sizeof text), RANKS_MAX);
    return trv_algorithm_supports(trv_algorithm_find(default_name(collective)), torus, collective);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int relayed_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    return trv_schedule_step(schedule->tables, rank, stream, step, out);
}

static int64_t relayed_position(const trv_schedule_t *schedule, int stream, int64_t unit)
{
    return trv_schedule_position(schedule->tables, stream, unit);
}

static void relayed_destroy(void *relayed) { trv_schedule_destroy(relayed); }

static int create_base(const trv_schedule_t *schedule, trv_schedule_t **base)
{
    const char *text = schedule->parameters->given ? schedule->parameters->value[0].text
                                                   : default_name(schedule->collective);
    char name[TRV_FULL_NAME_MAX];
    if (strncmp(text, "relayed", strlen("relayed")) == 0)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "relayed: '%.40s' is not an algorithm whose messages can be passed on; for example relayed:swing-b", text);
    if (isfinite(schedule->avoid))
        trv_snprintf(name, sizeof name, "%.*s@%.17g", TRV_FULL_NAME_MAX - 32, text, schedule->avoid);
    else
        snprintf(name, sizeof name, "%s", text);
    return trv_schedule_create_on(base, schedule->network, name, schedule->collective, schedule->root);
}

static int relayed_create(trv_schedule_t *schedule)
{
    trv_schedule_t *base, *relayed;
    int rc = create_base(schedule, &base);
    if (rc)
        return rc;
    rc = trv_schedule_relay(&relayed, base);
    trv_schedule_destroy(base);
    if (rc)
        return rc;
    schedule->tables = relayed;
    schedule->destroy = relayed_destroy;
    schedule->step = relayed_step;
    schedule->position = relayed_position;
    return trv_schedule_copy_properties(schedule, relayed);
}

static int relayed_complete(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective)
{
    char name[TRV_FULL_NAME_MAX];
    const char *text = parameters->given ? parameters->value[0].text : default_name(collective);
    const int rc = trv_schedule_full_name(torus, text, collective, name, sizeof name);
    parameters->value[0].text = strcpy(parameters->text, name);
    return rc;
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

/* Adds a relayed algorithm, unless its messages cross one link anyway, or there is no such schedule. */
static int add_relayed(const trv_collector_t *collector, const char *name)
{
    char relayed[TRV_ALGORITHM_NAME_MAX];
    trv_schedule_t *schedule;
    int rc = trv_schedule_create_on(&schedule, collector->network, name, collector->collective, collector->root);
    if (rc)
        return rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    rc = trv_schedule_is_multi_hop(schedule);
    trv_schedule_destroy(schedule);
    if (rc <= 0)
        return rc;
    snprintf(relayed, sizeof relayed, "relayed:%s", name);
    return collector->add(collector->list, relayed, NULL, true);
}

/* Adds the relayed form of a candidate that an algorithm with parameters offers. Its model has a step for every hop,
 * and links carry as much. */
static int add_offered(void *context, const char *name, const trv_model_t *model, bool always)
{
    const trv_collector_t *collector = context;
    char relayed[TRV_ALGORITHM_NAME_MAX];
    (void)always;
    if (!model || model->steps <= 0 || model->hops <= model->steps ||
        snprintf(relayed, sizeof relayed, "relayed:%s", name) >= (int)sizeof relayed)
        return TRV_OK;
    trv_model_t hop_by_hop = *model;
    hop_by_hop.steps = model->hops;
    hop_by_hop.messages *= model->hops / model->steps;
    hop_by_hop.waits *= model->hops / model->steps;
    return collector->add(collector->list, relayed, &hop_by_hop, false);
}

static int relayed_candidates(const trv_collector_t *collector)
{
    trv_collector_t offered = *collector;
    int rc = TRV_OK;
    offered.add = add_offered;
    offered.list = (void *)(uintptr_t)collector;
    if (!collector->network->no_forwarding)
        return TRV_OK;
    if (collector->torus->ranks > CANDIDATE_RANKS_MAX)
        return trv_algorithm_has_collective(&trv_neighbour, collector->collective) ? add_relayed(collector, "neighbour")
                                                                                   : TRV_OK;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++)
        if (!trv_algorithm_at(i)->relays && trv_algorithm_has_collective(trv_algorithm_at(i), collector->collective))
            rc = add_relayed(collector, trv_algorithm_name(trv_algorithm_at(i)));
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!algorithm->relays && algorithm->candidates && !algorithm->any_network &&
            trv_algorithm_has_collective(algorithm, collector->collective))
            rc = algorithm->candidates(&offered);
    }
    return rc;
}

const trv_algorithm_t trv_relayed = {
    .name = "relayed",
    .family = "relayed",
    .title = "Relayed: messages are passed on from neighbour to neighbour",
    .use = "networks that do not forward; a baseline",
    .source = "docs/networks.md",
    .sizes = "those of the algorithm, a few hundred ranks",
    .parameters = "[NAME]",
    .example = "relayed:swing-b",
    .field = {{.kind = TRV_FIELD_REST, .what = "an algorithm"}},
    .steps_formula = "one per hop of the algorithm's messages",
    .bytes_formula = "those of the algorithm, once per hop",
    .collectives = (1U << TRV_COLLECTIVES) - 1,
    .relays = true,
    .lines = true,
    .symmetry = TRV_SYMMETRY_NONE,
    .exactness = TRV_EXACT,
    .consistent = true,
    .supports = relayed_supports,
    .create = relayed_create,
    .complete = relayed_complete,
    .candidates = relayed_candidates,
};
