/*
 * The emulator's control socket: it answers every request, reports errors in it, and changes only what was requested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "testbed/emulator/torusnet.h"

#define BANDWIDTH 50e6
#define LATENCY   2000000
#define ABOUT     "torus 3x1x3\n"

typedef struct server {
    tn_net_t net;
    int listening;
    char folder[32], path[48];
} server_t;

static int begin(void **state)
{
    static server_t server;
    trv_torus_t torus;
    snprintf(server.folder, sizeof server.folder, "/tmp/trv-control-XXXXXX");
    assert_non_null(mkdtemp(server.folder));
    snprintf(server.path, sizeof server.path, "%s/control", server.folder);
    assert_int_equal(trv_torus_parse("3x1x3", &torus), TRV_OK);
    assert_int_equal(tn_net_create(&server.net, &torus, BANDWIDTH, LATENCY), TRV_OK);
    server.listening = tn_control_open(server.path);
    assert_true(server.listening >= 0);
    *state = &server;
    return 0;
}

static int end(void **state)
{
    server_t *server = *state;
    close(server->listening);
    unlink(server->path);
    rmdir(server->folder);
    tn_net_destroy(&server->net);
    return 0;
}

/* Returns the answer to a request of `bytes` bytes. */
static const char *ask_bytes(server_t *server, const void *request, size_t bytes)
{
    static char answer[1 << 14];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t used = 0;
    strcpy(address.sun_path, server->path);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(client, request, bytes, MSG_NOSIGNAL), bytes);
    tn_control_answer(&server->net, server->listening, ABOUT);
    for (ssize_t got; (got = recv(client, answer + used, sizeof answer - 1 - used, 0)) > 0;)
        used += (size_t)got;
    close(client);
    answer[used] = '\0';
    return answer;
}

static const char *ask(server_t *server, const char *line) { return ask_bytes(server, line, strlen(line)); }

static bool unchanged(const tn_net_t *net)
{
    for (int i = 0; i < net->torus.ranks * net->ports; i++)
        if (net->link[i].bandwidth_bps != BANDWIDTH || net->link[i].latency_ns != LATENCY || net->link[i].down)
            return false;
    return true;
}

static void test_changes(void **state)
{
    server_t *server = *state;
    tn_link_t *link = &server->net.link[4 * server->net.ports + 1];
    assert_string_equal(ask(server, "link 4 1 bandwidth 1000000\n"), "ok\n");
    assert_true(link->bandwidth_bps == 1e6);
    assert_string_equal(ask(server, "link 4 1 latency 0\n"), "ok\n");
    assert_int_equal(link->latency_ns, 0);
    assert_string_equal(ask(server, "link 4 1 down\n"), "ok\n");
    assert_true(link->down && !link[1].down && !link[-1].down);
    assert_non_null(strstr(ask(server, "links\n"), "\n4 1 1000000 0 0 "));
    assert_int_equal(strncmp(ask(server, "status\n"), "ok\n" ABOUT, strlen("ok\n" ABOUT)), 0);
    *link = link[1];
    /* Both directions: 4 is in the middle of a row. */
    assert_string_equal(ask(server, "both 4 0 down\n"), "ok\n");
    assert_true(link[-1].down && !link->down);
    assert_string_equal(ask(server, "route\n"), "ok\n");
    assert_string_equal(ask(server, "both 4 0 up\n"), "ok\n");
    assert_true(unchanged(&server->net));
    assert_string_equal(ask(server, "route\n"), "ok\n");
    /* The ends of lines have no wrap-around links. */
    server->net.torus.lines = 1;
    assert_non_null(strstr(ask(server, "link 0 1 down\n"), "error no link leaves node 0 through port -0"));
    assert_null(strstr(ask(server, "links\n"), "\n0 1 "));
    server->net.torus.lines = 0;
    /* All links of a node, in both directions. */
    assert_string_equal(ask(server, "node 0 down\n"), "ok\n");
    int down = 0;
    for (int i = 0; i < 9 * server->net.ports; i++)
        down += server->net.link[i].down;
    assert_int_equal(down, 10); /* four in each direction, and two to itself in the dimension of size one */
    assert_string_equal(ask(server, "node 0 up\n"), "ok\n");
    assert_true(unchanged(&server->net));
}

