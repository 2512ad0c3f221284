/*
 * From places to a torus. First found wins: a torus of TRIVANCE_TORUS that is meant for communicators of this size, the
 * places of TRIVANCE_TOPOLOGY_FILE or TRIVANCE_TORUS, the communicator's own Cartesian topology.
 */
#include "mpi/wiring.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/call.h"
#include "mpi/settings.h"
#include "mpi/topology.h"

static void conclude(trv_mpi_wiring_t *wiring, trv_mpi_known_t known, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void conclude(trv_mpi_wiring_t *wiring, trv_mpi_known_t known, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wiring->why, sizeof wiring->why, format, arguments);
    va_end(arguments);
    wiring->known = known;
}

/* A torus whose ranks are numbered as those of the communicator. */
static void take_in_order(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state, const trv_torus_t *torus,
                          const char *source)
{
    trv_mpi_fit_clear(&wiring->fit); /* of places that made no torus */
    wiring->fit = (trv_mpi_fit_t){.torus = *torus, .ranks_per_place = 1};
    wiring->place = state->rank;
    wiring->in_order = true;
    conclude(wiring, TRV_MPI_FITS, "the torus is by %s", source);
}

/* ---- By size ----------------------------------------------------------------------------------------------------- */

/* In a list with a torus for MPI_COMM_WORLD another one is for all communicators of its size, whoever is in them. */
static bool by_size(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    trv_torus_t torus;
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings->topology_file || !settings->torus || state->ranks == ranks ||
        !trv_mpi_torus_from_list(settings->torus, ranks, &torus) ||
        !trv_mpi_torus_from_list(settings->torus, state->ranks, &torus))
        return false;
    take_in_order(wiring, state, &torus, "TRIVANCE_TORUS");
    return true;
}

/* ---- By places --------------------------------------------------------------------------------------------------- */

static int index_of(const trv_mpi_fit_t *fit, const int *place, int rank)
{
    int at = 0; /* places ascend */
    while (place[fit->member[at]] != place[rank])
        at++;
    return at;
}

/* The node of this rank; the other ranks of the communicator make theirs. No plan ever takes the last tag. */
static int make_node(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state, const int *place, int *member)
{
    trv_mpi_node_place_t where = {.comm = state->comm, .tag = state->tags.limit - 1, .member = member};
    for (int r = 0; r < state->ranks; r++)
        if (place[r] == place[state->rank]) {
            where.rank = r == state->rank ? where.ranks : where.rank;
            member[where.ranks++] = r;
        }
    int code = trv_mpi_node_create(&wiring->node, &where);
    uint64_t able = code == TRV_OK;
    if (trv_mpi_least(state->comm, &able, 1) == MPI_SUCCESS && able)
        return TRV_OK;
    trv_mpi_node_destroy(wiring->node);
    wiring->node = NULL;
    return code < 0 ? code : trv_fail(TRV_ERR_UNSUPPORTED, "the ranks of another node share no memory");
}

/* `room`: whether this rank had memory so far; where one has not, all fail. */
static int fit_places(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state, const trv_mpi_places_t *places, bool room)
{
    trv_mpi_fit_t *fit = &wiring->fit;
    int code = trv_mpi_fit_init(fit, &places->torus, places->one_way, places->shared_port, places->place, state->ranks);
    int *member = code == TRV_OK ? malloc((size_t)fit->ranks_per_place * sizeof *member) : NULL;
    uint64_t able = room && code != TRV_ERR_MEMORY && (code < 0 || member);
    if (trv_mpi_least(state->comm, &able, 1) != MPI_SUCCESS || !able) {
        trv_mpi_fit_clear(fit);
        code = trv_fail_memory();
    } else if (code == TRV_OK && fit->torus.ranks == 1 && trv_mpi_is_drop_in()) {
        code = trv_fail(TRV_ERR_UNSUPPORTED, "its ranks are all on one node, so there is no torus between them");
    }
    if (code < 0) {
        free(member);
        return code;
    }
    wiring->place = index_of(fit, places->place, state->rank);
    wiring->in_order = fit->ranks_per_place == 1;
    for (int p = 0; wiring->in_order && p < fit->torus.ranks; p++)
        wiring->in_order = fit->member[p] == p;
    code = fit->ranks_per_place > 1 ? make_node(wiring, state, places->place, member) : TRV_OK;
    free(member);
    return code;
}

