/*
 * Chooses the growths of Trivance's windows on a ring of any size (docs/windows.md).
 *
 * The search is for a list of growths right:left whose sum is size - 1, each at most the window. Any such list is
 * exact, but cuts (windows.h) may make messages carry more than one vector. The cost of a list is the sum over its
 * steps of max(v_r * right, v_l * left), where v_r and v_l are the vectors of the messages. It is at least half of size
 * - 1, so the search tries increasing values of the *slack*
 *
 *     slack = 2 * cost - (size - 1) = sum of 2 * max(v_r * right, v_l * left) - right - left  >= 0
 *
 * which equals the *skew*, the sum of |right - left|, if every message is a single vector. The skew is twice the amount
 * by which the congestion sum exceeds its minimum.
 *
 * 0. 3^s and 2 * 3^s ranks: always full windows, see full_growths.
 * 1. One vector per message, forwards in time: growths must then consist of whole pieces that a rank holds already, of
 *    which there are at most two more per step. The choices do not depend on the size, and up to about 1000 ranks the
 *    search is exhaustive within its bound.
 * 2. If step 1 finds no list: at most two vectors per message, backwards in time from the whole ring, where the cuts
 *    are known. Window lengths and skews are tried in units of 3^step / 3^resolution, so that the work does not grow
 *    with the ring; resolution 4 is exhaustive up to 3^5.
 * 3. If that fails: the paper's growths, 3^k and in the last step half of the rest on each side. Two vectors are always
 *    sufficient for them, see trv_window_growths_paper.
 *
 * Up to 81 ranks a list with one vector per message is preferred at any congestion; above, the congestion sum is at
 * most 1.1 times that of the paper's growths.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "algorithms/builders/windows.h"

#define SINGLE_OPERATIONS_MAX 200000
#define DOUBLE_OPERATIONS_MAX 120000 /* for each resolution */
#define RESOLUTION_FIRST      4
#define RESOLUTION_LAST       2
#define SMALL_SIZE            81

/* Positions at which a window is cut, counted from its left end (0). A list of s growths has at most 2s + 2 of them:
 * forwards, a step with one vector per message adds two; backwards, it keeps the number or merges some, and adds
 * two. */
#define POSITIONS_MAX (2 * TRV_WINDOW_STEPS_MAX + 4)

typedef struct positions {
    int count;
    int at[POSITIONS_MAX];
} positions_t;

typedef enum outcome { NONE, FOUND, GIVEN_UP } outcome_t;

typedef struct search {
    int size, steps;
    int operations, operations_max;
    int64_t power[TRV_WINDOW_STEPS_MAX + 1]; /* powers of 3 */
    int resolution;
    trv_growth_t *growth;
} search_t;

static bool out_of_operations(search_t *search) { return ++search->operations > search->operations_max; }

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

/* ---- One vector per message, forwards ---------------------------------------------------------------------------- */

static outcome_t search_grow(search_t *search, int step, const positions_t *held, int slack);

/* Chooses the growths of the last step, which must fill the ring: right + left = size - window. `right` is the window's
 * length minus a position and `left` is a position, so the search is for two positions at distance
 * window - (size - window). */
static outcome_t search_fill_ring(search_t *search, int step, const positions_t *held, int slack)
{
    const int window = held->at[held->count - 1], distance = 2 * window - search->size;
    for (int i = 0, j = 0; i < held->count; i++) {
        while (j < held->count - 1 && held->at[j] - held->at[i] < distance)
            j++;
        const trv_growth_t growth = {window - held->at[j], held->at[i]};
        if (out_of_operations(search))
            return GIVEN_UP;
        if (held->at[j] - held->at[i] == distance && abs(growth.right - growth.left) <= slack) {
            search->growth[step] = growth;
            return FOUND;
        }
    }
    return NONE;
}

/* Tries one growth of the window. Its pieces lie between the positions in `held`, which include 0 and its length. */
static outcome_t search_grow_by(search_t *search, int step, const positions_t *held, trv_growth_t growth, int slack)
{
    positions_t after;
    after.count = 0;
    if (growth.left)
        after.at[after.count++] = 0;
    for (int k = 0; k < held->count; k++)
        after.at[after.count++] = held->at[k] + growth.left;
    if (growth.right)
        after.at[after.count++] = held->at[held->count - 1] + growth.left + growth.right;
    search->growth[step] = growth;
    return search_grow(search, step + 1, &after, slack);
}

/* Finds the growths from `step` on. For each `right` it tries those values of `left` that keep the skew within the
 * slack, leave at least one value for the last step, and are large enough for threefold growth in all later steps to
 * fill the ring. */
