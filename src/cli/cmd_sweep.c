/*
 * trivance sweep: executes the Python package (python/trivance/sweep), which reads the values of the options.
 */
#include "cli/subcommands.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/network_options.h"
#include "cli/shared/python.h"
#include "cli/shared/select.h"

enum {
    OPTION_TORUS = CLI_NO_LETTER,
    OPTION_ROOT,
    OPTION_LIMIT,
    OPTION_PLOT,
    OPTION_RESTART,
    OPTION_YES,
    OPTION_DRY_RUN
};

static const cli_option_t option[] =
    {{NULL, 0, NULL, "Grid (every option takes a list separated by commas)", NULL},
     {"torus", OPTION_TORUS, "LIST", "tori, for example 8,8x8,4x4x4", NULL},
     {"algorithm", 'a', "LIST",
      "algorithms or families of `trivance list`, planned, or all (default: those that support the torus); a family "
      "means its fastest member, planned the fastest of all for the size and the network",
      "ALGORITHM all"},
     {"bytes", 'b', "LIST", "sizes of the vector (default 32:128M:x4)", NULL},
     {"collective", 'c', "LIST", CLI_COLLECTIVE_HELP, CLI_COLLECTIVE_WORDS},
     {"root", OPTION_ROOT, "LIST", "the roots of broadcasts, reduces, scatters and gathers (default 0)", NULL},
     {NULL, 0, NULL, "Execution and output", NULL},
     {"output", 'o', "FILE", "write rows to FILE.csv or FILE.jsonl instead of to stdout", "FILE"},
     {"limit", OPTION_LIMIT, NULL, "add columns with " CLI_LIMIT_COLUMNS_HELP, NULL},
     {"plot", OPTION_PLOT, "FILE", CLI_PLOT_HELP, "FILE"},
     {"restart", OPTION_RESTART, NULL, "empty the file first", NULL},
     {"format", 'f', "F", "format of stdout: table (default), json or csv", "table json csv"},
     {"workers", 'j', "N", "simulations at a time (default: one per core)", NULL},
     {"dry-run", OPTION_DRY_RUN, NULL, "simulate nothing; print how many points there are", NULL},
     {"yes", OPTION_YES, NULL, "confirm a grid of more than 100,000 points", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_sweep_command = {
    .name = "sweep",
    .summary = "a grid of simulations, on all cores, resumable",
    .usage = "[FILE.json] [OPTIONS]",
    .about = "Simulates every combination of tori, algorithms, sizes and parameters of the network, on all cores. "
             "Results are rows of a CSV or JSON lines file, appended when their points finish; "
             "the same command resumes a sweep that was interrupted. Requires python3 with the package trivance.",
    .option = option,
    .more = cli_network_options,
    .repeated = "torus algorithm bytes collective MORE",
    .notes = "Entries of numbers may be ranges: 1K:64M is 1K, 2K, 4K … 64M; 1K:64M:x4 multiplies by 4, and "
             "1us:3us:+500ns adds 500 ns. FILE.json is an object with the names of these options as keys, and strings, "
             "numbers or lists of these as values; an option replaces its key, and an option that is given again "
             "extends its list. slow-rank, slow-link and cut may be none; each entry of them is a network of its own.",
    .examples = "trivance sweep --torus=8,8x8 --bytes=1K:64M:x4 --bandwidth=200Gb/s,800Gb/s -o out.csv\n"
                "trivance sweep grid.json --model=dateline -o out.jsonl\n"
                "trivance sweep --torus=8x8 --bytes=1K:64M -o plotted.csv --plot=plotted.svg\n",
};

int cli_sweep(int argc, char **argv) { return cli_python_sweep(&cli_sweep_command, argc, argv); }
