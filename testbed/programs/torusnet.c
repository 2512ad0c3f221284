/*
 * trivance-torusnet TORUS BANDWIDTH LATENCY [ports|cables [BANDWIDTH]]: the emulator as a program. `trivance testbed
 * up` makes the namespaces and starts it in that of the head. It makes the nodes' devices, prints "ready" on its
 * standard output when packets can flow, and runs until it is ended by a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/text/parse.h"
#include "testbed/emulator/names.h"
#include "testbed/emulator/torusnet.h"

#define EVENTS_MAX     64
#define POOL           256        /* packets per node that are allocated at the start … */
#define POOL_NODES_MAX 64         /* … for at most this many nodes */
#define READ_AT_ONCE   8          /* packets that are read from one node before the next has its turn */
#define AWAKE_NS       1000000000 /* time for which cores are kept awake after the last packet */

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s fails: %s\n", what, strerror(errno));
    return 1;
}

/* ---- Punctuality ------------------------------------------------------------------------------------------------- */

/* Takes the last core that this process may use; the ranks use the others. Returns -1 if there is only one. */
static int take_core(void)
{
    cpu_set_t allowed, own;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return -1;
    int core = CPU_SETSIZE - 1;
    while (core > 0 && !CPU_ISSET(core, &allowed))
        core--;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    return sched_setaffinity(0, sizeof own, &own) == 0 ? core : -1;
}

