/*
 * The verifier: proves every claim of a schedule, or reports the first fault. verifier.h lists its files.
 *
 * The values of a stream's units are independent, so units are processed in batches that fit into memory, each batch
 * through all steps. The memory depends on the batch, not on the schedule. The first batch also checks the structure.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "schedule/collective.h"
#include "torus/torus.h"
#include "verify/verifier.h"

#define BATCH_BYTES     ((int64_t)192 << 20) /* target size of a batch */
#define BATCH_BYTES_MAX ((int64_t)12 << 30)  /* for one unit; larger schedules are rejected */
/* maximum number of words moved by an exhaustive run that AUTO selects */
#define EXHAUSTIVE_WORDS_MAX ((double)((int64_t)4 << 30))

void trv_verifier_fault(trv_verifier_t *v, int step, int stream, int rank, int64_t unit, const char *format, ...)
{
    int last = v->steps, old = v->fault_step < 0 ? last : v->fault_step, new = step < 0 ? last : step;
    if (v->faulty && (old < new || (old == new && (v->fault_stream < stream ||
                                                   (v->fault_stream == stream && v->fault_rank <= rank)))))
        return;
    v->faulty = true;
    v->fault_step = step;
    v->fault_stream = stream;
    v->fault_rank = rank;
    v->fault_unit = unit;
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(v->fault, sizeof v->fault, format, arguments);
    va_end(arguments);
}

/* ---- Set-up ---------------------------------------------------------------------------------------------------- */

/* The number of units moved by all ranks together. */
static double moves(const trv_verifier_t *v)
{
    const double each = v->units == 1 ? (double)v->steps + v->registers : 4.0;
    return each * (double)v->ranks * (double)v->units * v->streams;
}

static trv_verify_method_t choose_method(const trv_verifier_t *v, trv_verify_method_t asked)
{
    /* Sums of random values cannot distinguish "once" from "at least once". */
    if (trv_schedule_exactness(v->schedule) == TRV_COVERS)
        return TRV_VERIFY_EXHAUSTIVE;
    if (asked != TRV_VERIFY_AUTO)
        return asked;
    double words = (v->contributors + 63) / 64;
    double work = words * moves(v);
    double bytes = 8 * (words + 1) * v->ranks * (double)v->registers;
    return work <= EXHAUSTIVE_WORDS_MAX && bytes <= (double)BATCH_BYTES_MAX / 4 ? TRV_VERIFY_EXHAUSTIVE
                                                                                : TRV_VERIFY_RANDOM;
}

static int choose_batch(trv_verifier_t *v)
{
    v->sets = v->random ? 1 : (v->contributors + 63) / 64;
    v->words = v->sets;
    v->stride = v->words + 1;
    const int64_t unit_bytes = (int64_t)v->stride * 8 * v->ranks * v->registers;
    v->count = BATCH_BYTES / unit_bytes; /* number of units in a batch */
    v->count = v->count < 1 ? 1 : v->count > v->units ? v->units : v->count;
    if (v->tolerant)
        v->count = v->units;
    else if (unit_bytes > BATCH_BYTES_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "verifying %s on %d ranks%s takes %lld GiB of memory per block, more than the %lld "
                        "that the verifier uses; verify a smaller torus",
                        trv_schedule_name(v->schedule), v->ranks, v->random ? "" : " exhaustively",
                        (long long)(unit_bytes >> 30), (long long)(BATCH_BYTES_MAX >> 30));
    v->cell = malloc((size_t)(v->count * unit_bytes));
    v->sum = malloc((size_t)v->stride * sizeof *v->sum);
    v->expected = malloc((size_t)v->count * sizeof *v->expected);
    return v->cell && v->sum && v->expected ? TRV_OK : trv_fail_memory();
}

