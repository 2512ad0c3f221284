/*
 * Questions to the planner, and its answers.
 */
#include "mpi/selection/planned.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <trivance/planner.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/size_class.h"
#include "mpi/communicator/job_fabric.h"
#include "mpi/reports/log.h"
#include "mpi/reports/job_settings.h"
#include "settings/model.h"

#define TRV_SIZE_CLASS_MIN 8
#define LONG_MS            1.0 /* planning that took as long is told */

typedef struct question {
    trv_collective_t collective;
    uint64_t bytes;
    trv_planner_constraints_t constraints;
    const char *family; /* NULL: of all algorithms */
} question_t;

void trv_mpi_class_bounds(uint64_t bytes, uint64_t *least, uint64_t *most)
{
    uint64_t size = trv_size_class(bytes);
    *least = size == TRV_SIZE_CLASS_MIN ? 0 : (uint64_t)(sqrt(2) * (double)(size / 2)) + 1;
    *most = (uint64_t)(sqrt(2) * (double)size);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* Below MPI the network alone knows the way between two ranks; interfaces that lead different ways are the sender's to
 * choose from. */
trv_simulate_options_t trv_mpi_network_as_set(const trv_mpi_state_t *state, const trv_network_t *links,
                                              unsigned shared_port)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    trv_simulate_options_t network = trv_model_network(settings->alpha_ns, settings->bandwidth_bps, settings->hop_ns,
                                                       settings->overhead_ns);
    network.slow_links = links->slow_links;
    network.slow_link = links->slow_link;
    trv_model_paths_t paths = {.declared = shared_port};
    paths.found = trv_mpi_job_fabric_narrow(state->members->domain->comm, &paths.one_found);
    trv_model_narrow(&network, &links->torus, &settings->file_rules, &paths);
    network.routes = settings->transport == TRV_TRANSPORT_OFI && settings->ports ? TRV_ROUTES_CHOSEN : TRV_ROUTES_FIXED;
    return network;
}

trv_planner_constraints_t trv_mpi_constraints(const trv_mpi_want_t *want)
{
    const bool reduces = want->collective != TRV_ALLGATHER;
    return (trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS,
                                       .consistent = reduces && !want->elements.exact &&
                                                     !trv_mpi_settings()->allow_inconsistent,
                                       .idempotent = reduces && want->elements.idempotent};
}

/* The plan of the family's fastest member; TRV_ERR_UNSUPPORTED with the last reason where none will do. */
static int plan_of_family(trv_planner_t *planner, const question_t *question, trv_planned_t *best)
{
    int found = TRV_ERR_UNSUPPORTED;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        trv_planned_t plan;
        if (strcmp(trv_algorithm_family(algorithm), question->family) != 0)
            continue;
        int code = trv_planner_time(planner, question->bytes, trv_algorithm_name(algorithm), &plan);
        if (code < 0 && code != TRV_ERR_UNSUPPORTED)
            return code;
        if (code == TRV_OK && (found < 0 || plan.time_ns < best->time_ns)) {
            *best = plan;
            found = TRV_OK;
        }
    }
    return found;
}

static trv_simulate_options_t network_of(const trv_mpi_state_t *state)
{
    return trv_mpi_network_as_set(state, &state->network, state->shared_port);
}

static int make_planner(const trv_mpi_state_t *state, const question_t *question, trv_planner_t **planner)
{
    trv_simulate_options_t network = network_of(state);
    return trv_planner_create(planner, &state->network.torus, question->collective, &network, &question->constraints);
}

