/*
 * The flight recorder: a list of the latest collectives of each communicator and their results, for programs that hang.
 *
 * It is enabled by TRIVANCE_RECORDER or TRIVANCE_TIMEOUT; otherwise no recorder exists, and a call costs a test for
 * NULL. A rank that receives SIGUSR1 prints all recorded calls, at its next call or while it waits in a collective of
 * Trivance. A rank whose timeout expires prints the latest few. A signal handler that the program has set before is
 * still called. The recorder does not communicate, so a single rank may enable it.
 *
 * Any thread may call these functions, but a recorder must not be in use when it is destroyed.
 */
#ifndef TRIVANCE_COLLECTIVE_RECORDER_H
#define TRIVANCE_COLLECTIVE_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "settings/settings.h"

#define TRV_RECORDS 256 /* per communicator */

typedef struct trv_recorder trv_recorder_t;

/* Whether calls are recorded. Set by trv_recorder_begin. */
extern atomic_bool trv_recording;

/* Enables the recorder if the settings ask for it. Later calls may enable it, but do not disable it. */
void trv_recorder_begin(const trv_settings_t *settings);

/* Creates the recorder of a communicator in which this process has `rank` and whose name is `label` ("comm 4 (64 ranks,
 * 8x8)"). It passes each line to `log`, which any thread may call until the recorder is destroyed. NULL: recording is
 * disabled, or there is no memory. The functions below accept NULL and then do nothing. */
trv_recorder_t *trv_recorder_create(int rank, const char *label, void (*log)(void *context, const char *line),
                                    void *context);
void trv_recorder_rename(trv_recorder_t *recorder, const char *label);
void trv_recorder_destroy(trv_recorder_t *recorder);

/* Records the start of a call of `collective` with a vector of `bytes` by `algorithm`; trv_record_end records its
 * end. `falls_back`: the call falls back to the MPI library, and its end is not recorded. The texts are copied. Returns
 * the call's number within the communicator, from 1 on, or 0 if it is not recorded. */
unsigned long trv_record_begin(trv_recorder_t *recorder, const char *collective, size_t bytes, const char *algorithm,
                               bool falls_back);
/* Records that call `number` is complete, or has failed (`code` below 0). Does nothing if later calls have overwritten
 * its record. */
void trv_record_end(trv_recorder_t *recorder, unsigned long number, int code);
/* Replaces the algorithm of call `number`, in the same way. */
void trv_record_set_algorithm(trv_recorder_t *recorder, unsigned long number, const char *algorithm);

/* The first function prints the latest calls of a communicator in their order. The second one prints all recorded calls
 * of all communicators if SIGUSR1 was received; the log that it calls must not
 * destroy a recorder that is being printed, because trv_recorder_destroy waits for the end of the printing. */
void trv_recorder_print(trv_recorder_t *recorder);
void trv_recorder_print_if_requested(void);

#endif
