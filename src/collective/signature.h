/*
 * Operation signatures: the properties of a call (collective, element size, and how the operation combines) on which the
 * choice of a schedule depends, besides the class of sizes (base/size_class.h).
 */
#ifndef TRIVANCE_COLLECTIVE_SIGNATURE_H
#define TRIVANCE_COLLECTIVE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/planner.h>

#include "execute/run/arguments.h"
#include "schedule/collective.h"

typedef struct trv_signature {
    trv_collective_t collective;
    size_t element_bytes;
    bool exact;      /* the operation gives the same bits in any order (always true of AllGather) */
    bool idempotent; /* and may take a contribution twice */
} trv_signature_t;

/* Of elements of the core; a reduction of the caller's own counts as neither exact nor idempotent. */
trv_signature_t trv_signature_of(trv_collective_t collective, const trv_elements_t *elements);

/* Bytes of the whole vector: `count` is all of it for AllReduce, one rank's block for the other collectives. */
static inline uint64_t trv_signature_bytes(const trv_signature_t *signature, size_t count, int ranks)
{
    return (uint64_t)count * signature->element_bytes * trv_collective_blocks(signature->collective, ranks);
}

/* Constraints that the planner must respect for the result to be correct. */
trv_planner_constraints_t trv_signature_constraints(const trv_signature_t *signature, bool allow_inconsistent);

/* Why the schedule gives wrong results for the signature, as the end of a sentence; NULL where it is right.
 * allow_inconsistent: ranks may end with different bits. */
const char *trv_signature_objection(const trv_signature_t *signature, const trv_schedule_t *schedule,
                                    bool allow_inconsistent);

#endif
