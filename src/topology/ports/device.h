/*
 * Network devices: their speed, and the PCI bridge and NUMA node to which they are attached.
 */
#ifndef TRIVANCE_TOPOLOGY_PORTS_DEVICE_H
#define TRIVANCE_TOPOLOGY_PORTS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trv_device {
    const char *name;    /* "eth1" */
    uint32_t speed_mbps; /* 0: unknown */
    uint32_t bridge;     /* equal for devices at the same PCI bridge; 0: unknown */
    int node;            /* NUMA node; -1: unknown */
    bool near;           /* attached to the cores of this process, or unknown */
} trv_device_t;

/* Fills in all members except the names, by which the devices are found. */
void trv_devices_find(trv_device_t *device, int devices);

#endif
