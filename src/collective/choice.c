/*
 * Choices by name and by the planner, and the reasons for them. The planner caches its choices for the whole process,
 * so that the choice for a second communicator of the same shape takes no time.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/family.h"
#include "base/number.h"
#include "collective/choice.h"
#include "base/clock.h"
#include "base/append.h"
#include "base/error.h"
#include "planner/ranking.h"
#include "settings/rules.h"

enum { REPORTED_MS = 1 }; /* planning that takes longer is logged */

trv_simulate_options_t trv_chooser_simulation(const trv_settings_t *settings, const trv_network_t *network,
                                              const trv_model_paths_t *paths)
{
    trv_simulate_options_t simulation = trv_model_network(settings->alpha_ns, settings->bandwidth_bps, settings->hop_ns,
                                                          settings->overhead_ns);
    simulation.slow_links = network->slow_links;
    simulation.slow_link = network->slow_link;
    simulation.no_forwarding = network->no_forwarding;
    trv_model_shared_paths(&simulation, &network->torus, &settings->file_rules, paths);
    return simulation;
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

void trv_choice_append(trv_choice_t *choice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    trv_append_list(choice->reason, sizeof choice->reason, format, arguments);
    va_end(arguments);
}

const trv_time_unit_t *trv_choice_append_times(trv_choice_t *choice, const char *how,
                                               const trv_planner_choice_t *planned)
{
    const trv_time_unit_t *unit = trv_time_unit(planned->time_ns);
    trv_choice_append(choice, "%s%s: %.4g %s expected, of which %d step%s %.3g, hops %.3g, bytes %.3g",
                      *choice->reason ? "; " : "", how, planned->time_ns / unit->ns, unit->name, planned->steps,
                      planned->steps == 1 ? "" : "s", planned->alpha_ns / unit->ns, planned->hops_ns / unit->ns,
                      planned->transmission_ns / unit->ns);
    return unit;
}

void trv_choice_append_duration(trv_choice_t *choice, double took_s)
{
    if (1e3 * took_s >= REPORTED_MS)
        trv_choice_append(choice, "; planning took %.0f ms", 1e3 * took_s);
}

/* ---- By name ----------------------------------------------------------------------------------------------------- */

/* Appends a hint to the variant of an algorithm whose results do not differ between ranks, if it has one. */
static void append_consistent_variant(const trv_chooser_t *chooser, const trv_signature_t *signature,
                                      const char *algorithm, trv_choice_t *choice)
{
    static const char *const suffix[] = {"-grouped", ":grouped"};
    for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        trv_schedule_t *schedule = NULL;
        if ((size_t)snprintf(name, sizeof name, "%s%s", algorithm, suffix[i]) >= sizeof name ||
            trv_schedule_create_on(&schedule, chooser->network, name, signature->collective, chooser->root) < 0)
            continue;
        const bool consistent = !trv_signature_objection(signature, schedule, false);
        trv_schedule_destroy(schedule);
        if (consistent) {
            trv_choice_append(choice, " (those of %s do not)", name);
            return;
        }
    }
}

int trv_choose_named(const trv_chooser_t *chooser, const trv_signature_t *signature, const char *algorithm,
                     const char *source, trv_choice_t *choice)
{
    trv_schedule_t *schedule = NULL;
    int code = trv_schedule_create_on(&schedule, chooser->network, algorithm, signature->collective, chooser->root);
    const char *objection = code < 0 ? trv_last_error()
                                     : trv_signature_objection(signature, schedule, chooser->allow_inconsistent_names);
    if (objection)
        snprintf(choice->reason, sizeof choice->reason, "%s: %s, but %.200s", source, algorithm, objection);
    if (objection && code == TRV_OK)
        append_consistent_variant(chooser, signature, algorithm, choice);
    if (!objection)
        snprintf(choice->algorithm, sizeof choice->algorithm, "%s", algorithm);
    trv_schedule_destroy(schedule);
    return code;
}

/* ---- By the planner ---------------------------------------------------------------------------------------------- */

/* Arguments of a query to the planner, for vectors of a class of sizes. */
typedef struct query {
    const trv_chooser_t *chooser;
    trv_collective_t collective;
    uint64_t bytes;
    trv_planner_constraints_t constraints;
} query_t;

static int query_planner(const query_t *query, trv_planner_t **planner)
{
    return trv_planner_create(planner, &query->chooser->network->torus, query->collective, query->chooser->root,
                              &query->chooser->simulation, &query->constraints);
}

