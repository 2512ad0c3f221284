/*
 * The network driver for schedules: every rank proceeds through the steps of every stream.
 *
 * A *walker* is the progress of one rank in one stream. It pays alpha, sends the messages of its step one after
 * another, waits until they are injected and its receives of the step have arrived, reduces, and enters the next step.
 * Messages for a step that it has not entered yet are counted for that step. The walkers of a rank share its processor,
 * which pays the overheads of their messages one at a time, first come, first served.
 *
 * If the schedule's symmetry permits it, the walkers and the network are those of the fold (simulator.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "simulate/simulator.h"
#include "torus/torus.h"

typedef enum phase { STARTING, SENDING, WAITING, REDUCING, DONE } phase_t;

typedef struct walker {
    int64_t began; /* time at which it entered the present step, fs */
    uint32_t step;
    uint16_t sent;   /* number of messages of this step handed to the network */
    uint16_t unsent; /* number of these that are not injected yet */
    uint8_t phase;
} walker_t;

typedef struct transit { /* a message in flight */
    uint32_t from, to;   /* walkers */
    uint32_t step;       /* the step that it belongs to; in a free record, the next free one */
    uint32_t awaited;    /* number of events that are outstanding: injected, arrived */
} transit_t;
#define NO_TRANSIT UINT32_MAX

#define PACKET_BYTES_MAX (1u << 30) /* of enlarged packets */

typedef struct run {
    const trv_simulator_t *simulator;
    const trv_simulate_options_t *options;
    trv_watch_t watch;
    const trv_torus_t *torus; /* the torus that is simulated: the schedule's or its fold */
    uint64_t vector_bytes;
    uint32_t own_packet_bytes; /* those of the options may be enlarged */
    trv_packets_t *net;
    int64_t alpha, overhead, part_overhead;
    walker_t *walker;     /* rank * streams + stream */
    uint16_t *arrived;    /* walker * steps + step: number of receives that have arrived */
    double *slowness;     /* per rank, or NULL */
    int64_t *cpu_free_at; /* per rank: the end of the overheads that its processor has booked, fs */
    transit_t *transit;
    uint32_t transits, transit_free;
    int64_t transit_capacity;
    uint32_t done; /* number of walkers that have completed all steps */
    int64_t end;
} run_t;

static const stage_t *stage_of(const run_t *run, uint32_t walker, uint32_t step)
{
    const trv_simulator_t *s = run->simulator;
    uint32_t rank = walker / (uint32_t)s->streams, stream = walker % (uint32_t)s->streams;
    if (run->torus->ranks != s->fold.ranks)
        rank = (uint32_t)trv_simulator_class(s, (int)rank);
    return &s->stage[((size_t)rank * (size_t)s->streams + stream) * (size_t)s->steps + step];
}

static double slowness(const run_t *run, uint32_t walker)
{
    return run->slowness ? run->slowness[walker / (uint32_t)run->simulator->streams] : 1.0;
}

/* ---- Alpha with jitter ------------------------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood: OOPSLA 2014), a hash of its argument. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int64_t alpha_of(const run_t *run, uint32_t walker, uint32_t step)
{
    double stretch = slowness(run, walker);
    if (run->options->jitter > 0) {
        uint64_t random = mix(mix(mix(run->options->seed) ^ walker) ^ step);
        stretch *= 1 + run->options->jitter * (double)(random >> 11) / 9007199254740992.0;
    }
    return (int64_t)((double)run->alpha * stretch + 0.5);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Begins the walker's next step, skipping steps in which it neither sends nor receives. */
static int step_enter(run_t *run, uint32_t w, int64_t gap)
{
    walker_t *walker = &run->walker[w];
    for (; walker->step < (uint32_t)run->simulator->steps; walker->step++) {
        const stage_t *stage = stage_of(run, w, walker->step);
        if (stage->sends + stage->receives == 0)
            continue;
        walker->phase = STARTING;
        walker->began = trv_packets_now(run->net) + gap;
        walker->sent = walker->unsent = 0;
        return trv_packets_timer(run->net, walker->began + alpha_of(run, w, walker->step), w);
    }
    walker->phase = DONE;
    run->done++;
    run->end = trv_packets_now(run->net);
    return TRV_OK;
}

