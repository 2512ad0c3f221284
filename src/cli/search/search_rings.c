/*
 * trivance search RING: searches for the distances of bandwidth-optimal phases, and prints them.
 */
#include "cli/search/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/shared/progress.h"
#include "cli/shared/table.h"
#include "base/error.h"
#include "base/array.h"
#include "search/distances/distances.h"

/* Work of one search. It is complete on rings of up to some hundreds of ranks, and takes ten seconds on larger ones. */
#define SEARCH_WORK (INT64_C(1) << 30)

typedef struct found {
    int first, last; /* sizes of the rings */
    int steps;       /* 0: all on the Pareto front */
    cli_format_t format;
    int count;
    int64_t capacity;
    trv_distances_t *row;
} found_t;

static int parse_rings(const char *text, int *first, int *last)
{
    char low[16];
    const size_t digits = strcspn(text, "-");
    const char *dash = text[digits] ? text + digits : NULL;
    snprintf(low, sizeof low, "%.*s", digits < sizeof low ? (int)digits : (int)sizeof low - 1, text);
    if (trv_parse_int(low, "the ring", 2, TRV_DISTANCES_SEARCH_MAX, first) ||
        trv_parse_int(dash ? dash + 1 : low, "the ring", 2, TRV_DISTANCES_SEARCH_MAX, last))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a ring or a range of rings: expected whole numbers from 2 to %d, for example "
                        "32 or 30-32",
                        text, TRV_DISTANCES_SEARCH_MAX);
    return *first <= *last ? TRV_OK
                           : trv_fail(TRV_ERR_ARGUMENT,
                                      "%d-%d is not a range of rings: the smaller ring must be first, for example 2-64",
                                      *first, *last);
}

/* ---- Searching --------------------------------------------------------------------------------------------------- */

static int add(found_t *found, const trv_distances_t *distances)
{
    if (trv_array_reserve(&found->row, &found->capacity, found->count, 1, sizeof *found->row))
        return TRV_ERR_MEMORY;
    found->row[found->count++] = *distances;
    return TRV_OK;
}

/* The step counts to search: the given one, or all of the ring's front. */
static void find_steps(const found_t *found, int size, int *first, int *last)
{
    *first = *last = found->steps;
    if (!found->steps)
        trv_distances_front_steps(size, first, last);
}

/* The relative work of a search for one number of steps. It grows fast, up to the limit of the search (1). */
static double work_of(int size) { return fmin(1, 0.02 * pow(size / 500.0, 6)); }

static double ring_work(const found_t *found, int size)
{
    int first, last;
    find_steps(found, size, &first, &last);
    return (last - first + 1) * work_of(size);
}

static int search_ring(found_t *found, int size, trv_span_t span)
{
    int first, last, rc = TRV_OK;
    int64_t hops_min = INT64_MAX;
    find_steps(found, size, &first, &last);
    const double part = 1.0 / (last - first + 1);
    for (int steps = first; steps <= last && !rc; steps++) {
        trv_distances_t distances, at_once;
        rc = trv_distances_search(size, steps, SEARCH_WORK, trv_span(span, (steps - first) * part, part), &distances,
                                  &at_once);
        if (!rc && distances.hops < hops_min) {
            hops_min = distances.hops;
            rc = add(found, &distances);
        }
    }
    return rc;
}

static int search_rings(found_t *found)
{
    cli_progress_t progress;
    double all = 0, done = 0;
    int rc = TRV_OK;
    for (int size = found->first; size <= found->last; size++)
        all += ring_work(found, size);
    const trv_span_t span = cli_progress_begin(&progress, "distances", 1);
    for (int size = found->first; size <= found->last && !rc; size++) {
        const double work = ring_work(found, size);
        rc = search_ring(found, size, trv_span(span, done / all, work / all));
        done += work;
    }
    cli_progress_end(&progress);
    return rc;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void add_distances(cli_table_t *table, const trv_distances_t *row)
{
    char text[8 * TRV_DISTANCES_STEPS_MAX] = "";
    json_t *array = json_array();
    for (int k = 0, used = 0; k < row->steps; k++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d", k ? " " : "", row->distance[k]);
        json_array_append_new(array, json_integer(row->distance[k]));
    }
    cli_cell_both(table, text, array);
}

static int print_table(void *context, FILE *out)
{
    const found_t *found = context;
    static const cli_column_t column[] = {{"ring", "ring", true, 0},
                                          {"steps", "steps", true, 0},
                                          {"distances", "distances", false, 0},
                                          {"transmission", "transmission", true, 0},
                                          {"paper_transmission", "the paper's", true, 0},
                                          {"bound", "lower bound", true, 0},
                                          {"complete", "search", false, 0},
                                          {0}};
    cli_table_t table;
    cli_table_begin(&table, out, found->format, column);
    int rc = TRV_OK;
    for (int r = 0; r < found->count && !rc; r++) {
        const trv_distances_t *row = &found->row[r];
        trv_distances_t paper;
        rc = trv_distances_paper(row->size, &paper);
        cli_cell_int(&table, row->size);
        cli_cell_int(&table, row->steps);
        add_distances(&table, row);
        cli_cell_real(&table, trv_distances_transmission(row), 6);
        cli_cell_real(&table, !rc && row->steps == paper.steps ? trv_distances_transmission(&paper) : NAN, 6);
        cli_cell_real(&table, trv_distances_bound(row->size), 6);
        cli_cell_both(&table, row->exact ? "complete" : "stopped", json_boolean(row->exact));
        cli_row_end(&table);
    }
    int end = cli_table_end(&table);
    return rc ? rc : end;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

int cli_search_rings(const cli_search_t *search)
{
    found_t found = {.format = search->format};
    int rc = parse_rings(search->what, &found.first, &found.last);
    if (!rc && search->steps)
        rc = trv_parse_int(search->steps, "--steps", 1, TRV_DISTANCES_STEPS_MAX, &found.steps);
    if (!rc)
        rc = search_rings(&found);
    if (!rc)
        rc = cli_output_write(search->output, print_table, &found);
    free(found.row);
    return rc;
}
