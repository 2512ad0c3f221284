/*
 * The table of the parameters of networks. A parameter is a member of trv_simulate_options_t and a row here; all else
 * that shows or reads it follows (CONTRIBUTING.md, "Adding a network parameter").
 */
#include <limits.h>
#include <string.h>

#include <trivance/simulate.h>

#include "base/network_limits.h"
#include "parameters/parameters.h"

#define MEMBER(name)                                                                                                   \
    .member = #name, .offset = offsetof(trv_simulate_options_t, name),                                                 \
    .bytes = sizeof((trv_simulate_options_t *)NULL)->name
#define MARK(name)     .mark = #name, .mark_offset = offsetof(trv_simulate_options_t, name)
#define RATES          .low = TRV_RATE_MIN_BPS, .high = TRV_RATE_MAX_BPS
#define WORD(name)     .kind = TRV_KIND_WORD, .high = 1, MEMBER(name)
#define RATE(name)     .kind = TRV_KIND_RATE, RATES, .unit = 1e9, MEMBER(name)
#define TIME(name, in) .kind = TRV_KIND_TIME, .high = TRV_TIME_MAX_NS, .unit = in, MEMBER(name)
#define BYTES(name)    .kind = TRV_KIND_BYTES, MEMBER(name)
#define LIST(name)     .kind = TRV_KIND_LIST, .high = INT_MAX, MEMBER(name)

#define PLANS  TRV_AFFECTS_PLANS
#define LINKS  TRV_AFFECTS_PLANS | TRV_AFFECTS_LINKS
#define TIMES  TRV_AFFECTS_TIMES
#define STATED TRV_STATED_RESULTS | TRV_STATED_SUMMARY

/* The default, and the sentence that states it; `more` is its end. */
#define USUAL(text, what, more) .usual = text, .sentence = what " (default " text more
#define UNSET(what)             .usual = "", .sentence = what

