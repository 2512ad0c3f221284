/*
 * The command line of trivance bench.
 */
#include "cli/shared/bench_command.h"

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
      "steps); NAME=TYPE or NAME=TYPE:OP instead of --type and --op",
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
      "table (default), csv, json, osu or nccl (the layouts of the OSU benchmarks and of nccl-tests)",
      "table csv json osu nccl"},
     CLI_OPTIONS_END};

const cli_command_t cli_bench_command = {
    .name = "bench",
    .summary = "collectives on real MPI ranks (under mpirun)",
    .usage = "mpirun -n N trivance bench [OPTIONS]",
    .about = "Runs a collective on N MPI ranks with every selected algorithm, compares every result with the exact "
             "one, and prints latency and bandwidth.",
    .option = option,
    .alone = "bench takes only options, for example --torus=3x3",
    .repeated = "torus",
    .notes =
        "Latency: each rank's average over its runs; of these average, minimum and maximum over the ranks. algbw is "
        "bytes / time, busbw is defined as in nccl-tests: algbw * 2(N-1)/N for AllReduce, algbw for Broadcast and "
        "Reduce, algbw * (N-1)/N for the others. Exit status: 0 all results are correct, 1 a result or the schedule of "
        "a file is wrong, 2 bad input.",
    .examples = "mpirun -n 9 trivance bench --torus 9,3x3 --algorithm all\n"
                "mpirun.mpich -n 8 trivance bench -a trivance,swing,mpi --bytes=8:1M --format=osu\n"
                "mpirun.openmpi -n 3 trivance bench -a trivance --transport=mpi,ofi\n"
                "mpirun -n 2 trivance bench --turns -a auto,mpi:all\n"
                "mpirun -n 9 trivance bench --torus 3x3 --collective broadcast -a auto,mpi\n"
                "mpirun.openmpi -n 4 trivance bench --bytes=8:128M:x2 --type=double --op=max --format=nccl\n",
};
