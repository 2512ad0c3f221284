/*
 * Out-of-band communication: the few collective operations by which the ranks of a job or a communicator prepare, before
 * any connection of their own exists. MPI provides them, or the TCP connections to rank 0 (bootstrap/tcp). UCC's
 * ucc_oob_coll is the same idea.
 */
#ifndef TRIVANCE_BOOTSTRAP_OOB_H
#define TRIVANCE_BOOTSTRAP_OOB_H

#include <stddef.h>
#include <stdint.h>

/* All ranks call the functions in the same order. They return 0, or a negative TRV_ERR_* with the reason as the last
 * error; after an error the functions must not be called again. */
typedef struct trv_oob {
    int rank, ranks;
    int (*allreduce_max)(void *context, int64_t *value); /* replaces the value, which is not negative, by the maximum */
    int (*broadcast)(void *context, void *data, size_t bytes, int root);
    /* `bytes` of every rank, in the order of the ranks, into all[ranks * bytes] */
    int (*allgather)(void *context, const void *mine, void *all, size_t bytes);
    void *context;
} trv_oob_t;

/* Agrees whether all ranks can continue. code: TRV_OK, or this rank's error, whose sentence is the last error. Returns
 * TRV_OK on all ranks, or on all ranks the error of the lowest rank that has one; its sentence begins with that rank
 * ("rank 3: …") unless it already begins with "rank ". */
int trv_oob_agree(const trv_oob_t *oob, int code);

#endif
