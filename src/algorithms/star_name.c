/*
 * The parameters in the names of stars as the numbers of a star, and the reverse, see star_name.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/star_name.h"
#include "algorithms/builders/star_streams.h"
#include "algorithms/registry.h"
#include "base/error.h"

static const char digits[] = "0123456789";

/* The fields of the name (star.c). */
enum { STEPS, CHAIN, STREAMS };

#define STREAMS_TEXT_MAX 16

static bool all_digits(const char *text) { return *text && strspn(text, digits) == strlen(text); }

/* Reads "3of6": the number of distinct streams among the maximum number `max`. */
static bool read_distinct(const char *text, int max, int *distinct)
{
    const size_t first = strspn(text, digits);
    if (first < 1 || first > 2 || strncmp(text + first, "of", 2) != 0 || !all_digits(text + first + 2))
        return false;
    *distinct = (int)strtol(text, NULL, 10);
    return *distinct >= 1 && *distinct <= max && strtol(text + first + 2, NULL, 10) == max;
}

static int star_read_streams(const char *text, const trv_torus_t *torus, trv_star_t *star)
{
    const int max = trv_star_streams_max(torus);
    const long streams = all_digits(text) ? strtol(text, NULL, 10) : 0;
    char name[TRV_TORUS_TEXT_MAX];
    int distinct;
    star->streams = (int)streams;
    if (!*text || streams == 1 || streams == 2 || streams == max || read_distinct(text, max, &distinct))
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    max > 2 ? "a star on %s has 1, 2 or %d streams, not '%.20s'; for example "
                              "star:l:0:1"
                            : "a star on %s has 1 or %d streams, not '%.20s'; for example star:l:0:1",
                    trv_torus_format(torus, name, sizeof name), max, text);
}

/* Reads the form. Single steps that send whole vectors are read later, when the chain is known. */
static int star_read_form(const char *steps, trv_star_t *star)
{
    star->form = strcmp(steps, "overlap") == 0    ? TRV_STAR_OVERLAP
                 : strcmp(steps, "gathered") == 0 ? TRV_STAR_GATHERED
                                                  : TRV_STAR_SUMS;
    if (!*steps || star->form != TRV_STAR_SUMS || strcmp(steps, "b") == 0 || strcmp(steps, "l") == 0 ||
        all_digits(steps))
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "'%.40s' does not select the steps of a star that send whole vectors: allowed are b (none), l "
                    "(all), overlap, gathered, and the digits of steps; for example star:l or star:12",
                    steps);
}

static int chain_by_number(const char *number, const trv_torus_t *torus, trv_star_chain_t *chain)
{
    trv_star_chain_t *found = malloc(TRV_STAR_FOUND_MAX * sizeof *found);
    if (!found)
        return trv_fail_memory();
    const long index = strtol(number, NULL, 10);
    int rc = trv_star_find(torus, found);
    if (rc > index) {
        *chain = found[index];
        rc = TRV_OK;
    } else if (rc >= 0) {
        char name[TRV_TORUS_TEXT_MAX];
        rc = trv_fail(TRV_ERR_UNSUPPORTED,
                      "there is no star chain %.20s for the torus %s: its chains have the numbers "
                      "0 to %d",
                      number, trv_torus_format(torus, name, sizeof name), rc - 1);
    }
    free(found);
    return rc;
}

static int chain_find(const char *text, const trv_torus_t *torus, trv_star_t *star)
{
    const bool covering = star->form != TRV_STAR_SUMS;
    if (torus->ranks == 1) {
        star->chain = (trv_star_chain_t){.torus = *torus, .direct = true};
        return TRV_OK;
    }
    if (*text && !all_digits(text))
        return trv_star_parse(&star->chain, torus, text, covering);
    return !*text && covering ? trv_star_cover(torus, &star->chain) : chain_by_number(text, torus, &star->chain);
}

static int star_read_steps(const char *steps, trv_star_t *star)
{
    const int count = star->chain.steps;
    star->whole = 0;
    if (star->form != TRV_STAR_SUMS || strcmp(steps, "l") == 0)
        star->whole = (1U << count) - 1;
    else if (all_digits(steps))
        for (const char *digit = steps; *digit; digit++) {
            if (*digit - '0' >= count)
                return trv_fail(TRV_ERR_UNSUPPORTED, "'star:%s': the chain has %d steps, numbered from 0", steps,
                                count);
            star->whole |= 1U << (*digit - '0');
        }
    if (star->form == TRV_STAR_SUMS && !trv_star_is_subgroup(&star->chain, star->whole))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "'star:%s': these steps of the chain cannot send whole vectors while the others scatter, "
                        "because the displacements that they reach are not a subgroup",
                        steps);
    return TRV_OK;
}

/* Checks that the number of distinct streams in the name is that of the star. */
static int check_distinct(const char *text, const trv_star_t *star)
{
    trv_star_layout_t layout;
    int distinct;
    if (star->form == TRV_STAR_GATHERED || !read_distinct(text, trv_star_streams_max(&star->chain.torus), &distinct))
        return TRV_OK;
    trv_star_layout_make(star, &layout);
    if (layout.streams == distinct)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED, "%d of the chain's streams differ, not '%.20s'", layout.streams, text);
}

