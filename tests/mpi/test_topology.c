/*
 * The torus of communicators by a topology file and by TRIVANCE_TORUS: sub-tori, other orders of ranks, several ranks
 * per coordinate, invalid files. Each case is a separate launch: test_topology CASE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/trivance_mpi.h>

#include "harness.h"
#include "topology_results.h"
#include "mpi/communicator/attribute.h"
#include "mpi/communicator/fit.h"
#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"
#include "mpi/reports/log.h"
#include "mpi/communicator/state.h"
#include "transport/mpi/waiting.h"
#include "mpi/communicator/wiring.h"

static char path[64]; /* of the topology file that this launch writes */

/* ---- Tori -------------------------------------------------------------------------------------------------------- */

/* Expects the library's data about a communicator: its torus with its lines, the number of ranks per coordinate, and
 * whether calls on it are dispatched. */
static void expect_torus(MPI_Comm comm, const char *torus, int per_coordinate, const char *what)
{
    trv_mpi_state_t *state;
    char text[TRV_TORUS_TEXT_MAX];
    if (!expect_class(trv_mpi_state_find(comm, &state), MPI_SUCCESS, NULL, what))
        return;
    trv_torus_format(&state->config.network.torus, text, sizeof text);
    expect(strcmp(text, torus) == 0, "%s: the torus is %s, not %s (%s)", what, text, torus, state->config.reason);
    expect((state->config.node != NULL) == (per_coordinate > 1), "%s: %s (%s)", what,
           state->config.node ? "several ranks per coordinate" : "one rank per coordinate", state->config.reason);
}

/* Checks the results of every algorithm that supports the communicator. */
static void try_algorithms(MPI_Comm comm, const char *what)
{
    char by[128];
    int tried = 0;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const char *name = trv_algorithm_name(trv_algorithm_at(i));
        snprintf(by, sizeof by, "%s by %s", what, name);
        if (TRV_Comm_set(comm, NULL, name) != MPI_SUCCESS)
            continue;
        try_integers(comm, MPI_INT, sizeof(int), MPI_BXOR, 1000 + i, by);
        tried++;
    }
    expect(tried > 5, "%s: %d algorithms", what, tried);
    expect_class(TRV_Comm_set(comm, NULL, "auto"), MPI_SUCCESS, NULL, what);
}

/* Expects these slow or failed links, in this order: "1:+0 4, 2:-0 inf". */
static void expect_links(MPI_Comm comm, const char *links, const char *what)
{
    trv_mpi_state_t *state;
    char text[512] = "", port[TRV_PORT_TEXT_MAX];
    if (!expect_class(trv_mpi_state_find(comm, &state), MPI_SUCCESS, NULL, what))
        return;
    for (int i = 0; i < state->config.network.slow_links; i++) {
        const trv_slow_link_t *link = &state->config.network.slow_link[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d:%s %g", used ? ", " : "", link->rank,
                 trv_port_format(link->port, port), link->factor);
    }
    expect(strcmp(text, links) == 0, "%s: the links are '%s', not '%s'", what, text, links);
}

static void try_split_with_links(int color, const char *torus, const char *links, const char *what)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, color < 0 ? MPI_UNDEFINED : color, test_rank, &part);
    if (part != MPI_COMM_NULL) {
        expect_torus(part, torus, 1, what);
        expect_links(part, links, what);
        try_algorithms(part, what);
        try_results(part, what);
        MPI_Comm_free(&part);
    }
}

/* Tests a communicator of the ranks whose `color` is not negative, in the order of `key`. */
static void try_split(int color, int key, const char *torus, int per_coordinate, const char *what)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, color < 0 ? MPI_UNDEFINED : color, key, &part);
    if (part != MPI_COMM_NULL) {
        expect_torus(part, torus, per_coordinate, what);
        try_doubles(part, 1, false, what);
        try_doubles(part, 30000, true, what);
        try_pairs(part, 3, what);
        try_others(part, what);
        MPI_Comm_free(&part);
    }
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

/* 8 ranks, TRIVANCE_TORUS=2x4: rank = 4 * row + column. */
static void parts_of_2x4(void)
{
    int row = test_rank / 4, column = test_rank % 4;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    expect_torus(dup, "2x4", 1, "a dup");
    MPI_Comm_free(&dup);
    try_split(0, -test_rank, "2x4", 1, "all, in reverse order");
    try_split(row, column, "4", 1, "a row");
    try_split(column, row, "2", 1, "a column");
    try_split(column % 2, test_rank, "2x2", 1, "every second column");
    try_split(column / 2, test_rank, "2x2m", 1, "two columns that are neighbours");
    try_split(column < 3 ? 0 : -1, test_rank, "2x3m", 1, "three columns");
    try_split(test_rank != 5 ? 0 : -1, test_rank, "7", 1, "all but one: a ring in the order of ranks");
    try_split(test_rank == 6 ? 0 : -1, 0, "1", 1, "one rank");
}

