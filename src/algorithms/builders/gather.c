/*
 * The windows of values described in gather.h.
 */
#include "algorithms/builders/gather.h"

#include "base/radix.h"

trv_window_t trv_gather_window(int size, int step)
{
    trv_window_t window = {0, 0, 0, 0};
    int steps = trv_log_ceil(3, size);
    for (int k = 0;; k++) {
        int have = 1 + window.left + window.right;
        int missing = size - have;
        if (k < steps) {
            int sides = 2 * (steps - k);
            int even = (missing + sides - 1) / sides;
            window.from_right = even < have ? even : have;
            window.from_left = missing - window.from_right < window.from_right ? missing - window.from_right
                                                                               : window.from_right;
        } else {
            window.from_right = window.from_left = 0;
        }
        if (k == step || k == steps)
            return window;
        window.left += window.from_left;
        window.right += window.from_right;
    }
}

int trv_gather_messages(int size, int step, int own, trv_gather_message_t message[TRV_GATHER_MESSAGES_MAX])
{
    const trv_window_t w = trv_gather_window(size, step);
    const int right = w.from_right, left = w.from_left;
    const trv_gather_message_t all[TRV_GATHER_MESSAGES_MAX] = {
        /* the last values of the window, for the member whose right peer this one is */
        {true, -right, -1, own + w.right + 1 - right, right},
        {true, left, 1, own - w.left, left},
        {false, right, -1, own + w.right + 1, right},
        {false, -left, 1, own - w.left - left, left},
    };
    int messages = 0;
    for (int i = 0; i < TRV_GATHER_MESSAGES_MAX; i++)
        if (all[i].count > 0)
            message[messages++] = all[i];
    return messages;
}
