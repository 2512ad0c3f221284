/*
 * The settings of the process, read from the environment once, and its mode. settings/settings_table.c lists the
 * variables; mpi/reports/log.h logs messages about them.
 */
#ifndef TRIVANCE_MPI_REPORTS_JOB_SETTINGS_H
#define TRIVANCE_MPI_REPORTS_JOB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <stdatomic.h>

#include "settings/settings.h"

typedef trv_settings_t trv_mpi_settings_t;

/* Reads the environment if that has not happened yet; then wrong values and unknown variables are logged. Any thread
 * may call it. */
const trv_mpi_settings_t *trv_mpi_settings_read(void);
/* The return value of trv_mpi_settings_read; NULL before its first call. */
extern _Atomic(const trv_mpi_settings_t *) trv_mpi_settings_known;

static inline const trv_mpi_settings_t *trv_mpi_settings(void)
{
    const trv_mpi_settings_t *known = atomic_load_explicit(&trv_mpi_settings_known, memory_order_acquire);
    return known ? known : trv_mpi_settings_read();
}

/* The settings that all ranks must share, with their values when the environment was read, as lines NAME=VALUE
 * (trv_settings_text); *length does not include the terminating 0. NULL: there is no memory. */
const char *trv_mpi_settings_text(size_t *length);

/* Describes the first variable in which two such texts differ: "TRIVANCE_ALGORITHM is 'swing-b' on rank 3 and not set
 * on rank 0; 2 more variables differ". Of long values it shows the part that differs. Returns `sentence`, or NULL if
 * the texts are equal. */
#define TRV_MPI_DIFFERENCE_MAX 512
const char *trv_mpi_settings_difference(const char *mine, const char *theirs, char sentence[TRV_MPI_DIFFERENCE_MAX],
                                        int my_rank, int their_rank);

/* How the program calls the library. With the API all supported calls run schedules, on a ring if no torus is known.
 * Under the drop-in, which the preload library's constructor sets, calls fall back to the MPI library unless a torus is
 * known or an algorithm is requested by name. */
typedef enum trv_mpi_mode {
    TRV_MPI_API,
    TRV_MPI_DROP_IN,  /* in front of the MPI library: errors call the communicator's error handler */
    TRV_MPI_COMPONENT /* a drop-in inside the MPI library, which handles the errors */
} trv_mpi_mode_t;

/* Sets the mode of the process, before its first collective. */
void trv_mpi_set_mode(trv_mpi_mode_t use);
extern _Atomic(trv_mpi_mode_t) trv_mpi_current_mode;
static inline bool trv_mpi_is_drop_in(void) { return atomic_load(&trv_mpi_current_mode) != TRV_MPI_API; }
static inline bool trv_mpi_is_component(void) { return atomic_load(&trv_mpi_current_mode) == TRV_MPI_COMPONENT; }

/* False if no setting can make the drop-in dispatch a call: no torus, no topology, no algorithm by name and no rules
 * are set, or one of them has a wrong value. */
bool trv_mpi_may_dispatch(void);
/* Whether none of them is set, and none is wrong: then the drop-in dispatches calls if the ranks find their torus by
 * themselves (communicator/discover.h). */
bool trv_mpi_may_discover(void);

/* Stores the rules of TRIVANCE_RULES_FILE, which rank 0 reads and broadcasts: the text of the file, or the message why
 * it could not be read. Only the first call of either function has an effect. TRV_OK or TRV_ERR_MEMORY; an error in the
 * text is stored as the settings' `fault`. */
int trv_mpi_settings_rules(const char *text, size_t length);
int trv_mpi_settings_rules_fault(const char *sentence);

#endif
