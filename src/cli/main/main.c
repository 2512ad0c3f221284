/*
 * trivance: the command-line tool. Finds the subcommand and calls it; each subcommand has its own file.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <trivance/common.h>

#include "cli/subcommands.h"
#include "cli/main/subcommand_list.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"
#include "base/text/words.h"
#include "base/append.h"
#include "base/text/nearest.h"

#define SUBCOMMANDS_MAX 32

static void print_help(void)
{
    cli_print_text(
        stdout,
        "Usage: trivance SUBCOMMAND [OPTIONS]\n\n"
        "Collectives (AllReduce, Broadcast, All-to-All and others) on rings and tori: schedules, proofs, costs,\n"
        "measurements.\n\n"
        "Subcommands:\n");
    for (int i = 0; i < trv_subcommands; i++)
        printf("  %-9s %s\n", trv_subcommand[i].command->name, trv_subcommand[i].command->summary);
    cli_print_text(stdout,
                   "\nOptions:\n"
                   "  -h, --help     print this text; `trivance SUBCOMMAND --help`, or `help SUBCOMMAND`, has more\n"
                   "  -V, --version  print the version\n\n"
                   "Examples:\n"
                   "  trivance plan 9                    the fastest schedule on a ring of 9, drawn\n"
                   "  trivance verify 9 3x3 8x8          every algorithm on three tori\n"
                   "  trivance cost 16x16x16 --bytes 32K,8M\n"
                   "  trivance simulate 8x8              how long it takes, packet by packet\n"
                   "  mpirun -n 9 trivance bench --torus 3x3\n\n"
                   "A torus is written 9 (a ring), 8x8, 4x4x4 …; sizes may differ, and an m marks a line: 8x8m.\n"
                   "Exit status: 0 success, 1 a schedule violates its claims, 2 bad input, 130 interrupted.\n");
}

/* Returns "list, plan, … or info". */
static const char *all_names(void)
{
    static char list[256];
    char names[256] = "";
    for (int i = 0; i < trv_subcommands; i++)
        trv_append(names, sizeof names, "%s%s", i > 0 ? " " : "", trv_subcommand[i].command->name);
    return trv_words_list(names, list, sizeof list);
}

static int unknown(const char *text)
{
    const char *name[SUBCOMMANDS_MAX];
    for (int i = 0; i < trv_subcommands; i++)
        name[i] = trv_subcommand[i].command->name;
    if (text[0] == '-')
        return cli_bad(NULL, "there is no option '%.40s'; `trivance --help` lists the options", text);
    const char *nearest = trv_nearest(text, name, trv_subcommands);
    if (nearest)
        return cli_bad(NULL, "there is no subcommand '%.40s'; did you mean %s?", text, nearest);
    return cli_bad(NULL, "there is no subcommand '%.40s'; expected %s", text, all_names());
}

/* Checks that all output was written, because a full disk is an error. Cancelled work ends the process as SIGINT
 * would. */
static int finish(int code)
{
    if (cli_interrupted() && code == CLI_BAD)
        return CLI_INTERRUPTED;
    if ((fflush(stdout) || ferror(stdout)) && code != CLI_BAD) /* an error message was printed already */
        return cli_bad(NULL, "the output could not be written: %s", strerror(errno));
    return code;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    if (argc < 2)
        return cli_bad(NULL, "a subcommand is missing: %s; `trivance --help` has examples", all_names());
    const char *name = argv[1];
    const bool is_help = strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    if (is_help && argc == 2) {
        print_help();
        return finish(CLI_OK);
    }
    if (is_help)
        name = argv[2];
    const bool is_version = strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0 || strcmp(name, "version") == 0;
    const int words = is_help ? 3 : 2;
    if ((is_help || is_version) && argc > words)
        return cli_bad(NULL, "unexpected argument '%.40s' after %s; leave it out", argv[words], argv[words - 1]);
    if (is_version) {
        printf("trivance %s\n", trv_version());
        return finish(CLI_OK);
    }
    for (int i = 0; i < trv_subcommands; i++) {
        const trv_subcommand_t *subcommand = &trv_subcommand[i];
        if (strcmp(name, subcommand->command->name) != 0)
            continue;
        if (is_help) {
            cli_print_help(subcommand->command, stdout);
            return finish(CLI_OK);
        }
        return finish(subcommand->run(argc - 1, argv + 1));
    }
    return unknown(name);
}
