/*
 * Topologies as plain text: a host and its coordinates per line, or the switches in the format of Slurm.
 */
#ifndef TRIVANCE_TOPOLOGY_TOPOLOGY_LIST_H
#define TRIVANCE_TOPOLOGY_TOPOLOGY_LIST_H

#include "topology/topology.h"

/* Reads a zero-terminated text. On failure the last error has the number of the line, and the caller must clear the
 * topology. */
int trv_topology_list_parse(trv_topology_t *topology, const char *name, const char *text);

#endif
