/*
 * Rectangles of characters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "draw/text.h"

int trv_canvas_create(trv_canvas_t *canvas, int width, int height)
{
    size_t size = (size_t)width * (size_t)height;
    *canvas = (trv_canvas_t){width, height, malloc(size + 1), calloc(size + 1, sizeof *canvas->drawing)};
    if (!canvas->character || !canvas->drawing) {
        trv_canvas_clear(canvas);
        return trv_fail_memory();
    }
    memset(canvas->character, ' ', size);
    return TRV_OK;
}

void trv_canvas_clear(trv_canvas_t *canvas)
{
    free(canvas->character);
    free(canvas->drawing);
    *canvas = (trv_canvas_t){0};
}

static void put(trv_canvas_t *canvas, int x, int y, char character, bool drawing)
{
    if (x < 0 || x >= canvas->width || y < 0 || y >= canvas->height)
        return;
    canvas->character[y * canvas->width + x] = character;
    canvas->drawing[y * canvas->width + x] = drawing;
}

void trv_canvas_put(trv_canvas_t *canvas, int x, int y, char drawing) { put(canvas, x, y, drawing, true); }

void trv_canvas_text(trv_canvas_t *canvas, int x, int y, const char *text)
{
    for (; *text; text++)
        put(canvas, x++, y, *text, false);
}

bool trv_canvas_is_free(const trv_canvas_t *canvas, int x, int y, int length)
{
    if (x < 0 || x + length > canvas->width || y < 0 || y >= canvas->height)
        return false;
    for (int i = x; i < x + length; i++)
        if (canvas->character[y * canvas->width + i] != ' ')
            return false;
    return true;
}

static const char *unicode(char character)
{
    static const struct {
        char ascii;
        const char *utf8;
    } table[] = {
        {'-', "─"}, {'=', "╌"}, {'|', "│"}, {'>', "▶"}, {'<', "◀"}, {'^', "▲"}, {'v', "▼"},
        {'o', "●"}, {'@', "◉"}, {'#', "█"}, {'+', "▓"}, {'.', "·"}, {'x', "╳"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].ascii == character)
            return table[i].utf8;
    return NULL;
}

/* Length of a canvas's line without the spaces at its end. */
static int used(const trv_canvas_t *canvas, int y)
{
    int length = canvas->width;
    while (length > 0 && canvas->character[y * canvas->width + length - 1] == ' ')
        length--;
    return length;
}

static void print_line(const trv_text_style_t *style, const trv_canvas_t *canvas, int y)
{
    int length = used(canvas, y);
    for (int x = 0; x < length; x++) {
        char character = canvas->character[y * canvas->width + x];
        const char *text = style->utf8 && canvas->drawing[y * canvas->width + x] ? unicode(character) : NULL;
        if (text)
            fputs(text, style->out);
        else
            fputc(character, style->out);
    }
}

static void print_row(const trv_text_style_t *style, const trv_canvas_t *canvas, int count, int indent, int gap)
{
    int height = 0;
    for (int i = 0; i < count; i++)
        height = canvas[i].height > height ? canvas[i].height : height;
    for (int y = 0; y < height; y++) {
        int pending = indent;
        for (int i = 0; i < count; i++) {
            if (y < canvas[i].height && used(&canvas[i], y) > 0) {
                fprintf(style->out, "%*s", pending, "");
                print_line(style, &canvas[i], y);
                pending = canvas[i].width - used(&canvas[i], y);
            } else {
                pending += canvas[i].width;
            }
            pending += gap;
        }
        fputc('\n', style->out);
    }
}

void trv_canvas_print(const trv_text_style_t *style, const trv_canvas_t *canvas, int count, int indent, int gap)
{
    for (int first = 0, next; first < count; first = next) {
        int width = indent;
        for (next = first; next < count; next++) {
            if (next > first && width + gap + canvas[next].width > style->width_max)
                break;
            width += (next > first ? gap : 0) + canvas[next].width;
        }
        if (first > 0)
            fputc('\n', style->out);
        print_row(style, canvas + first, next - first, indent, gap);
    }
}

void trv_canvas_print_all(const trv_text_style_t *style, trv_canvas_t *canvas, int count, int indent, int gap)
{
    trv_canvas_print(style, canvas, count, indent, gap);
    for (int i = 0; i < count; i++)
        trv_canvas_clear(&canvas[i]);
    free(canvas);
}
