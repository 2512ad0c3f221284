/*
 * line-pipelined: exact on lines, meshes, mixes and behind cuts; every link of a line carries one block at a time and
 * is never idle between the first and the last; data arrive; the time of long vectors is close to the lower bound.
 */
#include <math.h>

#include "test_execute_world.h"
#include "verify_all.h"

static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), 0);
    return torus;
}

static trv_schedule_t *make_on(const trv_network_t *network, const char *name, trv_collective_t collective)
{
    trv_schedule_t *schedule;
    if (trv_schedule_create_on(&schedule, network, name, collective, 0))
        fail_msg("%s: %s", name, trv_last_error());
    return schedule;
}

static trv_schedule_t *make(const char *text, const char *name, trv_collective_t collective)
{
    return make_on(&(trv_network_t){TRV_NETWORK, .torus = torus_of(text)}, name, collective);
}

static void assert_exact(const trv_schedule_t *schedule)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_verdict_t verdict = {TRV_VERDICT};
    assert_int_equal(trv_verify(schedule, TRV_VERIFY_EXHAUSTIVE, &verdict, NULL, NULL), 0);
    if (!verdict.valid || !verdict.consistent)
        fail_msg("%s on %s: %s", trv_schedule_name(schedule),
                 trv_torus_format(trv_schedule_torus(schedule), text, sizeof text),
                 verdict.valid ? "not consistent" : verdict.fault);
}

static void verify_all_collectives(const trv_network_t *network, const char *name)
{
    for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++) {
        trv_schedule_t *schedule = make_on(network, name, (trv_collective_t)collective);
        assert_exact(schedule);
        trv_schedule_destroy(schedule);
    }
}

/* ---- Proofs ------------------------------------------------------------------------------------------------------ */

static void test_every_line(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= 64; ranks++) {
        trv_network_t network = {TRV_NETWORK};
        if (!try_size(ranks) || (ranks > 33 && !exhaustive()))
            continue;
        assert_int_equal(trv_torus_init(&network.torus, 1, &ranks), 0);
        assert_int_equal(trv_torus_set_lines(&network.torus, 1), 0);
        verify_all_collectives(&network, "line-pipelined");
        verify_all_collectives(&network, "line-pipelined:1");
    }
}

/* With one chunk there is no pipeline; with three its beginning and its end meet. */
static void test_meshes(void **state)
{
    static const char *const text[] = {"1",       "5mx1",     "2mx2m", "8mx8m",  "5mx4",       "5x4m", "2x9m",
                                       "4x6m",    "3mx2x2m",  "7x7m",  "3mx8m",  "4mx4mx4m",   "8x8",  "4x6",
                                       "2x3mx4m", "2mx3x2x2", "9mx4m", "1x5mx3", "2mx2mx2mx2m"};
    static const char *const name[] = {"line-pipelined:1", "line-pipelined:3", "line-pipelined"};
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof *text; t++)
        for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
            const trv_network_t network = {TRV_NETWORK, .torus = torus_of(text[t])};
            if (network.torus.ranks <= 36 || exhaustive())
                verify_all_collectives(&network, name[n]);
        }
}

/* Every message takes one link, which is not cut. */
static void assert_avoids(const trv_schedule_t *schedule, const trv_network_t *network)
{
    trv_step_t step = TRV_STEP_INIT;
    for (int rank = 0; rank < network->torus.ranks; rank++)
        for (int stream = 0; stream < trv_schedule_streams(schedule); stream++)
            for (int s = 0; s < trv_schedule_steps(schedule); s++) {
                assert_int_equal(trv_schedule_step(schedule, rank, stream, s, &step), 0);
                for (int i = 0; i < step.sends; i++) {
                    trv_route_t route;
                    trv_route_begin(&route, &network->torus, rank, step.send[i].peer, step.send[i].port, 0);
                    assert_int_equal(trv_route_length(&route), 1);
                    for (int k = 0; k < network->slow_links; k++)
                        assert_false(network->slow_link[k].rank == rank &&
                                     network->slow_link[k].port == step.send[i].port);
                }
            }
    trv_step_clear(&step);
}

