/*
 * Scratch memory of runs: allocated by the functions of the options or, without them, kept from one run to the next.
 * All functions are inline: libtrivance uses them, and the MPI layer, which is linked beside it.
 */
#ifndef TRIVANCE_EXECUTE_RUN_RUN_SCRATCH_H
#define TRIVANCE_EXECUTE_RUN_RUN_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <trivance/execute.h>

#include "base/abandon.h"
#include "base/error.h"

#define TRV_RUN_SCRATCH_ALIGNMENT 64

typedef struct trv_run_scratch {
    char *data;      /* of the current run, aligned to 64 bytes; NULL: none */
    size_t bytes;    /* its size */
    void *kept;      /* memory without the functions of the options; NULL: none */
    size_t capacity; /* its size, without the bytes for the alignment */
} trv_run_scratch_t;

/* Sets the data to the kept memory, which grows to `bytes` bytes if it is smaller. TRV_OK or TRV_ERR_MEMORY. */
static inline int trv_run_scratch_keep(trv_run_scratch_t *scratch, size_t bytes)
{
    if (scratch->capacity < bytes) {
        free(scratch->kept);
        scratch->kept = malloc(bytes + TRV_RUN_SCRATCH_ALIGNMENT);
        scratch->capacity = scratch->kept ? bytes : 0;
        if (!scratch->kept)
            return trv_fail_memory();
    }
    scratch->data = (char *)scratch->kept + -(uintptr_t)scratch->kept % TRV_RUN_SCRATCH_ALIGNMENT;
    return TRV_OK;
}

/* Obtains `bytes` bytes, 0 or more, for a run. TRV_OK or TRV_ERR_MEMORY. */
static inline int trv_run_scratch_acquire(trv_run_scratch_t *scratch, const trv_plan_options_t *options, size_t bytes)
{
    scratch->data = NULL;
    scratch->bytes = bytes;
    if (bytes == 0)
        return TRV_OK;
    if (!options->scratch_allocate)
        return trv_run_scratch_keep(scratch, bytes);
    scratch->data = options->scratch_allocate(options->scratch_context, bytes);
    return scratch->data ? TRV_OK : trv_fail_memory();
}

/* Ends the use of the data by the current run; without a run nothing happens. */
static inline void trv_run_scratch_release(trv_run_scratch_t *scratch, const trv_plan_options_t *options)
{
    if (scratch->data && options->scratch_allocate && options->scratch_free)
        options->scratch_free(options->scratch_context, scratch->data, scratch->bytes);
    scratch->data = NULL;
}

/* Instead of a release: a message may still access the data, which are then never freed. */
static inline void trv_run_scratch_abandon(trv_run_scratch_t *scratch)
{
    if (!scratch->data)
        return;
    trv_abandon(scratch->kept ? scratch->kept : scratch->data);
    *scratch = (trv_run_scratch_t){.data = NULL};
}

/* Frees what is kept. No run uses it. */
static inline void trv_run_scratch_clear(trv_run_scratch_t *scratch)
{
    free(scratch->kept);
    *scratch = (trv_run_scratch_t){.data = NULL};
}

#endif
