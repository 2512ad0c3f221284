/*
 * The speed of a device is read from sysfs; its PCI bridge and NUMA node are determined by hwloc, if it is available.
 */
#include "topology/ports/device.h"

#include <stdio.h>
#include <string.h>

#ifdef TRIVANCE_HWLOC
#include <hwloc.h>

/* Identifies the PCI bridge above a device or its card; 0 if there is none. */
static uint32_t bridge_of(hwloc_obj_t at)
{
    while (at && at->type != HWLOC_OBJ_BRIDGE)
        at = at->parent;
    return at ? 1 + (at->attr->bridge.downstream.pci.domain << 8 | at->attr->bridge.downstream.pci.secondary_bus) : 0;
}

static void device_locate(hwloc_topology_t topology, hwloc_const_bitmap_t cores, hwloc_obj_t at, trv_device_t *device)
{
    hwloc_obj_t where = hwloc_get_non_io_ancestor_obj(topology, at);
    device->bridge = bridge_of(at);
    if (!where || !where->cpuset)
        return;
    device->near = hwloc_bitmap_iszero(cores) || hwloc_bitmap_intersects(cores, where->cpuset);
    device->node = hwloc_bitmap_first(where->nodeset);
}

static void devices_locate(trv_device_t *device, int devices)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    if (hwloc_topology_init(&topology) != 0) {
        hwloc_bitmap_free(cores);
        return;
    }
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (cores && hwloc_topology_load(topology) == 0) {
        hwloc_get_cpubind(topology, cores, HWLOC_CPUBIND_PROCESS);
        for (hwloc_obj_t at = NULL; (at = hwloc_get_next_osdev(topology, at));)
            for (int i = 0; i < devices; i++)
                if (at->name && strcmp(at->name, device[i].name) == 0)
                    device_locate(topology, cores, at, &device[i]);
    }
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(cores);
}
#else
static void devices_locate(trv_device_t *device, int devices) { (void)device, (void)devices; }
#endif

static uint32_t speed_of(const char *name)
{
    char path[128];
    long speed = 0;
    snprintf(path, sizeof path, "/sys/class/net/%.64s/speed", name);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &speed) != 1)
        speed = 0;
    if (file)
        fclose(file);
    return speed > 0 ? (uint32_t)speed : 0;
}

void trv_devices_find(trv_device_t *device, int devices)
{
    for (int i = 0; i < devices; i++)
        device[i] = (trv_device_t){device[i].name, speed_of(device[i].name), 0, -1, true};
    if (devices > 1) /* one device needs no comparison, and hwloc takes a while */
        devices_locate(device, devices);
}
