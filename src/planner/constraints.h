/*
 * Constraints: which candidates keep to them, and the sentence where none does.
 */
#ifndef TRIVANCE_PLANNER_CONSTRAINTS_H
#define TRIVANCE_PLANNER_CONSTRAINTS_H

#include "planner/candidates.h"

/* TRV_ERR_ARGUMENT where they say nothing that could be kept. */
int trv_constraints_check(const trv_planner_constraints_t *constraints);

/* *keeps: whether the candidate keeps to them for a vector of this size. 0 or an error. */
int trv_constraints_keep(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                         trv_candidate_t *candidate, uint64_t vector_bytes, bool *keeps);

/* TRV_ERR_UNSUPPORTED with the sentence that says which of them the candidate does not keep to. */
int trv_constraints_refuse(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                           trv_candidate_t *candidate, uint64_t vector_bytes);
/* The same for all candidates. */
int trv_constraints_refuse_all(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                               uint64_t vector_bytes);

#endif
