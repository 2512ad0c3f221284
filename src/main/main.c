/*
 * trivance: the command-line tool. Finds the subcommand; each has a file of its own.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <trivance/common.h>

#include "cli/subcommands.h"
#include "tool/tool.h"
#include "settings/settings.h"
#include "text/nearest.h"

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} subcommand[] = {
    {"list", cli_list, "the algorithms: what each does, takes, costs and guarantees"},
    {"plan", cli_plan, "a schedule step by step, as text, picture (SVG) or file (JSON)"},
    {"verify", cli_verify, "prove or disprove that schedules are exact"},
    {"cost", cli_cost, "steps, bytes, congestion and completion time"},
    {"simulate", cli_simulate, "completion time on a torus, packet by packet"},
    {"sweep", cli_sweep, "a grid of simulations, on all cores or under mpirun, resumable"},
    {"figures", cli_figures, "the figures and tables of the paper's evaluation, recomputed"},
    {"export", cli_export, "a schedule as GOAL, MSCCL XML or MSCCL++ JSON"},
    {"bench", cli_bench, "AllReduce on real MPI ranks (under mpirun)"},
    {"run", cli_run, "an MPI program, unchanged, with Trivance preloaded"},
    {"testbed", cli_testbed, "real MPI jobs over a torus that is emulated on this machine"},
    {"topology", cli_topology, "check and draw topology files, or write one (under mpirun)"},
    {"tune", cli_tune, "measure this machine, and write rules that never lose to its MPI (under mpirun)"},
    {"info", cli_info, "the variables of the environment and their values, and the build"},
};

#define SUBCOMMANDS ((int)(sizeof subcommand / sizeof subcommand[0]))

static void print_help(void)
{
    puts("Usage: trivance SUBCOMMAND [OPTIONS]\n\n"
         "AllReduce, Reduce-Scatter and AllGather on rings and tori: schedules, proofs, costs, measurements.\n\n"
         "Subcommands:");
    for (int i = 0; i < SUBCOMMANDS; i++)
        printf("  %-8s %s\n", subcommand[i].name, subcommand[i].summary);
    puts("\nOptions:\n"
         "  -h, --help     this text; `trivance SUBCOMMAND --help` has more\n"
         "  -V, --version  the version\n\n"
         "Examples:\n"
         "  trivance plan 9                    Trivance on a ring of 9, drawn\n"
         "  trivance verify 9 3x3 8x8          every algorithm on three tori\n"
         "  trivance cost 16x16x16 --bytes 32K,8M\n"
         "  trivance simulate 16x16x16         how long it takes, packet by packet\n"
         "  mpirun -n 9 trivance bench --torus 3x3\n\n"
         "A torus is written 9 (a ring), 8x8, 4x4x4 …; sizes may differ.\n"
         "Exit status: 0 good, 1 a schedule is not what it claims, 2 bad input.");
}

/* "list, plan, … and bench" */
static const char *all_names(const char *last)
{
    static char text[256];
    size_t used = 0;
    for (int i = 0; i < SUBCOMMANDS && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i == 0                ? ""
                                 : i < SUBCOMMANDS - 1 ? ", "
                                                       : last,
                                 subcommand[i].name);
    return text;
}

static int unknown(const char *text)
{
    const char *name[SUBCOMMANDS];
    for (int i = 0; i < SUBCOMMANDS; i++)
        name[i] = subcommand[i].name;
    if (text[0] == '-')
        return cli_bad(NULL, "there is no option '%.40s'; `trivance --help` shows what there is", text);
    const char *nearest = trv_nearest(text, name, SUBCOMMANDS);
    if (nearest)
        return cli_bad(NULL, "there is no subcommand '%.40s'; did you mean %s?", text, nearest);
    return cli_bad(NULL, "there is no subcommand '%.40s'; there are %s", text, all_names(" and "));
}

/* What was printed must have arrived: a full disk is an error, not a short file. */
static int finish(int code)
{
    if (fflush(stdout) || ferror(stdout))
        return cli_bad(NULL, "the output could not be written: %s", strerror(errno));
    return code;
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "trivance: warning: %s\n", sentence);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    if (argc < 2)
        return cli_bad(NULL, "a subcommand is missing: %s; `trivance --help` has examples", all_names(" or "));
    const char *name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return finish(CLI_OK);
    }
    if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0) {
        printf("trivance %s\n", trv_version());
        return finish(CLI_OK);
    }
    for (int i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(name, subcommand[i].name) == 0) {
            /* `info` itself says what is wrong in the environment. */
            trv_settings_cache(subcommand[i].run == cli_info ? NULL : warn, NULL);
            return finish(subcommand[i].run(argc - 1, argv + 1));
        }
    return unknown(name);
}
