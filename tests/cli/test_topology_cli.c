/*
 * trivance topology: its drawings, its error sentences for wrong files, and how hosts are matched to torus coordinates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topology/topology_file.h"
#include "tool.h"

#define HEAD "{\"format\": \"trivance-topology-1\", "

static const char *file_with(const char *text)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/topology.json", tool_folder());
    tool_write_file(path, text, 0644);
    return path;
}

/* Returns the tool's output for a file with this text. */
static tool_t check(const char *text)
{
    char line[4200];
    snprintf(line, sizeof line, "topology %s", file_with(text));
    return tool_run(line, NULL);
}

static void expect_out(const char *text, const char *words)
{
    tool_t tool = check(text);
    if (tool.code != 0 || !strstr(tool.out, words))
        fail_msg("exit code %d, without '%s':\n%s%s", tool.code, words, tool.out, tool.err);
    tool_clear(&tool);
}

static void test_drawings(void **state)
{
    (void)state;
    expect_out(HEAD "\"torus\": [2, 3], \"ranks\": [[0,0],[0,1],[0,2],[1,2],[1,1],[1,0]]}",
               "torus 2x3, 6 ranks at 6 coordinates, 1 at each\n\n  0  1  2\n  5  4  3\n");
    expect_out(HEAD "\"torus\": [3], \"forwarding\": false, \"ranks\": [[0],[1],[2]]}",
               "torus 3, 3 ranks at 3 coordinates, 1 at each\nhosts do not forward: a message crosses one link\n\n  0  "
               "1  2\n");
    expect_out(HEAD "\"torus\": [3], \"ranks\": [[0],[2],[0],[2]]}",
               "torus 3, 4 ranks at 2 coordinates, 2 at each\n\n  0,2    .  1,3\n");
    expect_out(HEAD "\"torus\": [2, 1, 2], \"wrap\": [false, true, true], \"shared_port\": [true, false, true], "
                    "\"hosts\": {\"a\": [0,0,0], \"bc\": [1,0,1]}}",
               "torus 2mx1x2, 2 hosts at 2 coordinates, 1 at each\n"
               "dimension 0: no wrap-around, both directions share a port\n"
               "dimension 2: both directions share a port\n"
               "\ndimension 0 at 0\n   a   .\n\ndimension 0 at 1\n   .  bc\n");
    expect_out(HEAD
               "\"torus\": [2, 3], \"wrap\": [true, false], \"links\": [{\"from\": [0,1], \"port\": \"+1\", \"speed\": "
               "0.25}, {\"from\": [1,0], \"port\": \"-0\", \"down\": true, \"one_way\": true}], \"ranks\": [[0,0]]}",
               "torus 2x3m, 1 rank at 1 coordinate\n"
               "dimension 1: no wrap-around\n"
               "link [0, 1] +1: 0.25 of the bandwidth\n"
               "link [0, 2] -1: 0.25 of the bandwidth\n"
               "link [1, 0] -0: down\n");
    expect_out(HEAD "\"torus\": [1, 3], \"wrap\": [false, false], \"ranks\": [[0,0]]}", "torus 1x3m, 1 rank");
    expect_out(HEAD "\"torus\": [2], \"ranks\": [[0],[1],[1]]}", "1 to 2 at each: uneven");
    /* A failed node, whose cut links divide rows. */
    expect_out(HEAD "\"torus\": [2, 3], \"wrap\": [true, false], \"ranks\": [[0,0]], \"links\": ["
                    "{\"from\": [0, 1], \"port\": \"+0\", \"down\": true}, "
                    "{\"from\": [0, 1], \"port\": \"-0\", \"down\": true}, "
                    "{\"from\": [0, 1], \"port\": \"+1\", \"down\": true}, "
                    "{\"from\": [0, 1], \"port\": \"-1\", \"down\": true}]}",
               "link [0, 1] -1: down\n");
    /* At most 32 columns and 4096 coordinates are drawn. */
    expect_out(HEAD "\"torus\": [1, 32], \"ranks\": [[0,31]]}", "  .  0\n");
    expect_out(HEAD "\"torus\": [1, 33], \"ranks\": [[0,32]]}", "too large to be drawn");
    expect_out(HEAD "\"torus\": [128, 32], \"ranks\": [[127,31]]}", "  .  0\n");
    expect_out(HEAD "\"torus\": [129, 32], \"ranks\": [[128,31]]}", "too large to be drawn");
    expect_out(HEAD "\"torus\": [1000, 1000], \"ranks\": [[999,999]]}", "too large to be drawn");
    expect_out(HEAD "\"torus\": [1], \"hosts\": {\"a-host-with-a-very-long-name\": [0], \"b\": [0]}}",
               "\n  a-host-with-a-very-l");
}

