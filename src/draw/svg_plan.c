/*
 * Draws the sheet of an SVG picture: title, legend, one panel of arrows per step (or run of equal steps), and the
 * matrices of progress below the panels.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "draw/svg.h"
#include "torus/torus.h"

#define MARGIN      28.0
#define GAP         26.0
#define HEAD        106.0
#define CAPTION     34.0
#define CELL        8.0
#define LINE_CELL   12.0
#define SHEET_WIDTH 1500.0
#define PANELS_MAX  48

int trv_svg_check_torus(const trv_torus_t *torus, int rank)
{
    static const struct {
        int ranks_all, ranks_one;
    } limit[] = {{81, 256}, {81, 256}, {100, 1024}, {125, 1000}};
    char text[TRV_TORUS_TEXT_MAX];
    int active[TRV_DIMS_MAX], dims = trv_torus_active(torus, active);
    trv_torus_format(torus, text, sizeof text);
    if (dims > 3)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s has %d dimensions; pictures are drawn of rings and of tori with 2 or 3 "
                        "dimensions, as text of any",
                        text, dims);
    if (torus->ranks > limit[dims].ranks_one)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s has too many ranks for a picture; up to %d are drawn with all messages, up to "
                        "%d with those of one rank",
                        text, limit[dims].ranks_all, limit[dims].ranks_one);
    if (rank < 0 && torus->ranks > limit[dims].ranks_all)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "%s has too many ranks for a picture of all messages; up to %d are drawn, or up to %d with those "
            "of one rank",
            text, limit[dims].ranks_all, limit[dims].ranks_one);
    return TRV_OK;
}

int trv_svg_check(const trv_picture_t *picture, int rank)
{
    int rc = trv_svg_check_torus(trv_schedule_torus(picture->schedule), rank);
    if (rc)
        return rc;
    if (picture->panels > PANELS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the schedule has %d different steps, too many for a picture; up to %d are drawn",
                        picture->panels, PANELS_MAX);
    return TRV_OK;
}

typedef struct sheet {
    FILE *out;
    const trv_picture_t *picture;
    const trv_svg_options_t *options;
    trv_layout_t layout; /* of the panels */
    trv_svg_size_t matrix;
    double panel_width, panel_height, matrix_side;
    int across, down;
} sheet_t;

static sheet_t lay_out(const trv_picture_t *picture, const trv_svg_options_t *options, FILE *out)
{
    sheet_t sheet = {.out = out, .picture = picture, .options = options};
    trv_svg_layout(picture, &sheet.layout);
    const bool line = sheet.layout.form == TRV_FORM_ROW;
    sheet.panel_width = fmax(sheet.layout.width, 250);
    sheet.panel_height = CAPTION + sheet.layout.height;
    if (options->progress) {
        /* The matrix is not larger than the network, unless its cells would become indistinguishable. */
        const double network = sheet.layout.form == TRV_FORM_ISO ? sheet.layout.height / 2 : sheet.layout.height;
        sheet.matrix_side = fmax(network, (line ? LINE_CELL : CELL) *
                                              fmax(options->progress->columns, options->progress->ranks));
        sheet.matrix_side = fmin(sheet.matrix_side, fmin(sheet.panel_width, 460));
        sheet.matrix = trv_svg_matrix_size(options->progress, sheet.matrix_side);
        sheet.panel_height += 8 + sheet.matrix.height;
    }
    int panels = picture->panels > 0 ? picture->panels : 1;
    sheet.across = (int)((SHEET_WIDTH - 2 * MARGIN + GAP) / (sheet.panel_width + GAP));
    if (sheet.across < 4 && !line && panels > 2 * sheet.across) /* large panels: a large sheet, not a long one */
        sheet.across = panels > 4 ? 4 : panels;
    sheet.across = sheet.across < 1 ? 1 : sheet.across;
    sheet.across = sheet.across > panels ? panels : sheet.across;
    sheet.down = (panels + sheet.across - 1) / sheet.across;
    sheet.across = (panels + sheet.down - 1) / sheet.down; /* even rows */
    return sheet;
}

static void draw_captions(const sheet_t *sheet, const trv_panel_t *panel, double x, double y)
{
    char text[256], part[64];
    if (panel->first_step == panel->last_step)
        snprintf(text, sizeof text, "Step %d", panel->first_step);
    else
        snprintf(text, sizeof text, "Steps %d to %d", panel->first_step, panel->last_step);
    fputs("<g font-weight=\"600\">", sheet->out);
    trv_svg_text(sheet->out, x, y, 13, "middle", SVG_INK, text);
    fputs("</g>", sheet->out);
    trv_panel_describe(sheet->picture, panel, part, sizeof part);
    snprintf(text, sizeof text, "%s%scongestion %d", part, part[0] ? ", " : "", panel->messages);
    trv_svg_text(sheet->out, x, y + 15, 10.5, "middle", SVG_MUTED, text);
}