int trv_star_choose(const char *steps, const trv_value_t chain[2], const trv_torus_t *torus, trv_star_t *star)
{
    int rc = star_read_form(steps, star);
    if (!rc)
        rc = star_read_streams(chain[1].text, torus, star);
    if (!rc)
        rc = chain_find(chain[0].text, torus, star);
    if (!rc)
        rc = star_read_steps(steps, star);
    return rc ? rc : check_distinct(chain[1].text, star);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Whether `streams` streams, none of them omitted, are the same as the streams that differ. */
static bool same_layout(const trv_star_t *star, int streams, const trv_star_layout_t *layout)
{
    trv_star_t counted = *star;
    trv_star_layout_t other;
    counted.streams = streams;
    trv_star_layout_make(&counted, &other);
    bool same = other.streams == layout->streams && other.plain == layout->plain;
    for (int i = 0; same && i < other.streams; i++) /* entries beyond the torus's dimensions are not set */
        same = memcmp(other.image[i], layout->image[i], (size_t)star->chain.torus.dims * sizeof(int)) == 0;
    return same;
}

static void write_streams(const trv_star_t *star, char text[STREAMS_TEXT_MAX])
{
    const int max = trv_star_streams_max(&star->chain.torus), choice[] = {1, 2, max};
    trv_star_layout_t layout = {0};
    int streams = star->form == TRV_STAR_GATHERED ? 1 : 0; /* the gathered form has one stream in any case */
    if (star->streams > 0)
        streams = star->streams;
    if (!streams)
        trv_star_layout_make(star, &layout);
    for (int i = 0; i < 3 && !streams; i++)
        if (choice[i] <= max && same_layout(star, choice[i], &layout))
            streams = choice[i];
    snprintf(text, STREAMS_TEXT_MAX, streams ? "%d" : "%dof%d", streams ? streams : layout.streams, max);
}

/* Writes the digits of the steps that send whole vectors, as far as a digit can identify them. */
static void write_steps(const trv_star_t *star, char *text)
{
    size_t used = 0;
    for (int k = 0; k < star->chain.steps && k <= 9; k++)
        if (star->whole >> k & 1)
            text[used++] = (char)('0' + k);
    text[used] = '\0';
}

/* Writes what selects the steps that send whole vectors. */
static const char *steps_text(const trv_star_t *star, char digits_text[TRV_STAR_STEPS_MAX + 1])
{
    write_steps(star, digits_text);
    return star->form == TRV_STAR_OVERLAP                 ? "overlap"
           : star->form == TRV_STAR_GATHERED              ? "gathered"
           : star->whole == 0                             ? "b"
           : star->whole == (1U << star->chain.steps) - 1 ? "l"
                                                          : digits_text;
}

int trv_star_complete(const trv_star_t *star, trv_value_t chain[2], char *text, size_t size)
{
    const size_t capacity = size - STREAMS_TEXT_MAX - 1, length = trv_star_format(&star->chain, text + 1, capacity);
    if (length >= capacity)
        return trv_fail(TRV_ERR_ARGUMENT, "the chain of the star has %zu characters, more than a name can have",
                        length);
    /* On two ranks the chain is "1", which would be read as a number. The displacements 1 and -1 are the same there, so
     * "-1" is written. */
    text[0] = '-';
    chain[0].text = all_digits(text + 1) ? text : text + 1;
    chain[1].text = text + length + 2;
    write_streams(star, text + length + 2);
    return TRV_OK;
}

int trv_star_complete_name(trv_parameters_t *parameters, const trv_torus_t *torus, trv_collective_t collective)
{
    trv_star_t star;
    trv_value_t *value = parameters->value;
    (void)collective;
    int rc = trv_star_choose(value[STEPS].text, &value[CHAIN], torus, &star);
    if (rc)
        return rc;
    char *const steps = parameters->text + TRV_FULL_NAME_MAX - TRV_STAR_STEPS_MAX - 1;
    rc = trv_star_complete(&star, &value[CHAIN], parameters->text, (size_t)(steps - parameters->text));
    value[STEPS].text = steps_text(&star, steps);
    return rc;
}

void trv_star_name(const trv_star_t *star, int chain, char *name, size_t size)
{
    char steps[TRV_STAR_STEPS_MAX + 1], number[16] = "", streams[16] = "";
    trv_parameters_t parameters;
    trv_name_defaults(&trv_star, &parameters);
    if (chain > 0)
        snprintf(number, sizeof number, "%d", chain);
    if (star->streams > 0)
        snprintf(streams, sizeof streams, "%d", star->streams);
    parameters.value[STEPS].text = star->whole || *number || *streams ? steps_text(star, steps) : "";
    parameters.value[CHAIN].text = number;
    parameters.value[STREAMS].text = streams;
    trv_name_print(&trv_star, &parameters, false, name, size);
}
