/*
 * The recorder, the watch, the log and the difference of settings, in one process and without an MPI.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/number.h"
#include "mpi/reports/log.h"
#include "mpi/reports/watch.h"
#include "mpi/settings/job_settings.h"
#include "log_file.h"

/* ---- The recorder ------------------------------------------------------------------------------------------------ */

/* The seconds since the start of a call, as printed. */
static double age_of(const char *text, unsigned long number)
{
    char call[32];
    double age = -1;
    snprintf(call, sizeof call, "  call %lu: ", number);
    const char *at = strstr(text, call), *began = at ? strstr(at, "began ") : NULL;
    assert_non_null(began);
    assert_int_equal(trv_sscanf(began, "began %lf s ago", &age), 1);
    return age;
}

static void test_recorder(void **state)
{
    (void)state;
    trv_recorder_t *recorder = trv_recorder_create(3, "comm 7 (9 ranks)", trv_mpi_log_text, NULL);
    assert_non_null(recorder);
    for (unsigned long number = 1; number <= 300; number++) {
        assert_int_equal(trv_record_begin(recorder, "allreduce", 8 * number, "ring", number == 299), number);
        if (number == 298) /* less than a tick of the system */
            usleep(1000);
        if (number < 298)
            trv_record_end(recorder, number, number == 297 ? -1 : 0);
    }
    trv_record_end(recorder, 44, -1); /* call 300 has overwritten its record */
    trv_recorder_rename(recorder, "comm 7 (9 ranks, 3x3)");
    trv_recorder_print(recorder);
    char *text = log_file_read();
    assert_non_null(strstr(text, "trivance: the latest collectives of rank 3 of comm 7 (9 ranks, 3x3); 248 more are "
                                 "recorded, and SIGUSR1 prints all:\ntrivance:   call 293: "));
    assert_int_equal(count_occurrences(text, "  call "), 8);
    assert_non_null(strstr(text, "call 296: allreduce of 2368 bytes, ring: began 0."));
    assert_true(age_of(text, 297) - age_of(text, 299) >= 0.001);
    assert_int_equal(count_occurrences(text, " complete after 0."), 4);
    assert_int_equal(count_occurrences(text, " failed after 0."), 1);
    assert_non_null(strstr(text, "fell back to the MPI library\ntrivance:   call 300: "));
    assert_int_equal(count_occurrences(text, " not complete\n"), 2);
    free(text);
    raise(SIGUSR1);
    trv_recorder_print_if_requested();
    text = log_file_read();
    assert_int_equal(count_occurrences(text, "  call "), 256);
    assert_null(strstr(text, "call 44:"));
    assert_non_null(strstr(text, "rank 3 of comm 7 (9 ranks, 3x3):\ntrivance:   call 45: "));
    free(text);
    trv_recorder_print_if_requested(); /* once per signal */
    trv_recorder_destroy(recorder);
    raise(SIGUSR1);
    trv_recorder_print_if_requested(); /* nothing is left to print */
    text = log_file_read();
    assert_string_equal(text, "");
    free(text);
}

/* A recorder that another thread destroys while its lines are printed. */
typedef struct printed {
    trv_recorder_t *recorder;
    pthread_t destroyer;
    int lines;
    atomic_bool destroyed;
} printed_t;

static void *destroy(void *context)
{
    printed_t *printed = context;
    trv_recorder_destroy(printed->recorder);
    atomic_store(&printed->destroyed, true);
    return NULL;
}

static void log_and_destroy(void *context, const char *line)
{
    printed_t *printed = context;
    (void)line;
    if (printed->lines++ == 0)
        assert_int_equal(pthread_create(&printed->destroyer, NULL, destroy, printed), 0);
    usleep(50000); /* a recorder that does not wait is destroyed meanwhile */
    assert_false(atomic_load(&printed->destroyed));
    /* No lock is held while a line is printed: another thread may hold one for which the log waits. */
    assert_int_equal(trv_record_begin(printed->recorder, "allreduce", 8, "ring", false), printed->lines + 1);
}

