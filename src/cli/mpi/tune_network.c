/*
 * Measures the network's parameters for the planner, by ping-pong between the rank at the torus's first coordinate and
 * its neighbours, while all other ranks wait.
 *
 * alpha      one-way time of 8 bytes to a neighbour, minus the other times that the planner's network model counts
 *            for it
 * bandwidth  from the difference of the times of 1 MiB and of 8 bytes, in the slowest dimension
 * hop        difference of the times of 8 bytes to the farthest rank and to a neighbour, per additional hop
 * overhead   difference of the times of exchanging 8 bytes with all neighbours concurrently and with the slowest one
 *            alone, per additional neighbour
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "collective/model.h"
#include "transport/mpi/mpi_error.h"
#include "cli/mpi/polled.h"
#include "cli/mpi/tune.h"
#include "transport/mpi/waiting.h"
#include "torus/torus.h"

#define SMALL  8
#define LARGE  (1 << 20)
#define ROUNDS 31
#define WARMUP 4
#define TAG    0

/* Sends or receives a message, by polling. */
static int message_transfer(const tune_t *tune, void *data, int bytes, int peer, bool sends)
{
    MPI_Request request;
    int code = sends ? PMPI_Isend(data, bytes, MPI_BYTE, peer, TAG, tune->comm, &request)
                     : PMPI_Irecv(data, bytes, MPI_BYTE, peer, TAG, tune->comm, &request);
    return code == MPI_SUCCESS ? trv_mpi_poll(&request) : code;
}

/* Measures the one-way time between this rank and `peer` in ns: half of the fastest round trip, because disturbances
 * only make round trips longer. */
static int ping_pong(const tune_t *tune, int peer, bool first, char *data, int bytes, double *one_way_ns)
{
    double min_s = INFINITY;
    int code = MPI_SUCCESS;
    for (int i = -WARMUP; i < ROUNDS && code == MPI_SUCCESS; i++) {
        double start = PMPI_Wtime();
        code = message_transfer(tune, data, bytes, peer, first);
        if (code == MPI_SUCCESS)
            code = message_transfer(tune, data, bytes, peer, !first);
        if (i >= 0)
            min_s = fmin(min_s, PMPI_Wtime() - start);
    }
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("ping-pong", code);
    *one_way_ns = 1e9 * min_s / 2;
    return TRV_OK;
}

static int rank_at(const tune_t *tune, int coordinate) { return tune->member ? tune->member[coordinate] : coordinate; }

/* Measures the times between the first coordinate and `coordinate`; the result is the same on all ranks. */
static int measure_pair(const tune_t *tune, int coordinate, char *data, double *small_ns, double *large_ns)
{
    int code = TRV_OK, from = rank_at(tune, 0), to = rank_at(tune, coordinate);
    double time_ns[2] = {0};
    if (coordinate != 0 && (tune->rank == from || tune->rank == to)) {
        bool first = tune->rank == from;
        code = ping_pong(tune, first ? to : from, first, data, SMALL, &time_ns[0]);
        if (code == TRV_OK)
            code = ping_pong(tune, first ? to : from, first, data, LARGE, &time_ns[1]);
    }
    if (code == TRV_OK)
        code = polled_reduce(tune->comm, time_ns, 2, MPI_MAX);
    *small_ns = time_ns[0];
    *large_ns = time_ns[1];
    return code;
}

/* Returns the coordinate halfway around every dimension, and stores its distance in hops. */
static int farthest(const trv_torus_t *torus, int *hops)
{
    int coordinate[TRV_DIMS_MAX] = {0};
    *hops = 0;
    for (int d = 0; d < torus->dims; d++)
        *hops += coordinate[d] = torus->size[d] / 2;
    return trv_torus_rank(torus, coordinate);
}

/* ---- Several neighbours concurrently ----------------------------------------------------------------------------- */

/* Exchanges 8 bytes with each of the peers, by polling. */
static int exchange(const tune_t *tune, const int *peer, int peers, char *data)
{
    MPI_Request request[4 * TRV_DIMS_MAX];
    int code = MPI_SUCCESS, posted = 0;
    for (int i = 0; i < peers && code == MPI_SUCCESS; i++, posted += code == MPI_SUCCESS)
        code = PMPI_Irecv(data + (i + 1) * SMALL, SMALL, MPI_BYTE, peer[i], TAG, tune->comm, &request[posted]);
    for (int i = 0; i < peers && code == MPI_SUCCESS; i++, posted += code == MPI_SUCCESS)
        code = PMPI_Isend(data, SMALL, MPI_BYTE, peer[i], TAG, tune->comm, &request[posted]);
    for (int i = 0; i < posted && code == MPI_SUCCESS; i++)
        code = trv_mpi_poll(&request[i]);
    return code;
}

