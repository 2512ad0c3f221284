/*
 * The flight recorder: the last collectives of each communicator, with what became of them. For programs that hang.
 *
 * On with TRIVANCE_RECORDER or TRIVANCE_TIMEOUT, otherwise a call costs one test of a flag. It is printed by every
 * rank that gets SIGUSR1, at its next call or where it waits in one of ours, and where a timeout is over (watch.h). A
 * handler that the program has set before stays in use.
 */
#ifndef TRIVANCE_MPI_RECORDER_H
#define TRIVANCE_MPI_RECORDER_H

#include <stdbool.h>

#include "mpi/operation.h"
#include "mpi/state.h"
#include "settings/settings.h"

#define TRV_MPI_RECORDS 256 /* of a communicator */

/* Read by everyone, written once, with the settings. */
extern bool trv_mpi_recording;

/* Called once with the settings. */
void trv_mpi_recorder_begin(const trv_settings_t *settings);

/* A call of `operation`: that of an operation that serves is complete when trv_mpi_record_end says so, any other is
 * given to the MPI library. Both do nothing where nothing is recorded. */
void trv_mpi_record_call(trv_mpi_operation_t *operation, trv_mpi_state_t *state);
void trv_mpi_record_end(trv_mpi_operation_t *operation, int code);

/* The number of the operation's latest call among those of its communicator, from 1 on; 0: it is not recorded. */
unsigned long trv_mpi_record_number(const trv_mpi_operation_t *operation);

/* Milliseconds of a clock that never goes back; as exact as the system's tick, and as cheap. */
long long trv_mpi_now_ms(void);

/* Prints the records of one communicator, or of all if SIGUSR1 has come. */
void trv_mpi_recorder_print(const trv_mpi_state_t *state);
void trv_mpi_recorder_answer(void);

/* With its state. */
void trv_mpi_recorder_destroy(struct trv_mpi_recorder *recorder);

#endif
