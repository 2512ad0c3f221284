/*
 * trivance figures: executes the Python package (python/trivance/figures), which reads the options. The table here is
 * for the help text, the man page and the completion of the shell.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/subcommands.h"
#include "cli/host/handover.h"
#include "cli/shared/tool.h"

enum { OPTION_ONLY = CLI_NO_LETTER, OPTION_QUICK, OPTION_MODEL, OPTION_DELIVERY, OPTION_COMBINATIONS };

static const cli_option_t option[] =
    {{"output", 'o', "DIR", "the folder for the results (default: evaluation); created if missing", "DIR"},
     {"only", OPTION_ONLY, "LIST", "only these figures, numbers from 6 to 35 separated by commas", NULL},
     {"quick", OPTION_QUICK, NULL,
      "every second size and, without --only, only tori of at most 64 ranks: seconds instead of minutes", NULL},
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
        "Simulates figures 6 to 20 of the paper's evaluation and tables 1 and 2, and compares them with the paper's "
        "claims. Figures 21 to 32, beyond the paper, show the gains of planned schedules (`trivance plan`) over all of "
        "its algorithms, on meshes up to 512 MiB (30 to 32); figure 33 shows their losses as links fail; figures 34 "
        "and 35 are for 4-D tori. The folder then has index.html (all of it, opens offline), evaluation.md (claim by "
        "claim), tables.csv, and in figures/ every figure as CSV and SVG. An interrupted run resumes where it stopped. "
        "Requires python3 with numpy and matplotlib.",
    .option = option,
    .examples = "trivance figures --output evaluation\n"
                "trivance figures --quick --only 6,17\n"
                "trivance figures --model=fifo --output ideal-router\n",
};

/* Whether a Python interpreter finds the package and its dependencies. */
static bool python_has_packages(const char *python)
{
    static const char code[] = "import importlib.util as u, sys\n"
                               "sys.exit(None in map(u.find_spec, ('numpy', 'matplotlib', 'trivance')))";
    char *const command[] = {(char *)(size_t)python, "-c", (char *)(size_t)code, NULL};
    pid_t child;
    int status = 0;
    if (posix_spawnp(&child, python, NULL, NULL, command, environ))
        return false;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* If the package is installed beside the tool, puts its folder first in Python's path; otherwise Python searches for
 * it in its default path. */
static void set_path(void)
{
    static const char *const folder[] = {"../python/", TRIVANCE_PYTHON_PLACE "/", NULL};
    static const char file[] = "trivance/figures/__main__.py";
    char path[4096], both[8192];
    const char *others = getenv("PYTHONPATH");
    if (!cli_find_beside(folder, file, R_OK, path, sizeof path))
        return;
    path[strlen(path) - strlen(file)] = '\0';
    snprintf(both, sizeof both, "%s%s%s", path, others ? ":" : "", others ? others : "");
    setenv("PYTHONPATH", both, 1);
}

int cli_figures(int argc, char **argv)
{
    static const char *const python[] = {"python3", "/usr/bin/python3"};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_print_help(&cli_figures_command, stdout);
            return CLI_OK;
        }
    set_path();
    for (size_t p = 0; p < sizeof python / sizeof python[0]; p++) {
        char **command = calloc((size_t)argc + 3, sizeof *command);
        if (!command || !python_has_packages(python[p])) {
            free(command);
            continue;
        }
        command[0] = (char *)(size_t)python[p];
        command[1] = "-m";
        command[2] = "trivance.figures";
        memcpy(command + 3, argv + 1, (size_t)(argc - 1) * sizeof *command);
        execvp(python[p], command);
        free(command);
    }
    return cli_bad(argv[0], "there is no python3 with numpy, matplotlib and the package trivance; install "
                            "python3-matplotlib and python3-trivance");
}
