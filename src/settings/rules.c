/*
 * Rules: the list, matching, and the one-line form.
 */
#include "settings/rules.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "base/text/parse.h"
#include "schedule/collective.h"
#include "torus/torus.h"

/* Accepts MPI's spelling, too. */
bool trv_rules_collective(const char *name, trv_collective_t *collective)
{
    for (int i = 0; i < TRV_COLLECTIVES; i++)
        if (strcmp(name, trv_collective_shapes[i].name) == 0) {
            *collective = (trv_collective_t)i;
            return true;
        }
    *collective = TRV_BROADCAST;
    if (strcmp(name, "bcast") == 0)
        return true;
    *collective = TRV_REDUCE_SCATTER;
    return strcmp(name, "reduce_scatter") == 0 || strcmp(name, "reduce_scatter_block") == 0;
}

char *trv_rules_collectives(char names[TRV_RULES_COLLECTIVES_MAX])
{
    size_t used = 0;
    for (int i = 0; i < TRV_COLLECTIVES && used < TRV_RULES_COLLECTIVES_MAX; i++)
        used += (size_t)snprintf(names + used, TRV_RULES_COLLECTIVES_MAX - used, "%s%s", i > 0 ? ", " : "",
                                 trv_collective_shapes[i].name);
    return names;
}

int trv_rules_set_algorithm(trv_rule_t *rule, const char *name, trv_name_check_t *check)
{
    if (!*name)
        return trv_fail(TRV_ERR_ARGUMENT, "the name of the algorithm is missing");
    if (check && strcmp(name, TRV_RULE_MPI) != 0 && check(name) < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "%s%s", trv_last_error(),
                        strstr(trv_last_error(), "did you mean") ? "" : ", or mpi");
    if (strlen(name) >= sizeof rule->algorithm)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s…' is too long: a name has at most %d characters", name,
                        TRV_RULE_NAME_MAX - 1);
    strcpy(rule->algorithm, name);
    return TRV_OK;
}

int trv_rules_add(trv_rules_t *rules, const trv_rule_t *rule)
{
    if (trv_array_reserve(&rules->rule, &rules->capacity, rules->count, 1, sizeof *rules->rule))
        return TRV_ERR_MEMORY;
    rules->rule[rules->count++] = *rule;
    return TRV_OK;
}

void trv_rules_clear(trv_rules_t *rules)
{
    free(rules->rule);
    *rules = TRV_RULES_NONE;
}

const trv_rule_t *trv_rules_match(const trv_rules_t *rules, trv_collective_t collective, const trv_torus_t *torus,
                                  int ranks, uint64_t bytes)
{
    for (int i = 0; i < rules->count; i++) {
        const trv_rule_t *rule = &rules->rule[i];
        if (rule->collective == collective && (uint64_t)ranks >= rule->ranks_min &&
            (uint64_t)ranks <= rule->ranks_max && bytes >= rule->bytes_min && bytes <= rule->bytes_max &&
            (rule->torus.dims == 0 || trv_torus_equal(&rule->torus, torus)))
            return rule;
    }
    return NULL;
}

/* ---- One line ---------------------------------------------------------------------------------------------------- */

#define FIELDS_MAX  4
#define FIELD_BYTES (1 + TRV_RULE_NAME_MAX) /* the longest: @ and a name */

static int read_bound(const char *text, bool upper, uint64_t *value)
{
    if (upper && strcmp(text, "inf") == 0) {
        *value = UINT64_MAX;
        return TRV_OK;
    }
    return trv_parse_bytes(text, value);
}

/* Parses "8-64" or "64k-inf". */
static int read_range(const char *text, const char *what, uint64_t *min, uint64_t *max)
{
    char low[FIELD_BYTES];
    const char *dash = strchr(text, '-');
    if (!dash)
        return trv_fail(TRV_ERR_ARGUMENT, "'%s' is not a range of %s", text, what);
    memcpy(low, text, (size_t)(dash - text));
    low[dash - text] = '\0';
    int code = read_bound(low, false, min);
    if (code == TRV_OK)
        code = read_bound(dash + 1, true, max);
    if (code == TRV_OK && *min > *max)
        code = trv_fail(TRV_ERR_ARGUMENT, "the minimum of the range of %s '%s' is greater than its maximum", what,
                        text);
    return code;
}

