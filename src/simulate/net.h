/*
 * The inside of the network: links.c moves packets, inject.c injects them, setup.c creates and measures.
 *
 * A packet in a queue, or on its way, is a message number and one word of `info`. In a router it first waits at the
 * *input* that it came by, a link's or an interface's, then stands in a queue of the output that it goes to; an output
 * admits one packet at a time. The packets of a message that a fast interface delivers are a *train*: one entry at
 * their input. A train that nobody competes with is admitted in arrears, when somebody looks: an output does not send
 * faster than the train comes.
 *
 * All this is for the plain case. With finite buffers, link loads or an observer (`tracked`) every packet has a
 * record and is queued by itself; the functions of links.c are compiled once for each case.
 */
#ifndef TRIVANCE_SIMULATE_NET_H
#define TRIVANCE_SIMULATE_NET_H

#include "simulate/events.h"
#include "simulate/network.h"

#define TRV_FLIT_BYTES 256
#define TRV_NONE       UINT32_MAX
#define TRV_FREE_LANES 8

/* The word of a packet. */
enum {
    INFO_HOPS = 22,      /* bits: hops left in the present leg */
    INFO_LEG = 22,       /* shift: number of the leg, 3 bits */
    INFO_LAST = 1 << 25, /* the last packet of its message */
    INFO_CHANNEL = 26    /* shift: the channel of the link it goes to next */
};
#define INFO_HOPS_MASK ((1u << INFO_HOPS) - 1)

/* Kinds of events in the heap; of one moment they happen in this order. */
enum { DUE_ENTER, DUE_ADMIT, DUE_CHOOSE, DUE_NIC, DUE_CREDIT, DUE_ARRIVED, DUE_SENT, DUE_TIMER };

static inline uint64_t due_key(int kind, uint64_t id) { return (uint64_t)kind << 56 | id; }

typedef struct entry {
    uint32_t next, message;
    uint32_t packets; /* of the message that stand here one behind the other; tracked: the packet's record */
    uint32_t info;
} entry_t;

/* What came in by one link or interface and is not admitted yet; the first is in the lobby of the output it goes to. */
typedef struct input {
    int64_t last; /* when its latest packet was admitted */
    uint32_t head, tail;
    uint32_t next; /* input in the same lobby */
} input_t;

typedef struct queue {
    uint32_t head, tail;
} queue_t;

typedef struct link {
    queue_t queue[2];
    int64_t admits_at; /* when the queues can take the next packet */
    uint32_t lobby;    /* inputs that wait for that */
    uint32_t next;     /* the link straight on; the highest bit says that it starts at coordinate 0 */
    uint8_t turn;
    uint8_t awake; /* it will choose a packet when it has woken, is free, or (blocked) gets a credit */
    uint8_t blocked;
    uint8_t admitting; /* an event, or this moment's end, admits from the lobby; else it has at most a lone train */
} link_t;
#define LINK_AT_ZERO (1u << 31)

typedef struct message {
    int64_t first;              /* when its first packet is at the router */
    uint32_t packets, injected; /* all; those that have been injected one by one, or admitted of a train */
    uint32_t last_flits, last_bytes, id, nic, legs;
    uint32_t info; /* of its packets when they join the first queue */
    uint32_t next; /* message behind it at the interface (finite buffers); next free one */
    int64_t tail;  /* from head to last byte of its last packet, at the destination */
    uint64_t serial;
    trv_leg_t leg[TRV_DIMS_MAX];
} message_t;

/* A packet where each one counts. */
typedef struct packet {
    uint32_t from;   /* the buffer it occupies: link * 2 + channel; TRV_NONE: that of its message's interface */
    uint32_t number; /* in its message; next free record */
} packet_t;

typedef struct nic {
    int64_t free_at;
    uint32_t head, tail; /* messages that wait (finite buffers) */
    bool idle;           /* neither injecting nor stalled */
    int64_t free_bytes;
} nic_t;

struct trv_packets {
    trv_torus_t torus;
    trv_simulate_options_t options;
    trv_driver_t driver;
    int64_t now;
    int ports, shift; /* link = node << shift | port */
    uint32_t links;   /* nodes << shift */
    bool dateline, tracked, trains, finite, slow;
    uint32_t packet_flits;
    /* All in fs: a flit on a link, one hop without it, a full packet on a link, from interface to router and from
     * router to node, a flit of the interface, the distance of packets at injection, the way back of a credit. */
    int64_t flit, hop, full, entry_delay, exit_delay, nic_flit, gap, credit_delay;

    link_t *link;
    nic_t *nic;                     /* node << shift | port */
    uint8_t path[2 * TRV_DIMS_MAX]; /* the interface that serves for that of each port, itself unless it is narrow … */
    int64_t pace[2 * TRV_DIMS_MAX]; /* … and for how long a flit occupies it */
    input_t *input;        /* node << shift | the port that the packets left their last node by, then interfaces */
    int64_t *link_flit;    /* per link, where some are slow; TRV_NEVER: cut */
    int64_t *free_bytes;   /* link * 2 + channel, finite buffers */
    trv_link_load_t *load; /* tracked */
    uint32_t *waiting;     /* packets in the queues of a link, tracked */

    entry_t *entry;
    uint32_t entries, entry_free;
    int64_t entry_capacity;
    message_t *message;
    uint32_t messages, message_free;
    int64_t message_capacity;
    packet_t *packet;
    uint32_t packets, packet_free;
    int64_t packet_capacity;
    flight_t *parked; /* flights in the heap */
    uint32_t parked_count, parked_free;
    int64_t parked_capacity;

    flight_lane_t flying, entering, injecting;
    tick_lane_t leaving;           /* messages on their way from router to node */
    tick_lane_t waking, admitting; /* links */
    tick_lane_t freeing[TRV_FREE_LANES];
    uint8_t *lane_of; /* flits -> lane, or one of the two below */
    int lanes;
    due_heap_t heap;
    /* Links that admit, then links that choose, when everything has arrived that arrives now. */
    uint32_t *touched, *choosing;
    uint32_t *following; /* inputs whose next packet attends its output after that */
    uint32_t touched_count, choosing_count, following_count;

    uint64_t sent, delivered, sent_packets, hops;
    uint64_t moved, report_at; /* packet-hops so far; when progress is reported next */
    trv_watch_t watch;
    int64_t enough; /* the run ends there; TRV_NEVER: at its end */
    bool ended;     /* it has */
};
/* Whether what waits at an input are trains. */
static inline bool is_train(const trv_packets_t *net, uint32_t input) { return net->trains && input >= net->links; }

enum { LANE_UNKNOWN = 254, LANE_HEAP = 255 };

/* ---- inject.c ---------------------------------------------------------------------------------------------------- */

/* DUE_NIC: the interface takes its next packet. */
int trv_packets_inject(trv_packets_t *net, uint32_t nic);
/* A packet has left the buffer behind the interface. */
int trv_packets_nic_credit(trv_packets_t *net, uint32_t nic, uint32_t flits);
/* The reverse. */
flight_t trv_packets_unpark(trv_packets_t *net, uint32_t index);
/* A new record, TRV_NONE without memory. */
uint32_t trv_packets_record(trv_packets_t *net, uint32_t from, uint32_t number);

static inline uint32_t message_flits(const trv_packets_t *net, const message_t *m)
{
    return (m->packets - 1) * net->packet_flits + m->last_flits;
}

#endif
