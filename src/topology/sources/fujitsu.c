/*
 * Fujitsu MPI, whose functions FJMPI_Topology_get_dimension, _get_shape and _get_coords (rank query interface) return
 * the shape of the job, of one to three dimensions, and the logical coordinates of a rank in it; several ranks of a
 * node have the same. x becomes the last dimension here, because ranks are by default numbered with x fastest.
 *
 * The network is a six-dimensional torus, Tofu. If the job is allocated as a torus, nodes that are neighbours by their
 * logical coordinates are neighbours on it, too, also around the ends. The coordinates on Tofu show whether that holds:
 * neighbours differ by one in exactly one of X, Y, Z, A, B, C; B is a ring of three. A dimension whose ends are no
 * neighbours has no wrap-around. If other nodes are no neighbours, as in a job that is not contiguous, the logical
 * coordinates describe no torus.
 */
#include <stdio.h>
#include <stdlib.h>

#include "topology/sources/sources.h"

#define NAME "FJMPI_Topology_get_coords"

enum { DIMS_MAX = 3, TOFU_DIMS = 6, TOFU_B = 4, NODES_MAX = 1 << 24 };

static bool fujitsu_present(const trv_rank_record_t *record) { return record->fujitsu.present; }

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

static int record_check(const trv_rank_record_t *record, int rank)
{
    const trv_fujitsu_record_t *own = &record[rank].fujitsu, *first = &record[0].fujitsu;
    if (!own->present)
        return trv_fail(TRV_ERR_INVALID, NAME " is missing on rank %d, but not on other ranks", rank);
    if (own->code != 0)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        NAME
                        " fails with the code %d on rank %d; jobs that share nodes with others, and processes that "
                        "were created dynamically, have no coordinates",
                        own->code, rank);
    if (own->dims < 1 || own->dims > DIMS_MAX)
        return trv_fail(TRV_ERR_INVALID, "FJMPI_Topology_get_dimension returns %d on rank %d; expected 1, 2 or 3",
                        own->dims, rank);
    for (int d = 0; d < own->dims; d++) {
        if (own->dims != first->dims || own->shape[d] != first->shape[d])
            return trv_fail(TRV_ERR_INVALID, "FJMPI_Topology_get_shape returns another shape on rank %d than on rank 0",
                            rank);
        if (own->logical[d] < 0 || own->logical[d] >= own->shape[d])
            return trv_fail(TRV_ERR_INVALID,
                            NAME " returns the coordinate %d in dimension %c on rank %d, which is outside the shape, "
                                 "whose size is %d",
                            own->logical[d], 'x' + d, rank, own->shape[d]);
    }
    return TRV_OK;
}

static int coordinates_set(trv_found_t *found, const trv_rank_record_t *record, int ranks)
{
    const int dims = record[0].fujitsu.dims;
    int size[DIMS_MAX], *at = malloc((size_t)ranks * (size_t)dims * sizeof *at);
    if (!at)
        return trv_fail_memory();
    for (int d = 0; d < dims; d++) {
        size[dims - 1 - d] = record[0].fujitsu.shape[d];
        for (int r = 0; r < ranks; r++)
            at[dims * r + dims - 1 - d] = record[r].fujitsu.logical[d];
    }
    const int code = trv_found_set(found, at, ranks, dims, size, 0);
    free(at);
    return code;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static bool are_neighbours(const trv_fujitsu_record_t *a, const trv_fujitsu_record_t *b)
{
    int differences = 0, links = 0;
    for (int d = 0; d < TOFU_DIMS; d++) {
        const int distance = abs(a->tofu[d] - b->tofu[d]);
        differences += distance != 0;
        links += distance == 1 || (d == TOFU_B && distance == 2);
    }
    return differences == 1 && links == 1;
}

static int fail_scattered(const trv_rank_record_t *record, int a, int b)
{
    char text[2][80];
    for (int i = 0; i < 2; i++) {
        const int *at = record[i ? b : a].fujitsu.tofu;
        snprintf(text[i], sizeof text[i], "%d,%d,%d,%d,%d,%d", at[0], at[1], at[2], at[3], at[4], at[5]);
    }
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    NAME ": the ranks %d and %d are neighbours by their logical coordinates, but not on the network, "
                         "where they are at %s and %s; allocate the job as a torus, for example by `pjsub -L "
                         "node=4x4x4:torus`",
                    a, b, text[0], text[1]);
}

