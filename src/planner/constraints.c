/*
 * The constraints of a plan. Each is an entry of is_broken, the table of predicates, and has a name in name_rule.
 */
#include "planner/constraints.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define NAMES_MAX 3 /* excluded candidates that an error message names per constraint */

typedef struct question {
    const trv_planner_constraints_t *asked;
    const trv_facts_t *facts;
    uint64_t vector_bytes;
} question_t;

static bool is_inexact(const question_t *q) { return !q->asked->idempotent && q->facts->covers; }
static bool is_inconsistent(const question_t *q) { return q->asked->consistent && !q->facts->consistent; }

static bool is_large(const question_t *q)
{
    return q->asked->memory_bytes &&
           (double)(q->facts->registers - 1) * (double)q->vector_bytes > (double)q->asked->memory_bytes;
}

static bool is_crowded(const question_t *q)
{
    return q->asked->messages_per_port && q->facts->messages_per_port > q->asked->messages_per_port;
}

enum { INEXACT, INCONSISTENT, LARGE, CROWDED, RULES };

static bool (*const is_broken[RULES])(const question_t *) = {is_inexact, is_inconsistent, is_large, is_crowded};

static void name_rule(const trv_planner_constraints_t *asked, int rule, char *text, size_t size)
{
    switch (rule) {
    case INEXACT: snprintf(text, size, "exactness"); break;
    case INCONSISTENT: snprintf(text, size, "consistency"); break;
    case LARGE:
        snprintf(text, size, "scratch memory of at most %" PRIu64 " byte%s", asked->memory_bytes,
                 asked->memory_bytes == 1 ? "" : "s");
        break;
    default:
        snprintf(text, size, "at most %d message%s per port", asked->messages_per_port,
                 asked->messages_per_port == 1 ? "" : "s");
        break;
    }
}

int trv_constraints_check(const trv_planner_constraints_t *constraints)
{
    if (constraints->messages_per_port < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "at most %d messages per port: it is a number from 1, or 0 for any",
                        constraints->messages_per_port);
    return TRV_OK;
}

/* Returns in *broken the rules that the candidate violates, as a bit mask. */
static int find_broken(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                       trv_candidate_t *candidate, uint64_t vector_bytes, unsigned *broken)
{
    question_t question = {constraints, &candidate->facts, vector_bytes};
    int rc = trv_candidate_facts(list, candidate);
    *broken = 0;
    for (int rule = 0; rule < RULES && !rc; rule++)
        if (is_broken[rule](&question))
            *broken |= 1u << rule;
    return rc;
}

int trv_constraints_keep(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                         trv_candidate_t *candidate, uint64_t vector_bytes, bool *keeps)
{
    unsigned broken;
    int rc = find_broken(constraints, list, candidate, vector_bytes, &broken);
    *keeps = broken == 0;
    return rc;
}

/* ---- Error messages ---------------------------------------------------------------------------------------------- */

typedef struct sentence {
    size_t used;
    char text[1024];
} sentence_t;

static void sentence_append(sentence_t *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void sentence_append(sentence_t *sentence, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(sentence->text + sentence->used, sizeof sentence->text - sentence->used, format, values);
    va_end(values);
    sentence->used = strlen(sentence->text);
}

static int sentence_append_excluded(sentence_t *sentence, const trv_planner_constraints_t *constraints, int rule,
                                    const trv_candidates_t *list, uint64_t vector_bytes)
{
    char name[80];
    int excluded = 0;
    name_rule(constraints, rule, name, sizeof name);
    for (int i = 0; i < list->count; i++) {
        unsigned broken;
        int rc = find_broken(constraints, list, &list->candidate[i], vector_bytes, &broken);
        if (rc)
            return rc;
        if (list->candidate[i].guest || !(broken >> rule & 1))
            continue;
        if (excluded == 0)
            sentence_append(sentence, "%s%s rules out ", sentence->used ? "; " : "", name);
        if (excluded < NAMES_MAX)
            sentence_append(sentence, "%s%s", excluded ? ", " : "", list->candidate[i].name);
        excluded++;
    }
    if (excluded > NAMES_MAX)
        sentence_append(sentence, " and %d more", excluded - NAMES_MAX);
    return TRV_OK;
}

int trv_constraints_refuse(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                           trv_candidate_t *candidate, uint64_t vector_bytes)
{
    sentence_t sentence = {0, ""};
    char name[80];
    unsigned broken;
    int rc = find_broken(constraints, list, candidate, vector_bytes, &broken);
    if (rc)
        return rc;
    for (int rule = 0; rule < RULES; rule++)
        if (broken >> rule & 1) {
            name_rule(constraints, rule, name, sizeof name);
            sentence_append(&sentence, "%s%s", sentence.used ? ", " : "", name);
        }
    return trv_fail(TRV_ERR_UNSUPPORTED, "%s does not meet what is asked for: %s", candidate->name, sentence.text);
}

int trv_constraints_refuse_all(const trv_planner_constraints_t *constraints, const trv_candidates_t *list,
                               uint64_t vector_bytes)
{
    sentence_t sentence = {0, ""};
    char torus[TRV_TORUS_TEXT_MAX];
    for (int rule = 0; rule < RULES; rule++) {
        int rc = sentence_append_excluded(&sentence, constraints, rule, list, vector_bytes);
        if (rc)
            return rc;
    }
    return trv_fail(TRV_ERR_UNSUPPORTED, "no schedule on %s meets all constraints: %s",
                    trv_torus_format(&list->network.torus, torus, sizeof torus), sentence.text);
}
