/*
 * The reports while several threads call, wait, print and are signalled. ThreadSanitizer, which `make check-all` uses,
 * is required to detect most of the possible errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "mpi/reports/log.h"
#include "mpi/reports/log_table.h"
#include "mpi/settings/job_settings.h"
#include "mpi/reports/watch.h"
#include "log_file.h"

#define THREADS 4
#define CALLS   2000

static trv_recorder_t *shared;
static atomic_int wrong, running;

static void describe(const void *context, char *text, size_t size)
{
    snprintf(text, size, "%s", (const char *)context);
}

static void *call(void *argument)
{
    unsigned long last = 0;
    trv_mpi_tally_t *tally = trv_mpi_log_decision(0, "comm 1", "allreduce", 64, "", "ring", "as set", true);
    trv_recorder_t *own = trv_recorder_create(0, argument, trv_mpi_log_text, NULL);
    const trv_mpi_waiting_t waiting = {describe, argument, shared};
    trv_watch_t watch = {0};
    for (int i = 0; i < CALLS; i++) {
        const char *algorithm = i % 2 ? "ring" : "trivance-b";
        unsigned long number = trv_record_begin(shared, "allreduce", 4, algorithm, false);
        wrong += number <= last;
        last = number;
        wrong += trv_record_begin(own, "allgather", 64, "bruck-b", false) != (unsigned long)i + 1;
        trv_mpi_log_call(tally, 64);
        trv_mpi_watch_poll(&watch, &waiting, 64);
        trv_record_end(shared, number, 0);
        trv_record_end(own, (unsigned long)i + 1, 0);
        if (i % 100 == 0) {
            trv_recorder_rename(shared, argument);
            trv_recorder_destroy(own);
            own = trv_recorder_create(0, argument, trv_mpi_log_text, NULL);
            for (int again = 0; again <= i; again++)
                trv_record_begin(own, "allgather", 64, "bruck-b", false);
        }
        trv_mpi_log_fallback(0, "reason %d", i % 10);
    }
    trv_mpi_watch_end(&watch, &waiting);
    trv_recorder_destroy(own);
    running--;
    return NULL;
}

enum { ROUNDS_MIN = 50 }; /* of printing, also if it begins late */

static void *print(void *argument)
{
    (void)argument;
    for (int round = 0; running > 0 || round < ROUNDS_MIN; round++) {
        trv_recorder_print(shared);
        raise(SIGUSR1);
        trv_recorder_print_if_requested();
        trv_mpi_log_end();
    }
    return NULL;
}

/* Checks that every line is complete and that no record is a mixture of two. */
static void check_lines(char *text)
{
    int lines = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL && *line; lines++) {
        if (strncmp(line, "trivance: ", 10) != 0 || strstr(line + 1, "trivance: "))
            fail_msg("no line: %s", line);
        char *of = strncmp(line, "trivance:   call ", 17) == 0 ? strchr(line, ':') : NULL;
        if (of && !strstr(of, ": allreduce of 4 bytes, ring: ") &&
            !strstr(of, ": allreduce of 4 bytes, trivance-b: ") && !strstr(of, ": allgather of 64 bytes, bruck-b: "))
            fail_msg("no record: %s", line);
    }
    assert_true(lines > 100);
}

static void test_threads(void **state)
{
    static char name[THREADS][16];
    pthread_t thread[THREADS + 1];
    (void)state;
    running = THREADS;
    for (int i = 0; i < THREADS; i++) {
        snprintf(name[i], sizeof name[i], "comm %d", i);
        assert_int_equal(pthread_create(&thread[i], NULL, call, name[i]), 0);
    }
    assert_int_equal(pthread_create(&thread[THREADS], NULL, print, NULL), 0);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(trv_record_begin(shared, "allreduce", 4, "ring", false), THREADS * CALLS + 1);
    trv_mpi_log_end();
    char *text = log_file_read();
    for (int i = 0; i < 10; i++) {
        char line[64];
        snprintf(line, sizeof line, "warning: reason %d; calls", i);
        assert_int_equal(count_occurrences(text, line), 1);
    }
    char last[64];
    snprintf(last, sizeof last, "%10d %14d          -\n", THREADS * CALLS, 64 * THREADS * CALLS);
    assert_non_null(strstr(text, last));
    check_lines(text);
    free(text);
    trv_recorder_destroy(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    log_file_begin(true); /* with the stub, this process is rank 2 */
    setenv("TRIVANCE_TIMEOUT", "20ms", 1);
    setenv("TRIVANCE_DEBUG", "info", 1);
    trv_mpi_settings();
    shared = trv_recorder_create(0, "comm 0", trv_mpi_log_text, NULL);
    return cmocka_run_group_tests(tests, NULL, log_file_remove);
}
