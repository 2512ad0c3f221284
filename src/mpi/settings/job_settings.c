/*
 * Reads the settings of this process from the environment, and stores the rules that rank 0 has read.
 */
#include "mpi/settings/job_settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/algorithms.h>

#include "collective/algorithm_names.h"
#include "base/error.h"
#include "mpi/reports/log.h"
#include "collective/recorder.h"
#include "mpi/reports/watch.h"

#define WARNINGS_MAX 32

static trv_mpi_settings_t settings;
static char *shared_text; /* the settings that all ranks must share; NULL: no memory */
static size_t shared_length;
static bool may_dispatch;
static pthread_once_t once = PTHREAD_ONCE_INIT;
_Atomic(const trv_mpi_settings_t *) trv_mpi_settings_known;
_Atomic(trv_mpi_mode_t) trv_mpi_current_mode = TRV_MPI_API;

/* Warnings found while reading. They are logged afterwards, because the log level is also a setting. */
typedef struct warnings {
    int count;
    char *text[WARNINGS_MAX];
} warnings_t;

static void keep_warning(void *context, const char *sentence)
{
    warnings_t *warnings = context;
    if (warnings->count < WARNINGS_MAX)
        warnings->text[warnings->count++] = strdup(sentence);
}

static void read_environment(void)
{
    warnings_t warnings = {0};
    trv_settings_read(&settings, &(trv_rules_reader_t){trv_algorithm_check, keep_warning, &warnings});
    shared_text = trv_settings_text(&shared_length);
    may_dispatch = trv_settings_may_dispatch(&settings);
    trv_mpi_log_begin(&settings);
    trv_recorder_begin(&settings);
    trv_mpi_watch_begin(&settings);
    for (int i = 0; i < warnings.count; i++) {
        if (warnings.text[i])
            trv_mpi_log_warning("%s", warnings.text[i]);
        free(warnings.text[i]);
    }
    if (settings.fault && trv_mpi_is_drop_in()) /* with the API, calls return the fault as an error */
        trv_mpi_log_fallback(trv_mpi_log_rank(), "%s", settings.fault);
}

const trv_mpi_settings_t *trv_mpi_settings_read(void)
{
    pthread_once(&once, read_environment);
    atomic_store_explicit(&trv_mpi_settings_known, &settings, memory_order_release);
    return &settings;
}

const char *trv_mpi_settings_text(size_t *length)
{
    pthread_once(&once, read_environment);
    *length = shared_length;
    return shared_text;
}

/* ---- The rules file, which rank 0 has read ----------------------------------------------------------------------- */

static pthread_mutex_t rules_lock = PTHREAD_MUTEX_INITIALIZER;
static bool rules_known;

int trv_mpi_settings_rules(const char *text, size_t length)
{
    int code = TRV_OK;
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&rules_lock);
    if (!rules_known) {
        code = trv_settings_parse_rules(&settings, text, length,
                                        &(trv_rules_reader_t){trv_algorithm_check, trv_mpi_log_warn, NULL});
        if (code < 0 && !settings.fault)
            code = trv_fail_memory(); /* no memory for the message about the fault */
        rules_known = code != TRV_ERR_MEMORY;
    }
    pthread_mutex_unlock(&rules_lock);
    return code == TRV_ERR_MEMORY ? code : TRV_OK; /* an error in the file is stored as settings.fault */
}

int trv_mpi_settings_rules_fault(const char *sentence)
{
    int code = TRV_OK;
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&rules_lock);
    if (!rules_known && !settings.fault && !(settings.fault = strdup(sentence)))
        code = trv_fail_memory();
    rules_known = code == TRV_OK;
    pthread_mutex_unlock(&rules_lock);
    return code;
}

/* ---- The mode ---------------------------------------------------------------------------------------------------- */

void trv_mpi_set_mode(trv_mpi_mode_t use) { atomic_store(&trv_mpi_current_mode, use); }

bool trv_mpi_may_dispatch(void)
{
    pthread_once(&once, read_environment);
    return may_dispatch;
}

bool trv_mpi_may_discover(void) { return !trv_mpi_may_dispatch() && !settings.fault; }