static int step_leave(run_t *run, uint32_t w)
{
    walker_t *walker = &run->walker[w];
    const trv_simulate_observer_t *observer = run->options->observer;
    int streams = run->simulator->streams;
    if (observer && observer->step)
        observer->step(observer->context, (int)w / streams, (int)w % streams, (int)walker->step,
                       (double)walker->began / 1e6, (double)trv_packets_now(run->net) / 1e6);
    walker->step++;
    return step_enter(run, w, TRV_STEP_GAP_FS);
}

double trv_reduction_ns(const trv_simulate_options_t *o, double bytes, double streams)
{
    if (o->gamma_ns <= 0 && o->gamma_start_ns <= 0)
        return 0;
    const double ns = bytes * o->gamma_ns * (o->gamma_per_stream ? 1 : streams) + o->gamma_start_ns;
    return o->gamma_small_ns > 0 ? fmin(ns, bytes * o->gamma_small_ns) : ns;
}

double trv_simulator_reduction_ns(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                                  const stage_t *stage, uint64_t vector_bytes)
{
    const uint64_t bytes = trv_share_bytes(stage->reduced_shares, simulator->shares, vector_bytes);
    return stage->reduced_shares == 0 ? 0 : trv_reduction_ns(options, (double)bytes, simulator->streams);
}

/* Continues if everything of the step has been injected and received. */
static int step_proceed(run_t *run, uint32_t w)
{
    walker_t *walker = &run->walker[w];
    const stage_t *stage = stage_of(run, w, walker->step);
    if (walker->phase != WAITING || walker->unsent > 0 ||
        run->arrived[(size_t)w * (size_t)run->simulator->steps + walker->step] < stage->receives)
        return TRV_OK;
    const double ns = trv_simulator_reduction_ns(run->simulator, run->options, stage, run->vector_bytes);
    if (ns <= 0)
        return step_leave(run, w);
    int64_t time;
    int rc = trv_packets_fs(ns * slowness(run, w), &time);
    walker->phase = REDUCING;
    return rc ? rc : trv_packets_timer(run->net, trv_packets_now(run->net) + time, w);
}

static uint32_t transit_new(run_t *run)
{
    uint32_t index = run->transit_free;
    if (index != NO_TRANSIT) {
        run->transit_free = run->transit[index].step;
        return index;
    }
    int rc = trv_array_reserve(&run->transit, &run->transit_capacity, run->transits, 1, sizeof *run->transit);
    return rc ? NO_TRANSIT : run->transits++;
}

/* Sends the next message of the walker's step. */
static int send_message(run_t *run, uint32_t w, const stage_t *stage)
{
    const trv_simulator_t *s = run->simulator;
    const send_t *send = &s->send[stage->first_send + run->walker[w].sent];
    uint32_t streams = (uint32_t)s->streams, index = transit_new(run);
    int rank = (int)(w / streams), to = rank;
    trv_legs_t legs = {.count = send->legs};
    if (index == NO_TRANSIT)
        return TRV_ERR_MEMORY;
    for (int l = 0; l < legs.count; l++) {
        int port = (int)s->leg[send->first_leg + (uint32_t)l].port;
        legs.leg[l] = s->leg[send->first_leg + (uint32_t)l];
        to = trv_torus_shift(run->torus, to, trv_port_dimension(port), trv_port_sign(port) * (int)legs.leg[l].hops);
    }
    run->transit[index] = (transit_t){w, (uint32_t)to * streams + w % streams, run->walker[w].step, 2};
    run->walker[w].sent++;
    run->walker[w].unsent++;
    uint64_t bytes = trv_share_bytes(send->shares, s->shares, run->vector_bytes);
    return trv_packets_send(run->net, rank, send->nic, &legs, bytes, index);
}

/* ---- Callbacks of the network ------------------------------------------------------------------------------------ */

/* Books the walker's processor for the overheads of a stage's messages, after those already booked, and returns the
 * time at which the first begins. Times beyond the horizon are clipped: the run ends before them. */
