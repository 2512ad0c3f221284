/*
 * Operation signatures: the properties of a call (collective, element size, and how the operation combines) on which
 * the choice of a schedule depends, besides the class of sizes (base/size_class.h). Includes the checks of a call's
 * arguments.
 */
#ifndef TRIVANCE_COLLECTIVE_SIGNATURE_H
#define TRIVANCE_COLLECTIVE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/planner.h>

#include "execute/run/arguments.h"
#include "execute/run/block_sizes.h"
#include "schedule/collective.h"

typedef struct trv_signature {
    trv_collective_t collective;
    size_t element_bytes;
    bool exact;      /* the result is bitwise identical in any order of operands (always true for AllGather) */
    bool idempotent; /* a contribution may be combined twice (always true for AllGather) */
} trv_signature_t;

/* The signature of a call. A user-defined reduction is treated as neither exact nor idempotent. */
trv_signature_t trv_signature_of(trv_collective_t collective, const trv_elements_t *elements);

/* Constraints that the planner must respect for the result to be correct. */
trv_planner_constraints_t trv_signature_constraints(const trv_signature_t *signature, bool allow_inconsistent);

/* A sentence that explains why the schedule gives wrong results for the signature; NULL if the results are correct.
 * allow_inconsistent: results may differ between ranks in their last bits. */
const char *trv_signature_objection(const trv_signature_t *signature, const trv_schedule_t *schedule,
                                    bool allow_inconsistent);

#endif
