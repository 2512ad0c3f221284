/*
 * Entries of the lists of a network: slow ranks, slow links and cuts.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
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

static int fail_form(const char *text, const char *expected)
{
    if (strchr(text, ','))
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' lists several links; give the option once for each", text);
    return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' is not a rank%s", text, expected);
}

static int parse_rank_port(const char *const part[PARTS_MAX], trv_parameter_entry_t *entry)
{
    if (trv_parse_int(part[0], "the rank", 0, INT_MAX, &entry->rank))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a rank; expected a rank, counted from 0, and a port, for example 3:+0",
                        part[0]);
    return trv_port_parse(part[1], &entry->port);
}

static int parse_slow_rank(const char *text, trv_parameter_entry_t *entry)
{
    char copy[64];
    const char *part[PARTS_MAX];
    if (split(text, copy, part) != 2)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.60s' is not a rank and its factor, for example 5:2x", text);
    if (trv_parse_int(part[0], "the rank", 0, 1 << 30, &entry->rank))
        return trv_fail(TRV_ERR_ARGUMENT, "%s; for example 5:2x", trv_last_error());
    return trv_parse_factor(part[1], &entry->factor);
}

static int parse_slow_link(const char *text, trv_parameter_entry_t *entry)
{
    char copy[64];
    const char *part[PARTS_MAX];
    if (split(text, copy, part) != 3 || strchr(text, ','))
        return fail_form(text, ", a port and a factor (or down), for example 0:+1:4x or 0:+1:down");
    int rc = parse_rank_port(part, entry);
    return rc || strcmp(part[2], "down") == 0 ? rc : trv_parse_factor(part[2], &entry->factor);
}

static int parse_cut(const char *text, trv_parameter_entry_t *entry)
{
    char copy[64];
    const char *part[PARTS_MAX];
    const int parts = split(text, copy, part);
    if (parts < 2 || (parts == 3 && strcmp(part[2], "one-way") != 0) || strchr(text, ','))
        return fail_form(text, " and a port; expected for example 3:+0, or 3:+0:one-way for one direction only");
    entry->one_way = parts == 3;
    return parse_rank_port(part, entry);
}

int trv_parameter_parse_entry(const char *name, const char *text, trv_parameter_entry_t *entry)
{
    static const struct {
        const char *name;
        int (*parse)(const char *text, trv_parameter_entry_t *entry);
    } list[] = {{"slow-rank", parse_slow_rank}, {"slow-link", parse_slow_link}, {"cut", parse_cut}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcmp(name, list[i].name) == 0) {
            trv_parameter_entry_t found = {.port = -1, .factor = INFINITY};
            int rc = list[i].parse(text, &found);
            if (!rc)
                *entry = found;
            return rc;
        }
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not a list of a network; expected slow-rank, slow-link or cut", name);
}
