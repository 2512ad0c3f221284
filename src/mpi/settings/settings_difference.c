/*
 * Describes the variable in which the settings of two ranks differ.
 *
 * Variables are matched by their names, so the comparison also works between ranks with different releases of the
 * library, which have different variables.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/settings/job_settings.h"

#define VALUE_SHOWN 100 /* maximum number of bytes shown of a value */
#define VALUE_TEXT  (VALUE_SHOWN + 64)
#define BEFORE      30 /* bytes shown before the first difference */

/* A line NAME=VALUE of a text, without the newline. */
typedef struct line {
    const char *at, *value;
    int name, length; /* of the name and of the value */
} line_t;

/* Advances *text past the next line that contains a variable; false at the end of the text. */
static bool next_line(const char **text, line_t *line)
{
    while (**text) {
        int all = (int)strcspn(*text, "\n");
        line->at = *text;
        line->name = (int)strcspn(*text, "=\n");
        line->value = line->at + line->name + 1;
        line->length = all - line->name - 1;
        *text += all + ((*text)[all] == '\n');
        if (line->length >= 0)
            return true;
    }
    return false;
}

/* Finds the line of the same variable in another text. If there is none, returns false and *found is an empty value. */
static bool find(const char *text, const line_t *searched, line_t *found)
{
    while (next_line(&text, found))
        if (found->name == searched->name && memcmp(found->at, searched->at, (size_t)searched->name) == 0)
            return true;
    *found = (line_t){.value = ""};
    return false;
}

static bool same_value(const line_t *a, const line_t *b)
{
    return a->length == b->length && memcmp(a->value, b->value, (size_t)a->length) == 0;
}

/* Formats a value as "'swing-b'" or "not set"; of a long value only the part around byte `differs`. */
static const char *show(const line_t *line, int differs, char text[VALUE_TEXT])
{
    int from = line->length > VALUE_SHOWN && differs > BEFORE ? differs - BEFORE : 0;
    int shown = line->length - from < VALUE_SHOWN ? line->length - from : VALUE_SHOWN;
    if (!line->length)
        return "not set";
    snprintf(text, VALUE_TEXT, "'%s%.*s%s'", from ? "…" : "", shown, line->value + from,
             from + shown < line->length ? "…" : "");
    return text;
}

static void describe(const line_t *mine, const line_t *theirs, char sentence[TRV_MPI_DIFFERENCE_MAX], int my_rank,
                     int their_rank)
{
    char here[VALUE_TEXT], there[VALUE_TEXT];
    const line_t *named = mine->name ? mine : theirs;
    int differs = 0;
    while (differs < mine->length && differs < theirs->length && mine->value[differs] == theirs->value[differs])
        differs++;
    snprintf(sentence, TRV_MPI_DIFFERENCE_MAX, "%.*s is %s on rank %d and %s on rank %d", named->name, named->at,
             show(mine, differs, here), my_rank, show(theirs, differs, there), their_rank);
}

const char *trv_mpi_settings_difference(const char *mine, const char *theirs, char sentence[TRV_MPI_DIFFERENCE_MAX],
                                        int my_rank, int their_rank)
{
    line_t line, other;
    int differ = 0;
    for (const char *rest = mine; next_line(&rest, &line);) {
        find(theirs, &line, &other);
        if (!same_value(&line, &other) && differ++ == 0)
            describe(&line, &other, sentence, my_rank, their_rank);
    }
    for (const char *rest = theirs; next_line(&rest, &line);)
        if (!find(mine, &line, &other) && line.length && differ++ == 0)
            describe(&other, &line, sentence, my_rank, their_rank);
    size_t used = differ ? strlen(sentence) : 0;
    if (differ > 1)
        snprintf(sentence + used, TRV_MPI_DIFFERENCE_MAX - used, "; %d more variable%s", differ - 1,
                 differ == 2 ? " differs" : "s differ");
    return differ ? sentence : NULL;
}
