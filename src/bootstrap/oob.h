/*
 * Out-of-band communication: the collective operations that the ranks of a job or a communicator need before the
 * transport has connected them. They are implemented over MPI, or over the TCP connections to rank 0 (bootstrap/tcp).
 * UCC's ucc_oob_coll has the same purpose.
 */
#ifndef TRIVANCE_BOOTSTRAP_OOB_H
#define TRIVANCE_BOOTSTRAP_OOB_H

#include <stddef.h>
#include <stdint.h>

/* The functions are collective, and all ranks call them in the same order. They return 0, or a negative TRV_ERR_* and
 * set the last error; after an error they must not be called again. */
typedef struct trv_oob {
    int rank, ranks;
    int (*allreduce_max)(void *context, int64_t *value); /* replaces the non-negative value by the maximum */
    int (*broadcast)(void *context, void *data, size_t bytes, int root);
    /* Gathers `bytes` bytes from each rank into all[ranks * bytes], in the order of the ranks. */
    int (*allgather)(void *context, const void *mine, void *all, size_t bytes);
    void *context;
} trv_oob_t;

/* Agrees whether all ranks can continue. Collective. code: TRV_OK, or the error of this rank, whose message is the last
 * error. All ranks return the same value: TRV_OK, or the error of the lowest rank that has one. The message of that
 * error begins with the rank ("rank 3: …") unless it already begins with "rank ". */
int trv_oob_agree(const trv_oob_t *oob, int code);

#endif
