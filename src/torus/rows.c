/*
 * Finds the rows of a network that are lines from its cut links.
 */
#include "torus/rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

static int row_of_rank(const trv_torus_t *torus, int rank, int dimension)
{
    return trv_torus_move(torus, rank, dimension, 0);
}

int trv_link_check(const trv_torus_t *torus, const trv_slow_link_t *link)
{
    char text[TRV_TORUS_TEXT_MAX], port[TRV_PORT_TEXT_MAX];
    const int d = trv_port_dimension(link->port), sign = trv_port_sign(link->port);
    trv_torus_format(torus, text, sizeof text);
    if (link->rank < 0 || link->rank >= torus->ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "no link leaves rank %d: the ranks of %s are 0 to %d", link->rank, text,
                        torus->ranks - 1);
    if (link->port < 0 || d >= torus->dims || torus->size[d] == 1)
        return trv_fail(TRV_ERR_ARGUMENT, "no link leaves rank %d by port %s: %s has %s", link->rank,
                        trv_port_format(link->port, port), text,
                        d < torus->dims ? "one rank along that dimension" : "fewer dimensions");
    if (trv_torus_is_line(torus, d) &&
        trv_torus_coordinate(torus, link->rank, d) == (sign > 0 ? torus->size[d] - 1 : 0))
        return trv_fail(TRV_ERR_ARGUMENT, "no link leaves rank %d by port %s: it is the last of its line on %s",
                        link->rank, trv_port_format(link->port, port), text);
    if (!trv_slow_factor_is_valid(link->factor))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "a slow link has a factor from 1 to %.0f, for example 4, or INFINITY if it is down, not %g",
                        TRV_SLOW_FACTOR_MAX, link->factor);
    return TRV_OK;
}

static int row_compare(const void *left, const void *right)
{
    const trv_row_t *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension - b->dimension;
    return (a->row > b->row) - (a->row < b->row);
}

/* The row that a cut link opens. The row begins at the link's receiver if the link points up, and at its sender if the
 * link points down. */
static trv_row_t row_open(const trv_torus_t *torus, const trv_slow_link_t *cut)
{
    const int d = trv_port_dimension(cut->port), coordinate = trv_torus_coordinate(torus, cut->rank, d);
    const int start = trv_port_sign(cut->port) > 0 ? (coordinate + 1) % torus->size[d] : coordinate;
    return (trv_row_t){.dimension = d,
                       .row = row_of_rank(torus, cut->rank, d),
                       .start = start,
                       .cut = trv_port_sign(cut->port) > 0 ? 1 : 2};
}

/* The algorithms for rows in two parts. */
static const char supported[] =
    "supported only by trees of links: spanning-trees for AllReduce, over links that are "
    "whole in both directions, and disjoint-trees for Broadcast and Reduce; or plan for the "
    "set of all nodes";

static int rows_fail_two_cuts(const trv_torus_t *torus, const trv_row_t *row, double avoid)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_torus_format(torus, text, sizeof text);
    if (isfinite(avoid))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "links that are %g times as slow or slower cannot all be avoided: the row of rank %d along "
                        "dimension %d of %s would be in two parts",
                        avoid, row->row, row->dimension, text);
    if (trv_torus_is_line(torus, row->dimension))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "the cut divides the row of rank %d along dimension %d of %s into two parts, which is %s",
                        row->row, row->dimension, text, supported);
    return trv_fail(TRV_ERR_UNSUPPORTED,
                    "the row of rank %d along dimension %d of %s is cut in two places, in one direction or both, which "
                    "is %s",
                    row->row, row->dimension, text, supported);
}

/* Sorts the opened rows and merges duplicates: a row is listed twice if both directions of one link are cut. A row that
 * is cut in two is an error unless `allow_split` is true; then a row of a ring begins behind one of its cuts, and a row
 * of a line dimension is omitted. */
static int rows_merge(trv_rows_t *rows, double avoid, bool allow_split)
{
    int kept = 0;
    qsort(rows->opened, (size_t)rows->open, sizeof *rows->opened, row_compare);
    for (int i = 0; i < rows->open; i++) {
        const trv_row_t *row = &rows->opened[i];
        const bool again = kept > 0 && row_compare(row, &rows->opened[kept - 1]) == 0;
        const bool line = trv_torus_is_line(&rows->torus, row->dimension);
        if ((line || (again && rows->opened[kept - 1].start != row->start)) && !allow_split)
            return rows_fail_two_cuts(&rows->torus, row, avoid);
        if (line)
            continue;
        if (again)
            rows->opened[kept - 1].cut |= row->cut;
        else
            rows->opened[kept++] = *row;
    }
    rows->open = kept;
    return TRV_OK;
}

/* In a dimension with opened rows, the rows without a cut begin where the first opened row begins. */
static void rows_find_starts(trv_rows_t *rows)
{
    for (int i = 0; i < rows->open; i++) {
        const trv_row_t *row = &rows->opened[i];
        const unsigned bit = 1u << row->dimension;
        if (!(rows->lines & bit))
            rows->start[row->dimension] = row->start;
        else if (rows->start[row->dimension] != row->start)
            rows->uneven |= bit;
        rows->lines |= bit;
    }
}

typedef struct entry {
    const trv_slow_link_t *link; /* entries of one array: of two entries for the same link the later one counts */
} entry_t;