/* One host and its coordinates per line, and the host list that Slurm prints. */
static void test_lists(void **state)
{
    (void)state;
    expect_out("# mine\n n0 0 0\nn1,0,1 # and\n\nn5 1 2\n",
               "torus 2x3, 3 hosts at 3 coordinates, 1 at each\n\n  n0  n1   .\n   .   .  n5\n");
    expect_out("\xef\xbb\xbf" HEAD "\"torus\": [2], \"ranks\": [[0],[1]]}", "torus 2, 2 ranks");
    expect_out("torus 4\na 0\nb 2", "torus 4, 2 hosts at 2 coordinates, 1 at each\n\n  a  .  b  .\n");
    expect_out("a 0\nb 0\n", "torus 1, 2 hosts at 1 coordinate, 2 at each\n");
    expect_out("SwitchName=top Level=1 LinkSpeed=1 Nodes=t[08-10],u,t[1-3]x Switches=s[0-1]\n"
               "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=t[08-10]\n"
               "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=u,t[1-2,5]x\n",
               "torus 2x4, 7 hosts at 7 coordinates, 1 at each\n\n  t08  t09  t10    .\n    u  t1x  t2x  t5x\n");
    expect_out(
        "BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n",
        "torus 2x2, 4 hosts at 4 coordinates, 1 at each\n\n  n1  n2\n  n3  n4\n");
    expect_out(
        "BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
        "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[1-4] BlockSize=4\n",
        "torus 2x2, 4 hosts");
    /* Slurm numbers the nodes of a torus with x, the first dimension, fastest. */
    expect_out(
        "TorusName=t1 Dims=4x2x1 Nodes=n[0-7]\n  TorusName=t1 PlacementDims=2x2x1(4) Anchors=2\n",
        "torus 1x2x4, 8 hosts at 8 coordinates, 1 at each\n\ndimension 0 at 0\n  n0  n1  n2  n3\n  n4  n5  n6  n7\n");
    expect_out("RingName=r1 Nodes=n[2-4],m RingSize=4\n",
               "torus 4, 4 hosts at 4 coordinates, 1 at each\n\n  n2  n3  n4   m\n");
}
#define MESH  HEAD "\n \"torus\": [2, 3], \"wrap\": [true, false], \"ranks\": [[0,0]], \"links\": ["
#define AT_01 "{\"from\": [0,1], \"port\": \"+1\""

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ":1:"},
        {"[1, 2]", ":1:1: a topology must be an object"},
        {"{\"torus\": [2]}", ":1:1: \"format\" must be \"trivance-topology-1\""},
        {"{\"format\": \"trivance-schedule-1\"}", ":1:2: \"format\" must be"},
        {HEAD "\"ranks\": [[0]]}", ":1:1: \"torus\" must be a list of 1 to 8 sizes"},
        {HEAD "\n \"torus\": \"2x2\"}", ":2:2: \"torus\" must be a list of 1 to 8 sizes"},
        {HEAD "\n \"torus\": [2, 0]}",
         ":2:15: the size of dimension 1 in \"torus\" must be a whole number from 1 to 1073741824"},
        {HEAD "\n \"torus\": [65536, 65536]}", ":2:11: "},
        {HEAD "\n \"torus\": [2],\n \"wrap\": [true, true]}", ":3:2: \"wrap\" must be a list of true and false"},
        {HEAD "\n \"torus\": [2],\n \"shared_port\": [1]}", ":3:2: \"shared_port\" must be a list of true and false"},
        {HEAD "\n \"torus\": [2],\n \"forwarding\": 0, \"ranks\": [[0]]}",
         ":3:2: \"forwarding\" must be true or false"},
        {HEAD "\n \"torus\": [2],\n \"links\": 1, \"ranks\": [[0]]}", ":3:2: \"links\" must be a list"},
        {MESH "\n7]}", ":3:1: a link must be an object"},
        {MESH "\n{\"from\": [0,1]}]}", ":3:1: a link must be an object"},
        {MESH "\n{\"port\": \"+1\"}]}", ":3:1: a link must be an object"},
        {MESH "\n{\"from\": [0,3], \"port\": \"+1\", \"down\": true}]}", ":3:13: the coordinate in dimension 1"},
        {MESH "\n{\"from\": [0,1], \"port\": \"1\", \"down\": true}]}", ":3:17: '1' is not a port"},
        {MESH "\n" AT_01 "}]}", ":3:1: a link has either a \"speed\""},
        {MESH "\n" AT_01 ", \"down\": false}]}", ":3:1: a link has either a \"speed\""},
        {MESH "\n" AT_01 ", \"down\": true, \"speed\": 0.5}]}", ":3:1: a link has either a \"speed\""},
        {MESH "\n" AT_01 ", \"speed\": 0}]}", ":3:31: the speed of a link must be a number from 0.000001 to 1"},
        {MESH "\n" AT_01 ", \"speed\": -1}]}", ":3:31: the speed of a link"},
        {MESH "\n" AT_01 ", \"speed\": 1.5}]}", ":3:31: the speed of a link"},
        {MESH "\n" AT_01 ", \"speed\": \"half\"}]}", ":3:31: the speed of a link"},
        {MESH "\n" AT_01 ", \"speed\": 0.5, \"one_way\": 1}]}", ":3:45: \"one_way\" must be true or false"},
        {MESH "\n" AT_01 ", \"speed\": 0.5, \"oneway\": true}]}", ":3:45: a link has no key \"oneway\""},
        {MESH "\n{\"from\": [0,2], \"port\": \"+1\", \"down\": true}]}",
         ":3:1: no link leaves rank 2 by port +1: it is the last of its line"},
        {MESH "\n{\"from\": [0,1], \"port\": \"+2\", \"down\": true}]}",
         ":3:1: no link leaves rank 1 by port +2: 2x3m has fewer dimensions"},
        {MESH AT_01 ", \"speed\": 0.5},\n{\"from\": [0,2], \"port\": \"-1\", \"speed\": 0.25}]}",
         ":3:1: the link is listed twice"},
        {"",
         "topology.json:1: the file is empty; `mpirun -n 8 trivance topology --dump --torus=2x4 -o torus.json` writes"},
        {" \n\n", "topology.json:1: the file is empty"},
        {HEAD "\n \"torus\": [2, 2],\n \"wrap\": true}", ":3:2: \"wrap\" must be a list of true and false, one for "
                                                         "each dimension, of which there are 2: [true, true] for "
                                                         "example"},
        {HEAD "\n \"torus\": [2]}", ":1:1: the coordinates are missing: expected \"ranks\""},
        {HEAD "\n \"torus\": [2], \"hosts\": {\"\": [0]}}", ":2:30: a host has no name"},
        {HEAD "\n \"torus\": [2], \"ranks\": [[0]], \"hosts\": {\"a\": [0]}}", ":2:32: a topology must have either"},
        {HEAD "\n \"torus\": [2], \"ranks\": []}", ":2:16: \"ranks\" must be a list of coordinates"},
        {HEAD "\n \"torus\": [2], \"hosts\": {}}", ":2:16: \"hosts\" must be an object"},
        {HEAD "\n \"torus\": [2], \"ranks\": [[0], 1]}",
         ":2:31: a coordinate must be a list of 1 number, for example [0]"},
        {HEAD "\n \"torus\": [2], \"ranks\": [[0], [2]]}", ":2:32: the coordinate in dimension 0 must be a whole"},
        {HEAD "\n \"torus\": [2], \"hosts\": {\"a\": [0.5]}}", ":2:32: the coordinate in dimension 0 must be a whole"},
        {HEAD "\n \"torus\": [2], \"hosts\": {\"a\": [0], \"a\": [1]}}", ":2:"},
        {HEAD "\n \"torus\": [2], \"ranks\": [[0],", ":2:29: not valid JSON"},
        {"n0 0 x\n", ":1: expected 1 to 8 coordinates from 0 on after the host, not 'x'"},
        {"n0 0\nn1 -1\n", ":2: expected 1 to 8 coordinates"},
        {"n0 0\nn1 0 1\n", ":2: the host 'n1' has 2 coordinates, and the previous ones have 1"},
        {"n0 0\n n1\n", ":2: the host 'n1' has no coordinates"},
        {"n0 0\nn1 1\nn0 1\n", ":3: the host 'n0' is listed twice, first in line 1"},
        {"torus 2\nn0 1\nn1 2\n", ":3: coordinate 2 is outside dimension 0, whose size is 2"},
        {"torus 2x\n", ":1: '2x' is not a torus"},
        {"n0 0\ntorus 2\n", ":2: the line with the torus must precede the hosts"},
        {"# nothing\n", ": the file has no hosts"},
        {"n0 0\nSwitchName=s Level=0 Nodes=n1\n", ":2: the file has lines of different kinds"},
        {"SwitchName=s Level=0 Switches=a\n", ":1: a leaf has no Nodes="},
        {"SwitchName=s Level=0 Nodes=n[3-1]\n", ":1: '3-1' is not a range of nodes"},
        {"SwitchName=s Level=0 Nodes=n[1-2]m[1-2]\n", ":1: 'n[1-2]m[1-2]' must have one pair"},
        {"SwitchName=s Level=0 Nodes=n0-3]\n", ":1: 'n0-3]' is not a name of nodes"},
        {"SwitchName=s Level=0 Nodes=n1\nSwitchName=t Level=0 Nodes=(null)\n", ":2: '(null)' is not a name of nodes"},
        {"SwitchName=s Level=0 Nodes=n1\nSwitchName=t Level=0 Nodes=n[]\n", ":2: 'n[]' must have"},
        {"SwitchName=s Level=x Nodes=n1\n", ":1: Level must be a number, not 'x'"},
        {"SwitchName=s Level=0 Nodes=n1,,n2\n", ":1: the list of nodes has an empty entry"},
        {"TorusName=t Dims=2x2x2 Nodes=n[1-7]\n", ":1: the torus has 8 coordinates and 7 nodes"},
        {"TorusName=t Dims=2x2x2 Nodes=n[1-9]\n", ":1: the torus has 8 coordinates and 9 nodes"},
        {"TorusName=t Dims=2x2x2\n", ":1: the torus has no Nodes="},
        {"TorusName=t Nodes=n[1-7]\n", ":1: expected Dims=XxYxZ of a torus"},
        {"RingName=r Nodes=n[1-4] RingSize=4m\n",
         ":1: expected Dims=XxYxZ of a torus, or RingSize= of a ring, not '4m'"},
        {"TorusName=t Dims=2 Nodes=n[1-2]\nTorusName=u Dims=2 Nodes=m[1-2]\n", ":2: there are several tori or rings"},
        {"TorusName=t Dims=2 Nodes=n[1-2]\nm 0\n", ":2: the file has lines of different kinds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tool_t tool = check(cases[i].text);
        if (tool.code != 2 || !strstr(tool.err, cases[i].words) || strchr(tool.err, '\n') != strrchr(tool.err, '\n'))
            fail_msg("'%s': exit code %d, without '%s':\n%s", cases[i].text, tool.code, cases[i].words, tool.err);
        assert_string_equal(tool.out, "");
        tool_clear(&tool);
    }
}

