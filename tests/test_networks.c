/*
 * Networks: lines of every size, meshes, and tori with links that are cut or avoided. Every schedule is verified, and
 * none of its messages passes a cut link; invalid networks are rejected.
 */
#include "verify_all.h"

#include <math.h>

#include "torus/rows.h"
enum { LINKS_MAX = 256, LINE_MAX = 243, CUT_SETS = 300, CUT_SETS_QUICK = 80 };
static trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    if (trv_torus_parse(text, &torus))
        fail_msg("%s: %s", text, trv_last_error());
    return torus;
}

static bool is_cut(const trv_network_t *network, int rank, int port)
{
    for (int i = 0; i < network->slow_links; i++)
        if (network->slow_link[i].rank == rank && network->slow_link[i].port == port)
            return isinf(network->slow_link[i].factor);
    return false;
}

static void check_routes(const trv_network_t *network, const trv_schedule_t *schedule, const char *what)
{
    trv_step_t step = TRV_STEP_INIT;
    const int streams = trv_schedule_streams(schedule), steps = trv_schedule_steps(schedule);
    for (int rank = 0; rank < network->torus.ranks; rank++)
        for (int at = 0; at < streams * steps; at++) {
            assert_int_equal(trv_schedule_step(schedule, rank, at / steps, at % steps, &step), TRV_OK);
            for (int i = 0; i < step.sends; i++) {
                trv_route_t route;
                int node = rank, port;
                trv_route_begin(&route, &network->torus, rank, step.send[i].peer, step.send[i].port,
                                trv_schedule_mirrored(schedule, at / steps));
                while ((port = trv_route_next(&route, &node)) >= 0)
                    if (is_cut(network, node, port))
                        fail_msg("%s: a message from %d to %d passes the cut link of %d by port %d", what, rank,
                                 step.send[i].peer, node, port);
            }
        }
    trv_step_clear(&step);
}

/* Verifies the schedule and returns it, for further checks. */
static trv_schedule_t *verify_on(const trv_network_t *network, const char *name, trv_collective_t collective)
{
    char text[TRV_TORUS_TEXT_MAX], what[256];
    trv_schedule_t *schedule;
    trv_verdict_t verdict = {TRV_VERDICT};
    snprintf(what, sizeof what, "%s on %s with %d slow links, %s", name,
             trv_torus_format(&network->torus, text, sizeof text), network->slow_links, collective_names[collective]);
    if (trv_schedule_create_on(&schedule, network, name, collective, 0))
        fail_msg("%s: %s", what, trv_last_error());
    if (trv_verify(schedule, TRV_VERIFY_AUTO, &verdict, NULL, NULL) || !verdict.valid)
        fail_msg("%s: %s", what, verdict.fault);
    check_routes(network, schedule, what);
    return schedule;
}

/* ---- Lines and meshes -------------------------------------------------------------------------------------------- */

static int log3_ceil(int value) { return value == 1 ? 0 : 1 + log3_ceil((value + 2) / 3); }

static void lines_of_every_size(void **state)
{
    (void)state;
    for (int size = 2; size <= LINE_MAX; size++) {
        trv_network_t network = {TRV_NETWORK};
        if (!try_size(size) || (size > 82 && !exhaustive()))
            continue;
        assert_int_equal(trv_torus_init(&network.torus, 1, &size), TRV_OK);
        assert_int_equal(trv_torus_set_lines(&network.torus, 1), TRV_OK);
        trv_schedule_t *schedule = verify_on(&network, "line-l", TRV_ALLREDUCE);
        assert_int_equal(trv_schedule_steps(schedule), log3_ceil(size));
        assert_true(trv_schedule_consistent(schedule));
        trv_schedule_destroy(schedule);
        for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++) {
            schedule = verify_on(&network, "line-b", (trv_collective_t)collective);
            assert_int_equal(trv_schedule_steps(schedule), (collective == TRV_ALLREDUCE ? 2 : 1) * log3_ceil(size));
            assert_true(trv_schedule_consistent(schedule));
            trv_schedule_destroy(schedule);
        }
        if (size <= 64) {
            char name[64];
            snprintf(name, sizeof name, "hybrid:%d:folded", size);
            for (int collective = TRV_ALLREDUCE; collective <= TRV_ALLGATHER; collective++)
                trv_schedule_destroy(verify_on(&network, name, (trv_collective_t)collective));
        }
        if (size > 64 && size % 8 == 3) /* test_line_pipelined has the shorter ones */
            trv_schedule_destroy(verify_on(&network, "line-pipelined:2", TRV_ALLREDUCE));
    }
}

