/*
 * Ports: a job on a torus whose ports use several interfaces (TRIVANCE_PORTS). The bytes that each interface has sent
 * and received must equal those of the schedule's messages through its ports. Checks the library's counters and, with
 * `kernel`, also those of the system, which exist for real interfaces (in the testbed).
 *
 *     net_ports TORUS INTERFACES kernel|found|loop ALGORITHM…
 *
 * `found`: like kernel; also, each interface must have been assigned to the port after which the testbed names it (up0:
 * +0).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>
#include <trivance/torus.h>

enum { COUNT = 3 * 3 * 3 * 4096 };

static int rank, interfaces;
static bool kernel;

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s (%s)\n", rank, what, trv_last_error());
    exit(1);
}

/* Bytes that the schedule sends and receives through each port. A message that arrives at port -0 has left its sender
 * through port +0. */
static void count_bytes(const trv_schedule_t *schedule, uint64_t sent[TRV_PORTS_MAX], uint64_t received[TRV_PORTS_MAX])
{
    trv_step_t step = TRV_STEP_INIT;
    for (int s = 0; s < trv_schedule_streams(schedule); s++)
        for (int k = 0; k < trv_schedule_steps(schedule); k++) {
            if (trv_schedule_step(schedule, rank, s, k, &step) < 0)
                fail("no step");
            for (int i = 0; i < step.sends; i++)
                sent[step.send[i].port] += trv_message_bytes(schedule, s, &step.send[i], COUNT * sizeof(double));
            for (int i = 0; i < step.receives; i++)
                received[step.receive[i].port ^ 1] += trv_message_bytes(schedule, s, &step.receive[i],
                                                                        COUNT * sizeof(double));
        }
    trv_step_clear(&step);
}

/* Counters of an interface. */
typedef struct counts {
    trv_net_port_t port;
    uint64_t kernel[2]; /* sent, received: packets with their headers */
} counts_t;

static uint64_t read_kernel(const char *interface, const char *what)
{
    char path[256];
    unsigned long long bytes = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/%s_bytes", interface, what);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%llu", &bytes) != 1)
        fail(path);
    fclose(file);
    return bytes;
}

static void read_ports(const trv_net_t *net, counts_t *counts)
{
    if (trv_net_ports(net) != interfaces)
        fail("the number of interfaces is wrong");
    for (int p = 0; p < interfaces; p++) {
        counts[p].port = (trv_net_port_t){TRV_NET_PORT};
        if (trv_net_port(net, p, &counts[p].port) < 0)
            fail("no port");
    }
}

/* Reads the counters of library and system. The system also counts messages that arrive before their receive, so a
 * barrier ensures that all ranks have read the counters before any rank sends. */
static void read_system(trv_net_t *net, counts_t *counts)
{
    read_ports(net, counts);
    for (int p = 0; p < interfaces; p++)
        for (int in = 0; kernel && in < 2; in++)
            counts[p].kernel[in] = read_kernel(counts[p].port.interface, in ? "rx" : "tx");
    if (trv_net_barrier(trv_net_world(net)) < 0)
        fail("no barrier");
}

/* The sum over the ports that use an interface. */
static uint64_t sum_over_ports(const char *ports, const uint64_t *bytes)
{
    uint64_t sum = 0;
    for (const char *at = ports; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        char name[8];
        int port;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (trv_port_parse(name, &port) < 0)
            fail("invalid port");
        sum += bytes[port];
    }
    return sum;
}

/* Compares the system's counters with the payload. They also include headers, acknowledgements and connection setup, a
 * few percent. The last packets may still be in flight. */
