/*
 * The command line of trivance bench.
 *
 * The option letters are those of all subcommands. With --format=osu or nccl the command also accepts the letters of
 * that benchmark, so that its command lines work: a table of these letters precedes the other options, and the first
 * option with a letter takes precedence.
 */
#include "cli/shared/bench_command.h"

#include <string.h>

#include "cli/shared/select.h"

static const cli_option_t option[] =
    {{NULL, 0, NULL, "Collective", NULL},
     {"torus", BENCH_TORUS, "LIST",
      "tori of N ranks, for example 9 or 9,3x3; may be repeated (default: those of TRIVANCE_TORUS, else that of "
      "TRIVANCE_TOPOLOGY_FILE, else a ring of N)",
      NULL},
     {"algorithm", 'a', "LIST",
      "names and families of `trivance list` (of a family the fastest member is shown), all, mpi (the MPI library's "
      "own), mpi:NAME (one of its algorithms), mpi:all, planned (the planner's choice), auto (the choice of "
      "TRV_Allreduce; the default), exchange (with --turns: an exchange of 8 bytes with the neighbours, in 1 and in 5 "
      "steps); NAME=TYPE or "
      "NAME=TYPE:OP instead of --type and --op",
      "ALGORITHM all mpi auto"},
     {"schedule", 's', "FILE",
      "a schedule in the format trivance-schedule-1, with blocks; it is verified first, determines the torus and the "
      "collective, and is measured beside the algorithms of --algorithm, if any",
      "FILE"},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP "; the root is rank 0", CLI_COLLECTIVE_WORDS},
     {"bytes", 'b', "LIST",
      "sizes of the whole vector, or ranges, for example 8,64KiB or 1K:64M:x4 (default 8:4M:x8); K, M, G, T are powers "
      "of 1024",
      NULL},
     {"type", 'd', "T", "element type: int8 … uint64, float (default), double, longdouble, complexfloat …, bool",
      "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double longdouble bool"},
     {"op", BENCH_OP, "O", "reduction: sum (default), prod, min, max, land, lor, lxor, band, bor or bxor",
      "sum prod min max land lor lxor band bor bxor"},
     {"in-place", BENCH_IN_PLACE, NULL, "the result replaces the input", NULL},
     {NULL, 0, NULL, "Measurement", NULL},
     {"transport", BENCH_TRANSPORT, "LIST",
      "transport of the messages of schedules: mpi, ofi (libfabric), or mpi,ofi for both side by side (default: "
      "TRIVANCE_TRANSPORT)",
      "mpi ofi mpi,ofi"},
     {"iterations", 'i', "N", "number of measured runs (default: as many as fit 80 ms, 3 to 1000)", NULL},
     {"warmup", BENCH_WARMUP, "N", "number of runs before the measured ones (default 2)", NULL},
     {"turns", BENCH_TURNS, NULL,
      "run all algorithms of a size in turns, each from a common start by the machine's clock to the last rank's end "
      "(ranks of one machine); median, minimum and maximum of 11 runs, and the median of the fastest mpi entry divided "
      "by the row's",
      NULL},
     {"check", BENCH_CHECK, "[0|1]", "compare every result (default: on)", "0 1"},
     {NULL, 0, NULL, "Output", NULL},
     {"format", 'f', "F",
      "table (default), csv, json, osu, nccl, or matrix: a mark for every algorithm and size, checked in one run and "
      "not timed",
      "table csv json osu nccl matrix"},
     {"full", BENCH_FULL, NULL, "with --format=osu: also minimum, maximum and iterations", NULL},
     CLI_OPTIONS_END};

/* ---- Letters of other benchmarks --------------------------------------------------------------------------------- */

static const cli_option_t osu_letter[] = {{"", CLI_LETTER('m'), "MIN:MAX", "--bytes", NULL},
                                          {"", CLI_LETTER('i'), "N", "--iterations", NULL},
                                          {"", CLI_LETTER('x'), "N", "--warmup", NULL},
                                          {"", CLI_LETTER('f'), NULL, "--full", NULL},
                                          {"", CLI_LETTER('c'), NULL, "--check", NULL},
                                          CLI_OPTIONS_END};

static const cli_option_t nccl_letter[] = {{"", CLI_LETTER('b'), "MIN", "the smallest size", NULL},
                                           {"", CLI_LETTER('e'), "MAX", "the largest size", NULL},
                                           {"", CLI_LETTER('f'), "FACTOR", "between sizes", NULL},
                                           {"", CLI_LETTER('d'), "T", "--type", NULL},
                                           {"", CLI_LETTER('o'), "O", "--op", NULL},
                                           {"", CLI_LETTER('n'), "N", "--iterations", NULL},
                                           {"", CLI_LETTER('w'), "N", "--warmup", NULL},
                                           {"", CLI_LETTER('c'), "N", "--check, unless it is 0", NULL},
                                           CLI_OPTIONS_END};

static const cli_option_t *own_options(void) { return option; }

const cli_command_t cli_bench_command = {
    .name = "bench",
    .summary = "collectives on real MPI ranks (under mpirun)",
    .usage = "mpirun -n N trivance bench [OPTIONS]",
    .about = "Runs a collective on N MPI ranks with every selected algorithm, compares every result with the exact "
             "one, and prints latency and bandwidth.",
    .option = option,
    .repeated = "torus",
    .notes =
        "With --format=osu the letters are those of the OSU benchmarks: -m MIN:MAX, -i N, -x N (warm-up), -f (full "
        "output), -c (check); with --format=nccl those of nccl-tests: -b MIN -e MAX -f FACTOR, -d TYPE, -o OP, -n N, "
        "-w N (warm-up), -c N (no check if it is 0).\n\n"
        "Latency: each rank's average over its runs; of these average, minimum and maximum over the ranks. algbw is "
        "bytes / time, busbw is defined as in nccl-tests: algbw * 2(N-1)/N for AllReduce, algbw for Broadcast and "
        "Reduce, algbw * (N-1)/N for the others. Exit status: 0 all results are correct, 1 a result or the schedule of "
        "a file is wrong, 2 bad input.",
    .examples = "mpirun -n 9 trivance bench --torus 9,3x3 --algorithm all\n"
                "mpirun.mpich -n 8 trivance bench -a trivance,swing,mpi --format=osu -m 8:1M -f\n"
                "mpirun.openmpi -n 3 trivance bench -a trivance --transport=mpi,ofi\n"
                "mpirun -n 2 trivance bench --turns -a auto,mpi:all\n"
                "mpirun -n 9 trivance bench --torus 3x3 --collective broadcast -a auto,mpi\n"
                "mpirun.openmpi -n 4 trivance bench --format=nccl -b 8 -e 128M -f 2 -d double -o max\n",
};

cli_command_t cli_bench_command_as(const char *format)
{
    cli_command_t command = cli_bench_command;
    const cli_option_t *letter = strcmp(format, "osu") == 0    ? osu_letter
                                 : strcmp(format, "nccl") == 0 ? nccl_letter
                                                               : NULL;
    if (letter) {
        command.option = letter;
        command.more = own_options;
    }
    return command;
}
