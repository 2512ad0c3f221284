/*
 * Which algorithm serves a call.
 *
 * What is asked for is, first found wins: the name that TRV_Comm_set gave, a rule of TRIVANCE_TUNE, the name in
 * TRIVANCE_ALGORITHM, a rule of TRIVANCE_RULES_FILE, or nothing in particular (auto). Candidates are the algorithm of
 * that name, the members of that family, or (auto) every form of Trivance; auto needs a torus that is known.
 *
 * Of these only what is right for the type and the operation counts: windows and overlaps for exact operations,
 * consistent schedules for the rest, and for operations that do not commute the gathered form, which adds in rank order
 * (under the drop-in the MPI library serves those). Unless an algorithm is asked for by name, a schedule that sends
 * both ways in a dimension that has no two separate paths does not count either (paper, appendix E).
 *
 * Among several the cost model decides (paper section 2.1): steps * alpha + load * bytes / bandwidth + hops * latency.
 *
 * Only facts that are equal on all ranks decide.
 */
#include <string.h>

#include <trivance/cost.h>

#include "mpi/operation.h"
#include "mpi/settings.h"
#include "mpi/wiring.h"

/* The form that adds all contributions in rank order; it moves n vectors, so it serves small ones only. */
#define IN_RANK_ORDER "trivance-l-gathered"
#define IN_RANK_ORDER_BYTES_MAX (256 * 1024)

static const char leaves_tune[] = "a rule of TRIVANCE_TUNE leaves it to the MPI library";
static const char leaves_file[] = "a rule of TRIVANCE_RULES_FILE leaves it to the MPI library";

bool trv_mpi_was_meant(const char *why)
{
    return why == leaves_tune || why == leaves_file;
}

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

typedef struct request {
    const char *algorithm; /* a name, a family, TRV_MPI_AUTO or TRV_RULE_MPI */
    const char *why;
} request_t;

static request_t by_rule(const trv_rule_t *rule, bool tune)
{
    request_t request = {rule->algorithm, tune ? "a rule of TRIVANCE_TUNE" : "a rule of TRIVANCE_RULES_FILE"};
    if (strcmp(rule->algorithm, TRV_RULE_MPI) == 0)
        request.why = tune ? leaves_tune : leaves_file;
    return request;
}

static request_t find_request(const trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    const trv_rules_t *rules[] = {&settings->tune_rules, &settings->file_rules};
    const trv_rule_t *rule[2];
    for (int i = 0; i < 2; i++)
        rule[i] = trv_rules_match(rules[i], want->collective, &state->torus, state->ranks,
                                  trv_mpi_vector_bytes(state, want));
    bool named = strcmp(state->algorithm, TRV_MPI_AUTO) != 0;
    if (rule[0] && !state->named)
        return by_rule(rule[0], true);
    if (rule[1] && !named)
        return by_rule(rule[1], false);
    return (request_t){state->algorithm, named ? "as set" : "the fastest by the cost model"};
}

/* ---- What is right ----------------------------------------------------------------------------------------------- */

static bool may_differ(bool by_name)
{
    return trv_mpi_settings()->allow_inconsistent || (by_name && !trv_mpi_is_drop_in());
}

static bool is_right(const trv_mpi_schedule_t *entry, const trv_mpi_want_t *want, bool by_name)
{
    bool reduces = want->collective != TRV_ALLGATHER;
    if (reduces && trv_schedule_exactness(entry->schedule) == TRV_COVERS && !want->elements.idempotent)
        return false;
    return !reduces || want->elements.exact || trv_schedule_consistent(entry->schedule) || may_differ(by_name);
}

/* The ports by which `rank` sends in step `step`, of all streams together. */
static unsigned ports_of(const trv_schedule_t *schedule, int rank, int step, trv_step_t *room)
{
    unsigned ports = 0;
    for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
        if (trv_schedule_step(schedule, rank, stream, step, room) == TRV_OK)
            for (int i = 0; i < room->sends; i++)
                ports |= 1u << room->send[i].port;
    return ports;
}

/* The dimensions in which some rank sends both ways in the same step. */
static unsigned both_ways(const trv_schedule_t *schedule)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    int ranks = trv_schedule_symmetry(schedule) == TRV_SYMMETRY_TRANSLATION ? 1 : torus->ranks;
    trv_step_t room = TRV_STEP_INIT;
    unsigned dimensions = 0;
    for (int rank = 0; rank < ranks; rank++)
        for (int step = 0; step < trv_schedule_steps(schedule); step++) {
            unsigned ports = ports_of(schedule, rank, step, &room);
            for (int d = 0; d < torus->dims; d++)
                if (ports >> trv_port(d, +1) & ports >> trv_port(d, -1) & 1u)
                    dimensions |= 1u << d;
        }
    trv_step_clear(&room);
    return dimensions;
}

/* Whether every dimension in which the schedule sends both ways has two separate paths. */
static bool has_paths(const trv_mpi_state_t *state, const trv_mpi_schedule_t *entry)
{
    unsigned narrow = state->one_way | state->shared_port;
    return narrow == 0 || (narrow & both_ways(entry->schedule)) == 0;
}