static void parts_of_3x3(void)
{
    int row = test_rank / 3, column = test_rank % 3;
    try_results(MPI_COMM_WORLD, "3x3");
    try_split(row, -column, "3", 1, "a row, in reverse order");
    try_split(column < 2 && row > 0 ? 0 : -1, test_rank, "2mx2m", 1, "a corner");
    try_split((row + column) % 3, test_rank, "3", 1, "a diagonal: a ring in the order of ranks");
}

/* The memory of a communicator's nodes is freed with the communicator. */
static void node_memory_is_freed(void)
{
    int before = test_mapped_nodes(), in = test_rank, out = 0, max = 0;
    expect(before > 0, "the memory of MPI_COMM_WORLD's nodes is not there");
    for (int i = 0; i < 20; i++) {
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, dup), MPI_SUCCESS, NULL, "a dup");
        expect(out == test_ranks * (test_ranks - 1) / 2, "on a dup the sum is %d", out);
        max = test_mapped_nodes() > max ? test_mapped_nodes() : max;
        MPI_Comm_free(&dup);
    }
    expect(max == before + 1 && test_mapped_nodes() == before, "memories of nodes: %d, at most %d, then %d", before,
           max, test_mapped_nodes());
}

/* 8 ranks at 4 coordinates. */
static void nodes(void)
{
    expect_torus(MPI_COMM_WORLD, "2x2", 2, "two ranks per node");
    try_results(MPI_COMM_WORLD, "two ranks per node");
    try_split(0, -test_rank, "2x2", 2, "two ranks per node, in reverse order");
}

static void nodes_in_blocks(void)
{
    nodes();
    try_split(test_rank % 2, test_rank, "2x2", 1, "one rank of each node");
    try_split(test_rank / 4, test_rank, "2", 2, "two nodes");
    try_split(test_rank / 2, test_rank, "1", 2, "one node");
    try_split(test_rank != 5 ? 0 : -1, test_rank, "7", 1, "uneven counts: a ring in the order of ranks");
}

static void four_per_node(void)
{
    expect_torus(MPI_COMM_WORLD, "2", 4, "four ranks per node");
    try_results(MPI_COMM_WORLD, "four ranks per node");
}

/* Under the drop-in calls on communicators that do not fit fall back, and the log has the reason. */
static void drop_in(void)
{
    trv_mpi_state_t *state;
    MPI_Comm part, grid;
    trv_mpi_set_mode(TRV_MPI_DROP_IN);
    trv_mpi_intercept_init(true);
    expect_torus(MPI_COMM_WORLD, "2x2", 1, "all");
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 3, test_rank, &part);
    expect_class(trv_mpi_state_find(part, &state), MPI_SUCCESS, NULL, "three ranks of 2x2");
    if (test_rank == 3)
        expect(!state, "a part of one rank has a state");
    else
        expect(!state->config.torus_known && strstr(state->config.reason, "do not form a torus"),
               "a part of three ranks: %s", state->config.reason);
    try_results(part, "three ranks of 2x2");
    MPI_Comm_free(&part);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){1}, 0, &grid);
    expect_torus(grid, "2x2", 1, "a Cartesian communicator, whose grid is not used because a torus is known");
    MPI_Comm_free(&grid);
    MPI_Comm_dup(MPI_COMM_SELF, &part);
    expect_class(trv_mpi_state_find(part, &state), MPI_SUCCESS, NULL, "one rank");
    expect(!state, "one rank has a state");
    MPI_Comm_free(&part);
}

/* The topology of a periodic grid is used. A communicator of its first three ranks has none, although Open MPI 4.1
 * reports the same grid for it. */
static void grids(void)
{
    MPI_Comm grid, part;
    MPI_Group all, some;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 1}, 0, &grid);
    expect_torus(grid, "2x2", 1, "a periodic grid");
    try_results(grid, "a periodic grid");
    MPI_Comm_group(grid, &all);
    MPI_Group_range_incl(all, 1, (int[1][3]){{2, 0, -1}}, &some);
    if (test_rank < 3) {
        MPI_Comm_create_group(grid, some, 5, &part);
        expect_torus(part, "3", 1, "a part of a grid");
        try_results(part, "a part of a grid");
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Comm_free(&grid);
}

