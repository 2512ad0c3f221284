/*
 * The interpreters of the sources of coordinates, on recorded values. The addresses and patterns of Slurm are those
 * that its plugins topology/torus3d, ring, block and tree write (26.05).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "settings/slurm_dims.h"
#include "topology/slurm_lines.h"
#include "topology/sources/sources.h"

enum { RANKS_MAX = 128, REPORTS_MAX = 4 };

static trv_rank_record_t record[RANKS_MAX];
static int ranks;
static char reports[1200];
static int reported, wrong_reports;

static void begin(void)
{
    memset(record, 0, sizeof record);
    ranks = 0;
}

static trv_rank_record_t *add_rank(void)
{
    trv_rank_record_t *own = &record[ranks];
    snprintf(own->host, sizeof own->host, "node%d", ranks++);
    return own;
}

static void keep_report(void *context, bool wrong, const char *sentence)
{
    (void)context;
    snprintf(reports + strlen(reports), sizeof reports - strlen(reports), "%s\n", sentence);
    reported++;
    wrong_reports += wrong;
}

static int discover(trv_found_t *found, const char *dims)
{
    const trv_source_options_t options = {.slurm_dims = dims};
    *reports = '\0';
    reported = wrong_reports = 0;
    return trv_discover(found, record, ranks, &options, keep_report, NULL);
}

/* Expects that the network is found, without reports, and its description. */
static void expect_found(const char *dims, const char *text)
{
    trv_found_t found;
    char got[TRV_FOUND_TEXT_MAX];
    if (discover(&found, dims) != 1)
        fail_msg("no network instead of '%s': %s", text, reports);
    assert_string_equal(trv_found_text(&found, ranks, got), text);
    assert_string_equal(reports, "");
    trv_found_clear(&found);
}

/* Expects that no network is found, and one report that contains the words. */
static void expect_unusable(const char *dims, bool wrong, const char *words)
{
    trv_found_t found;
    assert_int_equal(discover(&found, dims), 0);
    if (!strstr(reports, words) || reported != 1 || wrong_reports != wrong)
        fail_msg("reports (%d, %d wrong) without '%s': %s", reported, wrong_reports, words, reports);
    trv_found_clear(&found);
}

/* ---- Slurm ------------------------------------------------------------------------------------------------------- */

static void add_slurm(const char *address, const char *pattern)
{
    trv_rank_record_t *own = add_rank();
    snprintf(own->slurm.address, sizeof own->slurm.address, "%s", address);
    snprintf(own->slurm.pattern, sizeof own->slurm.pattern, "%s", pattern);
}

static void add_torus_node(const char *name, int x, int y, int z)
{
    char address[TRV_RECORD_ADDRESS_MAX];
    snprintf(address, sizeof address, "%s:%d:%d:%d.node%d", name, x, y, z, ranks);
    add_slurm(address, "torus:x:y:z.node");
}

/* Adds a box of nodes, x fastest, from (x0, y0, z0) on, around the ends of 8x8x8. */
static void add_box(const char *name, int x0, int y0, int z0, int a, int b, int c)
{
    for (int z = 0; z < c; z++)
        for (int y = 0; y < b; y++)
            for (int x = 0; x < a; x++)
                add_torus_node(name, (x0 + x) % 8, (y0 + y) % 8, (z0 + z) % 8);
}

static void test_slurm_torus(void **state)
{
    (void)state;
    trv_found_t found;
    begin();
    add_box("t1", 0, 0, 0, 8, 4, 4);
    expect_found("t1=8x4x4", "torus 4x4x8 from SLURM_TOPOLOGY_ADDR");
    assert_int_equal(discover(&found, "other=2,t1=8x4x4"), 1);
    assert_true(found.in_order); /* Slurm numbers nodes with x fastest */
    assert_int_equal(found.coordinate[1], 1);
    assert_int_equal(found.coordinate[8], 8);
    trv_found_clear(&found);
    expect_found("t1=8x8x8", "mesh 4mx4mx8, a part of the torus 8x8x8, from SLURM_TOPOLOGY_ADDR");
    begin();
    add_box("t1", 6, 0, 0, 4, 4, 1); /* around the end in x */
    expect_found("t1=8x8x8", "mesh 4mx4m, a part of the torus 8x8x8, from SLURM_TOPOLOGY_ADDR");
    assert_int_equal(discover(&found, "t1=8x8x8"), 1);
    assert_true(found.in_order);
    trv_found_clear(&found);
    begin();
    add_box("t1", 0, 0, 0, 8, 1, 1);
    expect_found("t1=8x8x8", "torus 8, a part of the torus 8x8x8, from SLURM_TOPOLOGY_ADDR");
    begin();
    add_torus_node("t1", 0, 0, 0);
    add_torus_node("t1", 1, 0, 0);
    add_torus_node("t1", 1, 1, 0);
    expect_found("t1=8x8x8", "a set of nodes of the torus 8x8x8 from SLURM_TOPOLOGY_ADDR");
}

