/*
 * All displacements of a torus, the shortest first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "search/stars/search.h"

static int displacement_hops(const trv_torus_t *torus, int rank, int *at)
{
    int hops = 0;
    memset(at, 0, TRV_DIMS_MAX * sizeof *at);
    trv_torus_coordinates(torus, rank, at);
    for (int d = 0; d < torus->dims; d++) {
        at[d] -= 2 * at[d] > torus->size[d] ? torus->size[d] : 0;
        hops += abs(at[d]);
    }
    return hops;
}

/* Sorts the displacements by their hops; those with equal hops keep the order of the ranks. `position` has one entry
 * per number of hops. */
static void displacements_sort(trv_star_displacements_t *all, int longest, int *position)
{
    const trv_torus_t *torus = &all->torus;
    int at[TRV_DIMS_MAX];
    for (int rank = 1; rank < torus->ranks; rank++)
        position[displacement_hops(torus, rank, at)]++;
    for (int hops = 1, before = 0; hops <= longest; hops++) {
        const int count = position[hops];
        position[hops] = before;
        before += count;
    }
    for (int rank = 1; rank < torus->ranks; rank++) {
        const int hops = displacement_hops(torus, rank, at), i = position[hops]++;
        memcpy(all->at[i], at, sizeof at);
        all->hops[i] = hops;
    }
}

int trv_star_displacements_create(trv_star_displacements_t *all, const trv_torus_t *torus)
{
    int longest = 0;
    for (int d = 0; d < torus->dims; d++)
        longest += torus->size[d] / 2;
    int *position = calloc((size_t)longest + 1, sizeof *position);
    all->torus = *torus;
    all->count = torus->ranks - 1;
    all->at = malloc((size_t)torus->ranks * sizeof *all->at);
    all->hops = malloc((size_t)torus->ranks * sizeof *all->hops);
    if (!all->at || !all->hops || !position) {
        free(position);
        return trv_fail_memory();
    }
    displacements_sort(all, longest, position);
    free(position);
    return TRV_OK;
}

void trv_star_displacements_clear(trv_star_displacements_t *all)
{
    free(all->at);
    free(all->hops);
}
