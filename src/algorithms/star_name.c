/*
 * What stands behind "star:" in a name: see star.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/star_streams.h"
#include "common/error.h"

static const char digits[] = "0123456789";

enum { STEPS, CHAIN, STREAMS, WORDS };

/* The parameters as they stand in the name, each with a terminating 0. */
typedef struct words {
    char word[WORDS][sizeof((trv_schedule_t *)0)->name];
} words_t;

static bool all_digits(const char *text)
{
    return *text && strspn(text, digits) == strlen(text);
}

/* A chain's text may come first: it has something between its coordinates, or a sign, which STEPS have not. */
static int split(const char *parameters, words_t *words)
{
    const char *rest = parameters ? parameters : "";
    *words = (words_t){0};
    for (int w = 0; w < WORDS; w++) {
        size_t length = strcspn(rest, ":");
        if (w == STEPS && strcspn(rest, "./_-") < length)
            w = CHAIN;
        if (length >= sizeof words->word[w])
            break;
        memcpy(words->word[w], rest, length);
        rest += length;
        rest += *rest == ':';
    }
    if (!*rest)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "'star:%.60s' has too many parameters: star[:STEPS][:CHAIN][:STREAMS], for "
                    "example star:l or star:b:1:2", parameters);
}

static int read_streams(const char *text, const trv_torus_t *torus, trv_star_t *star)
{
    const int most = trv_star_streams_max(torus);
    const long streams = all_digits(text) ? strtol(text, NULL, 10) : 0;
    char name[TRV_TORUS_TEXT_MAX];
    star->streams = (int)streams;
    if (!*text || streams == 1 || streams == 2 || streams == most)
        return TRV_OK;
    return trv_fail(TRV_ERR_UNSUPPORTED, most > 2 ? "a star on %s has 1, 2 or %d streams, not '%.20s'; for example "
                    "star:l:0:1" : "a star on %s has 1 or %d streams, not '%.20s'; for example star:l:0:1",
                    trv_torus_format(torus, name, sizeof name), most, text);
}

/* The form; which single steps send whole vectors is read when the chain is known. */
static int read_form(const char *steps, trv_star_t *star)
{
    star->form = strcmp(steps, "overlap") == 0    ? TRV_STAR_OVERLAP
                 : strcmp(steps, "gathered") == 0 ? TRV_STAR_GATHERED
                                                  : TRV_STAR_SUMS;
    if (!*steps || star->form != TRV_STAR_SUMS || strcmp(steps, "b") == 0 || strcmp(steps, "l") == 0 ||
        all_digits(steps))
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' does not say which steps of a star send whole vectors: b (none), l "
                    "(all), overlap, gathered, or the digits of the steps; for example star:l or star:12", steps);
}

static int take_chain(const char *number, const trv_torus_t *torus, trv_star_chain_t *chain)
{
    trv_star_chain_t *found = malloc(TRV_STAR_FOUND_MAX * sizeof *found);
    if (!found)
        return trv_fail_memory();
    const long wanted = strtol(number, NULL, 10);
    int rc = trv_star_find(torus, found);
    if (rc > wanted) {
        *chain = found[wanted];
        rc = TRV_OK;
    } else if (rc >= 0) {
        char name[TRV_TORUS_TEXT_MAX];
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "there is no star chain %.20s for the torus %s: its chains have the numbers "
                      "0 to %d", number, trv_torus_format(torus, name, sizeof name), rc - 1);
    }
    free(found);
    return rc;
}

static int find_chain(const char *text, const trv_torus_t *torus, trv_star_t *star)
{
    const bool covering = star->form != TRV_STAR_SUMS;
    if (torus->ranks == 1) {
        star->chain = (trv_star_chain_t){.torus = *torus, .direct = true};
        return TRV_OK;
    }
    if (*text && !all_digits(text))
        return trv_star_parse(&star->chain, torus, text, covering);
    return !*text && covering ? trv_star_cover(torus, &star->chain) : take_chain(text, torus, &star->chain);
}

static int read_steps(const char *steps, trv_star_t *star)
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
        return trv_fail(TRV_ERR_UNSUPPORTED, "'star:%s': these steps of the chain cannot send whole vectors while the "
                        "others scatter, because what they reach together is not a subgroup", steps);
    return TRV_OK;
}

int trv_star_choose(const char *parameters, const trv_torus_t *torus, trv_star_t *star)
{
    words_t words;
    int rc = split(parameters, &words);
    if (!rc)
        rc = read_form(words.word[STEPS], star);
    if (!rc)
        rc = read_streams(words.word[STREAMS], torus, star);
    if (!rc)
        rc = find_chain(words.word[CHAIN], torus, star);
    return rc ? rc : read_steps(words.word[STEPS], star);
}

void trv_star_name(const trv_star_t *star, int chain, char *name, size_t room)
{
    char steps[TRV_STAR_STEPS_MAX + 1] = "", number[16] = "", streams[16] = "";
    size_t used = 0;
    for (int k = 0; k < star->chain.steps && k <= 9; k++)
        if (star->whole >> k & 1)
            steps[used++] = (char)('0' + k);
    steps[used] = '\0';
    const bool all = star->whole && star->whole == (1U << star->chain.steps) - 1;
    if (chain > 0 || star->streams > 0)
        snprintf(number, sizeof number, chain > 0 ? ":%d" : ":", chain);
    if (star->streams > 0)
        snprintf(streams, sizeof streams, ":%d", star->streams);
    snprintf(name, room, "star%s%s%s%s", star->whole || *number ? ":" : "",
             all ? "l" : star->whole || !*number ? steps : "b", number, streams);
}
