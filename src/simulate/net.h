/*
 * The internal state of the network. links.c moves packets, inject.c injects them, setup.c creates the network and
 * reads its results.
 *
 * A packet that is in flight is a message number and one word of `info`. In a router it first waits at the *input* by
 * which it arrived, a link's or an interface's, and then in a queue of the *output* by which it leaves; an output
 * admits one packet at a time. The packets of a message that a fast interface delivers form a *train*: a single entry
 * at their input. While no other input competes with a train for its output, it is admitted in arrears, when the state
 * of the output is needed. That is correct because an output does not send faster than the packets of a train arrive.
 *
 * Trains exist in the plain case only. With finite buffers, slow links, link loads, balanced ties or an observer
 * (`tracked`) every packet has a record and is queued individually. The functions of links.c are compiled once for each
 * case.
 */
#ifndef TRIVANCE_SIMULATE_NET_H
#define TRIVANCE_SIMULATE_NET_H

#include "simulate/events.h"
#include "simulate/network.h"

#define TRV_NONE       UINT32_MAX
#define TRV_FREE_LANES 8

/* The layout of a packet's word. */
enum {
    INFO_HOPS = 22,      /* number of bits: hops left in the present leg */
    INFO_LEG = 22,       /* shift: number of the leg, 3 bits */
    INFO_LAST = 1 << 25, /* flag: the last packet of its message */
    INFO_CHANNEL = 26,   /* shift: channel of the link that it takes next */
    INFO_BACK = 27       /* shift: 1 if it takes the leg in the other direction (balance_ties) */
};
#define INFO_HOPS_MASK ((1u << INFO_HOPS) - 1)

/* Kinds of events in the heap. Events with the same time are handled in this order. */
enum { DUE_ENTER, DUE_ADMIT, DUE_CHOOSE, DUE_NIC, DUE_CREDIT, DUE_ARRIVED, DUE_SENT, DUE_TIMER };

static inline uint64_t due_key(int kind, uint64_t id) { return (uint64_t)kind << 56 | id; }

typedef struct entry {
    uint32_t next, message;
    uint32_t packets; /* number of successive packets of the message in this entry; tracked: the packet's record */
    uint32_t info;
} entry_t;

/* The packets that arrived by one link or interface and are not yet admitted. While there are any, the input
 * requests the output by which its first packet leaves. */
typedef struct input {
    int64_t last; /* time at which its latest packet was admitted */
    uint32_t head, tail;
    uint32_t next; /* next input that requests the same output */
} input_t;

typedef struct queue {
    uint32_t head, tail;
} queue_t;

typedef struct link {
    queue_t queue[2];
    int64_t admits_at; /* time from which the queues can admit the next packet */
    uint32_t requests; /* list of the inputs that request admission */
    uint32_t next;     /* next link in the same direction; its highest bit: that link starts at coordinate 0 */
    uint8_t next_channel;
    uint8_t awake; /* it chooses a packet at a future event: when awake, free, or (blocked) given a credit */
    uint8_t blocked;
    uint8_t admitting; /* an admission is due, by an event or in `admit_list`; otherwise at most a lone train waits */
} link_t;
#define LINK_AT_ZERO (1u << 31)

typedef struct message {
    int64_t first;              /* time at which its first packet reaches the router */
    uint32_t packets, injected; /* in all; injected one by one or, of a train, admitted */
    uint32_t last_flits, last_bytes, id, nic, legs;
    uint32_t info; /* the word of its packets when they join the first queue */
    uint32_t next; /* next message at the interface (finite buffers); in a free record, the next one */
    int64_t tail;  /* time from the arrival of its last packet's head to its own */
    /* With balance_ties: number of packets that have arrived, and the time at which the latest of them was complete. */
    uint32_t arrived;
    int64_t complete;
    uint64_t serial;
    trv_leg_t leg[TRV_DIMS_MAX];
} message_t;