/* Cuts one link, in one direction, of about every second row; rows of a dimension then begin at different
 * coordinates. */
static int cut_rows(const trv_torus_t *torus, uint32_t seed, trv_slow_link_t *cut)
{
    int links = 0, coordinate[TRV_DIMS_MAX];
    for (int rank = 0; rank < torus->ranks; rank++) {
        trv_torus_coordinates(torus, rank, coordinate);
        for (int d = 0; d < torus->dims; d++) {
            const int first = coordinate[d];
            seed = seed * 1664525u + 1013904223u;
            if (first != 0 || torus->size[d] == 1 || seed >> 31)
                continue;
            coordinate[d] = (int)(seed >> 16) % torus->size[d];
            cut[links++] = (trv_slow_link_t){trv_torus_rank(torus, coordinate), trv_port(d, seed >> 30 & 1 ? 1 : -1),
                                             INFINITY};
            coordinate[d] = first;
        }
    }
    return links;
}

static void test_cuts(void **state)
{
    static const char *const text[] = {"9", "4x5", "6x4", "3x5x2", "2x2"};
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof *text; t++)
        for (uint32_t seed = 1; seed <= (exhaustive() ? 10 : 2); seed++) {
            trv_slow_link_t cut[64];
            trv_network_t network = {TRV_NETWORK, .torus = torus_of(text[t]), .slow_link = cut};
            network.slow_links = cut_rows(&network.torus, seed * 7919, cut);
            verify_all_collectives(&network, "line-pipelined:3");
            trv_schedule_t *schedule = make_on(&network, "line-pipelined:2", TRV_ALLREDUCE);
            assert_avoids(schedule, &network);
            world_try(schedule, 77, 0);
            trv_schedule_destroy(schedule);
        }
}

/* ---- Link loads -------------------------------------------------------------------------------------------------- */

/* In each stream of a line of `size`, the link from rank i to i + 1 is busy from step i on without a break. */
static void assert_busy(int size, int chunks)
{
    char text[16], name[32];
    trv_step_t step = TRV_STEP_INIT;
    snprintf(text, sizeof text, "%dm", size);
    snprintf(name, sizeof name, "line-pipelined:%d", chunks);
    trv_schedule_t *schedule = make(text, name, TRV_ALLREDUCE);
    assert_int_equal(trv_schedule_units(schedule), size * chunks);
    assert_int_equal(trv_schedule_steps(schedule), chunks * size + size - 2);
    for (int rank = 0; rank < size; rank++)
        for (int s = 0; s < trv_schedule_steps(schedule); s++) {
            int units[2] = {0, 0};
            assert_int_equal(trv_schedule_step(schedule, rank, 0, s, &step), 0);
            for (int i = 0; i < step.sends; i++)
                units[step.send[i].port] += (int)trv_message_units(schedule, &step.send[i]);
            assert_int_equal(units[0], rank < size - 1 && s >= rank && s < rank + chunks * size);
            assert_int_equal(units[1], rank > 0 && s >= size - 1 - rank && s < size - 1 - rank + chunks * size);
        }
    trv_step_clear(&step);
    trv_schedule_destroy(schedule);
}

static void test_links_are_busy(void **state)
{
    (void)state;
    for (int size = 2; size <= 12; size++)
        for (int chunks = 1; chunks <= 4; chunks++)
            assert_busy(size, chunks);
}

