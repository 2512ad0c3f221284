/*
 * trivance simulate.
 */
#include "cli/cli.h"

int cli_simulate(int argc, char **argv)
{
    (void)argc;
    return cli_bad(argv[0], "under construction");
}
