/*
 * Assignment of interfaces to ports, for typical networks and the routes of their hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/ports/map.h"

enum { RANKS_MAX = 64 };

static trv_topology_record_t record[RANKS_MAX];
static trv_map_t map[RANKS_MAX];
static trv_topology_records_t records;

/* Initializes the records of all ranks: rank r is at position r, with on_host consecutive ranks on each host. */
static void records_init(const char *text, int on_host, int interfaces)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), TRV_OK);
    assert_true(torus.ranks <= RANKS_MAX);
    memset(record, 0, sizeof record);
    for (int r = 0; r < torus.ranks; r++) {
        record[r].host = (uint64_t)(r / on_host);
        record[r].coordinate = r;
        record[r].interfaces = interfaces;
        memset(record[r].routed, TRV_NO_INTERFACE, sizeof record[r].routed);
        memset(record[r].beyond, 0xFF, sizeof record[r].beyond); /* hosts forward */
        for (int i = 0; i < interfaces; i++) {
            record[r].interface[i].speed_mbps = 10000;
            record[r].interface[i].near = true;
        }
    }
    assert_int_equal(trv_topology_records_init(&records, &torus, record, torus.ranks), TRV_OK);
}

/* Sets the routes of a rank to interface j of the neighbour at port `port`: packets leave by `routed`, or by the
 * interface to which their socket is bound if it is in the bit mask `reachable`. */
static void set_route(int rank, int port, int j, int usual, unsigned able)
{
    if (trv_topology_records_neighbour(&records, rank, port) < 0)
        return;
    record[rank].routed[port][j] = (uint8_t)usual;
    record[rank].reachable[port][j] = (uint16_t)able;
}

static void map_assign(void)
{
    trv_topology_records_assign(&records, map);
    for (int r = 0; r < records.ranks; r++)
        for (int w = 0; w < TRV_PORTS_MAX; w++) {
            assert_true(map[r].leave[w] < record[r].interfaces && map[r].arrive[w] < record[r].interfaces);
            assert_true(trv_topology_record_usable(&record[r]) >> map[r].leave[w] & 1);
            assert_true(trv_topology_record_usable(&record[r]) >> map[r].arrive[w] & 1);
        }
}

/* Bit mask of the dimensions whose two ports share one interface on some rank. */
static unsigned shared_dimensions(void)
{
    bool one;
    return trv_topology_records_shared_paths(&records, map, &one) & ((1u << records.torus.dims) - 1);
}

/* As in the testbed: interface w leads to the neighbour at port w, and packets leave by the interface to which they are
 * bound. */
static void test_interface_per_port(void **state)
{
    static const char *const tori[] = {"3", "9", "2x3", "3x3", "3x2m", "2x2x2"};
    (void)state;
    for (size_t t = 0; t < sizeof tori / sizeof tori[0]; t++) {
        records_init(tori[t], 1, 6);
        const int ports = 2 * records.torus.dims;
        for (int r = 0; r < records.ranks; r++)
            for (int w = 0; w < ports; w++)
                for (int j = 0; j < ports; j++) {
                    /* If both ports lead to the same neighbour, each of its two interfaces leads back. */
                    const bool two = records.torus.size[w / 2] == 2 && !(records.torus.lines >> (w / 2) & 1);
                    const int usual = !two ? w : j / 2 == w / 2 ? j ^ 1 : w & ~1;
                    set_route(r, w, j, usual, (1u << ports) - 1);
                }
        map_assign();
        for (int r = 0; r < records.ranks; r++)
            for (int w = 0; w < ports; w++) {
                if (trv_topology_records_neighbour(&records, r, w) >= 0)
                    assert_int_equal(map[r].leave[w], w);
                if (trv_topology_records_neighbour(&records, r, w ^ 1) >= 0)
                    assert_int_equal(map[r].arrive[w], w ^ 1);
            }
        assert_int_equal(shared_dimensions(), 0);
        trv_topology_records_clear(&records);
    }
}

/* Cables between neighbours (interface 1: +, 2: -), in addition to a network of all hosts (0). */
static void test_cables(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        records_init("5", 1, 3);
        for (int r = 0; r < 5; r++) {
            record[r].interface[0].speed_mbps = slow ? 1000 : 10000;
            for (int w = 0; w < 2; w++)
                for (int j = 0; j < 3; j++) /* j == 2 - w is the other end of the cable */
                    set_route(r, w, j, j == 2 - w ? 1 + w : 0, j == 2 - w ? 1u << (1 + w) : 1);
        }
        map_assign();
        for (int r = 0; r < 5; r++)
            for (int w = 0; w < 2; w++) {
                assert_int_equal(map[r].leave[w], 1 + w);
                assert_int_equal(map[r].arrive[w], 2 - w);
            }
        assert_int_equal(shared_dimensions(), 0);
        trv_topology_records_clear(&records);
    }
}

