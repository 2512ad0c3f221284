/*
 * Tori and meshes: dimensions, coordinates, ports and routes.
 *
 * A torus a0 x a1 x … has n = a0 * a1 * … ranks, numbered row-major with the last dimension fastest, as
 * MPI_Cart_create numbers them. A rank has two directed network ports per dimension d: 2d leads to the neighbour
 * at coordinate + 1, 2d + 1 to the one at coordinate - 1. A dimension of size 1 has no neighbours, one of size 2 has
 * two links to the same neighbour.
 *
 * A dimension may be a *line*, as in a mesh: no link joins its ends, the + port of its last rank and the - port of its
 * first have no link, and a message has only one route. Such a dimension is written with an m: 8x8m.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_TORUS_H
#define TRIVANCE_TORUS_H

#include <stddef.h>

#include <trivance/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRV_DIMS_MAX       8
#define TRV_PORTS_MAX      (2 * TRV_DIMS_MAX)
#define TRV_TORUS_TEXT_MAX 96 /* maximum bytes that trv_torus_format needs, the terminating 0 included */

/* A torus is a plain value: copy it, compare it field by field. Fill it with trv_torus_init or trv_torus_parse. */
typedef struct trv_torus {
    int dims;               /* number of dimensions, 1 … TRV_DIMS_MAX */
    int size[TRV_DIMS_MAX]; /* ranks along each dimension, >= 1; 0 beyond dims */
    int ranks;              /* their product, <= 2^30 */
    unsigned lines;         /* bit d: dimension d is a line */
} trv_torus_t;

/* Ports: from dimension d and sign, +1 or -1, to the port's number, and back; the port in the opposite direction, by
 * which a message over that link arrives; the number of ports, of which those without a link count, too. */
static inline int trv_port(int dimension, int sign) { return 2 * dimension + (sign < 0); }
static inline int trv_port_dimension(int port) { return port / 2; }
static inline int trv_port_sign(int port) { return port % 2 ? -1 : 1; }
static inline int trv_port_opposite(int port) { return port ^ 1; }
static inline int trv_port_count(const trv_torus_t *torus) { return 2 * torus->dims; }

#define TRV_PORT_TEXT_MAX 16

/* Reads "+0", "-1": the sign and the dimension. TRV_ERR_ARGUMENT with a sentence for anything else. */
TRV_API int trv_port_parse(const char *text, int *port);

/* Writes that form to `text`, and returns `text`. */
TRV_API char *trv_port_format(int port, char text[TRV_PORT_TEXT_MAX]);

/* Initialises a torus of `dims` dimensions. TRV_ERR_ARGUMENT if there are none or too many, a size is < 1, or the
 * product exceeds 2^30. */
TRV_API int trv_torus_init(trv_torus_t *torus, int dims, const int *size);

/* Makes the dimensions of the mask lines, the others rings. TRV_ERR_ARGUMENT for a dimension that does not exist or has
 * size 1, and so no links at all. */
TRV_API int trv_torus_set_lines(trv_torus_t *torus, unsigned lines);

/* Reads "9", "8x8", "4X4X4" (sizes >= 1 separated by x), "8x8m" or "8mx8m" (m after a size: a line). TRV_ERR_ARGUMENT
 * with a sentence for anything else. */
TRV_API int trv_torus_parse(const char *text, trv_torus_t *torus);

/* Writes the form that trv_torus_parse reads to `text` (TRV_TORUS_TEXT_MAX bytes always suffice) and returns `text`. */
TRV_API char *trv_torus_format(const trv_torus_t *torus, char *text, size_t text_size);

/* The coordinates of a rank, `torus->dims` of them, and the rank at given coordinates, each in [0, size). */
TRV_API void trv_torus_coordinates(const trv_torus_t *torus, int rank, int *coordinates);
TRV_API int trv_torus_rank(const trv_torus_t *torus, const int *coordinates);

/* Walk a route one link at a time:
 *
 *     trv_route_t route;
 *     int port, node = from;
 *     trv_route_begin(&route, torus, from, to, port_of_message, mirrored);
 *     while ((port = trv_route_next(&route, &node)) >= 0)
 *         … the link that leaves `node` by `port` …
 *
 * The message travels the dimension of its port first, in the direction of the port (even if that is the longer way
 * round), then the other dimensions in ascending order, each the shorter way; half way round it goes in direction +, or
 * - if `mirrored`. Along a line there is only one direction to the target, whatever the port. This is minimal
 * dimension-order routing, as in the reference simulator. */
typedef struct trv_route {
    const trv_torus_t *torus;
    int coordinates[TRV_DIMS_MAX];
    int hops[TRV_DIMS_MAX];  /* remaining along each dimension, >= 0 */
    int sign[TRV_DIMS_MAX];  /* direction in each dimension, +1 or -1 */
    int order[TRV_DIMS_MAX]; /* dimensions in order of travel */
    int leg;                 /* index into order */
    int next;                /* the node that the next link leaves from */
} trv_route_t;

TRV_API void trv_route_begin(trv_route_t *route, const trv_torus_t *torus, int from, int to, int port, int mirrored);

/* The port by which the message leaves its current node, which is stored in *node, or -1 if it has arrived. */
TRV_API int trv_route_next(trv_route_t *route, int *node);

/* Hops of the whole route. */
TRV_API int trv_route_length(const trv_route_t *route);

#ifdef __cplusplus
}
#endif
#endif