int trv_verifier_allocate(trv_verifier_t *v)
{
    size_t ranks = (size_t)v->ranks, dims = (size_t)v->torus->dims;
    size_t cells = (size_t)v->registers * (size_t)v->units;
    size_t classes = 1;
    for (size_t d = 0; d < dims; d++) {
        v->period[d] = trv_schedule_period(v->schedule, (int)d);
        classes *= (size_t)v->period[d];
    }
    v->step = calloc(ranks, sizeof *v->step);
    v->coordinate = malloc(ranks * dims * sizeof *v->coordinate);
    v->list = malloc(cells * sizeof *v->list);
    v->other_list = malloc(cells * sizeof *v->other_list);
    v->stamp = calloc(cells, sizeof *v->stamp);
    v->signature = calloc(classes, sizeof *v->signature);
    if (!v->step || !v->coordinate || !v->list || !v->other_list || !v->stamp || !v->signature)
        return trv_fail_memory();
    for (size_t rank = 0; rank < ranks; rank++) {
        v->step[rank] = (trv_step_t)TRV_STEP_INIT;
        trv_torus_coordinates(v->torus, (int)rank, v->coordinate + rank * dims);
    }
    v->per_port = trv_schedule_messages_per_port(v->schedule);
    return v->per_port < 0 ? v->per_port : choose_batch(v);
}

/* Records whether the network forwards, and the links that are cut. If a link has several entries, the last counts. */
static int record_network(trv_verifier_t *v, const trv_network_t *network)
{
    const trv_torus_t *torus = v->torus;
    const int ports = trv_port_count(torus);
    if (!trv_torus_equal(&network->torus, torus))
        return trv_fail(TRV_ERR_ARGUMENT, "the network has another torus than the schedule %s",
                        trv_schedule_name(v->schedule));
    v->no_forwarding = network->no_forwarding;
    if (network->slow_links == 0)
        return TRV_OK;
    v->cut = calloc((size_t)torus->ranks * (size_t)ports, 1);
    if (!v->cut)
        return trv_fail_memory();
    for (int i = 0; i < network->slow_links; i++) {
        const trv_slow_link_t *link = &network->slow_link[i];
        if (link->rank < 0 || link->rank >= torus->ranks || link->port < 0 || link->port >= ports)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "there is no link of rank %d by port %d on a torus of %d ranks and %d ports", link->rank,
                            link->port, torus->ranks, ports);
        v->cut[link->rank * ports + link->port] = isinf(link->factor) != 0;
    }
    return TRV_OK;
}

void trv_verifier_release(trv_verifier_t *v)
{
    for (int rank = 0; v->step && rank < v->ranks; rank++)
        trv_step_clear(&v->step[rank]);
    free(v->cut);
    free(v->step);
    free(v->coordinate);
    free(v->list);
    free(v->other_list);
    free(v->stamp);
    free(v->signature);
    free(v->sum);
    free(v->expected);
    free(v->cell);
}

/* ---- The run --------------------------------------------------------------------------------------------------- */

static int report_progress(const trv_verifier_t *v, int stream, int step)
{
    double batches = (double)((v->units + v->count - 1) / v->count);
    double batch = (double)(v->first / v->count);
    return trv_span_report(v->progress, (stream + (batch + (double)step / v->steps) / batches) / v->streams);
}

/* Processes one batch of units through all steps of a stream. *sound: all steps could be executed. */
static int run_batch(trv_verifier_t *v, int stream, bool *sound)
{
    trv_values_start(v, stream);
    *sound = false;
    for (int step = 0; step < v->steps; step++) {
        int rc = trv_verifier_fetch(v, stream, step);
        if (rc)
            return rc;
        if (v->first == 0) {
            rc = trv_verifier_structure(v, stream, step);
            if (rc <= 0)
                return rc;
        }
        if (!trv_values_step(v, stream, step))
            return TRV_OK;
        rc = report_progress(v, stream, step + 1);
        if (rc)
            return rc;
    }
    *sound = true;
    return trv_values_check(v, stream);
}

static int run_stream(trv_verifier_t *v, int stream)
{
    int64_t batch = v->count;
    int rc = TRV_OK;
    bool sound = true;
    for (v->first = 0; v->first < v->units && !rc && sound; v->first += batch) {
        v->count = v->units - v->first < batch ? v->units - v->first : batch;
        rc = run_batch(v, stream, &sound);
    }
    v->count = batch;
    return rc;
}

