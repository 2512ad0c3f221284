/*
 * The positions of ranks, links, messages and marks in a picture, for SVG and for the explorer's page. A ring is a
 * circle; all other forms are lattices with a vector for every dimension: a row, a grid, or an oblique view in which
 * the layers of the outermost dimension are above each other. A link that wraps around is a stub at both ends.
 *
 * Messages run on tracks beside the ranks, on the left of their way; where a route bends, its two tracks meet.
 */
#ifndef TRIVANCE_DRAW_LAYOUT_H
#define TRIVANCE_DRAW_LAYOUT_H

#include <stdbool.h>
#include <stdio.h>

#include "draw/picture.h"

typedef enum trv_form { TRV_FORM_RING, TRV_FORM_ROW, TRV_FORM_GRID, TRV_FORM_ISO } trv_form_t;
#define TRV_FORMS 4

/* The words of an option: "ring", "row", "grid", "iso". */
extern const char *const trv_form_word[TRV_FORMS];

/* The forms in which a torus can be drawn, the default first; returns how many there are, 0 above three dimensions. The
 * default of a line is a row, unless it is too long. */
int trv_forms(const trv_torus_t *torus, trv_form_t form[2]);

typedef struct trv_point {
    double x, y;
} trv_point_t;

typedef struct trv_layout {
    const trv_torus_t *torus;
    trv_form_t form;
    trv_point_t origin;             /* the middle of the circle, or rank 0 of a lattice */
    trv_point_t step[TRV_DIMS_MAX]; /* lattice: from a rank to the next one of its row */
    double radius, start, angle;    /* circle: its radius; the angle of rank 0, and between ranks */
    double node, gap;               /* the radius of a rank; the distance between neighbours */
    double track, room;             /* the distance between tracks; how far tracks may be from the edge of a rank */
    double beyond;                  /* the length of messages beyond the outermost rank, from its edge */
    double width, height;
    int outermost; /* the dimension of the layers; -1: there are none */
} trv_layout_t;

/* Lays out a picture with its upper left corner at (0, 0), with space for a number of tracks, and for the labels of
 * marks. */
void trv_layout_init(trv_layout_t *layout, const trv_torus_t *torus, trv_form_t form, int tracks, bool labels);
/* The number of tracks beside the most congested link of a panel. */
int trv_layout_tracks(const trv_panel_t *panel);
/* Reduces the distance of tracks until those of the panel fit. */
void trv_layout_fit(trv_layout_t *layout, const trv_panel_t *panel);
double trv_layout_width(const trv_layout_t *layout); /* of the lines of messages */
/* The size of a rank's number. */
double trv_layout_number(const trv_layout_t *layout, int rank);

/* The point `hops` links from a rank in the direction of `port` (a fraction is within a link), then `further` along and
 * `side` to the left. */
trv_point_t trv_layout_along(const trv_layout_t *layout, int rank, int port, double hops, double further, double side);

/* The middle of a link for the pointer and for marks: visible, and no rank is there. */
trv_point_t trv_layout_middle(const trv_layout_t *layout, int rank, int port, double side);

/* Writes the link, as path data of SVG. */
void trv_layout_link(const trv_layout_t *layout, int rank, int port, double side, FILE *out);

/* The beginning and the end of an arrow; its head has its tip at `tip` and is `size` long. */
typedef struct trv_arrow_ends {
    trv_point_t begin, neck, tip;
    double size;
} trv_arrow_ends_t;

/* Writes the line of a message, of which `first` is the first segment, as path data. Returns how many segments it
 * has. */
int trv_layout_message(const trv_layout_t *layout, const trv_panel_t *panel, int first, FILE *out,
                       trv_arrow_ends_t *ends);
void trv_layout_head(const trv_arrow_ends_t *ends, FILE *out);

/* A mark's drawing: one, or two for a link that wraps around. */
typedef struct trv_mark_place {
    int rank, port;     /* its link */
    trv_point_t at;     /* of the cross */
    trv_point_t leader; /* the end of the line from there towards the label; `at`: there is none */
    trv_point_t label;  /* of the label's middle, or of its end that `anchor` names */
    const char *anchor; /* "start", "middle" or "end" */
    bool inside;        /* the label is in a gap of the link */
} trv_mark_place_t;

int trv_layout_mark(const trv_layout_t *layout, const trv_picture_t *picture, const trv_mark_t *mark,
                    trv_mark_place_t place[2]);
/* Writes the cross on a link that is cut, as path data. */
void trv_layout_cross(const trv_mark_place_t *place, FILE *out);

#endif
