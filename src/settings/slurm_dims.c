/*
 * Parses TRIVANCE_SLURM_DIMS.
 */
#include "settings/slurm_dims.h"

#include <string.h>

#include "base/error.h"
#include "base/text/parse.h"

int trv_slurm_dims_next(const char **rest, char name[TRV_SLURM_NAME_MAX], trv_torus_t *torus)
{
    char item[TRV_SLURM_NAME_MAX + TRV_TORUS_TEXT_MAX];
    const int found = trv_next_item(rest, "tori of Slurm", item, sizeof item);
    if (found <= 0)
        return found;
    char *sizes = strchr(item, '=');
    const size_t length = sizes ? (size_t)(sizes - item) : 0;
    if (length == 0 || length >= TRV_SLURM_NAME_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' is not the name of a torus and its sizes, for example t1=8x8x16",
                        item);
    if (trv_torus_parse(sizes + 1, torus) < 0)
        return TRV_ERR_ARGUMENT;
    memcpy(name, item, length);
    name[length] = '\0';
    return 1;
}

int trv_slurm_dims_find(const char *text, const char *name, trv_torus_t *torus)
{
    char entry[TRV_SLURM_NAME_MAX];
    const char *rest = text;
    while (text && trv_slurm_dims_next(&rest, entry, torus) == 1)
        if (strcmp(entry, name) == 0)
            return 1;
    return 0;
}
