/*
 * Windows of values that grow evenly: see gather.h.
 */
#include "algorithms/gather.h"

#include "algorithms/radix.h"

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