static void test_slurm_without_dims(void **state)
{
    (void)state;
    begin();
    add_box("t1", 1, 2, 3, 2, 3, 4);
    expect_found(NULL, "mesh 4mx3mx2m from SLURM_TOPOLOGY_ADDR; a mesh, because the dimensions of the torus 't1' are "
                       "unknown: start the job with `trivance run`, which asks Slurm, or set TRIVANCE_SLURM_DIMS, for "
                       "example t1=8x8x16");
    begin();
    add_torus_node("t1", 3, 3, 3);
    expect_found("t2=8x8x8", "all ranks are on one node, by SLURM_TOPOLOGY_ADDR");
}

static void test_slurm_ring(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 24; i++) {
        char address[40];
        snprintf(address, sizeof address, "r1:%d.tux%d", i, i);
        add_slurm(address, "ring:position.node");
    }
    expect_found("r1=24", "torus 24 from SLURM_TOPOLOGY_ADDR");
    ranks = 12;
    expect_found("r1=24", "mesh 12m, a part of the torus 24, from SLURM_TOPOLOGY_ADDR");
    expect_unusable("r1=8x3", true, "TRIVANCE_SLURM_DIMS has 2 dimensions for the ring r1; expected 1");
}

static void test_slurm_several_tori(void **state)
{
    (void)state;
    trv_found_t found;
    begin();
    add_box("a", 0, 0, 0, 2, 2, 2);
    add_box("b", 0, 0, 0, 2, 2, 2);
    expect_found("a=2x2x2,b=2x2x2", "a set of nodes of the mesh 2mx2x2x2 from SLURM_TOPOLOGY_ADDR; the nodes are in 2 "
                                    "tori, between which no links are known");
    assert_int_equal(discover(&found, "a=2x2x2,b=2x2x4"), 1);
    char text[TRV_TORUS_TEXT_MAX];
    assert_string_equal(trv_torus_format(&found.torus, text, sizeof text), "2mx4mx2x2"); /* z differs: no wrap-around */
    assert_true(found.separate);
    assert_false(found.in_order);
    trv_found_clear(&found);
    assert_int_equal(discover(&found, "a=2x2x2"), 1);
    assert_non_null(strstr(found.note,
                           "the nodes are in 2 tori of unknown dimensions, between which no links are known; a "
                           "mesh, because the dimensions of the torus 'b' are unknown"));
    trv_found_clear(&found);
}

static void test_slurm_several_ranks_per_node(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 16; i++) {
        add_torus_node("t1", i / 4, 0, 0);
        snprintf(record[i].host, sizeof record[i].host, "host%d", i / 4);
    }
    expect_found("t1=4x1x1", "torus 1x1x4 from SLURM_TOPOLOGY_ADDR, 16 ranks on 4 nodes");
    snprintf(record[7].host, sizeof record[7].host, "other");
    expect_unusable(
        "t1=4x1x1", true,
        "SLURM_TOPOLOGY_ADDR: ranks 4 and 7 have the same coordinate, 0,0,1, but are on the hosts host1 and "
        "other; only ranks of one host may share a coordinate");
}

