/*
 * Writes the trace event format (Chromium project: Trace Event Format, 2016): complete events (ph X) with their begin
 * and duration in us, and metadata events (ph M) that name processes and threads. Events are written as they occur.
 */
#include "cli/simulate/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "cli/shared/output.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct trace {
    FILE *out;
    const trv_torus_t *torus;
    int streams;
    uint64_t events;
} trace_t;

/* A rank is a process; its threads are its streams, followed by its ports. */
static void write_event(trace_t *trace, int rank, int thread, double begin_ns, double end_ns)
{
    trace->events++;
    trv_fprintf(trace->out, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.6f,\"dur\":%.6f,", rank, thread,
                begin_ns / 1e3, (end_ns - begin_ns) / 1e3);
}

static void write_step(void *context, int rank, int stream, int step, double begin_ns, double end_ns)
{
    trace_t *trace = context;
    write_event(trace, rank, stream, begin_ns, end_ns);
    fprintf(trace->out, "\"cat\":\"step\",\"name\":\"step %d\"}", step);
}

static void write_packet(void *context, int rank, int port, uint64_t message, uint32_t packet, double begin_ns,
                         double end_ns)
{
    trace_t *trace = context;
    write_event(trace, rank, trace->streams + port, begin_ns, end_ns);
    fprintf(trace->out, "\"cat\":\"packet\",\"name\":\"message %" PRIu64 "\",\"args\":{\"packet\":%" PRIu32 "}}",
            message, packet);
}

/* Names a process or a thread, and sets its position among the others. */
static void write_name(trace_t *trace, const char *separator, const char *what, int rank, int thread, const char *name,
                       int index)
{
    fprintf(trace->out,
            "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s_name\",\"args\":{\"name\":\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%d}}",
            separator, rank, thread, what, name, rank, thread, what, index);
}

static void write_names(trace_t *trace, int rank)
{
    char name[64], port[TRV_PORT_TEXT_MAX];
    snprintf(name, sizeof name, "rank %d", rank);
    write_name(trace, rank ? ",\n" : "", "process", rank, 0, name, rank);
    for (int stream = 0; stream < trace->streams; stream++) {
        snprintf(name, sizeof name, "stream %d", stream);
        write_name(trace, ",\n", "thread", rank, stream, name, stream);
    }
    for (int p = 0; p < trv_port_count(trace->torus); p++) {
        int dimension = trv_port_dimension(p), thread = trace->streams + p;
        if (trace->torus->size[dimension] == 1)
            continue;
        snprintf(name, sizeof name, "port %s to rank %d", trv_port_format(p, port),
                 trv_torus_shift(trace->torus, rank, dimension, trv_port_sign(p)));
        write_name(trace, ",\n", "thread", rank, thread, name, thread);
    }
}

int cli_trace_check(const trv_torus_t *torus)
{
    if (torus->ranks > CLI_TRACE_RANKS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "a trace of %d ranks is too large for viewers; at most %d ranks are written", torus->ranks,
                        CLI_TRACE_RANKS_MAX);
    return TRV_OK;
}

static int check_events(const trv_schedule_t *schedule, uint64_t packet_hops)
{
    uint64_t steps = (uint64_t)trv_schedule_streams(schedule) * (uint64_t)trv_schedule_steps(schedule);
    uint64_t events = packet_hops + steps * (uint64_t)trv_schedule_torus(schedule)->ranks;
    if (events > CLI_TRACE_EVENTS_MAX)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "the trace would have up to %" PRIu64
            " events, and viewers accept 2^20; use smaller --bytes or larger packets, for example --packet=64K",
            events);
    return TRV_OK;
}

static int write_all(trace_t *trace, const trv_simulator_t *simulator, const trv_simulate_options_t *options,
                     uint64_t vector_bytes)
{
    const trv_simulate_observer_t observer = {TRV_SIMULATE_OBSERVER, trace, write_step, write_packet};
    trv_simulate_options_t observed = *options;
    trv_simulation_t result = {0};
    observed.observer = &observer;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", trace->out);
    for (int rank = 0; rank < trace->torus->ranks; rank++)
        write_names(trace, rank);
    int rc = trv_simulate(simulator, &observed, vector_bytes, &result);
    fputs("\n]}\n", trace->out);
    trv_simulation_clear(&result);
    return rc;
}

int cli_trace_write(const char *path, const trv_schedule_t *schedule, const trv_simulate_options_t *options,
                    uint64_t vector_bytes, uint64_t packet_hops, uint64_t *events)
{
    trv_simulator_t *simulator = NULL;
    cli_output_t output;
    int rc = check_events(schedule, packet_hops);
    if (!rc)
        rc = trv_simulator_create(&simulator, schedule);
    if (!rc)
        rc = cli_output_begin(&output, path);
    if (!rc) {
        trace_t trace = {.out = output.stream,
                         .torus = trv_schedule_torus(schedule),
                         .streams = trv_schedule_streams(schedule)};
        rc = cli_output_end(&output, write_all(&trace, simulator, options, vector_bytes));
        *events = trace.events;
    }
    trv_simulator_destroy(simulator);
    return rc;
}
