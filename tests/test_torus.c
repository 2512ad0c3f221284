/*
 * Tori: accepted and rejected texts, coordinates, routes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/torus.h>

#include "torus/torus.h"

static void parses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int dims, ranks;
        const char *written;
    } cases[] = {
        {"9", 1, 9, "9"},
        {"1", 1, 1, "1"},
        {"3x3", 2, 9, "3x3"},
        {"4X4x8", 3, 128, "4x4x8"},
        {"007x2", 2, 14, "7x2"},
        {"2x2x2x2x2x2x2x2", 8, 256, "2x2x2x2x2x2x2x2"},
        {"32768x32768", 2, 1 << 30, "32768x32768"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_torus_t torus;
        char text[TRV_TORUS_TEXT_MAX];
        assert_int_equal(trv_torus_parse(cases[i].text, &torus), TRV_OK);
        assert_int_equal(torus.dims, cases[i].dims);
        assert_int_equal(torus.ranks, cases[i].ranks);
        assert_string_equal(trv_torus_format(&torus, text, sizeof text), cases[i].written);
    }
}

static void rejects(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "not a torus"},
        {"x", "not a torus"},
        {"3x", "not a torus"},
        {"x3", "not a torus"},
        {"3xx3", "not a torus"},
        {"-3", "not a torus"},
        {"3*3", "expected sizes separated by the letter x"},
        {" 9", "not a torus"},
        {"9 ", "expected sizes separated by the letter x"},
        {"0x4", "size 0"},
        {"4x0", "size 0"},
        {"9999999999x2", "too large"},
        {"32769x32768", "2^30"},
        {"99999999999999999999999", "too large"},
        {"1x1x1x1x1x1x1x1x1", "more than 8 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_torus_t torus;
        assert_int_equal(trv_torus_parse(cases[i].text, &torus), TRV_ERR_ARGUMENT);
        assert_non_null(strstr(trv_last_error(), cases[i].reason));
    }
}

static void coordinates_and_ranks(void **state)
{
    (void)state;
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse("3x1x5x2", &torus), TRV_OK);
    for (int rank = 0; rank < torus.ranks; rank++) {
        int c[TRV_DIMS_MAX];
        trv_torus_coordinates(&torus, rank, c);
        assert_int_equal(rank, ((c[0] * 1 + c[1]) * 5 + c[2]) * 2 + c[3]); /* row-major, last fastest */
        assert_int_equal(trv_torus_rank(&torus, c), rank);
        for (int d = 0; d < torus.dims; d++) {
            assert_int_equal(trv_torus_coordinate(&torus, rank, d), c[d]);
            assert_int_equal(trv_torus_shift(&torus, trv_torus_shift(&torus, rank, d, -7), d, 7), rank);
        }
    }
    int active[TRV_DIMS_MAX];
    assert_int_equal(trv_torus_active(&torus, active), 3);
    assert_int_equal(active[1], 2);
}

/* Walks a route; checks that every link leads to where the next one starts, and returns its length. */
static int walk(const trv_torus_t *torus, int from, int to, int port, int mirrored, int *ports)
{
    trv_route_t route;
    int node = -1, at = from, hops = 0, next;
    trv_route_begin(&route, torus, from, to, port, mirrored);
    int promised = trv_route_length(&route);
    while ((next = trv_route_next(&route, &node)) >= 0) {
        assert_int_equal(node, at);
        at = trv_torus_shift(torus, at, trv_port_dimension(next), trv_port_sign(next));
        ports[hops++] = next;
        assert_true(hops <= 64);
    }
    assert_int_equal(at, to);
    assert_int_equal(hops, promised);
    return hops;
}

static void routes(void **state)
{
    (void)state;
    trv_torus_t torus;
    int ports[64];
    assert_int_equal(trv_torus_parse("8x5", &torus), TRV_OK);
    /* Every pair, starting with every port of dimension 1: in the port's direction first, then the shorter way. */
    for (int from = 0; from < torus.ranks; from++)
        for (int to = 0; to < torus.ranks; to++) {
            int down = (to / 5 - from / 5 + 8) % 8, right = (to % 5 - from % 5 + 5) % 5;
            int shorter = down <= 4 ? down : 8 - down;
            assert_int_equal(walk(&torus, from, to, trv_port(1, 1), 0, ports), right + shorter);
            assert_int_equal(walk(&torus, from, to, trv_port(1, -1), 0, ports), (5 - right) % 5 + shorter);
        }
    /* Half way round in a later dimension: + , in a mirrored stream -. */
    assert_int_equal(walk(&torus, 0, 21, trv_port(1, 1), 0, ports), 5);
    assert_int_equal(ports[0], trv_port(1, 1));
    assert_int_equal(ports[1], trv_port(0, 1));
    assert_int_equal(walk(&torus, 0, 21, trv_port(1, 1), 1, ports), 5);
    assert_int_equal(ports[1], trv_port(0, -1));
    /* The long way round, as the port demands. */
    assert_int_equal(walk(&torus, 0, 1, trv_port(1, -1), 0, ports), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses),
        cmocka_unit_test(rejects),
        cmocka_unit_test(coordinates_and_ranks),
        cmocka_unit_test(routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
