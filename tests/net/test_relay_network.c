/*
 * The bootstrap on hosts that are wired to each other and do not forward packets: network namespaces that are connected
 * by pairs of virtual Ethernet devices, each pair a network of its own. One process per rank; skipped if the system
 * does not permit network namespaces or has no iproute2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/clock.h"
#include "base/error.h"
#include "bootstrap/tcp/bootstrap.h"

enum { RANKS_MAX = 9, PORT = 29500, SKIPPED = 77 };

typedef struct cable {
    int end[2]; /* hosts */
    int prefix;
} cable_t;

/* Results of a rank. */
typedef struct report {
    int code, relay;
    char local[80], reason[TRV_REASON_MAX], log[512]; /* log: the last line */
} report_t;

typedef struct network {
    int hosts, cables;
    cable_t cable[RANKS_MAX];
    int ranks;           /* rank r is on host r modulo the number of hosts; rank 0 is known by its address on cable 0 */
    int routed;          /* a host whose default route leads to a host that does not forward; 0: none */
    int missing;         /* a rank that does not start; 0: none */
    int killed;          /* a rank that is killed after the exchange; 0: none */
    int fails;           /* a rank that reports a failure after the exchange; 0: none */
    int busy;            /* a rank on whose host another program has the UDP port; 0: none */
    int pulls;           /* a rank that shuts down the interface towards the rank before it; 0: none */
    int pulls_round;     /* before this exchange; 3: at the end of the job */
    bool two_jobs;       /* a second job uses the same port, in a line of hosts whose last one has its rank 0 */
    bool without_relays; /* the job has no secret */
    double timeout_s;
} network_t;

static struct shared {
    pthread_barrier_t barrier;     /* of the processes of all hosts, and the process that connects them */
    report_t report[2][RANKS_MAX]; /* by job */
} * shared;

