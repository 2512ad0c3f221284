/*
 * The names that a user can specify for an algorithm: those of the table of algorithms, families, and the two words of
 * rules ("planned", "auto").
 */
#include "collective/algorithm_names.h"

#include <string.h>

#include <trivance/algorithms.h>

#include "algorithms/family.h"
#include "base/error.h"
#include "base/text/nearest.h"
#include "settings/rules.h"

#define NAMES_MAX 128

_Static_assert(TRV_RULE_NAME_MAX == TRV_ALGORITHM_NAME_MAX, "rules hold any name of an algorithm");

/* Reports a name that trv_algorithm_find has rejected, with the nearest known name, if one is near. */
static int fail_unknown(const char *text)
{
    const char *name[NAMES_MAX + 2] = {TRV_RULE_AUTO, TRV_RULE_PLANNED};
    if (strchr(text, ':'))
        return TRV_ERR_ARGUMENT;
    const char *nearest = trv_nearest(text, name, 2 + trv_family_list_names(name + 2, NAMES_MAX));
    return nearest ? trv_fail(TRV_ERR_ARGUMENT, "there is no algorithm '%.40s'; did you mean %s?", text, nearest)
                   : trv_fail(TRV_ERR_ARGUMENT, "%s; families, planned and auto", trv_last_error());
}

int trv_algorithm_check(const char *name)
{
    if (strcmp(name, TRV_RULE_AUTO) == 0 || strcmp(name, TRV_RULE_PLANNED) == 0 || trv_is_family(name))
        return TRV_OK;
    if (!trv_algorithm_find(name))
        return fail_unknown(name);
    if (strlen(name) >= TRV_ALGORITHM_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long: a name has at most %d characters", name,
                        TRV_ALGORITHM_NAME_MAX - 1);
    return TRV_OK;
}
