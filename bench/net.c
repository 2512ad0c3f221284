/*
 * What libtrivance_net costs over the messages themselves: trv_net_allreduce against a loop of fi_trecv, fi_tsend and
 * fi_cq_read written by hand for 2 and for 3 ranks, on endpoints of the same provider, which sends the same messages and
 * adds the same numbers.
 *
 *     trivance launch -n 2 bench/net [--rounds N] [--sleeps]     trivance launch -n 3 bench/net
 *
 * As in overhead.c: up to the switch every rank sends its whole vector to every other (trivance-l-grouped, one step);
 * above it, reduce-scatter and allgather by parts (trivance-b, two steps). The two are interleaved run by run; shown are
 * the medians of the slowest rank. After some polls the loop by hand gives its core away, as the library does.
 * The library's queues can also be slept on, until a message comes, which costs libfabric's tcp about a microsecond when a
 * message is not injected. With --sleeps those of the loop by hand are made like that, too.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <trivance/net.h>

enum {
    RANKS_MAX = 3,
    ADDRESS_BYTES = 256,
    ROUNDS = 400,
    ROUNDS_LARGE = 100,
    ROUNDS_MAX = 1000000,
    PATIENCE = 16,
    PATIENCE_ALONE = 400
};
#define BYTES_MAX ((size_t)1 << 20)

typedef struct hand {
    int rank, ranks;
    bool crowded;
    struct fid_ep *ep;
    struct fid_cq *cq;
    fi_addr_t peer[RANKS_MAX];
    double *part[RANKS_MAX];
    struct fi_context2 context[4 * RANKS_MAX];
} hand_t;

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "net: %s: %s\n", what, trv_last_error());
    exit(1);
}

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

static void open_hand(hand_t *hand, trv_net_t *net, bool sleeps)
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
    *hand = (hand_t){.rank = trv_net_rank(world), .ranks = trv_net_size(world)};
    hand->crowded = hand->ranks > sysconf(_SC_NPROCESSORS_ONLN);
    check(trv_net_port(net, 0, &port) == 0, "port");
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(port.provider);
    hints->domain_attr->name = strdup(port.interface);
    check(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info) == 0 &&
              fi_fabric(info->fabric_attr, &fabric, NULL) == 0 && fi_domain(fabric, info, &domain, NULL) == 0 &&
              fi_av_open(domain, &addresses, &av, NULL) == 0 && fi_cq_open(domain, &queue, &hand->cq, NULL) == 0 &&
              fi_endpoint(domain, info, &hand->ep, NULL) == 0 && fi_ep_bind(hand->ep, &av->fid, 0) == 0 &&
              fi_ep_bind(hand->ep, &hand->cq->fid, FI_TRANSMIT | FI_RECV) == 0 && fi_enable(hand->ep) == 0 &&
              fi_getname(&hand->ep->fid, mine, &bytes) == 0,
          "libfabric");
    check(trv_net_allgather(world, mine, all, sizeof mine, TRV_UINT8) == 0, "addresses");
    for (int r = 0; r < hand->ranks; r++)
        check(fi_av_insert(av, all[r], 1, &hand->peer[r], 0, NULL) == 1, "an address");
    for (int r = 0; r < RANKS_MAX; r++)
        hand->part[r] = malloc(BYTES_MAX);
}

static int poll_queue(hand_t *hand)
{
    struct fi_cq_tagged_entry entry[8];
    const ssize_t got = fi_cq_read(hand->cq, entry, 8);
    check(got != -FI_EAVAIL, "a message by hand");
    return got > 0 ? (int)got : 0;
}

/* What is sent and received so far is complete. */
static void complete(hand_t *hand, int *pending)
{
    for (unsigned polls = 1; *pending > 0; polls++) {
        *pending -= poll_queue(hand);
        if (polls % (hand->crowded ? PATIENCE : PATIENCE_ALONE) == 0)
            sched_yield();
    }
}

static void receive(hand_t *hand, void *to, size_t bytes, int peer, int kind, int *pending)
{
    const uint64_t tag = (uint64_t)peer << 8 | (uint64_t)kind;
    struct fi_context2 *context = &hand->context[(2 * kind) * RANKS_MAX + peer];
    while (fi_trecv(hand->ep, to, bytes, NULL, FI_ADDR_UNSPEC, tag, 0, context) != 0)
        *pending -= poll_queue(hand);
    ++*pending;
}

static void transmit(hand_t *hand, const void *from, size_t bytes, int peer, int kind, int *pending)
{
    const uint64_t tag = (uint64_t)hand->rank << 8 | (uint64_t)kind;
    struct fi_context2 *context = &hand->context[(2 * kind + 1) * RANKS_MAX + peer];
    if (bytes <= 64 && fi_tinject(hand->ep, from, bytes, hand->peer[peer], tag) == 0)
        return;
    while (fi_tsend(hand->ep, from, bytes, NULL, hand->peer[peer], tag, context) != 0)
        *pending -= poll_queue(hand);
    ++*pending;
}

static void hand_whole(hand_t *hand, const double *input, double *output, size_t count)
{
    const void *source[RANKS_MAX];
    int pending = 0;
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == hand->rank ? input : hand->part[r];
        if (r != hand->rank)
            receive(hand, hand->part[r], count * sizeof *input, r, 0, &pending);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != hand->rank)
            transmit(hand, input, count * sizeof *input, r, 0, &pending);
    complete(hand, &pending);
    trv_reduce(TRV_SUM, TRV_DOUBLE, output, source, hand->ranks, count);
}

