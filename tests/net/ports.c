/*
 * Ports: a job on a torus whose + and - ways leave by two interfaces (TRIVANCE_PORTS, which ports.sh sets). What each
 * interface has sent and received must be what the schedule's messages are, port by port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/net.h>
#include <trivance/torus.h>

enum { COUNT = 3 * 3 * 3 * 64 };

static int rank;

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s (%s)\n", rank, what, trv_last_error());
    exit(1);
}

/* Bytes that the schedule sends and receives by + and by -. What arrives by - has left its sender by +. */
static void count_bytes(const trv_schedule_t *schedule, uint64_t sent[2], uint64_t received[2])
{
    trv_step_t step = TRV_STEP_INIT;
    for (int s = 0; s < trv_schedule_streams(schedule); s++)
        for (int k = 0; k < trv_schedule_steps(schedule); k++) {
            if (trv_schedule_step(schedule, rank, s, k, &step) < 0)
                fail("no step");
            for (int i = 0; i < step.sends; i++)
                sent[step.send[i].port % 2] += trv_message_bytes(schedule, s, &step.send[i], COUNT * sizeof(double));
            for (int i = 0; i < step.receives; i++)
                received[1 - step.receive[i].port % 2] += trv_message_bytes(schedule, s, &step.receive[i],
                                                                            COUNT * sizeof(double));
        }
    trv_step_clear(&step);
}

static void read_ports(const trv_net_t *net, trv_net_port_t port[2])
{
    if (trv_net_ports(net) != 2)
        fail("there are not two interfaces");
    for (int p = 0; p < 2; p++) {
        port[p] = (trv_net_port_t){TRV_NET_PORT};
        if (trv_net_port(net, p, &port[p]) < 0)
            fail("no port");
    }
}

static void run(trv_net_t *net, const char *algorithm, const char *tori)
{
    trv_net_comm_t *world = trv_net_world(net);
    const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .algorithm = algorithm};
    trv_net_port_t before[2], after[2];
    uint64_t sent[2] = {0}, received[2] = {0};
    static double data[COUNT];
    trv_net_plan_t *plan;
    trv_torus_t torus;
    trv_schedule_t *schedule;
    for (int i = 0; i < COUNT; i++)
        data[i] = rank + i;
    if (trv_net_plan_create(&plan, world, TRV_ALLREDUCE, COUNT, TRV_DOUBLE, TRV_SUM, &options) < 0 ||
        trv_torus_parse(tori, &torus) < 0 || trv_schedule_create(&schedule, &torus, algorithm, TRV_ALLREDUCE) < 0)
        fail("no plan");
    read_ports(net, before);
    if (trv_net_plan_run(plan, data, data) < 0)
        fail("the run fails");
    read_ports(net, after);
    const int ranks = trv_net_size(world);
    for (int i = 0; i < COUNT; i++)
        if (data[i] != ranks * (ranks - 1) / 2 + (double)ranks * i)
            fail("a wrong sum");
    count_bytes(schedule, sent, received);
    for (int p = 0; p < 2; p++) {
        const uint64_t out = after[p].bytes_sent - before[p].bytes_sent;
        const uint64_t in = after[p].bytes_received - before[p].bytes_received;
        if (out != sent[p] || in != received[p]) {
            fprintf(stderr, "rank %d: %s (%s): %llu bytes sent for %llu, %llu received for %llu\n", rank,
                    after[p].interface, after[p].ways, (unsigned long long)out, (unsigned long long)sent[p],
                    (unsigned long long)in, (unsigned long long)received[p]);
            exit(1);
        }
    }
    trv_schedule_destroy(schedule);
    trv_net_plan_free(&plan);
}

int main(int argc, char **argv)
{
    trv_net_t *net;
    const trv_net_options_t options = {TRV_NET_OPTIONS, .torus = argc > 1 ? argv[1] : NULL};
    if (argc < 3)
        return 2;
    if (trv_net_init(&net, &options) < 0)
        fail("no start");
    rank = trv_net_rank(trv_net_world(net));
    for (int i = 2; i < argc; i++)
        run(net, argv[i], argv[1]);
    if (trv_net_finalize(&net) < 0)
        fail("no end");
    return 0;
}
