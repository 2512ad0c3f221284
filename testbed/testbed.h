/*
 * The testbed: a torus of network namespaces on this machine, the emulator between them, and jobs on it. Needs root.
 *
 * Functions return 0 or a negative TRV_ERR_* with a sentence in trv_last_error(). All that is made is listed in
 * names.h; nothing else of the machine is touched.
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
    double bandwidth_bps, latency_ns; /* of a link, of a hop */
    bool ports;                       /* a node has a card for each of its links, too */
} tb_network_t;

/* possible.c. TRV_ERR_UNSUPPORTED: not root; or the machine lets nobody make namespaces or TUN devices, or has no
 * iproute2; or the torus is too large for it. */
int trv_testbed_root(void);
int trv_testbed_possible(void);
int trv_testbed_fits(const trv_torus_t *torus);

/* Makes the namespaces and starts the emulator, `emulator` being its path. On failure, and when SIGINT, SIGTERM or
 * SIGHUP came meanwhile, nothing is left. */
int trv_testbed_up(const tb_network_t *network, const char *emulator);

/* Before a job: what is slow or cut now stands in the topology file, and packets keep off what is cut as far as there is
 * another way. */
int trv_testbed_settle(const tb_network_t *network);

/* TRV_ERR_ARGUMENT with the sentence where what is cut now leaves a row in two parts: packets between them are lost, and
 * a job on all nodes would wait for ever. */
int trv_testbed_whole(const tb_network_t *network);

/* Ends every process in the testbed's namespaces, and removes them and all files, also of a testbed that is half made
 * or half gone. *nodes (may be NULL): how many there were, 0 where there was no testbed. */
int trv_testbed_down(int *nodes);

/* ---- ports.c: the cards of a node's ports ------------------------------------------------------------------------ */

void trv_testbed_write_address(FILE *out, unsigned address);
/* The commands of iproute2 for one node. */
void trv_testbed_write_ports(FILE *out, const trv_torus_t *torus, int node);

/* ---- client.c: asking the emulator ------------------------------------------------------------------------------- */

typedef struct tb_status {
    tb_network_t network; /* as it was made */
    int process, core;    /* of the emulator; core -1: the machine has one only */
    bool realtime;
    double seconds; /* since the counts began */
    uint64_t packets, link_bytes, dropped, strays;
    double lateness_p50_ns, lateness_p99_ns, lateness_max_ns;
} tb_status_t;

/* TRV_ERR_STATE where no testbed is up, or its emulator is gone. */
int trv_testbed_status(tb_status_t *status);

/* Sends a request to the emulator (emulator/control.c). *answer (may be NULL) is what follows "ok", to be freed. */
int trv_testbed_ask(const char *request, char **answer);

/* ---- processes.c: the processes in the namespaces ----------------------------------------------------------------- */

/* Ends, politely at first, all processes in the namespaces of the nodes, and of the head if asked for. 0, or
 * TRV_ERR_STATE where one does not end. */
int trv_testbed_end_processes(int nodes, bool head);

/* ---- check.c: the network against theory ------------------------------------------------------------------------- */

#define TB_FAITHFUL 0.05 /* the most by which a time may differ from theory; of the hop latency, what may be late */

typedef struct tb_test {
    const char *what;
    int number;     /* of hops, or flows */
    uint64_t bytes; /* over the busiest link, headers included */
    double theory_ns, median_ns, least_ns, most_ns;
} tb_test_t;

typedef void tb_report_t(void *context, const tb_test_t *test);

/* Runs all tests and tells each. The emulator's counts begin anew, so that its lateness afterwards is that of the
 * tests. TRV_ERR_STATE where packets do not arrive. */
int trv_testbed_check(const tb_network_t *network, tb_report_t *report, void *context);

/* How late the 99th percentile of deliveries may be. */
double trv_testbed_lateness_limit_ns(const tb_network_t *network);

/* ---- enter.c: being on a node ------------------------------------------------------------------------------------ */

/* Makes this process one of the node `name` ("trv-3"): its network, a host name, /etc/hosts and /sys of its own. */
int trv_testbed_enter(const char *name);
/* The network only. */
int trv_testbed_enter_network(const char *name);
/* For this process and what it starts: the emulator's core is left to it, and others on the machine wait. */
void trv_testbed_take_place(int core);
/* For this process alone: it goes on before any child that it makes runs. Open MPI's launcher warns of a child that has
 * become its agent before it was put into a process group. */
void trv_testbed_before_children(int core);

/* Exclusive locks: while a testbed is made or removed, and while a job runs on it. A descriptor, whose closing or the
 * end of the process gives the lock back; < 0 with a sentence where another process has it. */
int trv_testbed_lock_setup(void);
int trv_testbed_lock_job(void);

#endif
