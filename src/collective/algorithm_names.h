/*
 * The names that a user can give for an algorithm.
 */
#ifndef TRIVANCE_COLLECTIVE_ALGORITHM_NAMES_H
#define TRIVANCE_COLLECTIVE_ALGORITHM_NAMES_H

/* 0 if `name` is an algorithm, a family, "planned" or "auto"; else TRV_ERR_ARGUMENT with a sentence that lists the
 * names. Whether its parameters fit a torus is not checked. */
int trv_algorithm_check(const char *name);

#endif
