/*
 * Pictures made of characters: rings and lines as rows of ranks with arrows, networks of two and three dimensions as
 * grids, and matrices of progress.
 */
#ifndef TRIVANCE_DRAW_TEXT_H
#define TRIVANCE_DRAW_TEXT_H

#include <stdio.h>

#include "draw/holdings.h"
#include "draw/picture.h"

typedef struct trv_text_style {
    FILE *out;
    bool utf8;     /* lines and arrow heads from Unicode, else ASCII only */
    int width_max; /* columns */
} trv_text_style_t;

/* One panel of a ring or line: every message is an arrow over the row of ranks; messages that share a link are in
 * different rows. */
void trv_text_ring(const trv_text_style_t *style, const trv_picture_t *picture, const trv_panel_t *panel);
/* The minimum width of the picture of a ring, in columns. */
int trv_text_ring_width(const trv_torus_t *torus);
/* Whether the panel is small enough to be drawn with all its messages. */
bool trv_text_ring_fits(const trv_text_style_t *style, const trv_picture_t *picture, const trv_panel_t *panel);

/* The messages that one rank sends, on the grid of a torus or mesh with 2 or 3 dimensions larger than 1; panels are
 * side by side. */
void trv_text_grids(const trv_text_style_t *style, const trv_picture_t *picture, int rank);
/* The width of a panel in columns; 0 for a torus that cannot be drawn at any width. */
int trv_text_grid_width(const trv_torus_t *torus);

/* Prints a sentence that lists the cut and slow links, over several lines if necessary; nothing if there are none. */
void trv_text_marks(const trv_text_style_t *style, const trv_picture_t *picture);

/* Prints the data that each rank holds after each panel's last step. Columns are narrower if the width is small. */
void trv_text_progress(const trv_text_style_t *style, const trv_picture_t *picture, const trv_progress_t *progress);
/* The minimum width of a matrix in columns; 0 for one that cannot be drawn at any width. */
int trv_text_progress_width(const trv_progress_t *progress);

/* ---- Canvases, for the files that draw --------------------------------------------------------------------------- */

/* A rectangle of characters; prints without trailing spaces. Drawing outside of it has no effect. */
typedef struct trv_canvas {
    int width, height;
    char *character; /* ASCII; the drawing characters - | > < ^ v o x # + . are replaced when printed as UTF-8 */
    bool *drawing;   /* whether the character belongs to the drawing, not to a text */
} trv_canvas_t;

int trv_canvas_create(trv_canvas_t *canvas, int width, int height);
void trv_canvas_clear(trv_canvas_t *canvas);
void trv_canvas_put(trv_canvas_t *canvas, int x, int y, char drawing);
void trv_canvas_text(trv_canvas_t *canvas, int x, int y, const char *text);
/* Whether nothing is drawn at (x, y) and the `length` - 1 positions after it, all of which are inside. */
bool trv_canvas_is_free(const trv_canvas_t *canvas, int x, int y, int length);
/* Prints canvases side by side, as many in a row as the width allows, with `gap` columns between them. */
void trv_canvas_print(const trv_text_style_t *style, const trv_canvas_t *canvas, int count, int indent, int gap);
/* The same for an array from malloc (NULL for none); frees the canvases and the array. */
void trv_canvas_print_all(const trv_text_style_t *style, trv_canvas_t *canvas, int count, int indent, int gap);

#endif
