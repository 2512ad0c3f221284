/*
 * trivance-torusnet: an emulated torus for real programs. One TUN device per node; IP packets go hop by hop over
 * directed links, in real time.
 *
 * The links are those of the packet simulator under `fifo` with delivery of the tail: a link carries one packet at a
 * time, in order of arrival; a packet's head goes on as soon as it is through (virtual cut-through), and the packet is
 * delivered when its last byte is there. So an idle route of h hops takes h * latency + bytes / bandwidth.
 *
 * Time is virtual between a packet's entry and its delivery: a packet that waits for a link leaves it at the time that
 * the model says, not when the emulator got round to it, so that lateness does not add up over hops. How late
 * deliveries are in real time is measured.
 *
 * With ports, a node also has a device for each of its links, as if that were a network card as fast as the links: one
 * more queue before a packet's first hop, and one behind its last. Which way it goes between the two is decided by its
 * destination alone, but where two are as short: there it is the one that arrives by the port it is sent to.
 *
 * Packets are lost only on links that are cut.
 */
#ifndef TRIVANCE_TESTBED_EMULATOR_TORUSNET_H
#define TRIVANCE_TESTBED_EMULATOR_TORUSNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/torus.h>

#define TN_MTU              9000
#define TN_LATENESS_BUCKETS 10000 /* of a microsecond each; what is later counts in the last */

/* A packet whose head is at `node` at time `due_ns` (CLOCK_MONOTONIC); at its destination: whose tail is. */
typedef struct tn_packet {
    int64_t due_ns;
    uint64_t order; /* of entry: ties are first come, first served */
    int node, destination;
    int leaves, arrives; /* by the card of this port; -1: by none, or (leaves) it has left */
    bool through;        /* nothing is before it but its tail */
    int64_t tail_ns;     /* what its last byte is behind its head: the serialisation on the slowest link so far */
    uint32_t bytes;
    struct tn_packet *next; /* in the pool */
    unsigned char data[TN_MTU];
} tn_packet_t;

/* What went over a link since the last reset. */
typedef struct tn_count {
    uint64_t packets, bytes, dropped;
    int64_t busy_ns;
    uint64_t queue_max_bytes; /* the most that waited when a packet came */
} tn_count_t;

/* A directed link. */
typedef struct tn_link {
    double bandwidth_bps;
    int64_t latency_ns;
    bool down;
    int64_t free_ns; /* when it has carried what it was given */
    int64_t head_ns; /* when the latest head came out: none overtakes it when the latency shrinks */
    tn_count_t count;
} tn_link_t;

typedef struct tn_net {
    trv_torus_t torus;
    int ports;            /* of a node: 2 per dimension */
    tn_link_t *link;      /* node * ports + port */
    tn_link_t *card[2];   /* the same, with ports: in, out; else NULL */
    double bandwidth_bps; /* as it was made */
    bool cut;             /* a link is down for the routes */
    unsigned char *way;   /* node * ranks + destination: the port to leave by */
    tn_packet_t **heap;   /* by due_ns and order */
    size_t heap_size, heap_capacity;
    tn_packet_t *pool;
    uint64_t entered, delivered, strays;
    uint32_t lateness[TN_LATENESS_BUCKETS];
    int64_t lateness_max_ns;
    int64_t since_ns; /* of the counts */
} tn_net_t;

/* ---- link.c: links, and the torus that they make ----------------------------------------------------------------- */

/* Every link the same. 0, or TRV_ERR_MEMORY. */
int tn_net_create(tn_net_t *net, const trv_torus_t *torus, double bandwidth_bps, int64_t latency_ns);
/* Gives it a card for each port. */
int tn_net_add_cards(tn_net_t *net);
void tn_net_destroy(tn_net_t *net);

/* The port by which a packet leaves `node` on its way to another: dimensions ascending, the shorter way, + where both
 * are as long; along a line the only way. */
int tn_port(const trv_torus_t *torus, int node, int destination);

/* The same of a packet to the card of a port there (-1: to none), by which it arrives where two ways are as short. */
int tn_port_for(const trv_torus_t *torus, int node, int destination, int arrives);

/* The node at the other end of a port; the ends of lines have none. */
int tn_neighbour(const trv_torus_t *torus, int node, int port);
bool tn_has_link(const trv_torus_t *torus, int node, int port);

/* From now on packets go the other way round a ring where a link of the shorter way is cut, and one of the other way is
 * not. */
void tn_route(tn_net_t *net);

/* Moves a packet, whose head is at packet->node at packet->due_ns, over its next link or through a card, and puts it into
 * the timer again; false: the link is cut (the caller frees the packet). */
bool tn_forward(tn_net_t *net, tn_packet_t *packet);
/* It is where it goes, tail and all, at packet->due_ns. */
bool tn_is_there(const tn_packet_t *packet);

void tn_count_lateness(tn_net_t *net, int64_t late_ns);
/* So many of all deliveries (0 … 1) were at most this late. */
int64_t tn_lateness_ns(const tn_net_t *net, double share);
void tn_reset(tn_net_t *net, int64_t now_ns);

/* ---- timer.c: packets, and when what is due ---------------------------------------------------------------------- */

/* Enlarges the pool by so many packets, if there is memory. */
void tn_packet_reserve(tn_net_t *net, int count);
/* A packet from the pool; NULL: no memory. */
tn_packet_t *tn_packet_get(tn_net_t *net);
void tn_packet_put(tn_net_t *net, tn_packet_t *packet);

/* false: no memory. */
bool tn_timer_add(tn_net_t *net, tn_packet_t *packet);
/* The packet that is due next, or NULL; and the same taken out. */
tn_packet_t *tn_timer_first(const tn_net_t *net);
tn_packet_t *tn_timer_take(tn_net_t *net);

/* ---- tun.c: the nodes' devices ----------------------------------------------------------------------------------- */

/* Opens the device `name` in the network namespace `space`, then returns to the caller's own. The descriptor, or -1
 * with errno and *what telling which call failed. */
int tn_tun_open(const char *space, const char *name, const char **what);

/* A node's devices: that of the node, then those of its ports. */
int tn_devices(const tn_net_t *net);
/* The device's name; NULL where there is none, because no link leaves by that port. */
const char *tn_device_name(const tn_net_t *net, int node, int device, char name[16]);

/* Reads what a node has sent by a device into the timer: at most `most` packets, and none when something is due. The
 * number of packets. */
int tn_tun_read(tn_net_t *net, int descriptor, int node, int device, int most);
/* Hands a packet to its node; descriptor[node * tn_devices + device]. */
void tn_tun_write(tn_net_t *net, const int *descriptor, const tn_packet_t *packet);

int64_t tn_now_ns(void);

/* ---- control.c: questions and orders while it runs --------------------------------------------------------------- */

/* Listens at `path`. The descriptor, or -1. */
int tn_control_open(const char *path);
/* Takes one connection, answers one line and closes it. */
void tn_control_answer(tn_net_t *net, int listening, const char *about);

#endif
