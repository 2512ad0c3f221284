/*
 * Families: algorithms that a name selects together, of which the fastest is used. All modules take their members from
 * here.
 */
#ifndef TRIVANCE_ALGORITHMS_FAMILY_H
#define TRIVANCE_ALGORITHMS_FAMILY_H

#include <stdbool.h>

#include <trivance/algorithms.h>

#define TRV_FAMILY_MAX 64 /* members */

/* Whether a name selects a family; the name of an algorithm selects this alone. */
TRV_API bool trv_is_family(const char *name);

/* Lists the algorithms of a family in table order; returns their number, 0 if there is no such family. */
TRV_API int trv_family_members(const char *family, const trv_algorithm_t *member[TRV_FAMILY_MAX]);

/* Keeps those members, in their order, that support one of the collectives (bit c: collective c), and returns their
 * number. If it is 0 the list stays as it was. */
TRV_API int trv_family_restrict(const trv_algorithm_t **member, int members, unsigned collectives);

/* Lists the names of all algorithms and families, up to `capacity`; returns their number. */
TRV_API int trv_family_list_names(const char **name, int capacity);

#endif
