/*
 * The part that plans of the same schedule and rank share: the programs of all streams, with a reference count.
 */
#include <stdlib.h>

#include "base/error.h"
#include "execute/run/plan.h"

void trv_compiled_release(trv_compiled_t *compiled)
{
    if (!compiled || atomic_fetch_sub(&compiled->references, 1) > 1)
        return;
    for (int s = 0; compiled->program && s < compiled->streams; s++)
        trv_program_clear(&compiled->program[s]);
    free(compiled->program);
    free(compiled);
}

/* Compiles the programs of all streams, with one reference. */
int trv_compiled_create(trv_compiled_t **compiled, const trv_schedule_t *schedule, int rank)
{
    trv_compiled_t *created = calloc(1, sizeof *created);
    int rc = 0;
    *compiled = created;
    if (!created)
        return trv_fail_memory();
    atomic_init(&created->references, 1);
    created->streams = trv_schedule_streams(schedule);
    created->program = calloc((size_t)created->streams, sizeof *created->program);
    if (!created->program)
        return trv_fail_memory();
    for (int s = 0; !rc && s < created->streams; s++)
        rc = trv_program_compile(&created->program[s], schedule, rank, s);
    return rc;
}
