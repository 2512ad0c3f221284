/*
 * For the naive simulator: flits, slow ranks, reductions, and paths into the network that several ports share
 * (trv_simulate_options_t.shared_paths).
 */
#ifndef TRIVANCE_TESTS_NAIVE_SHARED_PATHS_H
#define TRIVANCE_TESTS_NAIVE_SHARED_PATHS_H

#include <math.h>
#include <stdint.h>

#include <trivance/simulate.h>

#define FLIT_BYTES 256

static inline int64_t flits_of(uint64_t bytes) { return (int64_t)((bytes + FLIT_BYTES - 1) / FLIT_BYTES); }

/* The port whose interface injects the messages of a port: of the ports that share a path, the lowest. */
static inline int naive_path(const trv_simulate_options_t *options, int port)
{
    int dimension = port / 2;
    if (!(options->shared_paths >> dimension & 1))
        return port;
    for (int d = 0; d < dimension && options->one_path; d++)
        if (options->shared_paths >> d & 1)
            dimension = d;
    return 2 * dimension;
}

static inline int64_t fs(double ns) { return llround(ns * 1e6); }

static inline int64_t flit_fs(double bps) { return llround(FLIT_BYTES * 8 * 1e15 / bps); }

/* The factor of a slow rank; 1 for others. */
static inline double naive_slowness(const trv_simulate_options_t *options, int rank)
{
    double factor = 1;
    for (int i = 0; i < options->slow_ranks; i++)
        if (options->slow_rank[i].rank == rank)
            factor = options->slow_rank[i].factor;
    return factor;
}

/* The time of the reductions of a step, which read `bytes`. */
static inline double naive_reduction_fs(const trv_simulate_options_t *options, int streams, uint64_t bytes)
{
    const double shared_ns = options->gamma_ns * (options->gamma_per_stream ? 1 : streams) * (double)bytes +
                             (bytes > 0 ? options->gamma_start_ns : 0);
    const double small_ns = options->gamma_small_ns * (double)bytes;
    return 1e6 * (options->gamma_small_ns > 0 ? fmin(shared_ns, small_ns) : shared_ns);
}

/* The rate at which an interface injects messages. */
static inline double naive_injection_bps(const trv_simulate_options_t *options)
{
    return options->injection_bps > 0 ? fmin(options->injection_bps, options->nic_bandwidth_bps)
                                      : options->nic_bandwidth_bps;
}

/* The additional time for which a packet occupies a shared path, compared with an interface. With limited buffers
 * every packet does so. Otherwise the packets of a message enter without a pause, and the last one occupies the path
 * until all of them would have passed it. */
static inline int64_t naive_lag_fs(const trv_simulate_options_t *options, int port, int64_t index, int64_t packets,
                                   int64_t flits)
{
    const int64_t path_fs = flit_fs(options->path_bps > 0 ? options->path_bps : options->bandwidth_bps);
    const int64_t slower = path_fs - flit_fs(naive_injection_bps(options));
    const int64_t before = index * flits_of(options->packet_bytes);
    if (!(options->shared_paths >> port / 2 & 1) || slower <= 0 || (!options->buffer_bytes && index < packets - 1))
        return 0;
    return (options->buffer_bytes ? flits : before + flits) * slower;
}

#endif
