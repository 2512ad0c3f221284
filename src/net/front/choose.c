/*
 * The choice of an algorithm, by rank 0 of a communicator: the one that was named, where it serves the collective; else
 * the planner's fastest whose results are the same bits on all ranks.
 */
#include <stdio.h>
#include <string.h>

#include <trivance/planner.h>

#include "common/error.h"
#include "net/front/inside.h"
#include "settings/model.h"
#include "text/parse.h"

trv_simulate_options_t trv_net_network(const trv_net_t *net, const trv_torus_t *torus)
{
    const trv_settings_t *settings = &net->settings;
    trv_simulate_options_t network = trv_model_network(settings->alpha_ns, settings->bandwidth_bps, settings->hop_ns,
                                                       settings->overhead_ns);
    trv_model_paths_t paths = {.declared = 0};
    paths.found = trv_fabric_narrow(net->fabric, &paths.one_found);
    trv_model_narrow(&network, torus, &settings->file_rules, &paths);
    return network;
}

static trv_planner_constraints_t constraints_of(const trv_kind_t *kind)
{
    const trv_elements_t *elements = &kind->elements;
    const bool reduces = kind->collective != TRV_ALLGATHER, own = elements->reduce;
    return (trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS,
                                       .consistent = reduces && (own || !trv_op_exact(elements->op, elements->type)),
                                       .idempotent = reduces && !own && trv_op_idempotent(elements->op)};
}

/* A name that serves: its schedule is made to see. One that serves the collective in no way is left for the planner's. */
static int take_named(const trv_kind_t *kind, trv_decision_t *decision)
{
    trv_schedule_t *schedule = NULL;
    int rc = trv_schedule_create(&schedule, &kind->comm->torus, kind->wanted, kind->collective);
    const bool covers = rc == TRV_OK && trv_schedule_exactness(schedule) == TRV_COVERS;
    trv_schedule_destroy(schedule);
    if (rc == TRV_ERR_UNSUPPORTED && kind->collective != TRV_ALLREDUCE)
        return TRV_OK;
    if (rc < 0)
        return rc;
    if (!covers || kind->collective == TRV_ALLGATHER ||
        (!kind->elements.reduce && trv_op_idempotent(kind->elements.op)))
        snprintf(decision->algorithm, sizeof decision->algorithm, "%s", kind->wanted);
    if (*decision->algorithm)
        snprintf(decision->why, sizeof decision->why, "asked for by name");
    return TRV_OK;
}

static int take_planned(const trv_kind_t *kind, trv_decision_t *decision)
{
    const trv_planner_constraints_t constraints = constraints_of(kind);
    const trv_simulate_options_t network = trv_net_network(kind->comm->net, &kind->comm->torus);
    trv_planned_t plan;
    int rc = trv_planner_best(&kind->comm->torus, kind->collective, kind->bytes, &network, &constraints, &plan);
    if (rc < 0)
        return rc;
    char time[TRV_TIME_TEXT_MAX];
    snprintf(decision->algorithm, sizeof decision->algorithm, "%s", plan.algorithm);
    snprintf(decision->why, sizeof decision->why, "planned: %d step%s, %s expected", plan.steps,
             plan.steps == 1 ? "" : "s", trv_format_time(plan.time_ns, trv_time_unit(plan.time_ns), time));
    return TRV_OK;
}

void trv_net_choose(const trv_kind_t *kind, trv_decision_t *decision)
{
    const char *wanted = kind->wanted;
    int rc = TRV_OK;
    *decision = (trv_decision_t){.code = TRV_OK};
    if (*wanted && strcmp(wanted, "auto") != 0 && strcmp(wanted, "planned") != 0)
        rc = take_named(kind, decision);
    if (rc == TRV_OK && !*decision->algorithm)
        rc = take_planned(kind, decision);
    if (rc == TRV_OK)
        rc = trv_schedule_spell(&kind->comm->torus, decision->algorithm, kind->collective, decision->spelled,
                                sizeof decision->spelled);
    decision->code = rc;
    if (rc < 0)
        snprintf(decision->why, sizeof decision->why, "%s", trv_last_error());
}