static int entry_compare(const void *left, const void *right)
{
    const trv_slow_link_t *a = ((const entry_t *)left)->link, *b = ((const entry_t *)right)->link;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->port != b->port ? a->port - b->port : (a > b) - (a < b);
}

/* Opens the rows of all links that are slower than normal by a factor of at least `avoid`. */
static int rows_open(trv_rows_t *rows, const trv_network_t *network, double avoid)
{
    const int links = network->slow_links;
    entry_t *entry = malloc(((size_t)links + 1) * sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    for (int i = 0; i < links; i++)
        entry[i].link = &network->slow_link[i];
    qsort(entry, (size_t)links, sizeof *entry, entry_compare);
    for (int i = 0; i < links; i++) {
        const trv_slow_link_t *link = entry[i].link, *next = i + 1 < links ? entry[i + 1].link : NULL;
        const bool last = !next || next->rank != link->rank || next->port != link->port;
        if (last && link->factor >= avoid)
            rows->opened[rows->open++] = row_open(&network->torus, link);
    }
    free(entry);
    return TRV_OK;
}

static int rows_create(trv_rows_t **out, const trv_network_t *network, double avoid, bool allow_split)
{
    *out = NULL;
    int rc = trv_check_size(network->size, sizeof *network, "TRV_NETWORK");
    if (rc)
        return rc;
    trv_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows)
        return trv_fail_memory();
    rows->torus = network->torus;
    rows->lines = network->torus.lines;
    rows->opened = malloc(((size_t)network->slow_links + 1) * sizeof *rows->opened);
    rc = rows->opened ? TRV_OK : trv_fail_memory();
    for (int i = 0; i < network->slow_links && !rc; i++)
        rc = trv_link_check(&network->torus, &network->slow_link[i]);
    if (!rc && network->slow_links > 0)
        rc = rows_open(rows, network, avoid);
    if (!rc)
        rc = rows_merge(rows, avoid, allow_split);
    if (rc) {
        trv_rows_destroy(rows);
        return rc;
    }
    rows_find_starts(rows);
    *out = rows;
    return TRV_OK;
}

int trv_rows_create(trv_rows_t **out, const trv_network_t *network, double avoid)
{
    return rows_create(out, network, avoid, false);
}

int trv_rows_create_any(trv_rows_t **out, const trv_network_t *network)
{
    return rows_create(out, network, INFINITY, true);
}

void trv_rows_destroy(trv_rows_t *rows)
{
    if (rows)
        free(rows->opened);
    free(rows);
}

int trv_network_check(const trv_network_t *network)
{
    trv_rows_t *rows;
    int rc = trv_rows_create(&rows, network, INFINITY);
    trv_rows_destroy(rows);
    return rc;
}

/* Returns NULL if no link of the row is cut. */
static const trv_row_t *row_find_opened(const trv_rows_t *rows, int rank, int dimension)
{
    const trv_row_t key = {.dimension = dimension, .row = row_of_rank(&rows->torus, rank, dimension)};
    return bsearch(&key, rows->opened, (size_t)rows->open, sizeof key, row_compare);
}

int trv_row_start(const trv_rows_t *rows, int rank, int dimension)
{
    const trv_row_t *opened = rows->uneven >> dimension & 1 ? row_find_opened(rows, rank, dimension) : NULL;
    return opened ? opened->start : rows->start[dimension];
}

int trv_row_position(const trv_rows_t *rows, int rank, int dimension)
{
    const int size = rows->torus.size[dimension];
    return (trv_torus_coordinate(&rows->torus, rank, dimension) - trv_row_start(rows, rank, dimension) + size) % size;
}

int trv_row_rank(const trv_rows_t *rows, int rank, int dimension, int position)
{
    const int start = trv_row_start(rows, rank, dimension);
    return trv_torus_move(&rows->torus, rank, dimension, (position + start) % rows->torus.size[dimension]);
}

/* The direction of a message on its row: `sign`, unless a link of the row is cut in that direction; then the direction
 * that does not pass the cut, which may be `sign`, too. */
static int row_sign(const trv_rows_t *rows, int from, int to, int dimension, int sign)
{
    const trv_row_t *opened = rows->lines >> dimension & 1 ? row_find_opened(rows, from, dimension) : NULL;
    if (!opened || !(opened->cut & (sign > 0 ? 1u : 2u)))
        return sign;
    const int size = rows->torus.size[dimension];
    const int sender_position = (trv_torus_coordinate(&rows->torus, from, dimension) - opened->start + size) % size;
    const int receiver_position = (trv_torus_coordinate(&rows->torus, to, dimension) - opened->start + size) % size;
    return receiver_position > sender_position ? 1 : -1;
}

int trv_row_first_port(const trv_rows_t *rows, int from, int to)
{
    const trv_torus_t *torus = &rows->torus;
    int first = 0, up = 0, sender = from, receiver = to;
    for (int d = torus->dims - 1; d >= 0 && sender != receiver; d--) {
        const int ahead = receiver % torus->size[d] - sender % torus->size[d];
        first = ahead != 0 ? d : first;
        up = ahead != 0 ? ahead : up;
        sender /= torus->size[d];
        receiver /= torus->size[d];
    }
    if (trv_torus_is_line(torus, first))
        return trv_port(first, up);
    const int size = torus->size[first], forward = up < 0 ? up + size : up;
    return trv_port(first, row_sign(rows, from, to, first, 2 * forward <= size ? 1 : -1));
}