/* ---- Namespaces -------------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool run(const char *format, ...)
{
    char command[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

/* Creates a namespace in which this process may configure the network. */
static bool namespace_create(void)
{
    char map[64];
    const unsigned user = getuid(), group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    snprintf(map, sizeof map, "0 %u 1", user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", group);
    return write_file("/proc/self/gid_map", map) && run("ip link add probe type veth peer name other 2> /dev/null") &&
           run("ip link del probe");
}

/* Cable number N is a network whose addresses begin with 10.77.N; its ends have the device cableN and the addresses 1
 * and 2 in it, or 0 and 1 in a network of 31 bits. */
static bool addresses_set(const network_t *network, int host)
{
    bool set = run("ip link set lo up") && write_file("/proc/sys/net/ipv4/ip_forward", "0");
    for (int c = 0; set && c < network->cables; c++)
        for (int i = 0; i < 2; i++)
            if (network->cable[c].end[i] == host)
                set = run("ip addr add 10.77.%d.%d/%d dev cable%d && ip link set cable%d up", c,
                          i + (network->cable[c].prefix < 31), network->cable[c].prefix, c, c);
    return set;
}

/* ---- A rank ------------------------------------------------------------------------------------------------------ */

static void logged(void *context, const char *sentence)
{
    report_t *report = context;
    snprintf(report->log, sizeof report->log, "%s", sentence);
    fprintf(stderr, "%s\n", sentence);
}

/* Occupies the UDP port until the process ends. */
static bool port_occupy(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    return bind(socket(AF_INET, SOCK_DGRAM, 0), (const struct sockaddr *)&at, sizeof at) == 0;
}

static void cable_pull(const network_t *network, int rank, int round)
{
    if (network->pulls > 0 && rank == network->pulls && round == network->pulls_round &&
        !run("ip link set cable%d down", rank - 1))
        exit(1);
}

static int rank_exchange(const network_t *network, trv_bootstrap_t *bootstrap, int rank)
{
    char text[64], expected[64];
    size_t bytes;
    int rc = trv_bootstrap_join(bootstrap, "welcome", 8);
    for (int round = 0; rc == TRV_OK && round < 3; round++) {
        snprintf(text, sizeof text, "rank %d, round %d", rank, round);
        cable_pull(network, rank, round);
        rc = trv_bootstrap_exchange(bootstrap, text, strlen(text) + 1);
        for (int r = 0; rc == TRV_OK && r < network->ranks; r++) {
            snprintf(expected, sizeof expected, "rank %d, round %d", r, round);
            const char *got = trv_bootstrap_record(bootstrap, r, &bytes);
            if (bytes != strlen(expected) + 1 || strcmp(got, expected) != 0)
                rc = trv_fail(TRV_ERR_INVALID, "rank %d: the record of rank %d is wrong", rank, r);
        }
    }
    return rc;
}

static int rank_run(const network_t *network, int job, int rank)
{
    char address[32];
    report_t *report = &shared->report[job][rank];
    trv_bootstrap_t *bootstrap;
    snprintf(address, sizeof address, "10.77.%d.%d", job == 0 ? 0 : network->cables - 1, 1 + job);
    usleep((useconds_t)(rand() % 300000));
    trv_bootstrap_options_t options = {.rank = rank,
                                       .ranks = network->ranks,
                                       .address = address,
                                       .port = PORT,
                                       .timeout_ns = 1e9 * network->timeout_s,
                                       .relays = !network->without_relays,
                                       .log = logged,
                                       .context = report};
    snprintf((char *)options.secret, sizeof options.secret, "secret of job %d", job);
    if (network->busy > 0 && rank == network->busy && !port_occupy())
        return 1;
    int rc = trv_bootstrap_open(&bootstrap, &options);
    if (rc == TRV_OK)
        rc = rank_exchange(network, bootstrap, rank);
    if (rc == TRV_OK) {
        report->relay = trv_bootstrap_relay(bootstrap);
        snprintf(report->local, sizeof report->local, "%s", trv_bootstrap_local(bootstrap));
    }
    if (rc == TRV_OK && network->killed > 0 && rank == network->killed)
        raise(SIGKILL);
    if (rc == TRV_OK && network->fails > 0 && rank == network->fails)
        trv_bootstrap_fail(bootstrap, "a failure of this rank");
    if (rc == TRV_OK && network->killed + network->fails > 0) {
        const double end_ns = trv_now_ns() + 10e9;
        while (!trv_bootstrap_has_failed(bootstrap) && trv_now_ns() < end_ns)
            usleep(1000);
    }
    if (rc == TRV_OK)
        cable_pull(network, rank, 3);
    rc = rc == TRV_OK ? trv_bootstrap_leave(bootstrap, NULL, NULL) : rc;
    report->code = rc;
    snprintf(report->reason, sizeof report->reason, "%s", rc < 0 ? trv_last_error() : "");
    trv_bootstrap_close(bootstrap);
    return 0;
}

/* ---- All ranks --------------------------------------------------------------------------------------------------- */

/* Runs the ranks of a host, each in a process of its own. */
static int ranks_run(const network_t *network, int host)
{
    pid_t process[RANKS_MAX];
    int count = 0, failed = 0;
    for (int rank = host; rank < network->ranks; rank += network->hosts)
        for (int job = 0; job <= network->two_jobs; job++) {
            if (rank > 0 && rank == network->missing)
                continue;
            if ((process[count++] = fork()) == 0) {
                srand((unsigned)getpid());
                exit(rank_run(network, job, job == 0 ? rank : network->ranks - 1 - rank));
            }
        }
    for (int i = 0; i < count; i++) {
        int status;
        waitpid(process[i], &status, 0);
        failed += status != 0 && !(network->killed > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    if (count == 0) /* the cables exist as long as this process */
        usleep((useconds_t)(1e6 * network->timeout_s + 3e6));
    return failed;
}

/* The steps of the barrier: all namespaces exist; they are connected; they have addresses. */
static int host_run(const network_t *network, int host)
{
    bool ready = unshare(CLONE_NEWNET) == 0;
    pthread_barrier_wait(&shared->barrier);
    pthread_barrier_wait(&shared->barrier);
    ready = ready && addresses_set(network, host);
    if (network->routed > 0 && network->routed == host)
        ready = ready && run("ip route add default via 10.77.%d.1", host - 1);
    pthread_barrier_wait(&shared->barrier);
    if (!ready)
        return 1;
    return ranks_run(network, host);
}

static bool cables_create(const network_t *network, const pid_t host[])
{
    bool created = true;
    for (int c = 0; created && c < network->cables; c++)
        created = run("ip link add cable%d netns %d type veth peer name cable%d netns %d", c,
                      (int)host[network->cable[c].end[0]], c, (int)host[network->cable[c].end[1]]);
    return created;
}

/* Runs in a process of its own, because it enters a namespace. */
static int hosts_run(const network_t *network)
{
    pid_t host[RANKS_MAX];
    int failed = 0;
    if (!namespace_create())
        return SKIPPED;
    for (int h = 0; h < network->hosts; h++)
        if ((host[h] = fork()) == 0)
            exit(host_run(network, h));
    pthread_barrier_wait(&shared->barrier);
    const bool connected = cables_create(network, host);
    pthread_barrier_wait(&shared->barrier);
    pthread_barrier_wait(&shared->barrier);
    for (int h = 0; h < network->hosts; h++) {
        int status;
        waitpid(host[h], &status, 0);
        failed += status != 0;
    }
    return connected ? failed : 1;
}

static void network_run(const network_t *network)
{
    pthread_barrierattr_t attributes;
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, (unsigned)network->hosts + 1);
    pthread_barrierattr_destroy(&attributes);
    const pid_t child = fork();
    if (child == 0)
        exit(hosts_run(network));
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

static void network_end(void)
{
    pthread_barrier_destroy(&shared->barrier);
    munmap(shared, sizeof *shared);
}

static network_t ring(int hosts)
{
    network_t network = {.hosts = hosts, .ranks = hosts, .cables = hosts, .timeout_s = 20};
    for (int c = 0; c < hosts; c++)
        network.cable[c] = (cable_t){.end = {c, (c + 1) % hosts}, .prefix = 30};
    return network;
}

static network_t line(int hosts)
{
    network_t network = ring(hosts);
    network.cables--;
    return network;
}

static void expect_success(const network_t *network)
{
    for (int job = 0; job <= network->two_jobs; job++)
        for (int r = 0; r < network->ranks; r++) {
            assert_string_equal(shared->report[job][r].reason, "");
            assert_int_equal(shared->report[job][r].code, TRV_OK);
        }
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* All ranks of a ring are connected, of which only rank 1 shares a network with MASTER_ADDR. One network has 254
 * addresses instead of two. */
static void test_ring(void **state)
{
    network_t network = ring(5);
    (void)state;
    network.cable[2].prefix = 24;
    network_run(&network);
    expect_success(&network);
    const report_t *report = shared->report[0];
    assert_string_equal(report[0].local, "10.77.0.1");
    assert_string_equal(report[1].local, "10.77.0.2");
    assert_int_equal(report[1].relay, 0);
    assert_true(report[2].relay == 1 || report[2].relay == 3);
    assert_true(report[3].relay == 2 || report[3].relay == 4);
    assert_true(report[4].relay == 0 || report[4].relay == 3);
    network_end();
}

/* Rank 0 in the middle of a line: rank 2 reaches it by its address in the other network, which has no broadcast
 * address. */
static void test_other_address(void **state)
{
    network_t network = line(3);
    (void)state;
    network.cable[1] = (cable_t){.end = {2, 0}, .prefix = 31};
    network_run(&network);
    expect_success(&network);
    assert_int_equal(shared->report[0][2].relay, 0);
    assert_string_equal(shared->report[0][0].local, "10.77.0.1");
    assert_string_equal(shared->report[0][2].local, "10.77.1.0");
    network_end();
}

/* A line, whose last rank is connected through all others; rank 2 has a route to rank 0, on which packets are lost. */
static void test_line(void **state)
{
    network_t network = line(5);
    (void)state;
    network.routed = 2;
    network_run(&network);
    expect_success(&network);
    for (int r = 0; r < network.ranks; r++)
        assert_int_equal(shared->report[0][r].relay, r > 0 ? r - 1 : 0);
    network_end();
}

/* Several ranks per host, whose queries also reach the ranks of their own host. */
static void test_ranks_per_host(void **state)
{
    network_t network = line(3);
    (void)state;
    network.ranks = 9;
    network_run(&network);
    expect_success(&network);
    for (int r = 1; r < network.ranks; r++)
        assert_true(r % 3 < 2 ? shared->report[0][r].relay == 0 : shared->report[0][r].relay > 0);
    network_end();
}

/* Two jobs on the same hosts and port, with different secrets. Neither uses relays of the other. */
static void test_two_jobs(void **state)
{
    network_t network = line(3);
    (void)state;
    network.two_jobs = true;
    network_run(&network);
    expect_success(&network);
    for (int job = 0; job < 2; job++)
        assert_int_equal(shared->report[job][2].relay, 1);
    network_end();
}

/* A rank that relays connections is killed. The ranks that are connected without it report that it has died, and the
 * ranks behind it that their connection was lost. */
static void test_killed(void **state)
{
    network_t network = line(5);
    (void)state;
    network.killed = 2;
    network_run(&network);
    for (int r = 0; r < network.ranks; r++) {
        char expected[200];
        if (r == network.killed)
            continue;
        if (r < network.killed)
            snprintf(expected, sizeof expected,
                     "rank 2 at 10.77.1.2 (relayed by rank 1) has died or has exited before the end of the job: its "
                     "connection to rank 0 was closed");
        else
            snprintf(expected, sizeof expected,
                     "rank %d has lost its connection to rank 0 at 10.77.0.1, port %d, which rank %d relays: a rank on "
                     "the way has died or has exited before the end of the job, or a cable is unplugged",
                     r, PORT, r - 1);
        assert_string_equal(shared->report[0][r].reason, expected);
        assert_true(shared->report[0][r].code < 0);
    }
    network_end();
}

/* A failure of the last rank reaches all others with the same sentence. */
static void test_failure(void **state)
{
    network_t network = line(4);
    (void)state;
    network.fails = 3;
    network_run(&network);
    for (int r = 0; r < network.ranks; r++)
        assert_string_equal(shared->report[0][r].reason, "a failure of this rank");
    network_end();
}

/* The neighbour that would relay does not start. */
static void test_missing(void **state)
{
    network_t network = line(4);
    (void)state;
    network.missing = 2;
    network.timeout_s = 1;
    network_run(&network);
    assert_non_null(strstr(shared->report[0][0].reason, "while it waited for all ranks to connect; missing: 2, 3"));
    assert_string_equal(shared->report[0][1].reason, shared->report[0][0].reason);
    assert_string_equal(shared->report[0][3].reason,
                        "rank 3 timed out after 1 s while it waited for all ranks to connect: rank 0 at 10.77.0.1, "
                        "port 29500, is not reached (Network is unreachable), and no connected rank with the same "
                        "TRIVANCE_SECRET answers on UDP port 29500 through cable2 (10.77.2.2)");
    network_end();
}

/* A job without a secret is not relayed. */
static void test_without_relays(void **state)
{
    network_t network = line(3);
    (void)state;
    network.without_relays = true;
    network.timeout_s = 1;
    network_run(&network);
    assert_non_null(strstr(shared->report[0][0].reason, "missing: 2"));
    assert_non_null(strstr(shared->report[0][2].reason, "is not reached (Network is unreachable); ranks relay the "
                                                        "connections of others only if TRIVANCE_SECRET is set"));
    network_end();
}

/* A rank that cannot receive queries logs it. */
static void test_port_busy(void **state)
{
    network_t network = line(3);
    (void)state;
    network.busy = 1;
    network.timeout_s = 1;
    network_run(&network);
    assert_string_equal(shared->report[0][1].log,
                        "rank 1 cannot open UDP port 29500 (Address already in use), so it relays no connections to "
                        "rank 0: ranks that reach rank 0 only through this host time out; select another port, for "
                        "example MASTER_PORT=29501");
    assert_non_null(strstr(shared->report[0][0].reason, "missing: 2"));
    network_end();
}

/* A cable is pulled during the start: rank 0 names the ranks that it joins. */
static void test_pulled_at_start(void **state)
{
    network_t network = line(4);
    (void)state;
    network.pulls = 2;
    network.pulls_round = 1;
    network.timeout_s = 1;
    network_run(&network);
    for (int r = 0; r < 2; r++) /* the record of rank 3 may have arrived */
        assert_non_null(strstr(shared->report[0][r].reason,
                               "rank 0 timed out after 1 s while it waited for the records of all ranks; missing: 2 "
                               "at 10.77.1.2 (relayed by rank 1)"));
    assert_string_equal(shared->report[0][2].reason,
                        "rank 2 timed out after 1 s while it waited for the records of all ranks; this host has no "
                        "link on cable1 (10.77.1.2): the interface is down, or its cable is unplugged");
    network_end();
}

/* The cable between two ranks is pulled before they end the job. */
static void test_pulled_at_end(void **state)
{
    network_t network = line(2);
    (void)state;
    network.pulls = 1;
    network.pulls_round = 3;
    network.timeout_s = 1.8; /* the kernel reports a lost link after up to a second */
    network_run(&network);
    assert_string_equal(shared->report[0][0].reason,
                        "rank 0 timed out after 1.8 s while it waited for all ranks to end the job; missing: 1 at "
                        "10.77.0.2; this host has no link on cable0 (10.77.0.1): the interface is down, or its cable "
                        "is unplugged");
    assert_string_equal(
        shared->report[0][1].reason,
        "rank 1 timed out after 1.8 s while it waited for all ranks to end the job; this host has no link "
        "on cable0 (10.77.0.2): the interface is down, or its cable is unplugged");
    network_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_ranks_per_host),
        cmocka_unit_test(test_two_jobs),
        cmocka_unit_test(test_other_address),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_without_relays),
        cmocka_unit_test(test_port_busy),
        cmocka_unit_test(test_pulled_at_start),
        cmocka_unit_test(test_pulled_at_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
