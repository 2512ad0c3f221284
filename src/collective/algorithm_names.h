/*
 * The names that a user can specify for an algorithm.
 */
#ifndef TRIVANCE_COLLECTIVE_ALGORITHM_NAMES_H
#define TRIVANCE_COLLECTIVE_ALGORITHM_NAMES_H

/* TRV_OK if `name` is an algorithm, a family, "planned" or "auto"; otherwise TRV_ERR_ARGUMENT, and the last error lists
 * the names. Does not check whether the parameters in a name fit a torus. */
int trv_algorithm_check(const char *name);

#endif