static void test_arguments(void **state)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"topology --why torus.json", "--why is valid only without a file"},
        {"topology --torus=3", "--torus is valid only with --dump or --ports"},
        {"topology --dump --torus=2 --bytes=4K", "leave out --bytes, for example `trivance topology --dump"},
        {"topology --dump torus.json", "leave out the file"},
        {"topology --dump", "an MPI launcher is required"},
        {"topology --dupm", "did you mean --dump?"},
        {"topology /no/such/file", "cannot be read"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tool_t tool = tool_run(cases[i].line, NULL);
        assert_int_equal(tool.code, 2);
        assert_non_null(strstr(tool.err, cases[i].words));
        tool_clear(&tool);
    }
    /* Rank 0 of a job reports errors in the command line. */
    static const char *const of_job[] = {"RANK=1", "WORLD_SIZE=2", NULL};
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "topology --ports --bytes=0", NULL, of_job);
    assert_int_equal(tool.code, 2);
    assert_string_equal(tool.err, "");
    tool_clear(&tool);
    tool = check(HEAD "\n\"tours\": 1, \"torus\": [1], \"ranks\": [[0]]}");
    assert_int_equal(tool.code, 0);
    assert_non_null(strstr(tool.err, "topology.json:2:1: the key \"tours\" is unknown and ignored"));
    tool_clear(&tool);
}

