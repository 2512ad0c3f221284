/*
 * Reads lines of `scontrol show topology`. Those of tori and rings, from Slurm 26.05 on, are:
 *
 *     TorusName=t1 Dims=8x8x16 Nodes=node[0000-1023]
 *       TorusName=t1 PlacementDims=4x4x4(64) Anchors=16
 *     RingName=r1 Nodes=node[00-23] RingSize=24
 */
#include "topology/slurm_lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/torus.h>

#include "base/error.h"

enum { NAME_MAX_BYTES = 63 }; /* of a torus, as in TRIVANCE_SLURM_DIMS (settings/slurm_dims.h) */

char *trv_slurm_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = line; (at = strstr(at, key)) != NULL; at += length)
        if ((at == line || at[-1] == ' ' || at[-1] == '\t') && at[length] == '=')
            return strndup(at + length + 1, strcspn(at + length + 1, " \t\r\n"));
    return NULL;
}

/* Appends the torus or ring of a line, if it has one. Returns 1 if it has, 0 if not, or TRV_ERR_INVALID. */
static int dims_append(const char *line, char *dims, size_t size)
{
    char *torus = trv_slurm_value(line, "TorusName"), *name = torus ? torus : trv_slurm_value(line, "RingName");
    char *sizes = trv_slurm_value(line, torus ? "Dims" : "RingSize"),
         *placement = trv_slurm_value(line, "PlacementDims");
    trv_torus_t parsed;
    char text[TRV_TORUS_TEXT_MAX];
    const size_t used = strlen(dims);
    int result = name && !placement;
    if (result && (!sizes || !*name || strlen(name) > NAME_MAX_BYTES || strpbrk(name, ",=:") ||
                   trv_torus_parse(sizes, &parsed) < 0))
        result = trv_fail(TRV_ERR_INVALID, "`scontrol show topology`: '%.120s' does not have the form of Slurm 26.05",
                          line);
    else if (result && snprintf(dims + used, size - used, "%s%s=%s", used ? "," : "", name,
                                trv_torus_format(&parsed, text, sizeof text)) >= (int)(size - used))
        result = trv_fail(TRV_ERR_INVALID, "`scontrol show topology` lists too many tori");
    free(name);
    free(sizes);
    free(placement);
    return result;
}

int trv_slurm_read_dims(const char *text, char *dims, size_t size)
{
    int count = 0;
    *dims = '\0';
    while (*text && count >= 0) {
        const size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        const int found = line ? dims_append(line, dims, size) : trv_fail_memory();
        count = found < 0 ? found : count + found;
        free(line);
        text += length + (text[length] == '\n');
    }
    return count;
}
