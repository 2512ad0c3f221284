/*
 * The check of the options of simulations, once, so that the simulator, its bound and the planner use them without
 * further checks, except for the time of a packet on a slow link (setup.c) and the size of the vector (steps.c).
 */
#include <math.h>

#include <trivance/simulate.h>

#include "base/error.h"
#include "base/network_limits.h"
#include "simulate/network.h"
#include "torus/rows.h"
#include "torus/torus.h"

/* The range of a number, which a message states as "the latency of a link is -1 ns; expected …". */
typedef struct range {
    const char *what, *unit, *expected;
    double low, high;
} range_t;

#define TIME(what)                                                                                                     \
    {                                                                                                                  \
        what, " ns", "0 to 1 hour, for example 100 ns", 0, TRV_TIME_MAX_NS                                             \
    }
#define RATE(what)                                                                                                     \
    {                                                                                                                  \
        what, " b/s", "1 Kb/s to 10000 Tb/s, for example 800 Gb/s", TRV_RATE_MIN_BPS, TRV_RATE_MAX_BPS                 \
    }
#define GAMMA(what)                                                                                                    \
    {                                                                                                                  \
        what, " ns per byte", "0 to 1 ms, for example 0.01 ns", 0, 1e6                                                 \
    }

static int check_range(range_t range, double value)
{
    if (value >= range.low && value <= range.high)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "%s is %g%s; expected %s", range.what, value, range.unit, range.expected);
}

/* A rate that is 0 where it is not set. */
static double optional(double rate_bps)
{
    return rate_bps < 0 || rate_bps > 0 || isnan(rate_bps) ? rate_bps : TRV_RATE_MAX_BPS;
}

static int check_numbers(const trv_simulate_options_t *o)
{
    const struct {
        range_t range;
        double value;
    } number[] = {
        {RATE("the bandwidth"), o->bandwidth_bps},
        {RATE("the bandwidth of the interfaces"), o->nic_bandwidth_bps},
        {RATE("the injection rate of the interfaces"), optional(o->injection_bps)},
        {RATE("the bandwidth of shared paths"), optional(o->path_bps)},
        {TIME("the latency of a link"), o->link_latency_ns},
        {TIME("the latency between node and router"), o->host_latency_ns},
        {TIME("the router's input latency"), o->router_in_ns},
        {TIME("the router's output latency"), o->router_out_ns},
        {TIME("the latency of the path over one link"),
         o->link_latency_ns + 2 * (o->host_latency_ns + o->router_in_ns + o->router_out_ns)},
        {TIME("alpha"), o->alpha_ns},
        {TIME("the overhead of a message"), o->message_overhead_ns},
        {TIME("the overhead of a part"), o->part_overhead_ns},
        {TIME("the start of a reduction"), o->gamma_start_ns},
        {GAMMA("gamma"), o->gamma_ns},
        {GAMMA("gamma of small reductions"), o->gamma_small_ns},
        {{"the jitter", "", "a fraction of alpha from 0 to 1, for example 0.1", 0, 1}, o->jitter},
        {TIME("alpha with its jitter"), o->alpha_ns * (1 + o->jitter)},
    };
    int rc = TRV_OK;
    for (size_t i = 0; i < sizeof number / sizeof *number && !rc; i++)
        rc = check_range(number[i].range, number[i].value);
    return rc;
}

static int check_words(const trv_simulate_options_t *o)
{
    if (o->model != TRV_DATELINE && o->model != TRV_FIFO)
        return trv_fail(TRV_ERR_ARGUMENT, "link model %d does not exist; expected dateline or fifo", (int)o->model);
    if (o->delivery != TRV_DELIVERY_HEAD && o->delivery != TRV_DELIVERY_TAIL)
        return trv_fail(TRV_ERR_ARGUMENT, "delivery rule %d does not exist; expected head or tail", (int)o->delivery);
    if (o->messages_per_port > 1u << 20)
        return trv_fail(TRV_ERR_ARGUMENT, "%u messages per port: expected a maximum from 1 to 2^20, or 0 for no limit",
                        o->messages_per_port);
    return TRV_OK;
}

