/*
 * Lower bounds on the simulated time. The result is the largest of three.
 *
 * Chain: no rank completes step k of a stream earlier than the earliest time at which any rank can complete step k - 1,
 * plus the minimum over all ranks of the time of step k: alpha, then the longest of the overheads of the stream's own
 * messages and the paths of the farthest and of the largest message that the rank receives, and then the step's
 * reductions.
 * Link: a link carries all its flits one after another, more slowly if it is slow, and none before the first alpha.
 * Processor: a rank pays the overheads of all its messages one after another, and none before the first alpha.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "simulate/net.h"
#include "simulate/simulator.h"
#include "torus/torus.h"

typedef struct bound {
    const trv_simulator_t *simulator;
    const trv_packets_t *net; /* supplies the times of the network; nothing is sent on it */
    const trv_simulate_options_t *options;
    uint64_t vector_bytes;
    int64_t alpha, overhead, part_overhead;
    int64_t flit;    /* interval between the flits of one message */
    uint64_t *flits; /* per link of the fold */
    int slow_links;
    const trv_slow_link_t *slow_link;
} bound_t;

static uint64_t flits_of(const bound_t *b, int64_t shares, uint64_t *last)
{
    uint64_t bytes = trv_share_bytes(shares, b->simulator->shares, b->vector_bytes);
    uint64_t packets = (bytes - 1) / b->net->options.packet_bytes;
    *last = (bytes - packets * b->net->options.packet_bytes + TRV_FLIT_BYTES - 1) / TRV_FLIT_BYTES;
    return packets * b->net->packet_flits + *last;
}

/* Sums and products that overflow become TRV_NEVER, so that vectors of any size have a bound. */
static int64_t add_times(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? TRV_NEVER : sum;
}

static int64_t multiply_time(uint64_t count, int64_t each)
{
    int64_t time;
    return __builtin_mul_overflow(count, each, &time) ? TRV_NEVER : time;
}

/* The time from the start of the sender's overhead to the arrival of the last packet's head. */
static int64_t path_time(const bound_t *b, int hops, int64_t shares)
{
    uint64_t last, flits = flits_of(b, shares, &last);
    int64_t path = add_times(b->net->entry_delay + b->net->exit_delay, multiply_time((uint64_t)hops, b->net->hop));
    return add_times(add_times(path, b->overhead), multiply_time(flits - last, b->flit));
}

/* The time of the overheads of messages of which `opened` are the first ones of a part to their peers. */
static int64_t overheads_time(const bound_t *b, uint64_t messages, uint64_t opened)
{
    return add_times(multiply_time(messages, b->overhead), multiply_time(opened, b->part_overhead));
}

static int64_t reduction_time(const bound_t *b, const stage_t *stage)
{
    const double ns = trv_simulator_reduction_ns(b->simulator, b->options, stage, b->vector_bytes);
    return ns * 1e6 < (double)TRV_NEVER ? (int64_t)(ns * 1e6) : TRV_NEVER;
}

/* The minimum time of a stage: alpha, the longest of the overheads of its messages and the paths of the farthest and of
 * the largest received message, and the reductions. */
static int64_t stage_time(const bound_t *b, const stage_t *stage)
{
    if (stage->sends + stage->receives == 0)
        return 0;
    int64_t path = overheads_time(b, stage->sends, stage->opened);
    for (int i = 0; i < INCOMING && stage->receives > 0; i++) {
        const int64_t time = path_time(b, stage->incoming_hops[i], stage->incoming_shares[i]);
        path = time > path ? time : path;
    }
    return add_times(add_times(b->alpha, path), reduction_time(b, stage));
}

static int64_t chain_bound(const bound_t *b)
{
    const trv_simulator_t *s = b->simulator;
    int64_t longest = 0;
    for (int stream = 0; stream < s->streams; stream++) {
        int64_t time = 0;
        for (int step = 0; step < s->steps; step++) {
            int64_t min = TRV_NEVER;
            for (int r = 0; r < s->fold.ranks && min > 0; r++) {
                size_t index = ((size_t)r * (size_t)s->streams + (size_t)stream) * (size_t)s->steps + (size_t)step;
                int64_t of_stage = stage_time(b, &s->stage[index]);
                min = of_stage < min ? of_stage : min;
            }
            time = add_times(time, min);
        }
        longest = time > longest ? time : longest;
    }
    return longest;
}

static void add_legs(bound_t *b, int rank, const send_t *send, uint64_t flits)
{
    const trv_torus_t *fold = &b->simulator->fold;
    for (int l = 0; l < send->legs; l++) {
        trv_leg_t leg = b->simulator->leg[send->first_leg + (uint32_t)l];
        int d = trv_port_dimension((int)leg.port), size = fold->size[d];
        uint32_t rounds = leg.hops / (uint32_t)size, rest = leg.hops % (uint32_t)size;
        int node = rank, sign = trv_port_sign((int)leg.port);
        const bool tied = b->options->balance_ties && 2 * leg.hops == (uint32_t)b->simulator->torus.size[d];
        for (int i = 0; i < size && (rounds || (uint32_t)i < rest) && !tied; i++) { /* tied: no link must carry it */
            b->flits[node * trv_port_count(fold) + (int)leg.port] += flits * (rounds + ((uint32_t)i < rest));
            node = trv_torus_shift(fold, node, d, sign);
        }
        rank = trv_torus_shift(fold, rank, d, sign * (int)rest);
    }
}

