/*
 * Pictures of schedules as SVG: arrows per step on the ring, line, torus or mesh (as the paper's figures 1 and 4),
 * links that are cut or slow, and the data held by each rank after each step (the paper's figure 3).
 */
#ifndef TRIVANCE_DRAW_SVG_H
#define TRIVANCE_DRAW_SVG_H

#include <stdint.h>
#include <stdio.h>

#include "draw/holdings.h"
#include "draw/layout.h"

typedef struct trv_svg_options {
    const char *title, *subtitle;   /* plain text */
    uint64_t vector_bytes;          /* for the captions */
    int rank;                       /* the rank whose sends are drawn, or -1 for all ranks */
    int stream;                     /* the stream that is drawn, or -1 for all */
    const trv_progress_t *progress; /* NULL: no matrices */
} trv_svg_options_t;

/* Returns TRV_ERR_UNSUPPORTED with the reason if the picture would be unreadable: rings and lines above 81 ranks,
 * 2-D tori above 9x9 or so, 3-D tori above 125 ranks (with one rank's messages only: 256, 1024, 1000), more
 * dimensions, more than 48 panels. */
int trv_svg_check(const trv_picture_t *picture, int rank);
/* The same as far as it depends on the torus alone, before the schedule exists. */
int trv_svg_check_torus(const trv_torus_t *torus, int rank);
/* Writes the picture. The caller checks the stream for errors (ferror). */
void trv_svg_write(const trv_picture_t *picture, const trv_svg_options_t *options, FILE *out);

/* ---- For the files that draw ------------------------------------------------------------------------------------- */

#define SVG_INK   "#1f2933"
#define SVG_MUTED "#6b7785"
#define SVG_FAINT "#dfe4ea"
#define SVG_PAPER "#ffffff"
#define SVG_CUT   "#d1242f"
#define SVG_SLOW  "#d9730d"

/* The colour of a stream: green, purple, then others that differ from these. */
const char *trv_svg_colour(int stream);

void trv_svg_line(FILE *out, double x0, double y0, double x1, double y1, const char *colour, double width, bool dashed);
void trv_svg_head(FILE *out, const trv_arrow_ends_t *ends, const char *colour);
/* A rank: a circle with its number inside, if it fits. */
void trv_svg_rank(FILE *out, const trv_layout_t *layout, trv_point_t at, int rank, bool strong);
/* anchor: "start", "middle" or "end"; the text is escaped. */
void trv_svg_text(FILE *out, double x, double y, double size, const char *anchor, const char *colour, const char *text);

typedef struct trv_svg_size {
    double width, height;
} trv_svg_size_t;

/* The layout of all panels of the picture. */
void trv_svg_layout(const trv_picture_t *picture, trv_layout_t *layout);
/* Draws one panel with its upper left corner at (x, y). */
void trv_svg_panel(FILE *out, const trv_picture_t *picture, const trv_panel_t *panel, const trv_layout_t *layout,
                   int rank, double x, double y);
/* A matrix is at most `side` wide and high. */
trv_svg_size_t trv_svg_matrix_size(const trv_progress_t *progress, double side);
/* The state after `after` steps, compared with that after `before`. */
void trv_svg_matrix(FILE *out, const trv_progress_t *progress, int before, int after, double x, double y, double side);
/* The meaning of the matrix's colours. */
void trv_svg_matrix_legend(FILE *out, const trv_progress_t *progress, double x, double y);

#endif
