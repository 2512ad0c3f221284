/*
 * Network devices: how fast they are, and where in the machine they sit.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_DEVICE_H
#define TRIVANCE_TOPOLOGY_PORTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trv_device {
    const char *name;    /* "eth1" */
    uint32_t speed_mbps; /* 0: not known */
    uint32_t bridge;     /* equal for those at the same PCI bridge; 0: not known */
    int node;            /* NUMA; -1: not known */
    bool near;           /* at the cores of this process, or not known */
} trv_device_t;

/* Fills in all but the names. */
void trv_devices_find(trv_device_t *device, int devices);

#endif