/* ---- What is fastest --------------------------------------------------------------------------------------------- */

static double time_ns(trv_mpi_schedule_t *entry, size_t bytes)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    if (!entry->costed) {
        trv_cost_t cost;
        if (trv_cost_measure(entry->schedule, &cost) == TRV_OK) {
            for (int t = 0; t < cost.steps; t++) {
                entry->load += cost.step[t].link_fraction;
                entry->hops += cost.step[t].hops;
            }
            trv_cost_clear(&cost);
        }
        entry->costed = true;
    }
    return entry->steps * settings->alpha_ns + entry->load * (double)bytes * 8e9 / settings->bandwidth_bps +
           entry->hops * settings->hop_ns;
}

static bool is_trivance(const char *algorithm)
{
    return strncmp(algorithm, "trivance", strlen("trivance")) == 0;
}

static bool is_candidate(const trv_algorithm_t *algorithm, const char *asked)
{
    if (strcmp(asked, TRV_MPI_AUTO) == 0)
        return is_trivance(trv_algorithm_name(algorithm));
    return strcmp(trv_algorithm_name(algorithm), asked) == 0 || strcmp(trv_algorithm_family(algorithm), asked) == 0;
}

/* The best of the candidates; NULL if none serves. *narrow: one did not count for want of two paths. */
static int choose_best(trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *asked,
                       trv_mpi_schedule_t **best, bool *narrow)
{
    size_t bytes = trv_mpi_vector_bytes(state, want);
    *best = NULL;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!is_candidate(algorithm, asked) ||
            trv_algorithm_supports(algorithm, &state->torus, want->collective) != TRV_OK)
            continue;
        trv_mpi_schedule_t *entry;
        int code = trv_mpi_state_schedule(state, algorithm, want->collective, &entry);
        if (code < 0)
            return code;
        bool by_name = strcmp(trv_algorithm_name(algorithm), asked) == 0;
        if (!is_right(entry, want, by_name))
            continue;
        if (by_name) {
            *best = entry;
            return TRV_OK;
        }
        if (!has_paths(state, entry)) {
            *narrow = true;
            continue;
        }
        if (!*best || time_ns(entry, bytes) < time_ns(*best, bytes))
            *best = entry;
    }
    return TRV_OK;
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

static int choose_in_rank_order(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_schedule_t **entry,
                                const char **why)
{
    *entry = NULL;
    *why = trv_mpi_is_drop_in() ? "the operation does not commute"
                                : "the operation does not commute, and the vectors are not small";
    const trv_algorithm_t *algorithm = trv_algorithm_find(IN_RANK_ORDER);
    size_t bytes = trv_mpi_vector_bytes(state, want) * (size_t)state->ranks;
    if (trv_mpi_is_drop_in() || !algorithm || bytes > IN_RANK_ORDER_BYTES_MAX ||
        trv_algorithm_supports(algorithm, &state->torus, want->collective) != TRV_OK)
        return TRV_OK;
    *why = "the operation does not commute: added in rank order";
    return trv_mpi_state_schedule(state, algorithm, want->collective, entry);
}

/* Why the drop-in may not serve the communicator by any schedule; NULL where it may. */
static const char *drop_in_refuses(const trv_mpi_state_t *state)
{
    if (!trv_mpi_is_drop_in())
        return NULL;
    if (trv_mpi_settings()->fault)
        return trv_mpi_settings()->fault;
    return !state->serves && state->wiring && state->wiring->known == TRV_MPI_WRONG ? state->why : NULL;
}

int trv_mpi_choose(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_schedule_t **entry, const char **why)
{
    *entry = NULL;
    *why = want->elements.reason;
    if (want->elements.way == TRV_MPI_LIBRARY)
        return TRV_OK;
    if ((*why = trv_mpi_wiring_refuses(state, want)) || (*why = drop_in_refuses(state)))
        return TRV_OK;
    if (!want->elements.commutative)
        return choose_in_rank_order(state, want, entry, why);
    request_t request = find_request(state, want);
    *why = request.why;
    if (strcmp(request.algorithm, TRV_RULE_MPI) == 0)
        return TRV_OK;
    bool automatic = strcmp(request.algorithm, TRV_MPI_AUTO) == 0, narrow = false;
    bool known = state->serves || !trv_mpi_is_drop_in();
    if (automatic && !known) {
        *why = state->why;
        return TRV_OK;
    }
    int code = choose_best(state, want, request.algorithm, entry, &narrow);
    if (code == TRV_OK && !*entry && !automatic && (known || is_trivance(request.algorithm))) {
        *why = "what is asked for does not serve this collective or is not right for this operation; the fastest by "
               "the cost model";
        code = choose_best(state, want, TRV_MPI_AUTO, entry, &narrow);
    }
    if (code == TRV_OK && !*entry)
        *why = narrow ? "a dimension has no two separate paths, and every candidate sends both ways there"
                      : "no algorithm that is asked for serves this collective and is right for this operation";
    return code;
}
