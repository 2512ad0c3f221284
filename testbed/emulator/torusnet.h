/*
 * trivance-torusnet: an emulated torus for real programs. Every node has a TUN device. IP packets travel hop by hop
 * over directed links, in real time.
 *
 * The links are those of the packet simulator under `fifo` with tail delivery: a link carries one packet at a time, in
 * order of arrival; a packet's head proceeds as soon as it has passed the link (virtual cut-through), and the packet is
 * delivered when its last byte has arrived. An idle route of h hops therefore takes h * latency + bytes / bandwidth.
 *
 * Time is virtual between a packet's entry and its delivery: a packet that waits for a link leaves it at the time of
 * the model, not when the emulator processes it, so lateness does not add up over hops. The lateness of deliveries in
 * real time is measured.
 *
 * With ports, a node also has a device for each of its links, like a network card that is as fast as the link: one more
 * queue before a packet's first hop, and one after its last. The destination alone determines the path in between,
 * unless two are equally long; then it is the one that arrives by the port to which the packet was sent.
 *
 * With cables, nodes do not forward: a node has one Ethernet device for each of its links, and a packet crosses only
 * the cable of its device, to the neighbour. A switch may join all nodes in a slower management network, with one more
 * device per node. A cable that is cut is pulled: the devices at both ends lose their carrier.
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
#define TN_ETHERNET_HEADER  14
#define TN_LATENESS_BUCKETS 10000 /* of one microsecond each; the last one also counts everything later */

/* A packet. At the time `due_ns` (CLOCK_MONOTONIC) its head is at `node`; with `through`, its tail. */
typedef struct tn_packet {
    int64_t due_ns;
    uint64_t order;         /* number of its entry; ties are first come, first served */
    int node, destination;  /* destination TN_ALL: all other nodes in the management network */
    int leaves, arrives;    /* the card (port) by which it leaves and arrives; -1: none, or (leaves) it has left; with
                            * cables, their ports; leaves TN_MANAGEMENT: by the management network */
    bool through;           /* its head has passed everything; only its tail is still arriving */
    int64_t tail_ns;        /* time from its head to its last byte: the serialisation on the slowest link so far */
    uint32_t bytes;         /* without the Ethernet header */
    struct tn_packet *next; /* in the pool */
    unsigned char data[TN_ETHERNET_HEADER + TN_MTU];
} tn_packet_t;

#define TN_ALL        (-1)
#define TN_MANAGEMENT TRV_PORTS_MAX

/* The traffic of a link since the last reset. */
typedef struct tn_count {
    uint64_t packets, bytes, dropped;
    int64_t busy_ns;
    uint64_t queue_max_bytes; /* maximum that a packet found waiting */
} tn_count_t;

/* A directed link. */
typedef struct tn_link {
    double bandwidth_bps;
    int64_t latency_ns;
    bool down;
    bool pulled;     /* its devices have no carrier */
    int64_t free_ns; /* time at which it has carried all its packets */
    int64_t head_ns; /* time at which its latest head leaves it; keeps the order when the latency is reduced */
    tn_count_t count;
} tn_link_t;

typedef struct tn_net {
    trv_torus_t torus;
    int ports;                 /* per node: 2 per dimension */
    tn_link_t *link;           /* node * ports + port */
    tn_link_t *card[2];        /* with ports: arriving, leaving, each node * ports + port; else NULL */
    bool cables;               /* nodes do not forward */
    tn_link_t *management[2];  /* with cables: from the switch to each node, and back; NULL: none */
    int *device;               /* node * tn_devices + device: the descriptor; -1: no such device; NULL: no devices */
    double bandwidth_bps;      /* at the start */
    bool cut;                  /* the routes avoid links that were down at the last tn_route */
    unsigned char *route_port; /* node * ranks + destination: the port to leave by */
    tn_packet_t **heap;        /* by due_ns and order */
    size_t heap_size, heap_capacity;
    tn_packet_t *pool;
    uint64_t entered, delivered, misaddressed;
    uint32_t lateness[TN_LATENESS_BUCKETS];
    int64_t lateness_max_ns;
    int64_t since_ns; /* time of the last reset of the counts */
} tn_net_t;

