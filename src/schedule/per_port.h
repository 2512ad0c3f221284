/*
 * Messages per port: how many messages of a stream leave a rank by one port in a step, or arrive at it per port. A
 * message leaves by the port of the first link of its route. By which port it arrives does not matter: the messages that
 * arrive at a rank are counted together, and divided by the number of its ports.
 */
#ifndef TRIVANCE_SCHEDULE_PER_PORT_H
#define TRIVANCE_SCHEDULE_PER_PORT_H

#include <trivance/schedule.h>

/* The messages of one rank in one step of a stream, by port. */
typedef struct trv_port_load {
    int leaving[TRV_PORTS_MAX], arriving; /* by each port, and in all */
} trv_port_load_t;

/* The port of the first link of the route of a message that `from` sends to another rank. `mirrored`: as in
 * trv_route_begin. */
int trv_message_first_port(const trv_torus_t *torus, bool mirrored, int from, const trv_message_t *message);

/* The number of links that leave a rank. */
int trv_rank_ports(const trv_torus_t *torus, int rank);

/* Counts a message that `from` sends, as one that leaves it or as one that arrives at its peer. Returns the new number
 * of messages by its port, or per port. */
int trv_port_load_add(trv_port_load_t *load, const trv_torus_t *torus, bool mirrored, int from,
                      const trv_message_t *message, bool leaves);

/* Finds the maximum over all ranks, ports, steps and streams, or one that is larger than `enough`: the number that the
 * schedule declares or, if it declares none, the count. */
int trv_schedule_find_per_port(const trv_schedule_t *schedule, int enough, int *most);

#endif
