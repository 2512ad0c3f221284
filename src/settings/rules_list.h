/*
 * What the two readers of rules share.
 */
#ifndef TRIVANCE_SETTINGS_RULES_LIST_H
#define TRIVANCE_SETTINGS_RULES_LIST_H

#include <stdbool.h>

#include "settings/rules.h"

#define TRV_RULES_NONE (trv_rules_t){.alpha_ns = -1, .bandwidth_bps = -1, .hop_ns = -1, .overhead_ns = -1}

/* The collective of a name, also as MPI spells it; false where there is none. */
bool trv_rules_collective(const char *name, trv_collective_t *collective);

/* What trv_rules_check_algorithm takes, or "mpi"; TRV_ERR_ARGUMENT for anything else. */
int trv_rules_set_algorithm(trv_rule_t *rule, const char *name);

int trv_rules_add(trv_rules_t *rules, const trv_rule_t *rule);

#endif
