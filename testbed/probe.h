/*
 * Datagrams over the testbed, all from one process: a socket belongs to the node on which it was opened, so nobody else
 * need be scheduled for a message to be sent and received.
 */
#ifndef TRIVANCE_TESTBED_PROBE_H
#define TRIVANCE_TESTBED_PROBE_H

#include <stdint.h>

#define TB_HEADER_BYTES 28 /* of IP and UDP */

typedef struct tb_probe {
    int nodes;
    int *socket; /* of each node */
} tb_probe_t;

/* So many packets of `bytes` (with headers) from one node to another. */
typedef struct tb_flow {
    int from, to, packets;
} tb_flow_t;

/* A socket on every node. TRV_ERR_STATE, or TRV_ERR_MEMORY. */
int trv_testbed_probe_open(tb_probe_t *probe, int nodes);
void trv_testbed_probe_close(tb_probe_t *probe);

/* Half the time that a packet of `bytes` takes there and back. TRV_ERR_STATE: it is not back in `patience_ns`. */
int trv_testbed_ping_pong(const tb_probe_t *probe, int from, int to, uint32_t bytes, double patience_ns,
                          double *time_ns);

/* All flows at once, their packets in turns: from the first send to the last arrival. */
int trv_testbed_burst(const tb_probe_t *probe, const tb_flow_t *flow, int flows, uint32_t bytes, double patience_ns,
                      double *time_ns);

#endif
