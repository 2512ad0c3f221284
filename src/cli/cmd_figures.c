/*
 * trivance figures: executes the Python module trivance.figures, which finds the evaluation (research/) where it is,
 * and reads the values of the options.
 */
#include "cli/subcommands.h"
#include "cli/shared/python.h"

enum { OPTION_ONLY = CLI_NO_LETTER, OPTION_QUICK, OPTION_MODEL, OPTION_DELIVERY, OPTION_COMBINATIONS };

static const cli_option_t option[] =
    {{"output", 'o', "DIR", "the folder for the results (default: evaluation); created if missing", "DIR"},
     {"only", OPTION_ONLY, "LIST", "only these figures, numbers from 6 to 35 separated by commas", NULL},
     {"quick", OPTION_QUICK, NULL,
      "only every second size, tables of at most 1024 ranks, published rules on 8 and 8x8 only and, without --only, "
      "figures of tori of at most 64 ranks: seconds instead of minutes",
      NULL},
     {"model", OPTION_MODEL, "M",
      "queues of a link: dateline (two channels that take turns, as in SST/Merlin; default) or fifo (one queue, the "
      "ideal router; quicker)",
      "dateline fifo"},
     {"delivery", OPTION_DELIVERY, "D",
      "when a packet counts as arrived: with its head (as in SST/Merlin; default) or with its tail (as on a real link)",
      "head tail"},
     {"workers", 'j', "N", "threads (default: one per core)", NULL},
     {"combinations", OPTION_COMBINATIONS, NULL,
      "print only a table of the number of claims that hold under every combination of queues, delivery and message "
      "rule",
      NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_figures_command = {
    .name = "figures",
    .summary = "the figures and tables of the paper's evaluation, recomputed",
    .usage = "[OPTIONS]",
    .about =
        "Simulates figures 6 to 20 of the paper's evaluation, by the rules of its own simulation code and by its text, "
        "and tables 1 and 2, and compares them with the paper's claims. Figures 21 to 32, beyond the paper, show the "
        "gains of planned schedules (`trivance plan`) over all of its algorithms, on meshes up to 512 MiB (30 to 32); "
        "figure 33 shows their losses as links fail; figures 34 and 35 are for 4-D tori. The folder then has "
        "index.html (all of it, opens offline), evaluation.md (claim by claim), plots.md (the effect of each published "
        "rule; in complete runs), tables.csv, and in figures/ every figure as CSV and SVG. An interrupted run resumes "
        "where it stopped. Requires python3 with numpy and matplotlib, and the folder research of the git repository, "
        "which is not installed: in a build of the repository, or in PYTHONPATH.",
    .option = option,
    .alone = "figures are selected with --only, for example --only=6,8",
    .examples = "trivance figures --output evaluation\n"
                "trivance figures --quick --only 6,17\n"
                "trivance figures --model=fifo --output ideal-router\n",
};

int cli_figures(int argc, char **argv)
{
    const int code = cli_read_options(&cli_figures_command, argc, argv, cli_skip_option, NULL);
    return code >= 0 ? code : cli_python(argv[0], "trivance.figures", true, argv + 1, argc - 1);
}
