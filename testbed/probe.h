/*
 * Datagrams over the testbed, all from one process: a socket belongs to the node on which it was opened. Therefore no
 * other process needs to be scheduled for a message to be sent and received. If nodes do not forward, only neighbours
 * send to each other, and the destination's address selects the cable.
 */
#ifndef TRIVANCE_TESTBED_PROBE_H
#define TRIVANCE_TESTBED_PROBE_H

#include <stdint.h>

#include "testbed/testbed.h"

#define TB_HEADER_BYTES 28 /* IP and UDP headers */

typedef struct tb_probe {
    const tb_network_t *network;
    int nodes;
    int *socket; /* per node */
} tb_probe_t;

/* A number of packets from one node to another. */
typedef struct tb_flow {
    int from, to, packets;
    int port; /* if nodes do not forward: the sender's, else ignored */
} tb_flow_t;

/* Opens a socket on every node. The network must outlive the probe. TRV_ERR_STATE or TRV_ERR_MEMORY. */
int trv_testbed_probe_open(tb_probe_t *probe, const tb_network_t *network);
void trv_testbed_probe_close(tb_probe_t *probe);

/* Measures half the round-trip time of a packet of `bytes` and its answer. TRV_ERR_STATE if it does not return within
 * `timeout_ns`. */
int trv_testbed_ping_pong(const tb_probe_t *probe, const tb_flow_t *flow, uint32_t bytes, double timeout_ns,
                          double *time_ns);

/* Sends all flows at once, with their packets interleaved; measures from the first send to the last arrival. `bytes` is
 * the size of a packet, headers included. */
int trv_testbed_burst(const tb_probe_t *probe, const tb_flow_t *flow, int flows, uint32_t bytes, double timeout_ns,
                      double *time_ns);

#endif