static outcome_t search_grow(search_t *search, int step, const positions_t *held, int slack)
{
    const int window = held->at[held->count - 1];
    if (step == search->steps - 1)
        return search_fill_ring(search, step, held, slack);
    const int64_t later = search->power[search->steps - 1 - step];
    const int min = (int)((search->size + later - 1) / later) - window, max = search->size - 1 - window;
    for (int j = 0, top = held->count - 1; j < held->count; j++) {
        const int right = window - held->at[j], low = larger(right - slack, min - right);
        int high = smaller(right + slack, max - right);
        if (step == 0)
            high = smaller(high, right); /* excludes mirror images */
        while (top > 0 && held->at[top] > right + slack)
            top--;
        for (int i = top; i >= 0 && held->at[i] >= low; i--) {
            if (out_of_operations(search))
                return GIVEN_UP;
            if (held->at[i] > high)
                continue;
            const trv_growth_t growth = {right, held->at[i]};
            const outcome_t outcome = search_grow_by(search, step, held, growth, slack - abs(right - growth.left));
            if (outcome != NONE)
                return outcome;
        }
    }
    return NONE;
}

static int search_skew(const search_t *search)
{
    int skew = 0;
    for (int i = 0; i < search->steps; i++)
        skew += abs(search->growth[i].right - search->growth[i].left);
    return skew;
}

static void copy_growths(const search_t *search, trv_growth_t *to, const trv_growth_t *from)
{
    memcpy(to, from, (size_t)search->steps * sizeof *to);
}

/* Finds growths with the smallest skew, which is the slack if messages are single vectors. The bound doubles until
 * growths are found, and is then lowered to just below the best ones until none are better. */
static bool search_single_vectors(search_t *search, int skew_max)
{
    const positions_t own = {2, {0, 1}};
    trv_growth_t best[TRV_WINDOW_STEPS_MAX];
    bool found = false;
    int impossible = -1; /* there are no growths with this skew or less */
    search->operations_max = search->operations + SINGLE_OPERATIONS_MAX;
    for (int skew = (search->size - 1) % 2; skew > impossible;) {
        const outcome_t outcome = search_grow(search, 0, &own, skew);
        if (outcome == GIVEN_UP)
            break;
        if (outcome == FOUND) {
            found = true;
            copy_growths(search, best, search->growth);
            skew = search_skew(search) - 2; /* all skews have the same parity */
        } else {
            impossible = skew;
            if (!found)
                skew = smaller(2 * skew + 2, skew_max);
        }
    }
    if (found)
        copy_growths(search, search->growth, best);
    return found;
}

/* ---- Two vectors per message, backwards -------------------------------------------------------------------------- */

static void cuts_add(positions_t *cuts, int at, int window)
{
    if (at <= 0 || at >= window)
        return;
    for (int i = 0; i < cuts->count; i++)
        if (cuts->at[i] == at)
            return;
    cuts->at[cuts->count++] = at;
}

/* The cuts of a window of length `window` before it grows. In a grown window the left peer's prefix comes first, then
 * the own window, then the right peer's suffix. A cut inside one of these parts is a cut of the window from which the
 * part was taken. */
static void cuts_before(const positions_t *after, int window, trv_growth_t growth, positions_t *before)
{
    before->count = 0;
    for (int i = 0; i < after->count; i++) {
        const int at = after->at[i];
        if (at < growth.left)
            cuts_add(before, at, window);
        else if (at > growth.left + window)
            cuts_add(before, at - growth.left - growth.right, window);
        else
            cuts_add(before, at - growth.left, window);
    }
    cuts_add(before, growth.left, window);
    cuts_add(before, window - growth.right, window);
}

/* The remaining budget of the search. */
typedef struct budget {
    int slack, skew, extras; /* extras: vectors in excess of one per message */
} budget_t;

static outcome_t search_shrink(search_t *search, int steps, int size, const positions_t *cuts, budget_t budget);

/* Tries one growth as the step before `cuts`. */
static outcome_t search_try_growth(search_t *search, int step, int window, const positions_t *cuts, trv_growth_t growth,
                                   budget_t budget)
{
    int right_vectors = 1, left_vectors = 1;
    if (out_of_operations(search))
        return GIVEN_UP;
    for (int i = 0; i < cuts->count; i++) {
        left_vectors += cuts->at[i] < growth.left;
        right_vectors += cuts->at[i] > growth.left + window;
    }
    if (larger(right_vectors, left_vectors) > TRV_WINDOW_VECTORS_MAX)
        return NONE;
    const int64_t cost = larger(right_vectors * growth.right, left_vectors * growth.left);
    const int64_t slack = 2 * cost - growth.right - growth.left;
    const int extras = right_vectors + left_vectors - 2;
    if (slack > budget.slack || extras > budget.extras)
        return NONE;
    budget.slack -= (int)slack;
    budget.skew -= abs(growth.right - growth.left);
    budget.extras -= extras;
    search->growth[step] = growth;
    positions_t before;
    cuts_before(cuts, window, growth, &before);
    return search_shrink(search, step, window, &before, budget);
}

