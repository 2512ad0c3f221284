/*
 * All displacements of a torus, the shortest first.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "stars/search.h"

static int hops_of(const trv_torus_t *torus, int rank, int *at)
{
    int hops = 0;
    trv_torus_coordinates(torus, rank, at);
    for (int d = 0; d < torus->dims; d++) {
        at[d] -= 2 * at[d] > torus->size[d] ? torus->size[d] : 0;
        hops += abs(at[d]);
    }
    return hops;
}

int trv_star_displacements_create(trv_star_displacements_t *all, const trv_torus_t *torus)
{
    int at[TRV_DIMS_MAX], longest = 0, place = 0;
    all->torus = *torus;
    all->count = torus->ranks - 1;
    all->at = malloc((size_t)torus->ranks * sizeof *all->at);
    all->hops = malloc((size_t)torus->ranks * sizeof *all->hops);
    if (!all->at || !all->hops)
        return trv_fail_memory();
    for (int d = 0; d < torus->dims; d++)
        longest += torus->size[d] / 2;
    for (int hops = 1; hops <= longest; hops++)
        for (int rank = 1; rank < torus->ranks; rank++)
            if (hops_of(torus, rank, at) == hops) {
                memcpy(all->at[place], at, sizeof at);
                all->hops[place++] = hops;
            }
    return TRV_OK;
}

void trv_star_displacements_clear(trv_star_displacements_t *all)
{
    free(all->at);
    free(all->hops);
}
