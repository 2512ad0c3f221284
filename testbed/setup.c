/*
 * Makes and removes testbeds.
 *
 * TB_NODES is written before anything else is made, and removed last. While it exists, the namespaces named in it
 * belong to the testbed, and `down` removes those of them that exist. Devices and namespaces are made by iproute2, with
 * one batch per namespace, so that 27 nodes take less than a second.
 */
#include "testbed/testbed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "topology/topology_file.h"
#include "testbed/command.h"
#include "testbed/emulator/names.h"

#define MESSAGE_BYTES 300

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int write_file(const char *path, void (*write_to)(FILE *out, const void *what), const void *what)
{
    FILE *out = fopen(path, "we");
    if (out)
        write_to(out, what);
    if (!out || fclose(out) != 0)
        return trv_fail(TRV_ERR_STATE, "%s cannot be written: %s", path, strerror(errno));
    return TRV_OK;
}

static void write_nodes(FILE *out, const void *nodes) { fprintf(out, "%d\n", *(const int *)nodes); }

static void write_hosts(FILE *out, const void *what)
{
    const tb_network_t *network = what;
    fputs("127.0.0.1 localhost\n", out);
    if (!network->no_forwarding) {
        trv_testbed_write_address(out, TB_MANAGEMENT_PREFIX + 1);
        fputs(" " TB_HEAD "\n", out);
    }
    for (int i = 0; i < network->torus.ranks; i++) {
        trv_testbed_write_address(out, trv_testbed_address(network, i));
        fprintf(out, " " TB_NODE "\n", i);
    }
}

static void write_topology(FILE *out, const void *what)
{
    const trv_network_t *network = what;
    const trv_torus_t *torus = &network->torus;
    trv_topology_t topology = {.torus = *torus,
                               .slow_links = network->slow_links,
                               .slow_link = (trv_slow_link_t *)(uintptr_t)network->slow_link,
                               .no_forwarding = network->no_forwarding,
                               .count = torus->ranks};
    char(*name)[16] = calloc((size_t)torus->ranks, sizeof *name);
    topology.coordinate = calloc((size_t)torus->ranks, sizeof *topology.coordinate);
    topology.host = calloc((size_t)torus->ranks, sizeof *topology.host);
    for (int i = 0; name && topology.coordinate && topology.host && i < torus->ranks; i++) {
        snprintf(name[i], sizeof name[i], TB_NODE, i);
        topology.coordinate[i] = i;
        topology.host[i] = name[i];
    }
    if (name && topology.coordinate && topology.host)
        trv_topology_write(&topology, out);
    free(name);
    free(topology.coordinate);
    free(topology.host);
}

/* Writes a rules file without rules in which no dimension has a shared path: only links limit the bandwidth, not the
 * interface of a node. */
static void write_paths(FILE *out, const void *what)
{
    const trv_network_t *network = what;
    char torus[TRV_TORUS_TEXT_MAX];
    fprintf(out, "{\"rule_file_version\": 1,\n \"paths\": {\"torus\": \"%s\", \"shared_paths\": [",
            trv_torus_format(&network->torus, torus, sizeof torus));
    for (int d = 0; d < network->torus.dims; d++)
        fprintf(out, "%sfalse", d ? ", " : "");
    fputs("]},\n \"collectives\": {}}\n", out);
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

#define SLOWER 1.000001

/* Reads the emulator's lines of links and stores those that are cut or slower than at the start in `link`, which can
 * hold all. Returns their number. */
static int read_links(char *lines, double bandwidth_bps, trv_slow_link_t *link)
{
    int links = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        trv_slow_link_t *l = &link[links];
        double now_bps;
        int up;
        if (trv_sscanf(line, "%d %d %lf %*f %d", &l->rank, &l->port, &now_bps, &up) != 4)
            continue;
        l->factor = up ? bandwidth_bps / now_bps : INFINITY;
        links += l->factor > SLOWER;
    }
    return links;
}

/* The network with the links that are cut or slow now, in *link, which the caller frees. */
static int read_now(const tb_network_t *network, trv_network_t *now, trv_slow_link_t **link)
{
    char *lines;
    int code = trv_testbed_ask("links", &lines);
    if (code < 0)
        return code;
    *link = calloc((size_t)network->torus.ranks * TRV_PORTS_MAX, sizeof **link);
    if (*link)
        *now = (trv_network_t){TRV_NETWORK, .torus = network->torus,
                               .slow_links = read_links(lines, network->bandwidth_bps, *link), .slow_link = *link,
                               .no_forwarding = network->no_forwarding};
    free(lines);
    return *link ? TRV_OK : trv_fail_memory();
}

