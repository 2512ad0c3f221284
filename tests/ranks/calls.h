/*
 * The same calls by the names of MPI, for the preload libraries and the component, or (RANKS_API) by those of Trivance;
 * and functions that the programs of this folder share.
 */
#ifndef RANKS_CALLS_H
#define RANKS_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#if defined(RANKS_API)
#define SOAK_TRV
#include <trivance/common.h>
#endif
#include "../soak/functions.h"

/* The reason why the last call failed; "" if only the MPI library has it. */
static inline const char *call_reason(void)
{
#if defined(RANKS_API)
    return trv_last_error();
#else
    return "";
#endif
}

#endif