/* Grids that are periodic in no dimension or only in one: the other dimensions are lines. */
static void try_grid(int rows, int columns, const int periodic[2], const char *torus)
{
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){rows, columns}, periodic, 0, &grid);
    if (grid == MPI_COMM_NULL)
        return;
    expect_torus(grid, torus, 1, torus);
    try_results(grid, torus);
    try_algorithms(grid, torus);
    MPI_Comm_free(&grid);
}

/* A grid is replaced by a ring of its ranks if the algorithm that TRIVANCE_ALGORITHM (main) or TRV_Comm_set names
 * supports only rings; but not if a torus is set or the grid is periodic. */
static void named_grids(void)
{
    int in = 1, out = 0;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid);
    expect_torus(grid, "4", 1, "TRIVANCE_ALGORITHM=ring");
    try_results(grid, "TRIVANCE_ALGORITHM=ring");
    expect_class(TRV_Comm_set(grid, NULL, "bucket"), MPI_SUCCESS, NULL, "a name that supports the mesh");
    expect_torus(grid, "2mx2m", 1, "a name that supports the mesh");
    expect_class(TRV_Comm_set(grid, NULL, "ring"), MPI_SUCCESS, NULL, "a name for rings");
    expect_torus(grid, "4", 1, "a name for rings");
    expect_class(TRV_Comm_set(grid, "2x2", "ring"), MPI_ERR_UNSUPPORTED_OPERATION, "supports only rings", "2x2");
    MPI_Comm_free(&grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 1}, 0, &grid);
    expect_torus(grid, "2x2", 1, "a periodic grid");
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, grid), MPI_ERR_ARG, "supports only rings",
                 "TRIVANCE_ALGORITHM=ring on a periodic grid");
    MPI_Comm_free(&grid);
    trv_mpi_set_mode(TRV_MPI_DROP_IN);
    trv_mpi_intercept_init(true);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 1}, 0, &grid);
    expect_torus(grid, "4", 1, "under the drop-in");
    try_results(grid, "under the drop-in");
    MPI_Comm_free(&grid);
}

static void meshes(void)
{
    try_grid(3, 3, (int[]){0, 0}, "3mx3m");
    try_grid(2, 3, (int[]){0, 1}, "2mx3");
    try_grid(2, 3, (int[]){1, 0}, "2x3m");
    try_grid(1, 3, (int[]){0, 0}, "1x3m");
}

/* A coordinate per node. MPICH can be configured to treat even and odd ranks as two nodes; otherwise there is one. */
#ifdef MPICH_VERSION
enum { NODES = 2 };
#else
enum { NODES = 1 };
#endif

static void one_per_node(void)
{
    const int nodes = NODES;
    MPI_Comm early;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank / 2, test_rank, &early);
    expect_torus(early, "2", 1, "before a collective on MPI_COMM_WORLD, as a ring");
    MPI_Comm_free(&early);
    expect_torus(MPI_COMM_WORLD, nodes == 2 ? "2" : "1", test_ranks / nodes, "a coordinate per node");
    try_results(MPI_COMM_WORLD, "a coordinate per node");
    try_split(test_rank / 2, test_rank, nodes == 2 ? "2" : "1", 2 / nodes, "two ranks");
    node_memory_is_freed();
}

/* A topology file with slow and failed links. */
static void shared_ports(void)
{
    trv_mpi_state_t *state;
    expect_torus(MPI_COMM_WORLD, "2mx2", 1, "a file with a shared port");
    if (trv_mpi_state_find(MPI_COMM_WORLD, &state) == MPI_SUCCESS)
        expect(state->config.shared_port == 2, "shared ports %x", state->config.shared_port);
    try_split(test_rank / 2, test_rank, "2", 1, "a row, without the property of the columns");
    try_split(test_rank % 2, test_rank, "2m", 1, "a column");
    try_results(MPI_COMM_WORLD, "a file that names the ranks in reverse order");
}

/* TRIVANCE_TORUS with lines. */
static void lines(void)
{
    const char *torus = getenv("TRIVANCE_TORUS");
    expect_torus(MPI_COMM_WORLD, torus, 1, "a line, or a mesh");
    try_algorithms(MPI_COMM_WORLD, torus);
    try_results(MPI_COMM_WORLD, torus);
    try_split(test_rank < 2 ? 0 : -1, test_rank, "2m", 1, "the first two");
}