/* Whether the claims of the schedule can be checked. */
static bool check_claims(trv_verifier_t *v)
{
    trv_collective_t collective = trv_schedule_collective(v->schedule);
    if (trv_collective_has_blocks(collective) && trv_schedule_owner(v->schedule, 0) < 0) {
        trv_verifier_fault(v, 0, 0, -1, -1,
                           "the collective is %s, but the schedule's %lld units have no owners among %d ranks: their "
                           "number must be a multiple of the ranks",
                           trv_collective_shape(collective)->name, (long long)v->units, v->ranks);
        return false;
    }
    return true;
}

static void report_inconsistency(trv_verifier_t *v)
{
    char name[TRV_UNIT_NAME_MAX];
    if (!v->consistent && trv_schedule_consistent(v->schedule))
        trv_verifier_fault(
            v, -1, v->differing_stream, v->differing_rank, v->differing_unit,
            "after the last step of stream %d, ranks 0 and %d have added %s in different orders, but the schedule "
            "claims to be consistent",
            v->differing_stream, v->differing_rank, trv_unit_name(v->schedule, v->differing_unit, name));
}

static void fill_verdict(const trv_verifier_t *v, trv_verdict_t *verdict)
{
    verdict->valid = !v->faulty;
    verdict->consistent = v->consistent;
    verdict->method = v->random ? TRV_VERIFY_RANDOM : TRV_VERIFY_EXHAUSTIVE;
    verdict->ranks = v->ranks;
    verdict->units = v->units * v->streams;
    verdict->messages = v->messages;
    verdict->fault_rank = v->faulty ? v->fault_rank : -1;
    verdict->fault_stream = v->faulty ? v->fault_stream : -1;
    verdict->fault_step = v->faulty ? v->fault_step : -1;
    verdict->fault_unit = v->faulty ? v->fault_unit : -1;
    snprintf(verdict->fault, sizeof verdict->fault, "%s", v->faulty ? v->fault : "");
}

trv_verifier_t trv_verifier_describe(const trv_schedule_t *schedule, trv_verify_method_t method)
{
    trv_verifier_t v = {
        .schedule = schedule,
        .torus = trv_schedule_torus(schedule),
        .registers = trv_schedule_registers(schedule),
        .streams = trv_schedule_streams(schedule),
        .steps = trv_schedule_steps(schedule),
        .units = trv_schedule_units(schedule),
        .consistent = true,
    };
    v.ranks = v.torus->ranks;
    v.contributors = trv_schedule_shape(schedule)->before == TRV_EVERY_RANK ? v.ranks : 1;
    v.random = choose_method(&v, method) == TRV_VERIFY_RANDOM;
    return v;
}

int trv_verify(const trv_schedule_t *schedule, trv_verify_method_t method, trv_verdict_t *verdict,
               int (*progress)(void *context, double fraction), void *context)
{
    const trv_network_t whole = {TRV_NETWORK, .torus = *trv_schedule_torus(schedule)};
    return trv_verify_on(schedule, &whole, method, verdict, progress, context);
}

int trv_verify_on(const trv_schedule_t *schedule, const trv_network_t *network, trv_verify_method_t method,
                  trv_verdict_t *verdict, int (*progress)(void *context, double fraction), void *context)
{
    const double start_s = trv_now_s();
    const int size_error = trv_check_size(verdict->size, sizeof *verdict, "TRV_VERDICT");
    if (size_error)
        return size_error;
    trv_verifier_t v = trv_verifier_describe(schedule, method);
    v.progress = (trv_span_t){progress, context, 0, 1};
    int rc = trv_verifier_allocate(&v);
    if (!rc)
        rc = record_network(&v, network);
    if (!rc && check_claims(&v)) {
        for (int stream = 0; stream < v.streams && !rc; stream++)
            rc = run_stream(&v, stream);
        report_inconsistency(&v);
    }
    trv_verifier_release(&v);
    fill_verdict(&v, verdict);
    if (v.faulty)
        verdict->consistent = false;
    verdict->seconds = trv_now_s() - start_s;
    return rc;
}