static int check_buffers(const trv_simulate_options_t *o)
{
    if (o->packet_bytes < TRV_FLIT_BYTES || o->packet_bytes > 1u << 20)
        return trv_fail(TRV_ERR_ARGUMENT, "packets of %u bytes: expected 256 to 1 MiB, for example 8192",
                        o->packet_bytes);
    const uint64_t whole = trv_packet_flits(o) * TRV_FLIT_BYTES;
    if (o->buffer_bytes && o->buffer_bytes < whole)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a buffer of %llu bytes cannot hold a packet of %llu bytes; expected at least one packet",
                        (unsigned long long)o->buffer_bytes, (unsigned long long)whole);
    if (o->buffer_bytes && o->model == TRV_FIFO)
        return trv_fail(TRV_ERR_ARGUMENT, "with one queue per link (fifo) the full buffers of a ring deadlock; a "
                                          "finite buffer requires the model dateline");
    if (o->buffer_bytes > (uint64_t)1 << 50)
        return trv_fail(TRV_ERR_ARGUMENT, "a buffer has at most 2^50 bytes; 0 means unlimited");
    return TRV_OK;
}

int trv_packets_check_rate(const trv_simulate_options_t *o, double bandwidth_bps)
{
    if (trv_packet_flits(o) * (TRV_FLIT_BYTES * 8e15 / bandwidth_bps) <= TRV_HORIZON_FS / 4)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "a packet of %u bytes takes more than a quarter of an hour at %g b/s; choose smaller packets or "
                    "faster links",
                    o->packet_bytes, bandwidth_bps);
}

static int check_slow_rank(const trv_simulate_options_t *o, const trv_slow_rank_t *slow, const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    if (slow->rank < 0 || slow->rank >= torus->ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "slow rank %d does not exist; the ranks of %s are 0 to %d", slow->rank,
                        trv_torus_format(torus, text, sizeof text), torus->ranks - 1);
    if (!(slow->factor >= 1 && slow->factor <= TRV_SLOW_FACTOR_MAX))
        return trv_fail(TRV_ERR_ARGUMENT, "the factor of a slow rank is %g; expected 1 to 10^6", slow->factor);
    int rc = check_range((range_t)TIME("alpha of a slow rank"), o->alpha_ns * (1 + o->jitter) * slow->factor);
    if (!rc)
        rc = check_range((range_t)TIME("a slow rank's overhead"), o->message_overhead_ns * slow->factor);
    return rc ? rc : check_range((range_t)TIME("a slow rank's part overhead"), o->part_overhead_ns * slow->factor);
}

int trv_simulate_check(const trv_simulate_options_t *options, const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    int rc = trv_check_size(options->size, sizeof *options, "TRV_SIMULATE_DEFAULTS");
    if (!rc)
        rc = check_words(options);
    if (!rc)
        rc = check_buffers(options);
    if (!rc)
        rc = check_numbers(options);
    for (int i = 0; i < options->slow_links && !rc; i++)
        rc = trv_link_check(torus, &options->slow_link[i]);
    if (!rc && options->balance_ties && options->slow_links > 0)
        rc = trv_fail(TRV_ERR_ARGUMENT,
                      "balanced ties require links of equal rate; leave them out, or the slow and cut "
                      "links");
    if (!rc)
        rc = trv_packets_check_rate(options, fmin(options->bandwidth_bps, options->nic_bandwidth_bps));
    if (!rc && options->injection_bps > 0)
        rc = trv_packets_check_rate(options, options->injection_bps);
    if (!rc && options->path_bps > 0)
        rc = trv_packets_check_rate(options, options->path_bps);
    for (int i = 0; i < options->slow_ranks && !rc; i++)
        rc = check_slow_rank(options, &options->slow_rank[i], torus);
    const uint32_t missing = options->shared_paths >> torus->dims;
    if (!rc && missing)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the torus %s has no dimension %d for shared paths; its last one is %d",
                      trv_torus_format(torus, text, sizeof text), torus->dims + __builtin_ctz(missing),
                      torus->dims - 1);
    return rc;
}
