/*
 * trivance simulate --ranking: for each size the algorithms from the fastest to the slowest, with the time of each as a
 * multiple of the lower bound. Each size has its own columns, so a row holds the algorithms at the same position.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/simulate/simulate.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "cli/shared/excess.h"
#include "cli/shared/tool.h"

#define TITLE_SIZE (TRV_BYTES_TEXT_MAX + 16)
#define RATIO_MAX  32 /* characters */

typedef struct position {
    double time_ns;
    int line;
    const char *label, *algorithm;
    bool covers, planned;
} position_t;

/* The lines of a group that have a time at one size, the fastest first. */
typedef struct ranking {
    const trv_time_unit_t *unit;
    double limit_ns;
    int positions;
    position_t *position;
} ranking_t;

static int ranking_compare(const void *a, const void *b)
{
    const position_t *first = a, *second = b;
    if (first->time_ns != second->time_ns)
        return first->time_ns < second->time_ns ? -1 : 1;
    return first->line - second->line; /* equal times: in the order of the list */
}

static int ranking_init(ranking_t *ranking, const cli_group_t *group, int size)
{
    trv_limit_t limit;
    *ranking = (ranking_t){.unit = trv_time_unit(cli_group_best_ns(group, size))};
    ranking->position = malloc((size_t)group->lines * sizeof *ranking->position);
    if (!ranking->position)
        return trv_fail_memory();
    for (int line = 0; line < group->lines; line++) {
        const cli_point_t *point = &group->point[line * group->sizes + size];
        if (!point->row.code)
            ranking->position[ranking->positions++] = (position_t){point->row.time_ns,   line,
                                                                   point->choice->label, point->row.algorithm,
                                                                   point->row.covers,    point->choice->planned};
    }
    qsort(ranking->position, (size_t)ranking->positions, sizeof *ranking->position, ranking_compare);
    const cli_point_t *any = &group->point[size];
    const int rc = trv_compare_limit(&group->torus, &group->options, group->collective, group->root, any->bytes,
                                     &limit);
    if (!rc)
        ranking->limit_ns = limit.time_ns;
    return rc;
}

/* "4.498 2.04": the time in the unit of the column's title, and as a multiple of the lower bound. */
static void ranking_cell(const ranking_t *ranking, int index, cli_excess_t *excess, cli_table_t *table)
{
    char time[TRV_TIME_TEXT_MAX], text[TRV_TIME_TEXT_MAX + RATIO_MAX];
    if (index >= ranking->positions) {
        cli_cell_none(table);
        cli_cell_none(table);
        return;
    }
    const position_t *position = &ranking->position[index];
    const double ratio = position->time_ns / ranking->limit_ns;
    trv_format_time(position->time_ns, ranking->unit, time);
    char *unit = strchr(time, ' ');
    if (unit && strcmp(unit + 1, ranking->unit->name) == 0) /* omit the unit that the title has */
        *unit = '\0';
    trv_snprintf(text, sizeof text, "%s %5.*f", time, ratio < 100 ? 2 : 1, ratio);
    char covers[TRV_ALGORITHM_NAME_MAX + 2], label[CLI_MARKED_MAX];
    const char *shown = cli_covers_label(position->label, position->covers, covers);
    cli_cell_text(table, position->planned ? shown : cli_excess_mark(excess, shown, position->algorithm, label));
    cli_cell_text(table, text);
}

static int ranking_print(const cli_group_t *group, const ranking_t *ranking, cli_excess_t *excess)
{
    cli_column_t column[2 * CLI_RANKING_SIZES_MAX + 1] = {{0}};
    char title[CLI_RANKING_SIZES_MAX][2][TITLE_SIZE], bytes[TRV_BYTES_TEXT_MAX];
    int positions = 0;
    cli_table_t table;
    for (int size = 0; size < group->sizes; size++) {
        snprintf(title[size][0], TITLE_SIZE, "%s", trv_format_bytes(group->point[size].bytes, bytes));
        snprintf(title[size][1], TITLE_SIZE, "%s ratio", ranking[size].unit->name);
        column[2 * size] = (cli_column_t){NULL, title[size][0], false, 0};
        column[2 * size + 1] = (cli_column_t){NULL, title[size][1], true, 0};
        positions = ranking[size].positions > positions ? ranking[size].positions : positions;
    }
    cli_table_begin(&table, stdout, CLI_FORMAT_TABLE, column);
    for (int position = 0; position < positions; position++) {
        for (int size = 0; size < group->sizes; size++)
            ranking_cell(&ranking[size], position, excess, &table);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

int cli_simulate_ranking(const cli_group_t *group)
{
    ranking_t ranking[CLI_RANKING_SIZES_MAX] = {{0}};
    cli_excess_t excess = cli_group_excess(group);
    int rc = TRV_OK;
    for (int size = 0; size < group->sizes && !rc; size++)
        rc = ranking_init(&ranking[size], group, size);
    if (!rc)
        rc = ranking_print(group, ranking, &excess);
    if (!rc)
        puts("ratio: to the lower bound on " CLI_LIMITED);
    cli_excess_explain(&excess, stdout);
    for (int size = 0; size < group->sizes; size++)
        free(ranking[size].position);
    return rc;
}
