/*
 * A run: a list of points, sorted by descending cost, and counters of the points taken from either end. One worker
 * takes points from the end of the list, so that the first rows are done early; the others take the most expensive
 * points first, so that none of these is left for the end.
 *
 * Points with the same candidates on one network form a *group* and are adjacent in the list, so that only a few
 * simulators exist at a time: the first point that needs one creates it, the last one of the group releases it.
 *
 * The calling thread works alone if there is only one worker. Otherwise it waits, reports the progress and hands out
 * the rows; so the callbacks need not be thread-safe, and it handles signals at once.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/span.h"
#include "compare/point.h"

#define REPORT_NS 10000000

typedef struct order {
    int64_t point;
    size_t group;
    double work, work_max; /* packet-hops of the point; of the most expensive one in its group */
} order_t;

typedef struct run {
    trv_compare_t *compare;
    trv_compare_options_t options;
    order_t *order;
    size_t points;
    atomic_size_t taken, taken_first; /* points taken from the list; of these, those from its beginning */
    trv_simulators_t simulators;
    trv_point_group_t **group;
    size_t groups;
    int64_t group_capacity;
    double work; /* packet-hops of all points */
    bool alone;  /* the calling thread does the work */
    pthread_t *thread;
    size_t threads;
    atomic_int code; /* the first failure */
    /* Protected by the lock: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    double done_share; /* sum of the finished shares */
    int64_t *finished; /* points whose rows are done; of these `handed` were handed to the callback */
    size_t finished_count, handed, working;
    char *sentence; /* of the first failure */
} run_t;

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* Error messages are per thread, so that of the first failure is kept for the calling thread. */
static void run_fail(run_t *run, int code)
{
    pthread_mutex_lock(&run->lock);
    if (!atomic_load(&run->code)) {
        run->sentence = strdup(trv_last_error());
        atomic_store(&run->code, code);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Reports the finished share to the caller; in the calling thread only. */
static void run_report(run_t *run)
{
    const trv_span_t all = {run->options.progress, run->options.progress_context, 0, 1};
    pthread_mutex_lock(&run->lock);
    const double done_share = run->done_share;
    pthread_mutex_unlock(&run->lock);
    const int rc = trv_span_report(all, done_share);
    if (rc)
        run_fail(run, rc);
}

/* Adds to the finished share. Returns a nonzero code if the run has failed or is cancelled. */
static int run_advance(void *context, double share)
{
    run_t *run = context;
    pthread_mutex_lock(&run->lock);
    run->done_share += share;
    pthread_mutex_unlock(&run->lock);
    if (run->alone && !atomic_load(&run->code))
        run_report(run);
    return atomic_load(&run->code);
}

/* Hands finished rows to the caller; in the calling thread only. */
static void run_hand(run_t *run)
{
    pthread_mutex_lock(&run->lock);
    while (run->handed < run->finished_count && !atomic_load(&run->code)) {
        const int64_t point = run->finished[run->handed++];
        pthread_mutex_unlock(&run->lock);
        const int rc = run->options.done
                           ? run->options.done(run->options.done_context, point, &run->compare->row[point])
                           : TRV_OK;
        if (rc)
            run_fail(run, rc);
        pthread_mutex_lock(&run->lock);
    }
    pthread_mutex_unlock(&run->lock);
}

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static void point_finish(run_t *run, int64_t point, int rc)
{
    if (rc) {
        run_fail(run, rc);
        return;
    }
    pthread_mutex_lock(&run->lock);
    run->finished[run->finished_count++] = point;
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
    if (run->alone)
        run_hand(run);
}

static void point_run(run_t *run, const order_t *order)
{
    trv_point_group_t *group = run->group[order->group];
    trv_compare_row_t *row = &run->compare->row[order->point];
    trv_advance_t advance = {.report = run_advance,
                             .context = run,
                             .reports = run->options.progress || run->options.done,
                             .left = run->work > 0 ? order->work / run->work : 1.0 / (double)run->points};
    *row = (trv_compare_row_t){0};
    const int rc = trv_point_find(&run->compare->point[order->point], group, &run->simulators, &advance, row);
    if (atomic_fetch_sub(&group->pending, 1) == 1)
        trv_point_group_release(group);
    point_finish(run, order->point, rc);
}

/* Processes points from either end of the list. Both ends share one counter of taken points, so no point is taken
 * twice. */
static void run_work(run_t *run, bool from_end)
{
    size_t cheap = 0;
    while (!atomic_load(&run->code) && atomic_fetch_add(&run->taken, 1) < run->points)
        point_run(run, &run->order[from_end ? run->points - ++cheap : atomic_fetch_add(&run->taken_first, 1)]);
}

static void *worker_main(void *context)
{
    run_t *run = context;
    pthread_mutex_lock(&run->lock);
    const bool first = run->working++ == 0;
    pthread_mutex_unlock(&run->lock);
    run_work(run, first);
    pthread_mutex_lock(&run->lock);
    run->threads--;
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* Waits until rows are finished, no worker is left, or it is time for a report. */
static void run_wait(run_t *run)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += REPORT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&run->lock);
    int expired = 0;
    while (run->threads > 0 && (run->handed == run->finished_count || atomic_load(&run->code)) && !expired)
        expired = pthread_cond_timedwait(&run->changed, &run->lock, &until);
    pthread_mutex_unlock(&run->lock);
}

static size_t run_threads(run_t *run)
{
    pthread_mutex_lock(&run->lock);
    const size_t threads = run->threads;
    pthread_mutex_unlock(&run->lock);
    return threads;
}

/* Starts workers and waits for them. If no thread can be created, the calling thread does the work. */
static void run_all(run_t *run, size_t workers)
{
    size_t created = 0;
    run->thread = workers > 1 ? malloc(workers * sizeof *run->thread) : NULL;
    run->threads = workers;
    while (run->thread && created < workers && pthread_create(&run->thread[created], NULL, worker_main, run) == 0)
        created++;
    pthread_mutex_lock(&run->lock);
    run->threads -= workers - created;
    pthread_mutex_unlock(&run->lock);
    if (created == 0) {
        run->alone = true;
        run_work(run, true);
    }
    while (run_threads(run) > 0) {
        run_wait(run);
        run_hand(run);
        if (!atomic_load(&run->code))
            run_report(run);
    }
    for (size_t i = 0; i < created; i++)
        pthread_join(run->thread[i], NULL);
    run_hand(run);
    if (created > 0 && !atomic_load(&run->code))
        run_report(run);
    free(run->thread);
}

/* ---- The list of points ------------------------------------------------------------------------------------------ */

/* Finds or adds the group of a point. Points of a group usually follow each other, so the newest is tried first. */
static int run_group(run_t *run, const trv_point_t *point, size_t *index)
{
    for (size_t i = run->groups; i-- > 0;)
        if (trv_point_group_matches(run->group[i], point)) {
            *index = i;
            return TRV_OK;
        }
    if (trv_array_reserve(&run->group, &run->group_capacity, (int64_t)run->groups, 1, sizeof(trv_point_group_t *)))
        return TRV_ERR_MEMORY;
    *index = run->groups;
    int rc = trv_point_group_create(&run->group[run->groups], point, &run->simulators);
    run->groups += run->group[run->groups] != NULL;
    return rc;
}

/* Orders groups by their most expensive point and points by their work; ties keep the order of the comparison. */
static int order_compare(const void *left, const void *right)
{
    const order_t *a = left, *b = right;
    if (a->group != b->group && a->work_max != b->work_max)
        return a->work_max > b->work_max ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->work != b->work)
        return a->work > b->work ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static int run_add(run_t *run, int64_t index)
{
    const trv_point_t *point = &run->compare->point[index];
    order_t *order = &run->order[run->points];
    int rc = run_group(run, point, &order->group);
    if (rc)
        return rc;
    trv_point_group_t *group = run->group[order->group];
    order->point = index;
    order->work = trv_point_group_estimate(group, point);
    group->work_max = fmax(group->work_max, order->work);
    atomic_fetch_add(&group->pending, 1);
    run->work += order->work;
    run->points++;
    return TRV_OK;
}

/* Lists the points. */
static int run_prepare(run_t *run)
{
    const trv_compare_t *compare = run->compare;
    int rc = TRV_OK;
    for (int64_t i = 0; i < compare->points && !rc; i++)
        rc = run_add(run, i);
    for (size_t i = 0; i < run->points && !rc; i++)
        run->order[i].work_max = run->group[run->order[i].group]->work_max;
    if (!rc)
        qsort(run->order, run->points, sizeof *run->order, order_compare);
    return rc;
}

static void run_init(run_t *run)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&run->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&run->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    trv_simulators_init(&run->simulators);
}