/* Two networks of all hosts that are not connected: messages leave and arrive in the same network, also if the routes
 * to ranks two hops away are not known, as under MPI. */
static void test_rails(void **state)
{
    int rank, port;
    (void)state;
    for (int known = 0; known < 2; known++) {
        records_init("3x3", 1, 2);
        records.forwards = !known;
        for (int r = 0; r < 9; r++) {
            memset(record[r].beyond, known ? 0xFF : 0, sizeof record[r].beyond);
            for (int w = 0; w < 4; w++)
                for (int j = 0; j < 2; j++)
                    set_route(r, w, j, j, 1u << j);
        }
        map_assign();
        for (int r = 0; r < 9; r++)
            for (int w = 0; w < 4; w++) {
                assert_int_equal(map[r].leave[w], w % 2);
                assert_int_equal(map[r].arrive[w], w % 2);
            }
        assert_int_equal(shared_dimensions(), 0);
        assert_true(trv_topology_records_forward(&records, map, &rank, &port));
        trv_topology_records_clear(&records);
    }
}

/* Two interfaces in one network: without source routing, packets bound to the second one leave by the first. */
static void test_one_network(void **state)
{
    (void)state;
    for (int by_source = 0; by_source < 2; by_source++) {
        records_init("4", 1, 2);
        for (int r = 0; r < 4; r++)
            for (int w = 0; w < 2; w++)
                for (int j = 0; j < 2; j++)
                    set_route(r, w, j, 0, by_source ? 3 : 1);
        map_assign();
        for (int r = 0; r < 4; r++)
            assert_int_equal(map[r].leave[1], by_source);
        assert_int_equal(shared_dimensions(), by_source ? 0 : 1);
        trv_topology_records_clear(&records);
    }
}

/* Four interfaces at two PCI bridges, of which one is not attached to the cores of the process. */
static void test_bridges(void **state)
{
    (void)state;
    records_init("4", 1, 4);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 4; i++) {
            record[r].interface[i].bridge = i < 2 ? 7 : 9;
            for (int w = 0; w < 2; w++)
                set_route(r, w, i, i, 1u << i);
        }
    map_assign();
    assert_int_equal(map[0].leave[0], 0);
    assert_int_equal(map[0].leave[1], 2);
    for (int r = 0; r < 4; r++)
        record[r].interface[0].near = record[r].interface[1].near = false;
    map_assign();
    assert_int_equal(map[0].leave[0], 2);
    assert_int_equal(map[0].leave[1], 3);
    for (int r = 0; r < 4; r++)
        record[r].interface[1].speed_mbps = 40000;
    map_assign();
    assert_int_equal(map[0].leave[0], 1);
    assert_int_equal(map[0].leave[1], 1);
    assert_int_equal(shared_dimensions(), 1);
    trv_topology_records_clear(&records);
}

/* The user has assigned the interfaces of one rank, and the other ranks send to those. */
static void test_assigned_by_user(void **state)
{
    (void)state;
    records_init("3", 1, 2);
    record[1].assigned = true;
    record[1].leave[0] = 1;
    for (int r = 0; r < 3; r++)
        for (int w = 0; w < 2 && r != 1; w++)
            for (int j = 0; j < 2; j++)
                set_route(r, w, j, j, 3);
    map_assign();
    assert_int_equal(map[1].leave[0], 1);
    assert_int_equal(map[1].arrive[1], 1); /* messages of the neighbour at + */
    assert_int_equal(map[1].leave[1], 0);
    assert_int_equal(map[1].arrive[0], 0);
    trv_topology_records_clear(&records);
}

/* Hosts of four ranks: the neighbour is on the next host, for every rank of a host. */
static void test_hosts(void **state)
{
    (void)state;
    records_init("16", 4, 2);
    for (int r = 0; r < 16; r++) {
        assert_int_equal(trv_topology_records_neighbour(&records, r, 0), (r / 4 + 1) % 4 * 4);
        assert_int_equal(trv_topology_records_neighbour(&records, r, 1), (r / 4 + 3) % 4 * 4 + 3);
        assert_int_equal(trv_topology_records_neighbour(&records, r, 2), -1);
        for (int w = 0; w < 2; w++)
            for (int j = 0; j < 2; j++)
                set_route(r, w, j, w, 3);
    }
    map_assign();
    for (int r = 0; r < 16; r++)
        for (int w = 0; w < 2; w++) {
            assert_int_equal(map[r].leave[w], w);
            assert_int_equal(map[r].arrive[w], w ^ 1);
        }
    trv_topology_records_clear(&records);
    /* All ranks on one host have no neighbours. */
    records_init("4", 4, 3);
    map_assign();
    for (int w = 0; w < 2; w++)
        assert_int_equal(map[2].leave[w], 0);
    trv_topology_records_clear(&records);
}

