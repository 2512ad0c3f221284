/*
 * Collecting all values of a ring of `size` members in ceil(log3 size) steps, both directions in every step.
 *
 * Before step k the member at coordinate j has the values of j - left … j + right. It receives the next `from_right`
 * values to its right from the member at distance `from_right` to the right, and likewise on the left:
 *
 *   size 9, even growth   step 0: 1 from each side   step 1: 3 from each side
 *   size 28               1, 3, 5 from each side, then 5 from the right and 4 from the left
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_GATHER_H
#define TRIVANCE_ALGORITHMS_BUILDERS_GATHER_H

#include <stdbool.h>

/* The window of a member, and its growth in the next step. */
typedef struct trv_window {
    int left, right; /* number of members on each side whose values it has */
    /* number of values that the next step adds on each side, which is also the distance to their sender */
    int from_left, from_right;
} trv_window_t;

/* The window before step `step` (0 … ceil(log3 size) - 1; after the last step both from_… are 0). Windows grow as
 * evenly as their size permits, because the load of a step on the links grows with the square of the growth. */
trv_window_t trv_gather_window(int size, int step);

/* One message of a member in a step: sent to or received from the member `delta` coordinates away, travelling in
 * direction `sign`, with the values of the `count` members from `first` on (around the ring; `first` may be any
 * integer). */
typedef struct trv_gather_message {
    bool send;
    int delta, sign, first, count;
} trv_gather_message_t;

#define TRV_GATHER_MESSAGES_MAX 4

/* Writes the messages of the member at coordinate `own`, sends first, and returns their number. */
int trv_gather_messages(int size, int step, int own, trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX]);

#endif
