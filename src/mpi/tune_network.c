/*
 * The network's parameters for the cost model, by ping-pong of rank 0 with its neighbours while all others wait.
 *
 * alpha      one way for 8 bytes to a neighbour: what a step costs at least
 * bandwidth  what 1 MiB takes more than 8 bytes, in the slowest dimension
 * hop        what 8 bytes take more to the farthest rank than to a neighbour, per hop in between
 */
#include <stdlib.h>

#include "common/error.h"
#include "mpi/tune.h"
#include "mpi/transport.h"
#include "mpi/wait.h"

#define SMALL 8
#define LARGE (1 << 20)
#define ROUNDS 31
#define WARMUP 4
#define TAG 0

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A message there or here, polled for. */
static int pass(const tune_t *tune, void *data, int bytes, int peer, bool sends)
{
    MPI_Request request;
    int code = sends ? PMPI_Isend(data, bytes, MPI_BYTE, peer, TAG, tune->comm, &request)
                     : PMPI_Irecv(data, bytes, MPI_BYTE, peer, TAG, tune->comm, &request);
    return code == MPI_SUCCESS ? trv_mpi_poll(&request) : code;
}

/* One way between rank 0 and `peer`, in ns: half the median of the rounds. Known to these two only. */
static int ping_pong(const tune_t *tune, int peer, char *data, int bytes, double *one_way_ns)
{
    double round[ROUNDS];
    int code = MPI_SUCCESS, other = tune->rank == 0 ? peer : 0;
    for (int i = -WARMUP; i < ROUNDS && code == MPI_SUCCESS; i++) {
        double start = PMPI_Wtime();
        code = pass(tune, data, bytes, other, tune->rank == 0);
        if (code == MPI_SUCCESS)
            code = pass(tune, data, bytes, other, tune->rank != 0);
        if (i >= 0)
            round[i] = PMPI_Wtime() - start;
    }
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("ping-pong", code);
    qsort(round, ROUNDS, sizeof round[0], by_value);
    *one_way_ns = 1e9 * round[ROUNDS / 2] / 2;
    return TRV_OK;
}

/* Between rank 0 and `peer`, for all ranks: zeros on those that only wait. */
static int measure_pair(const tune_t *tune, int peer, char *data, double *small_ns, double *large_ns)
{
    int code = TRV_OK;
    *small_ns = *large_ns = 0;
    if (peer != 0 && (tune->rank == 0 || tune->rank == peer)) {
        code = ping_pong(tune, peer, data, SMALL, small_ns);
        if (code == TRV_OK)
            code = ping_pong(tune, peer, data, LARGE, large_ns);
    }
    return code == TRV_OK ? tune_barrier(tune) : code;
}

/* The rank half-way round in every dimension, and how many hops away it is. */
static int farthest(const trv_torus_t *torus, int *hops)
{
    int place[TRV_DIMS_MAX] = {0};
    *hops = 0;
    for (int d = 0; d < torus->dims; d++)
        *hops += place[d] = torus->size[d] / 2;
    return trv_torus_rank(torus, place);
}

static int measure_all(tune_t *tune, char *data)
{
    const trv_torus_t *torus = &tune->options.torus;
    double alpha = 0, slowest = 0, near_ns = 0, far_ns = 0, large_ns = 0;
    int hops, code = TRV_OK;
    for (int d = 0; d < torus->dims && code == TRV_OK; d++) {
        int place[TRV_DIMS_MAX] = {0};
        place[d] = 1 % torus->size[d];
        code = measure_pair(tune, trv_torus_rank(torus, place), data, &near_ns, &large_ns);
        alpha = near_ns > alpha ? near_ns : alpha;
        slowest = large_ns - near_ns > slowest ? large_ns - near_ns : slowest;
    }
    int far = farthest(torus, &hops);
    if (code == TRV_OK && hops > 1)
        code = measure_pair(tune, far, data, &far_ns, &large_ns);
    if (tune->rank == 0 && alpha > 0)
        tune->network.alpha_ns = alpha;
    if (tune->rank == 0 && slowest > 0)
        tune->network.bandwidth_bps = 8e9 * (LARGE - SMALL) / slowest;
    if (tune->rank == 0 && far_ns > alpha)
        tune->network.hop_ns = (far_ns - alpha) / (hops - 1);
    return code;
}

int tune_network(tune_t *tune)
{
    tune->network = (trv_network_t)TRV_NETWORK_PAPER;
    char *data = calloc(1, LARGE);
    if (!data)
        return trv_fail_memory();
    int code = measure_all(tune, data);
    free(data);
    return code == TRV_OK ? tune_share(tune, &tune->network, sizeof tune->network) : code;
}
