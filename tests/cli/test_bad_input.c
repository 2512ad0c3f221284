/*
 * The tool reports every kind of bad input in one sentence, and at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool.h"

/* Exit code 2, nothing on stdout, one line on stderr that begins with the tool's name and has these words. */
static void test_bad_input(void **state)
{
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"", "a subcommand is missing"},
        {"lsit", "did you mean list?"},
        {"verfy 9", "did you mean verify?"},
        {"frobnicate", "there are list, plan, search, verify, "},
        {"--hlep", "there is no option '--hlep'"},
        {"list 9", "list takes options only"},
        {"list --format=xml", "no format 'xml'"},
        {"list --formt=csv", "did you mean --format?"},
        {"list -z", "there is no option '-z'"},
        {"list --help=1", "takes no value"},
        {"list --format", "needs a value"},
        {"plan", "give either a torus"},
        {"plan 9 3x3", "one torus"},
        {"plan 9 -a ring,swing", "one algorithm"},
        {"plan 9 -a all", "one algorithm"},
        {"plan 9 -a trivanse-b", "did you mean trivance-b?"},
        {"plan 9 -a planned:foo", "planned takes no parameters"},
        {"plan 9 -a trivance:3", "trivance takes no parameters"},
        {"figures --only 6 --output=", "the folder has no name"},
        {"plan 9 -a zzzzzz", "there is no algorithm 'zzzzzz'"},
        {"plan 9 -a ", "needs a value"},
        {"plan 3x", "is not a torus"},
        {"plan x3", "is not a torus"},
        {"plan 3x0", "size 0"},
        {"plan 0x4", "size 0"},
        {"plan -9", "no option"},
        {"plan 9999999999x2", "too large"},
        {"plan 100000x100000", "2^30"},
        {"plan 2x2x2x2x2x2x2x2x2", "more than 8 dimensions"},
        {"plan 9,", "empty entry"},
        {"plan 3y3", "is not a torus"},
        {"plan 3x3 -a ring", "ring"},
        {"plan 9 -a trivance-l -c allgather", "AllReduce only"},
        {"plan 9 -c reduce", "there is no collective 'reduce'"},
        {"plan 9 -b 0", "at least 1"},
        {"plan 9 -b 1.5M", "byte count"},
        {"plan 9 -b 64KB", "byte count"},
        {"plan 9 -b -5", "byte count"},
        {"plan 9 -b 9999999999999999999999", "byte count"},
        {"plan 9 -r 9", "from 0 to 8"},
        {"plan 9 -r -1", "from 0 to 8"},
        {"plan 9 -r x", "from 0 to 8"},
        {"plan 9 -a trivance-l --stream 1", "from 0 to 0"},
        {"plan 9 -b 999T", "packets of 1048576 bytes, the most it may have; a shorter vector has shorter messages"},
        {"plan --schedule=/dev/null", "/dev/null:1:1: it is empty; `trivance plan 9 --format=json -o nine.json`"},
        {"plan 9 -f pdf", "no format 'pdf'"},
        {"plan 9 -f csv", "--format: there is no format 'csv' for a schedule; there are text, svg and json, for "
                          "example --format=json, and for the tables of --all-sizes, --why and --nodes csv"},
        {"search 8x8m", "chains are for tori, and on a mesh those of its torus are used; leave out the m of 8x8m"},
        {"plan 9 -f json -r 1", "all ranks"},
        {"plan 82 -f svg", "too many ranks"},
        {"plan 11x10 -r all -f svg", "too many ranks"},
        {"plan 3x3 -r all", "--rank=all is for --format=svg; text takes the number of a rank, 0 to 8"},
        {"plan 3x3 -r all -f json", "--rank and --stream are for text and svg"},
        {"plan 2x2x2x2 -f svg", "4 dimensions"},
        {"plan --schedule /nonexistent.json", "/nonexistent.json"},
        {"plan 9 -o /nonexistent/plan.txt", "/nonexistent/plan.txt"},
        {"plan 9 --schedule x.json", "a file says itself what is sent, and on which torus; leave out the torus"},
        {"plan 9 --unchecked", "--unchecked is only for --schedule=FILE; leave it out or give that"},
        {"plan 1000x1000 -f svg", "too many ranks for a picture"}, /* at once: planning it takes minutes */
        {"cost 9 --unchecked", "--unchecked is only for --schedule=FILE"},
        {"cost --paper --unchecked", "leave out --unchecked"},
        {"simulate 9 --unchecked", "--unchecked is only for --schedule=FILE"},
        {"simulate 9 --goal=- --unchecked", "a GOAL program has sizes of its own and no steps; leave out --unchecked"},
        {"export 9 --format=goal --unchecked", "--unchecked is about a file"},
        {"search 1", "from 2 to 4096"},
        {"search 9-", "from 2 to 4096"},
        {"search 9-8", "no range of rings"},
        {"search 9,12", "'9,12' is no ring (32), range of rings (2-64), list of tori (4x4,8x8) or stars"},
        {"search star", "is no ring (32), range"},
        {"search 512x512", "512x512 has 262144 ranks; chains are searched for at most 65536"},
        {"search 9x", "is not a torus"},
        {"search 8x8,,9x9", "empty entry"},
        {"search 8x1x8", "leave out the dimensions of 1"},
        {"search 8x8 --steps=3", "--steps is for rings"},
        {"search 8x8 --format=svg", "no format 'svg'"},
        {"search 8x8 8x8", "give one ring, range of rings or list of tori"},
        {"search 4097", "from 2 to 4096"},
        {"search 30 --steps=3", "takes 4 to 15 steps, not 3"},
        {"search 30 --steps=0", "from 1 to 40"},
        {"search 30 --format=svg", "no format 'svg'"},
        {"search 30 --format=c", "trivance search 2-128"},
        {"search", "give one ring, range of rings or list of tori"},
        {"verify", "give either a torus"},
        {"verify 9 --long", "there is no option"},
        {"simulate 9 --seed=x", "simulate: --seed: the seed 'x'"},
        {"verify 3x", "is not a torus"},
        {"verify 9 3x3 0", "size 0"},
        {"verify 3x3 -a ring", "ring"},
        {"verify 9 --method fast", "no method 'fast'"},
        {"verify 9 -a ring,,swing", "empty entry"},
        {"verify 9 -c some", "no collective"},
        {"verify 9 --format=text", "no format 'text'"},
        {"verify 9 -a trivance-l -c allgather", "AllReduce only"},
        {"verify --schedule /", "cannot be read"},
        {"verify 9 --schedule=-", "a file says itself what is sent, and on which torus; leave out the torus"},
        {"cost", "give either a torus or --paper or --schedule=FILE, for example `trivance cost 27`"},
        {"cost 9 --bandwidth=800", "is not a rate"},
        {"cost 9 --bandwidth=0Gb/s", "is not a rate"},
        {"cost 9 --alpha=1.5", "is not a time"},
        {"cost 9 --alpha=-1us", "is not a time"},
        {"cost 9 --hop=nans", "is not a time"},
        {"cost 9 -b 8,,16", "empty entry"},
        {"cost 9 -b 16:8", "must not be the larger one"},
        {"cost 9 -b 8:16:", "is no range of sizes"},
        {"cost 9 -b 0", "at least 1 byte"},
        {"cost --paper -b 8", "--paper has its own tori, algorithms and sizes"},
        {"cost --paper -a ring", "--paper has its own tori, algorithms and sizes"},
        {"cost --paper --hop=1us", "--paper has its own tori, algorithms and sizes"},
        {"cost --schedule=- -a ring", "a file says itself what is sent, and on which torus; leave out --algorithm"},
        {"cost --schedule=- -c allgather",
         "a file says itself what is sent, and on which torus; leave out --collective"},
        {"verify --schedule=- -a ring", "a file says itself what is sent, and on which torus; leave out --algorithm"},
        {"verify --schedule=- -b 8", "a file says itself what is sent, and on which torus; leave out --bytes"},
        {"verify 9 -a ring -b 8", "the size that planned is for"},
        {"plan --schedule=- -a ring -c allgather",
         "a file says itself what is sent, and on which torus; leave out --algorithm and --collective"},
        {"export --schedule=- -c allgather --format=goal",
         "a file says itself what is sent, and on which torus; leave out --collective"},
        {"testbed set link 0:+0 --down --up", "give one of them"},
        {"cost 9 --paper", "--paper has its own tori, algorithms and sizes; leave out the torus"},
        {"cost 3x3 -a ring", "ring"},
        {"cost 9 -b 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "more than 32"},
        {"bench", "mpirun -n 9 trivance bench"},
        {"bench --torus 3x3", "no MPI launcher"},
        {"tune", "mpirun -n 9 trivance tune"},
        {"info 9", "info takes options only"},
        {"info --format=xml", "no format 'xml'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tool_refuses(bad[i].line, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, tool_remove_folder);
}
