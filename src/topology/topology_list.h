/*
 * Topologies as plain text: a host and its coordinates per line, or what Slurm prints of its switches.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_LIST_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_LIST_H

#include "topology/topology.h"

/* Reads a text that ends with a zero. On failure the topology is to be cleared; the sentence says the line. */
int trv_topology_list_parse(trv_topology_t *topology, const char *name, const char *text);

#endif
