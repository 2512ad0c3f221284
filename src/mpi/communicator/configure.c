/*
 * The torus and the algorithm of a communicator: TRV_Comm_set, then what the environment and MPI know (wiring.h).
 *
 * Where no torus is known, or the communicator is no part of it that is a torus, the API takes a ring and the drop-in
 * leaves the communicator to the MPI library unless an algorithm is asked for by name. For AllReduce on a set of nodes
 * both look for a plan first (selection/nodes.h). What the environment asks for
 * must fit communicators as large as MPI_COMM_WORLD; a smaller one that it does not fit is served as if nothing were
 * set, and TRIVANCE_DEBUG=info says so.
 */
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "mpi/communicator/state.h"
#include "mpi/reports/log.h"
#include "mpi/reports/settings.h"

bool trv_mpi_state_spans_world(const trv_mpi_state_t *state)
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
    state->network = (trv_network_t){TRV_NETWORK, .torus = *torus};
    state->serves = true;
    snprintf(state->why, sizeof state->why, "the torus is set");
    state->shared_port = 0;
    state->member = state->members->of;
    state->name = state->site = NULL;
    state->place = state->rank;
    state->node = NULL;
}

static void take_wiring(trv_mpi_state_t *state, const trv_torus_t *torus)
{
    const trv_mpi_wiring_t *wiring = state->members->wiring;
    take_given(state, torus);
    state->serves = wiring->known == TRV_MPI_FITS || !trv_mpi_is_drop_in();
    state->unable = wiring->known == TRV_MPI_FAILED;
    snprintf(state->why, sizeof state->why, "%s", wiring->why);
    if (!trv_mpi_wiring_has_fit(wiring))
        return;
    state->network = wiring->fit.network;
    state->shared_port = wiring->fit.shared_port;
    state->member = wiring->member;
    state->name = wiring->in_order ? NULL : wiring->fit.member;
    state->site = wiring->fit.site;
    state->place = wiring->place;
    state->node = wiring->node;
}

/* What the environment and MPI know, or a ring. */
static int default_torus(const trv_mpi_state_t *state, trv_torus_t *torus)
{
    const trv_mpi_wiring_t *wiring = state->members->wiring;
    if (trv_mpi_wiring_has_fit(wiring)) {
        *torus = wiring->fit.network.torus;
        return TRV_OK;
    }
    if (wiring->known == TRV_MPI_WRONG && trv_mpi_is_drop_in())
        trv_mpi_refuse(state->rank, "%s", wiring->why);
    else if (wiring->known == TRV_MPI_WRONG && trv_mpi_state_spans_world(state))
        return trv_fail(TRV_ERR_ARGUMENT, "%s", wiring->why);
    else if (wiring->known == TRV_MPI_WRONG || wiring->known == TRV_MPI_MISFITS)
        say(state, wiring->why);
    return trv_torus_init(torus, 1, &state->ranks);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

int trv_mpi_state_configure(trv_mpi_state_t *state, const char *torus_text, const char *algorithm)
{
    trv_torus_t torus = {0};
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    bool named = algorithm && strcmp(algorithm, TRV_MPI_AUTO) != 0;
    if (!trv_mpi_is_drop_in() && settings->fault && (!torus_text || !algorithm))
        return trv_mpi_class(trv_fail(TRV_ERR_ARGUMENT, "%s", settings->fault));
    int code = torus_text ? given_torus(state, torus_text, &torus) : default_torus(state, &torus);
    if (code < 0)
        return trv_mpi_class(code);
    if (state->kept)
        trv_mpi_state_clear(state);
    if (torus_text)
        take_given(state, &torus);
    else
        take_wiring(state, &torus);
    if (!algorithm)
        algorithm = settings->algorithm ? settings->algorithm : TRV_MPI_AUTO;
    state->named = named;
    snprintf(state->algorithm, sizeof state->algorithm, "%s", algorithm);
    state->configured = true;
    return MPI_SUCCESS;
}
