/*
 * Random networks for tests, from a seed that the test sets.
 */
#ifndef TRIVANCE_TESTS_RANDOM_NETWORK_H
#define TRIVANCE_TESTS_RANDOM_NETWORK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <trivance/trivance.h>

#include "torus/torus.h"
#include "verify/verifier.h" /* trv_mix */

static uint64_t seed = 1;

static inline int draw(int below) { return (int)((seed = trv_mix(seed + 1)) % (uint64_t)below); }

/* A torus of 1 to 4 dimensions and up to `ranks_max` ranks, some of them lines, perhaps with a cut or slow link. */
static inline void draw_network(int ranks_max, trv_network_t *network, trv_slow_link_t link[2])
{
    int size[TRV_DIMS_MAX] = {0}, dims = 1 + draw(4), ranks = 1;
    unsigned lines = 0;
    for (int d = 0; d < dims; d++) {
        const int most = ranks_max / ranks < 9 ? ranks_max / ranks : 9;
        size[d] = 1 + draw(most);
        ranks *= size[d];
        lines |= (unsigned)(size[d] > 1 && draw(4) == 0) << d;
    }
    *network = (trv_network_t){TRV_NETWORK, .slow_link = link};
    assert_int_equal(trv_torus_init(&network->torus, dims, size), TRV_OK);
    assert_int_equal(trv_torus_set_lines(&network->torus, lines), TRV_OK);
    network->routes = draw(4) ? TRV_ROUTES_CHOSEN : TRV_ROUTES_FIXED;
    const int rank = draw(ranks), port = draw(2 * dims);
    const int other = trv_torus_neighbour(&network->torus, rank, port);
    if (draw(2) || other < 0 || other == rank || trv_torus_is_line(&network->torus, trv_port_dimension(port)))
        return;
    link[0] = (trv_slow_link_t){rank, port, draw(3) ? INFINITY : 4};
    link[1] = (trv_slow_link_t){other, port ^ 1, link[0].factor};
    network->slow_links = 2;
}

#endif
