/*
 * The command line of trivance tune.
 */
#include "cli/shared/tune_command.h"

#include "cli/shared/select.h"

static const cli_option_t option[] =
    {{"torus", TUNE_TORUS, "T",
      "the torus of the N ranks (default: that of TRIVANCE_TOPOLOGY_FILE or TRIVANCE_TORUS, else a ring of N)", NULL},
     {"collective", 'c', "LIST",
      "the collectives to measure, separated by commas (default all): " CLI_COLLECTIVE_WORDS "; the root is rank 0",
      CLI_COLLECTIVE_WORDS},
     {"bytes", 'b', "LIST", "sizes of the whole vector, or ranges such as 1K:64M:x4 (default 8:2M:x8)", NULL},
     {"time", TUNE_TIME, "T", "approximate limit on the total time (default 5s per collective, 40s for all)", NULL},
     {"output", 'o', "FILE",
      "write the rules there, for TRIVANCE_RULES_FILE; the file appears when the measurement is complete", "FILE"},
     {"format", 'f', "F", "format of the measurements: table (default; the library and the best), json or csv (all)",
      "table json csv"},
     CLI_OPTIONS_END};

const cli_command_t cli_tune_command = {
    .name = "tune",
    .summary = "measure this machine, and write rules that never lose to its MPI (under mpirun)",
    .usage = "mpirun -n N trivance tune [OPTIONS]",
    .about =
        "Measures, on N MPI ranks, the network between them and, for every size, the MPI library's own collective, "
        "every algorithm of Trivance whose results are bitwise identical on all ranks, and the four most promising "
        "plans, in alternation; then writes rules that name an algorithm only where it was faster than the library by "
        "more than noise, twice, and leave everything else to the library.",
    .option = option,
    .alone = "tune takes only options, for example --torus=3x3",
    .notes =
        "Times are medians over the runs of the slowest rank. If time runs short, slow candidates are dropped first, "
        "then the last sizes. Exit status: 0 success, 2 bad input.",
    .examples = "mpirun -n 9 trivance tune --torus 3x3 -o rules.json\n"
                "mpirun -n 9 trivance tune --torus 3x3 -c allreduce,broadcast,reduce -o rules.json\n"
                "TRIVANCE_RULES_FILE=rules.json trivance run --torus 3x3 -- mpirun -n 9 ./program\n",
};
