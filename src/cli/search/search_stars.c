/*
 * trivance search TORUS: searches for the chains of star schedules, and prints them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/search/found.h"
#include "cli/shared/progress.h"
#include "cli/shared/table.h"
#include "base/error.h"
#include "base/array.h"
#include "search/stars/cover.h"
#include "search/stars/search.h"
#include "search/stars/stars.h"

/* Complete on tori of up to three dimensions and 4096 ranks; about a minute on larger ones. */
#define SEARCH_WORK (INT64_C(1) << 28)
/* Work of a search for coverings, per number of steps: ten seconds if none has as few hops as the torus' diameter. */
#define COVER_WORK        (INT64_C(1) << 30)
#define TEXT_MAX          (1 << 13) /* maximum length of a chain as text */
#define SUBSETS_STEPS_MAX 12

typedef struct found {
    cli_format_t format;
    trv_star_chain_t *chain;
    int count;
    int64_t capacity;
} found_t;

/* ---- Searching --------------------------------------------------------------------------------------------------- */

static int add(found_t *found, const trv_star_chain_t *chain)
{
    if (trv_array_reserve(&found->chain, &found->capacity, found->count, 1, sizeof *found->chain))
        return TRV_ERR_MEMORY;
    found->chain[found->count++] = *chain;
    return TRV_OK;
}

/* Finds the direct sums of a torus, and a covering if that has fewer steps. */
static int search_torus(found_t *found, const trv_torus_t *torus, trv_span_t span)
{
    trv_star_chain_t *chain = malloc((TRV_STAR_FOUND_MAX + 1) * sizeof *chain), *cover = chain + TRV_STAR_FOUND_MAX;
    /* Most of the time is spent on coverings, if these are searched. */
    int count = chain ? trv_star_search(torus, SEARCH_WORK, trv_span(span, 0, 0.1), chain) : trv_fail_memory();
    int rc = count < 0 && count != TRV_ERR_UNSUPPORTED ? count : TRV_OK;
    for (int i = 0; i < count && !rc; i++)
        rc = add(found, &chain[i]);
    if (!rc && (count < 0 || chain[0].steps > trv_star_steps_min(torus)))
        rc = trv_star_cover_search(torus, count > 0 ? chain : NULL, COVER_WORK, trv_span(span, 0.1, 0.9), cover);
    else
        cover = chain;
    if (!rc && !cover->direct)
        rc = add(found, cover);
    free(chain);
    return rc;
}

static int parse_torus(const char *text, trv_torus_t *torus)
{
    int rc = trv_torus_parse(text, torus);
    if (!rc && torus->lines)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "chains are for tori, and a mesh uses those of its torus; leave out the m of %.40s", text);
    if (!rc && torus->ranks > TRV_STAR_SEARCH_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "%.40s has %d ranks; chains are searched for at most %d", text, torus->ranks,
                        TRV_STAR_SEARCH_MAX);
    for (int d = 0; !rc && d < torus->dims; d++)
        if (torus->size[d] == 1)
            rc = trv_fail(TRV_ERR_ARGUMENT, "leave out the dimensions of size 1 of %.40s", text);
    return rc;
}

static int count_items(const char *list)
{
    int items = 1;
    for (; *list; list++)
        items += *list == ',';
    return items;
}

