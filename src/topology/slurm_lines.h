/*
 * The lines of `scontrol show topology`: KEY=VALUE, separated by blanks.
 */
#ifndef TRIVANCE_TOPOLOGY_SLURM_LINES_H
#define TRIVANCE_TOPOLOGY_SLURM_LINES_H

#include <stddef.h>

/* Returns a copy of the value of "key=…" in a line, up to a blank, which the caller frees; NULL if the key is missing
 * or there is no memory. */
char *trv_slurm_value(const char *line, const char *key);

/* Writes the dimensions of all tori and rings in the text, in the form of TRIVANCE_SLURM_DIMS. Returns their number; or
 * TRV_ERR_INVALID if a line is malformed or the result does not fit. */
int trv_slurm_read_dims(const char *text, char *dims, size_t size);

#endif
