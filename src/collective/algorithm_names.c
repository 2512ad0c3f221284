/*
 * The names that a user can specify for an algorithm: those of the table of algorithms, families, and the two words of
 * rules ("planned", "auto").
 */
#include "collective/algorithm_names.h"

#include <string.h>

#include <trivance/algorithms.h>

#include "base/error.h"
#include "settings/rules.h"

_Static_assert(TRV_RULE_NAME_MAX == TRV_ALGORITHM_NAME_MAX, "rules hold any name of an algorithm");

int trv_algorithm_check(const char *name)
{
    if (strcmp(name, TRV_RULE_AUTO) == 0 || strcmp(name, TRV_RULE_PLANNED) == 0)
        return TRV_OK;
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (strcmp(trv_algorithm_family(trv_algorithm_at(i)), name) == 0)
            return TRV_OK;
    if (!trv_algorithm_find(name))
        return trv_fail(TRV_ERR_ARGUMENT, "%s%s", trv_last_error(),
                        strchr(name, ':') ? "" : "; families, planned and auto");
    if (strlen(name) >= TRV_ALGORITHM_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long: a name has at most %d characters", name,
                        TRV_ALGORITHM_NAME_MAX - 1);
    return TRV_OK;
}
