/*
 * Topology files, read and written: a torus or mesh with its slow and missing links (trivance/network.h), and the
 * coordinate of each rank or host. docs/topology.md describes the format.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_FILE_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_FILE_H

#include <stdio.h>

#include "base/error.h"
#include "topology/topology.h"

/* Reads the file at `path`. On failure the topology is empty, and the last error has the position in the file and what
 * was expected there. `warn` (may be NULL) is called for unknown keys. */
int trv_topology_read(trv_topology_t *topology, const char *path, trv_warn_t *warn, void *context);
/* Does the same for a text in memory. */
int trv_topology_parse(trv_topology_t *topology, const char *name, const char *text, size_t length, trv_warn_t *warn,
                       void *context);
void trv_topology_clear(trv_topology_t *topology);

/* Writes a file from which trv_topology_read reads the same topology. Returns TRV_OK or TRV_ERR_MEMORY. */
int trv_topology_write(const trv_topology_t *topology, FILE *out);

/* The coordinate of a rank that runs on `host`; -1 if the topology does not have it. Host names match in full; a name
 * without a dot also matches a full name up to the first dot. */
int trv_topology_coordinate(const trv_topology_t *topology, int rank, const char *host);

#endif
