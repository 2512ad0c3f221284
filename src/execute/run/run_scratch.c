/*
 * Scratch memory, see run_scratch.h.
 */
#include "execute/run/run_scratch.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/abandon.h"

enum { ALIGNMENT = 64 };

int trv_run_scratch_keep(trv_run_scratch_t *scratch, size_t bytes)
{
    if (scratch->capacity < bytes) {
        free(scratch->kept);
        scratch->kept = malloc(bytes + ALIGNMENT);
        scratch->capacity = scratch->kept ? bytes : 0;
        if (!scratch->kept)
            return trv_fail_memory();
    }
    scratch->data = (char *)scratch->kept + -(uintptr_t)scratch->kept % ALIGNMENT;
    return TRV_OK;
}

void trv_run_scratch_release(trv_run_scratch_t *scratch, const trv_plan_options_t *options)
{
    if (scratch->data && options->scratch_allocate && options->scratch_free)
        options->scratch_free(options->scratch_context, scratch->data, scratch->bytes);
    scratch->data = NULL;
}

void trv_run_scratch_abandon(trv_run_scratch_t *scratch)
{
    if (!scratch->data)
        return;
    trv_abandon(scratch->kept ? scratch->kept : scratch->data);
    *scratch = (trv_run_scratch_t){.data = NULL};
}

void trv_run_scratch_clear(trv_run_scratch_t *scratch)
{
    free(scratch->kept);
    *scratch = (trv_run_scratch_t){.data = NULL};
}
