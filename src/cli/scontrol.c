/*
 * Runs `scontrol show topology`.
 */
#include "cli/scontrol.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/host/program_output.h"
#include "cli/shared/tool.h"
#include "topology/slurm_lines.h"

#define VARIABLE  "TRIVANCE_SLURM_DIMS"
#define TIMEOUT_S 10

enum { OUTPUT_MAX = 1 << 24, DIMS_MAX = 1 << 14 };

void cli_slurm_set_dims(const char *command)
{
    static char dims[DIMS_MAX];
    char *const scontrol[] = {"scontrol", "show", "topology", NULL};
    if (!getenv("SLURM_JOB_ID") || getenv(VARIABLE))
        return;
    char *text = cli_program_output(scontrol, OUTPUT_MAX, TIMEOUT_S);
    const int found = text ? trv_slurm_read_dims(text, dims, sizeof dims) : 0;
    free(text);
    if (found < 0)
        cli_warn(command, "%s; the dimensions of Slurm's tori are unknown", trv_last_error());
    else if (found > 0)
        setenv(VARIABLE, dims, 0);
}