static void test_slurm_errors(void **state)
{
    static const struct {
        const char *address, *pattern;
        bool wrong;
        const char *words;
    } cases[] = {
        {"n5", "node", false, "SLURM_TOPOLOGY_ADDR=n5 has the pattern node, in which there are no coordinates"},
        {"root.s1.n5", "switch.switch.node", false,
         "SLURM_TOPOLOGY_ADDR=root.s1.n5 has the pattern switch.switch.node"},
        {"b8.tux1", "block.node", false, "SLURM_TOPOLOGY_ADDR=b8.tux1 has the pattern block.node"},
        {"t1:1:2:3:4.n5", "torus:w:x:y:z.node", true,
         "SLURM_TOPOLOGY_ADDR_PATTERN=torus:w:x:y:z.node is from another version of Slurm's plugin topology/torus3d; "
         "expected torus:x:y:z.node"},
        {"r1:1.n5", "ring:index.node", true, "another version of Slurm's plugin topology/ring"},
        {"g1.r2.n5", "group.router.node", true, "SLURM_TOPOLOGY_ADDR_PATTERN=group.router.node is unknown; expected"},
        {"x.node", "", true, "SLURM_TOPOLOGY_ADDR_PATTERN is not set, but SLURM_TOPOLOGY_ADDR is"},
        {"", "torus:x:y:z.node", true, "SLURM_TOPOLOGY_ADDR is not set, but SLURM_TOPOLOGY_ADDR_PATTERN is"},
        {"t1:1:2.n5", "torus:x:y:z.node", true,
         "SLURM_TOPOLOGY_ADDR=t1:1:2.n5 on rank 0 does not have the form SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node; "
         "expected, for example, t1:0:2:5.node17"},
        {"t1:1:2:3", "torus:x:y:z.node", true, "does not have the form"},
        {"t1:1:2:3.", "torus:x:y:z.node", true, "does not have the form"},
        {"t1:1:2:-3.n", "torus:x:y:z.node", true, "does not have the form"},
        {"t1:1:2:99999999999.n", "torus:x:y:z.node", true, "does not have the form"},
        {":1:2:3.n", "torus:x:y:z.node", true, "does not have the form"},
        {"t\n:1:2:3.n", "torus:x:y:z.node", true, "SLURM_TOPOLOGY_ADDR=t?:1:2:3.n on rank 0 does not have the form"},
        {"t1:8:2:3.n5", "torus:x:y:z.node", true,
         "SLURM_TOPOLOGY_ADDR=t1:8:2:3.n5 on rank 0 is outside the dimensions 8x8x8 of the torus 't1'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        add_slurm(cases[i].address, cases[i].pattern);
        expect_unusable("t1=8x8x8", cases[i].wrong, cases[i].words);
    }
    begin();
    add_torus_node("t1", 0, 0, 0);
    add_slurm("n5", "node");
    expect_unusable("t1=8x8x8", true, "SLURM_TOPOLOGY_ADDR_PATTERN is node on rank 1 and torus:x:y:z.node on rank 0");
    begin();
    add_torus_node("t1", 0, 0, 0);
    add_rank();
    expect_unusable(NULL, true, "SLURM_TOPOLOGY_ADDR is not set on rank 1, but on other ranks");
}

static void test_slurm_environment(void **state)
{
    (void)state;
    trv_rank_record_t own;
    char longer[400];
    unsetenv("SLURM_TOPOLOGY_ADDR");
    unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    trv_record_read(&own);
    assert_false(trv_record_has_source(&own));
    setenv("SLURM_TOPOLOGY_ADDR", "t1:0:0:0.n", 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "torus:x:y:z.node", 1);
    trv_record_read(&own);
    assert_true(trv_record_has_source(&own));
    assert_string_equal(own.slurm.address, "t1:0:0:0.n");
    assert_string_not_equal(own.host, "");
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    setenv("SLURM_TOPOLOGY_ADDR", longer, 1);
    trv_record_read(&own);
    begin();
    record[ranks++] = own;
    expect_unusable(NULL, true, "… on rank 0 does not have the form");
    unsetenv("SLURM_TOPOLOGY_ADDR");
    unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
}

static void test_slurm_dims(void **state)
{
    static const char topology[] = "TorusName=t1 Dims=8x8x16 Nodes=n[0000-1023]\n"
                                   "  TorusName=t1 PlacementDims=4x4x4(64) Anchors=16\n"
                                   "RingName=r1 Nodes=n[2000-2023] RingSize=24\n"
                                   "BlockName=b1 BlockIndex=0 Nodes=n[3000-3017] BlockSize=18\n"
                                   "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[4000-4017]\n";
    char dims[200], small[12];
    trv_torus_t torus;
    (void)state;
    assert_int_equal(trv_slurm_read_dims(topology, dims, sizeof dims), 2);
    assert_string_equal(dims, "t1=8x8x16,r1=24");
    assert_int_equal(trv_slurm_dims_find(dims, "r1", &torus), 1);
    assert_int_equal(torus.size[0], 24);
    assert_int_equal(trv_slurm_dims_find(dims, "r", &torus), 0);
    assert_int_equal(trv_slurm_read_dims("SwitchName=s0 Level=0 Nodes=n1\n", dims, sizeof dims), 0);
    assert_int_equal(trv_slurm_read_dims("", dims, sizeof dims), 0);
    assert_true(trv_slurm_read_dims("TorusName=t1 Size=8x8x16\n", dims, sizeof dims) < 0);
    assert_non_null(strstr(trv_last_error(), "'TorusName=t1 Size=8x8x16' does not have the form of Slurm 26.05"));
    assert_true(trv_slurm_read_dims(topology, small, sizeof small) < 0);
}

/* ---- Fujitsu MPI ------------------------------------------------------------------------------------------------- */

/* Embeds a ring of `size` nodes in two rows of the network: 0,1,2,…, and back. */
static void fold(int position, int size, int32_t *along, int32_t *across)
{
    const int half = size / 2;
    *along = position < half ? position : size - 1 - position;
    *across = position >= half;
}

/* A job that is allocated as a torus: each logical dimension is folded in two dimensions of Tofu (x in X and A, y in Y
 * and B, z in Z and C), so its ends are neighbours. */
static void add_fujitsu_job(int x, int y, int z)
{
    begin();
    for (int i = 0; i < x * y * z; i++) {
        trv_fujitsu_record_t *own = &add_rank()->fujitsu;
        *own = (trv_fujitsu_record_t){.present = 1, .dims = 3, .shape = {x, y, z}, .has_tofu = 1};
        const int at[] = {i % x, i / x % y, i / x / y};
        for (int d = 0; d < 3; d++) {
            own->logical[d] = at[d];
            fold(at[d], own->shape[d], &own->tofu[d], &own->tofu[3 + d]);
        }
    }
}

static void test_fujitsu(void **state)
{
    (void)state;
    trv_found_t found;
    add_fujitsu_job(8, 4, 2);
    expect_found(NULL, "torus 2x4x8 from FJMPI_Topology_get_coords");
    assert_int_equal(discover(&found, NULL), 1);
    assert_true(found.in_order); /* the default numbers ranks with x fastest */
    trv_found_clear(&found);
    for (int r = 0; r < ranks; r++) { /* x is not folded: its ends are far apart */
        record[r].fujitsu.tofu[0] = record[r].fujitsu.logical[0];
        record[r].fujitsu.tofu[3] = 0;
    }
    expect_found(NULL, "mesh 2x4x8m from FJMPI_Topology_get_coords");
    for (int r = 0; r < ranks; r++)
        record[r].fujitsu.has_tofu = 0;
    expect_found(NULL,
                 "mesh 2mx4mx8m from FJMPI_Topology_get_coords; a mesh, because the coordinates on Tofu, which show "
                 "whether the ends are neighbours, are unknown; for a torus set TRIVANCE_TORUS");
    begin();
    for (int i = 0; i < 8; i++) { /* one dimension, two ranks per node */
        trv_rank_record_t *own = add_rank();
        snprintf(own->host, sizeof own->host, "node%d", i / 2);
        own->fujitsu = (trv_fujitsu_record_t){.present = 1, .dims = 1, .shape = {4}, .logical = {i / 2}, .has_tofu = 1};
        fold(i / 2, 4, &own->fujitsu.tofu[0], &own->fujitsu.tofu[3]);
    }
    expect_found(NULL, "torus 4 from FJMPI_Topology_get_coords, 8 ranks on 4 nodes");
}

/* B is a ring of three nodes. */
static void test_fujitsu_ring_of_three(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 3; i++)
        add_rank()->fujitsu = (trv_fujitsu_record_t){.present = 1,
                                                     .dims = 1,
                                                     .shape = {3},
                                                     .logical = {i},
                                                     .has_tofu = 1,
                                                     .tofu = {0, 0, 0, 0, i, 0}};
    expect_found(NULL, "torus 3 from FJMPI_Topology_get_coords");
}

