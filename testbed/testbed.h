/*
 * The testbed: a torus of network namespaces on this machine, the emulator between them, and jobs on it. Needs root.
 *
 * Functions return 0 or a negative TRV_ERR_* with a message in trv_last_error(). names.h lists everything that is made;
 * nothing else of the machine is changed.
 */
#ifndef TRIVANCE_TESTBED_TESTBED_H
#define TRIVANCE_TESTBED_TESTBED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <trivance/torus.h>

/* ---- setup.c: making and removing -------------------------------------------------------------------------------- */

typedef struct tb_network {
    trv_torus_t torus;
    double bandwidth_bps, latency_ns; /* of a link; of a hop */
    bool ports;                       /* a node also has a network card for each of its links */
    bool no_forwarding;               /* a node has only these, and each of its links is a cable of its own */
    double management_bps;            /* of the network that joins nodes that do not forward; 0: there is none */
} tb_network_t;

/* possible.c. TRV_ERR_UNSUPPORTED: the caller is not root; the machine does not permit namespaces or TUN devices, or
 * has no iproute2; or the torus is too large for it. */
int trv_testbed_root(void);
int trv_testbed_check_machine(void);
int trv_testbed_fits(const trv_torus_t *torus);

/* Makes the namespaces and starts the emulator, whose path is `emulator`. If it fails, or SIGINT, SIGTERM or SIGHUP
 * arrives meanwhile, nothing is left. */
int trv_testbed_up(const tb_network_t *network, const char *emulator);

/* Called before a job: writes the slow and cut links to the topology file, and makes packets avoid cut links if there
 * is another path. */
int trv_testbed_prepare_job(const tb_network_t *network);

/* TRV_ERR_UNSUPPORTED if cut links split a row in two: packets between its parts are lost, so a job on all nodes would
 * wait for ever. Nodes that do not forward send no such packets. */
int trv_testbed_check_rows(const tb_network_t *network);

/* Ends every process in the testbed's namespaces, and removes them and all files, also those of an incomplete testbed.
 * *nodes (may be NULL) is the number of its nodes; 0 if there was no testbed. */
int trv_testbed_down(int *nodes);

/* ---- ports.c: the cards of a node's ports ------------------------------------------------------------------------ */

void trv_testbed_write_address(FILE *out, unsigned address);
/* Writes the commands of iproute2 for one node. */
void trv_testbed_write_ports(FILE *out, const trv_torus_t *torus, int node);

/* ---- cables.c: the interfaces of nodes that do not forward ------------------------------------------------------- */

/* The address at which the other nodes reach a node: in the management network or, if there is none, on the node's
 * first cable, where only a neighbour reaches it. */
unsigned trv_testbed_address(const tb_network_t *network, int node);
/* The address of a node on the cable at a port. */
unsigned trv_testbed_cable_address(const trv_torus_t *torus, int node, int port);
/* Writes the commands of iproute2 for one node. */
void trv_testbed_write_cables(FILE *out, const tb_network_t *network, int node);

/* ---- client.c: requests to the emulator -------------------------------------------------------------------------- */

typedef struct tb_status {
    tb_network_t network; /* as it was at the start */
    int process, core;    /* of the emulator; core -1: the machine has only one */
    bool realtime;
    double seconds; /* time since the counts were reset */
    uint64_t packets, link_bytes, dropped, misaddressed, management_bytes;
    double lateness_p50_ns, lateness_p99_ns, lateness_max_ns;
} tb_status_t;

/* TRV_ERR_STATE if no testbed is up, or its emulator has ended. */
int trv_testbed_status(tb_status_t *status);

/* Sends a request to the emulator (emulator/control.c). *answer (may be NULL) is the text after "ok"; the caller frees
 * it. */
int trv_testbed_ask(const char *request, char **answer);

/* ---- processes.c: the processes in the namespaces ---------------------------------------------------------------- */

/* Ends all processes in the namespaces of the nodes and, if asked for, of the head: by SIGTERM first, then by SIGKILL.
 * 0, or TRV_ERR_STATE if one does not end. */
int trv_testbed_end_processes(int nodes, bool head);

/* ---- check.c: the network against theory ------------------------------------------------------------------------- */

#define TB_FAITHFUL 0.05 /* maximum relative error of a time; maximum lateness as a fraction of the hop latency */

typedef struct tb_test {
    const char *what;
    int number;     /* number of hops, or of flows */
    uint64_t bytes; /* bytes over the busiest link, headers included */
    double theory_ns, median_ns, min_ns, max_ns;
} tb_test_t;

typedef void tb_report_t(void *context, const tb_test_t *test);

/* Runs all tests and reports each. Resets the emulator's counts, so that they then describe the tests. TRV_ERR_STATE if
 * packets do not arrive. */
int trv_testbed_check(const tb_network_t *network, tb_report_t *report, void *context);

/* The maximum for the 99th percentile of the lateness of deliveries. */
double trv_testbed_lateness_limit_ns(const tb_network_t *network);

/* ---- enter.c: entering a node ------------------------------------------------------------------------------------ */

/* Moves this process to the node `name` ("trv-3"), with the node's network, host name, /etc/hosts and /sys. */
int trv_testbed_enter(const char *name);
/* Moves this process to the node's network only. */
int trv_testbed_enter_network(const char *name);
/* Raises the priority of this process and its children, and keeps them off the emulator's core. */
void trv_testbed_raise_priority(int core);
/* The same, and makes this process run before any child that it creates. Open MPI's launcher warns of a child that has
 * become its agent before it was put into a process group. */
void trv_testbed_raise_priority_before_children(int core);

/* Exclusive locks, held while a testbed is made or removed, and while a job runs on it. They return a descriptor;
 * closing it, or the end of the process, releases the lock. < 0 with a message if another process holds the lock. */
int trv_testbed_lock_setup(void);
int trv_testbed_lock_job(void);

#endif