static void draw_panel(const sheet_t *sheet, int i)
{
    const trv_panel_t *panel = &sheet->picture->panel[i];
    double x = MARGIN + i % sheet->across * (sheet->panel_width + GAP);
    double y = HEAD + i / sheet->across * (sheet->panel_height + GAP);
    draw_captions(sheet, panel, x + sheet->panel_width / 2, y + 12);
    double ax = x + (sheet->panel_width - sheet->layout.width) / 2, ay = y + CAPTION;
    trv_svg_panel(sheet->out, sheet->picture, panel, &sheet->layout, sheet->options->rank, ax, ay);
    if (sheet->options->progress)
        trv_svg_matrix(sheet->out, sheet->options->progress, panel->first_step, panel->last_step + 1,
                       x + (sheet->panel_width - sheet->matrix.width) / 2 - 8, ay + sheet->layout.height + 8,
                       sheet->matrix_side);
}

#define CHARACTER 5.7 /* average width of a character in the legend */

/* Describes omissions of the picture and the position of the arrows. */
static void describe(const sheet_t *sheet, char text[128])
{
    int used = 0;
    if (sheet->options->rank >= 0)
        used = snprintf(text, 128, "only messages from rank %d; ", sheet->options->rank);
    static const char *const where[TRV_FORMS] = {"outside: direction +, inside: direction -",
                                                 "above: direction +, below: direction -",
                                                 "above and right: direction +, below and left: direction -",
                                                 "messages are on the left of their way"};
    snprintf(text + used, (size_t)(128 - used), "%s", where[sheet->layout.form]);
}

static void stream_name(const sheet_t *sheet, int stream, char text[64])
{
    snprintf(text, 64, "stream %d%s", stream,
             trv_schedule_mirrored(sheet->picture->schedule, stream) ? " (mirrored)" : "");
}

static bool is_drawn(const sheet_t *sheet, int stream)
{
    return sheet->options->stream < 0 || stream == sheet->options->stream;
}

static double legend_width(const sheet_t *sheet)
{
    char text[128];
    describe(sheet, text);
    double width = CHARACTER * (double)strlen(text);
    for (int stream = 0; stream < trv_schedule_streams(sheet->picture->schedule); stream++) {
        stream_name(sheet, stream, text);
        width += is_drawn(sheet, stream) ? 50 + CHARACTER * (double)strlen(text) : 0;
    }
    return fmax(width, 600); /* the line of the matrices' colours, and the subtitle */
}

/* Draws the streams in one line and the matrices' colours below. */
static void draw_legend(const sheet_t *sheet, double x, double y)
{
    char text[128];
    if (sheet->options->progress)
        trv_svg_matrix_legend(sheet->out, sheet->options->progress, x, y + 18);
    for (int stream = 0; stream < trv_schedule_streams(sheet->picture->schedule); stream++) {
        const char *colour = trv_svg_colour(stream);
        if (!is_drawn(sheet, stream))
            continue;
        stream_name(sheet, stream, text);
        trv_svg_line(sheet->out, x, y - 4, x + 22, y - 4, colour, 1.8,
                     trv_schedule_mirrored(sheet->picture->schedule, stream));
        trv_svg_head(sheet->out, &(trv_arrow_ends_t){.neck = {x, y - 4}, .tip = {x + 28, y - 4}, .size = 7}, colour);
        trv_svg_text(sheet->out, x + 34, y, 11, "start", SVG_INK, text);
        x += 50 + CHARACTER * (double)strlen(text);
    }
    describe(sheet, text);
    trv_svg_text(sheet->out, x, y, 11, "start", SVG_MUTED, text);
}

void trv_svg_write(const trv_picture_t *picture, const trv_svg_options_t *options, FILE *out)
{
    sheet_t sheet = lay_out(picture, options, out);
    double width = 2 * MARGIN + sheet.across * (sheet.panel_width + GAP) - GAP;
    double height = HEAD + sheet.down * (sheet.panel_height + GAP) - GAP + MARGIN;
    width = fmax(width, 2 * MARGIN + legend_width(&sheet));
    width = fmax(width, 2 * MARGIN + 6 * (double)strlen(options->subtitle));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "fill=\"none\" "
            "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" stroke-linecap=\"round\">\n",
            width, height, width, height);
    fputs("<title>", out);
    for (const char *p = options->title; *p; p++)
        fputc(*p == '<' || *p == '&' || *p == '>' ? ' ' : *p, out);
    fprintf(out, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"" SVG_PAPER "\"/>\n<g font-weight=\"600\">",
            width, height);
    trv_svg_text(out, MARGIN, 30, 17, "start", SVG_INK, options->title);
    fputs("</g>", out);
    trv_svg_text(out, MARGIN, 48, 11, "start", SVG_MUTED, options->subtitle);
    draw_legend(&sheet, MARGIN, 66);
    for (int i = 0; i < picture->panels; i++)
        draw_panel(&sheet, i);
    fputs("</svg>\n", out);
}
