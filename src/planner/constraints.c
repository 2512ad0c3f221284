/*
 * The constraints on choices. Each rule has a name in name_rule and a predicate in the table is_broken, but for the
 * limit of messages per port: these are counted only if all other rules are satisfied.
 */
#include "planner/constraints.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/error.h"

#define NAMES_MAX 3 /* excluded candidates that an error message names per constraint */

typedef struct check {
    const trv_planner_constraints_t *required;
    const trv_properties_t *properties;
    uint64_t vector_bytes;
} check_t;

static bool is_multi_hop(const check_t *q) { return q->properties->multi_hop; }

static bool is_inexact(const check_t *q) { return !q->required->idempotent && q->properties->covers; }
static bool is_inconsistent(const check_t *q) { return q->required->consistent && !q->properties->consistent; }

static bool is_large(const check_t *q)
{
    return q->required->memory_bytes &&
           (double)(q->properties->registers - 1) * (double)q->vector_bytes > (double)q->required->memory_bytes;
}

enum { MULTI_HOP, INEXACT, INCONSISTENT, LARGE, PORT_LIMIT, RULES };

static bool (*const is_broken[PORT_LIMIT])(const check_t *) = {is_multi_hop, is_inexact, is_inconsistent, is_large};

static void name_rule(const trv_planner_constraints_t *required, const trv_candidates_t *list, int rule, char *text,
                      size_t size)
{
    switch (rule) {
    case MULTI_HOP: snprintf(text, size, "one link per message"); break;
    case INEXACT: snprintf(text, size, "exactness"); break;
    case INCONSISTENT: snprintf(text, size, "consistency"); break;
    case LARGE:
        snprintf(text, size, "scratch memory of at most %" PRIu64 " byte%s", required->memory_bytes,
                 required->memory_bytes == 1 ? "" : "s");
        break;
    default:
        snprintf(text, size, "at most %d message%s per port (--messages-per-port of the network)",
                 list->network.messages_per_port, list->network.messages_per_port == 1 ? "" : "s");
        break;
    }
}

/* Returns in *broken the rules that the candidate violates, as a bit mask; see trv_constraints_allow. */
static int find_broken(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                       trv_candidate_t *candidate, uint64_t vector_bytes, bool named, unsigned *broken)
{
    const check_t check = {constraints, &candidate->properties, vector_bytes};
    int rc = trv_candidate_properties(list, candidate);
    *broken = 0;
    for (int rule = 0; rule < PORT_LIMIT && !rc; rule++)
        if (is_broken[rule](&check))
            *broken |= 1u << rule;
    const int exceeds = rc || named || *broken ? 0 : trv_candidate_exceeds(list, candidate);
    if (exceeds > 0)
        *broken |= 1u << PORT_LIMIT;
    return exceeds < 0 ? exceeds : rc;
}

int trv_constraints_allow(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                          trv_candidate_t *candidate, uint64_t vector_bytes, bool named, bool *allowed)
{
    unsigned broken;
    int rc = find_broken(constraints, list, candidate, vector_bytes, named, &broken);
    *allowed = broken == 0;
    return rc;
}

/* ---- Error messages ---------------------------------------------------------------------------------------------- */

#define SENTENCE_MAX 1024

/* Appends the names of the candidates that a rule excludes. */
static int append_excluded(char sentence[SENTENCE_MAX], const trv_planner_constraints_t *constraints, int rule,
                           const trv_candidates_t *list, uint64_t vector_bytes)
{
    char name[120];
    int excluded = 0;
    name_rule(constraints, list, rule, name, sizeof name);
    for (int i = 0; i < list->count; i++) {
        unsigned broken;
        int rc = find_broken(constraints, list, &list->candidate[i], vector_bytes, false, &broken);
        if (rc)
            return rc;
        if (list->candidate[i].by_name || !(broken >> rule & 1))
            continue;
        if (excluded == 0)
            trv_append(sentence, SENTENCE_MAX, "%s%s excludes ", *sentence ? "; " : "", name);
        if (excluded < NAMES_MAX)
            trv_append(sentence, SENTENCE_MAX, "%s%s", excluded ? ", " : "", list->candidate[i].name);
        excluded++;
    }
    if (excluded > NAMES_MAX)
        trv_append(sentence, SENTENCE_MAX, " and %d more", excluded - NAMES_MAX);
    return TRV_OK;
}

int trv_constraints_fail(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                         trv_candidate_t *candidate, uint64_t vector_bytes, bool named)
{
    char sentence[SENTENCE_MAX] = "";
    char name[120];
    unsigned broken;
    int rc = find_broken(constraints, list, candidate, vector_bytes, named, &broken);
    if (rc)
        return rc;
    for (int rule = 0; rule < RULES; rule++)
        if (broken >> rule & 1) {
            name_rule(constraints, list, rule, name, sizeof name);
            trv_append(sentence, sizeof sentence, "%s%s", *sentence ? ", " : "", name);
        }
    return trv_fail(TRV_ERR_UNSUPPORTED, "%s violates the constraints: %s", candidate->name, sentence);
}

int trv_constraints_fail_all(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                             uint64_t vector_bytes)
{
    char sentence[SENTENCE_MAX] = "";
    char torus[TRV_TORUS_TEXT_MAX];
    for (int rule = 0; rule < RULES; rule++) {
        int rc = append_excluded(sentence, constraints, rule, list, vector_bytes);
        if (rc)
            return rc;
    }
    return trv_fail(TRV_ERR_UNSUPPORTED, "no schedule on %s meets all constraints: %s",
                    trv_torus_format(&list->network.torus, torus, sizeof torus), sentence);
}
