/*
 * Topology files: a torus or mesh as it is (trivance/network.h), and which coordinate of it each rank, or each host, has.
 * docs/topology.md describes the format.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_FILE_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_FILE_H

#include <stdio.h>

#include "base/error.h"
#include "topology/topology.h"

/* Reads the file at `path`. On failure the topology is empty, and the sentence says where in the file, and what was
 * expected. `warn` (may be NULL) hears of keys that are unknown. */
int trv_topology_read(trv_topology_t *topology, const char *path, trv_warn_t *warn, void *context);
/* The same for a text in memory. */
int trv_topology_parse(trv_topology_t *topology, const char *name, const char *text, size_t length, trv_warn_t *warn,
                       void *context);
void trv_topology_clear(trv_topology_t *topology);

/* Writes the file that reads as this topology. 0, or TRV_ERR_MEMORY. */
int trv_topology_write(const trv_topology_t *topology, FILE *out);

/* The place of a rank that runs on `host`; -1 where the topology has none. Hosts are found by their full names, or up
 * to the first dot. */
int trv_topology_place(const trv_topology_t *topology, int rank, const char *host);

#endif
