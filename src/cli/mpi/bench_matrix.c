/*
 * bench --format=matrix: per torus a table of marks, an algorithm per line and a size per column, without times. A mark
 * is the result of one checked run per transport: exact on every rank, and bitwise identical on all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/mpi/bench.h"
#include "base/text/parse.h"

#define GAP        2   /* columns before each size; doubled between two halves */
#define HALVES_MIN 9   /* with at least this many lines, two halves are printed side by side … */
#define WIDTH_MAX  100 /* … if they fit */

enum { MARK_NONE, MARK_RIGHT, MARK_WRONG };

static const char *const mark_text[] = {[MARK_NONE] = "-", [MARK_RIGHT] = "✓", [MARK_WRONG] = "✗"};

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static unsigned char *matrix_cell(const bench_output_t *output, int torus, int entry, int size)
{
    const bench_options_t *options = output->options;
    return &output->mark[(torus * options->entries + entry) * options->sizes + size];
}

void bench_matrix_begin(bench_output_t *output)
{
    const bench_options_t *options = output->options;
    output->mark = calloc((size_t)options->tori * (size_t)options->entries * (size_t)options->sizes, 1);
}

void bench_matrix_row(bench_output_t *output, const bench_row_t *row)
{
    const bench_options_t *options = output->options;
    const int entry = (int)(row->entry - options->entry);
    int size = 0;
    if (!output->mark)
        return;
    while (options->bytes[size] != row->bytes)
        size++;
    unsigned char *mark = matrix_cell(output, (int)(row->torus - options->torus), entry, size);
    if (row->wrong > 0 || !row->identical)
        *mark = MARK_WRONG;
    else if (*mark == MARK_NONE)
        *mark = MARK_RIGHT;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

/* Returns the width of a size's column. */
static int matrix_width(const bench_options_t *options, int size)
{
    char bytes[TRV_BYTES_TEXT_MAX];
    return GAP + (int)strlen(trv_format_bytes(options->bytes[size], bytes));
}

static void matrix_print_head(const bench_options_t *options, const char *corner, int width)
{
    char bytes[TRV_BYTES_TEXT_MAX];
    printf("%-*s", width, corner);
    for (int size = 0; size < options->sizes; size++)
        printf("%*s", matrix_width(options, size), trv_format_bytes(options->bytes[size], bytes));
}

static void matrix_print_line(const bench_output_t *output, int torus, int entry, int width)
{
    const bench_options_t *options = output->options;
    printf("%-*s", width, options->entry[entry].label);
    for (int size = 0; size < options->sizes; size++)
        printf("%*s%s", matrix_width(options, size) - 1, "", mark_text[*matrix_cell(output, torus, entry, size)]);
}

/* Lists the entries that ran on the torus. Returns their number and stores the width of the longest name. */
static int matrix_lines(const bench_output_t *output, int torus, int line[BENCH_ENTRIES_MAX], int *width)
{
    const bench_options_t *options = output->options;
    int lines = 0;
    *width = 0;
    for (int e = 0; e < options->entries; e++) {
        const int length = (int)strlen(options->entry[e].label);
        int size = 0;
        while (size < options->sizes && *matrix_cell(output, torus, e, size) == MARK_NONE)
            size++;
        if (size == options->sizes)
            continue;
        line[lines++] = e;
        *width = length > *width ? length : *width;
    }
    return lines;
}

static void matrix_print_torus(const bench_output_t *output, int torus)
{
    const bench_options_t *options = output->options;
    char text[TRV_TORUS_TEXT_MAX];
    int line[BENCH_ENTRIES_MAX], width;
    const int lines = matrix_lines(output, torus, line, &width);
    int half_width = width;
    for (int size = 0; size < options->sizes; size++)
        half_width += matrix_width(options, size);
    const int halves = lines >= HALVES_MIN && 2 * half_width + 2 * GAP <= WIDTH_MAX ? 2 : 1;
    const int height = (lines + halves - 1) / halves;
    for (int half = 0; half < halves; half++) {
        printf("%*s", half > 0 ? 2 * GAP : 0, "");
        matrix_print_head(options, half > 0 ? "" : trv_torus_format(&options->torus[torus], text, sizeof text), width);
    }
    puts("");
    for (int i = 0; i < height; i++) {
        for (int at = i; at < lines; at += height) {
            printf("%*s", at > i ? 2 * GAP : 0, "");
            matrix_print_line(output, torus, line[at], width);
        }
        puts("");
    }
}

int bench_matrix_end(bench_output_t *output)
{
    const bench_options_t *options = output->options;
    if (!output->mark)
        return trv_fail_memory();
    for (int torus = 0; torus < options->tori; torus++) {
        if (torus > 0)
            puts("");
        matrix_print_torus(output, torus);
    }
    free(output->mark);
    output->mark = NULL;
    return TRV_OK;
}
