/*
 * Entries of the lists of a network: slow ranks, slow links and cuts.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <trivance/parameters.h>
#include <trivance/torus.h>

#include "base/error.h"
#include "base/text/parse.h"

#define PARTS_MAX 3

/* Splits text at its colons into parts, in a copy; returns their number, or 0 if there are too many or the text is too
 * long. */
static int split(const char *text, char copy[64], const char *part[PARTS_MAX])
{
    int found = 1;
    if (strlen(text) >= 64)
        return 0;
    part[0] = strcpy(copy, text);
    for (char *p = copy; *p; p++)
        if (*p == ':') {
            if (found == PARTS_MAX)
                return 0;
            *p = '\0';
            part[found++] = p + 1;
        }
    return found;
}

/* The lists: what an entry is, the number of its parts, and the word that its last part may be. */
static const struct list {
    const char *name, *entry, *word;
    int parts_min, parts_max;
} lists[] = {
    {"slow-rank", "a rank and its factor, for example 5:2x", NULL, 2, 2},
    {"slow-link", "a rank, a port and a factor (or down), for example 0:+1:4x or 0:+1:down", "down", 3, 3},
    {"cut", "a rank and a port, for example 3:+0, or 3:+0:one-way for one direction only", "one-way", 2, 3},
};

/* Reads the parts after the rank: a port, unless the list is that of ranks; then a factor or the word. */
static int read_parts(const struct list *list, const char *const part[PARTS_MAX], int parts,
                      trv_parameter_entry_t *entry)
{
    const bool has_port = list->parts_max > 2;
    const char *last = parts > (has_port ? 2 : 1) ? part[parts - 1] : NULL;
    const bool is_word = last && list->word && strcmp(last, list->word) == 0;
    const int rc = has_port ? trv_port_parse(part[1], &entry->port) : TRV_OK;
    entry->one_way = is_word && list->parts_min < parts;
    return rc || !last || is_word ? rc : trv_parse_factor(last, &entry->factor);
}

int trv_parameter_parse_entry(const char *name, const char *text, trv_parameter_entry_t *entry)
{
    const struct list *list = NULL;
    const char *part[PARTS_MAX];
    char copy[64];
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(name, lists[i].name) == 0)
            list = &lists[i];
    if (!list)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not a list of a network; expected slow-rank, slow-link or cut",
                        name);
    const int parts = split(text, copy, part);
    if (strchr(text, ','))
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' has several entries; give the option once for each", text);
    if (parts < list->parts_min || parts > list->parts_max ||
        (parts > list->parts_min && strcmp(part[parts - 1], list->word) != 0))
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' is not %s", text, list->entry);
    trv_parameter_entry_t found = {.port = -1, .factor = INFINITY};
    if (trv_parse_int(part[0], "the rank", 0, INT_MAX, &found.rank))
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not a rank; expected %s", part[0], list->entry);
    const int rc = read_parts(list, part, parts, &found);
    if (!rc)
        *entry = found;
    return rc;
}