/* Parses a field after the collective: "0-64k", "[8-64]" or "@trivance-l-grouped". */
static int read_field(char *field, trv_rule_t *rule, trv_name_check_t *check)
{
    size_t length = strlen(field);
    if (field[0] == '@')
        return trv_rules_set_algorithm(rule, field + 1, check);
    if (field[0] != '[')
        return read_range(field, "sizes", &rule->bytes_min, &rule->bytes_max);
    if (field[length - 1] != ']')
        return trv_fail(TRV_ERR_ARGUMENT, "']' is missing after '%s'", field);
    field[length - 1] = '\0';
    return read_range(field + 1, "ranks", &rule->ranks_min, &rule->ranks_max);
}

/* Reports a field that is an algorithm without its @, of which this is the beginning. Returns 0 if it is none. */
static int check_at_sign(const char *item, size_t at, size_t length, trv_name_check_t *check)
{
    char name[FIELD_BYTES];
    const size_t size = length - at;
    if (!isalpha((unsigned char)item[at]) || size >= sizeof name)
        return TRV_OK;
    memcpy(name, item + at, size);
    name[size] = '\0';
    if (strchr(name, ':') && !(check && check(name) == TRV_OK))
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "'@' is missing before the algorithm; did you mean %.*s@%s?", (int)at, item,
                    name);
}

/* Parses one rule: "collective[:sizes][:[ranks]]:@algorithm". Parameters of the algorithm contain colons, too. */
static int read_item(const char *item, size_t length, trv_rule_t *rule, trv_name_check_t *check)
{
    size_t at = 0;
    *rule = (trv_rule_t){.ranks_max = UINT64_MAX, .bytes_max = UINT64_MAX};
    for (int fields = 0; at <= length; fields++) {
        char field[FIELD_BYTES], names[TRV_RULES_COLLECTIVES_MAX];
        size_t size = 0;
        bool last = item[at] == '@';
        while (at + size < length && (last || item[at + size] != ':'))
            size++;
        if (size == 0 || size >= sizeof field || fields == FIELDS_MAX)
            return trv_fail(TRV_ERR_ARGUMENT,
                            size == 0 ? "a field is empty" : "it has too many fields, or a field is too long");
        memcpy(field, item + at, size);
        field[size] = '\0';
        if (fields == 0 && !trv_rules_collective(field, &rule->collective))
            return trv_fail(TRV_ERR_ARGUMENT, "'%s' is not one of the collectives %s", field,
                            trv_rules_collectives(names));
        int code = fields == 0 ? TRV_OK : check_at_sign(item, at, length, check);
        if (fields > 0 && code == TRV_OK)
            code = read_field(field, rule, check);
        if (code < 0)
            return code;
        at += size + 1;
    }
    return rule->algorithm[0] ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "@ALGORITHM is missing");
}

int trv_rules_parse_line(trv_rules_t *rules, const char *line, trv_name_check_t *check_algorithm)
{
    *rules = TRV_RULES_NONE;
    for (const char *at = line; *at;) {
        size_t length = strcspn(at, ";");
        trv_rule_t rule;
        int code = length > INT_MAX ? TRV_ERR_ARGUMENT : read_item(at, length, &rule, check_algorithm);
        if (code < 0)
            code = trv_fail(code, "the rule '%.*s' (column %d): %s%s", length < 80 ? (int)length : 80, at,
                            (int)(at - line) + 1, trv_last_error(),
                            strstr(trv_last_error(), "did you mean") || strstr(trv_last_error(), "for example")
                                ? ""
                                : "; expected COLLECTIVE:SIZES:[RANKS]:@ALGORITHM, for example "
                                  "allreduce:0-64k:[8-64]:@trivance-l-grouped");
        else
            code = trv_rules_add(rules, &rule);
        if (code < 0) {
            trv_rules_clear(rules);
            return code;
        }
        at += length + (at[length] == ';');
    }
    return rules->count ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "it contains no rule");
}
