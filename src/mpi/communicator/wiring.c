/*
 * Finds the network of a communicator. The sources, in the order of precedence: a torus in TRIVANCE_TORUS for
 * communicators of this size; the coordinates by TRIVANCE_TOPOLOGY_FILE, TRIVANCE_TORUS, or what Slurm, Fujitsu MPI or
 * PMIx reports; the communicator's Cartesian topology.
 */
#include "mpi/communicator/wiring.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/error.h"
#include "base/number.h"
#include "mpi/communicator/world.h"
#include "mpi/settings/job_settings.h"

static void wiring_set(trv_mpi_wiring_t *wiring, trv_mpi_wiring_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void wiring_set(trv_mpi_wiring_t *wiring, trv_mpi_wiring_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(wiring->reason, sizeof wiring->reason, format, arguments);
    va_end(arguments);
    wiring->status = status;
}

/* Sets a torus whose ranks are numbered like those of the communicator. */
static void set_in_order(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members, const trv_torus_t *torus,
                         const char *source)
{
    trv_mpi_fit_clear(&wiring->fit); /* by_coordinates may have set it */
    wiring->fit = (trv_mpi_fit_t){.network = {TRV_NETWORK, .torus = *torus}, .ranks_per_coordinate = 1};
    wiring->coordinate = members->rank;
    wiring->in_order = true;
    wiring_set(wiring, TRV_MPI_WIRING_TORUS, "the torus is from %s", source);
}

/* ---- By size ----------------------------------------------------------------------------------------------------- */

/* If TRIVANCE_TORUS lists a torus for MPI_COMM_WORLD, each other torus in it applies to every communicator of its size,
 * whichever ranks that has. Returns whether one was found. */
static bool by_size(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    trv_torus_t torus;
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings->topology_file || !settings->torus || members->ranks == ranks ||
        trv_torus_from_list(settings->torus, ranks, &torus) <= 0 ||
        trv_torus_from_list(settings->torus, members->ranks, &torus) <= 0)
        return false;
    set_in_order(wiring, members, &torus, "TRIVANCE_TORUS");
    return true;
}

/* ---- By coordinates ---------------------------------------------------------------------------------------------- */

/* Compares the topology records of all ranks and stores their coordinates in `coordinate`. Returns, the same on all
 * ranks, 1 if the network is known, 0 if none is set, or an error code with the message in trv_last_error(). */
static int compare_records(const trv_mpi_members_t *members, const trv_mpi_topology_record_t *record, int *coordinate)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    for (int r = 0; r < members->ranks; r++) {
        if (record[r].code == TRV_ERR_STATE)
            return trv_fail(TRV_ERR_STATE,
                            trv_mpi_settings()->torus
                                ? "TRIVANCE_TORUS is a torus of nodes, which the first collective on MPI_COMM_WORLD "
                                  "finds; there was none yet"
                                : "the coordinates of the ranks are found by the first collective on MPI_COMM_WORLD; "
                                  "there was none yet");
        if (record[r].code < 0)
            return trv_fail(record[r].code, "%s",
                            world && world->code < 0 ? world->fault
                                                     : "a rank of the communicator has no coordinate in the topology");
        if (record[r].digest != record[0].digest || record[r].code != record[0].code)
            return trv_fail(TRV_ERR_INVALID,
                            "rank %d of the communicator has a different topology from rank 0; TRIVANCE_TOPOLOGY_FILE "
                            "and TRIVANCE_TORUS must be the same on all ranks",
                            r);
        coordinate[r] = record[r].coordinate;
    }
    return record[0].code;
}

static bool has_duplicates(const int *coordinate, int ranks, int *sorted)
{
    memcpy(sorted, coordinate, (size_t)ranks * sizeof *sorted);
    qsort(sorted, (size_t)ranks, sizeof *sorted, trv_compare_int);
    for (int r = 1; r < ranks; r++)
        if (sorted[r] == sorted[r - 1])
            return true;
    return false;
}

static int index_of(const trv_mpi_fit_t *fit, const int *coordinate, int rank)
{
    int at = 0; /* linear search: the coordinates in fit->member are not sorted */
    while (coordinate[fit->member[at]] != coordinate[rank])
        at++;
    return at;
}

/* Stores the ranks that share this rank's coordinate, ascending, in `neighbour`, and returns their number. *mine: this
 * rank's index among them. */
