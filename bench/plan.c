/*
 * How long it takes, and how much memory, to work out everything that one rank of a million-rank torus does: its
 * schedule and all its steps of all streams, kept at the same time. For every algorithm with a logarithmic number of steps.
 *
 * Time is the median of several makings. Memory is the peak of what malloc handed out meanwhile: the linker turns every
 * call of malloc & co. in the library into the counting functions below (--wrap, see CMakeLists.txt).
 *
 *     plan [TORUS…]      default 1000x1000 100x100x100
 *
 * Exit status 1 if one of them takes more than 10 ms or 10 MB.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <trivance/trivance.h>

enum { REPEATS = 21 };
static const double time_limit_ms = 10, memory_limit_mb = 10;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static size_t held, peak;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static void *taken(void *memory)
{
    held += malloc_usable_size(memory);
    if (held > peak)
        peak = held;
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
void __wrap_free(void *memory) { __real_free(given(memory)); }

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* A rank's part of a schedule, all of it: steps[stream * number of steps + step]. */
typedef struct {
    trv_schedule_t *schedule;
    int count;
    trv_step_t *steps;
} part_t;

static int make(part_t *part, const trv_torus_t *torus, const char *algorithm, int rank)
{
    *part = (part_t){ 0 };
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

/* Whether the algorithm takes the torus with a logarithmic number of steps: at most 4 log2 n. */
static bool is_logarithmic(const trv_algorithm_t *algorithm, const trv_torus_t *torus)
{
    trv_schedule_t *schedule;
    if (trv_schedule_create(&schedule, torus, trv_algorithm_name(algorithm), TRV_ALLREDUCE) != 0)
        return false;
    bool few = trv_schedule_steps(schedule) <= 4 * log2(torus->ranks);
    trv_schedule_destroy(schedule);
    return few;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One row of the table; 0 if it keeps to the limits. */
static int measure(const trv_algorithm_t *algorithm, const trv_torus_t *torus, const char *torus_text)
{
    const char *name = trv_algorithm_name(algorithm);
    double time_ms[REPEATS];
    size_t before = held;
    int steps = 0;
    peak = held;
    for (int i = 0; i < REPEATS; i++) {
        part_t part;
        double start = now_ms();
        int code = make(&part, torus, name, torus->ranks / 2 + i);
        time_ms[i] = now_ms() - start;
        steps = part.count;
        discard(&part);
        if (code != 0) {
            fprintf(stderr, "plan: %s on %s: %s\n", name, torus_text, trv_last_error());
            return 1;
        }
    }
    qsort(time_ms, REPEATS, sizeof *time_ms, ascending);
    double memory_mb = (double)(peak - before) / 1e6;
    bool good = time_ms[REPEATS / 2] <= time_limit_ms && memory_mb <= memory_limit_mb;
    printf("%-12s  %-20s  %6d  %9.3f  %9.3f  %10.3f  %s\n", torus_text, name, steps, time_ms[REPEATS / 2],
           time_ms[REPEATS - 1], memory_mb, good ? "yes" : "NO");
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    char *standard[] = { "1000x1000", "100x100x100" };
    char **torus_text = argc > 1 ? argv + 1 : standard;
    int tori = argc > 1 ? argc - 1 : 2, missed = 0;

    printf("%-12s  %-20s  %6s  %9s  %9s  %10s  %s\n", "torus", "algorithm", "steps", "median ms", "max ms", "peak MB",
           "within 10 ms, 10 MB");
    for (int i = 0; i < tori; i++) {
        trv_torus_t torus;
        if (trv_torus_parse(torus_text[i], &torus) != 0) {
            fprintf(stderr, "plan: %s\n", trv_last_error());
            return 2;
        }
        for (int j = 0; j < trv_algorithms_count(); j++)
            if (is_logarithmic(trv_algorithm_at(j), &torus))
                missed += measure(trv_algorithm_at(j), &torus, torus_text[i]);
    }
    return missed != 0;
}
