/*
 * The chains of a torus: known ones, or the result of a search. Dimensions of size 1 are removed and the others sorted,
 * so that 8x4, 4x8 and 4x1x8 are the same shape.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "search/stars/cover.h"
#include "search/stars/search.h"
#include "search/stars/stars.h"
#include "search/stars/store.h"

/* The limit of the work of a search that runs when a schedule is created: up to 0.7 s on 65536 ranks, and 0.1 s per
 * number of steps. */
#define FIND_WORK  12000000
#define COVER_WORK 4000000

/* A torus without its dimensions of size 1, the sizes ascending; dimension[d] is the dimension of the user's torus. */
typedef struct shape {
    trv_torus_t torus;
    int dimension[TRV_DIMS_MAX];
    char key[TRV_STAR_KEY_MAX];
} shape_t;

static int shape_make(const trv_torus_t *torus, const char *key_suffix, shape_t *shape)
{
    int size[TRV_DIMS_MAX], dims = 0;
    for (int d = 0; d < torus->dims; d++) {
        int position = dims;
        if (torus->size[d] == 1)
            continue;
        for (; position > 0 && size[position - 1] > torus->size[d]; position--) {
            size[position] = size[position - 1];
            shape->dimension[position] = shape->dimension[position - 1];
        }
        size[position] = torus->size[d];
        shape->dimension[position] = d;
        dims++;
    }
    if (dims == 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a torus of one rank has no star chain");
    int rc = trv_torus_init(&shape->torus, dims, size);
    trv_torus_format(&shape->torus, shape->key, sizeof shape->key);
    strcat(shape->key, key_suffix);
    return rc;
}

/* Converts a chain of the shape to one of the user's torus. */
static int chain_restore(trv_star_chain_t *chain, const shape_t *shape, const trv_torus_t *torus)
{
    const trv_star_chain_t sorted = *chain;
    chain->torus = *torus;
    for (int k = 0; k < chain->steps; k++)
        for (int i = 0; i < chain->step[k].vectors; i++) {
            int *at = chain->step[k].vector[i].at;
            memset(at, 0, sizeof chain->step[k].vector[i].at);
            for (int d = 0; d < shape->torus.dims; d++)
                at[shape->dimension[d]] = sorted.step[k].vector[i].at[d];
        }
    return trv_star_check(chain, !sorted.direct);
}

/* ---- Known chains ------------------------------------------------------------------------------------------------ */

/* Reads the lines of a text, from 1 to `capacity` of them, each of which is a chain of the shape. Returns their number,
 * or an error. */
static int chains_read(const shape_t *shape, char *text, bool covering, trv_star_chain_t *chain, int capacity)
{
    int count = 0;
    for (char *line = text, *end; *line || count == 0; line = end + 1) {
        end = strchr(line, '\n');
        if (!end || count == capacity)
            return trv_fail(TRV_ERR_INVALID, "the known star chains of %s are invalid: %s", shape->key,
                            end ? "there are too many" : "its last line is not terminated");
        *end = '\0';
        int rc = trv_star_parse(&chain[count++], &shape->torus, line, covering);
        if (rc)
            return rc;
    }
    return count;
}

/* Finds the known chains of the shape. Returns their number, 0 if none are known, or an error. */
static int chains_find_known(const shape_t *shape, bool covering, trv_star_chain_t *chain, int capacity)
{
    char *text = NULL;
    int count = trv_star_lookup(shape->key, &text);
    if (count > 0)
        count = chains_read(shape, text, covering, chain, capacity);
    free(text);
    return count;
}

static int chains_remember(const shape_t *shape, const trv_star_chain_t *chain, int count)
{
    size_t length = 0, used = 0;
    for (int i = 0; i < count; i++)
        length += trv_star_format(&chain[i], NULL, 0) + 1;
    char *text = malloc(length + 1);
    if (!text)
        return trv_fail_memory();
    for (int i = 0; i < count; i++) {
        used += trv_star_format(&chain[i], text + used, length + 1 - used);
        text[used++] = '\n';
    }
    text[used] = '\0';
    int rc = trv_star_cache_add(shape->key, text);
    free(text);
    return rc;
}

/* ---- Searching --------------------------------------------------------------------------------------------------- */

int trv_star_find(const trv_torus_t *torus, trv_star_chain_t chain[TRV_STAR_FOUND_MAX])
{
    shape_t shape;
    int rc = shape_make(torus, "", &shape);
    if (rc)
        return rc;
    int count = chains_find_known(&shape, false, chain, TRV_STAR_FOUND_MAX);
    if (count == 0) {
        count = trv_star_search(&shape.torus, FIND_WORK, (trv_span_t){0}, chain);
        if (count > 0)
            rc = chains_remember(&shape, chain, count);
    }
    for (int i = 0; i < count && !rc; i++)
        rc = chain_restore(&chain[i], &shape, torus);
    return rc ? rc : count;
}

/* The direct sum of a torus with the fewest steps; `steps` is 0 if there is none. */
static int chain_find_direct(const trv_torus_t *torus, trv_star_chain_t *chain)
{
    trv_star_chain_t *found = malloc(TRV_STAR_FOUND_MAX * sizeof *found);
    int count = found ? trv_star_find(torus, found) : trv_fail_memory();
    chain->steps = 0;
    if (count > 0)
        *chain = found[0];
    free(found);
    return count < 0 && count != TRV_ERR_UNSUPPORTED ? count : TRV_OK;
}

/* A covering of the shape, known or found, with at most as many steps as its direct sum in `chain`. */
static int chain_find_cover(const shape_t *shape, trv_star_chain_t *chain)
{
    const trv_star_chain_t direct = *chain;
    const int known = chains_find_known(shape, true, chain, 1);
    if (known)
        return known > 0 ? TRV_OK : known;
    int rc = trv_star_cover_search(&shape->torus, direct.steps ? &direct : NULL, COVER_WORK, (trv_span_t){0}, chain);
    return rc ? rc : chains_remember(shape, chain, 1);
}

int trv_star_cover(const trv_torus_t *torus, trv_star_chain_t *chain)
{
    shape_t shape;
    int rc = shape_make(torus, "-cover", &shape);
    if (!rc)
        rc = chain_find_direct(&shape.torus, chain);
    if (!rc && chain->steps != trv_star_steps_min(torus))
        rc = chain_find_cover(&shape, chain);
    return rc ? rc : chain_restore(chain, &shape, torus);
}
