/*
 * Which algorithm serves a call.
 *
 * What is asked for is, first found wins: the name that TRV_Comm_set gave, a rule of TRIVANCE_TUNE, the name in
 * TRIVANCE_ALGORITHM, a rule of TRIVANCE_RULES_FILE, or nothing in particular (auto). A name is one algorithm, with its
 * parameters; for anything else (auto, planned, a family) the planner is asked, see planned.h. Auto needs a torus that
 * is known.
 *
 * What serves must be right for the type and the operation: windows and overlaps for exact operations, consistent
 * schedules for the rest, and for operations that do not commute the gathered form, which adds in rank order (under the
 * drop-in the MPI library serves those). Unless an algorithm is asked for by name, a schedule that sends both ways in a
 * dimension that has no two separate paths does not do either (paper, appendix E). Where what is asked for will not do,
 * the planner's choice takes its place.
 *
 * Only facts that are equal on all ranks decide.
 */
#include "mpi/choose.h"

#include <stdio.h>
#include <string.h>

#include "mpi/planned.h"
#include "mpi/reports/settings.h"
#include "mpi/wiring.h"

/* The form that adds all contributions in rank order; it moves n vectors, so it serves small ones only. */
#define IN_RANK_ORDER "trivance-l-gathered"
#define IN_RANK_ORDER_BYTES_MAX (256 * 1024)

static int leave(trv_mpi_choice_t *choice, const char *why)
{
    choice->schedule = NULL;
    snprintf(choice->why, sizeof choice->why, "%s", why);
    return TRV_OK;
}

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

typedef struct request {
    const char *algorithm; /* a name, a family, TRV_MPI_AUTO, TRV_RULE_PLANNED or TRV_RULE_MPI */
    const char *who;       /* asks for it; "" for nobody */
} request_t;

static bool is_auto(const char *asked)
{
    return strcmp(asked, TRV_MPI_AUTO) == 0;
}

static bool is_family(const char *asked)
{
    bool family = false, name = false;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        name = name || strcmp(trv_algorithm_name(trv_algorithm_at(i)), asked) == 0;
        family = family || strcmp(trv_algorithm_family(trv_algorithm_at(i)), asked) == 0;
    }
    return family && !name;
}

static request_t find_request(const trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    static const char *const who[] = {"a rule of TRIVANCE_TUNE", "a rule of TRIVANCE_RULES_FILE"};
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    const trv_rules_t *rules[] = {&settings->tune_rules, &settings->file_rules};
    bool named = !is_auto(state->algorithm);
    const bool before[] = {state->named, named}; /* a name that comes before the rules */
    for (int i = 0; i < 2; i++) {
        if (before[i])
            continue;
        const trv_rule_t *rule = trv_rules_match(rules[i], want->collective, &state->torus, state->ranks,
                                                 trv_mpi_vector_bytes(state, want));
        if (rule)
            return (request_t){rule->algorithm, who[i]};
    }
    return (request_t){state->algorithm, named ? "as set" : ""};
}

/* ---- One algorithm ----------------------------------------------------------------------------------------------- */

/* What makes a schedule that is asked for by name wrong for the want; NULL where it is right. */
static const char *not_right(const trv_schedule_t *schedule, const trv_mpi_want_t *want)
{
    if (want->collective == TRV_ALLGATHER)
        return NULL;
    if (trv_schedule_exactness(schedule) == TRV_COVERS && !want->elements.idempotent)
        return "it adds some contributions twice";
    bool may_differ = trv_mpi_settings()->allow_inconsistent || !trv_mpi_is_drop_in();
    return want->elements.exact || trv_schedule_consistent(schedule) || may_differ
               ? NULL : "it does not give all ranks the same bits";
}

/* Where the algorithm does not serve or is not right there is no schedule, and `why`, which says who asks for it, goes on
 * with the reason. */
static int choose_named(trv_mpi_state_t *state, const trv_mpi_want_t *want, const request_t *request,
                        trv_mpi_choice_t *choice)
{
    int code = trv_mpi_state_schedule(state, request->algorithm, want->collective, &choice->schedule);
    if (code == TRV_ERR_MEMORY)
        return code;
    const char *fault = code < 0 ? trv_last_error() : not_right(choice->schedule, want);
    if (fault) {
        choice->schedule = NULL;
        snprintf(choice->why, sizeof choice->why, "%s: %s, but %.200s", request->who, request->algorithm, fault);
    }
    return TRV_OK;
}

static int choose_in_rank_order(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_choice_t *choice)
{
    const request_t request = {IN_RANK_ORDER, "the operation does not commute: added in rank order"};
    size_t bytes = trv_mpi_vector_bytes(state, want) * (size_t)state->ranks;
    if (trv_mpi_is_drop_in())
        return leave(choice, "the operation does not commute");
    if (bytes > IN_RANK_ORDER_BYTES_MAX || want->collective != TRV_ALLREDUCE)
        return leave(choice, "the operation does not commute, and the vectors are not small");
    leave(choice, request.who);
    return choose_named(state, want, &request, choice);
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

/* Why no schedule may serve; NULL where one may. */
static const char *refuses(const trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    if (want->elements.way == TRV_MPI_LIBRARY)
        return want->elements.reason;
    const char *why = trv_mpi_wiring_refuses(state, want);
    if (why || !trv_mpi_is_drop_in())
        return why;
    if (trv_mpi_settings()->fault)
        return trv_mpi_settings()->fault;
    return !state->serves && state->wiring && state->wiring->known == TRV_MPI_WRONG ? state->why : NULL;
}

int trv_mpi_choose(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_choice_t *choice)
{
    *choice = (trv_mpi_choice_t){.schedule = NULL};
    const char *refusal = refuses(state, want);
    if (refusal)
        return leave(choice, refusal);
    if (!want->elements.commutative)
        return choose_in_rank_order(state, want, choice);
    request_t request = find_request(state, want);
    choice->meant = strcmp(request.algorithm, TRV_RULE_MPI) == 0;
    snprintf(choice->why, sizeof choice->why, "%s%s", request.who, choice->meant ? " leaves it to the MPI library" : "");
    if (choice->meant)
        return TRV_OK;
    if (is_auto(request.algorithm) && !state->serves && trv_mpi_is_drop_in())
        return leave(choice, state->why);
    int code = TRV_OK;
    if (is_family(request.algorithm))
        code = trv_mpi_planned(state, want, request.algorithm, choice);
    else if (!is_auto(request.algorithm) && strcmp(request.algorithm, TRV_RULE_PLANNED) != 0)
        code = choose_named(state, want, &request, choice);
    return code == TRV_OK && !choice->schedule ? trv_mpi_planned(state, want, NULL, choice) : code;
}