static int64_t book_cpu(run_t *run, uint32_t w, const stage_t *stage, int64_t each, int64_t part)
{
    int64_t *cpu_free_at = &run->cpu_free_at[w / (uint32_t)run->simulator->streams];
    int64_t begin = trv_packets_now(run->net) > *cpu_free_at ? trv_packets_now(run->net) : *cpu_free_at;
    bool beyond = (double)begin + (double)stage->sends * (double)each + (double)stage->opened * (double)part >
                  TRV_HORIZON_FS;
    *cpu_free_at = beyond ? TRV_HORIZON_FS + 1 : begin + stage->sends * each + stage->opened * part;
    return begin;
}

/* Sends messages one at a time, each after its overhead. The first call books all overheads; each of the others sends a
 * message and sets the timer for the next. */
static int send_next(run_t *run, uint32_t w, const stage_t *stage)
{
    walker_t *walker = &run->walker[w];
    const int64_t each = (int64_t)((double)run->overhead * slowness(run, w) + 0.5);
    const int64_t part = (int64_t)((double)run->part_overhead * slowness(run, w) + 0.5);
    int64_t at = walker->phase == SENDING ? trv_packets_now(run->net) : book_cpu(run, w, stage, each, part);
    int rc = walker->phase == SENDING ? send_message(run, w, stage) : TRV_OK;
    walker->phase = SENDING;
    if (rc || walker->sent == stage->sends)
        return rc;
    at += each + (run->simulator->send[stage->first_send + walker->sent].opens ? part : 0);
    return trv_packets_timer(run->net, at, w);
}

static int on_timer(void *context, uint32_t w)
{
    run_t *run = context;
    walker_t *walker = &run->walker[w];
    const stage_t *stage = stage_of(run, w, walker->step);
    if (walker->phase == REDUCING)
        return step_leave(run, w);
    if (run->overhead + run->part_overhead > 0 && stage->sends > 0) {
        int rc = send_next(run, w, stage);
        if (rc || walker->sent < stage->sends)
            return rc;
    }
    while (walker->sent < stage->sends) {
        int rc = send_message(run, w, stage);
        if (rc)
            return rc;
    }
    walker->phase = WAITING;
    return step_proceed(run, w);
}

/* Frees the record of a message that has been injected and has arrived. */
static void record_release(run_t *run, uint32_t index)
{
    if (--run->transit[index].awaited > 0)
        return;
    run->transit[index].step = run->transit_free;
    run->transit_free = index;
}

static int on_sent(void *context, uint32_t index)
{
    run_t *run = context;
    uint32_t w = run->transit[index].from;
    record_release(run, index);
    run->walker[w].unsent--;
    return step_proceed(run, w);
}

static int fail_unexpected(const run_t *run, const transit_t *transit)
{
    uint32_t streams = (uint32_t)run->simulator->streams;
    return trv_fail(TRV_ERR_INVALID,
                    "rank %u sends a message to rank %u in step %u of stream %u, which does not receive it "
                    "(verify the schedule first)",
                    transit->from / streams, transit->to / streams, transit->step, transit->to % streams);
}