/* Finds the first `steps` growths of a window that has length `size` after them and must be held cut at `cuts`. */
static outcome_t search_shrink(search_t *search, int steps, int size, const positions_t *cuts, budget_t budget)
{
    if (steps == 0)
        return size == 1 ? FOUND : NONE;
    if (size > search->power[steps])
        return NONE;
    const int step = steps - 1;
    const int unit = step > search->resolution ? (int)search->power[step - search->resolution] : 1;
    for (int window = smaller((int)search->power[step], size); window >= (size + 2) / 3; window -= unit) {
        const int growth = size - window;
        /* The skew is largest if the window grows to one side as far as possible. */
        const int skew_max = smaller(smaller(budget.slack, budget.skew), smaller(growth, window - (growth - window)));
        if (out_of_operations(search))
            return GIVEN_UP;
        for (int skew = growth % 2; skew <= skew_max; skew += 2 * unit) {
            const int more = (growth + skew) / 2, less = (growth - skew) / 2;
            outcome_t outcome = search_try_growth(search, step, window, cuts, (trv_growth_t){more, less}, budget);
            if (outcome == NONE && skew)
                outcome = search_try_growth(search, step, window, cuts, (trv_growth_t){less, more}, budget);
            if (outcome != NONE)
                return outcome;
        }
    }
    return NONE;
}

/* Finds the cheapest growths at this resolution and, among the cheapest, those with the fewest extra vectors. */
static bool search_double_vectors(search_t *search, int resolution, int skew_max)
{
    const positions_t none = {0};
    const int extras_max = 2 * search->steps, step = search->steps - 1;
    const int unit = step > resolution ? (int)search->power[step - resolution] : 1;
    budget_t budget = {(search->size - 1) % 2, skew_max, extras_max};
    outcome_t outcome = NONE;
    search->resolution = resolution;
    search->operations_max = search->operations + DOUBLE_OPERATIONS_MAX;
    for (; budget.slack <= search->size; budget.slack += 2 * unit)
        if ((outcome = search_shrink(search, search->steps, search->size, &none, budget)) != NONE)
            break;
    if (outcome != FOUND)
        return false;
    trv_growth_t best[TRV_WINDOW_STEPS_MAX];
    copy_growths(search, best, search->growth);
    for (budget.extras = 1; budget.extras < extras_max; budget.extras++)
        if ((outcome = search_shrink(search, search->steps, search->size, &none, budget)) != NONE)
            break;
    if (outcome != FOUND)
        copy_growths(search, search->growth, best);
    return true;
}

/* ---- The paper's growths ----------------------------------------------------------------------------------------- */

/* Growths 3^k in both directions, and in the last step half of the missing values on each side. Messages have at most
 * two vectors, for any size: the last step cuts its window, of length w, at x = w - right and y = left, so that x + y =
 * w - d with d = right - left = 0 or 1. This remains true going back through a full step, w = 3v: cuts in the left,
 * middle and right third become x, x - v, x - 2v.
 *   - Both in the left third: x + y <= 2v - 2 < 3v - d. Both in the right third: x + y >= 4v + 2 > 3v. Both are
 *     impossible, so each of the outer thirds, which are the messages, has at most one cut.
 *   - One left, one right: x + y - 2v = v - d. Both in the middle: (x - v) + (y - v) = v - d.
 *   - One outside, one in the middle: because x + y >= 3v - 1, the latter is on an edge of the middle third, where it
 *     is not a cut.
 * Full steps add no cuts. */
int trv_window_growths_paper(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX])
{
    const int steps = trv_log_ceil(3, size);
    int power = 1;
    for (int i = 0; i < steps - 1; i++, power *= 3)
        growth[i] = (trv_growth_t){power, power};
    if (steps > 0)
        growth[steps - 1] = (trv_growth_t){(size - power + 1) / 2, (size - power) / 2};
    return steps;
}

/* Growths for 3^s and 2 * 3^(s-1) ranks: always the full window, except that the first growth of the latter is 1:0. No
 * other growths are cheaper, and windows that are never cut allow the dimensions of a torus to alternate. */
static bool search_full_growths(search_t *search)
{
    const int last = search->steps - 1;
    const bool twice = search->size == 2 * search->power[last];
    if (!twice && search->size != search->power[search->steps])
        return false;
    for (int i = 0, window = 1; i <= last; i++) {
        search->growth[i] = (trv_growth_t){window, twice && i == 0 ? 0 : window};
        window += search->growth[i].right + search->growth[i].left;
    }
    return true;
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

int trv_window_growths(int size, trv_growth_t growth[TRV_WINDOW_STEPS_MAX], int *operations)
{
    search_t search = {.size = size, .steps = trv_log_ceil(3, size), .growth = growth};
    search.power[0] = 1;
    for (int i = 1; i <= search.steps; i++)
        search.power[i] = 3 * search.power[i - 1];
    if (search.steps > 0) {
        /* The paper's congestion sum is size / 2, rounded down; skew = 2 * sum - (size - 1). */
        const int64_t sum_max = (int64_t)(size / 2) * 11 / 10;
        const int skew_max = size <= SMALL_SIZE ? size : (int)(2 * sum_max - (size - 1));
        bool found = search_full_growths(&search) || search_single_vectors(&search, skew_max);
        for (int resolution = RESOLUTION_FIRST; !found && resolution >= RESOLUTION_LAST; resolution--)
            found = search_double_vectors(&search, resolution, skew_max);
        if (!found)
            trv_window_growths_paper(size, growth);
    }
    if (operations)
        *operations = search.operations;
    return search.steps;
}
