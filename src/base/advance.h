/*
 * How far long work is, told to whoever waits for it.
 *
 * Loops that may take seconds say which part of their work they are in; parts nest, so that a search within a plan within
 * a table of plans advances a single number. The listener is that of the calling thread: work handed to other threads is
 * told by who hands it out. Without a listener it costs a comparison.
 */
#ifndef TRIVANCE_BASE_ADVANCE_H
#define TRIVANCE_BASE_ADVANCE_H

/* A part of all the work, as fractions of it. */
typedef struct trv_advance {
    double first, size;
} trv_advance_t;

/* What this thread does from here on is the whole; NULL: nobody listens. */
void trv_advance_listen(void (*listener)(void *context, double done), void *context);

/* A part of the present part begins: where, and how much of it, as fractions. What is returned is for the end, which
 * counts it as done. */
trv_advance_t trv_advance_begin(double first, double size);
void trv_advance_end(trv_advance_t outer);

/* So much of the present part is done, as a fraction. */
void trv_advance(double done);

#endif
