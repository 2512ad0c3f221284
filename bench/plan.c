/*
 * Time and memory to compute everything that one rank of a large torus does.
 *
 * First its schedule and all steps of all streams, kept at the same time, for every algorithm with a logarithmic number
 * of steps on a million ranks. Then plans: from the name of a schedule to a plan that can be started, for every
 * algorithm and collective, and the memory of the compiled program as a part of that.
 *
 * The time is the median of several runs. Memory is the peak of the memory that malloc has allocated meanwhile: the
 * linker replaces every call of malloc and related functions in the library by the counting functions below (--wrap,
 * see CMakeLists.txt).
 *
 *     plan [TORUS…]      default: steps on 1000x1000 100x100x100, plans on 16x16x16 32x40x48 46x46x47 100x100x100
 *
 * Exit status 1 if steps take more than 10 ms or 10 MB, or a plan more than its limit of memory: 10 MB, 16 MB for a
 * star, whose sets are listed block by block, and 128 MB for an all-to-all, whose relays list every block. The time of
 * a plan is printed, but has no limit.
 *
 * On more than 4096 ranks, plans are measured only if a rank's part of the schedule can be found without describing
 * the whole network: no algorithm that has a register for each rank, and nothing along trees.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "algorithms/algorithm.h"
#include "measure.h"
#include "schedule/collective.h"

enum { REPEATS = 21 };
static const double time_limit_ms = 10, memory_limit_mb = 10, star_memory_limit_mb = 16, alltoall_memory_limit_mb = 128;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static size_t held, peak;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);

static void *taken(void *memory)
{
    held += malloc_usable_size(memory);
    peak = held > peak ? held : peak;
    return memory;
}

static void *given(void *memory)
{
    held -= malloc_usable_size(memory);
    return memory;
}

void *__wrap_malloc(size_t size) { return taken(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return taken(__real_calloc(count, size)); }
void *__wrap_realloc(void *memory, size_t size) { return taken(__real_realloc(given(memory), size)); }
char *__wrap_strdup(const char *text) { return taken(__real_strdup(text)); }
void __wrap_free(void *memory) { __real_free(given(memory)); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* All steps of a rank in a schedule: steps[stream * number of steps + step]. */
typedef struct {
    trv_schedule_t *schedule;
    int count;
    trv_step_t *steps;
} part_t;

static int make(part_t *part, const trv_torus_t *torus, const char *algorithm, int rank)
{
    *part = (part_t){0};
    int code = trv_schedule_create(&part->schedule, torus, algorithm, TRV_ALLREDUCE);
    if (code != 0)
        return code;
    int steps = trv_schedule_steps(part->schedule), all = steps * trv_schedule_streams(part->schedule);
    part->steps = calloc((size_t)all + 1, sizeof *part->steps);
    for (; part->steps && code == 0 && part->count < all; part->count++) {
        part->steps[part->count] = (trv_step_t)TRV_STEP_INIT;
        code = trv_schedule_step(part->schedule, rank, part->count / steps, part->count % steps,
                                 &part->steps[part->count]);
    }
    return part->steps ? code : TRV_ERR_MEMORY;
}

static void discard(part_t *part)
{
    for (int i = 0; i < part->count; i++)
        trv_step_clear(&part->steps[i]);
    free(part->steps);
    trv_schedule_destroy(part->schedule);
}

/* True if the algorithm supports the torus with a logarithmic number of steps: at most 4 log2 n. Trees over links have
 * more steps, and finding them in a network of a million ranks takes minutes. */
static bool is_logarithmic(const trv_algorithm_t *algorithm, const trv_torus_t *torus)
{
    trv_schedule_t *schedule;
    if (algorithm->any_network ||
        trv_schedule_create(&schedule, torus, trv_algorithm_name(algorithm), TRV_ALLREDUCE) != 0)
        return false;
    bool few = trv_schedule_steps(schedule) <= 4 * log2(torus->ranks);
    trv_schedule_destroy(schedule);
    return few;
}

