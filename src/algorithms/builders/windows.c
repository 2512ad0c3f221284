/*
 * Computes window steps (windows.h): from the growths of the windows to cuts, runs and registers. docs/windows.md
 * explains the method.
 *
 * 1. Cuts, backwards in time. A cut p lies between displacements p - 1 and p. After the last step a rank holds the ring
 *    as one sum, so there are no cuts. The cuts before a step follow from those after it: a cut inside the old window
 *    remains; a cut inside the data received from rank + peer is a cut p - peer of that rank's window, and therefore of
 *    every window; and the ends of each message are cuts where they are inside the window. Each of these adds at most
 *    one cut, so a step adds at most two.
 * 2. Runs. Before a step a rank needs its own window, in the runs between the cuts after the step, and each message, in
 *    the vectors between these cuts. These runs overlap, because a message is part of the window; a run that is needed
 *    twice is held once.
 * 3. Registers, forwards in time. After the communication of a step the runs needed by the next step are combined from
 *    the rank's own runs and the received ones, shorter runs first, so that longer ones may use them. A result
 *    overwrites a source that is not needed any more. For windows that are never cut this means: receive into 1 and 2,
 *    then 0 := 1 + 0 + 2.
 */
#include <stdlib.h>

#include "base/radix.h"
#include "algorithms/builders/windows.h"
#include "base/error.h"

#define STEPS_MAX TRV_WINDOW_STEPS_MAX
#define CUTS_MAX  (2 * STEPS_MAX)
/* The runs held at the same time: those of the own window between its cuts, and the vectors sent, received and to be
 * sent. */
#define RUNS_MAX (2 * (CUTS_MAX + 1) + 3 * TRV_WINDOW_MESSAGES_MAX * TRV_WINDOW_VECTORS_MAX)

typedef struct run {
    int lo, hi;
} run_t;

typedef struct cuts {
    int count;
    int at[CUTS_MAX]; /* in ascending order */
} cuts_t;

typedef struct runs {
    int count;
    run_t run[RUNS_MAX];
    int reg[RUNS_MAX];
    int last_use[RUNS_MAX]; /* number of the last combine that reads it */
} runs_t;

/* ---- Cuts -------------------------------------------------------------------------------------------------------- */

static void cuts_add(cuts_t *cuts, int at)
{
    int i = cuts->count;
    for (int k = 0; k < cuts->count; k++)
        if (cuts->at[k] == at)
            return;
    for (; i > 0 && cuts->at[i - 1] > at; i--)
        cuts->at[i] = cuts->at[i - 1];
    cuts->at[i] = at;
    cuts->count++;
}

static bool is_inside(int at, int lo, int hi) { return lo < at && at <= hi; }