int trv_testbed_check_rows(const tb_network_t *network)
{
    trv_network_t now;
    trv_slow_link_t *link = NULL;
    int code = read_now(network, &now, &link);
    if (code == TRV_OK && !network->no_forwarding)
        code = trv_network_check(&now);
    free(link);
    return code;
}

int trv_testbed_prepare_job(const tb_network_t *network)
{
    trv_network_t now;
    trv_slow_link_t *link = NULL;
    int code = read_now(network, &now, &link);
    if (code == TRV_OK)
        code = write_file(TB_TOPOLOGY, write_topology, &now);
    free(link);
    return code < 0 ? code : trv_testbed_ask("route", NULL);
}

/* ---- Namespaces -------------------------------------------------------------------------------------------------- */

/* The management network on which the launchers of MPI start their daemons. */
static void write_bridge(FILE *out, int nodes)
{
    fputs("link add " TB_BRIDGE " type bridge\nlink set " TB_BRIDGE " up\naddr add ", out);
    trv_testbed_write_address(out, TB_MANAGEMENT_PREFIX + 1);
    fputs("/16 dev " TB_BRIDGE "\n", out);
    for (int i = 0; i < nodes; i++)
        fprintf(out, "link add m%d type veth peer name mgmt netns " TB_NODE "\nlink set m%d master " TB_BRIDGE " up\n",
                i, i, i);
}

static int create_namespaces(const tb_network_t *network)
{
    const trv_torus_t *torus = &network->torus;
    tb_batch_t batch;
    if (!trv_testbed_begin_batch(&batch))
        return trv_fail_memory();
    fputs("netns add " TB_HEAD "\n", batch.out);
    for (int i = 0; i < torus->ranks; i++)
        fprintf(batch.out, "netns add " TB_NODE "\n", i);
    int code = trv_testbed_run_batch(&batch, NULL);
    if (code < 0 || !trv_testbed_begin_batch(&batch))
        return code < 0 ? code : trv_fail_memory();
    fputs("link set lo up\n", batch.out);
    if (!network->no_forwarding)
        write_bridge(batch.out, torus->ranks);
    return trv_testbed_run_batch(&batch, TB_HEAD);
}

/* Writes a node's addresses and routes, after the emulator has made its devices. Windows are large from the start, and
 * retransmission timeouts exceed the time that any queue here takes, so that TCP behaves as on a network without
 * loss. */
static void write_addresses(FILE *out, const tb_network_t *network, int node)
{
    fputs("addr add ", out);
    trv_testbed_write_address(out, trv_testbed_address(network, node));
    fputs("/16 dev mgmt\nlink set mgmt up\naddr add ", out);
    trv_testbed_write_address(out, TB_TORUS_PREFIX + 1 + (unsigned)node);
    fputs("/16 dev " TB_TUN " noprefixroute\nlink set " TB_TUN
          " mtu 9000 txqueuelen 20000 up\nroute add " TB_TORUS_NETWORK " dev " TB_TUN " " TB_TCP_OPTIONS "\n",
          out);
    if (network->ports)
        trv_testbed_write_ports(out, &network->torus, node);
}

static int set_addresses(const tb_network_t *network, int node)
{
    char name[32];
    tb_batch_t batch;
    snprintf(name, sizeof name, TB_NODE, node);
    if (!trv_testbed_begin_batch(&batch))
        return trv_fail_memory();
    fputs("link set lo up\n", batch.out);
    if (network->no_forwarding)
        trv_testbed_write_cables(batch.out, network, node);
    else
        write_addresses(batch.out, network, node);
    return trv_testbed_run_batch(&batch, name);
}

/* Sets the kernel's TCP parameters of a node, in a child process that has entered it. Parameters that this kernel does
 * not have are left out. */
static void set_kernel(void)
{
    static const struct {
        const char *file, *value;
    } setting[] = {
        {"ipv4/tcp_congestion_control", "reno"},
        {"ipv4/tcp_slow_start_after_idle", "0"},
        {"ipv4/tcp_early_retrans", "0"},
        {"ipv4/tcp_no_metrics_save", "1"},
        {"ipv4/tcp_autocorking", "0"},
        {"ipv6/conf/all/disable_ipv6", "1"},
        {"ipv6/conf/default/disable_ipv6", "1"},
        {"ipv4/tcp_rmem", "4096 4194304 16777216"},
        {"ipv4/tcp_wmem", "4096 4194304 16777216"},
        {"ipv4/ip_forward", "0"},         /* the emulator forwards, or nothing does */
        {"ipv4/conf/all/rp_filter", "0"}, /* packets may arrive by one port and be answered by another */
        {"ipv4/conf/default/rp_filter", "0"},
    };
    for (size_t i = 0; i < sizeof setting / sizeof setting[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "/proc/sys/net/%s", setting[i].file);
        int file = open(path, O_WRONLY | O_CLOEXEC);
        if (file >= 0 && write(file, setting[i].value, strlen(setting[i].value)) < 0 && i == 0)
            _exit(1);
        if (file >= 0)
            close(file);
    }
    _exit(0);
}

