/*
 * Which algorithm serves a call.
 *
 * Candidates are what the communicator's setting names: one algorithm, a family, or (auto) every form of Trivance. Of
 * these only what is right for the type and the operation counts: windows and overlaps for exact operations, consistent
 * schedules for the rest, and for operations that do not commute the gathered form, which adds in rank order. Among
 * several the cost model decides (paper section 2.1, with the paper's alpha and bandwidth): steps * alpha + load *
 * bytes / bandwidth.
 */
#include <string.h>

#include <trivance/cost.h>

#include "mpi/operation.h"

/* The form that adds all contributions in rank order; it moves n vectors, so it serves small ones only. */
#define IN_RANK_ORDER "trivance-l-gathered"
#define IN_RANK_ORDER_BYTES_MAX (256 * 1024)

static bool is_right(const trv_mpi_schedule_t *entry, const trv_mpi_want_t *want, bool asked_by_name)
{
    bool reduces = want->collective != TRV_ALLGATHER;
    if (reduces && trv_schedule_exactness(entry->schedule) == TRV_COVERS && !want->elements.idempotent)
        return false;
    return !reduces || asked_by_name || want->elements.exact || trv_schedule_consistent(entry->schedule);
}

static double time_ns(trv_mpi_schedule_t *entry, size_t bytes)
{
    const trv_network_t network = TRV_NETWORK_PAPER;
    if (!entry->costed) {
        trv_cost_t cost;
        if (trv_cost_measure(entry->schedule, &cost) == TRV_OK) {
            for (int t = 0; t < cost.steps; t++)
                entry->load += cost.step[t].link_fraction;
            trv_cost_clear(&cost);
        }
        entry->costed = true;
    }
    return entry->steps * network.alpha_ns + entry->load * (double)bytes * 8e9 / network.bandwidth_bps;
}

static bool is_candidate(const trv_algorithm_t *algorithm, const char *setting)
{
    if (strcmp(setting, TRV_MPI_AUTO) == 0)
        return strncmp(trv_algorithm_name(algorithm), "trivance", strlen("trivance")) == 0;
    return strcmp(trv_algorithm_name(algorithm), setting) == 0 || strcmp(trv_algorithm_family(algorithm), setting) == 0;
}

/* The best of a setting's candidates; NULL if none serves. */
static int choose_best(trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *setting,
                       trv_mpi_schedule_t **best)
{
    size_t bytes = trv_mpi_vector_bytes(state, want);
    *best = NULL;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (!is_candidate(algorithm, setting) ||
            trv_algorithm_supports(algorithm, &state->torus, want->collective) != TRV_OK)
            continue;
        trv_mpi_schedule_t *entry;
        int code = trv_mpi_state_schedule(state, algorithm, want->collective, &entry);
        if (code < 0)
            return code;
        bool by_name = strcmp(trv_algorithm_name(algorithm), setting) == 0;
        if (!is_right(entry, want, by_name))
            continue;
        if (by_name) {
            *best = entry;
            return TRV_OK;
        }
        if (!*best || time_ns(entry, bytes) < time_ns(*best, bytes))
            *best = entry;
    }
    return TRV_OK;
}

static int choose_in_rank_order(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_schedule_t **entry,
                                const char **why)
{
    *entry = NULL;
    *why = "the operation does not commute, and the vectors are not small";
    const trv_algorithm_t *algorithm = trv_algorithm_find(IN_RANK_ORDER);
    size_t bytes = trv_mpi_vector_bytes(state, want) * (size_t)state->ranks;
    if (!algorithm || bytes > IN_RANK_ORDER_BYTES_MAX ||
        trv_algorithm_supports(algorithm, &state->torus, want->collective) != TRV_OK)
        return TRV_OK;
    *why = "the operation does not commute: added in rank order";
    return trv_mpi_state_schedule(state, algorithm, want->collective, entry);
}

int trv_mpi_choose(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_schedule_t **entry, const char **why)
{
    *entry = NULL;
    *why = want->elements.reason;
    if (want->elements.way == TRV_MPI_LIBRARY)
        return TRV_OK;
    if (!want->elements.commutative)
        return choose_in_rank_order(state, want, entry, why);
    bool automatic = strcmp(state->algorithm, TRV_MPI_AUTO) == 0;
    *why = automatic ? "the fastest by the cost model" : "as set";
    int code = choose_best(state, want, state->algorithm, entry);
    if (code == TRV_OK && !*entry && !automatic) {
        *why = "what is set does not serve this collective or is not right for this operation; the fastest by the cost "
               "model";
        code = choose_best(state, want, TRV_MPI_AUTO, entry);
    }
    if (code == TRV_OK && !*entry)
        *why = "no algorithm serves it";
    return code;
}