static bool take_priority(void)
{
    struct sched_param priority = {.sched_priority = 50};
    prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    return sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

/* A core that sleeps takes 50 us or more to wake up, on both ends of every message. While packets arrive, this function
 * keeps a file open, and the kernel keeps all cores awake while it is open. */
static void stay_awake(int *file, bool wanted)
{
    const int32_t longest_us = 0;
    if (wanted && *file < 0) {
        *file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
        if (*file >= 0 && write(*file, &longest_us, sizeof longest_us) < 0)
            wanted = false;
    }
    if (!wanted && *file >= 0) {
        close(*file);
        *file = -1;
    }
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

typedef struct emulator {
    tn_net_t net;
    int epoll, listening;
    int awake;         /* the file of stay_awake */
    int64_t active_ns; /* time at which a packet was last in flight */
    char about[512];   /* constant lines of the status */
} emulator_t;

/* Moves every packet that is due: over its next link, or to its node. */
static void run_due(emulator_t *emulator)
{
    tn_net_t *net = &emulator->net;
    int64_t now_ns = tn_now_ns();
    if (tn_timer_first(net))
        emulator->active_ns = now_ns;
    stay_awake(&emulator->awake, emulator->active_ns && now_ns - emulator->active_ns < AWAKE_NS);
    for (tn_packet_t *packet; (packet = tn_timer_first(net)) && packet->due_ns <= now_ns;) {
        tn_timer_take(net);
        if (!tn_has_arrived(packet) && tn_forward(net, packet))
            continue;
        if (tn_has_arrived(packet) && !tn_is_lost(net, packet))
            tn_tun_write(net, packet);
        tn_packet_put(net, packet);
    }
}

/* Waits for a packet from a node, a request, or the time at which the next packet is due. */
static int wait_next(emulator_t *emulator, struct epoll_event event[EVENTS_MAX])
{
    const tn_packet_t *first = tn_timer_first(&emulator->net);
    int64_t left_ns = first ? first->due_ns - tn_now_ns() : AWAKE_NS;
    left_ns = left_ns < 0 ? 0 : left_ns;
    struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
    sigset_t none; /* signals are delivered only here, so that none is missed between two tests of `ended` */
    sigemptyset(&none);
    return epoll_pwait2(emulator->epoll, event, EVENTS_MAX, first || emulator->awake >= 0 ? &left : NULL, &none);
}

static int run(emulator_t *emulator)
{
    struct epoll_event event[EVENTS_MAX];
    const int each = tn_devices(&emulator->net), devices = emulator->net.torus.ranks * each;
    while (!ended) {
        run_due(emulator);
        int count = wait_next(emulator, event);
        if (count < 0 && errno != EINTR)
            return fail("epoll_pwait2");
        for (int i = 0; i < count; i++)
            if (event[i].data.fd < devices)
                tn_tun_read(&emulator->net, emulator->net.device[event[i].data.fd], event[i].data.fd / each,
                            event[i].data.fd % each, READ_AT_ONCE);
            else
                tn_control_answer(&emulator->net, emulator->listening, emulator->about);
    }
    return 0;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* Events carry the index of a device; any other number is the control socket. */
static bool watch(const emulator_t *emulator, int descriptor, int number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = number};
    return epoll_ctl(emulator->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static int open_devices(emulator_t *emulator)
{
    tn_net_t *net = &emulator->net;
    const int each = tn_devices(net), devices = net->torus.ranks * each;
    struct rlimit files = {(rlim_t)devices + 64, (rlim_t)devices + 64};
    setrlimit(RLIMIT_NOFILE, &files);
    net->device = calloc((size_t)devices, sizeof *net->device);
    emulator->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!net->device || emulator->epoll < 0)
        return fail("epoll_create");
    for (int i = 0; i < devices; i++) {
        char space[64], buffer[16];
        const char *what, *name = tn_device_name(net, i / each, i % each, buffer);
        snprintf(space, sizeof space, TB_SPACES TB_NODE, i / each);
        net->device[i] = name ? tn_tun_open(space, name, net->cables, &what) : -1;
        if (name && (net->device[i] < 0 || !watch(emulator, net->device[i], i)))
            return fail(what);
    }
    emulator->listening = tn_control_open(TB_CONTROL);
    return emulator->listening >= 0 && watch(emulator, emulator->listening, devices) ? 0 : fail(TB_CONTROL);
}

static int begin(emulator_t *emulator, char **argument)
{
    trv_torus_t torus;
    double bandwidth_bps, latency_ns, management_bps = 0;
    char text[TRV_TORUS_TEXT_MAX];
    const bool ports = argument[3] && strcmp(argument[3], TB_WITH_PORTS) == 0, cables = argument[3] && !ports;
    if (trv_torus_parse(argument[0], &torus) < 0 || trv_parse_rate_bps(argument[1], &bandwidth_bps) < 0 ||
        trv_parse_time_ns(argument[2], &latency_ns) < 0 ||
        tn_net_create(&emulator->net, &torus, bandwidth_bps, (int64_t)latency_ns) < 0 ||
        (ports && tn_net_add_cards(&emulator->net) < 0) ||
        (cables && argument[4] && trv_parse_rate_bps(argument[4], &management_bps) < 0) ||
        (cables && tn_net_use_cables(&emulator->net, management_bps, (int64_t)latency_ns) < 0)) {
        fprintf(stderr, "%s\n", trv_last_error());
        return 2;
    }
    int code = open_devices(emulator);
    if (code != 0)
        return code;
    tn_packet_reserve(&emulator->net, torus.ranks < POOL_NODES_MAX ? torus.ranks * POOL : POOL_NODES_MAX * POOL);
    int core = take_core();
    bool realtime = take_priority();
    snprintf(
        emulator->about, sizeof emulator->about,
        "torus %s\nbandwidth_bps %.0f\nlatency_ns %.0f\nports %d\nno_forwarding %d\nmanagement_bps %.0f\nprocess %d\n"
        "core %d\nrealtime %d\n",
        trv_torus_format(&torus, text, sizeof text), bandwidth_bps, latency_ns, ports, cables, management_bps,
        (int)getpid(), core, realtime);
    tn_reset(&emulator->net, tn_now_ns());
    return 0;
}

int main(int argc, char **argv)
{
    static emulator_t emulator = {.awake = -1};
    struct sigaction action = {.sa_handler = end};
    if (argc != 4 && (argc != 5 || strcmp(argv[4], TB_WITH_PORTS) != 0) &&
        ((argc != 5 && argc != 6) || strcmp(argv[4], TB_WITH_CABLES) != 0)) {
        fprintf(stderr, "Usage: trivance-torusnet TORUS BANDWIDTH LATENCY [ports|cables [BANDWIDTH]], for example 3x3 "
                        "50Mb/s 2ms\n`trivance testbed up` starts it.\n");
        return 2;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    int code = begin(&emulator, argv + 1);
    if (code != 0)
        return code;
    puts("ready");
    fclose(stdout);
    return run(&emulator);
}
