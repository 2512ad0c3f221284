/*
 * Names and addresses that the emulator, the launcher's agent and the tool agree on.
 *
 * Node i of the torus is the network namespace trv-i, in which it has the device tun0 (the torus, 10.77.0.0/16) and
 * mgmt (10.78.0.0/16, for starting jobs), and with --ports one more for each of its ports: up0 leads the way +0, down0
 * the way -0 (10.80.0.0/16). trv-head is where mpirun and the emulator run. All else lies in one folder.
 */
#ifndef TRIVANCE_TESTBED_EMULATOR_NAMES_H
#define TRIVANCE_TESTBED_EMULATOR_NAMES_H

#define TB_FOLDER   "/run/trivance-testbed"
#define TB_CONTROL  TB_FOLDER "/control" /* the emulator's socket */
#define TB_NODES    TB_FOLDER "/nodes"   /* how many namespaces there are to remove; written first, removed last */
#define TB_LOCK     TB_FOLDER "/lock"    /* held while a testbed is made or removed */
#define TB_JOB      TB_FOLDER "/job"     /* held while a job runs */
#define TB_HOSTS    TB_FOLDER "/hosts"   /* what the nodes see as /etc/hosts */
#define TB_TOPOLOGY TB_FOLDER "/torus.json"
#define TB_PATHS    TB_FOLDER "/paths.json"
#define TB_LOG      TB_FOLDER "/torusnet.log"

/* What the agent finds in its environment: the paths of the libraries that it puts before every rank, and the
 * core that is the emulator's. */
#define TB_PRELOAD_VARIABLE "TESTBED_PRELOAD"
#define TB_CORE_VARIABLE    "TESTBED_CORE"
/* What the ranks find there where their times are asked for: the file for them. */
#define TB_TIMES_VARIABLE "TESTBED_TIMES"

#define TB_SPACES    "/run/netns/" /* where iproute2 keeps its namespaces */
#define TB_NODE      "trv-%d"
#define TB_HEAD      "trv-head"
#define TB_NODES_MAX 1000 /* a bridge takes 1023 */

#define TB_WITH_PORTS         "ports" /* the emulator's last argument */
#define TB_TUN                "tun0"
#define TB_PORT_UP            "up%d" /* with the dimension */
#define TB_PORT_DOWN          "down%d"
#define TB_BRIDGE             "br0"
#define TB_TORUS_NETWORK      "10.77.0.0/16"
#define TB_TORUS_PREFIX       0x0a4d0000u /* 10.77.0.0; node i is + i + 1 */
#define TB_PORTS_NETWORK      "10.80.0.0/16"
#define TB_PORTS_PREFIX       0x0a500000u /* 10.80.0.0; port p of node i is + i * 32 + p + 1 */
#define TB_PORTS_SHIFT        5
#define TB_MANAGEMENT_NETWORK "10.78.0.0/16"
#define TB_MANAGEMENT_PREFIX  0x0a4e0000u /* 10.78.0.0; the head is + 1, node i is + i + 2 */

#endif