static void test_fujitsu_errors(void **state)
{
    (void)state;
    add_fujitsu_job(4, 2, 2);
    record[5].fujitsu.code = 7;
    expect_unusable(NULL, false, "FJMPI_Topology_get_coords fails with the code 7 on rank 5");
    add_fujitsu_job(4, 2, 2);
    record[5].fujitsu.logical[1] = 2;
    expect_unusable(NULL, true,
                    "FJMPI_Topology_get_coords returns the coordinate 2 in dimension y on rank 5, which is "
                    "outside the shape, whose size is 2");
    add_fujitsu_job(4, 2, 2);
    record[5].fujitsu.shape[2] = 3;
    expect_unusable(NULL, true, "FJMPI_Topology_get_shape returns another shape on rank 5 than on rank 0");
    add_fujitsu_job(4, 2, 2);
    record[0].fujitsu.dims = 6;
    expect_unusable(NULL, true, "FJMPI_Topology_get_dimension returns 6 on rank 0; expected 1, 2 or 3");
    add_fujitsu_job(4, 2, 2);
    record[3].fujitsu.present = 0;
    expect_unusable(NULL, true, "FJMPI_Topology_get_coords is missing on rank 3");
    add_fujitsu_job(4, 2, 2);
    record[1].fujitsu.tofu[0] = 17; /* not contiguous */
    expect_unusable(NULL, false,
                    "the ranks 1 and 9 are neighbours by their logical coordinates, but not on the network, "
                    "where they are at 17,0,0,0,0,0 and 1,0,0,0,0,1; allocate the job as a torus");
    add_fujitsu_job(4, 2, 2);
    memcpy(record[1].fujitsu.logical, record[0].fujitsu.logical, sizeof record[0].fujitsu.logical);
    memcpy(record[1].fujitsu.tofu, record[0].fujitsu.tofu, sizeof record[0].fujitsu.tofu);
    expect_unusable(NULL, true,
                    "FJMPI_Topology_get_coords: ranks 0 and 1 have the same coordinate, 0,0,0, but are on the "
                    "hosts node0 and node1");
}