static int set_kernels(const trv_torus_t *torus)
{
    for (int i = 0; i < torus->ranks; i++) {
        char name[32];
        int status = -1;
        snprintf(name, sizeof name, TB_NODE, i);
        pid_t child = fork();
        if (child == 0) {
            if (trv_testbed_enter_network(name) < 0)
                _exit(1);
            set_kernel();
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            return trv_fail(TRV_ERR_STATE,
                            "TCP on %s cannot use the congestion control reno, which the kernel must support", name);
    }
    return TRV_OK;
}

/* ---- The emulator ------------------------------------------------------------------------------------------------ */

/* Executes the emulator, in a child process. After the exec it is identified by its namespace and does not hold the
 * lock. */
static void become_emulator(const tb_network_t *network, const char *emulator, int ready, int lock)
{
    char torus[TRV_TORUS_TEXT_MAX], bandwidth[48], latency[48], management[48];
    sigset_t none;
    sigemptyset(&none);
    trv_snprintf(bandwidth, sizeof bandwidth, "%.9fGb/s", network->bandwidth_bps / 1e9);
    snprintf(latency, sizeof latency, "%.0fns", network->latency_ns);
    trv_snprintf(management, sizeof management, "%.9fGb/s", network->management_bps / 1e9);
    trv_torus_format(&network->torus, torus, sizeof torus);
    int log = open(TB_LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600), nothing = open("/dev/null", O_RDONLY);
    if (log < 0 || nothing < 0 || trv_testbed_enter_network(TB_HEAD) < 0)
        _exit(1);
    setsid();
    if (chdir("/") != 0)
        _exit(1);
    dup2(nothing, STDIN_FILENO);
    dup2(ready, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &none, NULL);
    fcntl(lock, F_SETFD, FD_CLOEXEC);
    execl(emulator, "trivance-torusnet", torus, bandwidth, latency,
          network->ports           ? TB_WITH_PORTS
          : network->no_forwarding ? TB_WITH_CABLES
                                   : NULL,
          network->management_bps > 0 ? management : NULL, NULL);
    dprintf(STDERR_FILENO, "%s cannot be started: %s\n", emulator, strerror(errno));
    _exit(127);
}

static int start_emulator(const tb_network_t *network, const char *emulator, int lock)
{
    int ready[2];
    char word[16] = "", said[MESSAGE_BYTES] = "";
    if (pipe2(ready, O_CLOEXEC) != 0)
        return trv_fail(TRV_ERR_STATE, "a pipe cannot be created: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become_emulator(network, emulator, ready[1], lock);
    close(ready[1]);
    ssize_t got = child > 0 ? read(ready[0], word, sizeof word - 1) : 0;
    close(ready[0]);
    if (got > 0)
        return TRV_OK;
    if (child > 0)
        waitpid(child, NULL, 0);
    FILE *log = fopen(TB_LOG, "re");
    if (log && !fgets(said, sizeof said, log))
        snprintf(said, sizeof said, "it printed no message");
    if (log)
        fclose(log);
    return trv_fail(TRV_ERR_STATE, "the emulator did not start: %s", trv_testbed_first_line(said));
}

/* ---- Up and down ------------------------------------------------------------------------------------------------- */

/* Checks that no namespace with a name of the testbed exists: it would belong to another program. */
static int check_names(const trv_torus_t *torus)
{
    for (int i = -1; i < torus->ranks; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, i < 0 ? TB_HEAD : TB_NODE, i);
        snprintf(path, sizeof path, TB_SPACES "%s", name);
        if (access(path, F_OK) == 0)
            return trv_fail(TRV_ERR_STATE,
                            "the network namespace %s exists already and does not belong to a testbed; `ip netns "
                            "delete %s` removes it",
                            name, name);
    }
    return TRV_OK;
}

static int make(const tb_network_t *network, const char *emulator, int lock)
{
    const trv_torus_t *torus = &network->torus;
    const trv_network_t whole = {TRV_NETWORK, .torus = *torus, .no_forwarding = network->no_forwarding};
    int code = write_file(TB_NODES, write_nodes, &torus->ranks);
    if (code == TRV_OK)
        code = create_namespaces(network);
    if (code == TRV_OK)
        code = write_file(TB_HOSTS, write_hosts, network);
    if (code == TRV_OK)
        code = write_file(TB_TOPOLOGY, write_topology, &whole);
    if (code == TRV_OK)
        code = write_file(TB_PATHS, write_paths, &whole);
    if (code == TRV_OK)
        code = set_kernels(torus);
    if (code == TRV_OK)
        code = start_emulator(network, emulator, lock);
    for (int i = 0; i < torus->ranks && code == TRV_OK; i++)
        code = set_addresses(network, i);
    return code;
}

/* The number of nodes of the testbed that was made last; 0 if there is none. */
static int count_nodes(void)
{
    int nodes = 0;
    FILE *file = fopen(TB_NODES, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &nodes) != 1 || nodes < 1 || nodes > TB_NODES_MAX)
        nodes = TB_NODES_MAX; /* the file is incomplete: remove every namespace that may belong to the testbed */
    fclose(file);
    return nodes;
}