/* A ring of 9 whose link after rank 3 has failed and whose link after rank 7 is slow. */
static void cut_ring(void)
{
    MPI_Comm part;
    trv_mpi_state_t *state;
    try_split_with_links(0, "9", "7:+0 10, 8:-0 10, 3:+0 inf, 4:-0 inf", "a ring with a cut");
    try_split_with_links(test_rank % 3 == 0 ? 0 : -1, "3", "0:-0 10, 2:+0 10, 1:+0 inf, 2:-0 inf", "every third");
    try_split_with_links(test_rank > 3 ? 0 : -1, "5m", "3:+0 10, 4:-0 10", "the ranks after the cut");
    try_split_with_links(test_rank > 6 || test_rank < 2 ? 0 : -1, "4m", "0:+0 10, 1:-0 10",
                         "four across the ring's end");
    MPI_Comm_split(MPI_COMM_WORLD, test_rank > 1 && test_rank < 6 ? 0 : MPI_UNDEFINED, 0, &part);
    if (part == MPI_COMM_NULL)
        return;
    expect_torus(part, "4", 1, "both sides of the cut: a ring in the order of ranks");
    if (trv_mpi_state_find(part, &state) == MPI_SUCCESS)
        expect(strstr(state->config.reason, "into two parts") != NULL, "both sides of the cut: %s",
               state->config.reason);
    try_results(part, "both sides of the cut");
    MPI_Comm_free(&part);
}

/* 3x3m: in column 0 the link after row 1 has failed, and in row 0 the link after column 1 is slow in one direction. */
static void cut_mesh(void)
{
    try_split_with_links(0, "3x3m", "1:+1 2, 3:+0 inf, 6:-0 inf", "a mesh with a cut");
    try_split_with_links(test_rank / 3, "3m", test_rank < 3 ? "1:+0 2" : "", "its rows");
    try_split_with_links(test_rank % 3, "3", test_rank % 3 ? "" : "1:+0 inf, 2:-0 inf", "its columns");
    try_split_with_links(test_rank % 3 != 1 && test_rank < 6 ? 0 : -1, "2mx2m", "0:+1 2", "two columns of two rows");

    /* The cut divides column 0 of the rows 1 and 2: a set of nodes, which is planned as the mesh that they form. */
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank >= 3 ? 0 : MPI_UNDEFINED, 0, &part);
    if (part == MPI_COMM_NULL)
        return;
    expect_torus(part, "6", 1, "rows on both sides of a cut: a ring in the order of ranks");
    try_results(part, "rows on both sides of a cut");
    TRV_Plan plan;
    TRV_Plan_info info = {TRV_PLAN_INFO};
    expect_class(TRV_Allreduce_plan_create(1, MPI_INT, MPI_SUM, part, &plan), MPI_SUCCESS, NULL, "a plan there");
    expect_class(TRV_Plan_query(plan, &info), MPI_SUCCESS, NULL, "its torus");
    expect(strcmp(info.torus, "2mx3m") == 0, "rows on both sides of a cut: planned on %s", info.torus);
    TRV_Plan_free(&plan);
    MPI_Comm_free(&part);
}

/* 2mx2 without the link between the rows in column 1. */
static void divided_row(void)
{
    expect_torus(MPI_COMM_WORLD, "4", 1, "a divided row: a ring in the order of ranks");
    try_results(MPI_COMM_WORLD, "a divided row");
}

static void invalid_file(const char *words)
{
    int in = 1, out = 0;
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_ARG, words, "a wrong file");
    expect_class(TRV_Comm_set(MPI_COMM_WORLD, "2x2", "auto"), MPI_SUCCESS, NULL, "TRV_Comm_set after the error");
    expect_class(TRV_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS, NULL, "a call after that");
    expect(out == test_ranks, "the sum of ones is %d", out);
}

#define HEAD "{\"format\": \"trivance-topology-1\", \"torus\": [2, 2], "

