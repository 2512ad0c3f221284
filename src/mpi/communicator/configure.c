/*
 * Selects the torus and the algorithm of a communicator: those of TRV_Comm_set, otherwise those of the environment and
 * of MPI (wiring.h).
 *
 * If no torus is known, or the ranks of the communicator do not form a torus in it, the API uses a ring, and the
 * drop-in falls back to the MPI library unless an algorithm is requested by name. For an AllReduce on a set of nodes,
 * the API and the drop-in first try a plan for these nodes (selection/node_sets.h). The torus of the environment must
 * fit communicators as large as MPI_COMM_WORLD. A smaller communicator that it does not fit is treated as if no torus
 * were set, which TRIVANCE_DEBUG=info logs.
 */
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "collective/algorithm_names.h"
#include "algorithms/family.h"
#include "base/error.h"
#include "mpi/communicator/state.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"
#include "schedule/collective.h"
#include "settings/rules.h"

bool trv_mpi_state_spans_world(const trv_mpi_state_t *state)
{
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return state->ranks >= ranks;
}

static void log_info(const trv_mpi_state_t *state, const char *text)
{
    char label[TRV_MPI_LABEL_MAX];
    if (trv_mpi_settings()->info && state->rank == 0)
        trv_mpi_log_line("%s: %s", trv_mpi_state_label(state, label), text);
}

/* ---- Torus ------------------------------------------------------------------------------------------------------- */

int trv_mpi_state_torus(const trv_mpi_state_t *state, const char *text, trv_torus_t *torus)
{
    int code = trv_torus_parse(text, torus);
    if (code == TRV_OK && torus->ranks != state->ranks)
        code = trv_fail(TRV_ERR_ARGUMENT,
                        "the torus %.80s has %d ranks, the communicator has %d; the product of the sizes "
                        "must be the number of ranks",
                        text, torus->ranks, state->ranks);
    return code;
}

/* Applies the torus of TRV_Comm_set: one rank per coordinate, in the order of the ranks. */
static void set_given_torus(trv_mpi_state_t *state, const trv_torus_t *torus)
{
    state->config.network = (trv_network_t){TRV_NETWORK, .torus = *torus};
    state->config.torus_known = true;
    snprintf(state->config.reason, sizeof state->config.reason, "the torus is set");
    state->config.shared_port = 0;
    state->config.member = state->members->of;
    state->config.comm_rank = state->config.machine_node = NULL;
    state->config.coordinate = state->rank;
    state->config.node = NULL;
}

/* Applies the network that the environment and MPI define, or a ring. */
static void set_wiring(trv_mpi_state_t *state, const char *algorithm)
{
    const trv_mpi_wiring_t *wiring = state->members->wiring;
    trv_network_t network;
    const int code = trv_mpi_state_network(state, algorithm, &network);
    const bool ring = wiring->grid && network.torus.lines == 0;
    set_given_torus(state, &network.torus);
    state->config.torus_known = (wiring->status == TRV_MPI_WIRING_TORUS && !ring) || !trv_mpi_is_drop_in();
    state->config.out_of_memory = wiring->status == TRV_MPI_WIRING_FAILED || code < 0;
    snprintf(
        state->config.reason, sizeof state->config.reason, "%s",
        code < 0 ? trv_last_error()
        : ring
            ? "a ring of its ranks, because the named algorithm does not support the mesh of the Cartesian communicator"
            : wiring->reason);
    if (!trv_mpi_wiring_has_fit(wiring) || ring)
        return;
    state->config.network = network;
    state->config.shared_port = wiring->fit.shared_port;
    state->config.member = wiring->member;
    state->config.comm_rank = wiring->in_order ? NULL : wiring->fit.member;
    state->config.machine_node = wiring->fit.machine_node;
    state->config.coordinate = wiring->coordinate;
    state->config.node = wiring->node;
}

/* Reports a torus of the environment that is invalid or does not fit. Returns TRV_OK if set_wiring may be called, else
 * TRV_ERR_ARGUMENT. */