static int find_neighbours(const trv_mpi_members_t *members, const int *coordinate, int *neighbour, int *mine)
{
    int found = 0;
    for (int r = 0; r < members->ranks; r++) {
        if (coordinate[r] != coordinate[members->rank])
            continue;
        *mine = r == members->rank ? found : *mine;
        neighbour[found++] = trv_mpi_member(members, r);
    }
    return found;
}

/* The ranks that share a coordinate create a node. Collective over these, so it precedes all steps that can fail on a
 * single rank. TRV_OK, or TRV_ERR_MEMORY on all ranks of the node with the message in trv_last_error(). */
static int create_node(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members, const int *coordinate,
                       int *neighbour, int tag)
{
    trv_mpi_node_group_t group = {.comm = members->domain->comm, .tag = tag, .member = neighbour};
    group.ranks = find_neighbours(members, coordinate, neighbour, &group.rank);
    /* A rank alone shares no memory. If all ranks are on one node, the drop-in falls back: there is no torus. */
    if (group.ranks == 1 || (group.ranks == members->ranks && trv_mpi_is_drop_in()))
        return TRV_OK;
    int code = trv_mpi_node_create(&wiring->node, &group);
    return code < 0 ? trv_fail(TRV_ERR_MEMORY, "%s", trv_last_error()) : TRV_OK;
}

static int fit_coordinates(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members, const int *coordinate)
{
    const trv_mpi_world_t *world = trv_mpi_world();
    trv_mpi_fit_t *fit = &wiring->fit;
    int code = trv_mpi_fit_init(fit, &world->network, world->shared_port, world->separate, coordinate, members->ranks);
    if (code < 0)
        return code;
    if (fit->network.torus.ranks == 1 && trv_mpi_is_drop_in())
        return trv_fail(TRV_ERR_UNSUPPORTED, "its ranks are all on one node, so there is no torus between them");
    wiring->coordinate = index_of(fit, coordinate, members->rank);
    wiring->in_order = fit->ranks_per_coordinate == 1;
    for (int p = 0; wiring->in_order && p < fit->network.torus.ranks; p++)
        wiring->in_order = fit->member[p] == p;
    if (wiring->node)
        trv_mpi_node_set_layout(wiring->node, wiring->coordinate, fit->network.torus.ranks, fit->rank_at);
    return TRV_OK;
}

static void by_coordinates(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members,
                           const trv_mpi_topology_record_t *record, int tag)
{
    int *coordinate = members->scratch, code = compare_records(members, record, coordinate);
    if (code > 0) {
        wiring->shared = has_duplicates(coordinate, members->ranks, members->scratch + members->ranks);
        code = create_node(wiring, members, coordinate, members->scratch + members->ranks, tag);
    } else if (code == 0) {
        wiring_set(wiring, TRV_MPI_WIRING_UNKNOWN, "no torus is known");
    }
    if (code == TRV_OK && wiring->status == TRV_MPI_WIRING_UNKNOWN && !*wiring->reason)
        code = fit_coordinates(wiring, members, coordinate);
    if (code < 0)
        wiring_set(wiring,
                   code == TRV_ERR_MEMORY                                 ? TRV_MPI_WIRING_FAILED
                   : code == TRV_ERR_STATE || code == TRV_ERR_UNSUPPORTED ? TRV_MPI_WIRING_MISFIT
                                                                          : TRV_MPI_WIRING_INVALID,
                   "%s", trv_last_error());
    else if (!*wiring->reason && wiring->fit.machine_node)
        wiring_set(wiring, TRV_MPI_WIRING_NODES, "%s", wiring->fit.reason);
    else if (!*wiring->reason)
        wiring_set(wiring, TRV_MPI_WIRING_TORUS, "the torus is from %s", trv_mpi_world()->source);
    if (!trv_mpi_wiring_has_fit(wiring)) {
        trv_mpi_node_destroy(wiring->node);
        wiring->node = NULL;
    }
}

/* ---- By the communicator ----------------------------------------------------------------------------------------- */

/* Whether a Cartesian topology counts as the network. Stencil codes create grids on any network, so the drop-in uses
 * them only if TRIVANCE_CART is set or an algorithm is named. */
static bool uses_cartesian(void)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    bool by_name = settings->algorithm && strcmp(settings->algorithm, TRV_RULE_AUTO) != 0;
    return !trv_mpi_is_drop_in() || settings->cart || by_name;
}