/* Finds the fastest algorithm of the family; TRV_ERR_UNSUPPORTED if none is suitable, with the reason for the last one
 * as the last error. */
static int find_in_family(const query_t *query, const char *family, trv_planner_choice_t *best)
{
    trv_planner_t *planner;
    int code = query_planner(query, &planner);
    if (code < 0)
        return code;
    code = trv_planner_time_family(planner, query->bytes, family, INFINITY, best);
    trv_planner_destroy(planner);
    return code;
}

/* Appends how the second best algorithm compares with the best one, such as "; trivance-b would take 25 us". The
 * planner decides ties by the number of steps, and then by its order of candidates. */
static void append_comparison(const trv_planner_choice_t ranked[2], const trv_time_unit_t *unit, trv_choice_t *choice)
{
    enum { DIGITS = 4 };
    char best[TRV_TIME_TEXT_MAX], second[TRV_TIME_TEXT_MAX];
    const double longer_ns = ranked[1].time_ns - ranked[0].time_ns;
    trv_snprintf(best, sizeof best, "%.*g", DIGITS, ranked[0].time_ns / unit->ns);
    trv_snprintf(second, sizeof second, "%.*g", DIGITS, ranked[1].time_ns / unit->ns);
    if (ranked[0].time_ns < ranked[1].time_ns && strcmp(best, second) == 0)
        trv_choice_append(choice, "; %s would take %.*g %s longer", ranked[1].algorithm, DIGITS,
                          longer_ns / trv_time_unit(longer_ns)->ns, trv_time_unit(longer_ns)->name);
    else if (ranked[0].time_ns < ranked[1].time_ns)
        trv_choice_append(choice, "; %s would take %s %s", ranked[1].algorithm, second, unit->name);
    else if (ranked[0].steps < ranked[1].steps)
        trv_choice_append(choice, "; a tie with %s, which takes more steps", ranked[1].algorithm);
    else
        trv_choice_append(choice, "; a tie with %s in time and steps, decided by the order of candidates",
                          ranked[1].algorithm);
}

static void append_runner_up(const query_t *query, const trv_time_unit_t *unit, trv_choice_t *choice)
{
    trv_planner_t *planner;
    trv_planner_choice_t ranked[2];
    if (query_planner(query, &planner) < 0)
        return;
    if (trv_planner_rank(planner, query->bytes, 2, ranked) == 2)
        append_comparison(ranked, unit, choice);
    trv_planner_destroy(planner);
}

int trv_choose_planned(const trv_chooser_t *chooser, const trv_signature_t *signature, uint64_t bytes,
                       const char *family, trv_choice_t *choice)
{
    const query_t query = {chooser, signature->collective, bytes,
                           trv_signature_constraints(signature, chooser->allow_inconsistent)};
    const trv_torus_t *torus = &chooser->network->torus;
    const double began_s = trv_now_s();
    char paths[TRV_MODEL_SHARED_PATHS_MAX];
    trv_planner_choice_t best;
    int code = family ? find_in_family(&query, family, &best)
                      : trv_planner_best(torus, query.collective, chooser->root, query.bytes, &chooser->simulation,
                                         &query.constraints, &best);
    if (code == TRV_ERR_UNSUPPORTED) {
        trv_choice_append(choice, "%s%.300s", *choice->reason ? "; " : "", trv_last_error());
        return TRV_OK;
    }
    if (code < 0)
        return code;
    snprintf(choice->algorithm, sizeof choice->algorithm, "%s", best.algorithm);
    const trv_time_unit_t *unit = trv_choice_append_times(choice, family ? "the fastest of its family" : "planned",
                                                          &best);
    trv_model_shared_paths_text(&chooser->simulation, torus, chooser->measured, paths);
    if (*paths)
        trv_choice_append(choice, "; %s", paths);
    const double ended_s = trv_now_s();
    if (!family && chooser->explains)
        append_runner_up(&query, unit, choice);
    trv_choice_append_duration(choice, ended_s - began_s);
    return TRV_OK;
}

int trv_choose_requested(const trv_chooser_t *chooser, const trv_signature_t *signature, uint64_t bytes,
                         const char *requested, const char *source, trv_choice_t *choice)
{
    if (trv_is_family(requested))
        return trv_choose_planned(chooser, signature, bytes, requested, choice);
    if (!*requested || strcmp(requested, TRV_RULE_AUTO) == 0 || strcmp(requested, TRV_RULE_PLANNED) == 0)
        return TRV_OK;
    snprintf(choice->reason, sizeof choice->reason, "%s", source);
    return trv_choose_named(chooser, signature, requested, source, choice);
}
