/*
 * Families of algorithms, see family.h.
 */
#include "algorithms/family.h"

#include <string.h>

#include "schedule/collective.h"

bool trv_is_family(const char *name)
{
    const trv_algorithm_t *member[TRV_FAMILY_MAX];
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (strcmp(trv_algorithm_name(trv_algorithm_at(i)), name) == 0)
            return false;
    return trv_family_members(name, member) > 0;
}

int trv_family_members(const char *family, const trv_algorithm_t *member[TRV_FAMILY_MAX])
{
    int members = 0;
    for (int i = 0; i < trv_algorithms_count() && members < TRV_FAMILY_MAX; i++)
        if (strcmp(trv_algorithm_family(trv_algorithm_at(i)), family) == 0)
            member[members++] = trv_algorithm_at(i);
    return members;
}

static bool supports_any(const trv_algorithm_t *algorithm, unsigned collectives)
{
    for (int c = 0; c < TRV_COLLECTIVES; c++)
        if (collectives >> c & 1 && trv_algorithm_has_collective(algorithm, (trv_collective_t)c))
            return true;
    return false;
}

int trv_family_restrict(const trv_algorithm_t **member, int members, unsigned collectives)
{
    int kept = 0;
    for (int i = 0; i < members; i++)
        if (supports_any(member[i], collectives))
            member[kept++] = member[i];
    return kept;
}

int trv_family_list_names(const char **name, int capacity)
{
    int names = 0;
    for (int i = 0; i < trv_algorithms_count() && names + 2 <= capacity; i++) {
        name[names++] = trv_algorithm_name(trv_algorithm_at(i));
        name[names++] = trv_algorithm_family(trv_algorithm_at(i));
    }
    return names;
}