/* ---- PMIx -------------------------------------------------------------------------------------------------------- */

static void add_pmix_job(int a, int b, bool shape)
{
    begin();
    for (int i = 0; i < a * b; i++) {
        trv_pmix_record_t *own = &add_rank()->pmix;
        *own = (trv_pmix_record_t){.present = 1,
                                   .locations = 1,
                                   .dims = 2,
                                   .at = {(uint32_t)(i / b), (uint32_t)(i % b)},
                                   .fabric_dims = 2};
        if (shape) {
            own->shape_dims = 2;
            own->shape[0] = (uint32_t)a;
            own->shape[1] = (uint32_t)b;
        }
    }
}

static void test_pmix(void **state)
{
    (void)state;
    add_pmix_job(4, 8, true);
    expect_found(NULL, "torus 4x8 from PMIX_FABRIC_COORDINATES");
    add_pmix_job(4, 8, false);
    expect_found(NULL,
                 "mesh 4mx8m from PMIX_FABRIC_COORDINATES; a mesh, because PMIX_FABRIC_SHAPE is not set; for a torus "
                 "set TRIVANCE_TORUS or TRIVANCE_TOPOLOGY_FILE");
}

static void test_pmix_errors(void **state)
{
    (void)state;
    add_pmix_job(2, 2, true);
    record[1].pmix.present = 0;
    expect_unusable(NULL, true, "PMIX_FABRIC_COORDINATES is not set on rank 1, but on other ranks");
    add_pmix_job(2, 2, true);
    snprintf(record[1].pmix.type, sizeof record[1].pmix.type, "PMIX_STRING");
    expect_unusable(NULL, true,
                    "PMIX_FABRIC_COORDINATES has the type PMIX_STRING on rank 1; expected an array of "
                    "pmix_geometry_t");
    add_pmix_job(2, 2, true);
    record[1].pmix.locations = 2;
    expect_unusable(NULL, false,
                    "the devices of the node of rank 1 have 2 different coordinates; a node must have one");
    add_pmix_job(2, 2, true);
    record[1].pmix.dims = 3;
    expect_unusable(NULL, true, "PMIX_FABRIC_COORDINATES has 3 dimensions on rank 1 and 2 on rank 0");
    add_pmix_job(2, 2, true);
    record[3].pmix.fabric_dims = 3;
    expect_unusable(NULL, true, "PMIX_FABRIC_DIMS is 3 on rank 3, and PMIX_FABRIC_COORDINATES has 2 dimensions");
    add_pmix_job(2, 2, true);
    record[3].pmix.at[1] = 2;
    expect_unusable(NULL, true,
                    "PMIX_FABRIC_COORDINATES is 2 in dimension 1 on rank 3, which is outside "
                    "PMIX_FABRIC_SHAPE, whose size there is 2");
    add_pmix_job(2, 2, true);
    record[2].pmix.shape[0] = 5;
    expect_unusable(NULL, true, "PMIX_FABRIC_SHAPE on rank 2 differs from that on rank 0");
    add_pmix_job(2, 2, false);
    record[2].pmix.at[0] = UINT32_MAX;
    expect_unusable(NULL, true,
                    "PMIX_FABRIC_COORDINATES or PMIX_FABRIC_SHAPE of rank 2 exceeds 1048576 in dimension 0");
    add_pmix_job(2, 2, true);
    memcpy(record[1].pmix.at, record[0].pmix.at, sizeof record[0].pmix.at);
    expect_unusable(NULL, true, "PMIX_FABRIC_COORDINATES: ranks 0 and 1 have the same coordinate, 0,0");
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

/* If a source is not usable, the next one is. */
static void test_order(void **state)
{
    (void)state;
    trv_found_t found;
    char text[TRV_FOUND_TEXT_MAX];
    begin();
    assert_int_equal(discover(&found, NULL), 0);
    trv_found_clear(&found);
    add_fujitsu_job(4, 2, 2);
    for (int r = 0; r < ranks; r++) {
        snprintf(record[r].slurm.address, sizeof record[r].slurm.address, "t1:0:0.n%d", r);
        snprintf(record[r].slurm.pattern, sizeof record[r].slurm.pattern, "torus:x:y:z.node");
        record[r].pmix = (trv_pmix_record_t){.present = 1, .locations = 1, .dims = 1, .at = {(uint32_t)r}};
    }
    assert_int_equal(discover(&found, NULL), 1);
    assert_string_equal(trv_found_text(&found, ranks, text), "torus 2x2x4 from FJMPI_Topology_get_coords");
    assert_non_null(strstr(reports, "SLURM_TOPOLOGY_ADDR=t1:0:0.n0 on rank 0 does not have the form"));
    assert_int_equal(wrong_reports, 1);
    trv_found_clear(&found);
    record[2].fujitsu.code = 1;
    assert_int_equal(discover(&found, NULL), 1);
    assert_non_null(strstr(trv_found_text(&found, ranks, text), "mesh 16m from PMIX_FABRIC_COORDINATES"));
    assert_int_equal(reported, 2);
    trv_found_clear(&found);
    add_box("t1", 0, 0, 0, 1, 1, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(trv_source_index(trv_source_name(i)), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_torus),
        cmocka_unit_test(test_slurm_without_dims),
        cmocka_unit_test(test_slurm_ring),
        cmocka_unit_test(test_slurm_several_tori),
        cmocka_unit_test(test_slurm_several_ranks_per_node),
        cmocka_unit_test(test_slurm_errors),
        cmocka_unit_test(test_slurm_environment),
        cmocka_unit_test(test_slurm_dims),
        cmocka_unit_test(test_fujitsu),
        cmocka_unit_test(test_fujitsu_ring_of_three),
        cmocka_unit_test(test_fujitsu_errors),
        cmocka_unit_test(test_pmix),
        cmocka_unit_test(test_pmix_errors),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