/* The record of a packet, in the tracked case. */
typedef struct packet {
    uint32_t from;   /* the buffer that it occupies: link * 2 + channel; TRV_NONE: that of its message's interface */
    uint32_t number; /* its number within the message; in a free record, the next free one */
} packet_t;

typedef struct nic {
    int64_t free_at;
    uint32_t head, tail; /* list of messages that wait (finite buffers) */
    bool idle;           /* there is no event at which it will inject: nothing waits, or the buffer is full */
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
    uint32_t own_packet_bytes; /* see trv_packets_enlarged_from */
    /* All in fs: flit on a link; hop without that flit; full packet on a link; from interface to router; from router to
     * node; flit of an interface; interval between packets at injection; return of a credit. */
    int64_t flit, hop, full, entry_delay, exit_delay, nic_flit, gap, credit_delay;
    int64_t injection_flit, spacing; /* of a flit and of a full packet at an interface */

    link_t *link;
    nic_t *nic;                     /* node << shift | port */
    uint8_t path[2 * TRV_DIMS_MAX]; /* the interface of each port: its own, unless the dimension has a shared path … */
    int64_t pace[2 * TRV_DIMS_MAX]; /* … and the time that a flit occupies it */
    input_t *input;        /* node << shift | the port by which packets left the previous node; then the interfaces */
    int64_t *link_flit;    /* time of a flit per link, if some links are slow; TRV_NEVER: cut */
    int64_t *free_bytes;   /* link * 2 + channel, finite buffers */
    trv_link_load_t *load; /* tracked */
    uint32_t *waiting;     /* number of packets in the queues of a link, tracked */

    entry_t *entry;
    uint32_t entries, entry_free;
    int64_t entry_capacity;
    message_t *message;
    uint32_t messages, message_free;
    int64_t message_capacity;
    packet_t *packet;
    uint32_t packets, packet_free;
    int64_t packet_capacity;
    flight_t *deferred; /* flights in the heap */
    uint32_t deferred_count, deferred_free;
    int64_t deferred_capacity;

    flight_lane_t flying, entering, injecting;
    tick_lane_t leaving;           /* messages between router and destination node */
    tick_lane_t waking, admitting; /* links */
    tick_lane_t freeing[TRV_FREE_LANES];
    uint8_t *lane_of; /* flits -> lane, or LANE_UNKNOWN or LANE_HEAP */
    int lanes;
    due_heap_t heap;
    /* Outputs that admit, then ports that choose, after all arrivals of the present moment. */
    uint32_t *admit_list, *choose_list;
    uint32_t *follow_list; /* inputs whose next packet requests its output after that */
    uint32_t admit_count, choose_count, follow_count;

    uint64_t sent, delivered, sent_packets, hops;
    uint64_t hops_done, report_at; /* packet-hops so far; value at which progress is reported next */
    trv_watch_t watch;
    int64_t cutoff; /* time after which the run is stopped; TRV_NEVER: not stopped */
    bool stopped;   /* it was stopped */
};
/* Whether the entries at an input are trains. */
static inline bool is_train(const trv_packets_t *net, uint32_t input) { return net->trains && input >= net->links; }

enum { LANE_UNKNOWN = 254, LANE_HEAP = 255 };

/* ---- inject.c ---------------------------------------------------------------------------------------------------- */

/* The event DUE_NIC: the interface injects its next packet. */
int trv_packets_inject(trv_packets_t *net, uint32_t nic);
/* A packet has left the buffer behind the interface. */
int trv_packets_nic_credit(trv_packets_t *net, uint32_t nic, uint32_t flits);
/* Removes a flight that was deferred (inject.c), when its event is due. */
flight_t trv_packets_resume(trv_packets_t *net, uint32_t index);
/* Makes a new record; TRV_NONE if memory is exhausted. */
uint32_t trv_packets_record(trv_packets_t *net, uint32_t from, uint32_t number);

static inline uint32_t message_flits(const trv_packets_t *net, const message_t *m)
{
    return (m->packets - 1) * net->packet_flits + m->last_flits;
}

#endif