static void run_clear(run_t *run)
{
    for (size_t i = 0; i < run->groups; i++)
        trv_point_group_destroy(run->group[i]);
    trv_simulators_clear(&run->simulators);
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->lock);
    free(run->group);
    free(run->order);
    free(run->finished);
    free(run->sentence);
}

/* The cores that this process may use. */
static int cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int trv_compare_run(trv_compare_t *compare, const trv_compare_options_t *options)
{
    run_t run = {.compare = compare, .options = {TRV_COMPARE_OPTIONS}};
    const size_t points = (size_t)compare->points + 1;
    int rc = options ? trv_check_size(options->size, sizeof *options, "TRV_COMPARE_OPTIONS") : TRV_OK;
    if (rc)
        return rc;
    if (options)
        run.options = *options;
    run_init(&run);
    run.order = malloc(points * sizeof *run.order);
    run.finished = malloc(points * sizeof *run.finished);
    rc = run.order && run.finished ? run_prepare(&run) : trv_fail_memory();
    if (!rc && run.points > 0) {
        size_t workers = (size_t)(run.options.workers > 0 ? run.options.workers : cores());
        run_all(&run, workers < run.points ? workers : run.points);
        rc = atomic_load(&run.code);
        if (rc)
            rc = trv_fail(rc, "%s", run.sentence ? run.sentence : "out of memory");
    }
    run_clear(&run);
    return rc;
}
