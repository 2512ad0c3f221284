/*
 * Chooses the vectors of one step between two subgroups: one of each coset, short, leaving through different ports,
 * with a small load. There are few cosets (at most 2D + 1) and few candidates of each, so all choices are tried, with
 * bounds.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "search/stars/search.h"
#include "search/stars/vector.h"

#define CANDIDATES_MAX      12 /* per coset */
#define LONGER_FOR_LOAD_MAX 2  /* hops by which vectors may be longer than necessary, to reduce the load */
#define LONGER_FOR_PORTS_MAX                                                                                           \
    6 /* hops by which vectors may be longer than necessary, to leave through different ports */
#define CHOICES_MAX       20000 /* maximum number of choices for one step and length */
#define EXAMINED_MIN      4000  /* choices examined for one step and length even if the work is done */
#define EXAMINED_PER_WORK 8     /* examined choices per unit of work */
#define COSETS_MAX        (TRV_PORTS_MAX + 1)

typedef struct choice {
    const trv_star_displacements_t *all;
    int group[TRV_DIMS_MAX];      /* per dimension: the first of the dimensions that the streams permute with it */
    int group_size[TRV_DIMS_MAX]; /* per group: number of its dimensions */
    int unit;                     /* loads are in units of 1 / `unit`, so that the shares of all groups are integers */
    int cosets;                   /* number of cosets, without that of 0 */
    int count[COSETS_MAX];
    int candidate[COSETS_MAX][CANDIDATES_MAX];          /* in the order of their lengths */
    int load[COSETS_MAX][CANDIDATES_MAX][TRV_DIMS_MAX]; /* load of each candidate, per group */
    unsigned ports[COSETS_MAX][CANDIDATES_MAX];
    int chosen[COSETS_MAX];
    unsigned chosen_ports[COSETS_MAX];
    int remaining_hops[COSETS_MAX]; /* sum of the hops of the shortest candidates from a coset on */
    int tried, examined, examined_max;
    int best; /* lowest load found */
    int best_chosen[COSETS_MAX];
} choice_t;

/* The vectors chosen so far: their load, hops and ports. */
typedef struct sum {
    int load[TRV_DIMS_MAX], hops;
    int owner[TRV_PORTS_MAX]; /* per port: the coset whose vector leaves through it */
} sum_t;

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

/* Groups the dimensions that streams permute. There are as many rotations as dimensions of the most frequent size; the
 * dimensions of a size are permuted if their number divides the number of rotations. */
static void choice_find_groups(choice_t *choice)
{
    const trv_torus_t *torus = &choice->all->torus;
    int same_size[TRV_DIMS_MAX] = {0}, first[TRV_DIMS_MAX], max = 0;
    for (int d = 0; d < torus->dims; d++) {
        first[d] = torus->dims;
        for (int e = torus->dims - 1; e >= 0; e--)
            if (torus->size[e] == torus->size[d]) {
                same_size[d]++;
                first[d] = e;
            }
        max = same_size[d] > max ? same_size[d] : max;
    }
    for (int d = 0; d < torus->dims; d++) {
        choice->group[d] = max % same_size[d] ? d : first[d];
        choice->group_size[choice->group[d]]++;
    }
    choice->unit = torus->dims;
    for (int d = 0; d < torus->dims; d++) { /* least common multiple */
        const int before = choice->unit;
        while (choice->group_size[d] && choice->unit % choice->group_size[d])
            choice->unit += before;
    }
}

/* Adds a candidate to the sum. Returns a lower bound on the load, which assumes that the hops of the remaining vectors
 * can be distributed evenly. */
static int choice_add_load(const choice_t *choice, const sum_t *sum, int coset, int i, sum_t *next)
{
    const int dims = choice->all->torus.dims;
    next->hops = sum->hops + choice->all->hops[choice->candidate[coset][i]];
    int max = (next->hops + choice->remaining_hops[coset + 1]) * (choice->unit / dims);
    for (int d = 0; d < dims; d++) {
        next->load[d] = sum->load[d] + choice->load[coset][i][d];
        max = next->load[d] > max ? next->load[d] : max;
    }
    return max;
}

