/*
 * Tori: parsing, formatting, coordinates and neighbours. Ranks are numbered row-major, the last dimension fastest.
 */
#include <trivance/torus.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

#define RANKS_MAX (1 << 30)

int trv_port_parse(const char *text, int *port)
{
    if ((text[0] != '+' && text[0] != '-') || text[1] < '0' || text[1] >= '0' + TRV_DIMS_MAX || text[2])
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a port: expected + or - and a dimension from 0 to %d, for example +0", text,
                        TRV_DIMS_MAX - 1);
    *port = trv_port(text[1] - '0', text[0] == '-' ? -1 : 1);
    return TRV_OK;
}

char *trv_port_format(int port, char text[TRV_PORT_TEXT_MAX])
{
    snprintf(text, TRV_PORT_TEXT_MAX, "%c%d", trv_port_sign(port) > 0 ? '+' : '-', trv_port_dimension(port));
    return text;
}

int trv_torus_init(trv_torus_t *torus, int dims, const int *size)
{
    if (dims < 1 || dims > TRV_DIMS_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "a torus has 1 to %d dimensions, not %d; for example 8x8x8", TRV_DIMS_MAX,
                        dims);
    memset(torus, 0, sizeof *torus);
    long long ranks = 1;
    for (int d = 0; d < dims; d++) {
        if (size[d] < 1)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "dimension %d of the torus has size %d; sizes start at 1, for example 4x8", d, size[d]);
        ranks *= size[d];
        if (ranks > RANKS_MAX)
            return trv_fail(TRV_ERR_ARGUMENT,
                            "the torus has more than 2^30 ranks, the maximum; allowed is, for example, 1024x1024");
        torus->size[d] = size[d];
    }
    torus->dims = dims;
    torus->ranks = (int)ranks;
    return TRV_OK;
}

int trv_torus_set_lines(trv_torus_t *torus, unsigned lines)
{
    for (int d = 0; d < 32; d++)
        if (lines >> d & 1 && (d >= torus->dims || torus->size[d] == 1))
            return d >= torus->dims
                       ? trv_fail(TRV_ERR_ARGUMENT, "dimension %d cannot be a line: the dimensions are 0 to %d", d,
                                  torus->dims - 1)
                       : trv_fail(TRV_ERR_ARGUMENT,
                                  "dimension %d has size 1, and therefore no links, so it cannot be a line; leave out "
                                  "the m, for example 1x8m",
                                  d);
    torus->lines = lines;
    return TRV_OK;
}

static int fail_form(const char *text)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "'%.40s' is not a torus: expected sizes separated by the letter x, with m after the size of a "
                    "dimension without wrap-around, for example 9, 4x4x4 or 8x8m",
                    text);
}

int trv_torus_parse(const char *text, trv_torus_t *torus)
{
    int size[TRV_DIMS_MAX];
    int dims = 0;
    unsigned lines = 0;
    const char *p = text;
    for (;;) {
        if (!isdigit((unsigned char)*p))
            return fail_form(text);
        long long value = 0;
        for (; isdigit((unsigned char)*p); p++) {
            value = value * 10 + (*p - '0');
            if (value > RANKS_MAX)
                return trv_fail(TRV_ERR_ARGUMENT,
                                "'%.40s' is too large: a torus has at most 2^30 ranks, for example 1024x1024", text);
        }
        if (dims == TRV_DIMS_MAX)
            return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' has more than %d dimensions, the maximum; for example 4x4x4",
                            text, TRV_DIMS_MAX);
        if (value == 0)
            return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' has a dimension of size 0; sizes start at 1, for example 4x8",
                            text);
        if (*p == 'm' || *p == 'M') {
            lines |= 1u << dims;
            p++;
        }
        size[dims++] = (int)value;
        if (*p == '\0') {
            int rc = trv_torus_init(torus, dims, size);
            return rc ? rc : trv_torus_set_lines(torus, lines);
        }
        if (*p != 'x' && *p != 'X')
            return fail_form(text);
        p++;
    }
}

char *trv_torus_format(const trv_torus_t *torus, char *text, size_t text_size)
{
    size_t used = 0;
    if (text_size > 0)
        text[0] = '\0';
    for (int d = 0; d < torus->dims && used < text_size; d++)
        used += (size_t)snprintf(text + used, text_size - used, "%s%d%s", d ? "x" : "", torus->size[d],
                                 trv_torus_is_line(torus, d) ? "m" : "");
    return text;
}

void trv_torus_coordinates(const trv_torus_t *torus, int rank, int *coordinates)
{
    for (int d = torus->dims - 1; d >= 0; d--) {
        coordinates[d] = rank % torus->size[d];
        rank /= torus->size[d];
    }
}

int trv_torus_rank(const trv_torus_t *torus, const int *coordinates)
{
    int rank = 0;
    for (int d = 0; d < torus->dims; d++)
        rank = rank * torus->size[d] + coordinates[d];
    return rank;
}

/* Difference between the numbers of two ranks that are neighbours along `dimension`. */
static int stride_of(const trv_torus_t *torus, int dimension)
{
    int stride = 1;
    for (int d = dimension + 1; d < torus->dims; d++)
        stride *= torus->size[d];
    return stride;
}

int trv_torus_coordinate(const trv_torus_t *torus, int rank, int dimension)
{
    return rank / stride_of(torus, dimension) % torus->size[dimension];
}

int trv_torus_move(const trv_torus_t *torus, int rank, int dimension, int coordinate)
{
    return rank + (coordinate - trv_torus_coordinate(torus, rank, dimension)) * stride_of(torus, dimension);
}

int trv_torus_shift(const trv_torus_t *torus, int rank, int dimension, int delta)
{
    int size = torus->size[dimension];
    int coordinate = (int)(((long long)trv_torus_coordinate(torus, rank, dimension) + delta) % size);
    return trv_torus_move(torus, rank, dimension, coordinate < 0 ? coordinate + size : coordinate);
}

int trv_torus_neighbour(const trv_torus_t *torus, int rank, int port)
{
    const int d = trv_port_dimension(port), sign = trv_port_sign(port), last = sign > 0 ? torus->size[d] - 1 : 0;
    if (torus->size[d] == 1 || (trv_torus_is_line(torus, d) && trv_torus_coordinate(torus, rank, d) == last))
        return -1;
    return trv_torus_shift(torus, rank, d, sign);
}

int trv_torus_route_port(const trv_torus_t *torus, int from, int to)
{
    int at[TRV_DIMS_MAX], target[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, from, at);
    trv_torus_coordinates(torus, to, target);
    for (int d = 0; d < torus->dims; d++) {
        const int size = torus->size[d], up = (target[d] - at[d] + size) % size;
        if (up > 0)
            return trv_port(d, (trv_torus_is_line(torus, d) ? target[d] > at[d] : 2 * up <= size) ? 1 : -1);
    }
    return 0;
}

int trv_torus_ports(const trv_torus_t *torus)
{
    int ports = 0;
    for (int d = 0; d < torus->dims; d++)
        ports += torus->size[d] == 1 ? 0 : torus->size[d] == 2 && trv_torus_is_line(torus, d) ? 1 : 2;
    return ports;
}

int trv_torus_displace(const trv_torus_t *torus, int rank, int displacement, int sign)
{
    int at[TRV_DIMS_MAX], by[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, rank, at);
    trv_torus_coordinates(torus, displacement, by);
    for (int d = 0; d < torus->dims; d++)
        at[d] = (at[d] + (sign < 0 ? torus->size[d] - by[d] : by[d])) % torus->size[d];
    return trv_torus_rank(torus, at);
}