/* The destruction of a recorder waits until it is printed. */
static void test_recorder_in_log(void **state)
{
    printed_t printed = {.lines = 0};
    (void)state;
    printed.recorder = trv_recorder_create(0, "comm 1", log_and_destroy, &printed);
    assert_int_equal(trv_record_begin(printed.recorder, "allreduce", 8, "ring", false), 1);
    raise(SIGUSR1);
    trv_recorder_print_if_requested();
    assert_int_equal(pthread_join(printed.destroyer, NULL), 0);
    assert_int_equal(printed.lines, 2);
    assert_true(printed.destroyed);
}

static void test_no_recorder(void **state)
{
    (void)state;
    assert_int_equal(trv_record_begin(NULL, "allreduce", 8, "ring", false), 0);
    trv_record_end(NULL, 1, 0);
    trv_recorder_rename(NULL, "comm 1");
    trv_recorder_print(NULL);
    trv_recorder_destroy(NULL);
}

/* ---- The watch --------------------------------------------------------------------------------------------------- */

static void describe(const void *context, char *text, size_t size)
{
    snprintf(text, size, "comm 1 (4 ranks), call %d: allreduce; waits for rank 3", *(const int *)context);
}

static void test_watch(void **state)
{
    (void)state;
    const int call = 5;
    trv_recorder_t *recorder = trv_recorder_create(2, "comm 1 (4 ranks)", trv_mpi_log_text, NULL);
    trv_record_begin(recorder, "allreduce", 8, "ring", false);
    const trv_mpi_waiting_t waiting = {describe, &call, recorder};
    trv_watch_t watch = {0};
    trv_mpi_watch_end(&watch, &waiting); /* the timeout was not reported */
    long long began = trv_watch_now_ms();
    for (unsigned polls = 1; !watch.reported; polls++)
        trv_mpi_watch_poll(&watch, &waiting, polls);
    assert_true(trv_watch_now_ms() - began >= 100);
    for (unsigned polls = 1; polls < 1000; polls++)
        trv_mpi_watch_poll(&watch, &waiting, polls);
    trv_mpi_watch_end(&watch, &waiting);
    char *text = log_file_read();
    assert_int_equal(count_occurrences(text, "trivance: rank 2 of MPI_COMM_WORLD has waited "), 1);
    assert_int_equal(count_occurrences(text,
                                       " s in comm 1 (4 ranks), call 5: allreduce; waits for rank 3\ntrivance: the "
                                       "latest collectives of rank 2 of comm 1 (4 ranks):\ntrivance:   call 1: "),
                     1);
    assert_int_equal(count_occurrences(text, "trivance: rank 2 of MPI_COMM_WORLD continues after "), 1);
    assert_int_equal(count_occurrences(text, " s in comm 1 (4 ranks), call 5: allreduce\n"), 1);
    free(text);
    trv_recorder_destroy(recorder);
}

/* The request is tested until it is complete; the only other effect is a line in the log. */
static void test_watch_request(void **state)
{
    (void)state;
    MPI_Request request = 0; /* complete at once */
    assert_int_equal(trv_mpi_watch_request(4, &request, "make the same call"), MPI_SUCCESS);
    char *text = log_file_read();
    assert_string_equal(text, "");
    free(text);
    request = 1000; /* milliseconds, longer than TRIVANCE_TIMEOUT */
    assert_int_equal(trv_mpi_watch_request(4, &request, "make the same call"), MPI_SUCCESS);
    assert_int_equal(request, 0);
    text = log_file_read();
    assert_int_equal(count_occurrences(text, " s for all 4 ranks of a communicator to make the same call\n"), 1);
    assert_int_equal(count_occurrences(text, "continues after "), 1);
    free(text);
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

static void test_fallback(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++)
        trv_mpi_log_fallback(0, "TRIVANCE_TORUS is '%s' on rank 3 and not set on rank 0", "2x2");
    trv_mpi_log_fallback(1, "a line of another rank, which has no separate file");
    char *text = log_file_read();
    assert_string_equal(text, "trivance: warning: TRIVANCE_TORUS is '2x2' on rank 3 and not set on rank 0; calls "
                              "fall back to the MPI library\n");
    free(text);
}