static void every_algorithm_on_meshes(void **state)
{
    static const char *const tori[] = {"2m",   "3m",   "5m",    "8m",      "9m",      "16m",      "2mx2",   "3mx3m",
                                       "2mx3", "4x4m", "8mx8m", "4mx5x3m", "3mx3mx3", "2mx2mx2m", "1x9mx2", "9mx9"};
    (void)state;
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++)
        verify_text(tori[i], TRV_VERIFY_EXHAUSTIVE, TRV_ALLREDUCE, TRV_ALLGATHER);
}

static void joint_dimensions(void **state)
{
    static const char *const tori[] = {"8mx8m", "9mx9mx4m", "3mx4x5m", "2mx3mx2mx3m"};
    (void)state;
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++) {
        const trv_network_t network = {TRV_NETWORK, .torus = torus_of(tori[i])};
        trv_schedule_destroy(verify_on(&network, "line-l:2", TRV_ALLREDUCE));
        if (network.torus.dims > 2)
            trv_schedule_destroy(verify_on(&network, "line-l:3", TRV_ALLREDUCE));
    }
}

/* ---- Cuts -------------------------------------------------------------------------------------------------------- */

static unsigned long long seed = 1;

static int random_below(int limit)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((seed >> 33) % (unsigned)limit);
}

/* Cuts one link of a row that has no cut yet, in one or both directions. */
static void cut_a_row(trv_network_t *network, trv_slow_link_t *link, bool *row_is_cut)
{
    const trv_torus_t *torus = &network->torus;
    const int rank = random_below(torus->ranks), d = random_below(torus->dims);
    int coordinate[TRV_DIMS_MAX], up[TRV_DIMS_MAX];
    if (torus->size[d] == 1)
        return;
    trv_torus_coordinates(torus, rank, coordinate);
    memcpy(up, coordinate, sizeof up);
    up[d] = (up[d] + 1) % torus->size[d];
    const int neighbour = trv_torus_rank(torus, up);
    coordinate[d] = 0;
    bool *cut = &row_is_cut[trv_torus_rank(torus, coordinate) * torus->dims + d];
    if (*cut || network->slow_links + 2 > LINKS_MAX)
        return;
    *cut = true;
    const int directions = 1 + random_below(3); /* bit 0: forward; bit 1: backward */
    if (directions & 1)
        link[network->slow_links++] = (trv_slow_link_t){rank, trv_port(d, 1), INFINITY};
    if (directions & 2)
        link[network->slow_links++] = (trv_slow_link_t){neighbour, trv_port(d, -1), INFINITY};
}