/* Uses the communicator's topology, if it is Cartesian; dimensions that are not periodic are lines. The topology must
 * have as many ranks as the communicator, because in Open MPI 4.1 a part of a communicator that MPI_Comm_create_group
 * creates inherits the topology of the whole. */
static void by_cartesian(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members, MPI_Comm user)
{
    int topology = MPI_UNDEFINED, dims = 0;
    if (!uses_cartesian() || PMPI_Topo_test(user, &topology) != MPI_SUCCESS || topology != MPI_CART ||
        PMPI_Cartdim_get(user, &dims) != MPI_SUCCESS || dims < 1 || dims > TRV_DIMS_MAX)
        return;
    int size[TRV_DIMS_MAX], periodic[TRV_DIMS_MAX], coordinate[TRV_DIMS_MAX];
    trv_torus_t torus;
    unsigned lines = 0;
    if (PMPI_Cart_get(user, dims, size, periodic, coordinate) != MPI_SUCCESS)
        return;
    for (int d = 0; d < dims; d++)
        if (!periodic[d] && size[d] > 1)
            lines |= 1u << d;
    if (trv_torus_init(&torus, dims, size) == TRV_OK && torus.ranks == members->ranks &&
        trv_torus_set_lines(&torus, lines) == TRV_OK) {
        set_in_order(wiring, members, &torus, "the Cartesian communicator");
        wiring->grid = lines != 0;
    }
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Sets wiring->member, the rank in the domain at every coordinate; it stays NULL if rank and coordinate are always
 * equal. */
static void set_members(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members)
{
    const int coordinates = wiring->fit.network.torus.ranks, *rank = wiring->fit.member;
    bool same = true;
    for (int p = 0; same && p < coordinates; p++)
        same = trv_mpi_member(members, rank ? rank[p] : p) == p;
    if (same)
        return;
    wiring->member = malloc((size_t)coordinates * sizeof *wiring->member);
    if (!wiring->member)
        wiring_set(wiring, TRV_MPI_WIRING_FAILED, "%s", (trv_fail_memory(), trv_last_error()));
    for (int p = 0; wiring->member && p < coordinates; p++)
        wiring->member[p] = trv_mpi_member(members, rank ? rank[p] : p);
}

void trv_mpi_wiring_init(trv_mpi_wiring_t *wiring, const trv_mpi_members_t *members,
                         const trv_mpi_topology_record_t *record, MPI_Comm user, int tag)
{
    *wiring = (trv_mpi_wiring_t){.status = TRV_MPI_WIRING_UNKNOWN};
    if (!by_size(wiring, members))
        by_coordinates(wiring, members, record, tag);
    if (wiring->status == TRV_MPI_WIRING_UNKNOWN || (wiring->status == TRV_MPI_WIRING_MISFIT && !trv_mpi_is_drop_in()))
        by_cartesian(wiring, members, user);
    if (trv_mpi_wiring_has_fit(wiring))
        set_members(wiring, members);
}

static void wiring_clear(trv_mpi_wiring_t *wiring)
{
    trv_mpi_node_destroy(wiring->node);
    trv_mpi_fit_clear(&wiring->fit);
    free(wiring->member);
    *wiring = (trv_mpi_wiring_t){.status = TRV_MPI_WIRING_UNKNOWN};
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

trv_mpi_members_t *trv_mpi_members_create(int rank, int ranks)
{
    trv_mpi_members_t *members = calloc(1, sizeof *members);
    int *of = malloc((size_t)ranks * sizeof *of), *scratch = malloc(2 * (size_t)ranks * sizeof *scratch);
    trv_mpi_wiring_t *wiring = calloc(1, sizeof *wiring);
    if (!members || !of || !scratch || !wiring) {
        free(members);
        free(of);
        free(scratch);
        free(wiring);
        trv_fail_memory();
        return NULL;
    }
    *members = (trv_mpi_members_t){.rank = rank, .ranks = ranks, .of = of, .scratch = scratch, .wiring = wiring};
    atomic_init(&members->references, 1);
    return members;
}

void trv_mpi_members_hold(trv_mpi_members_t *members)
{
    atomic_fetch_add_explicit(&members->references, 1, memory_order_relaxed);
}

void trv_mpi_members_release(trv_mpi_members_t *members)
{
    if (!members || atomic_fetch_sub_explicit(&members->references, 1, memory_order_acq_rel) > 1)
        return;
    wiring_clear(members->wiring);
    free(members->wiring);
    trv_mpi_domain_release(members->domain);
    free(members->of);
    free(members->scratch);
    free(members);
}