static void hand_parts(hand_t *hand, const double *input, double *output, size_t count)
{
    const void *source[RANKS_MAX];
    size_t first[RANKS_MAX + 1] = {0};
    int pending = 0;
    const int mine = hand->rank;
    for (int r = 0; r <= hand->ranks; r++)
        first[r] = count * (size_t)r / (size_t)hand->ranks;
    const size_t length = first[mine + 1] - first[mine];
    for (int r = 0; r < hand->ranks; r++) {
        source[r] = r == mine ? input + first[mine] : hand->part[r];
        if (r != mine)
            receive(hand, hand->part[r], length * sizeof *input, r, 0, &pending);
    }
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine)
            transmit(hand, input + first[r], (first[r + 1] - first[r]) * sizeof *input, r, 0, &pending);
    complete(hand, &pending);
    trv_reduce(TRV_SUM, TRV_DOUBLE, output + first[mine], source, hand->ranks, length);
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine)
            receive(hand, output + first[r], (first[r + 1] - first[r]) * sizeof *input, r, 1, &pending);
    for (int r = 0; r < hand->ranks; r++)
        if (r != mine)
            transmit(hand, output + first[mine], length * sizeof *input, r, 1, &pending);
    complete(hand, &pending);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count / 2];
}

static double run_once(hand_t *hand, trv_net_comm_t *world, bool by_hand, bool large, const double *input,
                       double *output, size_t count)
{
    double most;
    check(trv_net_barrier(world) == 0, "barrier");
    const double start = now_us();
    if (!by_hand)
        check(trv_net_allreduce(world, input, output, count, TRV_DOUBLE, TRV_SUM) == 0, "allreduce");
    else if (large)
        hand_parts(hand, input, output, count);
    else
        hand_whole(hand, input, output, count);
    most = now_us() - start;
    check(trv_net_allreduce(world, &most, &most, 1, TRV_DOUBLE, TRV_MAX) == 0, "maximum");
    return most;
}

static void run(hand_t *hand, trv_net_comm_t *world, int rounds)
{
    double *input = malloc(BYTES_MAX), *output = malloc(BYTES_MAX), ratio[64], *time[2];
    int sizes = 0;
    for (size_t i = 0; i < BYTES_MAX / sizeof *input; i++)
        input[i] = (double)(i % 100);
    if (hand->rank == 0)
        printf("trv_net_allreduce against the same messages by hand, %d ranks, sum of double\n%10s  %12s  %12s  %6s\n",
               hand->ranks, "bytes", "by hand us", "trivance us", "ratio");
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= 2, sizes++) {
        const bool large = bytes > 65536;
        const int these = rounds ? rounds : large ? ROUNDS_LARGE : ROUNDS;
        check(trv_net_comm_set(world, NULL, large ? "trivance-b" : "trivance-l-grouped") == 0, "algorithm");
        for (int side = 0; side < 2; side++)
            time[side] = malloc((size_t)these * sizeof *time[side]);
        for (int i = -5; i < these; i++)
            for (int k = 0; k < 2; k++) {
                const int side = (i + 5 + k) % 2;
                const double took = run_once(hand, world, side == 0, large, input, output, bytes / sizeof *input);
                if (i >= 0)
                    time[side][i] = took;
            }
        const double by_hand = median(time[0], these), library = median(time[1], these);
        ratio[sizes] = library / by_hand;
        if (hand->rank == 0)
            printf("%10zu  %12.2f  %12.2f  %6.2f\n", bytes, by_hand, library, ratio[sizes]);
        free(time[0]);
        free(time[1]);
    }
    if (hand->rank == 0)
        printf("median ratio %.2f (aim: at most 1.10)\n", median(ratio, sizes));
    free(input);
    free(output);
}

/* 0 of what is no number from 1 to ROUNDS_MAX. */
static int read_rounds(const char *text)
{
    char *end;
    const long rounds = strtol(text, &end, 10);
    return *end || rounds < 1 || rounds > ROUNDS_MAX ? 0 : (int)rounds;
}

int main(int argc, char **argv)
{
    static hand_t hand;
    trv_net_t *net;
    int rounds = 0;
    bool sleeps = false, right = true;
    for (int i = 1; i < argc && right; i++)
        if (strcmp(argv[i], "--sleeps") == 0)
            sleeps = true;
        else
            right = strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && (rounds = read_rounds(argv[++i])) > 0;
    if (!right) {
        fprintf(stderr, "net: usage: trivance launch -n 2 net [--rounds N] [--sleeps], with N from 1 to %d\n",
                ROUNDS_MAX);
        return 2;
    }
    check(trv_net_init(&net, NULL) == 0, "start");
    trv_net_comm_t *world = trv_net_world(net);
    if (trv_net_size(world) < 2 || trv_net_size(world) > RANKS_MAX) {
        fprintf(stderr, "net: it takes 2 or 3 ranks, as in trivance launch -n 2 net\n");
        return 2;
    }
    open_hand(&hand, net, sleeps);
    run(&hand, world, rounds);
    check(trv_net_finalize(&net) == 0, "end");
    return 0;
}