/* clang-format off */
static const trv_parameter_t table[] = {
    {.name = "model", WORD(model), .affects = STATED, .value = "M", .words = "dateline fifo", .usual = "fifo",
     .sentence = "queues of a link: fifo, a single queue, as in an ideal router (default); "
                 "or dateline, two channels that take turns, where a packet changes to the second as it passes "
                 "coordinate 0, as SST/Merlin's torus router does to avoid deadlock",
     .summary = ", %s"},
    {.name = "delivery", WORD(delivery), .affects = PLANS | STATED, .value = "D", .words = "head tail", .usual = "head",
     .sentence = "when a packet counts as arrived: with its head, as in SST/Merlin (default), "
                 "or with its tail, as on a real link",
     .summary = ", delivery %s"},
    {.name = "bandwidth", RATE(bandwidth_bps), .affects = PLANS | STATED, .value = "RATE",
     USUAL("800Gb/s", "bandwidth of a link in each direction", "; a capital B is bytes)"),
     .summary = ", %s Gb/s"},
    {.name = "nic-bandwidth", RATE(nic_bandwidth_bps), .affects = PLANS | TRV_STATED_RESULTS, .value = "RATE",
     USUAL("12.8Tb/s", "bandwidth of a network interface, of which a node has one per port, and of the router's "
           "crossbar", ")"),
     .summary = ", interfaces %s Gb/s"},
    {.name = "injection", RATE(injection_bps), .affects = PLANS, .value = "RATE",
     UNSET("rate at which an interface injects its messages, if it is less than its bandwidth: of a single message on "
           "links that several messages share (default: that bandwidth)"),
     .summary = ", injection %s Gb/s"},
    {.name = "alpha", TIME(alpha_ns, 1e3), .affects = PLANS | STATED, .value = "TIME",
     USUAL("1.5us", "start-up time of every step", ")"),
     .summary = ", alpha %s us"},
    {.name = "link-latency", TIME(link_latency_ns, 1), .affects = PLANS | STATED, .value = "TIME",
     USUAL("100ns", "latency of a link", ")"),
     .summary = ", links %s ns"},
    {.name = "host-latency", TIME(host_latency_ns, 1), .affects = PLANS | STATED, .value = "TIME",
     USUAL("100ns", "latency between a node and its router, in each direction", ")"),
     .summary = ", hosts %s ns"},
    {.name = "router-in", TIME(router_in_ns, 1), .affects = PLANS | STATED, .value = "TIME",
     USUAL("50ns", "latency of the input of a router", ")"),
     .summary = ", routers %s"},
    {.name = "router-out", TIME(router_out_ns, 1), .affects = PLANS | STATED, .value = "TIME",
     USUAL("50ns", "latency of the output of a router", ")"),
     .summary = " + %s ns"},
    {.name = "packet", BYTES(packet_bytes), .affects = PLANS | STATED, .value = "BYTES", .low = 256, .high = 1 << 20,
     USUAL("8192", "payload of a packet, 256 to 1M", ")"),
     .summary = ", packets of %s"},
    {.name = "buffer", BYTES(buffer_bytes), .affects = TIMES, .value = "BYTES", .high = 1ll << 50,
     UNSET("buffer of a router's input, per link and channel, at least one packet, or 0: unlimited (default); "
           "requires --model=dateline; the planner ignores it"),
     .summary = ", buffers of %s"},
    {.name = "gamma", TIME(gamma_ns, 1), MARK(gamma_per_stream), .affects = PLANS, .value = "TIME",
     USUAL("0ns", "reduction time per byte that is read, for example 0.01ns; "
           "a joint reduction of three sources reads three times the bytes of its result; "
           "the streams of a rank share this rate; 0.01ns/stream gives each stream its own", ")"),
     .summary = ", reductions %s ns/B"},
    {.name = "gamma-start", TIME(gamma_start_ns, 1), .affects = PLANS, .value = "TIME",
     USUAL("0ns", "start-up time of the reductions of a step", ")"),
     .summary = ", start-up of reductions %s ns"},
    {.name = "gamma-small", TIME(gamma_small_ns, 1), .affects = PLANS, .value = "TIME", .usual = "0ns",
     .sentence = "time per byte that is read of a reduction by one core, without start-up; used where it is faster "
                 "(default 0ns: never)",
     .summary = ", or %s ns/B without start-up where that is faster"},
    {.name = "message-overhead", TIME(message_overhead_ns, 1), .affects = PLANS, .value = "TIME",
     USUAL("0ns", "time for which a rank's processor is busy before it sends a message", ")"),
     .summary = ", message overhead %s ns"},
    {.name = "part-overhead", TIME(part_overhead_ns, 1), .affects = PLANS, .value = "TIME",
     USUAL("0ns", "additional overhead of a stream's first message to a peer, if it is a part of the stream's data: "
           "the time to register its buffer and to exchange addresses", ")"),
     .summary = ", part overhead %s ns"},
    {.name = "jitter", .kind = TRV_KIND_SHARE, MEMBER(jitter), .affects = TIMES, .value = "SHARE", .high = 1,
     USUAL("0%", "extend every alpha by a random fraction of up to this value, for example 10%",
           "); the planner ignores it"),
     .summary = ", jitter %s %%", .unit = 0.01},
    {.name = "seed", .kind = TRV_KIND_WHOLE, MEMBER(seed), .affects = TIMES, .value = "N", .high = INT_MAX,
     USUAL("1", "seed of the random numbers; the same seed gives the same times", ")"),
     .summary = ", seed %s", .needs = "jitter"},
    {.name = "slow-rank", LIST(slow_ranks), .affects = TIMES, .value = "R:Fx",
     UNSET("the work of rank R itself (alpha, message overhead, reductions) takes F times as long, for example 5:2x; "
           "up to 64 times; the planner ignores it")},
    {.name = "slow-link", LIST(slow_links), .affects = LINKS, .value = "R:P:Fx",
     UNSET("the link that leaves rank R by port P (+0, -1 …) has 1/F of the bandwidth, for example 0:+1:4x; "
           "0:+1:down cuts it; up to 64 times with --cut")},
    {.name = "cut", LIST(slow_links), .affects = LINKS, .value = "R:P",
     UNSET("the link between rank R and its neighbour at port P is down, in both directions; "
           "R:P:one-way: only in the direction that leaves R; may be repeated")},
    {.name = "routes", WORD(routes), .affects = LINKS, .value = "ROUTES", .words = "chosen fixed", .usual = "chosen",
     .sentence = "chosen: a message leaves by the port that the schedule names (default); "
                 "fixed: the network takes the shorter way unless it is cut, as between IP addresses and under MPI",
     .summary = ", routes %s"},
    {.name = "no-forwarding", .kind = TRV_KIND_FLAG, MEMBER(no_forwarding), .affects = LINKS, .value = "[yes|no]",
     .words = "no yes", .high = 1,
     USUAL("no", "nodes do not pass on messages of others, like hosts that are wired to each other without switches: "
           "every message must cross exactly one link", ")"),
     .summary = ", no forwarding"},
    {.name = "messages-per-port", .kind = TRV_KIND_WHOLE, MEMBER(messages_per_port), .affects = LINKS, .value = "N",
     .words = "unlimited", .low = 1, .high = 1 << 20, .usual = "1",
     .sentence = "maximum number of messages of a stream that a rank sends, or receives, per port in a step, for "
                 "plans and limits; unlimited: any number (default 1)",
     .summary = ", messages per port %s"},
    {.name = "shared-paths", .kind = TRV_KIND_DIMENSIONS, MEMBER(shared_paths), MARK(one_path), .affects = PLANS,
     .value = "DIMS", .high = UINT_MAX,
     UNSET("dimensions whose two directions share one path out of a node: 0, 0:2 or all; "
           "one: all dimensions share a single path, as on a node with one interface"),
     .summary = ", shared paths %s"},
    {.name = "path-bandwidth", RATE(path_bps), .affects = PLANS, .value = "RATE",
     UNSET("bandwidth of shared paths, at most that of an interface (default: that of a link); no effect without "
           "these"),
     .summary = ", %s Gb/s each", .needs = "shared-paths"},
    {.name = "balance-ties", .kind = TRV_KIND_FLAG, MEMBER(balance_ties), .affects = TIMES, .value = "[yes|no]",
     .words = "no yes", .high = 1,
     USUAL("no", "packets half way round a ring take the direction in which fewer packets wait at their router",
           "); the planner ignores it"),
     .summary = ", ties balanced"},
};
/* clang-format on */

