/*
 * The core of the explorer: the subcommands of the tool that answer questions, and the page's own commands. Compiled to
 * WebAssembly, it is run by the page once for every question, with the arguments that the tool would get, so that its
 * numbers and messages are those of the tool. Tests compare the page's commands with a native build of this file.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/subcommands.h"
#include "explorer/explore.h"
#include "cli/shared/tool.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommand[] = {
    {"plan", cli_plan},
    {"verify", cli_verify},
    {"cost", cli_cost},
    {"simulate", cli_simulate},
    {"layout", explore_layout},
    {"picture", explore_picture},
    {"timeline", explore_timeline},
};

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    for (size_t i = 0; argc > 1 && i < sizeof subcommand / sizeof subcommand[0]; i++)
        if (strcmp(argv[1], subcommand[i].name) == 0) {
            const int code = subcommand[i].run(argc - 1, argv + 1);
            return fflush(stdout) && code != CLI_BAD ? cli_bad(NULL, "the answer could not be written") : code;
        }
    return cli_bad(NULL, "unknown subcommand '%.40s' of the explorer", argc > 1 ? argv[1] : "");
}