/* Logs more lines than the log stores, and some of them again. This must be the last test, because no new line is
 * logged after it. */
static void test_many_lines(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i += round ? 97 : 1)
            trv_mpi_log_fallback(0, "the %dth reason", i);
    char *text = log_file_read();
    int lines = count_occurrences(text, "th reason; ");
    assert_true(lines > 4000 && lines < 4096);
    assert_int_equal(count_occurrences(text, "4096 different lines were logged"), 1);
    assert_int_equal(count_occurrences(text, "\n"), lines + 1);
    free(text);
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

static void test_settings_text(void **state)
{
    size_t length, expected_length;
    (void)state;
    const char *text = trv_mpi_settings_text(&length);
    char *expected = trv_settings_text(&expected_length);
    assert_string_equal(text, expected);
    assert_int_equal(length, expected_length);
    setenv("TRIVANCE_TORUS", "9", 1); /* too late: the environment is read once */
    assert_string_equal(trv_mpi_settings_text(&length), expected);
    unsetenv("TRIVANCE_TORUS");
    free(expected);
}

static void test_difference(void **state)
{
    static const struct {
        const char *mine, *theirs, *sentence;
    } cases[] = {{"A=\nB=x\n", "A=\nB=x\n", NULL},
                 {"", "", NULL},
                 {"A=\n", "", NULL}, /* a variable that the other release does not have, and that is not set */
                 {"A=swing-b\nB=\n", "A=trivance-b\nB=\n", "A is 'swing-b' on rank 3 and 'trivance-b' on rank 0"},
                 {"A=\nB=2\n", "A=1\nB=2\n", "A is not set on rank 3 and '1' on rank 0"},
                 {"A=1\nB=\n", "A=\nB=2\n", "A is '1' on rank 3 and not set on rank 0; 1 more variable differs"},
                 {"A=1\nB=1\nC=1\n", "A=2\nB=2\nC=2\n",
                  "A is '1' on rank 3 and '2' on rank 0; 2 more variables differ"},
                 {"A=1\n", "A=1\nNEW=1\n", "NEW is not set on rank 3 and '1' on rank 0"},
                 {"A=1\nOLD=1\n", "A=1\n", "OLD is '1' on rank 3 and not set on rank 0"},
                 {"AB=1\n", "A=1\nAB=1\n", "A is not set on rank 3 and '1' on rank 0"},
                 {"A=x=1\n", "A=x=2\n", "A is 'x=1' on rank 3 and 'x=2' on rank 0"}};
    char sentence[TRV_MPI_DIFFERENCE_MAX], mine[1000], theirs[1000];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *reported = trv_mpi_settings_difference(cases[i].mine, cases[i].theirs, sentence, 3, 0);
        if (!reported != !cases[i].sentence || (reported && strcmp(reported, cases[i].sentence) != 0))
            fail_msg("case %zu: %s", i, reported ? reported : "equal");
    }
    /* Long values that differ near the end: that part is shown. */
    snprintf(mine, sizeof mine, "A=%0500d;allreduce:@swing%0300d\n", 0, 0);
    snprintf(theirs, sizeof theirs, "A=%0500d;allreduce:@bruck%0300d\n", 0, 0);
    const char *reported = trv_mpi_settings_difference(mine, theirs, sentence, 1, 0);
    assert_non_null(strstr(reported, "00;allreduce:@swing00"));
    assert_non_null(strstr(reported, "00;allreduce:@bruck00"));
    assert_non_null(strstr(reported, "0…' on rank 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorder),        cmocka_unit_test(test_no_recorder),
        cmocka_unit_test(test_watch),           cmocka_unit_test(test_watch_request),
        cmocka_unit_test(test_fallback),        cmocka_unit_test(test_settings_text),
        cmocka_unit_test(test_difference),      cmocka_unit_test(test_many_lines),
        cmocka_unit_test(test_recorder_in_log),
    };
    log_file_begin(false);
    setenv("TRIVANCE_TIMEOUT", "100ms", 1);
    trv_mpi_settings();
    return cmocka_run_group_tests(tests, NULL, log_file_remove);
}
