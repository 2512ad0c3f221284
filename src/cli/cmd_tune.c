/*
 * trivance tune: hands over to the program of the MPI whose launcher started us.
 */
#include "cli/subcommands.h"
#include "tool/tool.h"
#include "tool/handover.h"

const char cli_tune_help[] =
    "Usage: mpirun -n N trivance tune [OPTIONS]\n\n"
    "Measures, on N MPI ranks, the network between them and, for every size, the MPI library's own collective\n"
    "every algorithm of Trivance that gives all ranks the same bits, and the four plans that should be the\n"
    "fastest there, turn by turn; then writes rules in which an algorithm stands only where it was faster than\n"
    "the library by more than noise, twice.\n\n"
    "Options:\n"
    "  --torus=T          the torus of the N ranks (default: what TRIVANCE_TOPOLOGY_FILE or TRIVANCE_TORUS\n"
    "                     says, else a ring of N)\n"
    "  --collective=C,…   allreduce (default), reduce-scatter, allgather\n"
    "  --bytes=LIST       sizes of the whole vector (default 8,64,512,4K,32K,256K,2M)\n"
    "  --time=T           about how long all of it may take (default 5s)\n"
    "  -o, --output=FILE  the rules, for TRIVANCE_RULES_FILE; the file appears when all is measured\n"
    "  -f, --format=F     of the measurements: table (default; the library and the best), json or csv (all)\n"
    "  -h, --help         this text\n\n"
    "Times are medians over the runs of the slowest rank. Exit status: 0 good, 2 bad input.\n\n"
    "Example:\n"
    "  mpirun -n 9 trivance tune --torus 3x3 -o rules.json\n"
    "  TRIVANCE_TORUS=3x3 TRIVANCE_RULES_FILE=rules.json mpirun -n 9 ./program\n";

int cli_tune(int argc, char **argv)
{
    return cli_run_under_mpi(argc, argv, cli_tune_help, "mpirun -n 9 trivance tune --torus 3x3 -o rules.json");
}
