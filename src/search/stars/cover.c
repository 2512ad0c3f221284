/*
 * Searches for coverings at random: all steps except the last reach as many displacements as possible, the last one the
 * missing ones.
 *
 * An attempt distributes fewer hops than the best covering has over the steps. For each port a step draws some vectors
 * at random and takes the one that reaches the largest number of new displacements; every second attempt also takes the
 * opposite vector through the opposite port. The last step is searched with backtracking: a missing displacement has to
 * be reached by one of as many vectors as there are sums, and each vector reaches at most that many displacements.
 */
#include "search/stars/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/radix.h"
#include "search/stars/search.h"
#include "search/stars/vector.h"

#define DRAWS     6    /* vectors drawn for a port */
#define BREADTH   6    /* vectors with which a node of the last step's search continues */
#define NODES_MAX 3000 /* of the last step's search */
#define SEED      UINT64_C(88172645463325252)
#define WORDS     (TRV_STAR_COVER_MAX / 64)

typedef struct cover {
    trv_star_displacements_t all;
    int ranks, ports, steps, *rank; /* rank: per displacement */
    uint16_t *sum;                  /* the sum of ranks r and s as displacements, at r * ranks + s */
    unsigned *vector_ports;         /* per displacement: the ports through which its message may leave */
    uint64_t random;
    int64_t work;
    int rc;              /* reason for which the search ended */
    int count, *element; /* the sums so far */
    bool *reached;
    int allowance[TRV_STAR_STEPS_MAX]; /* hops available to the steps of the present attempt */
    trv_star_chain_t chain;            /* chain of the present attempt */
    int best_hops;                     /* of `best`: the sum over the steps of the hops of the longest vector */
    trv_star_chain_t best;
    /* For the last step: the displacements that each vector reaches, as bits. */
    uint64_t (*reach)[WORDS];
    int words, within, nodes; /* number of displacements that are short enough; nodes of the search */
} cover_t;

/* ---- Randomness -------------------------------------------------------------------------------------------------- */

/* xorshift64*. */
static int cover_draw(cover_t *cover, int below)
{
    cover->random ^= cover->random >> 12;
    cover->random ^= cover->random << 25;
    cover->random ^= cover->random >> 27;
    return (int)((cover->random * UINT64_C(2685821657736338717) >> 33) % (uint64_t)below);
}

/* ---- All steps except the last ----------------------------------------------------------------------------------- */

static int cover_sum(const cover_t *cover, int element, int displacement)
{
    return cover->sum[element * cover->ranks + cover->rank[displacement]];
}

/* Number of displacements of at most `hops`. */
static int cover_count_within(const cover_t *cover, int hops)
{
    int count = 0;
    while (count < cover->all.count && cover->all.hops[count] <= hops)
        count++;
    return count;
}

static void cover_append(cover_t *cover, int k, int displacement)
{
    trv_star_step_t *step = &cover->chain.step[k];
    memcpy(step->vector[step->vectors++].at, cover->all.at[displacement], sizeof step->vector[0].at);
}

/* Takes a vector: adds the displacements that the first `before` sums reach by it. */
static void cover_take(cover_t *cover, int k, int before, int displacement)
{
    cover_append(cover, k, displacement);
    for (int i = 0; i < before; i++) {
        int element = cover_sum(cover, cover->element[i], displacement);
        if (!cover->reached[element]) {
            cover->reached[element] = true;
            cover->element[cover->count++] = element;
        }
    }
    cover->work += before;
}

static int cover_opposite(const cover_t *cover, int displacement)
{
    int at[TRV_DIMS_MAX] = {0};
    const trv_torus_t *torus = &cover->all.torus;
    for (int d = 0; d < torus->dims; d++)
        at[d] = (torus->size[d] - cover->all.at[displacement][d]) % torus->size[d];
    int rank = trv_torus_rank(torus, at);
    for (int i = 0;; i++)
        if (cover->rank[i] == rank)
            return i;
}