static void random_cuts(void **state)
{
    static const char *const tori[] = {"3",   "9",     "8",     "27",  "3x3",   "4x4",  "5x3",
                                       "9x9", "3x3x3", "2x4x3", "8x8", "4x4x4", "8x8x8"};
    static const int torus_count = sizeof tori / sizeof tori[0];
    (void)state;
    seed = sample_seed();
    for (int set = 0; set < (exhaustive() ? CUT_SETS : CUT_SETS_QUICK); set++) {
        static bool row_is_cut[512 * 3];
        trv_slow_link_t link[LINKS_MAX];
        /* The largest torus takes as long as all others together. */
        const int t = set % torus_count;
        if (t == torus_count - 1 && (set / torus_count % 4 != 0 || !exhaustive()))
            continue;
        trv_network_t network = {TRV_NETWORK, .torus = torus_of(tori[t]), .slow_link = link};
        memset(row_is_cut, 0, sizeof row_is_cut);
        for (int cuts = 1 + random_below(1 + network.torus.ranks / 2); cuts > 0; cuts--)
            cut_a_row(&network, link, row_is_cut);
        trv_schedule_destroy(verify_on(&network, "line-l", TRV_ALLREDUCE));
        trv_schedule_t *schedule = verify_on(&network, "line-b", (trv_collective_t)(set / torus_count % 3));
        assert_true(trv_schedule_consistent(schedule));
        trv_schedule_destroy(schedule);
        if (t == torus_count - 1)
            continue;
        char name[64];
        int used = snprintf(name, sizeof name, "hybrid");
        for (int d = 0; d < network.torus.dims; d++)
            used += snprintf(name + used, sizeof name - (size_t)used, "%c%d", d ? 'x' : ':', network.torus.size[d]);
        snprintf(name + used, sizeof name - (size_t)used, ":folded:streams2");
        trv_schedule_destroy(verify_on(&network, name, (trv_collective_t)(set / torus_count % 3)));
        schedule = verify_on(&network, "line-pipelined:2", (trv_collective_t)(set / torus_count % 3));
        assert_true(trv_schedule_consistent(schedule));
        trv_schedule_destroy(schedule);
    }
}

/* A row that is opened at 4: messages that a ring's algorithms send over the cut go the other way. */
static void messages_avoid_a_cut(void **state)
{
    static const char *const names[] = {"trivance-l",       "trivance-b", "ring",    "bucket",
                                        "recdoub-l",        "swing-b",    "bruck-b", "hybrid:3",
                                        "hybrid:3:grouped", "line-l",     "line-b",  "line-pipelined"};
    const trv_slow_link_t cut = {3, trv_port(0, 1), INFINITY};
    const trv_network_t network = {TRV_NETWORK, .torus = torus_of("9"), .slow_links = 1, .slow_link = &cut};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        trv_schedule_destroy(verify_on(&network, names[i], TRV_ALLREDUCE));
}

static bool passes(const trv_schedule_t *schedule, int from, int to)
{
    trv_step_t step = TRV_STEP_INIT;
    bool found = false;
    for (int s = 0; s < trv_schedule_steps(schedule); s++) {
        assert_int_equal(trv_schedule_step(schedule, from, 0, s, &step), TRV_OK);
        for (int i = 0; i < step.sends; i++)
            found = found || (step.send[i].peer == to && step.send[i].port == trv_port(0, 1));
    }
    trv_step_clear(&step);
    return found;
}

