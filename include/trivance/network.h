/*
 * Networks as they are: a torus or mesh (trivance/torus.h) of which some links are slow or cut.
 *
 * In a dimension that is a *line* (a mesh's, without the link that joins its ends) and in a *row* of a torus that a cut
 * has opened, messages between two ranks of the row can go only one way. A row is the ranks that differ in one
 * coordinate only; it is open if one of its links is cut, in either direction, and is then used as a line that begins
 * behind the cut. All rows of a dimension with an open one are used as lines, so that every rank has the same number of
 * steps. A schedule with a message whose route passes a cut link is invalid there, which verifier and simulator report.
 *
 * Routes are chosen by the sender where a message leaves by the port that the schedule names: along that dimension first,
 * in that direction, then the shorter way in every other. They are fixed where the network alone determines them, as
 * between IP addresses: dimensions in ascending order, each the shorter way, + if both are equally long; in a row with a
 * cut link, and only there, the way that is left.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_NETWORK_H
#define TRIVANCE_NETWORK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <trivance/common.h>
#include <trivance/schedule.h>
#include <trivance/torus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The directed link that leaves `rank` by `port`: its bandwidth is divided by `factor`, 1 to TRV_SLOW_FACTOR_MAX;
 * INFINITY cuts it. */
#define TRV_SLOW_FACTOR_MAX 1e6
typedef struct trv_slow_link {
    int rank, port;
    double factor;
} trv_slow_link_t;

static inline bool trv_slow_factor_is_valid(double factor)
{
    return factor >= 1 && (factor <= TRV_SLOW_FACTOR_MAX || factor >= HUGE_VAL);
}

/* Who determines the routes of messages. */
typedef enum trv_routes {
    TRV_ROUTES_CHOSEN, /* the schedule, by its port */
    TRV_ROUTES_FIXED   /* the network: schedules made for it name the ports that their messages leave by there */
} trv_routes_t;

/* Begin with {TRV_NETWORK}; the links are borrowed. If a link has several entries, the last counts. */
typedef struct trv_network {
    size_t size; /* of this struct, as the caller knows it */
    trv_torus_t torus;
    int slow_links;
    const trv_slow_link_t *slow_link;
    trv_routes_t routes;
} trv_network_t;
#define TRV_NETWORK .size = sizeof(trv_network_t)

/* Whether there is such a network: TRV_ERR_ARGUMENT for links that do not exist, factors out of range, and a row that is cut
 * in two. */
TRV_API int trv_network_check(const trv_network_t *network);

/* trv_schedule_create (trivance/algorithms.h) for a network. An algorithm's name may end with @F, "hybrid:4@2": links
 * whose factor is F or more are then avoided as if they were cut; with fixed routes that determines only who sends to
 * whom, and messages may still pass them. The schedule does not need the network after its
 * creation. Besides the errors there, those of trv_network_check. */
TRV_API int trv_schedule_create_on(trv_schedule_t **schedule, const trv_network_t *network, const char *name,
                                   trv_collective_t collective);

/* trv_schedule_spell (trivance/algorithms.h) for a network. */
TRV_API int trv_schedule_spell_on(const trv_network_t *network, const char *algorithm, trv_collective_t collective,
                                  char *text, size_t size);

/* ---- Any set of nodes ------------------------------------------------------------------------------------------ */

/* A job's nodes need not be a box. Its schedules are then those of a line or ring of so many ranks, laid along the nodes
 * in some order; every message takes the machine's route between two of them. */
typedef enum trv_order {
    TRV_ORDER_SNAKE, /* row by row, every other row backwards: neighbours are near, for algorithms that use few others */
    TRV_ORDER_THIRDS /* divided across the longest side into thirds, each again: for those that divide the line so */
} trv_order_t;

/* "snake", "thirds" */
TRV_API const char *trv_order_name(trv_order_t order);

/* Puts `node`, different nodes of the torus or mesh, into that order. Where the torus wraps around, it begins behind
 * the longest run of coordinates without a node. TRV_ERR_ARGUMENT for a node that does not exist or is there twice. */
TRV_API int trv_order_nodes(const trv_torus_t *torus, trv_order_t order, int nodes, int *node);

/* A schedule as it runs when its rank i is node[i] of the network: of that torus, on which all other nodes have nothing
 * to do, for the cost model and the simulator. (The verifier proves the schedule itself: here most nodes contribute
 * nothing.) A message leaves in the first dimension in which the two nodes differ and behind which no link of its way is
 * cut (with fixed routes, in the first), the shorter way. It takes `schedule` over, and destroys it if it fails; network and `node` are copied. */
TRV_API int trv_schedule_place(trv_schedule_t **placed, trv_schedule_t *schedule, const trv_network_t *network,
                               const int *node);

#ifdef __cplusplus
}
#endif
#endif