static void check_kernel(const counts_t *before, const uint64_t expected[2])
{
    const char *interface = before->port.interface;
    for (int in = 0; in < 2; in++) {
        uint64_t got = 0;
        for (int tries = 0; tries < 500 && got < expected[in]; tries++) {
            got = read_kernel(interface, in ? "rx" : "tx") - before->kernel[in];
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        if (got < expected[in] || got > expected[in] + expected[in] / 20 + expected[!in] / 50 + 20000) {
            fprintf(stderr, "rank %d: %s has %s %llu bytes for %llu\n", rank, interface, in ? "received" : "sent",
                    (unsigned long long)got, (unsigned long long)expected[in]);
            exit(1);
        }
    }
}

static void check(const counts_t *before, const counts_t *after, const uint64_t *sent, const uint64_t *received)
{
    for (int p = 0; p < interfaces; p++) {
        const trv_net_port_t *was = &before[p].port, *is = &after[p].port;
        const uint64_t expected[2] = {sum_over_ports(is->ports, sent), sum_over_ports(is->ports, received)};
        const uint64_t out = is->bytes_sent - was->bytes_sent, in = is->bytes_received - was->bytes_received;
        if (out != expected[0] || in != expected[1]) {
            fprintf(stderr, "rank %d: %s (%s): %llu bytes sent for %llu, %llu received for %llu\n", rank, is->interface,
                    is->ports, (unsigned long long)out, (unsigned long long)expected[0], (unsigned long long)in,
                    (unsigned long long)expected[1]);
            exit(1);
        }
        if (kernel)
            check_kernel(&before[p], expected);
    }
}

static void check_names(const trv_net_t *net)
{
    for (int p = 0; p < trv_net_ports(net); p++) {
        trv_net_port_t port = {TRV_NET_PORT};
        if (trv_net_port(net, p, &port) < 0)
            fail("no port");
        const bool up = strncmp(port.interface, "up", 2) == 0;
        if (port.ports[0] != (up ? '+' : '-') || strcmp(port.ports + 1, port.interface + (up ? 2 : 4)) != 0) {
            fprintf(stderr, "rank %d: %s is assigned to %s\n", rank, port.interface, port.ports);
            exit(1);
        }
    }
}

static void run(trv_net_t *net, const char *algorithm, const char *tori)
{
    trv_net_comm_t *world = trv_net_world(net);
    const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .algorithm = algorithm};
    counts_t before[TRV_PORTS_MAX], after[TRV_PORTS_MAX];
    uint64_t sent[TRV_PORTS_MAX] = {0}, received[TRV_PORTS_MAX] = {0};
    static double data[COUNT];
    trv_net_plan_t *plan;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    for (int i = 0; i < COUNT; i++)
        data[i] = rank + i;
    if (trv_net_plan_create(&plan, world, TRV_ALLREDUCE, COUNT, TRV_DOUBLE, TRV_SUM, &options) < 0 ||
        trv_torus_parse(tori, &torus) < 0 || trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE) < 0)
        fail("no plan");
    read_system(net, before);
    read_ports(net, before);
    if (trv_net_plan_run(plan, data, data) < 0)
        fail("the run fails");
    read_ports(net, after);
    const int ranks = trv_net_size(world);
    for (int i = 0; i < COUNT; i++)
        if (data[i] != ranks * (ranks - 1) / 2 + (double)ranks * i)
            fail("a wrong sum");
    count_bytes(schedule, sent, received);
    check(before, after, sent, received);
    if (trv_net_barrier(world) < 0)
        fail("no barrier");
    trv_schedule_destroy(schedule);
    trv_net_plan_free(&plan);
}

int main(int argc, char **argv)
{
    trv_net_t *net;
    const trv_net_options_t options = {TRV_NET_OPTIONS, .torus = argc > 1 ? argv[1] : NULL};
    if (argc < 5)
        return 2;
    interfaces = atoi(argv[2]);
    kernel = strcmp(argv[3], "loop") != 0;
    if (trv_net_init(&net, &options) < 0)
        fail("no start");
    rank = trv_net_rank(trv_net_world(net));
    if (strcmp(argv[3], "found") == 0)
        check_names(net);
    for (int i = 4; i < argc; i++)
        run(net, argv[i], argv[1]);
    if (trv_net_finalize(&net) < 0)
        fail("no end");
    return 0;
}