/* Streams that begin in a short side have more chunks, up to a maximum: along a long line they share a message. */
static void test_shared_paths(void **state)
{
    trv_step_t step = TRV_STEP_INIT;
    int most = 0;
    (void)state;
    trv_schedule_t *schedule = make("2x400m", "line-pipelined:2", TRV_ALLREDUCE);
    assert_int_equal(trv_schedule_units(schedule), 800 * 2 * 64);
    for (int s = 0; s < trv_schedule_steps(schedule); s++) {
        assert_int_equal(trv_schedule_step(schedule, 200, 0, s, &step), 0);
        for (int i = 0; i < step.sends; i++)
            most = step.send[i].parts > most ? step.send[i].parts : most;
    }
    assert_in_range(most, 2, 2 * 64);
    trv_step_clear(&step);
    trv_schedule_destroy(schedule);
}

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static void test_data(void **state)
{
    static const char *const text[] = {"2m", "9m", "3mx3m", "5mx4", "2mx3x2m", "8x3m"};
    static const char *const name[] = {"line-pipelined:1", "line-pipelined:2", "line-pipelined:5"};
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof *text; t++)
        for (size_t n = 0; n < sizeof name / sizeof *name; n++)
            for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++) {
                trv_schedule_t *schedule = make(text[t], name[n], (trv_collective_t)collective);
                const size_t ranks = (size_t)trv_schedule_torus(schedule)->ranks;
                const size_t counts[] = {0, 1, ranks - 1, 131, 1031};
                for (size_t c = 0; c < (ranks <= 9 || exhaustive() ? 5 : 3); c++)
                    world_try(schedule, counts[c], 0);
                world_try(schedule, 131, 4 * 40 * ranks);
                trv_schedule_destroy(schedule);
            }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static double simulated(const char *text, const char *name, uint64_t bytes)
{
    trv_simulate_options_t options = TRV_SIMULATE_DEFAULTS;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    options.packet_bytes = 64 << 10; /* messages are long, so the size of packets has little effect */
    trv_schedule_t *schedule = make(text, name, TRV_ALLREDUCE);
    assert_int_equal(trv_simulator_create(&simulator, schedule), 0);
    assert_int_equal(trv_simulate(simulator, &options, bytes, &result), 0);
    const double time_ns = result.time_ns;
    trv_simulation_clear(&result);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
    return time_ns;
}

/* Lower bound: a corner must send the vector over its D links; every byte crosses n - 1 links to be reduced and n - 1
 * to be distributed, and there are 2 (a - 1) n / a links in each dimension. */
static double limit(const char *text, uint64_t bytes)
{
    const trv_torus_t torus = torus_of(text);
    double links = 0;
    for (int d = 0; d < torus.dims; d++)
        links += 2.0 * (torus.size[d] - 1) * torus.ranks / torus.size[d];
    const double corner = 1.0 / torus.dims, all = 2.0 * (torus.ranks - 1) / links;
    return (corner > all ? corner : all) * (double)bytes * 8 / 800; /* Gb/s: bits per ns */
}

static void test_long_vectors(void **state)
{
    static const char *const text[] = {"9m", "8mx8m", "4mx4mx8m"};
    const uint64_t bytes = 512 << 20;
    (void)state;
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        const double time_ns = simulated(text[t], "line-pipelined", bytes), least_ns = limit(text[t], bytes);
        if (time_ns > 1.25 * least_ns || time_ns < least_ns)
            fail_msg("%s: %.3f times the limit", text[t], time_ns / least_ns);
        assert_true(time_ns < 0.7 * simulated(text[t], "bucket", bytes));
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void test_bad_names(void **state)
{
    static const char *const name[] = {"line-pipelined:0",
                                       "line-pipelined:-1",
                                       "line-pipelined:4x",
                                       "line-pipelined: 4",
                                       "line-pipelined:99999999999999999999",
                                       "line-pipelined:1073741824"};
    const trv_torus_t torus = torus_of("4mx8m");
    (void)state;
    for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
        trv_schedule_t *schedule;
        assert_int_equal(trv_schedule_create(&schedule, &torus, name[n], TRV_ALLREDUCE), TRV_ERR_ARGUMENT);
        assert_null(schedule);
        assert_non_null(
            strstr(trv_last_error(), "is not a number of chunks from 1 to 33554432 on 4mx8m; for example "));
    }
    trv_schedule_t *schedule; /* a stream of 4mx8m has twice as many chunks */
    assert_int_equal(trv_schedule_create(&schedule, &torus, "line-pipelined:33554432", TRV_ALLREDUCE),
                     TRV_ERR_ARGUMENT);
    assert_non_null(strstr(trv_last_error(), "use fewer chunks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line),     cmocka_unit_test(test_meshes),       cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_links_are_busy), cmocka_unit_test(test_shared_paths), cmocka_unit_test(test_data),
        cmocka_unit_test(test_long_vectors),   cmocka_unit_test(test_bad_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
