/*
 * The overhead of libtrivance_net over the messages themselves: trv_net_allreduce against a loop of fi_trecv, fi_tsend
 * and fi_cq_read written by hand for 2 and for 3 ranks, on endpoints of the same provider. The loop sends the same
 * messages and adds the same numbers.
 *
 *     trivance launch -n 2 bench/net [--rounds N] [--sleeps]     trivance launch -n 3 bench/net
 *
 * Up to SWITCH_BYTES each rank sends its whole vector to all others (trivance-l-grouped, one step); above it,
 * reduce-scatter and allgather by parts (trivance-b, two steps). Library and loop are interleaved run by run; the
 * program prints the medians of the slowest rank. After some polls the baseline loop yields its core, as the library
 * does. The completion queues of the library have file descriptors to sleep on, which costs libfabric's tcp about a
 * microsecond when a message is not injected. With --sleeps the queues of the baseline loop also have them.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <trivance/net.h>

#include "exchange.h"
#include "measure.h"

enum {
    ADDRESS_BYTES = 256,
    ROUNDS = 400,
    ROUNDS_LARGE = 100,
    ROUNDS_MAX = 1000000,
    PATIENCE = 16,
    PATIENCE_ALONE = 400
};
typedef struct baseline {
    exchange_t exchange;
    bool oversubscribed;
    struct fid_ep *ep;
    struct fid_cq *cq;
    fi_addr_t peer[RANKS_MAX];
    int pending;
    struct fi_context2 context[4 * RANKS_MAX];
    trv_net_comm_t *world;
    bool parts;
    double *input, *output;
    size_t count;
} baseline_t;

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "net: %s: %s\n", what, trv_last_error());
    exit(1);
}

/* ---- Baseline ---------------------------------------------------------------------------------------------------- */

static void baseline_open(baseline_t *baseline, trv_net_t *net, bool sleeps)
{
    trv_net_comm_t *world = trv_net_world(net);
    trv_net_port_t port = {TRV_NET_PORT};
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = sleeps ? FI_WAIT_FD : FI_WAIT_NONE};
    struct fi_av_attr addresses = {.type = FI_AV_UNSPEC};
    char mine[ADDRESS_BYTES] = "", all[RANKS_MAX][ADDRESS_BYTES];
    size_t bytes = sizeof mine;
    *baseline = (baseline_t){.exchange = {trv_net_rank(world), trv_net_size(world), {NULL}}, .world = world};
    baseline->oversubscribed = baseline->exchange.ranks > sysconf(_SC_NPROCESSORS_ONLN);
    check(trv_net_port(net, 0, &port) == 0, "port");
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(port.provider);
    hints->domain_attr->name = strdup(port.interface);
    check(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info) == 0 &&
              fi_fabric(info->fabric_attr, &fabric, NULL) == 0 && fi_domain(fabric, info, &domain, NULL) == 0 &&
              fi_av_open(domain, &addresses, &av, NULL) == 0 && fi_cq_open(domain, &queue, &baseline->cq, NULL) == 0 &&
              fi_endpoint(domain, info, &baseline->ep, NULL) == 0 && fi_ep_bind(baseline->ep, &av->fid, 0) == 0 &&
              fi_ep_bind(baseline->ep, &baseline->cq->fid, FI_TRANSMIT | FI_RECV) == 0 &&
              fi_enable(baseline->ep) == 0 && fi_getname(&baseline->ep->fid, mine, &bytes) == 0,
          "libfabric");
    check(trv_net_allgather(world, mine, all, sizeof mine, TRV_UINT8) == 0, "addresses");
    for (int r = 0; r < baseline->exchange.ranks; r++)
        check(fi_av_insert(av, all[r], 1, &baseline->peer[r], 0, NULL) == 1, "an address");
    for (int r = 0; r < RANKS_MAX; r++)
        baseline->exchange.part[r] = malloc(BYTES_MAX);
    baseline->input = calloc(1, BYTES_MAX);
    baseline->output = malloc(BYTES_MAX);
}

static int poll_queue(baseline_t *baseline)
{
    struct fi_cq_tagged_entry entry[8];
    const ssize_t got = fi_cq_read(baseline->cq, entry, 8);
    check(got != -FI_EAVAIL, "a message of the baseline");
    return got > 0 ? (int)got : 0;
}

static void net_complete(void *context)
{
    baseline_t *baseline = context;
    for (unsigned polls = 1; baseline->pending > 0; polls++) {
        baseline->pending -= poll_queue(baseline);
        if (polls % (baseline->oversubscribed ? PATIENCE : PATIENCE_ALONE) == 0)
            sched_yield();
    }
}

