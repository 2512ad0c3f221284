/*
 * PMIx, whose attribute PMIX_FABRIC_COORDINATES has the coordinates of the node's devices on the network. Coordinates
 * in the logical view are preferred. PMIX_FABRIC_DIMS is the number of dimensions and PMIX_FABRIC_SHAPE their sizes; a
 * launcher may omit both. Without the sizes, the mesh between the job's nodes is assumed. The dimensions keep their
 * order, which PMIx does not relate to that of the ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/sources/sources.h"

#define NAME "PMIX_FABRIC_COORDINATES"

enum { COORDINATE_MAX = 1 << 20 };

static bool pmix_present(const trv_rank_record_t *record) { return record->pmix.present; }

static int shape_check(const trv_pmix_record_t *own, const trv_pmix_record_t *first, int rank)
{
    if (own->shape_dims != first->shape_dims || memcmp(own->shape, first->shape, sizeof own->shape) != 0)
        return trv_fail(TRV_ERR_INVALID, "PMIX_FABRIC_SHAPE on rank %d differs from that on rank 0", rank);
    if (own->shape_dims && own->shape_dims != own->dims)
        return trv_fail(TRV_ERR_INVALID, "PMIX_FABRIC_SHAPE has %d sizes on rank %d, and " NAME " has %d dimensions",
                        own->shape_dims, rank, own->dims);
    for (int d = 0; d < own->dims; d++) {
        if (own->shape_dims && own->at[d] >= own->shape[d])
            return trv_fail(TRV_ERR_INVALID,
                            NAME " is %u in dimension %d on rank %d, which is outside PMIX_FABRIC_SHAPE, whose size "
                                 "there is %u",
                            own->at[d], d, rank, own->shape[d]);
        if (own->at[d] >= COORDINATE_MAX || own->shape[d] > COORDINATE_MAX)
            return trv_fail(TRV_ERR_INVALID, NAME " or PMIX_FABRIC_SHAPE of rank %d exceeds %d in dimension %d", rank,
                            COORDINATE_MAX, d);
    }
    return TRV_OK;
}

static int record_check(const trv_rank_record_t *record, int rank)
{
    const trv_pmix_record_t *own = &record[rank].pmix, *first = &record[0].pmix;
    if (!own->present)
        return trv_fail(TRV_ERR_INVALID, NAME " is not set on rank %d, but on other ranks", rank);
    if (*own->type)
        return trv_fail(TRV_ERR_INVALID, NAME " has the type %s on rank %d; expected an array of pmix_geometry_t",
                        own->type, rank);
    if (own->locations > 1)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        NAME ": the devices of the node of rank %d have %d different coordinates; a node must have one",
                        rank, own->locations);
    if (own->dims < 1 || own->dims > TRV_DIMS_MAX || own->dims != first->dims)
        return trv_fail(TRV_ERR_INVALID,
                        NAME " has %d dimensions on rank %d and %d on rank 0; expected the same number, 1 to %d",
                        own->dims, rank, first->dims, TRV_DIMS_MAX);
    if (own->fabric_dims && own->fabric_dims != own->dims)
        return trv_fail(TRV_ERR_INVALID, "PMIX_FABRIC_DIMS is %d on rank %d, and " NAME " has %d dimensions",
                        own->fabric_dims, rank, own->dims);
    return shape_check(own, first, rank);
}

static int pmix_interpret(trv_found_t *found, const trv_rank_record_t *record, int ranks,
                          const trv_source_options_t *options)
{
    (void)options;
    int code = TRV_OK, size[TRV_DIMS_MAX];
    for (int r = 0; code == TRV_OK && r < ranks; r++)
        code = record_check(record, r);
    if (code < 0)
        return code;
    const trv_pmix_record_t *first = &record[0].pmix;
    const int dims = first->dims;
    int *at = malloc((size_t)ranks * (size_t)dims * sizeof *at);
    if (!at)
        return trv_fail_memory();
    for (int d = 0; d < dims; d++) {
        size[d] = (int)first->shape[d];
        for (int r = 0; r < ranks; r++)
            at[dims * r + d] = (int)record[r].pmix.at[d];
    }
    code = trv_found_set(found, at, ranks, dims, first->shape_dims ? size : NULL, 0);
    free(at);
    if (!first->shape_dims)
        snprintf(found->note, sizeof found->note,
                 "a mesh, because PMIX_FABRIC_SHAPE is not set; for a torus set TRIVANCE_TORUS or "
                 "TRIVANCE_TOPOLOGY_FILE");
    return code;
}

const trv_source_t trv_source_pmix = {NAME, pmix_present, pmix_interpret};