/* Hosts with cables to their neighbours (interfaces 1 and 2) and a management network (0) that is as fast do not
 * forward. A chain lacks the cable that closes the ring. */
static void test_no_forwarding(void **state)
{
    (void)state;
    for (int hosts = 3; hosts <= 6; hosts++)
        for (int chain = 0; chain < 2; chain++) {
            char torus[16];
            int rank, port;
            snprintf(torus, sizeof torus, "%d", hosts);
            records_init(torus, 1, 3);
            for (int r = 0; r < hosts; r++) {
                memset(record[r].beyond, 0, sizeof record[r].beyond);
                for (int w = 0; w < 2; w++) {
                    const int neighbour = (r + (w ? hosts - 1 : 1)) % hosts;
                    const bool cable = !chain || (w ? r > 0 : neighbour > 0);
                    set_route(r, w, 0, 0, 1);
                    if (cable)
                        set_route(r, w, 2 - w, 1 + w, 1u << (1 + w));
                    record[r].beyond[w][0] = 1;
                    if (hosts == 3 && (!chain || (w ? r < 2 : r > 0))) /* the other neighbour, by the other cable */
                        record[r].beyond[w][1 + w] = (uint16_t)(1u << (2 - w));
                }
            }
            map_assign();
            for (int r = 0; r < hosts; r++)
                for (int w = 0; w < 2; w++) {
                    const bool cable = !chain || (w ? r > 0 : r < hosts - 1);
                    assert_int_equal(trv_topology_records_cabled(&records, map, r, w), cable);
                    assert_int_equal(map[r].leave[w], cable ? 1 + w : 0);
                    if (cable)
                        assert_int_equal(map[(r + (w ? hosts - 1 : 1)) % hosts].arrive[w], 2 - w);
                }
            assert_false(trv_topology_records_forward(&records, map, &rank, &port));
            trv_topology_records_clear(&records);
        }
}

static void test_encoding(void **state)
{
    trv_writer_t writer = {.data = NULL};
    trv_topology_record_t read;
    (void)state;
    records_init("3x3", 1, 4);
    for (int w = 0; w < 4; w++)
        for (int j = 0; j < 4; j++) {
            set_route(4, w, j, w, 1u << w | 8);
            record[4].beyond[w][j] = (uint16_t)(1u << j);
        }
    memset(record[4].beyond[4], 0, sizeof record[4].beyond - 4 * sizeof record[4].beyond[0]);
    for (int w = 0; w < 4; w++)
        memset(&record[4].beyond[w][4], 0, sizeof record[4].beyond[w] - 4 * sizeof record[4].beyond[w][0]);
    record[4].assigned = true;
    record[4].leave[2] = 3;
    record[4].interface[1].bridge = 77;
    record[4].unconnected = 5;
    trv_topology_record_write(&record[4], &writer);
    trv_reader_t reader = trv_reader(writer.data, writer.used);
    read = record[4];
    memset(read.routed, 1, sizeof read.routed);
    memset(read.leave, 1, sizeof read.leave);
    assert_true(trv_topology_record_read(&read, &reader) && trv_reader_ends(&reader));
    assert_memory_equal(read.routed, record[4].routed, sizeof read.routed);
    assert_memory_equal(read.reachable, record[4].reachable, sizeof read.reachable);
    assert_memory_equal(read.beyond, record[4].beyond, sizeof read.beyond);
    assert_memory_equal(read.leave, record[4].leave, sizeof read.leave);
    assert_int_equal(read.interface[1].bridge, 77);
    assert_int_equal(read.unconnected, 5);
    /* Damaged records are rejected or harmless: no index is out of range. */
    for (size_t i = 0; i < writer.used; i++)
        for (int value = 0; value < 256; value += 51) {
            const uint8_t before = writer.data[i];
            writer.data[i] = (uint8_t)value;
            reader = trv_reader(writer.data, writer.used);
            if (trv_topology_record_read(&read, &reader)) {
                assert_true(read.interfaces >= 1 && read.interfaces <= TRV_INTERFACES_MAX);
                assert_int_equal(trv_topology_record_usable(&read) >> read.interfaces, 0);
                for (int w = 0; read.assigned && w < TRV_PORTS_MAX; w++)
                    assert_true(read.leave[w] < read.interfaces);
            }
            writer.data[i] = before;
            reader = trv_reader(writer.data, i);
            assert_false(trv_topology_record_read(&read, &reader));
        }
    trv_writer_clear(&writer);
    trv_topology_records_clear(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interface_per_port),
        cmocka_unit_test(test_cables),
        cmocka_unit_test(test_rails),
        cmocka_unit_test(test_one_network),
        cmocka_unit_test(test_bridges),
        cmocka_unit_test(test_assigned_by_user),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_no_forwarding),
        cmocka_unit_test(test_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
