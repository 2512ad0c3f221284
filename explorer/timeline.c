/*
 * The explorer's picture of a simulation: when every rank is in which step of a stream, and when every link carries
 * packets. Packets that follow each other without a gap form one interval, so that large messages take no more memory
 * than small ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "explorer/explore.h"
#include "simulate/simulator.h"

#define RANKS_MAX   1024
#define HOPS_MAX    2e7
#define STRETCH_MAX (1 << 20)
#define GAP_NS      0.5

typedef struct stretch {
    double begin_ns, end_ns;
} stretch_t;

typedef struct part {
    int link;
    stretch_t time;
} part_t;

typedef struct timeline {
    int ports, written;
    bool full;      /* there are more intervals than can be drawn */
    stretch_t *now; /* per link, the interval that may still grow */
    part_t *part;   /* the complete intervals */
    size_t parts, capacity;
} timeline_t;

static void put_step(void *context, int rank, int stream, int step, double begin_ns, double end_ns)
{
    timeline_t *line = context;
    trv_fprintf(stdout, "%s[%d,%d,%d,%.3f,%.3f]", line->written++ ? "," : "", rank, stream, step, begin_ns, end_ns);
}

/* Stores the complete interval of a link. */
static void keep(timeline_t *line, int link)
{
    if (line->parts == line->capacity && !line->full) {
        const size_t wanted = line->capacity ? 2 * line->capacity : 4096;
        part_t *grown = wanted <= STRETCH_MAX ? realloc(line->part, wanted * sizeof *grown) : NULL;
        line->full = !grown;
        if (grown) {
            line->part = grown;
            line->capacity = wanted;
        }
    }
    if (!line->full)
        line->part[line->parts++] = (part_t){link, line->now[link]};
}

static void add_packet(void *context, int rank, int port, uint64_t message, uint32_t packet, double begin_ns,
                       double end_ns)
{
    timeline_t *line = context;
    const int link = rank * line->ports + port;
    stretch_t *now = &line->now[link];
    (void)message, (void)packet;
    if (now->end_ns > 0 && begin_ns - now->end_ns < GAP_NS) {
        now->end_ns = end_ns;
        return;
    }
    if (now->end_ns > 0)
        keep(line, link);
    *now = (stretch_t){begin_ns, end_ns};
}

static int fail_packets(void)
{
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "the timeline would have too many packets: use fewer bytes or larger packets, for example "
                    "--packet=64K");
}

static int draw(const explore_ask_t *ask, const trv_simulator_t *simulator, int links, timeline_t *line)
{
    const trv_simulate_observer_t observer = {TRV_SIMULATE_OBSERVER, line, put_step, add_packet};
    trv_simulate_options_t options = ask->network.options;
    trv_simulation_t result = {0};
    options.observer = &observer;
    fputs("\"steps\": [", stdout);
    int rc = trv_simulate(simulator, &options, ask->bytes, &result);
    fputs("],\n\"links\": [", stdout);
    for (int link = 0; link < links && !rc; link++)
        if (line->now[link].end_ns > 0)
            keep(line, link);
    if (!rc && line->full)
        rc = fail_packets();
    for (size_t i = 0; i < line->parts && !rc; i++)
        trv_fprintf(stdout, "%s[%d,%d,%.3f,%.3f]", i ? "," : "", line->part[i].link / line->ports,
                    line->part[i].link % line->ports, line->part[i].time.begin_ns, line->part[i].time.end_ns);
    trv_fprintf(stdout, "],\n\"time_ns\": %.3f, \"packets\": %" PRIu64 "}\n", result.time_ns, result.packets);
    trv_simulation_clear(&result);
    return rc;
}

static int check(const explore_ask_t *ask, const trv_schedule_t *schedule, const trv_simulator_t *simulator)
{
    const int ranks = trv_schedule_torus(schedule)->ranks;
    trv_simulate_options_t full = ask->network.options;
    full.full = true;
    if (ranks > RANKS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "%d ranks are too many for a timeline: at most %d ranks are drawn", ranks,
                        RANKS_MAX);
    if (trv_simulate_hops(simulator, &full, ask->bytes) > HOPS_MAX)
        return fail_packets();
    return TRV_OK;
}

static int write_timeline(const explore_ask_t *ask, const trv_schedule_t *schedule)
{
    const trv_torus_t *torus = trv_schedule_torus(schedule);
    timeline_t line = {.ports = trv_port_count(torus)};
    const int links = torus->ranks * line.ports;
    trv_simulator_t *simulator = NULL;
    int rc = trv_simulator_create(&simulator, schedule);
    if (!rc)
        rc = check(ask, schedule, simulator);
    if (!rc && !(line.now = calloc((size_t)links, sizeof *line.now)))
        rc = trv_fail_memory();
    if (!rc) {
        fputs("{\"name\": ", stdout);
        trv_json_put(stdout, json_string(trv_schedule_name(schedule)), JSON_ENCODE_ANY);
        printf(", \"bytes\": %" PRIu64 ", \"streams\": %d,\n", ask->bytes, trv_schedule_streams(schedule));
        rc = draw(ask, simulator, links, &line);
    }
    trv_simulator_destroy(simulator);
    free(line.now);
    free(line.part);
    return rc;
}

int explore_timeline(int argc, char **argv) { return explore_answer(argc, argv, write_timeline); }
