/*
 * What the environment says, read once, and the debug lines.
 */
#ifndef TRIVANCE_MPI_SETTINGS_H
#define TRIVANCE_MPI_SETTINGS_H

#include <stdbool.h>

typedef struct trv_mpi_settings {
    const char *torus;     /* TRIVANCE_TORUS, NULL when not set or empty */
    const char *algorithm; /* TRIVANCE_ALGORITHM, likewise */
    bool info;             /* TRIVANCE_DEBUG=info */
    bool check;            /* TRIVANCE_CHECK=1 */
} trv_mpi_settings_t;

const trv_mpi_settings_t *trv_mpi_settings(void);

/* One line on stderr, "trivance: " before it, written in one piece. The caller asks `info` and for rank 0 first. */
void trv_mpi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