static void net_receive(void *context, int peer, int kind, void *to, size_t bytes)
{
    baseline_t *baseline = context;
    const uint64_t tag = (uint64_t)peer << 8 | (uint64_t)kind;
    struct fi_context2 *request = &baseline->context[(2 * kind) * RANKS_MAX + peer];
    while (fi_trecv(baseline->ep, to, bytes, NULL, FI_ADDR_UNSPEC, tag, 0, request) != 0)
        baseline->pending -= poll_queue(baseline);
    baseline->pending++;
}

static void net_send(void *context, int peer, int kind, const void *from, size_t bytes)
{
    baseline_t *baseline = context;
    const uint64_t tag = (uint64_t)baseline->exchange.rank << 8 | (uint64_t)kind;
    struct fi_context2 *request = &baseline->context[(2 * kind + 1) * RANKS_MAX + peer];
    if (bytes <= 64 && fi_tinject(baseline->ep, from, bytes, baseline->peer[peer], tag) == 0)
        return;
    while (fi_tsend(baseline->ep, from, bytes, NULL, baseline->peer[peer], tag, request) != 0)
        baseline->pending -= poll_queue(baseline);
    baseline->pending++;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static double net_sample(void *context, int side)
{
    baseline_t *baseline = context;
    double maximum;
    check(trv_net_barrier(baseline->world) == 0, "barrier");
    const double start_ns = trv_now_ns();
    if (side == 0)
        exchange_run(&baseline->exchange, (exchange_transport_t){net_receive, net_send, net_complete}, baseline,
                     baseline->parts, baseline->input, baseline->output, baseline->count);
    else
        check(trv_net_allreduce(baseline->world, baseline->input, baseline->output, baseline->count, TRV_DOUBLE,
                                TRV_SUM) == 0,
              "allreduce");
    maximum = 1e-3 * (trv_now_ns() - start_ns);
    check(trv_net_allreduce(baseline->world, &maximum, &maximum, 1, TRV_DOUBLE, TRV_MAX) == 0, "maximum");
    return maximum;
}

static void net_sizes(baseline_t *baseline, int rounds)
{
    double ratio[64];
    int sizes = 0;
    if (baseline->exchange.rank == 0)
        printf("trv_net_allreduce and the same messages in a hand-written loop, %d ranks, sum of double\n%10s  %12s  "
               "%12s  %6s\n",
               baseline->exchange.ranks, "bytes", "baseline us", "trivance us", "ratio");
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= 2, sizes++) {
        double median[2];
        baseline->parts = bytes > SWITCH_BYTES;
        baseline->count = bytes / sizeof *baseline->input;
        check(trv_net_comm_set(baseline->world, NULL, baseline->parts ? "trivance-b" : "trivance-l-grouped") == 0,
              "algorithm");
        measure_sides(net_sample, baseline, 2, 5, rounds ? rounds : baseline->parts ? ROUNDS_LARGE : ROUNDS, 0, median);
        ratio[sizes] = median[1] / median[0];
        if (baseline->exchange.rank == 0)
            printf("%10zu  %12.2f  %12.2f  %6.2f\n", bytes, median[0], median[1], ratio[sizes]);
    }
    if (baseline->exchange.rank == 0)
        printf("median ratio %.2f (goal: at most 1.10)\n", trv_median(ratio, sizes));
}

int main(int argc, char **argv)
{
    static baseline_t baseline;
    trv_net_t *net;
    int rounds = 0;
    bool sleeps = false, right = true;
    for (int i = 1; i < argc && right; i++)
        if (strcmp(argv[i], "--sleeps") == 0)
            sleeps = true;
        else
            right = strcmp(argv[i], "--rounds") == 0 && i + 1 < argc &&
                    (rounds = measure_number(argv[++i], ROUNDS_MAX)) > 0;
    if (!right) {
        fprintf(stderr, "net: usage: trivance launch -n 2 net [--rounds N] [--sleeps], with N from 1 to %d\n",
                ROUNDS_MAX);
        return 2;
    }
    check(trv_net_init(&net, NULL) == 0, "start");
    trv_net_comm_t *world = trv_net_world(net);
    if (trv_net_size(world) < 2 || trv_net_size(world) > RANKS_MAX) {
        fprintf(stderr, "net: expected 2 or 3 ranks, for example trivance launch -n 2 net\n");
        return 2;
    }
    baseline_open(&baseline, net, sleeps);
    net_sizes(&baseline, rounds);
    check(trv_net_finalize(&net) == 0, "end");
    return 0;
}