/* A slow link is avoided only if the name demands it, and the schedule keeps its full name. */
static void avoids_slow_links_on_request(void **state)
{
    const trv_slow_link_t slow = {3, trv_port(0, 1), 10};
    const trv_network_t network = {TRV_NETWORK, .torus = torus_of("9"), .slow_links = 1, .slow_link = &slow};
    static const struct {
        const char *name;
        bool passes;
    } cases[] = {{"trivance-b", true}, {"trivance-b@10", false}, {"trivance-b@10.5", true}, {"hybrid:3@2", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trv_schedule_t *schedule = verify_on(&network, cases[i].name, TRV_ALLREDUCE);
        assert_int_equal(passes(schedule, 3, 4), cases[i].passes);
        assert_string_equal(trv_schedule_name(schedule), cases[i].name);
        trv_schedule_destroy(schedule);
    }
    char text[TRV_FULL_NAME_MAX];
    assert_int_equal(trv_schedule_full_name(&network.torus, "hybrid:3@2", TRV_ALLREDUCE, text, sizeof text), TRV_OK);
    assert_string_equal(text, "hybrid:3/1:all:windows:interleaved@2");
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void expect_error(const char *torus, const char *name, const trv_slow_link_t *link, int links, const char *words)
{
    trv_schedule_t *schedule;
    const trv_network_t network = {TRV_NETWORK, .torus = torus_of(torus), .slow_links = links, .slow_link = link};
    assert_int_not_equal(trv_schedule_create_on(&schedule, &network, name, TRV_ALLREDUCE, 0), TRV_OK);
    assert_null(schedule);
    if (!strstr(trv_last_error(), words))
        fail_msg("'%s' does not contain '%s'", trv_last_error(), words);
}

static void rejects_invalid_networks(void **state)
{
    const trv_slow_link_t two_cuts[] = {{0, 0, INFINITY}, {4, 0, INFINITY}}, in_line = {3, 0, INFINITY},
                          end_of_line = {8, 0, 2}, no_rank = {9, 0, 2}, no_port = {0, 2, 2}, fast = {0, 0, 0.5},
                          slug = {0, 0, 1e18}, two_slow[] = {{0, 0, 4}, {4, 0, 8}};
    trv_torus_t torus;
    (void)state;
    expect_error("9", "line-l", two_cuts, 2,
                 "is cut in two places, in one direction or both, which is supported only by trees of links: ");
    expect_error("9m", "line-l", &in_line, 1, "divides the row of rank 0 along dimension 0 of 9m into two parts");
    expect_error("9", "trivance-b@4", two_slow, 2, "4 times as slow or slower cannot all be avoided");
    expect_error("9m", "line-l", &end_of_line, 1, "last of its line");
    expect_error("9", "trivance-b", &no_rank, 1, "the ranks of 9 are 0 to 8");
    expect_error("9", "trivance-b", &no_port, 1, "9 has fewer dimensions");
    expect_error("9x1", "trivance-b", &no_port, 1, "one rank along that dimension");
    expect_error("9", "trivance-b", &fast, 1, "a factor from 1 to 1000000");
    expect_error("9", "trivance-b", &slug, 1, "a factor from 1 to 1000000");
    expect_error("9", "line-l", NULL, 0, "all dimensions of 9 are rings");
    expect_error("9", "trivance-b@", NULL, 0, "expected a number greater than 1 after @");
    expect_error("9", "trivance-b@1", NULL, 0, "expected a number greater than 1 after @");
    expect_error("9", "trivance-b@2y", NULL, 0, "expected a number greater than 1 after @");
    expect_error("8mx8m", "line-l:3", NULL, 0,
                 "line-l: '3' is not a number of dimensions that are treated together from 1 to 2 on 8mx8m");
    expect_error("8m", "hybrid:4/4", NULL, 0, "reduce-scatter of 4 blocks takes 2 steps, not 4");
    expect_error("8m", "hybrid:4:folded", NULL, 0, "its factor there is 1 or 8, not 4");
    assert_int_equal(trv_torus_parse("1m", &torus), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_torus_parse("8mm", &torus), TRV_ERR_ARGUMENT);
    assert_int_equal(trv_torus_parse("m8", &torus), TRV_ERR_ARGUMENT);
}

/* Rows that begin at different coordinates have no common intervals, so hybrids are rejected. */
static void rejects_hybrids_with_uneven_rows(void **state)
{
    const trv_slow_link_t cuts[] = {{0, trv_port(1, 1), INFINITY}, {10, trv_port(1, 1), INFINITY}};
    (void)state;
    expect_error("9x9", "hybrid:3", cuts, 2, "begin at different coordinates");
    expect_error("9x9", "line-l:2", cuts, 2, "begin at different coordinates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_every_size),      cmocka_unit_test(every_algorithm_on_meshes),
        cmocka_unit_test(joint_dimensions),         cmocka_unit_test(random_cuts),
        cmocka_unit_test(messages_avoid_a_cut),     cmocka_unit_test(avoids_slow_links_on_request),
        cmocka_unit_test(rejects_invalid_networks), cmocka_unit_test(rejects_hybrids_with_uneven_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
