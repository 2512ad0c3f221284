/*
 * What the environment says, read once, and the mode of the process. The variables stand in settings/settings_table.c;
 * what is said about them, and about decisions, goes through mpi/reports/log.h.
 */
#ifndef TRIVANCE_MPI_REPORTS_JOB_SETTINGS_H
#define TRIVANCE_MPI_REPORTS_JOB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <stdatomic.h>

#include "settings/settings.h"

typedef trv_settings_t trv_mpi_settings_t;

/* Reads the environment if that has not happened yet; wrong values and unknown variables are reported then. */
const trv_mpi_settings_t *trv_mpi_settings_read(void);
/* What it returned. */
extern _Atomic(const trv_mpi_settings_t *) trv_mpi_settings_known;

static inline const trv_mpi_settings_t *trv_mpi_settings(void)
{
    const trv_mpi_settings_t *known = atomic_load_explicit(&trv_mpi_settings_known, memory_order_acquire);
    return known ? known : trv_mpi_settings_read();
}

/* What all ranks must see alike, as it was when the environment was read: lines NAME=VALUE (trv_settings_text). The
 * caller frees *text, whose *length is without the 0 at its end; NULL where there is no memory. */
void trv_mpi_settings_text(char **text, size_t *length);

/* The first variable in which two such texts differ, as a sentence: "TRIVANCE_ALGORITHM is 'swing-b' on rank 3 and not
 * set on rank 0; 2 more variables differ". NULL where they are equal. Of long values it has what differs. */
#define TRV_MPI_DIFFERENCE_MAX 512
const char *trv_mpi_settings_difference(const char *mine, const char *theirs, char sentence[TRV_MPI_DIFFERENCE_MAX],
                                        int my_rank, int their_rank);

/* Who calls us. The API serves everything it can, as a ring where no torus is known; the drop-in (a preload library's
 * constructor sets it) leaves to the MPI library whatever has no torus and no algorithm asked for by name. */
typedef enum trv_mpi_use {
    TRV_MPI_API,
    TRV_MPI_DROP_IN,  /* before the MPI library: errors call the communicator's handler */
    TRV_MPI_COMPONENT /* inside it: a drop-in, too, whose errors the MPI library handles */
} trv_mpi_use_t;

/* Sets the mode of the process, before its first collective. */
void trv_mpi_mode(trv_mpi_use_t use);
extern _Atomic(trv_mpi_use_t) trv_mpi_use;
static inline bool trv_mpi_is_drop_in(void) { return atomic_load(&trv_mpi_use) != TRV_MPI_API; }
static inline bool trv_mpi_is_component(void) { return atomic_load(&trv_mpi_use) == TRV_MPI_COMPONENT; }

/* False when nothing in the environment could ever make the drop-in serve a call: no torus, no topology, no algorithm
 * by name, no rules, or a wrong value among them. One load after the first call. */
bool trv_mpi_may_serve(void);

/* The rules of TRIVANCE_RULES_FILE, which this process does not read: its text, or why rank 0 could not read it. The
 * first of either holds. TRV_OK, or TRV_ERR_MEMORY; what is wrong in the text becomes the settings' fault. */
int trv_mpi_settings_rules(const char *text, size_t length);
int trv_mpi_settings_rules_fault(const char *sentence);

#endif
