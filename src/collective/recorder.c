/*
 * The flight recorder: a ring buffer of records per communicator. Each has a lock, which is held while a record is
 * written or copied. The list of all recorders has another lock, which is always taken first. No lock is held while a
 * line is printed.
 */
#include "collective/recorder.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "base/clock.h"
#include "base/number.h"

#define LABEL_MAX          320
#define LINE_MAX_BYTES     640
#define PRINTED_ON_TIMEOUT 8 /* calls printed after a timeout: few, so that a screen shows those of several ranks */

typedef struct record {
    unsigned long number; /* from 1 on; 0: an empty record */
    char collective[24], algorithm[TRV_ALGORITHM_NAME_MAX];
    size_t bytes;
    double began_ns, ended_ns;
    int code;
    bool falls_back, ended;
} record_t;

struct trv_recorder {
    pthread_mutex_t lock; /* protects `label`, `calls` and `record` */
    char label[LABEL_MAX];
    unsigned long calls;
    record_t record[TRV_RECORDS];
    int rank; /* constant, and so are the next two */
    void (*log)(void *context, const char *line);
    void *context;
    trv_recorder_t *next, **link; /* protected by `list_lock`, and so is the next one */
    int printers;                 /* number of threads that print it after SIGUSR1 */
};

atomic_bool trv_recording;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t printed = PTHREAD_COND_INITIALIZER;
static trv_recorder_t *first;
static atomic_bool print_requested; /* SIGUSR1 was received, and nothing has been printed since */
static struct sigaction previous;

/* ---- The signal -------------------------------------------------------------------------------------------------- */

static void on_signal(int signal, siginfo_t *info, void *context)
{
    atomic_store(&print_requested, true);
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal);
}

void trv_recorder_begin(const trv_settings_t *settings)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    if ((!settings->recorder && settings->timeout_ns <= 0) || atomic_exchange(&trv_recording, true))
        return;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, NULL, &previous);
    sigaction(SIGUSR1, &action, NULL);
}

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

trv_recorder_t *trv_recorder_create(int rank, const char *label, void (*log)(void *context, const char *line),
                                    void *context)
{
    trv_recorder_t *recorder = trv_recording ? calloc(1, sizeof *recorder) : NULL;
    if (!recorder)
        return NULL;
    pthread_mutex_init(&recorder->lock, NULL);
    recorder->rank = rank;
    recorder->log = log;
    recorder->context = context;
    snprintf(recorder->label, sizeof recorder->label, "%s", label);
    pthread_mutex_lock(&list_lock);
    recorder->next = first;
    recorder->link = &first;
    if (first)
        first->link = &recorder->next;
    first = recorder;
    pthread_mutex_unlock(&list_lock);
    return recorder;
}

void trv_recorder_rename(trv_recorder_t *recorder, const char *label)
{
    if (!recorder)
        return;
    pthread_mutex_lock(&recorder->lock);
    snprintf(recorder->label, sizeof recorder->label, "%s", label);
    pthread_mutex_unlock(&recorder->lock);
}