static int find_plan(const trv_mpi_state_t *state, const question_t *question, trv_planned_t *best)
{
    trv_simulate_options_t network = network_of(state);
    if (!question->family)
        return trv_planner_best(&state->network.torus, question->collective, question->bytes, &network,
                                &question->constraints, best);
    trv_planner_t *planner;
    int code = make_planner(state, question, &planner);
    if (code == TRV_OK)
        code = plan_of_family(planner, question, best);
    trv_planner_destroy(planner);
    return code;
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

/* The unit in which a time is read best. */
static trv_mpi_unit_t unit_for(double time_ns)
{
    static const trv_mpi_unit_t unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    return time_ns >= unit[0].ns ? unit[0] : time_ns >= unit[1].ns ? unit[1] : unit[2];
}

void trv_mpi_append(trv_mpi_choice_t *choice, const char *format, ...)
{
    const size_t used = strlen(choice->why);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(choice->why + used, sizeof choice->why - used, format, arguments);
    va_end(arguments);
}

trv_mpi_unit_t trv_mpi_describe_plan(trv_mpi_choice_t *choice, const char *how, const trv_planned_t *plan)
{
    const trv_mpi_unit_t unit = unit_for(plan->time_ns);
    trv_mpi_append(choice, "%s%s: %.4g %s expected, of which %d step%s %.3g, hops %.3g, bytes %.3g",
                   *choice->why ? "; " : "", how, plan->time_ns / unit.ns, unit.name, plan->steps,
                   plan->steps == 1 ? "" : "s", plan->alpha_ns / unit.ns, plan->hops_ns / unit.ns,
                   plan->transmission_ns / unit.ns);
    return unit;
}

void trv_mpi_describe_time(trv_mpi_choice_t *choice, double took_ms)
{
    if (took_ms >= LONG_MS)
        trv_mpi_append(choice, "; planning took %.0f ms", took_ms);
}

/* "; trivance-b would take 25 us", where it is heard: nothing depends on it. */
static void append_second(const trv_mpi_state_t *state, const question_t *question, trv_mpi_unit_t unit,
                          trv_mpi_choice_t *choice)
{
    trv_planner_t *planner;
    trv_planned_t plan[2];
    if (question->family || !trv_mpi_heard(TRV_DEBUG_INFO, state->rank) || make_planner(state, question, &planner) < 0)
        return;
    if (trv_planner_rank(planner, question->bytes, 2, plan) == 2)
        trv_mpi_append(choice, "; %s would take %.4g %s", plan[1].algorithm, plan[1].time_ns / unit.ns, unit.name);
    trv_planner_destroy(planner);
}

static void describe(const trv_mpi_state_t *state, const question_t *question, const trv_planned_t *best,
                     double took_ms, trv_mpi_choice_t *choice)
{
    const trv_mpi_unit_t unit = trv_mpi_describe_plan(choice,
                                                      question->family ? "the fastest of its family" : "planned", best);
    const trv_simulate_options_t network = network_of(state);
    char text[TRV_MODEL_NARROW_MAX];
    trv_model_narrow_text(&network, &state->network.torus, &trv_mpi_settings()->file_rules, text);
    if (*text)
        trv_mpi_append(choice, "; %s", text);
    append_second(state, question, unit, choice);
    trv_mpi_describe_time(choice, took_ms);
}

/* ---- Asking, and being told -------------------------------------------------------------------------------------- */

static question_t question_of(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family)
{
    return (question_t){.collective = want->collective,
                        .bytes = trv_size_class(trv_mpi_vector_bytes(want, state->ranks)),
                        .constraints = trv_mpi_constraints(want),
                        .family = family};
}

int trv_mpi_planned(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family,
                    trv_mpi_choice_t *choice)
{
    trv_planned_t best;
    const question_t question = question_of(state, want, family);
    const double began_s = trv_now_s();
    int code = find_plan(state, &question, &best);
    if (code == TRV_ERR_UNSUPPORTED) {
        trv_mpi_append(choice, "%s%.300s", *choice->why ? "; " : "", trv_last_error());
        return TRV_OK;
    }
    if (code == TRV_OK) {
        snprintf(choice->algorithm, sizeof choice->algorithm, "%s", best.algorithm);
        describe(state, &question, &best, 1e3 * (trv_now_s() - began_s), choice);
    }
    return code;
}