static void test_hosts(void **state)
{
    static const char text[] = HEAD "\"torus\": [4], \"hosts\": "
                                    "{\"n1.a\": [1], \"n1\": [0], \"n2.a\": [2], \"n3\": [3]}}";
    trv_topology_t topology;
    (void)state;
    assert_int_equal(trv_topology_parse(&topology, "text", text, strlen(text), NULL, NULL), TRV_OK);
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n1"), 0); /* the full name */
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n1.a"), 1);
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n1.b"), 0); /* up to the dot: "n1" matches any n1 */
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n2"), 2);
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n2.b"), -1); /* two full names that differ */
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n3.x.y"), 3);
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n"), -1);
    assert_int_equal(trv_topology_coordinate(&topology, 0, "n33"), -1);
    trv_topology_clear(&topology);
}

/* Without a file and a launcher: what is known before a job. `scontrol` is a script here. */
static void test_discovery(void **state)
{
    static const char script[] =
        "#!/bin/sh\n[ \"$*\" = 'show topology' ] && echo 'TorusName=t1 Dims=4x4x8 Nodes=n[0-127]'\n";
    char path[400], search[420];
    (void)state;
    snprintf(path, sizeof path, "%s/scontrol", tool_folder());
    tool_write_file(path, script, 0755);
    snprintf(search, sizeof search, "PATH=%s:/usr/bin:/bin", tool_folder());
    const struct {
        const char *setting[5];
        int code;
        const char *out;
    } cases[] = {
        {{NULL},
         1,
         "No torus is known: TRIVANCE_TORUS and TRIVANCE_TOPOLOGY_FILE are not set, and no SLURM_TOPOLOGY_ADDR"},
        {{"TRIVANCE_TORUS=4x4", NULL}, 0, "TRIVANCE_TORUS=4x4\n"},
        {{search, "SLURM_JOB_ID=1", NULL}, 0, "tori of Slurm: t1=4x4x8\nFor the torus of a job, start this command"},
        {{search, "SLURM_JOB_ID=1", "SLURM_TOPOLOGY_ADDR=t1:0:1:2.n", "SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node",
          NULL},
         0,
         "tori of Slurm: t1=4x4x8\nthis node: SLURM_TOPOLOGY_ADDR=t1:0:1:2.n\nFor the torus"},
        {{"SLURM_TOPOLOGY_ADDR=s0.n", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.node", NULL}, 1, ""},
        {{"RANK=1", "WORLD_SIZE=2", NULL}, 0, ""},
        {{"TRIVANCE_SLURM_DIMS=t1=4x4x8", "SLURM_TOPOLOGY_ADDR=t1:4:1:2.n",
          "SLURM_TOPOLOGY_ADDR_PATTERN=torus:x:y:z.node", NULL},
         1,
         "SLURM_TOPOLOGY_ADDR=t1:4:1:2.n on rank 0 is outside the dimensions 4x4x8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tool_t tool = tool_run_as(TRIVANCE_TOOL, "topology", NULL, cases[i].setting);
        if (tool.code != cases[i].code || strncmp(tool.out, cases[i].out, strlen(cases[i].out)) != 0 || *tool.err)
            fail_msg("case %zu: exit code %d, '%s', '%s'", i, tool.code, tool.out, tool.err);
        tool_clear(&tool);
    }
    static const char *const bad[][2] = {{"TRIVANCE_TORUS=8y8", "TRIVANCE_TORUS: "},
                                         {"TRIVANCE_TOPOLOGY_FILE=/none.json", "TRIVANCE_TOPOLOGY_FILE: "},
                                         {"TRIVANCE_SLURM_DIMS=8x8x8", "TRIVANCE_SLURM_DIMS: "}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const setting[] = {bad[i][0], NULL};
        tool_t tool = tool_run_as(TRIVANCE_TOOL, "topology", NULL, setting);
        if (tool.code != 2 || *tool.out || !strstr(tool.err, bad[i][1]))
            fail_msg("%s: exit code %d, '%s', '%s'", bad[i][0], tool.code, tool.out, tool.err);
        tool_clear(&tool);
    }
    static const char *const why[] = {"SLURM_TOPOLOGY_ADDR=s0.n", "SLURM_TOPOLOGY_ADDR_PATTERN=switch.node", NULL};
    tool_t tool = tool_run_as(TRIVANCE_TOOL, "topology --why", NULL, why);
    assert_int_equal(tool.code, 1);
    assert_non_null(
        strstr(tool.out, "SLURM_TOPOLOGY_ADDR=s0.n has the pattern switch.node, in which there are no coordinates"));
    tool_clear(&tool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawings),  cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_bad_files), cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_hosts),     cmocka_unit_test(test_discovery)};
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
