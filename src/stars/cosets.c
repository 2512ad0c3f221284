/*
 * The vectors of one step between subgroups: of each coset the ones that are short, by different ports, with a small
 * load. Cosets are few (at most 2D + 1) and so are the candidates of each, so all choices are tried, with bounds.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stars/search.h"
#include "stars/vector.h"

#define CANDIDATES_MAX 12 /* of a coset */
#define FURTHER_MAX 2     /* hops that vectors may be longer than they need to, for a smaller load */
#define LONGER_MAX 6      /* the same, for different ports */
#define CHOICES_MAX 20000 /* tried for one step and length */
#define COSETS_MAX (TRV_PORTS_MAX + 1)

typedef struct choice {
    const trv_star_displacements_t *all;
    int group[TRV_DIMS_MAX]; /* the first of the dimensions that streams take in turns with this one */
    int turns[TRV_DIMS_MAX]; /* per group, how many these are */
    int cosets;              /* but 0 */
    int count[COSETS_MAX];
    int candidate[COSETS_MAX][CANDIDATES_MAX]; /* the shortest first */
    unsigned ports[COSETS_MAX][CANDIDATES_MAX];
    int chosen[COSETS_MAX];
    unsigned chosen_ports[COSETS_MAX];
    int owner[TRV_PORTS_MAX]; /* of a port: the coset */
    int load[TRV_DIMS_MAX], hops; /* load: of all dimensions of a group */
    int tried;
    double best;
    int best_chosen[COSETS_MAX];
} choice_t;

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

/* With so many hops to come, wherever they go. */
static double load_of(const choice_t *choice, int hops_to_come)
{
    int dims = choice->all->torus.dims;
    double most = (double)(choice->hops + hops_to_come) / dims;
    for (int d = 0; d < dims; d++) {
        double load = choice->turns[d] ? (double)choice->load[d] / choice->turns[d] : 0;
        most = load > most ? load : most;
    }
    return most;
}

/* There are as many turns as there are dimensions of the commonest size; dimensions of a size take turns if these come
 * round evenly. */
static void find_groups(choice_t *choice)
{
    const trv_torus_t *torus = &choice->all->torus;
    int alike[TRV_DIMS_MAX] = {0}, first[TRV_DIMS_MAX], most = 0;
    for (int d = 0; d < torus->dims; d++) {
        first[d] = torus->dims;
        for (int e = torus->dims - 1; e >= 0; e--)
            if (torus->size[e] == torus->size[d]) {
                alike[d]++;
                first[d] = e;
            }
        most = alike[d] > most ? alike[d] : most;
    }
    for (int d = 0; d < torus->dims; d++) {
        choice->group[d] = most % alike[d] ? d : first[d];
        choice->turns[choice->group[d]]++;
    }
}

static void count_vector(choice_t *choice, int displacement, int sign)
{
    for (int d = 0; d < choice->all->torus.dims; d++)
        choice->load[choice->group[d]] += sign * abs(choice->all->at[displacement][d]);
    choice->hops += sign * choice->all->hops[displacement];
}

static void choose(choice_t *choice, int coset)
{
    int to_come = 0, owner[TRV_PORTS_MAX];
    for (int c = coset; c < choice->cosets; c++)
        to_come += choice->all->hops[choice->candidate[c][0]];
    if (load_of(choice, to_come) >= choice->best || choice->tried++ > CHOICES_MAX)
        return;
    if (coset == choice->cosets) {
        choice->best = load_of(choice, 0);
        memcpy(choice->best_chosen, choice->chosen, sizeof choice->chosen);
        return;
    }
    memcpy(owner, choice->owner, sizeof owner);
    for (int i = 0; i < choice->count[coset]; i++) {
        choice->chosen[coset] = i;
        choice->chosen_ports[coset] = choice->ports[coset][i];
        if (trv_star_vector_place(choice->chosen_ports, choice->owner, coset)) {
            count_vector(choice, choice->candidate[coset][i], 1);
            choose(choice, coset + 1);
            count_vector(choice, choice->candidate[coset][i], -1);
        }
        memcpy(choice->owner, owner, sizeof owner);
    }
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

/* Which coset of the smaller subgroup: the remainders of the multiples, as one number. */
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

static void keep(const choice_t *choice, int hops, trv_star_option_t *option)
{
    option->hops = hops;
    option->load = choice->best;
    for (int c = 0; c < choice->cosets; c++)
        option->displacement[c] = (uint16_t)choice->candidate[c][choice->best_chosen[c]];
}

/* All candidates that are no longer than `hops` are there, at least one of each coset. */
static void try_length(choice_t *choice, int hops, trv_star_option_t *option, int *options)
{
    double before = choice->best;
    memset(choice->owner, -1, sizeof choice->owner);
    choice->tried = 0;
    choose(choice, 0);
    if (choice->best < before)
        keep(choice, hops, &option[(*options)++]);
}

int trv_star_cosets(const trv_star_displacements_t *all, const trv_star_members_t *members, const trv_lattice_t *part,
                    trv_star_option_t option[TRV_STAR_OPTIONS_MAX], int64_t *work)
{
    choice_t choice = {.all = all, .cosets = trv_lattice_index(part) - 1, .best = INT_MAX};
    int seen = 0, options = 0, last = INT_MAX, i;
    find_groups(&choice);
    for (i = 0; i < members->count && options < TRV_STAR_OPTIONS_MAX; i++) {
        int displacement = members->displacement[i], hops = all->hops[displacement];
        if (hops > last)
            break;
        int c = coset_of(part, members->multiple[i]) - 1;
        if (c >= 0 && choice.count[c] < CANDIDATES_MAX) {
            seen += choice.count[c] == 0;
            choice.ports[c][choice.count[c]] = trv_star_vector_ports(&all->torus, all->at[displacement]);
            choice.candidate[c][choice.count[c]++] = displacement;
        }
        bool ends = i + 1 == members->count || all->hops[members->displacement[i + 1]] > hops;
        if (seen < choice.cosets || !ends)
            continue;
        int before = options;
        try_length(&choice, hops, option, &options);
        *work += choice.tried;
        if (last == INT_MAX || (before == 0 && options))
            last = hops + (options ? FURTHER_MAX : LONGER_MAX);
    }
    *work += i;
    return options;
}