static int on_arrived(void *context, uint32_t index)
{
    run_t *run = context;
    transit_t transit = run->transit[index];
    uint32_t steps = (uint32_t)run->simulator->steps;
    if (++run->arrived[(size_t)transit.to * steps + transit.step] > stage_of(run, transit.to, transit.step)->receives)
        return fail_unexpected(run, &transit);
    record_release(run, index);
    return run->walker[transit.to].step == transit.step ? step_proceed(run, transit.to) : TRV_OK;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

/* Checks the size, and converts the times. */
static int run_prepare(run_t *run)
{
    const trv_simulate_options_t *o = run->options;
    if (run->vector_bytes > (uint64_t)1 << 50)
        return trv_fail(TRV_ERR_ARGUMENT, "the vector has %llu bytes; the maximum is 2^50",
                        (unsigned long long)run->vector_bytes);
    run->alpha = trv_fs(o->alpha_ns);
    run->overhead = trv_fs(o->message_overhead_ns);
    run->part_overhead = trv_fs(o->part_overhead_ns);
    return TRV_OK;
}

static int fail_deadlock(const run_t *run)
{
    uint32_t w = 0, streams = (uint32_t)run->simulator->streams;
    while (run->walker[w].phase == DONE)
        w++;
    return trv_fail(TRV_ERR_INVALID,
                    "rank %u waits forever in step %u of stream %u for a message that no rank sends "
                    "(verify the schedule first)",
                    w / streams, run->walker[w].step, w % streams);
}

static bool is_done(const run_t *run)
{
    return run->done == (uint32_t)run->torus->ranks * (uint32_t)run->simulator->streams;
}

static int run_start(run_t *run)
{
    const trv_simulator_t *s = run->simulator;
    trv_driver_t driver = {run, on_timer, on_sent, on_arrived};
    size_t walkers = (size_t)run->torus->ranks * (size_t)s->streams;
    int rc = trv_packets_slowness(run->options, run->torus->ranks, &run->slowness);
    if (!rc)
        rc = trv_packets_create(&run->net, run->torus, run->options, &driver);
    if (rc)
        return rc;
    trv_packets_enlarged_from(run->net, run->own_packet_bytes);
    trv_packets_watch(run->net, &run->watch);
    run->walker = calloc(walkers, sizeof *run->walker);
    run->arrived = calloc(walkers * (size_t)s->steps + 1, sizeof *run->arrived);
    run->cpu_free_at = calloc((size_t)run->torus->ranks, sizeof *run->cpu_free_at);
    if (!run->walker || !run->arrived || !run->cpu_free_at)
        return trv_fail_memory();
    for (uint32_t w = 0; w < walkers && !rc; w++)
        rc = step_enter(run, w, 0);
    if (!rc)
        rc = trv_packets_run(run->net);
    return rc || is_done(run) || trv_packets_stopped(run->net) ? rc : fail_deadlock(run);
}

bool trv_simulate_may_fold(const trv_simulate_options_t *o)
{
    return o->model == TRV_FIFO && !o->full && !o->observer && o->jitter <= 0 && o->slow_ranks == 0 &&
           o->slow_links == 0 && !o->balance_ties;
}

/* Scales the results of the fold to the torus: all ranks of a class have the same results. */
static int unfold(const run_t *run, trv_simulation_t *result)
{
    const trv_simulator_t *s = run->simulator;
    uint64_t copies = (uint64_t)(s->torus.ranks / run->torus->ranks);
    result->messages *= copies;
    result->packets *= copies;
    result->packet_hops *= copies;
    if (!result->link || copies == 1)
        return TRV_OK;
    size_t ports = (size_t)trv_port_count(&s->torus);
    trv_link_load_t *link = malloc((size_t)s->torus.ranks * ports * sizeof *link);
    if (!link)
        return trv_fail_memory();
    for (int r = 0; r < s->torus.ranks; r++) {
        size_t class = (size_t)trv_simulator_class(s, r);
        memcpy(&link[(size_t)r * ports], &result->link[class * ports], ports * sizeof *link);
    }
    free(result->link);
    result->link = link;
    return TRV_OK;
}

double trv_simulate_hops(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes)
{
    const double hops = simulator->message_hops + simulator->byte_hops * (double)vector_bytes / options->packet_bytes;
    return trv_simulate_may_fold(options) ? hops : hops * (simulator->torus.ranks / simulator->fold.ranks);
}

/* Larger packets may waste a smaller part of their last flit. To keep the payload rate, packets are made to fill their
 * flits, and links are slowed down by the part that was wasted. */
static void fill_flits(trv_simulate_options_t *network)
{
    const double filled = trv_packet_flits(network) * TRV_FLIT_BYTES, used = network->packet_bytes / filled;
    network->bandwidth_bps *= used;
    network->nic_bandwidth_bps *= used;
    network->injection_bps *= used;
    network->path_bps *= used;
    network->packet_bytes = (uint32_t)filled;
}

bool trv_simulate_may_enlarge(const trv_simulate_options_t *o)
{
    return !o->full && !o->observer && !o->link_loads && !o->balance_ties && o->buffer_bytes == 0;
}

/* The largest packets that the slowest path can carry. */
static double packet_bytes_max(const trv_simulate_options_t *o)
{
    double slowest_bps = fmin(o->bandwidth_bps, o->nic_bandwidth_bps), factor_max = 1;
    for (int i = 0; i < o->slow_links; i++)
        factor_max = isinf(o->slow_link[i].factor) ? factor_max : fmax(factor_max, o->slow_link[i].factor);
    slowest_bps = fmin(slowest_bps, o->bandwidth_bps / factor_max);
    slowest_bps = o->injection_bps > 0 ? fmin(slowest_bps, o->injection_bps) : slowest_bps;
    slowest_bps = o->path_bps > 0 ? fmin(slowest_bps, o->path_bps) : slowest_bps;
    return fmin(PACKET_BYTES_MAX, TRV_HORIZON_FS / 4 * slowest_bps / 8e15);
}

trv_simulate_options_t trv_simulate_packets(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                                            uint64_t vector_bytes, double hops_max)
{
    trv_simulate_options_t larger = *options;
    const double copies = trv_simulate_may_fold(options) ? 1 : simulator->torus.ranks / simulator->fold.ranks;
    const double byte_hops = copies * simulator->byte_hops * (double)vector_bytes,
                 bytes_max = packet_bytes_max(options);
    if (!trv_simulate_may_enlarge(options) || byte_hops / larger.packet_bytes <= hops_max)
        return larger;
    fill_flits(&larger);
    while (byte_hops / larger.packet_bytes > hops_max && larger.packet_bytes <= bytes_max / 2)
        larger.packet_bytes *= 2;
    return larger;
}

int trv_simulate(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes,
                 trv_simulation_t *result)
{
    trv_simulate_options_t without_links = *options;
    memset(result, 0, sizeof *result);
    int rc = trv_check_size(options->size, sizeof *options, "TRV_SIMULATE_DEFAULTS");
    if (!rc && options->observer)
        rc = trv_check_size(options->observer->size, sizeof *options->observer, "TRV_SIMULATE_OBSERVER");
    if (!rc && !options->full && !options->observer)
        rc = trv_simulator_drop_links(simulator, &without_links);
    if (rc)
        return rc;
    const trv_span_t all = {options->progress, options->progress_context, 0, 1};
    return trv_simulate_until(simulator, &without_links, vector_bytes, TRV_SIMULATE_HOPS_MAX, all, 0, result);
}

int trv_simulate_until(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes,
                       double hops_max, trv_span_t progress, double cutoff_ns, trv_simulation_t *result)
{
    trv_simulate_options_t larger;
    run_t run = {.simulator = simulator,
                 .options = &larger,
                 .own_packet_bytes = options->packet_bytes,
                 .watch = {progress, 1, cutoff_ns},
                 .vector_bytes = vector_bytes,
                 .transit_free = NO_TRANSIT,
                 .torus = &simulator->torus};
    memset(result, 0, sizeof *result);
    if (trv_simulate_may_fold(options))
        run.torus = &simulator->fold;
    int rc = trv_simulate_check(options, &simulator->torus);
    if (rc)
        return rc;
    larger = trv_simulate_packets(simulator, options, vector_bytes, hops_max);
    rc = run_prepare(&run);
    if (!rc)
        rc = trv_simulator_check_forwarding(simulator, options);
    if (!rc && progress.callback)
        run.watch.hops = fmax(1, trv_simulate_hops(simulator, &larger, vector_bytes));
    if (!rc)
        rc = run_start(&run);
    if (!rc) {
        result->time_fs = (uint64_t)run.end;
        result->time_ns = trv_packets_stopped(run.net) && !is_done(&run) ? INFINITY : (double)run.end / 1e6;
        result->simulated_ranks = run.torus->ranks;
        result->packet_bytes = larger.packet_bytes;
        rc = trv_packets_results(run.net, result);
    }
    if (!rc)
        rc = unfold(&run, result);
    trv_packets_destroy(run.net);
    free(run.walker);
    free(run.arrived);
    free(run.slowness);
    free(run.cpu_free_at);
    free(run.transit);
    if (rc)
        trv_simulation_clear(result);
    return rc;
}

void trv_simulation_clear(trv_simulation_t *result)
{
    free(result->link);
    memset(result, 0, sizeof *result);
}