/* The time that a slow link takes for all flits except those of the last packet. Returns 0 for a cut link and for a
 * link that does not exist, which the simulation reports, and for an entry that a later one for the same link
 * replaces. */
static int64_t slow_time(const bound_t *b, const trv_slow_link_t *slow, uint64_t last)
{
    const trv_simulator_t *s = b->simulator;
    const int ports = trv_port_count(&s->fold);
    if (isinf(slow->factor) || slow->rank < 0 || slow->rank >= s->torus.ranks || slow->port < 0 || slow->port >= ports)
        return 0;
    for (const trv_slow_link_t *later = slow + 1; later < b->slow_link + b->slow_links; later++)
        if (later->rank == slow->rank && later->port == slow->port)
            return 0;
    const uint64_t flits = b->flits[trv_simulator_class(s, slow->rank) * ports + slow->port];
    const double time = (double)(flits - (flits < last ? flits : last)) * floor((double)b->net->flit * slow->factor);
    return time < (double)TRV_NEVER ? (int64_t)time : TRV_NEVER;
}

static int64_t link_bound(bound_t *b)
{
    const trv_simulator_t *s = b->simulator;
    size_t stages = (size_t)s->streams * (size_t)s->steps;
    uint64_t max = 0, last, longest_last = 0;
    for (int rank = 0; rank < s->fold.ranks; rank++)
        for (size_t i = 0; i < stages; i++) {
            const stage_t *stage = &s->stage[(size_t)rank * stages + i];
            for (uint32_t m = 0; m < stage->sends; m++) {
                const send_t *send = &s->send[stage->first_send + m];
                add_legs(b, rank, send, flits_of(b, send->shares, &last));
                longest_last = last > longest_last ? last : longest_last;
            }
        }
    for (int l = 0; l < s->fold.ranks * trv_port_count(&s->fold); l++)
        max = b->flits[l] > max ? b->flits[l] : max;
    if (max == 0)
        return 0;
    if (longest_last < b->net->packet_flits) /* any packet may be the last one on the link: exclude a full one */
        longest_last = b->net->packet_flits;
    int64_t longest = multiply_time(max - (max < longest_last ? max : longest_last), b->net->flit);
    for (int i = 0; i < b->slow_links; i++) {
        const int64_t time = slow_time(b, &b->slow_link[i], longest_last);
        longest = time > longest ? time : longest;
    }
    int64_t path = b->net->entry_delay + b->net->exit_delay + b->net->hop;
    return add_times(add_times(add_times(b->alpha, path), b->overhead), longest);
}

static int64_t processor_bound(const bound_t *b)
{
    const trv_simulator_t *s = b->simulator;
    size_t stages = (size_t)s->streams * (size_t)s->steps;
    int64_t max = 0;
    for (int rank = 0; rank < s->fold.ranks; rank++) {
        uint64_t messages = 0, opened = 0;
        for (size_t i = 0; i < stages; i++) {
            messages += s->stage[(size_t)rank * stages + i].sends;
            opened += s->stage[(size_t)rank * stages + i].opened;
        }
        const int64_t time = messages > 0 ? add_times(b->alpha, overheads_time(b, messages, opened)) : 0;
        max = time > max ? time : max;
    }
    return max;
}

static int bound_find(bound_t *b, const trv_simulate_options_t *options, double *bound_ns)
{
    size_t links = (size_t)b->simulator->fold.ranks * (size_t)trv_port_count(&b->simulator->fold);
    b->alpha = trv_fs(options->alpha_ns);
    b->overhead = trv_fs(options->message_overhead_ns);
    b->part_overhead = trv_fs(options->part_overhead_ns);
    b->flits = calloc(links, sizeof *b->flits);
    if (!b->flits)
        return trv_fail_memory();
    int64_t bound = chain_bound(b), by_link = link_bound(b), by_processor = processor_bound(b);
    bound = by_link > bound ? by_link : bound;
    *bound_ns = (double)(by_processor > bound ? by_processor : bound) / 1e6;
    free(b->flits);
    return TRV_OK;
}

int trv_simulate_bound_ns(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                          uint64_t vector_bytes, double *bound_ns)
{
    trv_torus_t one = {.dims = 1, .size = {1}, .ranks = 1};
    trv_simulate_options_t equal_links = *options;
    trv_driver_t no_driver = {NULL, NULL, NULL, NULL};
    trv_packets_t *net;
    equal_links.slow_links = 0;   /* their ranks are those of another torus; slow_time accounts for them */
    equal_links.shared_paths = 0; /* shared paths only increase the time */
    equal_links.link_loads = false;
    equal_links.observer = NULL;
    int rc = trv_simulate_check(options, &simulator->torus);
    if (!rc)
        rc = trv_packets_create(&net, &one, &equal_links, &no_driver);
    if (rc)
        return rc;
    bound_t bound = {.simulator = simulator,
                     .net = net,
                     .options = options,
                     .vector_bytes = vector_bytes,
                     .flit = net->flit > net->injection_flit && !options->balance_ties ? net->flit
                                                                                       : net->injection_flit,
                     .slow_links = options->slow_links,
                     .slow_link = options->slow_link};
    rc = bound_find(&bound, options, bound_ns);
    trv_packets_destroy(net);
    return rc;
}
