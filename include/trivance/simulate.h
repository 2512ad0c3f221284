/*
 * The packet simulator: how long a schedule takes on a torus, packet by packet.
 *
 * A node has a router and, for every port, a network interface that injects packets into it. A message is cut into
 * packets, which take the message's route (trivance/torus.h), one directed link after another. A link carries one
 * packet at a time, in order of arrival; a packet proceeds as soon as its head has arrived (virtual cut-through). A
 * rank pays alpha when it enters a step of a stream in which it sends or receives, then sends all its messages of the
 * step; it enters the next step when these are injected and its receives have arrived. Ranks and streams do not wait
 * for each other otherwise, except for message overheads, which a rank pays one after another over all its streams.
 *
 * The timing rules are those of SST 11.1 with its Merlin network, on which the paper's simulation builds (section 6,
 * appendix E), and which TRV_DATELINE and otherwise the default options reproduce; docs/simulator.md states every one.
 * research/docs/published.md states the options that reproduce the paper's own simulation.
 *
 * Time is counted in whole femtoseconds. Every run is determined to the last bit by its arguments.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_SIMULATE_H
#define TRIVANCE_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The queues of a link. */
typedef enum trv_link_model {
    TRV_DATELINE, /* two channels that take turns: a packet changes to the second when it passes coordinate 0 of the
                     dimension it travels in, as in a deadlock-free torus router and the reference simulator */
    TRV_FIFO      /* one queue: the ideal router */
} trv_link_model_t;

/* The time at which a packet counts as arrived. */
typedef enum trv_delivery {
    TRV_DELIVERY_HEAD, /* when its head arrives: the reference simulator's rule */
    TRV_DELIVERY_TAIL  /* when its last byte arrives, one serialisation of the packet (on the slowest link of its route)
                          later, as on a real link */
} trv_delivery_t;

/* A rank whose alpha, message overhead and reductions take `factor` times as long (>= 1). If a rank or link has several
 * entries, the last counts. */
typedef struct trv_slow_rank {
    int rank;
    double factor;
} trv_slow_rank_t;

/* Callbacks for events, in order of time; each may be NULL. Times in ns. */
typedef struct trv_simulate_observer {
    size_t size; /* of this struct, as the caller knows it: begin with {TRV_SIMULATE_OBSERVER} */
    void *context;
    /* A rank is in a step of a stream from `begin_ns` (when it starts to pay alpha) to `end_ns`; called at the end. */
    void (*step)(void *context, int rank, int stream, int step, double begin_ns, double end_ns);
    /* A packet occupies the link that leaves `rank` by `port`; `message` numbers the messages in order of sending. */
    void (*packet)(void *context, int rank, int port, uint64_t message, uint32_t packet, double begin_ns,
                   double end_ns);
} trv_simulate_observer_t;
#define TRV_SIMULATE_OBSERVER TRV_SIZED(trv_simulate_observer_t)

/* Everything but the schedule and the size. Start from TRV_SIMULATE_DEFAULTS. The members after `progress_context` are
 * the parameters of the network, which trivance/parameters.h lists, with functions that set them from text. */
typedef struct trv_simulate_options {
    size_t size; /* of this struct, as the caller knows it */
    bool full;   /* simulate every rank, even if some represent all by symmetry, and every packet (see trv_simulate) */
    bool link_loads;                         /* fill trv_simulation_t.link */
    const trv_simulate_observer_t *observer; /* or NULL; implies `full` */
    /* NULL, or a function that is called about every 10 ms, by the thread that does the work, with the fraction 0 … 1
     * that is done, which never decreases. A result other than 0 ends the call with TRV_ERR_CANCELLED. The planner
     * (trivance/planner.h) calls it too. */
    int (*progress)(void *context, double fraction);
    void *progress_context;
    int slow_ranks, slow_links;
    const trv_slow_rank_t *slow_rank;
    const trv_slow_link_t *slow_link;
    trv_link_model_t model;
    trv_delivery_t delivery;
    double bandwidth_bps;               /* of a directed link, bits per second, > 0 */
    double nic_bandwidth_bps;           /* of a network interface and of the router's crossbar, > 0 */
    double alpha_ns;                    /* paid at the start of every step, >= 0 */
    double link_latency_ns;             /* propagation along a link, >= 0 */
    double host_latency_ns;             /* between a node and its router, each way, >= 0 */
    double router_in_ns, router_out_ns; /* >= 0 */
    uint32_t packet_bytes; /* 256 … 2^20, the payload of a packet; a link carries whole flits of 256 bytes */
    uint64_t buffer_bytes; /* of a router's input, per link and channel; 0: unlimited. At least one packet. Requires
                                   TRV_DATELINE, because a ring with one queue and full buffers deadlocks */
    double message_overhead_ns; /* time for which a message occupies its sender's processor, >= 0; the messages of all
                                   streams of a rank one after another, first come, first served */
    double gamma_ns;            /* per byte that a reduction reads, >= 0: a joint reduction of k sources reads k times
                                   the bytes of its result (the paper's reduction volume: 1.5 m against 2 m);
                                   a step's bytes are rounded up once. It is the rate of a rank, which its streams share
                                   equally, or with gamma_per_stream that of every stream */
    double jitter;              /* 0 … 1: every alpha is stretched by a random factor of up to 1 + jitter … */
    uint64_t seed;              /* … which this determines */
    trv_routes_t routes; /* routes that a planner's schedules are made for; the simulator follows a schedule's ports */
    unsigned shared_paths; /* bit d: messages that leave by the two ports of dimension d share one path into the
                              network: one interface, or two behind one cable */
    bool one_path;         /* all dimensions of shared_paths share a single path */
    double path_bps;       /* the rate of shared paths; 0: that of a link. At most that of an interface */
    bool balance_ties;     /* a packet whose message goes half way round a ring takes the direction in which fewer
                              packets wait at its router; on a tie, that of the route. Requires links of equal rate */
    bool gamma_per_stream; /* see gamma_ns */
    bool no_forwarding;    /* the network does not forward (trivance/network.h) */
    double injection_bps;  /* rate at which an interface injects its messages; 0: nic_bandwidth_bps, its maximum. Below
                              bandwidth_bps it is the rate of a single message on links that several messages share */
    double part_overhead_ns; /* additional overhead of the first message of a stream to a peer if it carries only a part
                                of the stream's data, >= 0: its buffer is registered, its address exchanged */
    uint32_t messages_per_port; /* as in trv_network_t, 0 … 2^20; 0: unlimited. Simulations do not depend on it */
    double gamma_start_ns;      /* added to the time of every step's reductions, >= 0 */
    double gamma_small_ns;      /* > 0: reductions that are faster at this time per byte that they read, without
                                gamma_start_ns and not shared by streams, take that time: one core reduces them */
} trv_simulate_options_t;

