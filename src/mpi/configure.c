/*
 * The torus and the algorithm of a communicator: TRV_Comm_set, then the environment, then the communicator's topology.
 *
 * What the environment asks for must fit communicators as large as MPI_COMM_WORLD; a smaller one that it does not fit
 * is served as if nothing were set, and TRIVANCE_DEBUG=info says so.
 */
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "mpi/operation.h"
#include "mpi/settings.h"
#include "mpi/state.h"

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

/* Takes the first torus of the comma-separated list that has the right number of ranks. 1 if there is one, 0 if not. */
static int torus_from_list(const trv_mpi_state_t *state, const char *list, const char *what, trv_torus_t *torus)
{
    for (const char *at = list; ; at++) {
        char item[TRV_TORUS_TEXT_MAX];
        size_t length = strcspn(at, ",");
        if (length >= sizeof item)
            return trv_fail(TRV_ERR_ARGUMENT, "%s: '%.40s…' is too long for a torus; write 9 or 3x3", what, at);
        memcpy(item, at, length);
        item[length] = '\0';
        trv_torus_t read;
        if (trv_torus_parse(item, &read) < 0)
            return trv_fail(TRV_ERR_ARGUMENT, "%s: %s", what, trv_last_error());
        if (read.ranks == state->ranks) {
            *torus = read;
            return 1;
        }
        at += length;
        if (!*at)
            return 0;
    }
}

/* The communicator's own topology, if it is Cartesian and periodic all round. */
static bool torus_from_topology(const trv_mpi_state_t *state, trv_torus_t *torus)
{
    int kind = MPI_UNDEFINED, dims = 0;
    if (PMPI_Topo_test(state->user, &kind) != MPI_SUCCESS || kind != MPI_CART ||
        PMPI_Cartdim_get(state->user, &dims) != MPI_SUCCESS || dims < 1 || dims > TRV_DIMS_MAX)
        return false;
    int size[TRV_DIMS_MAX], periodic[TRV_DIMS_MAX], place[TRV_DIMS_MAX];
    if (PMPI_Cart_get(state->user, dims, size, periodic, place) != MPI_SUCCESS)
        return false;
    for (int d = 0; d < dims; d++)
        if (!periodic[d] && size[d] > 2)
            return false;
    return trv_torus_init(torus, dims, size) == TRV_OK;
}

static int default_torus(const trv_mpi_state_t *state, trv_torus_t *torus)
{
    const char *wanted = trv_mpi_settings()->torus;
    if (wanted) {
        int found = torus_from_list(state, wanted, "TRIVANCE_TORUS", torus);
        if (found != 0)
            return found < 0 ? found : TRV_OK;
        if (as_large_as_world(state))
            return trv_fail(TRV_ERR_ARGUMENT, "TRIVANCE_TORUS=%.80s has no torus of %d ranks; the product of its sizes "
                            "must be the number of ranks", wanted, state->ranks);
        say(state, "no torus of TRIVANCE_TORUS has as many ranks; a ring");
    }
    if (torus_from_topology(state, torus))
        return TRV_OK;
    return trv_torus_init(torus, 1, &state->ranks);
}

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

/* ---- Algorithm --------------------------------------------------------------------------------------------------- */

/* 0 if `name` is auto, or an algorithm or a family with a member that serves AllReduce on the torus. */
static int algorithm_serves(const trv_torus_t *torus, const char *name)
{
    if (strcmp(name, TRV_MPI_AUTO) == 0)
        return TRV_OK;
    bool family = false;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        bool named = strcmp(trv_algorithm_name(algorithm), name) == 0;
        if (!named && strcmp(trv_algorithm_family(algorithm), name) != 0)
            continue;
        family = true;
        if (trv_algorithm_supports(algorithm, torus, TRV_ALLREDUCE) == TRV_OK)
            return TRV_OK;
        if (named)
            break;
    }
    if (family)
        return TRV_ERR_UNSUPPORTED; /* the sentence is the algorithm's own */
    if (strlen(name) >= TRV_MPI_NAME_MAX || !trv_algorithm_find(name))
        return TRV_ERR_ARGUMENT;
    return TRV_OK;
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
    trv_torus_t torus = {0};
    bool by_name = algorithm != NULL;
    if (trv_mpi_settings()->fault && (!torus_text || !algorithm))
        return trv_mpi_class(trv_fail(TRV_ERR_ARGUMENT, "%s", trv_mpi_settings()->fault));
    int code = torus_text ? given_torus(state, torus_text, &torus) : default_torus(state, &torus);
    if (code == TRV_OK)
        code = algorithm ? algorithm_serves(&torus, algorithm) : default_algorithm(state, &torus, &algorithm);
    if (code < 0)
        return trv_mpi_class(code);
    trv_mpi_cache_clear(state);
    state->torus = torus;
    state->named = by_name && strcmp(algorithm, TRV_MPI_AUTO) != 0;
    snprintf(state->algorithm, sizeof state->algorithm, "%s", algorithm);
    state->configured = true;
    return MPI_SUCCESS;
}
