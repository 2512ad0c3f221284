/*
 * The tool reports every kind of bad input in one sentence and without delay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tool.h"

/* Expects exit code 2, nothing on stdout, and one line on stderr that begins with the tool's name and contains the
 * words. */
static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"", "a subcommand is missing"},
        {"lsit", "did you mean list?"},
        {"verfy 9", "did you mean verify?"},
        {"frobnicate", "expected list, plan, search, verify, "},
        {"--hlep", "there is no option '--hlep'"},
        {"--version x", "unexpected argument 'x' after --version"},
        {"help plan extra", "unexpected argument 'extra' after plan"},
        {"plan 9 --bytes=1K -b 2K", "--bytes is given twice and may be given only once; leave one out"},
        {"run --torus 3 --torus 9 -- true", "--torus is given twice"},
        {"plan --schedule=a.json --schedule=b.json", "--schedule is given twice"},
        {"sweep --torus=8 --torus=9 -o a.csv -o b.csv", "--output is given twice"},
        {"list 9", "unexpected argument '9': list takes only options"},
        {"list --format=xml", "no format 'xml'"},
        {"list --formt=csv", "did you mean --format?"},
        {"list -z", "there is no option '-z'"},
        {"list --help=1", "takes no value"},
        {"list --format", "needs a value"},
        {"plan", "give a torus"},
        {"plan 9 3x3", "more than one torus"},
        {"plan 9 -a ring,swing", "more than one algorithm"},
        {"plan 9 -a all", "more than one algorithm"},
        {"plan 9 -a trivanse-b", "did you mean trivance-b?"},
        {"plan 9 -a planned:foo", "planned takes no parameters"},
        {"plan 9 -a trivance:3", "trivance takes no parameters"},
        {"plan 9 -a zzzzzz", "there is no algorithm 'zzzzzz'"},
        {"plan 9 -a ", "needs a value"},
        {"plan 3x0", "size 0"},
        {"plan 0x4", "size 0"},
        {"plan -9", "no option"},
        {"plan 9999999999x2", "too large"},
        {"plan 100000x100000", "2^30"},
        {"plan 2x2x2x2x2x2x2x2x2", "more than 8 dimensions"},
        {"plan 9,", "empty entry"},
        {"plan 3y3", "is not a torus"},
        {"plan 3x3 -a ring", "ring"},
        {"plan 9 -a trivance-l -c allgather", "supports only AllReduce"},
        {"plan 9 -c barrier", "there is no collective 'barrier'"},
        {"plan 9 --memory=0", "--memory: the scratch memory of a rank must be at least 1 byte"},
        {"plan 65536x65536", "the torus has more than 2^30 ranks, the maximum"},
        {"plan 9 -a hybrid:", "'hybrid:' has a colon but no parameters: expected hybrid:G["},
        {"cost 9 -a star:", "'star:' has a colon but no parameters"},
        {"export 9 --format=goal --alpha=1.5ns", "--alpha: '1.5ns' is not a whole number of ns"},
        {"export 9 --format=goal --alpha=0.4ns", "--alpha: '0.4ns' is not a whole number of ns"},
        {"verify 2x9 -a ring -c all", "ring"},
        {"plan 9 -b 0", "at least 1"},
        {"plan 9 -b 1.5M", "byte count"},
        {"plan 9 -b 64KB", "byte count"},
        {"plan 9 -b -5", "byte count"},
        {"plan 9 -b 9999999999999999999999", "byte count"},
        {"plan 9 -r 9", "'9' is not a whole number from 0 to 8; for example --rank=4"},
        {"plan 9 -r -1", "from 0 to 8"},
        {"plan 9 -r x", "from 0 to 8"},
        {"plan 9 -a trivance-l --stream 1", "from 0 to 0"},
        {"plan 9 -b 999T", "limit of one hour; choose a smaller size"},
        {"verify --schedule=/dev/zero", "the file '/dev/zero' is a device; expected a regular file or a pipe"},
        {"simulate 9 --goal=/dev/zero", "the file '/dev/zero' is a device; expected a regular file or a pipe"},
        {"simulate 9 --network=/dev/zero", "the file '/dev/zero' is a device; expected a regular file or a pipe"},
        {"topology /dev/zero", "the file '/dev/zero' is a device; expected a regular file or a pipe"},
        {"run --rules-file=/dev/zero -- true", "the file '/dev/zero' is a device; expected a regular file or a pipe"},
        {"plan 9 -f pdf", "no format 'pdf'"},
        {"plan 9 -f csv", "--format: there is no format 'csv' for a schedule; expected text, svg or json, for "
                          "example --format=json (csv is for --all-sizes, --why and --nodes)"},
        {"search 8x8m", "chains are for tori, and a mesh uses those of its torus; leave out the m of 8x8m"},
        {"plan 9 -f json -r 1", "all ranks"},
        {"plan 82 -f svg", "too many ranks"},
        {"plan 11x10 -r all -f svg", "too many ranks"},
        {"plan 3x3 -r all", "--rank=all requires --format=svg; text shows a single rank from 0 to 8"},
        {"plan 3x3 -r all -f json", "--rank and --stream are for text and svg"},
        {"plan 2x2x2x2 -f svg", "4 dimensions"},
        {"plan --schedule /nonexistent.json", "/nonexistent.json"},
        {"plan 9 -o /nonexistent/plan.txt", "/nonexistent/plan.txt"},
        {"plan 9 --schedule x.json", "a schedule file specifies its own torus and messages; leave out the torus"},
        {"plan 9 --unchecked", "--unchecked is valid only with --schedule=FILE; leave it out or add that"},
        {"plan 1000x1000 -f svg", "too many ranks for a picture"}, /* refused before planning, which takes minutes */
        {"cost 9 --unchecked", "--unchecked is valid only with --schedule=FILE"},
        {"cost --paper --unchecked", "leave out --unchecked"},
        {"simulate 9 --unchecked", "--unchecked is valid only with --schedule=FILE"},
        {"simulate 9 --goal=- --unchecked", "a GOAL program has its own sizes and no steps; leave out --unchecked"},
        {"export 9 --format=goal --unchecked",
         "--unchecked is valid only with --schedule=FILE, --cut=LINK or --no-forwarding"},
        {"search 1", "from 2 to 4096"},
        {"search 9-", "'9-' is not a ring or a range of rings"},
        {"search 9-8", "not a range of rings"},
        {"search 9,12", "'9,12' is not a ring, for example 32, a range of rings (2-64) or a list of tori (4x4,8x8)"},
        {"search star", "is not a ring, for example 32, a range"},
        {"search 512x512", "512x512 has 262144 ranks; chains are searched for at most 65536"},
        {"search 9x", "is not a torus"},
        {"search 8x8,,9x9", "empty entry"},
        {"search 8x1x8", "leave out the dimensions of size 1"},
        {"search 8x8 --steps=3", "--steps is for rings"},
        {"search 8x8 --format=svg", "no format 'svg'"},
        {"search 8x8 8x8", "give one ring, range of rings or list of tori"},
        {"search 4097", "from 2 to 4096"},
        {"search 30 --steps=3", "a phase on a ring of 30 takes at least 4 steps and at most 15, not 3\n"},
        {"search 30 --steps=0", "from 1 to 40"},
        {"search 30 --format=svg", "no format 'svg'"},
        {"search", "give one ring, range of rings or list of tori"},
        {"verify", "give a torus"},
        {"verify 9 --long", "there is no option"},
        {"simulate 9 --seed=x",
         "simulate: --seed: the value 'x' is not a whole number from 0 to 2147483647; for example 1\n"},
        {"verify 3x", "is not a torus"},
        {"verify nine.json", "'nine.json' is not a torus; a schedule in a file is given as --schedule=nine.json"},
        {"simulate /etc/passwd", "a schedule in a file is given as --schedule=/etc/passwd"},
        {"verify 9 --root=3", "allreduce has no root; leave out --root"},
        {"verify 9 -c broadcast --root=9", "there is no root 9 among 9 ranks; roots are 0 to 8"},
        {"plan 9 --root=3", "leave out --root, or add --collective=broadcast"},
        {"cost 9 --root=3", "leave out --root"},
        {"simulate 9 --root=3", "leave out --root"},
        {"export 9 --format=goal --root=3", "leave out --root"},
        {"verify 9 3x3 0", "size 0"},
        {"verify 3x3 -a ring", "ring"},
        {"verify 9 --method fast", "no method 'fast'"},
        {"verify 9 -a ring,,swing", "empty entry"},
        {"verify 9 -c some", "gather, alltoall or all, for example"},
        {"verify 9 --format=text", "no format 'text'"},
        {"verify 9 -a trivance-l -c allgather", "supports only AllReduce"},
        {"verify --schedule /", "cannot be read"},
        {"verify 9 --schedule=-", "a schedule file specifies its own torus and messages; leave out the torus"},
        {"cost", "give a torus or --paper or --schedule=FILE, for example `trivance cost 27`"},
        {"cost 9 --bandwidth=800", "is not a rate"},
        {"cost 9 --bandwidth=0Gb/s", "is not a rate"},
        {"cost 9 --alpha=1.5", "is not a time"},
        {"cost 9 --alpha=-1us", "is not a time"},
        {"cost 9 --alpha=7200s", "--alpha: '7200s' is not a time"},
        {"plan 9 --alpha=7200s", "--alpha: '7200s' is not a time"},
        {"plan 9 --bandwidth=0.000001Mb/s", "--bandwidth: '0.000001Mb/s' is not a rate"},
        {"run --ports=+0=eth1,+0=eth2 -- true", "--ports: '+0=eth1,+0=eth2': a port has two interfaces"},
        {"run --provider= -- true", "--provider: the value is missing; for example --provider=tcp"},
        {"launch -n 0 true", "--ranks: '0' is not a whole number from 1 to 4096; for example --ranks=4"},
        {"launch -n 2 --port=x true", "the port 'x' is not a whole number from 1 to 65535; for example --port=29500"},
        {"launch true", "the number of processes is missing"},
        {"plan 9 -b -1", "expected a whole number up to 2^50, alone or with B, K, M, G, T, KiB, MiB, GiB or TiB"},
        {"plan 9 -b 1e6", "expected a whole number up to 2^50, alone or with B, K, M, G, T, KiB, MiB, GiB or TiB"},
        {"simulate 9m -a line-l:2",
         "line-l: '2' is not a number of dimensions that are treated together from 1 to 1 on 9m"},
        {"run --debug-file= -- true", "--debug-file: the value is missing"},
        {"launch --address= -n 2 true", "--address"},
        {"run --torus 3 --hop-latency=7200s -- true", "--hop-latency: '7200s' is not a time"},
        {"cost 9 --hop=nans", "is not a time"},
        {"cost 9 -b 8,,16", "empty entry"},
        {"cost 9 -b 16:8", "expected MIN:MAX with MIN at most MAX"},
        {"cost 9 -b 8:16:", "is not a range of sizes"},
        {"cost 9 -b 0", "at least 1 byte"},
        {"cost --paper -b 8", "--paper has its own tori, algorithms and sizes"},
        {"cost --paper -a ring", "--paper has its own tori, algorithms and sizes"},
        {"cost --paper --hop=1us", "--paper has its own tori, algorithms and sizes"},
        {"cost --schedule=- -a ring", "a schedule file specifies its own torus and messages; leave out --algorithm"},
        {"cost --schedule=- -c allgather",
         "a schedule file specifies its own torus and messages; leave out --collective"},
        {"verify --schedule=- -a ring", "a schedule file specifies its own torus and messages; leave out --algorithm"},
        {"verify --schedule=- -b 8", "a schedule file specifies its own torus and messages; leave out --bytes"},
        {"verify 9 -a ring -b 8", "--bytes is only for planned; named algorithms are verified for all sizes"},
        {"plan 8 --path-bandwidth=1Gb/s", "--path-bandwidth is valid only with --shared-paths; leave it out or add"},
        {"simulate 8 --seed=7", "--seed is valid only with --jitter; leave it out or add that"},
        {"simulate 8 --seed=7 --jitter=0%", "--seed is valid only with --jitter"},
        {"verify 9 -a ring --slow-link=0:+0:4x", "--slow-link affects only times, and what is selected by them"},
        {"export 9 -a ring --format=goal --slow-link=0:+0:4x", "--slow-link affects only times"},
        {"verify 9 -a trivance --messages-per-port=2", "--messages-per-port affects only plans and limits; leave it"},
        {"export 9 -a ring --format=goal --messages-per-port=2", "--messages-per-port affects only plans and limits"},
        {"plan --schedule=- -a ring -c allgather",
         "a schedule file specifies its own torus and messages; leave out --algorithm and --collective"},
        {"export --schedule=- -c allgather --format=goal",
         "a schedule file specifies its own torus and messages; leave out --collective"},
        {"testbed set link 0:+0 --down --up", "cannot be combined"},
        {"cost 9 --paper", "--paper has its own tori, algorithms and sizes; leave out the torus"},
        {"cost 3x3 -a ring", "ring"},
        {"cost 9 -b 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "more than 32"},
        {"bench", "mpirun -n 9 trivance bench"},
        {"bench --torsu=3x3", "there is no option '--torsu'; did you mean --torus?"},
        {"bench 3x3", "unexpected argument '3x3': bench takes only options, for example --torus=3x3"},
        {"tune --bytes", "the option --bytes needs a value"},
        {"bench --torus 3x3", "an MPI launcher is required"},
        {"tune", "mpirun -n 9 trivance tune"},
        {"version 3", "unexpected argument '3' after version; leave it out"},
        {"plan 9 64K", "'64K' is not a torus; the size of a vector is given as --bytes=64K"},
        {"cost 3x3 64M", "'64M' is not a torus; the size of a vector is given as --bytes=64M"},
        {"verify 9 -a hybrid:3,3", "there is no algorithm '3': commas separate algorithms; numbers that belong to one"},
        {"simulate --goal=-", "--goal requires a torus, for example `trivance simulate 3x3 --goal=FILE`"},
        {"launch -np 4 true", "the number of processes is -n N or --ranks=N, not -np N; for example -n 4"},
        {"testbed down 3", "unexpected argument '3': the testbed has no name, for example `trivance testbed down`"},
        {"plan 3x", "expected sizes separated by the letter x, with m after the size of a dimension without"},
        {"plan x3", "expected sizes separated by the letter x, with m after the size of a dimension without"},
        {"simulate 9 --cut=3:+0,6:+0", "--cut: '3:+0,6:+0' has several entries; give the option once for each"},
        {"plan 9 --slow-link=3:+0:2x,6:+0:2x", "--slow-link: '3:+0:2x,6:+0:2x' has several entries; give the option"},
        {"plan 9 --cut=3:+9", "'+9' is not a port: expected + or - and a dimension from 0 to 7, for example +0"},
        {"info 9", "unexpected argument '9': info takes only options"},
        {"info --format=xml", "no format 'xml'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tool_expect_error(bad[i].line, bad[i].words);
}

/* A byte order mark does not belong to the text of a file. Files of 2 GiB are refused. */
static void test_whole_files(void **state)
{
    char path[256], line[300];
    (void)state;
    snprintf(path, sizeof path, "%s/file", tool_folder());
    snprintf(line, sizeof line, "plan --schedule=%s", path);
    tool_write_file(path, "\xef\xbb\xbf", 0600);
    tool_expect_error(line, "/file:1:1: the file is empty; `trivance plan 9 --format=json -o nine.json`");
    assert_int_equal(truncate(path, INT64_C(1) << 31), 0);
    tool_expect_error(line, "/file' is too large: files are read up to 2 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