/* One queue per link, and the other parameters of the paper's evaluation (appendix E): 800 Gb/s, alpha 1.5 us, 8 KiB
 * packets, 100 ns links, 50 + 50 ns routers. SST/Merlin has two channels per link (TRV_DATELINE). */
#define TRV_SIMULATE_DEFAULTS                                                                                          \
    {                                                                                                                  \
        TRV_SIZED_WITH(trv_simulate_options_t, TRV_MEMBER(model) = TRV_FIFO, TRV_MEMBER(bandwidth_bps) = 800e9,        \
                       TRV_MEMBER(nic_bandwidth_bps) = 12800e9, TRV_MEMBER(alpha_ns) = 1500,                           \
                       TRV_MEMBER(link_latency_ns) = 100, TRV_MEMBER(host_latency_ns) = 100,                           \
                       TRV_MEMBER(router_in_ns) = 50, TRV_MEMBER(router_out_ns) = 50, TRV_MEMBER(packet_bytes) = 8192, \
                       TRV_MEMBER(seed) = 1, TRV_MEMBER(messages_per_port) = 1)                                        \
    }

/* The traffic of one directed link. */
typedef struct trv_link_load {
    uint64_t packets, bytes; /* bytes of payload */
    double busy_ns;          /* utilisation = busy_ns / time_ns */
    uint32_t queue_max;      /* maximum packets waiting at once */
} trv_link_load_t;

typedef struct trv_simulation {
    double time_ns;                          /* from the start to the end of the last step of the last rank */
    uint64_t time_fs;                        /* the same, exactly */
    uint64_t messages, packets, packet_hops; /* of the whole torus */
    uint64_t simulated_hops;                 /* packet-hops simulated: fewer with the symmetry reduction */
    int simulated_ranks;
    uint32_t packet_bytes; /* of the simulated packets; larger than those of the options: see trv_simulate */
    trv_link_load_t *link; /* ranks * 2D, link rank * 2D + port; only with link_loads; freed by trv_simulation_clear */
} trv_simulation_t;
TRV_API void trv_simulation_clear(trv_simulation_t *result);

/* Checks all options for a torus. TRV_ERR_ARGUMENT for a value that is out of range, or a link, rank or dimension that
 * the torus does not have; TRV_ERR_UNSUPPORTED for packets that take too long. The functions below call it. */
TRV_API int trv_simulate_check(const trv_simulate_options_t *options, const trv_torus_t *torus);

/* A schedule prepared for simulation at any size and on any network. It does not need the schedule after its creation.
 * Thread-safety: it never changes; any number of threads may simulate it at once. */
typedef struct trv_simulator trv_simulator_t;

/* TRV_ERR_INVALID if the peer or the port of a message is not one of the torus. */
TRV_API int trv_simulator_create(trv_simulator_t **simulator, const trv_schedule_t *schedule);
TRV_API void trv_simulator_destroy(trv_simulator_t *simulator);

/* The packet-hops beyond which packets are enlarged. */
#define TRV_SIMULATE_HOPS_MAX 4e6

/* AllReduce (or the schedule's collective) of `vector_bytes`. Under TRV_FIFO a schedule with a symmetry is reduced to
 * the ranks that differ, with exactly the same result, unless `full` or an option that breaks the symmetry is set.
 * If the bytes of the simulated ranks would pass more than TRV_SIMULATE_HOPS_MAX links in packets of the options,
 * packets are doubled in size until they do not, up to 1 GiB; a packet first fills its last flit, and every message
 * remains at least one packet. The time then usually changes by less than a hundredth of a percent, in 1 of 40 cases by
 * more than 1 % (docs/simulator.md: by 20 % at most in samples): where messages that compete for a link arrive at once,
 * their order may change. Not with `full`, an observer, link_loads, balance_ties or finite buffers.
 * TRV_ERR_ARGUMENT for options out of range; TRV_ERR_UNSUPPORTED if a message's route passes a cut link, or has several
 * links on a network that does not forward;
 * TRV_ERR_CANCELLED if options->progress asked for it; TRV_ERR_INVALID if a rank waits for a message that no rank
 * sends, or full buffers wait for one another. */
TRV_API int trv_simulate(const trv_simulator_t *simulator, const trv_simulate_options_t *options, uint64_t vector_bytes,
                         trv_simulation_t *result);

/* A lower bound on the simulated time with these options, at negligible cost: for every rank, alpha and the hops of its
 * steps one after another, or the overheads of its messages, and for every link the bytes it carries. */
TRV_API int trv_simulate_bound_ns(const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                                  uint64_t vector_bytes, double *bound_ns);

#ifdef __cplusplus
}
#endif
#endif
