/*
 * Draws a ring or line as a row of ranks. Step 1 of Trivance on nine ranks, direction + only:
 *
 *              0     1     2     3     4     5     6     7     8
 *     +0   --->o---------------->o---------------->o--------------
 *          --------->o---------------->o---------------->o--------
 *          --------------->o---------------->o---------------->o--
 *
 * Lines that leave at one end enter at the other. The number of rows is the number of messages that share a link. A
 * link that is cut is an x in every row of its direction; the cut and slow links are listed below the ranks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/text.h"

#define ROWS_MAX  16
#define PITCH_MIN 3 /* minimum length of a recognizable arrow */
#define PITCH_MAX 6
#define INDENT    4
#define LABEL     6

static int width_with(int pitch, int ranks) { return INDENT + LABEL + (ranks + 1) * pitch; }

int trv_text_ring_width(const trv_torus_t *torus) { return width_with(PITCH_MIN, torus->ranks); }

/* Columns from one rank to the next. */
static int pitch(const trv_text_style_t *style, int ranks)
{
    int step = PITCH_MAX;
    while (step > PITCH_MIN && width_with(step, ranks) > style->width_max)
        step--;
    return step;
}

bool trv_text_ring_fits(const trv_text_style_t *style, const trv_picture_t *picture, const trv_panel_t *panel)
{
    const trv_torus_t *torus = trv_schedule_torus(picture->schedule);
    int d = trv_ring_dimension(torus);
    return trv_text_ring_width(torus) <= style->width_max && panel->tracks[d][0] + panel->tracks[d][1] <= ROWS_MAX;
}

static char line_of(const trv_picture_t *picture, const trv_panel_t *panel, const trv_segment_t *segment)
{
    return trv_schedule_mirrored(picture->schedule, panel->arrow[segment->arrow].stream) ? '=' : '-';
}

/* Draws a segment into row y: the dot of its sender, the line, the head before its receiver's column. */
static void draw_segment(trv_canvas_t *canvas, int y, int margin, int step, int ranks, const trv_segment_t *segment,
                         char line)
{
    int ring = ranks * step, start = segment->from * step;
    for (int i = 1; i < segment->hops * step; i++) {
        int at = start + segment->sign * i;
        bool head = i == segment->hops * step - 1;
        char character = !head ? line : segment->sign > 0 ? '>' : '<';
        for (int turn = -1; turn <= 1; turn++) /* the margins at both ends show links that wrap around */
            trv_canvas_put(canvas, margin + ((at % ring + ring) % ring) + turn * ring, y, character);
    }
    trv_canvas_put(canvas, margin + start, y, 'o');
}

/* Prints the labels of cut and slow links below the ranks that they connect, on as many lines as necessary so that
 * labels do not touch. */
static void print_marks(const trv_text_style_t *style, const trv_picture_t *picture, int margin, int step, int ranks)
{
    trv_canvas_t canvas;
    int lines = 0;
    if (picture->marks == 0 || trv_canvas_create(&canvas, LABEL + (ranks + 1) * step, picture->marks))
        return;
    trv_canvas_text(&canvas, 0, 0, "links");
    for (int i = 0; i < picture->marks; i++) {
        char text[TRV_MARK_TEXT_MAX];
        const int length = (int)strlen(trv_mark_describe(&picture->mark[i], text));
        int x = LABEL + margin + picture->mark[i].rank * step + (step - length + 1) / 2, y = 0;
        if (x + length > canvas.width)
            x = canvas.width - length;
        while (y < picture->marks - 1 && !trv_canvas_is_free(&canvas, x, y, length))
            y++;
        trv_canvas_text(&canvas, x, y, text);
        lines = y >= lines ? y + 1 : lines;
    }
    canvas.height = lines;
    trv_canvas_print(style, &canvas, 1, INDENT, 0);
    trv_canvas_clear(&canvas);
}

static void draw_cuts(trv_canvas_t *canvas, const trv_picture_t *picture, const int tracks[2], int margin, int step,
                      int ranks)
{
    for (int i = 0; i < picture->marks; i++)
        for (int y = 0; y < tracks[0] + tracks[1]; y++) {
            const trv_mark_t *mark = &picture->mark[i];
            const int x = margin + mark->rank * step + step / 2;
            if (!isinf(mark->factor[y >= tracks[0]]))
                continue;
            trv_canvas_put(canvas, x, y, 'x');
            if (mark->rank == ranks - 1)
                trv_canvas_put(canvas, x - ranks * step, y, 'x');
        }
}

/* The margins at both ends repeat the links of the other end, as far as they are wide enough. */
void trv_text_ring(const trv_text_style_t *style, const trv_picture_t *picture, const trv_panel_t *panel)
{
    const trv_torus_t *torus = trv_schedule_torus(picture->schedule);
    int d = trv_ring_dimension(torus), ranks = torus->ranks, step = pitch(style, ranks);
    int rows = panel->tracks[d][0] + panel->tracks[d][1];
    trv_canvas_t canvas, head;
    if (trv_canvas_create(&head, LABEL + (ranks + 1) * step, 1))
        return;
    int margin = step - 1;
    for (int rank = 0; rank < ranks; rank++) {
        char text[16];
        int length = snprintf(text, sizeof text, "%d", rank);
        if (length < step || rank % 5 == 0)
            trv_canvas_text(&head, LABEL + margin + rank * step - (length - 1) / 2, 0, text);
    }
    trv_canvas_print(style, &head, 1, INDENT, 0);
    trv_canvas_clear(&head);
    print_marks(style, picture, margin, step, ranks);
    if (rows == 0 || trv_canvas_create(&canvas, (ranks + 1) * step - 1, rows))
        return;
    trv_canvas_t labels;
    if (!trv_canvas_create(&labels, LABEL, rows)) {
        char text[8];
        for (int sign = 0; sign < 2; sign++) {
            snprintf(text, sizeof text, "%c%d", sign ? '-' : '+', d % 10);
            if (panel->tracks[d][sign])
                trv_canvas_text(&labels, 0, sign ? panel->tracks[d][0] : 0, text);
        }
        for (int i = 0; i < panel->segments; i++) {
            const trv_segment_t *segment = &panel->segment[i];
            int y = segment->track + (segment->sign < 0 ? panel->tracks[d][0] : 0);
            draw_segment(&canvas, y, margin, step, ranks, segment, line_of(picture, panel, segment));
        }
        draw_cuts(&canvas, picture, panel->tracks[d], margin, step, ranks);
        trv_canvas_t both[2] = {labels, canvas};
        trv_canvas_print(style, both, 2, INDENT, 0);
        trv_canvas_clear(&labels);
    }
    trv_canvas_clear(&canvas);
}