/* A cable is pulled and plugged in at both ends; its other properties belong to one direction. */
static void test_cables(void **state)
{
    server_t *server = *state;
    tn_link_t *link = server->net.link;
    const int ports = server->net.ports;
    assert_int_equal(tn_net_use_cables(&server->net, BANDWIDTH / 20, LATENCY), TRV_OK);
    assert_string_equal(ask(server, "link 3 4 down\n"), "ok\n");
    assert_true(link[3 * ports + 4].down && link[4 * ports + 5].down);
    assert_string_equal(ask(server, "link 4 5 up\n"), "ok\n");
    assert_true(unchanged(&server->net));
    assert_string_equal(ask(server, "link 3 4 bandwidth 1000000\n"), "ok\n");
    assert_true(link[3 * ports + 4].bandwidth_bps == 1e6 && link[4 * ports + 5].bandwidth_bps == BANDWIDTH);
    assert_non_null(strstr(ask(server, "status\n"), "\nmanagement_bytes 0\n"));
}

static void test_invalid_requests(void **state)
{
    static const struct {
        const char *request, *answer;
    } wrong[] = {
        {"hello\n", "error unknown request"},
        {"\n", "error unknown request"},
        {"link\n", "error unknown request"},
        {"link 0\n", "error unknown request"},
        {"link 0 0\n", "error expected a bandwidth"},
        {"link 0 0 sideways\n", "error expected a bandwidth"},
        {"link 0 0 down 3\n", "error expected a bandwidth"},
        {"link 0 0 bandwidth\n", "error expected a bandwidth"},
        {"link 0 0 bandwidth 999\n", "error expected a bandwidth"},
        {"link 0 0 bandwidth 1e13\n", "error expected a bandwidth"},
        {"link 0 0 bandwidth nan\n", "error expected a bandwidth"},
        {"link 0 0 latency -1\n", "error expected a bandwidth"},
        {"link 0 0 latency inf\n", "error expected a bandwidth"},
        {"link 9 0 down\n", "error node 9 does"},
        {"link -1 0 down\n", "error node -1 does"},
        {"link 0 6 down\n", "error port +3 does"},
        {"link 0 -1 down\n", "error port "},
        {"link 0 2 down\n", "error dimension 1 has one node"},
        {"node 9 down\n", "error node 9 does"},
        {"node x down\n", "error unknown request"},
        {"status", "error expected a request of one line"},
        {"status\nlinks", "error expected a request of one line"},
    };
    server_t *server = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(strncmp(ask(server, wrong[i].request), wrong[i].answer, strlen(wrong[i].answer)), 0);
    assert_true(unchanged(&server->net));
}

/* Requests that are too long, binary, or empty. */
static void test_malformed_requests(void **state)
{
    static char garbage[5000];
    server_t *server = *state;
    uint64_t random = 1;
    for (int length = 0; length < 5000; length += 1 + length / 8) {
        for (int i = 0; i < length; i++)
            garbage[i] = (char)((random = random * 6364136223846793005u + 1442695040888963407u) >> 56);
        assert_int_equal(strncmp(ask_bytes(server, garbage, (size_t)length), "error ", 6), 0);
    }
    assert_int_equal(strncmp(ask_bytes(server, "status\0\n", 8), "error ", 6), 0);
    memset(garbage, ' ', sizeof garbage);
    memcpy(garbage, "link 0 0 down", 13);
    garbage[sizeof garbage - 1] = '\n';
    assert_int_equal(strncmp(ask_bytes(server, garbage, sizeof garbage), "error ", 6), 0);
    assert_true(unchanged(&server->net));
    assert_int_equal(strncmp(ask(server, "status\n"), "ok\n", 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_changes, begin, end),
        cmocka_unit_test_setup_teardown(test_cables, begin, end),
        cmocka_unit_test_setup_teardown(test_invalid_requests, begin, end),
        cmocka_unit_test_setup_teardown(test_malformed_requests, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