/* Draws vectors that leave through the port, and returns the one that reaches the largest number of new displacements;
 * -1 if there is none. */
static int cover_draw_vector(cover_t *cover, int port, int within, int before)
{
    int best = -1, max = 0;
    for (int tries = 0, drawn = 0; drawn < DRAWS && tries < 20 * DRAWS; tries++) {
        int displacement = cover_draw(cover, within), grown = 0;
        if (!(cover->vector_ports[displacement] >> port & 1))
            continue;
        drawn++;
        for (int i = 0; i < before; i++)
            grown += !cover->reached[cover_sum(cover, cover->element[i], displacement)];
        cover->work += before;
        if (grown > max) {
            max = grown;
            best = displacement;
        }
    }
    return best;
}

static void cover_grow_step(cover_t *cover, int k, bool symmetric)
{
    int before = cover->count, within = cover_count_within(cover, cover->allowance[k]);
    for (int p = 0; p < cover->ports; p += symmetric ? 2 : 1) {
        int displacement = cover_draw_vector(cover, p, within, before);
        if (displacement < 0)
            continue;
        cover_take(cover, k, before, displacement);
        int other = symmetric ? cover_opposite(cover, displacement) : displacement;
        if (other != displacement)
            cover_take(cover, k, before, other);
    }
}

/* ---- The last step ----------------------------------------------------------------------------------------------- */

static int chain_hops(const trv_star_chain_t *chain)
{
    int hops = 0;
    for (int k = 0; k < chain->steps; k++)
        hops += trv_star_hops(chain, k);
    return hops;
}

static bool cover_complete(cover_t *cover)
{
    trv_star_chain_t chain = cover->chain;
    cover->work += cover->ranks;
    const int rc = trv_star_check(&chain, true);
    if (rc == TRV_ERR_MEMORY)
        cover->rc = rc;
    if (rc)
        return false;
    cover->best_hops = chain_hops(&chain);
    cover->best = chain;
    return true;
}

static int cover_missing_count(const cover_t *cover, const uint64_t *missing)
{
    int count = 0;
    for (int w = 0; w < cover->words; w++)
        count += __builtin_popcountll(missing[w]);
    return count;
}

/* Lists the vectors that reach `target` and the largest numbers of missing displacements, best first. Returns their
 * number. */
static int cover_best_vectors(cover_t *cover, const uint64_t *missing, int target, int vector[BREADTH],
                              int reached[BREADTH])
{
    int count = 0;
    for (int v = 0; v < cover->within; v++) {
        int reaches = 0, position;
        if (!(cover->reach[v][target / 64] >> target % 64 & 1))
            continue;
        for (int w = 0; w < cover->words; w++)
            reaches += __builtin_popcountll(missing[w] & cover->reach[v][w]);
        cover->work += cover->words;
        if (count == BREADTH && reaches <= reached[count - 1])
            continue;
        count += count < BREADTH;
        for (position = count - 1; position > 0 && reached[position - 1] < reaches; position--) {
            reached[position] = reached[position - 1];
            vector[position] = vector[position - 1];
        }
        reached[position] = reaches;
        vector[position] = v;
    }
    return count;
}

/* Covers the missing displacements with `left` more vectors. Returns true when a covering is found. */
static bool cover_finish(cover_t *cover, const uint64_t *missing, int left)
{
    int missed = cover_missing_count(cover, missing), target = 0, vector[BREADTH], reached[BREADTH];
    if (missed == 0)
        return cover_complete(cover);
    if (missed > left * cover->count || cover->nodes++ > NODES_MAX)
        return false;
    while (!(missing[target / 64] >> target % 64 & 1))
        target++;
    int count = cover_best_vectors(cover, missing, target, vector, reached);
    bool found = false;
    for (int i = 0; i < count && missed - reached[i] <= (left - 1) * cover->count && !found; i++) {
        uint64_t rest[WORDS];
        for (int w = 0; w < cover->words; w++)
            rest[w] = missing[w] & ~cover->reach[vector[i]][w];
        cover_append(cover, cover->steps - 1, vector[i]);
        found = cover_finish(cover, rest, left - 1);
        cover->chain.step[cover->steps - 1].vectors--;
    }
    return found;
}

