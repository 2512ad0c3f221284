/*
 * Networks: a torus or mesh (trivance/torus.h), some of whose links may be slow or cut.
 *
 * A *row* is the set of ranks that differ in one coordinate only. In a *line* (a dimension of a mesh, without the link
 * that joins its ends), and in a row of a torus that a cut has opened, messages between two ranks of the row have only
 * one path. A row is open if one of its links is cut, in either direction, and is then used as a line that begins
 * behind the cut. All rows of a dimension with an open one are used as lines, so that every rank has the same number of
 * steps. A schedule with a message whose route passes a cut link is invalid on such a network; verifier and simulator
 * report that.
 *
 * Routes are *chosen* by the sender if a message leaves by the port that the schedule names: along that dimension
 * first, in that direction, then the shorter way in every other. They are *fixed* if the network alone determines them,
 * as between IP addresses: dimensions in ascending order, each the shorter way, + if both are equally long; in a row
 * with a cut link, and only there, the remaining way.
 *
 * A network *forwards* if its nodes pass on messages of others, as the routers of a torus do. Hosts that are wired to
 * each other without switches do not: there every message crosses exactly one link. A schedule with a message over
 * several links is invalid on such a network; trv_schedule_relay passes its messages on from rank to rank.
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

/* Whether the sender or the network determines the routes of messages. */
typedef enum trv_routes {
    TRV_ROUTES_CHOSEN, /* the schedule, by its ports */
    TRV_ROUTES_FIXED   /* the network; schedules for it name the ports by which it sends their messages */
} trv_routes_t;

/* Begin with {TRV_NETWORK}; the links are borrowed. If a link has several entries, the last counts. */
typedef struct trv_network {
    size_t size; /* of this struct, as the caller knows it */
    trv_torus_t torus;
    int slow_links;
    const trv_slow_link_t *slow_link;
    trv_routes_t routes;
    bool no_forwarding; /* a message crosses one link only */
    /* the maximum of trv_schedule_messages_per_port: a rank with p ports sends at most p times as many messages of one
     * stream in one step, and receives as many; 0: unlimited. Lower bounds and plans depend on it; a schedule with more
     * is valid nevertheless */
    int messages_per_port;
} trv_network_t;
#define TRV_NETWORK TRV_SIZED_WITH(trv_network_t, TRV_MEMBER(messages_per_port) = 1)

/* TRV_ERR_ARGUMENT if the network has links that do not exist, or factors out of range. TRV_ERR_UNSUPPORTED if a row is
 * cut in two: such a network has only the schedules of disjoint-trees and those of a set of nodes (trv_planner_nodes,
 * trv_schedule_embed). */
TRV_API int trv_network_check(const trv_network_t *network);

/* The same for schedules that need no whole rows: TRV_ERR_UNSUPPORTED only if no route joins two of the ranks. */
TRV_API int trv_network_check_connected(const trv_network_t *network);

/* As trv_schedule_create (trivance/algorithms.h), for a network. An algorithm's name may end with @F, as in
 * "hybrid:4@2": links whose factor is F or more are then avoided as if they were cut; with fixed routes that determines
 * only which ranks send to which, and messages may still pass them. The schedule does not need the network after its
 * creation. `root` is the root of a broadcast, reduce, scatter or gather; pass 0 for other collectives.
 * Besides the errors of trv_schedule_create, those of trv_network_check. */
TRV_API int trv_schedule_create_on(trv_schedule_t **schedule, const trv_network_t *network, const char *name,
                                   trv_collective_t collective, int root);

/* As trv_schedule_full_name (trivance/algorithms.h), for a network. */
TRV_API int trv_schedule_full_name_on(const trv_network_t *network, const char *algorithm, trv_collective_t collective,
                                      int root, char *text, size_t size);

/* ---- Networks that do not forward ------------------------------------------------------------------------------ */

/* The schedule in which every message that crosses several links is passed on by the ranks on its route: it becomes
 * messages over one link each, in consecutive steps, through additional registers of these ranks. Combines run when a
 * rank has received what is for itself. Results are the same, bit by bit.
 *
 * `schedule` is not needed after the call. TRV_ERR_INVALID if a message has only one side (verify the schedule first);
 * TRV_ERR_UNSUPPORTED if there would be more than 2^22 messages or 2^26 blocks. */
TRV_API int trv_schedule_relay(trv_schedule_t **relayed, const trv_schedule_t *schedule);

/* ---- Any set of nodes ------------------------------------------------------------------------------------------ */

/* The ranks of a schedule are mapped to a job's nodes in some order; every message takes the machine's route between
 * two nodes. Any set of nodes has the schedules of a line or ring with one rank per node. A box (every combination of
 * some coordinates of each dimension) also has those of its own torus or mesh. */
typedef enum trv_order {
    TRV_ORDER_SNAKE,  /* row by row, every other row backwards: neighbours are near, for algorithms with few peers */
    TRV_ORDER_THIRDS, /* thirds across the longest side, each divided again: for algorithms that divide the line into
                         thirds */
    TRV_ORDER_ROWS    /* row-major, the last dimension fastest: for schedules of the torus or mesh that a box forms */
} trv_order_t;

/* "snake", "thirds", "rows" */
TRV_API const char *trv_order_name(trv_order_t order);

/* Reorders `node`, a list of distinct nodes of the network's torus or mesh. In a dimension that wraps around, the order
 * begins behind the longest run of coordinates without a node. A snake runs along other dimensions, or backwards, if
 * fewer of its links are then cut. TRV_ERR_ARGUMENT for a node that does not exist or occurs twice. */
TRV_API int trv_order_nodes(const trv_network_t *network, trv_order_t order, int nodes, int *node);

/* The schedule on the whole machine in which rank i of `schedule` runs on node[i] and all other nodes are idle, for the
 * cost model and the simulator. (The verifier takes `schedule` itself: here most nodes contribute nothing.)
 *
 * With fixed routes the network determines the ports of messages. With chosen routes a message leaves the shorter way
 * along the first dimension in which its two nodes differ and in which its route passes no cut link. If `node` lists a
 * box in the order TRV_ORDER_ROWS, and the schedule's torus is that of the box, it leaves in the dimension and
 * direction of its port in `schedule` instead, unless that route passes a cut link.
 *
 * Takes ownership of `schedule`, and destroys it on failure; `network` and `node` are copied. */
TRV_API int trv_schedule_embed(trv_schedule_t **embedded, trv_schedule_t *schedule, const trv_network_t *network,
                               const int *node);

#ifdef __cplusplus
}
#endif
#endif