static void choice_search(choice_t *choice, int coset, const sum_t *sum)
{
    sum_t next;
    for (int i = 0; i < choice->count[coset]; i++) {
        if (choice->tried > CHOICES_MAX || choice->examined++ > choice->examined_max)
            return;
        const int load = choice_add_load(choice, sum, coset, i, &next);
        if (load >= choice->best)
            continue;
        memcpy(next.owner, sum->owner, sizeof next.owner);
        choice->chosen[coset] = i;
        choice->chosen_ports[coset] = choice->ports[coset][i];
        if (!trv_star_vector_assign(choice->chosen_ports, next.owner, coset))
            continue;
        choice->tried++;
        if (coset + 1 < choice->cosets) {
            choice_search(choice, coset + 1, &next);
        } else {
            choice->best = load;
            memcpy(choice->best_chosen, choice->chosen, sizeof choice->chosen);
        }
    }
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

/* The number of the coset of the smaller subgroup: the remainders of the multiples, combined into one number. */
static int coset_of(const trv_lattice_t *part, const int *multiple)
{
    int rest[TRV_DIMS_MAX], coset = 0;
    memcpy(rest, multiple, (size_t)part->dims * sizeof *rest);
    for (int d = 0; d < part->dims; d++) {
        const int *row = part->row[d];
        int times = rest[d] / row[d];
        times -= rest[d] < times * row[d];
        for (int e = d; e < part->dims && times; e++)
            rest[e] -= times * row[e];
        coset = coset * row[d] + rest[d];
    }
    return coset;
}

static void choice_add_candidate(choice_t *choice, int coset, int displacement)
{
    const trv_star_displacements_t *all = choice->all;
    const int i = choice->count[coset]++;
    choice->ports[coset][i] = trv_star_vector_ports(&all->torus, all->at[displacement]);
    choice->candidate[coset][i] = displacement;
    for (int d = 0; d < all->torus.dims; d++)
        choice->load[coset][i][choice->group[d]] += abs(all->at[displacement][d]) *
                                                    (choice->unit / choice->group_size[choice->group[d]]);
}

static void choice_keep(const choice_t *choice, int hops, trv_star_option_t *option)
{
    option->hops = hops;
    option->load = (double)choice->best / choice->unit;
    for (int c = 0; c < choice->cosets; c++)
        option->displacement[c] = (uint16_t)choice->candidate[c][choice->best_chosen[c]];
}

static int examinations_left(const trv_star_work_t *work)
{
    const int64_t left = work->limit - work->done;
    return left > INT_MAX / EXAMINED_PER_WORK        ? INT_MAX
           : left > EXAMINED_MIN / EXAMINED_PER_WORK ? (int)left * EXAMINED_PER_WORK
                                                     : EXAMINED_MIN;
}

/* Tries all choices among the candidates, which are at most `hops` long, at least one of each coset. Returns the work
 * done. */
static int choice_try_length(choice_t *choice, int hops, trv_star_option_t *option, int *options)
{
    const int before = choice->best;
    sum_t none = {.hops = 0};
    memset(none.owner, -1, sizeof none.owner);
    choice->remaining_hops[choice->cosets] = 0;
    for (int c = choice->cosets - 1; c >= 0; c--)
        choice->remaining_hops[c] = choice->remaining_hops[c + 1] + choice->all->hops[choice->candidate[c][0]];
    choice->tried = 1;
    choice->examined = 0;
    choice_search(choice, 0, &none);
    if (choice->best < before)
        choice_keep(choice, hops, &option[(*options)++]);
    return choice->tried + choice->examined / EXAMINED_PER_WORK;
}

int trv_star_cosets(const trv_star_displacements_t *all, const trv_star_members_t *members, const trv_lattice_t *part,
                    trv_star_option_t option[TRV_STAR_OPTIONS_MAX], trv_star_work_t *work)
{
    choice_t choice = {.all = all, .cosets = trv_lattice_index(part) - 1, .best = INT_MAX};
    int seen = 0, options = 0, last = INT_MAX, i;
    choice_find_groups(&choice);
    for (i = 0; i < members->count && options < TRV_STAR_OPTIONS_MAX; i++) {
        int displacement = members->displacement[i], hops = all->hops[displacement];
        if (hops > last)
            break;
        int c = coset_of(part, members->multiple[i]) - 1;
        if (c >= 0 && choice.count[c] < CANDIDATES_MAX) {
            seen += choice.count[c] == 0;
            choice_add_candidate(&choice, c, displacement);
        }
        bool ends = i + 1 == members->count || all->hops[members->displacement[i + 1]] > hops;
        if (seen < choice.cosets || !ends)
            continue;
        int before = options;
        choice.examined_max = examinations_left(work);
        work->done += choice_try_length(&choice, hops, option, &options);
        if (last == INT_MAX || (before == 0 && options))
            last = hops + (options ? LONGER_FOR_LOAD_MAX : LONGER_FOR_PORTS_MAX);
    }
    work->done += i;
    return options;
}
