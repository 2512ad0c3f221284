/*
 * SVG: the basic shapes of which the pictures consist.
 */
#include "base/number.h"
#include "draw/svg.h"

const char *trv_svg_colour(int stream)
{
    static const char *const colour[] = {"#12855a", "#7a3db8", "#1f6fd1", "#d9730d",
                                         "#c2255c", "#0b7f95", "#8a6d00", "#4b5563"};
    return colour[stream % 8];
}

void trv_svg_line(FILE *out, double x0, double y0, double x1, double y1, const char *colour, double width, bool dashed)
{
    trv_fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.2g\"%s/>\n", x0, y0, x1, y1,
                colour, width, dashed ? " stroke-dasharray=\"4 2.5\"" : "");
}

void trv_svg_head(FILE *out, const trv_arrow_ends_t *ends, const char *colour)
{
    fputs("<path d=\"", out);
    trv_layout_head(ends, out);
    fprintf(out, "\" fill=\"%s\" stroke=\"none\"/>\n", colour);
}

void trv_svg_rank(FILE *out, const trv_layout_t *layout, trv_point_t at, int rank, bool strong)
{
    char number[16];
    snprintf(number, sizeof number, "%d", rank);
    trv_fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1\"/>\n",
                at.x, at.y, layout->node, strong ? SVG_INK : "#f4f6f8", strong ? SVG_INK : "#9aa5b1");
    if (layout->node >= 4.5) {
        const double size = trv_layout_number(layout, rank);
        trv_svg_text(out, at.x, at.y + 0.36 * size, size, "middle", strong ? SVG_PAPER : SVG_INK, number);
    }
}

void trv_svg_text(FILE *out, double x, double y, double size, const char *anchor, const char *colour, const char *text)
{
    trv_fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size,
                anchor, colour);
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    fputs("</text>\n", out);
}
