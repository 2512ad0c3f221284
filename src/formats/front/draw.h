/*
 * Declarations shared by drawings as SVG, drawings as text and the tool: checks of options, and captions.
 */
#ifndef TRIVANCE_FORMATS_FRONT_DRAW_H
#define TRIVANCE_FORMATS_FRONT_DRAW_H

#include <trivance/formats.h>

/* Returns the network of a drawing, whose links are borrowed from the options. */
trv_network_t trv_draw_network(const trv_schedule_t *schedule, const trv_draw_options_t *options);

/* Checks that the options fit the schedule. */
int trv_draw_check(const trv_schedule_t *schedule, const trv_draw_options_t *options);

/* Returns the rank whose messages an SVG shows, or -1 for all ranks. On a ring or line the arrows of all ranks show
 * the pattern; on a torus or mesh they would hide it. */
int trv_draw_svg_rank(const trv_torus_t *torus, const trv_draw_options_t *options);

/* Write "trivance-l on a ring of 9: AllReduce of 64 KiB", and "2 steps, 1 stream; every contribution exactly once;
 * …". Both return `text`. */
#define TRV_CAPTION_MAX 256
char *trv_draw_title(const trv_schedule_t *schedule, const trv_draw_options_t *options, char text[TRV_CAPTION_MAX]);
char *trv_draw_subtitle(const trv_schedule_t *schedule, const trv_draw_options_t *options, char text[TRV_CAPTION_MAX]);

#endif
