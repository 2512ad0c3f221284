/*
 * Constraints: whether a candidate satisfies them, and the error message if none does.
 */
#ifndef TRIVANCE_PLANNER_CONSTRAINTS_H
#define TRIVANCE_PLANNER_CONSTRAINTS_H

#include "planner/candidates.h"

/* Sets *allowed to whether the candidate satisfies the constraints for a vector of this size and, unless it is `named`
 * by the caller, the network's limit of messages per port. Returns 0 or an error. */
int trv_constraints_allow(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                          trv_candidate_t *candidate, uint64_t vector_bytes, bool named, bool *allowed);

/* Returns TRV_ERR_UNSUPPORTED with a message that names the constraints that the candidate violates. */
int trv_constraints_fail(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                         trv_candidate_t *candidate, uint64_t vector_bytes, bool named);
/* The same for all candidates of the list, none of them named. */
int trv_constraints_fail_all(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                             uint64_t vector_bytes);

#endif