static int delete_spaces(int nodes)
{
    tb_batch_t batch;
    if (!trv_testbed_begin_batch(&batch))
        return trv_fail_memory();
    for (int i = -1; i < nodes; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, i < 0 ? TB_HEAD : TB_NODE, i);
        snprintf(path, sizeof path, TB_SPACES "%s", name);
        if (access(path, F_OK) == 0)
            fprintf(batch.out, "netns delete %s\n", name);
    }
    return trv_testbed_run_batch(&batch, NULL);
}

/* Removes the testbed. The caller holds the lock. */
static int remove_testbed(int nodes)
{
    static const char *const file[] = {TB_CONTROL, TB_HOSTS, TB_TOPOLOGY, TB_PATHS, TB_LOG, TB_JOB, TB_NODES};
    int code = nodes ? trv_testbed_end_processes(nodes, true) : TRV_OK;
    if (code == TRV_OK && nodes)
        code = delete_spaces(nodes);
    for (size_t i = 0; code == TRV_OK && i < sizeof file / sizeof file[0]; i++)
        if (unlink(file[i]) != 0 && errno != ENOENT)
            code = trv_fail(TRV_ERR_STATE, "%s cannot be removed: %s", file[i], strerror(errno));
    return code;
}

/* ---- Exclusive and atomic changes -------------------------------------------------------------------------------- */

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
enum { INTERRUPTS = sizeof interrupts / sizeof interrupts[0] };

/* A change of the testbed. SIGINT and other signals are blocked until the testbed is complete or removed. */
typedef struct change {
    int lock;
    sigset_t before;
} change_t;

static int begin(change_t *change)
{
    sigset_t blocked;
    change->lock = trv_testbed_lock_setup();
    if (change->lock < 0)
        return change->lock;
    sigemptyset(&blocked);
    for (int i = 0; i < INTERRUPTS; i++)
        sigaddset(&blocked, interrupts[i]);
    sigprocmask(SIG_BLOCK, &blocked, &change->before);
    return TRV_OK;
}

/* Whether a signal is pending that is not ignored, as it is under nohup. */
static bool was_interrupted(void)
{
    sigset_t pending;
    struct sigaction action;
    bool any = false;
    sigpending(&pending);
    for (int i = 0; i < INTERRUPTS; i++)
        any = any || (sigismember(&pending, interrupts[i]) && sigaction(interrupts[i], NULL, &action) == 0 &&
                      action.sa_handler != SIG_IGN);
    return any;
}

/* Ends the change; removes the lock with the folder if there is no testbed. */
static void end(const change_t *change)
{
    if (access(TB_NODES, F_OK) != 0) {
        unlink(TB_LOCK);
        rmdir(TB_FOLDER);
    }
    close(change->lock);
    sigprocmask(SIG_SETMASK, &change->before, NULL);
}

/* Makes the testbed; removes what was made if a step fails. */
static int create_or_roll_back(const tb_network_t *network, const char *emulator, int lock)
{
    char reason[MESSAGE_BYTES + 100];
    int code = make(network, emulator, lock);
    if (code == TRV_OK && was_interrupted())
        code = trv_fail(TRV_ERR_STATE, "interrupted");
    if (code == TRV_OK)
        return code;
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    remove_testbed(network->torus.ranks);
    return trv_fail(code, "%s", reason);
}

int trv_testbed_up(const tb_network_t *network, const char *emulator)
{
    change_t change;
    int code = trv_testbed_check_machine();
    if (code == TRV_OK)
        code = trv_testbed_fits(&network->torus);
    if (code == TRV_OK)
        code = begin(&change);
    if (code < 0)
        return code;
    code = count_nodes() ? trv_fail(TRV_ERR_STATE, "a testbed is up already; `trivance testbed down` removes it")
                         : check_names(&network->torus);
    if (code == TRV_OK)
        code = create_or_roll_back(network, emulator, change.lock);
    end(&change);
    return code;
}

int trv_testbed_down(int *nodes)
{
    change_t change;
    int code = trv_testbed_root();
    if (code == TRV_OK)
        code = begin(&change);
    if (code < 0)
        return code;
    int existing = count_nodes();
    if (nodes)
        *nodes = existing;
    code = remove_testbed(existing);
    end(&change);
    return code;
}