/* Measures the fastest exchange of the first coordinate with the peers; the result is the same on all ranks. */
static int measure_exchange(const tune_t *tune, const int *peer, int peers, char *data, double *round_ns)
{
    int code = MPI_SUCCESS;
    double min_s = INFINITY, ignored;
    *round_ns = 0;
    if (tune->rank == rank_at(tune, 0)) {
        for (int i = -WARMUP; i < ROUNDS && code == MPI_SUCCESS; i++) {
            double start = PMPI_Wtime();
            code = exchange(tune, peer, peers, data);
            if (i >= 0)
                min_s = fmin(min_s, PMPI_Wtime() - start);
        }
        *round_ns = 1e9 * min_s;
    }
    int failed = code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error("ping-pong", code);
    for (int i = 0; i < peers && failed == TRV_OK; i++)
        if (tune->rank == peer[i])
            failed = ping_pong(tune, rank_at(tune, 0), false, data, SMALL, &ignored);
    return failed == TRV_OK ? polled_reduce(tune->comm, round_ns, 1, MPI_MAX) : failed;
}

/* Lists the neighbours of the first coordinate, each once. */
static int neighbours(const tune_t *tune, int *peer)
{
    const trv_torus_t *torus = &tune->options.torus;
    int peers = 0;
    for (int d = 0; d < torus->dims; d++) {
        if (torus->size[d] > 1)
            peer[peers++] = rank_at(tune, trv_torus_shift(torus, 0, d, +1));
        if (torus->size[d] > 2)
            peer[peers++] = rank_at(tune, trv_torus_shift(torus, 0, d, -1));
    }
    return peers;
}

static int measure_overhead(tune_t *tune, char *data)
{
    int peer[2 * TRV_DIMS_MAX], peers = neighbours(tune, peer), code = TRV_OK;
    double one_ns = 0, slowest_ns = 0, all_ns = 0;
    for (int i = 0; i < peers && peers > 1 && code == TRV_OK; i++) {
        code = measure_exchange(tune, &peer[i], 1, data, &one_ns);
        slowest_ns = fmax(slowest_ns, one_ns);
    }
    if (peers > 1 && code == TRV_OK)
        code = measure_exchange(tune, peer, peers, data, &all_ns);
    if (peers > 1)
        tune->overhead_ns = fmax(all_ns - slowest_ns, 0) / (peers - 1);
    return code;
}

/* ---- All parameters ---------------------------------------------------------------------------------------------- */

/* The time from a node to its neighbour without alpha: the message overhead, both hosts, two routers and a link. */
static double without_alpha_ns(double hop_ns, double overhead_ns)
{
    trv_simulate_options_t network = trv_model_network(0, 1e9, hop_ns, overhead_ns);
    return network.message_overhead_ns + 2 * network.host_latency_ns +
           2 * (network.router_in_ns + network.router_out_ns) + network.link_latency_ns;
}

static int parameters_measure(tune_t *tune, char *data)
{
    const trv_torus_t *torus = &tune->options.torus;
    double near = 0, slowest = 0, near_ns = 0, far_ns = 0, large_ns = 0;
    int hops, code = TRV_OK;
    for (int d = 0; d < torus->dims && code == TRV_OK; d++) {
        int coordinate[TRV_DIMS_MAX] = {0};
        coordinate[d] = 1 % torus->size[d];
        code = measure_pair(tune, trv_torus_rank(torus, coordinate), data, &near_ns, &large_ns);
        near = near_ns > near ? near_ns : near;
        slowest = large_ns - near_ns > slowest ? large_ns - near_ns : slowest;
    }
    int far = farthest(torus, &hops);
    if (code == TRV_OK && hops > 1)
        code = measure_pair(tune, far, data, &far_ns, &large_ns);
    if (code == TRV_OK)
        code = measure_overhead(tune, data);
    if (slowest > 0)
        tune->network.bandwidth_bps = 8e9 * (LARGE - SMALL) / slowest;
    if (far_ns > near)
        tune->network.hop_ns = (far_ns - near) / (hops - 1);
    if (near > 0)
        tune->network.alpha_ns = fmax(near - without_alpha_ns(tune->network.hop_ns, tune->overhead_ns), 0);
    return code;
}

int tune_network(tune_t *tune)
{
    tune->network = (trv_hockney_t)TRV_HOCKNEY_PAPER;
    tune->overhead_ns = 0;
    char *data = calloc(1, LARGE);
    if (!data)
        return trv_fail_memory();
    int code = parameters_measure(tune, data);
    free(data);
    return code;
}
