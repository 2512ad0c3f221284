/*
 * The data held by each rank, as a matrix of coloured cells: a row per rank, a column per contributor (whole vectors)
 * or per block.
 */
#include "base/number.h"
#include "draw/svg.h"

#include <math.h>
#include <string.h>

#define LABEL 22.0
#define HELD  "#a8d8c0"
#define NEW   "#12855a"
#define NONE  "#f1f3f6"

static double cell_size(const trv_progress_t *progress, double side)
{
    return fmin(16, (side - LABEL) / fmax(progress->columns, progress->ranks));
}

trv_svg_size_t trv_svg_matrix_size(const trv_progress_t *progress, double side)
{
    double cell = cell_size(progress, side);
    return (trv_svg_size_t){LABEL + cell * progress->columns, LABEL + cell * progress->ranks};
}

/* Light to dark green by the share of the contributions; complete blocks have a distinct colour. */
static void shade(double share, char colour[8])
{
    double light = 1 - share;
    if (share >= 1)
        snprintf(colour, 8, "%s", NEW);
    else
        snprintf(colour, 8, "#%02x%02x%02x", (int)(0x5c + (0xcc - 0x5c) * light), (int)(0xb0 + (0xea - 0xb0) * light),
                 (int)(0x8a + (0xdb - 0x8a) * light));
}

static void colour_of(const trv_progress_t *progress, int before, int after, int rank, int column, char colour[8])
{
    float is = trv_progress_at(progress, after, rank, column), was = trv_progress_at(progress, before, rank, column);
    if (is <= 0)
        snprintf(colour, 8, "%s", NONE);
    else if (progress->by_block)
        shade(is / progress->full, colour);
    else
        snprintf(colour, 8, "%s", was > 0 ? HELD : NEW);
}

static void draw_labels(FILE *out, const trv_progress_t *progress, double x, double y, double cell)
{
    double size = fmin(9, fmax(6, cell * 0.8));
    int every = cell >= 9 ? 1 : cell >= 5 ? 3 : 9;
    char text[16];
    for (int c = 0; c < progress->columns; c += every) {
        snprintf(text, sizeof text, "%d", c);
        trv_svg_text(out, x + LABEL + (c + 0.5) * cell, y + LABEL - 5, size, "middle", SVG_MUTED, text);
    }
    for (int r = 0; r < progress->ranks; r += every) {
        snprintf(text, sizeof text, "%d", r);
        trv_svg_text(out, x + LABEL - 5, y + LABEL + (r + 0.5) * cell + 0.36 * size, size, "end", SVG_MUTED, text);
    }
}

/* Draws all cells of one colour as one path, because a large matrix has thousands of them. */
static void draw_cells(FILE *out, const trv_progress_t *progress, int before, int after, double x, double y,
                       double cell, const char *only)
{
    double gap = cell >= 8 ? 1.5 : cell >= 4 ? 0.7 : 0.3;
    fprintf(out, "<path fill=\"%s\" stroke=\"none\" d=\"", only);
    for (int r = 0; r < progress->ranks; r++)
        for (int c = 0; c < progress->columns; c++) {
            char colour[8];
            colour_of(progress, before, after, r, c, colour);
            if (strcmp(colour, only) == 0)
                trv_fprintf(out, "M%.6g %.6gh%.4gv%.4gh-%.4gz", x + LABEL + c * cell, y + LABEL + r * cell, cell - gap,
                            cell - gap, cell - gap);
        }
    fputs("\"/>\n", out);
}

void trv_svg_matrix(FILE *out, const trv_progress_t *progress, int before, int after, double x, double y, double side)
{
    enum { COLOURS_MAX = 256 };
    double cell = cell_size(progress, side);
    char seen[COLOURS_MAX][8];
    int colours = 0;
    draw_labels(out, progress, x, y, cell);
    for (int r = 0; r < progress->ranks; r++)
        for (int c = 0; c < progress->columns; c++) {
            char colour[8];
            int i = 0;
            colour_of(progress, before, after, r, c, colour);
            while (i < colours && strcmp(seen[i], colour) != 0)
                i++;
            if (i < colours || colours == COLOURS_MAX)
                continue;
            strcpy(seen[colours++], colour);
            draw_cells(out, progress, before, after, x, y, cell, colour);
        }
}

static double legend_entry(FILE *out, double x, double y, const char *colour, const char *text)
{
    trv_fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\" stroke=\"none\"/>\n",
                x, y - 9.5, colour);
    trv_svg_text(out, x + 16, y, 11, "start", SVG_INK, text);
    return 16 + 5.7 * (double)strlen(text) + 18;
}

void trv_svg_matrix_legend(FILE *out, const trv_progress_t *progress, double x, double y)
{
    char few[8], many[8];
    if (!progress->by_block) {
        x += legend_entry(out, x, y, NEW, "contribution (column) that the rank (row) received in the step");
        legend_entry(out, x, y, HELD, "held before");
        return;
    }
    shade(0.12, few);
    shade(0.75, many);
    x += legend_entry(out, x, y, few, "block (column) at a rank (row), few contributions");
    x += legend_entry(out, x, y, many, "most");
    x += legend_entry(out, x, y, NEW, "complete");
    legend_entry(out, x, y, NONE, "not held, or passed on");
}
