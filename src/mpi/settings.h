/*
 * What the environment says, read once, and the debug lines.
 */
#ifndef TRIVANCE_MPI_SETTINGS_H
#define TRIVANCE_MPI_SETTINGS_H

#include <stdbool.h>

typedef struct trv_mpi_settings {
    const char *torus;     /* TRIVANCE_TORUS, NULL when not set or empty */
    const char *algorithm; /* TRIVANCE_ALGORITHM, likewise */
    const char *topology;  /* TRIVANCE_TOPOLOGY_FILE, likewise */
    bool cart;             /* TRIVANCE_CART=1 */
    bool info;             /* TRIVANCE_DEBUG=info */
    bool check;            /* TRIVANCE_CHECK=1 */
    bool may_serve;        /* trv_mpi_may_serve */
} trv_mpi_settings_t;

const trv_mpi_settings_t *trv_mpi_settings(void);

/* Who calls us. The API serves everything it can, as a ring where no torus is known; the drop-in (a preload library's
 * constructor sets it) leaves to the MPI library whatever has no torus and no algorithm asked for by name. */
typedef enum trv_mpi_use { TRV_MPI_API, TRV_MPI_DROP_IN } trv_mpi_use_t;

/* Sets the mode of the process, before its first collective. */
void trv_mpi_mode(trv_mpi_use_t use);
bool trv_mpi_is_drop_in(void);

/* False when nothing in the environment could ever make the drop-in serve a call: no torus, no topology, no algorithm
 * by name, no rules. One load after the first call. */
bool trv_mpi_may_serve(void);

/* One line on stderr, "trivance: " before it, written in one piece. The caller asks `info` and for rank 0 first. */
void trv_mpi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