static int check_wiring(const trv_mpi_state_t *state)
{
    const trv_mpi_wiring_t *wiring = state->members->wiring;
    if (wiring->status == TRV_MPI_WIRING_INVALID && trv_mpi_is_drop_in())
        trv_mpi_log_fallback(state->rank, "%s", wiring->reason);
    else if (wiring->status == TRV_MPI_WIRING_INVALID && trv_mpi_state_spans_world(state))
        return trv_fail(TRV_ERR_ARGUMENT, "%s", wiring->reason);
    else if (wiring->status == TRV_MPI_WIRING_INVALID || wiring->status == TRV_MPI_WIRING_MISFIT)
        log_info(state, wiring->reason);
    return TRV_OK;
}

/* ---- Algorithm --------------------------------------------------------------------------------------------------- */

static int check_collective(const trv_network_t *network, const char *name, trv_collective_t collective)
{
    trv_schedule_t *schedule = NULL;
    int code = trv_schedule_create_on(&schedule, network, name, collective, 0);
    trv_schedule_destroy(schedule);
    return code;
}

/* TRV_OK if the algorithm supports a collective on the network; otherwise the error is that of AllReduce. */
static int check_schedule(const trv_network_t *network, const char *name)
{
    int code = TRV_ERR_UNSUPPORTED;
    for (int c = 0; c < TRV_COLLECTIVES && code == TRV_ERR_UNSUPPORTED; c++)
        code = check_collective(network, name, (trv_collective_t)c);
    return code == TRV_ERR_UNSUPPORTED ? check_collective(network, name, TRV_ALLREDUCE) : code;
}

int trv_mpi_algorithm_fits(const trv_network_t *network, const char *name)
{
    int code = trv_algorithm_check(name);
    if (code < 0 || strcmp(name, TRV_RULE_AUTO) == 0 || strcmp(name, TRV_RULE_PLANNED) == 0)
        return code;
    const trv_algorithm_t *member[TRV_FAMILY_MAX];
    const int members = trv_is_family(name) ? trv_family_members(name, member) : 0;
    code = members ? TRV_ERR_UNSUPPORTED : check_schedule(network, name);
    for (int i = 0; i < members && code == TRV_ERR_UNSUPPORTED; i++)
        code = check_schedule(network, trv_algorithm_name(member[i]));
    return code;
}

int trv_mpi_state_network(const trv_mpi_state_t *state, const char *algorithm, trv_network_t *network)
{
    const trv_mpi_wiring_t *wiring = state->members->wiring;
    int code = TRV_OK;
    *network = (trv_network_t){TRV_NETWORK};
    if (trv_mpi_wiring_has_fit(wiring))
        *network = wiring->fit.network;
    if (wiring->grid && algorithm)
        code = trv_mpi_algorithm_fits(network, algorithm);
    if (code == TRV_ERR_UNSUPPORTED || !trv_mpi_wiring_has_fit(wiring))
        code = trv_torus_init(&network->torus, 1, &state->ranks);
    return code == TRV_ERR_MEMORY ? code : TRV_OK;
}

/* ---- Configuration ----------------------------------------------------------------------------------------------- */

int trv_mpi_state_configure(trv_mpi_state_t *state, const char *torus_text, const char *algorithm)
{
    trv_torus_t torus = {0};
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    bool named = algorithm && strcmp(algorithm, TRV_RULE_AUTO) != 0;
    if (!trv_mpi_is_drop_in() && settings->fault && (!torus_text || !algorithm))
        return trv_mpi_class(trv_fail(TRV_ERR_ARGUMENT, "%s", settings->fault));
    int code = torus_text ? trv_mpi_state_torus(state, torus_text, &torus) : check_wiring(state);
    if (code < 0)
        return trv_mpi_class(code);
    trv_cache_clear(&state->roots);
    trv_cache_clear(&state->decisions);
    if (!algorithm)
        algorithm = settings->algorithm ? settings->algorithm : TRV_RULE_AUTO;
    if (torus_text)
        set_given_torus(state, &torus);
    else
        set_wiring(state, algorithm);
    state->config.algorithm_named = named;
    snprintf(state->config.algorithm, sizeof state->config.algorithm, "%s", algorithm);
    state->config.configured = true;
    return MPI_SUCCESS;
}