static bool cover_last_step(cover_t *cover)
{
    uint64_t missing[WORDS] = {0};
    cover->within = cover_count_within(cover, cover->allowance[cover->steps - 1]);
    cover->nodes = 0;
    if ((int64_t)cover->count * (cover->ports + 1) < cover->ranks)
        return false;
    memset(cover->reach, 0, (size_t)cover->within * sizeof *cover->reach);
    for (int v = 0; v < cover->within; v++)
        for (int i = 0; i < cover->count; i++) {
            int element = cover_sum(cover, cover->element[i], v);
            cover->reach[v][element / 64] |= UINT64_C(1) << element % 64;
        }
    cover->work += (int64_t)cover->within * cover->count;
    for (int r = 0; r < cover->ranks; r++)
        if (!cover->reached[r])
            missing[r / 64] |= UINT64_C(1) << r % 64;
    return cover_finish(cover, missing, cover->ports);
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------- */

/* Distributes `hops` over the steps, at least one for each, in ascending order. */
static void cover_share_hops(cover_t *cover, int hops)
{
    for (int k = 0; k < cover->steps; k++)
        cover->allowance[k] = 1;
    for (hops -= cover->steps; hops > 0; hops--)
        cover->allowance[cover_draw(cover, cover->steps)]++;
    for (int k = 1; k < cover->steps; k++)
        for (int i = k, value = cover->allowance[k]; i > 0 && cover->allowance[i - 1] > value; i--) {
            cover->allowance[i] = cover->allowance[i - 1];
            cover->allowance[i - 1] = value;
        }
}

static void cover_attempt(cover_t *cover, int hops, bool symmetric)
{
    trv_star_chain_t *chain = &cover->chain;
    memset(chain, 0, sizeof *chain);
    memset(cover->reached, 0, (size_t)cover->ranks * sizeof *cover->reached);
    chain->torus = cover->all.torus;
    chain->steps = cover->steps;
    cover->element[0] = 0;
    cover->reached[0] = true;
    cover->count = 1;
    cover_share_hops(cover, hops);
    for (int k = 0; k < cover->steps - 1; k++)
        cover_grow_step(cover, k, symmetric);
    cover_last_step(cover);
}

static void cover_make_tables(cover_t *cover)
{
    const trv_torus_t *torus = &cover->all.torus;
    for (int i = 0; i < cover->all.count; i++) {
        int at[TRV_DIMS_MAX];
        for (int d = 0; d < torus->dims; d++)
            at[d] = (cover->all.at[i][d] + torus->size[d]) % torus->size[d];
        cover->rank[i] = trv_torus_rank(torus, at);
        cover->vector_ports[i] = trv_star_vector_ports(torus, cover->all.at[i]);
    }
    for (int r = 0; r < cover->ranks; r++)
        for (int s = 0; s < cover->ranks; s++) {
            int one[TRV_DIMS_MAX], other[TRV_DIMS_MAX];
            trv_torus_coordinates(torus, r, one);
            trv_torus_coordinates(torus, s, other);
            for (int d = 0; d < torus->dims; d++)
                one[d] = (one[d] + other[d]) % torus->size[d];
            cover->sum[r * cover->ranks + s] = (uint16_t)trv_torus_rank(torus, one);
        }
}

static int cover_begin(cover_t *cover, const trv_torus_t *torus)
{
    size_t ranks = (size_t)torus->ranks;
    cover->ranks = torus->ranks;
    cover->words = (torus->ranks + 63) / 64;
    cover->ports = trv_port_count(torus);
    int rc = trv_star_displacements_create(&cover->all, torus);
    cover->rank = malloc(ranks * sizeof *cover->rank);
    cover->sum = malloc(ranks * ranks * sizeof *cover->sum);
    cover->vector_ports = malloc(ranks * sizeof *cover->vector_ports);
    cover->element = malloc(ranks * sizeof *cover->element);
    cover->reached = malloc(ranks * sizeof *cover->reached);
    cover->reach = malloc(ranks * sizeof *cover->reach);
    if (!rc &&
        (!cover->rank || !cover->sum || !cover->vector_ports || !cover->element || !cover->reached || !cover->reach))
        rc = trv_fail_memory();
    if (!rc)
        cover_make_tables(cover);
    return rc;
}

static void cover_end(cover_t *cover)
{
    trv_star_displacements_clear(&cover->all);
    free(cover->rank);
    free(cover->sum);
    free(cover->vector_ports);
    free(cover->element);
    free(cover->reached);
    free(cover->reach);
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

int trv_star_steps_min(const trv_torus_t *torus)
{
    int dims = 0;
    for (int d = 0; d < torus->dims; d++)
        dims += torus->size[d] > 1;
    return trv_log_ceil(2 * dims + 1, torus->ranks);
}

/* Windows that overlap, with ceil(log3 size) steps in each dimension. */
static void chain_of_windows(const trv_torus_t *torus, trv_star_chain_t *chain)
{
    memset(chain, 0, sizeof *chain);
    chain->torus = *torus;
    for (int d = 0; d < torus->dims; d++)
        for (int window = 1; window < torus->size[d]; chain->steps++) {
            trv_star_step_t *step = &chain->step[chain->steps];
            int missing = torus->size[d] - window, distance = window < (missing + 1) / 2 ? window : (missing + 1) / 2;
            for (int sign = 1; sign >= (missing == 1 ? 1 : -1); sign -= 2)
                step->vector[step->vectors++].at[d] = sign * distance;
            window += 2 * distance;
        }
}

/* Makes attempts until the work is done or no covering can have fewer hops than the best one. */
static void cover_search_steps(cover_t *cover, int steps, int64_t work, trv_span_t part)
{
    const trv_torus_t *torus = &cover->all.torus;
    int diameter = 0;
    for (int d = 0; d < torus->dims; d++)
        diameter += torus->size[d] / 2;
    if (diameter < steps)
        diameter = steps;
    cover->steps = steps;
    cover->best_hops = 2 * diameter + 1;
    cover->random = SEED;
    cover->work = 0;
    for (int tries = 0; cover->work < work && cover->best_hops > diameter && !cover->rc; tries++) {
        cover_attempt(cover, diameter + cover_draw(cover, cover->best_hops - diameter), tries % 2);
        if (!cover->rc)
            cover->rc = trv_span_report(part, (double)cover->work / (double)work);
    }
}

int trv_star_cover_search(const trv_torus_t *torus, const trv_star_chain_t *direct, int64_t work, trv_span_t part,
                          trv_star_chain_t *chain)
{
    chain_of_windows(torus, chain);
    if (direct && direct->steps <= chain->steps)
        *chain = *direct;
    int steps = trv_star_steps_min(torus), rc;
    if (steps >= chain->steps || torus->ranks > TRV_STAR_COVER_MAX)
        return trv_star_check(chain, true);
    cover_t *cover = calloc(1, sizeof *cover);
    if (!cover)
        return trv_fail_memory();
    rc = cover_begin(cover, torus);
    /* upper bound: the search ends at the first number of steps that has a covering */
    const int first = steps, count = chain->steps - steps;
    for (; !rc && steps < chain->steps; steps++) {
        cover_search_steps(cover, steps, work, trv_span(part, (double)(steps - first) / count, 1.0 / count));
        rc = cover->rc;
        if (cover->best.steps)
            *chain = cover->best;
    }
    cover_end(cover);
    free(cover);
    return rc ? rc : trv_star_check(chain, true);
}
