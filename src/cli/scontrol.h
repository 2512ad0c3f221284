/*
 * The dimensions of Slurm's tori, which the tool asks for before a job, because ranks cannot start programs.
 */
#ifndef TRIVANCE_CLI_SCONTROL_H
#define TRIVANCE_CLI_SCONTROL_H

/* Sets TRIVANCE_SLURM_DIMS to the dimensions that `scontrol show topology` prints, if this process belongs to a job of
 * Slurm whose plugin has tori or rings, and the variable is not set. Warns if the output is malformed. */
void cli_slurm_set_dims(const char *command);

#endif
