/*
 * trivance bench: hands over to the benchmark program of the MPI whose launcher started us.
 */
#include "cli/subcommands.h"
#include "tool/tool.h"
#include "tool/handover.h"

const char cli_bench_help[] =
    "Usage: mpirun -n N trivance bench [OPTIONS]\n\n"
    "Runs a collective on N MPI ranks by every algorithm asked for, checks every result against the exact\n"
    "one, and prints latency and bandwidth.\n\n"
    "What is run:\n"
    "  --torus=T,…            tori of N ranks, as 9 or 9,3x3 (default: a ring of N)\n"
    "  -a, --algorithm=A,…    names and families of `trivance list` (of a family the fastest member is\n"
    "                         shown), all, mpi (the MPI library's own), planned (the planner's plan),\n"
    "                         auto (what TRV_Allreduce chooses; the default)\n"
    "  --schedule=FILE        a schedule of your own (docs/schedule-format.md), verified first; it says torus\n"
    "                         and collective, and stands beside the algorithms of --algorithm, if any\n"
    "  --collective=C         allreduce (default), reduce-scatter or allgather\n"
    "  --bytes=LIST           sizes of the whole vector, as 8,64KiB,1M, or MIN:MAX, doubling, or\n"
    "                         MIN:MAX:FACTOR; default 8:4M:8. -m MIN:MAX (OSU) and -b MIN -e MAX -f\n"
    "                         FACTOR (nccl-tests) say the same\n"
    "  -d, --type=T           int8 … uint64, float (default), double, longdouble, complexfloat …, bool\n"
    "  -o, --op=O             sum (default), prod, min, max, land, lor, lxor, band, bor, bxor\n"
    "  --in-place             the result replaces the input\n"
    "How:\n"
    "  -i, --iterations=N     measured runs (also -n, nccl-tests); default: as many as fit 80 ms, 3 to\n"
    "                         1000\n"
    "  -x, --warmup=N         runs before them (also -w, nccl-tests); default 2\n"
    "  -c, --check[=0|1]      compare every result (default: on)\n"
    "What is shown:\n"
    "  --format=F             table (default), csv, json, osu or nccl\n"
    "  -f, --full             osu: least, most and iterations too\n"
    "  -h, --help             this text\n\n"
    "Latency: each rank's average over its runs; then average, least and most over the ranks. algbw is\n"
    "bytes / time, busbw what nccl-tests calls so: algbw * 2(N-1)/N for AllReduce, algbw * (N-1)/N for\n"
    "the others. Byte counts take k, M, G. Exit status: 0 all is right, 1 a result is wrong, 2 bad input.\n\n"
    "Examples:\n"
    "  mpirun -n 9 trivance bench --torus 9,3x3 --algorithm all\n"
    "  mpirun.mpich -n 8 trivance bench -a trivance,swing,mpi -m 8:1M --format=osu -f\n"
    "  mpirun.openmpi -n 4 trivance bench -b 8 -e 128M -f 2 -d double -o max --format=nccl\n";

int cli_bench(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, cli_bench_help, "mpirun -n 9 trivance bench --torus 3x3");
}