void trv_recorder_destroy(trv_recorder_t *recorder)
{
    if (!recorder)
        return;
    pthread_mutex_lock(&list_lock);
    while (recorder->printers > 0)
        pthread_cond_wait(&printed, &list_lock);
    *recorder->link = recorder->next;
    if (recorder->next)
        recorder->next->link = recorder->link;
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

unsigned long trv_record_begin(trv_recorder_t *recorder, const char *collective, size_t bytes, const char *algorithm,
                               bool falls_back)
{
    if (!recorder)
        return 0;
    trv_recorder_print_if_requested();
    pthread_mutex_lock(&recorder->lock);
    unsigned long number = ++recorder->calls;
    record_t *record = &recorder->record[number % TRV_RECORDS];
    record->number = number;
    snprintf(record->collective, sizeof record->collective, "%s", collective);
    snprintf(record->algorithm, sizeof record->algorithm, "%s", algorithm);
    record->bytes = bytes;
    record->began_ns = trv_now_ns();
    record->code = 0;
    record->falls_back = falls_back;
    record->ended = false;
    pthread_mutex_unlock(&recorder->lock);
    return number;
}

/* Locks the recorder and returns the record of call `number`; NULL, unlocked: it is not recorded, or overwritten. */
static record_t *record_lock(trv_recorder_t *recorder, unsigned long number)
{
    if (!recorder || !number)
        return NULL;
    pthread_mutex_lock(&recorder->lock);
    record_t *record = &recorder->record[number % TRV_RECORDS];
    if (record->number == number)
        return record;
    pthread_mutex_unlock(&recorder->lock);
    return NULL;
}

void trv_record_end(trv_recorder_t *recorder, unsigned long number, int code)
{
    record_t *record = record_lock(recorder, number);
    if (!record)
        return;
    record->ended_ns = trv_now_ns();
    record->code = code;
    record->ended = true;
    pthread_mutex_unlock(&recorder->lock);
}

void trv_record_set_algorithm(trv_recorder_t *recorder, unsigned long number, const char *algorithm)
{
    record_t *record = record_lock(recorder, number);
    if (!record)
        return;
    snprintf(record->algorithm, sizeof record->algorithm, "%s", algorithm);
    pthread_mutex_unlock(&recorder->lock);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_record(const trv_recorder_t *recorder, const record_t *record, double now_ns)
{
    char end[80], line[LINE_MAX_BYTES];
    if (record->falls_back)
        snprintf(end, sizeof end, "fell back to the MPI library");
    else if (!record->ended)
        snprintf(end, sizeof end, "not complete");
    else
        trv_snprintf(end, sizeof end, "%s after %.6f s", record->code < 0 ? "failed" : "complete",
                     (record->ended_ns - record->began_ns) / 1e9);
    trv_snprintf(line, sizeof line, "  call %lu: %s of %zu bytes, %s: began %.6f s ago, %s", record->number,
                 record->collective, record->bytes, record->algorithm, (now_ns - record->began_ns) / 1e9, end);
    recorder->log(recorder->context, line);
}

/* Copies the record of call `number`; false if a later call has overwritten it. */
static bool copy_record(trv_recorder_t *recorder, unsigned long number, record_t *copy)
{
    pthread_mutex_lock(&recorder->lock);
    *copy = recorder->record[number % TRV_RECORDS];
    pthread_mutex_unlock(&recorder->lock);
    return copy->number == number;
}

static void print_latest(trv_recorder_t *recorder, unsigned long printed_max)
{
    char label[LABEL_MAX], more[80] = "", line[LINE_MAX_BYTES];
    record_t record;
    pthread_mutex_lock(&recorder->lock);
    unsigned long last = recorder->calls;
    memcpy(label, recorder->label, sizeof label);
    pthread_mutex_unlock(&recorder->lock);
    unsigned long kept = last < TRV_RECORDS ? last : TRV_RECORDS, printed = kept < printed_max ? kept : printed_max;
    if (printed < kept)
        snprintf(more, sizeof more, "; %lu more are recorded, and SIGUSR1 prints all", kept - printed);
    const double now_ns = trv_now_ns();
    snprintf(line, sizeof line, "the latest collectives of rank %d of %s%s:", recorder->rank, label, more);
    recorder->log(recorder->context, line);
    for (unsigned long number = last - printed + 1; number <= last; number++)
        if (copy_record(recorder, number, &record))
            print_record(recorder, &record, now_ns);
}

void trv_recorder_print(trv_recorder_t *recorder)
{
    if (recorder)
        print_latest(recorder, PRINTED_ON_TIMEOUT);
}

void trv_recorder_print_if_requested(void)
{
    if (!atomic_load_explicit(&print_requested, memory_order_relaxed) || !atomic_exchange(&print_requested, false))
        return;
    pthread_mutex_lock(&list_lock);
    for (trv_recorder_t *recorder = first; recorder; recorder = recorder->next) {
        recorder->printers++; /* keeps it in the list */
        pthread_mutex_unlock(&list_lock);
        print_latest(recorder, TRV_RECORDS);
        pthread_mutex_lock(&list_lock);
        recorder->printers--;
        pthread_cond_broadcast(&printed);
    }
    pthread_mutex_unlock(&list_lock);
}