/* Compares the neighbours of all nodes in dimension d. Sets *wraps to whether its ends are neighbours. */
static int dimension_check(const trv_found_t *found, const trv_rank_record_t *record, const int *rank_at, int d,
                           bool *wraps)
{
    const trv_torus_t *torus = &found->torus;
    *wraps = true;
    for (int node = 0; node < torus->ranks; node++) {
        int at[TRV_DIMS_MAX];
        trv_torus_coordinates(torus, node, at);
        const bool last = at[d] == torus->size[d] - 1;
        at[d] = last ? 0 : at[d] + 1;
        const int a = rank_at[node], b = rank_at[trv_torus_rank(torus, at)];
        if (a < 0 || b < 0 || are_neighbours(&record[a].fujitsu, &record[b].fujitsu))
            continue;
        if (!last)
            return fail_scattered(record, a, b);
        *wraps = false;
    }
    return TRV_OK;
}

/* Makes the dimensions whose ends are no neighbours lines. */
static int lines_find(trv_found_t *found, const trv_rank_record_t *record, int ranks)
{
    unsigned lines = 0;
    const bool small = found->torus.ranks <= NODES_MAX;
    int *rank_at = small ? malloc((size_t)found->torus.ranks * sizeof *rank_at) : NULL, code = TRV_OK;
    if (!rank_at)
        return small ? trv_fail_memory()
                     : trv_fail(TRV_ERR_INVALID,
                                "FJMPI_Topology_get_shape returns a shape of %d nodes; at most %d are "
                                "supported",
                                found->torus.ranks, NODES_MAX);
    for (int node = 0; node < found->torus.ranks; node++)
        rank_at[node] = -1;
    for (int r = ranks - 1; r >= 0; r--)
        rank_at[found->coordinate[r]] = r;
    for (int d = 0; code == TRV_OK && d < found->torus.dims; d++) {
        bool wraps = true;
        if (found->torus.size[d] > 2) /* two nodes have the same neighbour in both directions */
            code = dimension_check(found, record, rank_at, d, &wraps);
        else if (found->torus.size[d] == 2)
            code = dimension_check(found, record, rank_at, d, &(bool){false});
        lines |= wraps ? 0 : 1u << d;
    }
    free(rank_at);
    return code == TRV_OK ? trv_torus_set_lines(&found->torus, lines) : code;
}

static int fujitsu_interpret(trv_found_t *found, const trv_rank_record_t *record, int ranks,
                             const trv_source_options_t *options)
{
    (void)options;
    bool has_tofu = true;
    int code = TRV_OK;
    for (int r = 0; code == TRV_OK && r < ranks; r++) {
        code = record_check(record, r);
        has_tofu = has_tofu && record[r].fujitsu.has_tofu;
    }
    if (code == TRV_OK)
        code = coordinates_set(found, record, ranks);
    if (code < 0 || has_tofu)
        return code < 0 ? code : lines_find(found, record, ranks);
    unsigned lines = 0;
    for (int d = 0; d < found->torus.dims; d++)
        lines |= found->torus.size[d] > 1 ? 1u << d : 0;
    snprintf(found->note, sizeof found->note,
             "a mesh, because the coordinates on Tofu, which show whether the ends are neighbours, are unknown; for a "
             "torus set TRIVANCE_TORUS");
    return trv_torus_set_lines(&found->torus, lines);
}

const trv_source_t trv_source_fujitsu = {NAME, fujitsu_present, fujitsu_interpret};
