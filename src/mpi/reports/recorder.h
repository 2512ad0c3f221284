/*
 * The flight recorder: the last collectives of each communicator, with what became of them. For programs that hang.
 *
 * On with TRIVANCE_RECORDER or TRIVANCE_TIMEOUT; otherwise there is no recorder, and a call costs a test for NULL. All
 * are printed by every rank that gets SIGUSR1, at its next call or where it waits in one of ours; the latest few where
 * a timeout is over (watch.h). A handler that the program has set before stays in use. It knows nothing of the other
 * ranks, and tells them nothing: any rank may record alone.
 *
 * Any thread may call any of these; a recorder is destroyed by whoever uses it last.
 */
#ifndef TRIVANCE_MPI_REPORTS_RECORDER_H
#define TRIVANCE_MPI_REPORTS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "settings/settings.h"

#define TRV_MPI_RECORDS 256 /* of a communicator */

typedef struct trv_mpi_recorder trv_mpi_recorder_t;

/* Read by everyone, written once, with the settings. */
extern bool trv_mpi_recording;

/* Called once with the settings. */
void trv_mpi_recorder_begin(const trv_settings_t *settings);

/* The recorder of a communicator in which this process has `rank` and which is called `where` ("comm 4 (64 ranks,
 * 8x8)"). NULL: nothing is recorded, or there is no memory. All functions below take NULL and do nothing then. */
trv_mpi_recorder_t *trv_mpi_recorder_create(int rank, const char *where);
void trv_mpi_recorder_rename(trv_mpi_recorder_t *recorder, const char *where);
void trv_mpi_recorder_destroy(trv_mpi_recorder_t *recorder);

/* A call of `collective` for a vector of `bytes`, served by `algorithm`, and complete when trv_mpi_record_end says so;
 * `passed`: given to the MPI library, whose end we do not see. The texts are copied. Returns the call's number among
 * those of the communicator, from 1 on; 0 where it is not recorded. */
unsigned long trv_mpi_record_begin(trv_mpi_recorder_t *recorder, const char *collective, size_t bytes,
                                   const char *algorithm, bool passed);
/* Call `number` is complete, or has failed: `code` below 0. Nothing if it is so old that it is not kept any more. */
void trv_mpi_record_end(trv_mpi_recorder_t *recorder, unsigned long number, int code);

/* Milliseconds of a clock that never goes back; as exact as the system's tick, and as cheap. */
long long trv_mpi_now_ms(void);

/* Prints the latest calls of a communicator, the last one last; or, if SIGUSR1 has come, all calls of all. */
void trv_mpi_recorder_print(trv_mpi_recorder_t *recorder);
void trv_mpi_recorder_answer(void);

#endif