static const struct test_case {
    const char *name;
    const char *torus, *file; /* TRIVANCE_TORUS; the text of TRIVANCE_TOPOLOGY_FILE */
    void (*run)(void);
    const char *words; /* in the error message */
} cases[] = {
    {"parts-2x4", "2x4", NULL, parts_of_2x4, NULL},
    {"parts-3x3", "3x3", NULL, parts_of_3x3, NULL},
    {"blocks", "9", HEAD "\"ranks\": [[0,0],[0,0],[0,1],[0,1],[1,0],[1,0],[1,1],[1,1]]}", nodes_in_blocks, NULL},
    {"round-robin", NULL, HEAD "\"ranks\": [[0,0],[0,1],[1,0],[1,1],[0,0],[0,1],[1,0],[1,1]]}", nodes, NULL},
    {"four", NULL,
     "{\"format\": \"trivance-topology-1\", \"torus\": [2], "
     "\"ranks\": [[1],[0],[1],[0],[0],[1],[0],[1]]}",
     four_per_node, NULL},
    {"nodes", "1,2", NULL, one_per_node, NULL},
    {"marks", NULL,
     HEAD "\"wrap\": [false, true], \"shared_port\": [false, true], "
          "\"ranks\": [[1,1],[1,0],[0,1],[0,0]]}",
     shared_ports, NULL},
    {"3m", "3m", NULL, lines, NULL},
    {"9m", "9m", NULL, lines, NULL},
    {"2x3m", "2x3m", NULL, lines, NULL},
    {"cut-ring", NULL,
     "{\"format\": \"trivance-topology-1\", \"torus\": [9], \"links\": [{\"from\": [3], \"port\": \"+0\", \"down\": "
     "true}, "
     "{\"from\": [8], \"port\": \"-0\", \"speed\": 0.1}], \"ranks\": [[0],[1],[2],[3],[4],[5],[6],[7],[8]]}",
     cut_ring, NULL},
    {"cut-mesh", NULL,
     "{\"format\": \"trivance-topology-1\", \"torus\": [3, 3], \"wrap\": [true, false], \"links\": [{\"from\": [1, 0], "
     "\"port\": \"+0\", \"down\": true}, {\"from\": [0, 1], \"port\": \"+1\", \"speed\": 0.5, \"one_way\": true}], "
     "\"ranks\": [[0,0],[0,1],[0,2],[1,0],[1,1],[1,2],[2,0],[2,1],[2,2]]}",
     cut_mesh, NULL},
    {"drop-in", "2x2", NULL, drop_in, NULL},
    {"grids", NULL, NULL, grids, NULL},
    {"meshes", NULL, NULL, meshes, NULL},
    {"named-grids", NULL, NULL, named_grids, NULL},
    {"outside", NULL, HEAD "\n\"ranks\": [[0,0], [0,1], [1,0], [1,2]]}", NULL,
     "2:35: the coordinate in dimension 1 must be a whole number from 0 to 1"},
    {"divided-row", NULL,
     HEAD "\"wrap\": [false, true], \n\"links\": [{\"from\": [0,1], \"port\": \"+0\", \"down\": true}], "
          "\"ranks\": [[0,0],[0,1],[1,0],[1,1]]}",
     divided_row, NULL},
    {"folder", NULL, "", NULL, "cannot be read: Is a directory"},
    {"few", NULL, HEAD "\"ranks\": [[0,0], [0,1], [1,0]]}", NULL, "coordinates for 3 ranks, and MPI_COMM_WORLD has 4"},
    {"hosts", NULL, HEAD "\"hosts\": {\"no-such-host\": [0,0]}}", NULL, "no coordinate for the host"},
};

/* Writes the file. Only rank 0 reads it, so only rank 0 writes it; before MPI_Init the rank is known from the
 * launcher's environment. */
static void write_file(const char *text)
{
    if (!*text) { /* no file: a folder, which is opened like one */
        setenv("TRIVANCE_TOPOLOGY_FILE", "/tmp", 1);
        return;
    }
    snprintf(path, sizeof path, "/tmp/trivance-topology-%ld.json", (long)getppid());
    FILE *file = trv_mpi_log_rank() == 0 ? fopen(path, "w") : NULL;
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    setenv("TRIVANCE_TOPOLOGY_FILE", path, 1);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    size_t at = 0;
    while (at < sizeof cases / sizeof cases[0] && strcmp(cases[at].name, name) != 0)
        at++;
    if (at == sizeof cases / sizeof cases[0])
        return fprintf(stderr, "test_topology: there is no case '%s'\n", name), 2;
    const struct test_case *test = &cases[at];
    if (test->run == one_per_node)
        setenv("MPIR_CVAR_ODD_EVEN_CLIQUES", "1", 1);
    setenv("TRIVANCE_TORUS", test->torus ? test->torus : "", 1);
    if (test->run == named_grids)
        setenv("TRIVANCE_ALGORITHM", "ring", 1);
    if (test->file)
        write_file(test->file);
    test_begin(&argc, &argv);
    if (test->run)
        test->run();
    else
        invalid_file(test->words);
    test_barrier(MPI_COMM_WORLD);
    if (test_rank == 0 && *path)
        unlink(path);
    return test_end();
}
