/*
 * Names and addresses that the emulator, the launcher's agent and the tool share.
 *
 * Node i of the torus is the network namespace trv-i. It has the devices tun0 (the torus, 10.77.0.0/16) and mgmt
 * (10.78.0.0/16, for starting jobs). With --ports it also has one for each of its ports: up0 for port +0, down0 for
 * port -0 (10.80.0.0/16). With --no-forwarding it has only these, each cable with a subnet of its own (10.81.0.0/16),
 * and mgmt0 (10.78.0.0/16). mpirun and the emulator run in trv-head. Everything else is in one folder.
 */
#ifndef TRIVANCE_TESTBED_EMULATOR_NAMES_H
#define TRIVANCE_TESTBED_EMULATOR_NAMES_H

#define TB_FOLDER   "/run/trivance-testbed"
#define TB_CONTROL  TB_FOLDER "/control" /* the emulator's socket */
#define TB_NODES    TB_FOLDER "/nodes"   /* the number of namespaces to remove; written first, removed last */
#define TB_LOCK     TB_FOLDER "/lock"    /* held while a testbed is made or removed */
#define TB_JOB      TB_FOLDER "/job"     /* held while a job runs */
#define TB_HOSTS    TB_FOLDER "/hosts"   /* mounted as /etc/hosts on the nodes */
#define TB_TOPOLOGY TB_FOLDER "/torus.json"
#define TB_PATHS    TB_FOLDER "/paths.json"
#define TB_LOG      TB_FOLDER "/torusnet.log"

/* Environment variables for the agent: the paths of the libraries that it preloads into every rank, and the core of the
 * emulator. */
#define TB_PRELOAD_VARIABLE "TESTBED_PRELOAD"
#define TB_CORE_VARIABLE    "TESTBED_CORE"
/* Environment variable for the ranks: the file to which they append their times; not set if these are not asked for. */
#define TB_TIMES_VARIABLE "TESTBED_TIMES"

#define TB_SPACES    "/run/netns/" /* the folder of iproute2's namespaces */
#define TB_NODE      "trv-%d"
#define TB_HEAD      "trv-head"
#define TB_NODES_MAX 1000 /* a bridge supports 1023 ports */

#define TB_WITH_PORTS         "ports"  /* the emulator's fourth argument */
#define TB_WITH_CABLES        "cables" /* or this; the bandwidth of the management network follows, if there is one */
#define TB_TUN                "tun0"
#define TB_PORT_UP            "up%d" /* number: the dimension */
#define TB_PORT_DOWN          "down%d"
#define TB_MAC_PREFIX         0x02747276u /* of the Ethernet address of mgmt0; the node follows in two bytes */
#define TB_MANAGEMENT         "mgmt0"     /* if nodes do not forward; otherwise it is mgmt */
#define TB_BRIDGE             "br0"
#define TB_TCP_OPTIONS        "initcwnd 200 initrwnd 200 rto_min 3s" /* of routes: as on a network without loss */
#define TB_TORUS_NETWORK      "10.77.0.0/16"
#define TB_TORUS_PREFIX       0x0a4d0000u /* 10.77.0.0; node i is + i + 1 */
#define TB_PORTS_NETWORK      "10.80.0.0/16"
#define TB_PORTS_PREFIX       0x0a500000u /* 10.80.0.0; port p of node i is + i * 32 + p + 1 */
#define TB_PORTS_SHIFT        5
#define TB_CABLES_PREFIX      0x0a510000u /* 10.81.0.0; the cable at port +d of node i is + 4 * (i * dimensions + d) */
#define TB_MANAGEMENT_NETWORK "10.78.0.0/16"
#define TB_MANAGEMENT_PREFIX  0x0a4e0000u /* 10.78.0.0; the head is + 1, node i is + i + 2 */

#endif