static void by_places(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state, bool room)
{
    trv_mpi_places_t places;
    int code = trv_mpi_places(state->comm, &places);
    if (code == 0) {
        conclude(wiring, TRV_MPI_UNKNOWN, "no torus is known");
        return;
    }
    if (code < 0) {
        bool right = code == TRV_ERR_STATE || code == TRV_ERR_UNSUPPORTED;
        conclude(wiring, right ? TRV_MPI_MISFITS : TRV_MPI_WRONG, "%s", trv_last_error());
        return;
    }
    code = fit_places(wiring, state, &places, room);
    free(places.place);
    if (code < 0)
        conclude(wiring, TRV_MPI_MISFITS, "%s", trv_last_error());
    else
        conclude(wiring, TRV_MPI_FITS, "the torus is by %s", places.source);
}

/* ---- By the communicator ----------------------------------------------------------------------------------------- */

/* Stencil codes make periodic grids on any network, so the drop-in believes them only when it is told to. */
static bool believes_cartesian(void)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    bool by_name = settings->algorithm && strcmp(settings->algorithm, TRV_MPI_AUTO) != 0;
    return !trv_mpi_is_drop_in() || settings->cart || by_name;
}

/* The communicator's own topology, if it is Cartesian and periodic all round. */
static void by_cartesian(trv_mpi_wiring_t *wiring, const trv_mpi_state_t *state)
{
    int kind = MPI_UNDEFINED, dims = 0;
    if (!believes_cartesian() || PMPI_Topo_test(state->user, &kind) != MPI_SUCCESS || kind != MPI_CART ||
        PMPI_Cartdim_get(state->user, &dims) != MPI_SUCCESS || dims < 1 || dims > TRV_DIMS_MAX)
        return;
    int size[TRV_DIMS_MAX], periodic[TRV_DIMS_MAX], place[TRV_DIMS_MAX];
    trv_torus_t torus;
    if (PMPI_Cart_get(state->user, dims, size, periodic, place) != MPI_SUCCESS)
        return;
    for (int d = 0; d < dims; d++)
        if (!periodic[d] && size[d] > 2)
            return;
    if (trv_torus_init(&torus, dims, size) < 0)
        return;
    take_in_order(wiring, state, &torus, "the Cartesian communicator");
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

trv_mpi_wiring_t *trv_mpi_wiring_create(const trv_mpi_state_t *state)
{
    trv_mpi_wiring_t spare = {.place = 0}, *wiring = calloc(1, sizeof *wiring);
    trv_mpi_wiring_t *result = wiring ? wiring : &spare; /* the others wait for this rank's part in any case */
    if (!by_size(result, state))
        by_places(result, state, wiring != NULL);
    if (result->known == TRV_MPI_UNKNOWN || (result->known == TRV_MPI_MISFITS && !trv_mpi_is_drop_in()))
        by_cartesian(result, state);
    if (!wiring)
        trv_fail_memory();
    return wiring;
}

void trv_mpi_wiring_destroy(trv_mpi_wiring_t *wiring)
{
    if (!wiring)
        return;
    trv_mpi_node_destroy(wiring->node);
    trv_mpi_fit_clear(&wiring->fit);
    free(wiring);
}

const char *trv_mpi_wiring_refuses(const trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    if (!state->node && !state->member)
        return NULL;
    if (want->collective != TRV_ALLREDUCE)
        return state->node ? "several ranks share every node, which is for AllReduce only"
                           : "the torus numbers the ranks in another order than the communicator, which is for "
                             "AllReduce only";
    if (!want->elements.commutative)
        return "the operation does not commute, and the torus numbers the ranks in another order";
    if (state->node && want->elements.size > TRV_MPI_NODE_CHUNK_BYTES)
        return "an element is larger than a chunk of the memory that the ranks of a node share";
    return NULL;
}