enum { COUNT = sizeof table / sizeof table[0] };

const trv_parameter_t *trv_parameter_at(int index) { return index >= 0 && index < COUNT ? &table[index] : NULL; }

const trv_parameter_t *trv_parameter_find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(name, table[i].name) == 0)
            return &table[i];
    return NULL;
}

bool trv_parameter_is_default(const trv_simulate_options_t *options, const trv_parameter_t *parameter)
{
    static const trv_simulate_options_t defaults = TRV_SIMULATE_DEFAULTS;
    return memcmp((const char *)options + parameter->offset, (const char *)&defaults + parameter->offset,
                  parameter->bytes) == 0;
}

void trv_parameters_key(const trv_simulate_options_t *options, unsigned char key[TRV_PARAMETERS_KEY_MAX])
{
    size_t used = 0;
    for (int i = 0; i < COUNT; i++) {
        const trv_parameter_t *p = &table[i];
        const char *member = (const char *)options + p->offset, *mark = (const char *)options + p->mark_offset;
        if (p->kind == TRV_KIND_LIST || (p->affects & TRV_AFFECTS_TIMES))
            continue;
        memcpy(key + used, member, p->bytes);
        used += p->bytes;
        if (p->mark) /* it has a meaning only beside a value */
            key[used++] = *mark && !trv_parameter_is_default(options, p);
    }
    memset(key + used, 0, TRV_PARAMETERS_KEY_MAX - used);
}
