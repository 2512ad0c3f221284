/*
 * The torus and the algorithm of a communicator: TRV_Comm_set, then what the environment and MPI know (wiring.h).
 *
 * Where no torus is known, or the communicator is no part of it that is a torus, the API takes a ring and the drop-in
 * leaves the communicator to the MPI library unless an algorithm is asked for by name. What the environment asks for
 * must fit communicators as large as MPI_COMM_WORLD; a smaller one that it does not fit is served as if nothing were
 * set, and TRIVANCE_DEBUG=info says so.
 */
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "mpi/operation.h"
#include "mpi/planned.h"
#include "mpi/report.h"
#include "mpi/reports/recorder.h"
#include "mpi/reports/settings.h"
#include "mpi/state.h"
#include "mpi/wiring.h"

static bool as_large_as_world(const trv_mpi_state_t *state)
{
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return state->ranks >= ranks;
}

static void say(const trv_mpi_state_t *state, const char *text)
{
    if (trv_mpi_settings()->info && state->rank == 0)
        trv_mpi_say("communicator of %d ranks: %s", state->ranks, text);
}

/* ---- Torus ------------------------------------------------------------------------------------------------------- */

static int given_torus(const trv_mpi_state_t *state, const char *text, trv_torus_t *torus)
{
    int code = trv_torus_parse(text, torus);
    if (code == TRV_OK && torus->ranks != state->ranks)
        code = trv_fail(TRV_ERR_ARGUMENT,
                        "the torus %.80s has %d ranks, the communicator has %d; the product of the sizes "
                        "must be the number of ranks",
                        text, torus->ranks, state->ranks);
    return code;
}

/* What TRV_Comm_set says: ranks in their own order, one at every place. */
static void take_given(trv_mpi_state_t *state, const trv_torus_t *torus)
{
    state->torus = *torus;
    state->serves = true;
    snprintf(state->why, sizeof state->why, "the torus is set");
    state->one_way = state->shared_port = 0;
    state->member = NULL;
    state->place = state->rank;
    state->node = NULL;
}

static void take_wiring(trv_mpi_state_t *state, const trv_torus_t *torus)
{
    const trv_mpi_wiring_t *wiring = state->wiring;
    take_given(state, torus);
    state->serves = wiring->known == TRV_MPI_FITS || !trv_mpi_is_drop_in();
    snprintf(state->why, sizeof state->why, "%s", wiring->why);
    if (wiring->known != TRV_MPI_FITS)
        return;
    state->one_way = wiring->fit.one_way;
    state->shared_port = wiring->fit.shared_port;
    state->member = wiring->in_order ? NULL : wiring->fit.member;
    state->place = wiring->place;
    state->node = wiring->node;
}

/* What the environment and MPI know, or a ring. Found once; later settings come back to it. */
static int default_torus(trv_mpi_state_t *state, trv_torus_t *torus)
{
    if (!state->wiring)
        state->wiring = trv_mpi_wiring_create(state);
    const trv_mpi_wiring_t *wiring = state->wiring;
    if (!wiring)
        return TRV_ERR_MEMORY;
    if (wiring->known == TRV_MPI_FITS) {
        *torus = wiring->fit.torus;
        return TRV_OK;
    }
    if (wiring->known == TRV_MPI_WRONG && trv_mpi_is_drop_in())
        trv_mpi_refuse(state->rank, "%s", wiring->why);
    else if (wiring->known == TRV_MPI_WRONG && as_large_as_world(state))
        return trv_fail(TRV_ERR_ARGUMENT, "%s", wiring->why);
    else if (wiring->known != TRV_MPI_UNKNOWN)
        say(state, wiring->why);
    return trv_torus_init(torus, 1, &state->ranks);
}

/* ---- Algorithm --------------------------------------------------------------------------------------------------- */

/* 0 if `name` is auto, planned, an algorithm that serves AllReduce on the torus or a family with a member that does;
 * else TRV_ERR_ARGUMENT for what is no name, or TRV_ERR_UNSUPPORTED with the algorithm's own sentence. */
static int algorithm_serves(const trv_torus_t *torus, const char *name)
{
    int code = trv_rules_check_algorithm(name);
    if (code < 0 || strcmp(name, TRV_MPI_AUTO) == 0 || strcmp(name, TRV_RULE_PLANNED) == 0)
        return code;
    bool family = false;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (strcmp(trv_algorithm_name(algorithm), name) == 0 || strcmp(trv_algorithm_family(algorithm), name) != 0)
            continue;
        family = true;
        if (trv_algorithm_supports(algorithm, torus, TRV_ALLREDUCE) == TRV_OK)
            return TRV_OK;
    }
    trv_schedule_t *schedule = NULL;
    code = family ? TRV_ERR_UNSUPPORTED : trv_schedule_create(&schedule, torus, name, TRV_ALLREDUCE);
    trv_schedule_destroy(schedule);
    return code;
}

static int default_algorithm(const trv_mpi_state_t *state, const trv_torus_t *torus, const char **name)
{
    *name = trv_mpi_settings()->algorithm ? trv_mpi_settings()->algorithm : TRV_MPI_AUTO;
    int code = algorithm_serves(torus, *name);
    if (code == TRV_ERR_UNSUPPORTED && !as_large_as_world(state)) {
        say(state, trv_last_error());
        *name = TRV_MPI_AUTO;
        return TRV_OK;
    }
    return code < 0 ? trv_fail(code, "TRIVANCE_ALGORITHM: %s", trv_last_error()) : code;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

int trv_mpi_state_set(trv_mpi_state_t *state, const char *torus_text, const char *algorithm)
{
    char where[TRV_MPI_WHERE_MAX];
    trv_torus_t torus = {0};
    bool by_name = algorithm != NULL;
    if (!trv_mpi_is_drop_in() && trv_mpi_settings()->fault && (!torus_text || !algorithm))
        return trv_mpi_class(trv_fail(TRV_ERR_ARGUMENT, "%s", trv_mpi_settings()->fault));
    int code = torus_text ? given_torus(state, torus_text, &torus) : default_torus(state, &torus);
    if (code == TRV_OK)
        code = algorithm ? algorithm_serves(&torus, algorithm) : default_algorithm(state, &torus, &algorithm);
    if (code < 0)
        return trv_mpi_class(code);
    trv_mpi_cache_clear(state);
    trv_mpi_planned_clear(state);
    if (torus_text)
        take_given(state, &torus);
    else
        take_wiring(state, &torus);
    state->named = by_name && strcmp(algorithm, TRV_MPI_AUTO) != 0;
    snprintf(state->algorithm, sizeof state->algorithm, "%s", algorithm);
    state->configured = true;
    if (state->recorder)
        trv_mpi_recorder_rename(state->recorder, trv_mpi_report_where(state, where));
    return MPI_SUCCESS;
}
