/*
 * Operation signatures, and the properties of schedules that they require.
 */
#include "collective/signature.h"

#include "schedule/collective.h"

trv_signature_t trv_signature_of(trv_collective_t collective, const trv_elements_t *elements)
{
    const bool gathers = !trv_collective_shape(collective)->reduces, own = elements->reduce != NULL;
    return (trv_signature_t){.collective = collective,
                             .element_bytes = trv_elements_size(elements),
                             .exact = gathers || (!own && trv_op_exact(elements->op, elements->type)),
                             .idempotent = gathers || (!own && trv_op_idempotent(elements->op))};
}

trv_planner_constraints_t trv_signature_constraints(const trv_signature_t *signature, bool allow_inconsistent)
{
    const bool reduces = trv_collective_shape(signature->collective)->reduces;
    return (trv_planner_constraints_t){TRV_PLANNER_CONSTRAINTS,
                                       .consistent = reduces && !signature->exact && !allow_inconsistent,
                                       .idempotent = reduces && signature->idempotent};
}

const char *trv_signature_objection(const trv_signature_t *signature, const trv_schedule_t *schedule,
                                    bool allow_inconsistent)
{
    if (!trv_collective_shape(signature->collective)->reduces)
        return NULL;
    if (trv_schedule_exactness(schedule) == TRV_COVERS && !signature->idempotent)
        return "it adds some contributions twice";
    return signature->exact || allow_inconsistent || trv_schedule_consistent(schedule)
               ? NULL
               : "its results can differ between ranks in the last bits";
}