/* ---- link.c: links, and the torus that they make ----------------------------------------------------------------- */

/* Creates a network whose links are all equal. Returns 0 or TRV_ERR_MEMORY. */
int tn_net_create(tn_net_t *net, const trv_torus_t *torus, double bandwidth_bps, int64_t latency_ns);
/* Adds a card for each port. */
int tn_net_add_cards(tn_net_t *net);
/* Nodes do not forward; joins them by a management network, unless its bandwidth is 0. */
int tn_net_use_cables(tn_net_t *net, double management_bps, int64_t management_latency_ns);
void tn_net_destroy(tn_net_t *net);

/* trv_torus_route_port for a packet to the card of port `arrives` (-1: none): it arrives by that port if both ways are
 * equally long. */
int tn_port_for(const trv_torus_t *torus, int node, int destination, int arrives);

bool tn_has_link(const trv_torus_t *torus, int node, int port);

/* Computes the routes: packets take the other way round a ring if the shorter way has a link that is cut now and the
 * other has none. */
void tn_route(tn_net_t *net);

/* Moves a packet, whose head is at packet->node at packet->due_ns, over its next link or through a card, and adds it to
 * the timer again. Returns false if the link is cut, or copies of the packet take its place; the caller then frees the
 * packet. */
bool tn_forward(tn_net_t *net, tn_packet_t *packet);
/* Whether all of the packet, its tail included, is at its destination at packet->due_ns. */
bool tn_has_arrived(const tn_packet_t *packet);
/* Whether a packet that has arrived is lost because its cable has been pulled meanwhile; counts it. */
bool tn_is_lost(tn_net_t *net, const tn_packet_t *packet);

void tn_count_lateness(tn_net_t *net, int64_t late_ns);
/* The lateness that the fraction `share` (0 … 1) of all deliveries did not exceed. */
int64_t tn_lateness_ns(const tn_net_t *net, double share);
void tn_reset(tn_net_t *net, int64_t now_ns);

/* ---- timer.c: packets, and the times at which they are due ------------------------------------------------------- */

/* Enlarges the pool by `count` packets, as far as memory permits. */
void tn_packet_reserve(tn_net_t *net, int count);
/* Takes a packet from the pool; NULL if memory is exhausted. */
tn_packet_t *tn_packet_get(tn_net_t *net);
void tn_packet_put(tn_net_t *net, tn_packet_t *packet);

/* Returns false if memory is exhausted. */
bool tn_timer_add(tn_net_t *net, tn_packet_t *packet);
/* The packet that is due next, or NULL; _take also removes it. */
tn_packet_t *tn_timer_first(const tn_net_t *net);
tn_packet_t *tn_timer_take(tn_net_t *net);

/* ---- tun.c: the nodes' devices ----------------------------------------------------------------------------------- */

/* Opens the device `name`, of IP packets or of Ethernet frames, in the network namespace `space`, then returns to the
 * caller's namespace. Returns the descriptor, or -1 with errno and the name of the failed call in *what. */
int tn_tun_open(const char *space, const char *name, bool ethernet, const char **what);

/* The number of devices of a node: one for the node (with cables, of the management network), then one for each port if
 * it has cards or cables. */
int tn_devices(const tn_net_t *net);
/* The device's name; NULL if it does not exist, because no link leaves by that port. */
const char *tn_device_name(const tn_net_t *net, int node, int device, char name[16]);

/* Reads packets that a node has sent by a device and adds them to the timer: at most `packets_max`, and none when a
 * packet is due. Returns their number. */
int tn_tun_read(tn_net_t *net, int descriptor, int node, int device, int packets_max);
/* Delivers a packet to its node. */
void tn_tun_write(tn_net_t *net, const tn_packet_t *packet);
/* Takes the carrier of the devices at the ends of cables that are down, and gives it back to those that are up. */
void tn_tun_set_carriers(tn_net_t *net);

int64_t tn_now_ns(void);

/* ---- control.c: requests while it runs --------------------------------------------------------------------------- */

/* Listens at `path`. Returns the descriptor, or -1. */
int tn_control_open(const char *path);
/* Accepts one connection, answers one line and closes it. */
void tn_control_answer(tn_net_t *net, int listening, const char *about);

#endif
