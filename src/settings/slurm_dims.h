/*
 * The text of TRIVANCE_SLURM_DIMS: the dimensions of the tori and rings of Slurm's topology plugins, by name:
 * "t1=8x8x16,r1=24". The sizes are in Slurm's order, x first.
 */
#ifndef TRIVANCE_SETTINGS_SLURM_DIMS_H
#define TRIVANCE_SETTINGS_SLURM_DIMS_H

#include <stddef.h>

#include <trivance/torus.h>

enum { TRV_SLURM_NAME_MAX = 64 }; /* of a torus, including the terminating zero */

/* Reads the next entry and moves *rest past it. Returns 1 for an entry, 0 at the end, or TRV_ERR_ARGUMENT. */
int trv_slurm_dims_next(const char **rest, char name[TRV_SLURM_NAME_MAX], trv_torus_t *torus);

/* Finds the torus of this name in a valid text, which may be NULL. Returns 1 if there is one, otherwise 0. */
int trv_slurm_dims_find(const char *text, const char *name, trv_torus_t *torus);

#endif