static void cuts_before(const trv_window_step_t *step, const cuts_t *after, cuts_t *before)
{
    before->count = 0;
    for (int i = 0; i < after->count; i++) {
        int at = after->at[i];
        if (is_inside(at, step->lo, step->hi))
            cuts_add(before, at);
        for (int m = 0; m < step->messages; m++)
            if (is_inside(at - step->message[m].peer, step->message[m].lo, step->message[m].hi))
                cuts_add(before, at - step->message[m].peer);
    }
    for (int m = 0; m < step->messages; m++) {
        if (is_inside(step->message[m].lo, step->lo, step->hi))
            cuts_add(before, step->message[m].lo);
        if (is_inside(step->message[m].hi + 1, step->lo, step->hi))
            cuts_add(before, step->message[m].hi + 1);
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static int runs_find(const runs_t *runs, run_t run)
{
    for (int i = 0; i < runs->count; i++)
        if (runs->run[i].lo == run.lo && runs->run[i].hi == run.hi)
            return i;
    return -1;
}

/* Appends the runs into which `cuts` divide lo … hi, each moved by `shift`. No run is listed twice. */
static void runs_add(runs_t *runs, int lo, int hi, const cuts_t *cuts, int shift)
{
    for (int i = 0; i <= cuts->count; i++) {
        const int end = i < cuts->count ? cuts->at[i] - 1 : hi;
        if (i < cuts->count && !is_inside(cuts->at[i], lo, hi))
            continue;
        const run_t run = {lo + shift, end + shift};
        if (runs_find(runs, run) < 0)
            runs->run[runs->count++] = run;
        lo = end + 1;
    }
}

/* The runs that a rank must hold before `step` if `after` are the cuts after it; shorter runs first. */
static void step_needed_runs(const trv_window_step_t *step, const cuts_t *after, runs_t *need)
{
    need->count = 0;
    runs_add(need, step->lo, step->hi, after, 0);
    for (int m = 0; m < step->messages; m++) {
        const trv_window_message_t *message = &step->message[m];
        runs_add(need, message->peer + message->lo, message->peer + message->hi, after, -message->peer);
    }
    for (int i = 1; i < need->count; i++)
        for (int k = i; k > 0; k--) {
            const run_t a = need->run[k - 1], b = need->run[k];
            if (a.hi - a.lo <= b.hi - b.lo)
                break;
            need->run[k - 1] = b;
            need->run[k] = a;
        }
}

/* The run from the leftmost to the rightmost displacement of `runs`. */
static run_t runs_span(const runs_t *runs)
{
    run_t all = runs->run[0];
    for (int i = 1; i < runs->count; i++) {
        all.lo = runs->run[i].lo < all.lo ? runs->run[i].lo : all.lo;
        all.hi = runs->run[i].hi > all.hi ? runs->run[i].hi : all.hi;
    }
    return all;
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static int runs_free_register(const runs_t *held)
{
    for (int reg = 0;; reg++) {
        bool used = false;
        for (int i = 0; i < held->count && !used; i++)
            used = held->reg[i] == reg;
        if (!used)
            return reg;
    }
}

static void runs_hold(trv_window_steps_t *windows, runs_t *held, run_t run, int reg)
{
    held->run[held->count] = run;
    held->reg[held->count++] = reg;
    if (reg >= windows->registers)
        windows->registers = reg + 1;
}

/* Fills in the messages of a step, whose vectors are in `held`. Then removes from `held` the runs that were only sent,
 * and adds the received ones. Returns false if a message would need more than TRV_WINDOW_VECTORS_MAX vectors. */
static bool step_exchange(trv_window_steps_t *windows, trv_window_step_t *step, const cuts_t *after, runs_t *held)
{
    runs_t own = {0}, sent = *held;
    runs_add(&own, step->lo, step->hi, after, 0);
    for (int i = 0; i < own.count; i++)
        own.reg[i] = held->reg[runs_find(held, own.run[i])];
    /* A received vector must not overwrite a vector that the step sends: `sent` contains both, so it grows here. */
    for (int m = 0; m < step->messages; m++) {
        trv_window_message_t *message = &step->message[m];
        runs_t vectors = {0};
        runs_add(&vectors, message->lo + message->peer, message->hi + message->peer, after, 0);
        if (vectors.count > TRV_WINDOW_VECTORS_MAX)
            return false;
        message->vectors = vectors.count;
        for (int v = 0; v < vectors.count; v++) {
            const run_t run = vectors.run[v], theirs = {run.lo - message->peer, run.hi - message->peer};
            message->send[v] = held->reg[runs_find(held, theirs)];
            message->receive[v] = runs_free_register(&sent);
            runs_hold(windows, &sent, run, message->receive[v]);
            runs_hold(windows, &own, run, message->receive[v]);
        }
    }
    *held = own;
    return true;
}

/* The sources of a needed run: from its left end on, always the longest held run that fits. */
static int run_sources(const runs_t *items, run_t run, int *source)
{
    int sources = 0;
    for (int at = run.lo; at <= run.hi; at = items->run[source[sources - 1]].hi + 1) {
        int longest = -1;
        for (int i = 0; i < items->count; i++)
            if (items->run[i].lo == at && items->run[i].hi <= run.hi &&
                (longest < 0 || items->run[i].hi > items->run[longest].hi))
                longest = i;
        source[sources++] = longest;
    }
    return sources;
}

/* Appends dst := the sum of `sources` registers. */
static int step_add_combine(trv_window_step_t *step, int dst, int sources, const int *reg)
{
    for (int done = 0; done < sources;) {
        trv_window_combine_t *grown = realloc(step->combine, (size_t)(step->combines + 1) * sizeof *grown);
        if (!grown)
            return trv_fail_memory();
        step->combine = grown;
        trv_window_combine_t *combine = &grown[step->combines++];
        *combine = (trv_window_combine_t){.dst = dst};
        if (done)
            combine->source[combine->sources++] = dst; /* the sum of the previous sources */
        while (done < sources && combine->sources < TRV_WINDOW_SOURCES_MAX)
            combine->source[combine->sources++] = reg[done++];
    }
    return TRV_OK;
}

/* The register for the result of combine `number`: one of its first sources that is not needed afterwards, the lowest
 * if there are several; otherwise a free register. Only the first sources qualify, because they are read before the
 * result is written. */
static int runs_choose_register(const runs_t *items, int number, int sources, const int *source)
{
    int best = -1;
    for (int k = 0; k < sources && k < TRV_WINDOW_SOURCES_MAX; k++)
        if (items->last_use[source[k]] == number && (best < 0 || items->reg[source[k]] < best))
            best = items->reg[source[k]];
    return best >= 0 ? best : runs_free_register(items);
}

/* Combines the needed runs from the held ones, and replaces the held runs by them. The result of the last step is
 * stored in register 0. */
static int step_combine_runs(trv_window_steps_t *windows, trv_window_step_t *step, runs_t *held, const runs_t *need,
                             bool last)
{
    int source[RUNS_MAX][RUNS_MAX], sources[RUNS_MAX];
    /* used as the last use of a run that is kept: greater than the number of any combine */
    const int kept = need->count;
    runs_t items = *held;
    for (int i = 0; i < items.count; i++)
        items.last_use[i] = -1;
    for (int n = 0; n < need->count; n++) {
        int same = runs_find(&items, need->run[n]);
        sources[n] = same >= 0 ? 0 : run_sources(&items, need->run[n], source[n]);
        for (int k = 0; k < sources[n]; k++)
            if (items.last_use[source[n][k]] < n)
                items.last_use[source[n][k]] = n;
        if (same < 0) {
            same = items.count++;
            items.run[same] = need->run[n];
            items.reg[same] = -1; /* not assigned yet */
        }
        items.last_use[same] = kept;
    }
    for (int n = 0; n < need->count; n++) {
        if (sources[n] == 0)
            continue;
        int reg[RUNS_MAX];
        const int dst = last ? 0 : runs_choose_register(&items, n, sources[n], source[n]);
        for (int k = 0; k < sources[n]; k++)
            reg[k] = items.reg[source[n][k]];
        const int rc = step_add_combine(step, dst, sources[n], reg);
        if (rc)
            return rc;
        for (int i = 0; i < items.count; i++)
            if (items.last_use[i] <= n)
                items.reg[i] = -1;
        items.reg[runs_find(&items, need->run[n])] = dst;
        if (dst >= windows->registers)
            windows->registers = dst + 1;
    }
    held->count = 0;
    for (int n = 0; n < need->count; n++)
        runs_hold(windows, held, need->run[n], items.reg[runs_find(&items, need->run[n])]);
    return TRV_OK;
}

/* ---- Window steps ------------------------------------------------------------------------------------------------ */

static trv_window_steps_t *windows_allocate(int size, int radix)
{
    trv_window_steps_t *windows = calloc(1, sizeof *windows);
    if (!windows) {
        trv_fail_memory();
        return NULL;
    }
    windows->size = size;
    windows->steps = trv_log_ceil(radix, size);
    windows->registers = 1;
    windows->whole = true;
    return windows;
}

void trv_window_steps_destroy(trv_window_steps_t *windows)
{
    for (int t = 0; windows && t < windows->steps; t++)
        free(windows->step[t].combine);
    free(windows);
}

/* Completes window steps in which the windows and the peers, directions and runs of the messages are set. */
static trv_window_steps_t *windows_complete(trv_window_steps_t *windows)
{
    cuts_t cuts[STEPS_MAX + 1] = {{0}}; /* before each step, and after the last one */
    for (int t = windows->steps - 1; t >= 0; t--)
        cuts_before(&windows->step[t], &cuts[t + 1], &cuts[t]);
    runs_t held = {0}, need;
    runs_hold(windows, &held, (run_t){0, 0}, 0);
    for (int t = 0; t < windows->steps; t++) {
        trv_window_step_t *step = &windows->step[t];
        const bool last = t == windows->steps - 1;
        windows->whole = windows->whole && held.count == 1;
        if (!step_exchange(windows, step, &cuts[t + 1], &held)) {
            trv_fail(TRV_ERR_UNSUPPORTED, "the windows of a ring of %d need more than %d vectors in a message",
                     windows->size, TRV_WINDOW_VECTORS_MAX);
            trv_window_steps_destroy(windows);
            return NULL;
        }
        if (last)
            need = (runs_t){.count = 1, .run = {runs_span(&held)}};
        else
            step_needed_runs(&windows->step[t + 1], &cuts[t + 2], &need);
        if (step_combine_runs(windows, step, &held, &need, last)) {
            trv_window_steps_destroy(windows);
            return NULL;
        }
    }
    return windows;
}

/* Adds the messages by which a window grows by `growth` values on one side: whole windows, and the rest from the
 * farthest rank. `side`: -1 left, 1 right. A message that goes half way round travels in direction +. */
static void step_grow(trv_window_step_t *step, int size, int side, int growth)
{
    const int length = step->hi - step->lo + 1, count = (growth + length - 1) / length;
    for (int i = 1; i <= count; i++) {
        const int number = side < 0 ? count + 1 - i : i; /* from left to right */
        const int distance = number < count ? number * length : growth;
        const int taken = number < count ? length : growth - (count - 1) * length;
        const bool forward = side < 0 ? 2 * distance <= size : 2 * distance >= size;
        step->message[step->messages++] = (trv_window_message_t){.peer = side * distance,
                                                                 .sign = forward ? 1 : -1,
                                                                 .lo = side < 0 ? step->lo : step->hi - taken + 1,
                                                                 .hi = side < 0 ? step->lo + taken - 1 : step->hi};
    }
}

/* Chooses the growths for several messages from each side: as many values on the left as on the right or, if the
 * missing values are whole windows, as many windows, because these need no cuts. */
static void choose_wide_growths(int size, int reach, trv_growth_t *growth)
{
    for (int t = 0, length = 1; length < size; t++) {
        const int missing = size - length, most = reach * length;
        int left = missing / 2 < most ? missing / 2 : most;
        if (missing < 2 * most && missing % length == 0)
            left = left / length * length;
        growth[t] = (trv_growth_t){.left = left, .right = missing - left < most ? missing - left : most};
        length += growth[t].left + growth[t].right;
    }
}

trv_window_steps_t *trv_window_steps_trivance(int size, int reach)
{
    trv_growth_t growth[STEPS_MAX];
    if (reach == 1)
        trv_window_growths(size, growth, NULL);
    else
        choose_wide_growths(size, reach, growth);
    return trv_window_steps_grow(size, reach, growth);
}

trv_window_steps_t *trv_window_steps_grow(int size, int reach, const trv_growth_t *growth)
{
    trv_window_steps_t *windows = windows_allocate(size, 2 * reach + 1);
    for (int t = 0, lo = 0, hi = 0; windows && t < windows->steps; t++) {
        windows->step[t].lo = lo;
        windows->step[t].hi = hi;
        step_grow(&windows->step[t], size, -1, growth[t].left); /* sources follow the order of the ring */
        step_grow(&windows->step[t], size, 1, growth[t].right);
        lo -= growth[t].left;
        hi += growth[t].right;
    }
    return windows ? windows_complete(windows) : NULL;
}

/* The direction of the shorter way to rank + distance, 0 < distance < size; + if both ways are equally long. */
static int shorter_way(int size, int distance) { return distance <= size - distance ? 1 : -1; }

trv_window_steps_t *trv_window_steps_bruck(int size, int reach)
{
    (void)reach;
    trv_window_steps_t *windows = windows_allocate(size, 3);
    for (int t = 0, length = 1; windows && t < windows->steps; t++, length *= 3) {
        trv_window_step_t *step = &windows->step[t];
        step->lo = 1 - length;
        for (int hop = 1; hop <= 2 && hop * length < size; hop++) {
            const int missing = size - hop * length, taken = missing < length ? missing : length;
            step->message[step->messages++] = (trv_window_message_t){.peer = -hop * length,
                                                                     .sign = shorter_way(size, hop * length),
                                                                     .lo = 1 - taken};
        }
    }
    return windows ? windows_complete(windows) : NULL;
}

trv_window_steps_t *trv_window_steps_overlap(int size, int reach)
{
    (void)reach;
    trv_window_steps_t *windows = windows_allocate(size, 3);
    for (int t = 0, distance = 1, covered = 0; windows && t < windows->steps; t++, covered += distance, distance *= 3) {
        trv_window_step_t *step = &windows->step[t];
        if (t == windows->steps - 1)
            distance = (size - distance + 1) / 2;
        step->lo = -covered;
        step->hi = covered;
        step->combine = malloc(sizeof *step->combine);
        if (!step->combine) {
            trv_fail_memory();
            trv_window_steps_destroy(windows);
            return NULL;
        }
        step->messages = size == 2 ? 1 : 2; /* in a ring of two, left and right are the same rank */
        for (int m = 0; m < step->messages; m++)
            step->message[m] = (trv_window_message_t){.peer = m ? distance : -distance,
                                                      .sign = m ? -1 : 1,
                                                      .lo = -covered,
                                                      .hi = covered,
                                                      .vectors = 1,
                                                      .receive = {m + 1}};
        step->combine[step->combines++] = size == 2 ? (trv_window_combine_t){0, 2, {1, 0}}
                                                    : (trv_window_combine_t){0, 3, {1, 0, 2}};
        windows->registers = step->messages + 1;
    }
    return windows;
}