/* Prints one row of the table; returns 0 if it is within the limits. */
static int measure(const trv_algorithm_t *algorithm, const trv_torus_t *torus, const char *torus_text)
{
    const char *name = trv_algorithm_name(algorithm);
    double time_ms[REPEATS];
    size_t before = held;
    int steps = 0;
    peak = held;
    for (int i = 0; i < REPEATS; i++) {
        part_t part;
        const double start_ns = trv_now_ns();
        int code = make(&part, torus, name, torus->ranks / 2 + i);
        time_ms[i] = 1e-6 * (trv_now_ns() - start_ns);
        steps = part.count;
        discard(&part);
        if (code != 0) {
            fprintf(stderr, "plan: %s on %s: %s\n", name, torus_text, trv_last_error());
            return 1;
        }
    }
    const double median_ms = trv_median(time_ms, REPEATS); /* also sorts the times */
    double memory_mb = (double)(peak - before) / 1e6;
    bool good = median_ms <= time_limit_ms && memory_mb <= memory_limit_mb;
    printf("%-12s  %-20s  %6d  %9.3f  %9.3f  %10.3f  %s\n", torus_text, name, steps, median_ms, time_ms[REPEATS - 1],
           memory_mb, good ? "yes" : "NO");
    return memory_mb <= memory_limit_mb ? 0 : 1;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

enum { PLAN_REPEATS = 5, WHOLE_NETWORK_MAX = 4096 };

static int open_transport(void *context, int requests, int tags, int *base)
{
    (void)context, (void)requests, (void)tags;
    return *base = 0;
}

static void close_transport(void *context, int base) { (void)context, (void)base; }

/* Prints one row of the table of plans; returns 0 if it is within its limit of memory, or if the algorithm does not
 * support the torus. */
static int measure_plan(const char *name, const trv_torus_t *torus, const char *torus_text, trv_collective_t collective)
{
    const trv_transport_t transport = {TRV_TRANSPORT, .open = open_transport, .close = close_transport};
    const trv_elements_t elements = {.type = TRV_INT32, .op = TRV_MAX};
    double time_ms[PLAN_REPEATS];
    size_t before = held, program = 0;
    peak = held;
    for (int i = 0; i < PLAN_REPEATS; i++) {
        trv_schedule_t *schedule;
        trv_plan_t *plan;
        const double start_ns = trv_now_ns();
        if (trv_schedule_create(&schedule, torus, name, collective))
            return 0;
        int code = trv_plan_create(&plan, schedule, (torus->ranks / 7 * i) | 1, 1000, &elements, &transport, NULL);
        time_ms[i] = 1e-6 * (trv_now_ns() - start_ns);
        if (code) {
            fprintf(stderr, "plan: %s on %s: %s\n", name, torus_text, trv_last_error());
            trv_schedule_destroy(schedule);
            return 1;
        }
        program = trv_plan_memory_bytes(plan);
        trv_plan_destroy(plan);
        trv_schedule_destroy(schedule);
    }
    double memory_mb = (double)(peak - before) / 1e6, time = trv_median(time_ms, PLAN_REPEATS);
    double limit_mb = trv_collective_shape(collective)->exchanges ? alltoall_memory_limit_mb
                      : strncmp(name, "star", 4) == 0             ? star_memory_limit_mb
                                                                  : memory_limit_mb;
    bool good = time <= time_limit_ms && memory_mb <= limit_mb;
    printf("%-12s  %-20s  %-14s  %9.3f  %9.0f  %10.3f  %10.3f  %9.0f  %s\n", torus_text, name,
           trv_collective_shape(collective)->name, time, time_limit_ms, (double)program / 1e6, memory_mb, limit_mb,
           good ? "yes" : "NO");
    return memory_mb <= limit_mb ? 0 : 1;
}

/* True if each rank describes the whole network, or all blocks of all ranks, to find its part of the schedule. */
static bool describes_network(const trv_algorithm_t *algorithm, trv_collective_t collective)
{
    return trv_collective_has_root(collective) || trv_collective_shape(collective)->exchanges ||
           algorithm->any_network || trv_algorithm_in_rank_order(algorithm);
}

static int measure_plans(const trv_torus_t *torus, const char *torus_text)
{
    int missed = 0;
    for (int collective = 0; collective < TRV_COLLECTIVES; collective++)
        for (int j = 0; j < trv_algorithms_count(); j++) {
            const trv_algorithm_t *algorithm = trv_algorithm_at(j);
            if (torus->ranks <= WHOLE_NETWORK_MAX || !describes_network(algorithm, (trv_collective_t)collective))
                missed += measure_plan(trv_algorithm_name(algorithm), torus, torus_text, (trv_collective_t)collective);
        }
    return missed;
}

/* ---- Main program ------------------------------------------------------------------------------------------------ */

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    measure_check(trv_torus_parse(text, &torus), "plan");
    return torus;
}

int main(int argc, char **argv)
{
    char *large[] = {"1000x1000", "100x100x100"}, *standard[] = {"16x16x16", "32x40x48", "46x46x47", "100x100x100"};
    char **for_steps = argc > 1 ? argv + 1 : large, **for_plans = argc > 1 ? argv + 1 : standard;
    int missed = 0;

    printf("%-12s  %-20s  %6s  %9s  %9s  %10s  %s\n", "torus", "algorithm", "steps", "median ms", "max ms", "peak MB",
           "within 10 ms, 10 MB");
    for (int i = 0; i < (argc > 1 ? argc - 1 : (int)(sizeof large / sizeof *large)); i++) {
        const trv_torus_t torus = torus_of(for_steps[i]);
        for (int j = 0; j < trv_algorithms_count(); j++)
            if (is_logarithmic(trv_algorithm_at(j), &torus))
                missed += measure(trv_algorithm_at(j), &torus, for_steps[i]);
    }
    printf("\n%-12s  %-20s  %-14s  %9s  %9s  %10s  %10s  %9s  %s\n", "torus", "plan", "collective", "median ms",
           "limit ms", "program MB", "peak MB", "limit MB", "within");
    for (int i = 0; i < (argc > 1 ? argc - 1 : (int)(sizeof standard / sizeof *standard)); i++) {
        const trv_torus_t torus = torus_of(for_plans[i]);
        missed += measure_plans(&torus, for_plans[i]);
    }
    return missed != 0;
}
