/*
 * Recognising tori. Places are compared as numbers: row-major order of the larger torus is that of the smaller one too.
 */
#include "mpi/communicator/fit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/error.h"

typedef struct seat {
    int place, rank;
} seat_t;

static int by_place(const void *a, const void *b)
{
    const seat_t *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place) : x->rank - y->rank;
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Every place once, ascending, with its lowest rank; the number of places, or a negative code. */
static int gather_places(seat_t *seat, int ranks, int *ranks_per_place)
{
    qsort(seat, (size_t)ranks, sizeof *seat, by_place);
    int places = 0, first = 0;
    for (int i = 1; i <= ranks; i++) {
        if (i < ranks && seat[i].place == seat[first].place)
            continue;
        if (places == 0)
            *ranks_per_place = i - first;
        if (i - first != *ranks_per_place)
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "its ranks are %d at one coordinate and %d at another; all "
                            "coordinates must have the same number",
                            *ranks_per_place, i - first);
        seat[places++] = seat[first];
        first = i;
    }
    return places;
}

/* Leaves the distinct ones of `count` values, ascending; returns how many. */
static int distinct(int *value, int count)
{
    int kept = 0;
    qsort(value, (size_t)count, sizeof *value, by_value);
    for (int i = 0; i < count; i++)
        if (i == 0 || value[i] != value[kept - 1])
            value[kept++] = value[i];
    return kept;
}

/* Whether the coordinates, ascending, of a dimension of `size` follow each other the shorter way all round. */
static bool closes(const int *value, int count, int size)
{
    int widest = size - value[count - 1] + value[0];
    for (int i = 1; i < count; i++)
        if (value[i] - value[i - 1] > widest)
            widest = value[i] - value[i - 1];
    return 2 * widest < size || (count == 2 && 2 * widest == size); /* two opposite ones: both ways are as long */
}

/* The sets of coordinates per dimension, and the torus that they make. `value` has room for all places. */
static int find_torus(trv_mpi_fit_t *fit, const trv_torus_t *base, unsigned one_way, unsigned shared_port,
                      const seat_t *seat, int places, int *value)
{
    int dims = 0, size[TRV_DIMS_MAX], at[TRV_DIMS_MAX];
    int64_t product = 1;
    bool whole = places == base->ranks;
    for (int d = 0; d < base->dims; d++) {
        for (int i = 0; i < places; i++) {
            trv_torus_coordinates(base, seat[i].place, at);
            value[i] = at[d];
        }
        int count = distinct(value, places);
        product *= count;
        if (product > places) /* of all combinations, which the places are some of */
            return trv_fail(TRV_ERR_UNSUPPORTED, "its ranks form no torus, no plane and no row");
        if (count == 1 && !whole)
            continue;
        if (((one_way >> d) & 1 || !closes(value, count, base->size[d])) && count > 1)
            fit->one_way |= 1u << dims;
        fit->shared_port |= ((shared_port >> d) & 1) << dims;
        size[dims++] = count;
    }
    if (dims == 0)
        size[dims++] = 1;
    return trv_torus_init(&fit->torus, dims, size);
}

int trv_mpi_fit_init(trv_mpi_fit_t *fit, const trv_torus_t *base, unsigned one_way, unsigned shared_port,
                     const int *place, int ranks)
{
    *fit = (trv_mpi_fit_t){.ranks_per_place = 1};
    seat_t *seat = malloc((size_t)ranks * sizeof *seat);
    int *value = malloc((size_t)ranks * sizeof *value);
    int code = seat && value ? TRV_OK : trv_fail_memory();
    for (int r = 0; code == TRV_OK && r < ranks; r++)
        seat[r] = (seat_t){place[r], r};
    int places = code == TRV_OK ? gather_places(seat, ranks, &fit->ranks_per_place) : code;
    code = places < 0 ? places : find_torus(fit, base, one_way, shared_port, seat, places, value);
    for (int p = 0; code == TRV_OK && p < places; p++)
        value[p] = seat[p].rank;
    free(seat);
    if (code == TRV_OK)
        fit->member = value;
    else
        free(value);
    return code;
}

void trv_mpi_fit_clear(trv_mpi_fit_t *fit)
{
    free(fit->member);
    fit->member = NULL;
}
