/*
 * Collecting all values of a ring of `size` members in ceil(log3 size) steps, both directions in every step.
 *
 * Before step k a member at coordinate j has the values of j - left … j + right. It gets the next `from_right` values
 * to its right from the member at that distance to the right, whose last values they are, and likewise on the left:
 *
 *   size 9, even growth   step 0: 1 from each side   step 1: 3 from each side
 *   size 28               1, 3, 5 from each side, then 5 from the right and 4 from the left
 */
#ifndef TRIVANCE_ALGORITHMS_BUILDERS_GATHER_H
#define TRIVANCE_ALGORITHMS_BUILDERS_GATHER_H

#include <stdbool.h>

/* A member's window and how it grows in the next step. */
typedef struct trv_window {
    int left, right;           /* members to each side whose values it has */
    int from_left, from_right; /* values it gets next, over the distances of those numbers */
} trv_window_t;

/* The window before step `step` (0 … ceil(log3 size) - 1; at the end both from_… are 0). The growth is as even as a
 * window's size allows, because a step's load on the links grows with its square. */
trv_window_t trv_gather_window(int size, int step);

/* One of a member's messages in a step: to or from the member `delta` places on, travelling in direction `sign`, with
 * the values of the `count` members from `first` on (around the ring, first may be anything). */
typedef struct trv_gather_message {
    bool send;
    int delta, sign, first, count;
} trv_gather_message_t;

#define TRV_GATHER_MESSAGES_MAX 4

/* The messages of the member at coordinate `own`, sends first; returns how many. */
int trv_gather_messages(int size, int step, int own, trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX]);

#endif
