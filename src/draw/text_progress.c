/*
 * The data held by each rank, as matrices of characters. After step 0 of Trivance L on nine ranks, with contributors as
 * columns:
 *
 *          0 1 2 3 4 5 6 7 8
 *      0   # + . . . . . . +      # held before, + new in this step, . not held
 *      1   + # + . . . . . .
 *
 * For blocks a cell is the number of contributions in the block (10 and more as letters), # when it is complete.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text.h"

#define INDENT   4
#define LABEL    4
#define CAPTION  16
#define SIDE_MAX 27

static int matrix_width(const trv_progress_t *progress, int pitch)
{
    int width = LABEL + pitch * progress->columns;
    return width > CAPTION ? width : CAPTION;
}

int trv_text_progress_width(const trv_progress_t *progress)
{
    return progress->columns <= SIDE_MAX && progress->ranks <= SIDE_MAX ? INDENT + matrix_width(progress, 1) : 0;
}

static char mark_of(const trv_progress_t *progress, int before, int after, int rank, int column)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    float was = before < 0 ? 0 : trv_progress_at(progress, before, rank, column);
    float is = trv_progress_at(progress, after, rank, column);
    if (is <= 0)
        return '.';
    if (!progress->by_block)
        return was > 0 || before < 0 ? '#' : '+';
    if (is >= progress->full)
        return '#';
    int count = (int)lroundf(is);
    return count < 1 ? '1' : count < 36 ? digits[count] : '?';
}

/* Draws the state after `after` steps; `before` is the state with which it is compared, -1 for none. */
static int draw_matrix(trv_canvas_t *canvas, const trv_progress_t *progress, int pitch, int before, int after)
{
    char text[48];
    int rc = trv_canvas_create(canvas, matrix_width(progress, pitch), progress->ranks + 2);
    if (rc)
        return rc;
    if (after == 0)
        trv_canvas_text(canvas, 0, 0, "start");
    else {
        snprintf(text, sizeof text, "after step %d", after - 1);
        trv_canvas_text(canvas, 0, 0, text);
    }
    for (int c = 0; c < progress->columns; c++) {
        snprintf(text, sizeof text, "%d", c % 10);
        trv_canvas_text(canvas, LABEL + pitch * c, 1, text);
    }
    for (int r = 0; r < progress->ranks; r++) {
        snprintf(text, sizeof text, "%2d", r);
        trv_canvas_text(canvas, 0, 2 + r, text);
        for (int c = 0; c < progress->columns; c++) {
            char mark[2] = {mark_of(progress, before, after, r, c), '\0'};
            if (isalnum((unsigned char)mark[0]))
                trv_canvas_text(canvas, LABEL + pitch * c, 2 + r, mark);
            else
                trv_canvas_put(canvas, LABEL + pitch * c, 2 + r, mark[0]);
        }
    }
    return TRV_OK;
}

void trv_text_progress(const trv_text_style_t *style, const trv_picture_t *picture, const trv_progress_t *progress)
{
    trv_canvas_t *canvas = calloc((size_t)picture->panels + 1, sizeof *canvas);
    int count = 0, pitch = INDENT + matrix_width(progress, 2) <= style->width_max ? 2 : 1;
    if (canvas && draw_matrix(&canvas[0], progress, pitch, -1, 0) == 0)
        count = 1;
    for (int i = 0; count && i < picture->panels; i++) {
        const trv_panel_t *panel = &picture->panel[i];
        if (draw_matrix(&canvas[count], progress, pitch, panel->first_step, panel->last_step + 1))
            break;
        count++;
    }
    trv_canvas_print_all(style, canvas, count, INDENT, 4);
}