static int search_list(found_t *found, const char *list, trv_span_t span)
{
    const double size = 1.0 / count_items(list);
    char item[TRV_TORUS_TEXT_MAX];
    int rc = TRV_OK, more;
    double first = 0;
    for (const char *rest = list; !rc && (more = trv_next_item(&rest, "tori", item, sizeof item)) != 0;) {
        trv_torus_t torus;
        rc = more < 0 ? more : parse_torus(item, &torus);
        if (!rc)
            rc = search_torus(found, &torus, trv_span(span, first, size));
        first += size;
    }
    return rc;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static int sum_of(const trv_star_chain_t *chain, int (*of)(const trv_star_chain_t *, int))
{
    int sum = 0;
    for (int k = 0; k < chain->steps; k++)
        sum += of(chain, k);
    return sum;
}

static int factor_of(const trv_star_chain_t *chain, int step) { return chain->step[step].vectors + 1; }

static void add_steps(cli_table_t *table, const trv_star_chain_t *chain, int (*of)(const trv_star_chain_t *, int))
{
    char text[8 * TRV_STAR_STEPS_MAX] = "";
    json_t *array = json_array();
    for (int k = 0, used = 0; k < chain->steps; k++) {
        used += snprintf(text + used, sizeof text - (size_t)used, k ? " %d" : "%d", of(chain, k));
        json_array_append_new(array, json_integer(of(chain, k)));
    }
    cli_cell_both(table, text, array);
}

/* The proper nonempty sets of steps that sum to a subgroup: in JSON all of them, in text whether the tails do. */
static void add_subgroups(cli_table_t *table, const trv_star_chain_t *chain)
{
    char text[64];
    int others = chain->direct ? 1 - chain->steps : 0;
    json_t *array = json_array();
    bool listed = chain->direct && chain->steps <= SUBSETS_STEPS_MAX;
    for (unsigned set = 1; listed && set < (1u << chain->steps) - 1; set++) {
        if (!trv_star_is_subgroup(chain, set))
            continue;
        json_t *steps = json_array();
        for (int k = 0; k < chain->steps; k++)
            if (set >> k & 1)
                json_array_append_new(steps, json_integer(k));
        json_array_append_new(array, steps);
        others++;
    }
    if (!chain->direct)
        snprintf(text, sizeof text, "covers only");
    else if (listed && others > 0)
        snprintf(text, sizeof text, "every tail, %d more", others);
    else
        snprintf(text, sizeof text, "every tail");
    cli_cell_both(table, text, array);
}

static int diameter(const trv_torus_t *torus)
{
    int hops = 0;
    for (int d = 0; d < torus->dims; d++)
        hops += torus->size[d] / 2;
    return hops;
}

static int print_table(void *context, FILE *out)
{
    const found_t *found = context;
    static const cli_column_t column[] = {{"torus", "torus", false, 0},      {"steps", "steps", true, 0},
                                          {"factors", "factors", false, 0},  {"hops", "hops", true, 0},
                                          {"diameter", "diameter", true, 0}, {"step_hops", "per step", false, 0},
                                          {"step_loads", "loads", false, 0}, {"subgroups", "subgroups", false, 0},
                                          {"chain", "vectors", false, 0},    {0}};
    cli_table_t table;
    char *text = malloc(TEXT_MAX);
    if (!text)
        return trv_fail_memory();
    cli_table_begin(&table, out, found->format, column);
    for (int i = 0; i < found->count; i++) {
        const trv_star_chain_t *chain = &found->chain[i];
        cli_cell_text(&table, trv_torus_format(&chain->torus, text, TEXT_MAX));
        cli_cell_int(&table, chain->steps);
        add_steps(&table, chain, factor_of);
        cli_cell_int(&table, sum_of(chain, trv_star_hops));
        cli_cell_int(&table, diameter(&chain->torus));
        add_steps(&table, chain, trv_star_hops);
        add_steps(&table, chain, trv_star_load);
        add_subgroups(&table, chain);
        trv_star_format(chain, text, TEXT_MAX);
        cli_cell_text(&table, text);
        cli_row_end(&table);
    }
    free(text);
    return cli_table_end(&table);
}

int cli_search_stars(const cli_search_t *search)
{
    found_t found = {.format = search->format};
    cli_progress_t progress;
    if (search->steps)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "--steps is for rings, for example `trivance search 32 --steps=4`; of a torus the "
                        "chains with the fewest steps come first");
    const trv_span_t all = cli_progress_begin(&progress, "searching", 1);
    int rc = search_list(&found, search->what, all);
    cli_progress_end(&progress);
    if (!rc)
        rc = cli_output_write(search->output, print_table, &found);
    free(found.chain);
    return rc;
}
