/*
 * How far long work is: parts within parts, and the line that is told where there is no terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <trivance/planner.h>

#include "base/advance.h"
#include "cli/shared/progress.h"

typedef struct heard {
    int times;
    double last;
} heard_t;

static void hear(void *context, double done)
{
    heard_t *heard = context;
    assert_true(done > heard->last && done < 1 + 1e-9);
    heard->times++;
    heard->last = done;
}

static void test_parts(void **state)
{
    heard_t heard = {0};
    (void)state;
    trv_advance(0.5); /* nobody listens */
    trv_advance_listen(hear, &heard);
    const trv_advance_t all = trv_advance_begin(0.5, 0.5);
    const trv_advance_t half = trv_advance_begin(0, 0.5);
    trv_advance(0.5);
    assert_true(heard.last == 0.625);
    trv_advance(0.25); /* an estimate that was wrong: not told */
    trv_advance(7);
    assert_true(heard.last == 0.75);
    trv_advance_end(half);
    trv_advance_end(all);
    assert_true(heard.last == 1);
    assert_int_equal(heard.times, 3);
    trv_advance_listen(NULL, NULL);
    trv_advance(1);
    assert_int_equal(heard.times, 3);
}

/* Planning where ranks differ takes long: it says so often how far it is, and never goes back. */
static void test_planner(void **state)
{
    static const int size[] = {5, 4};
    heard_t heard = {0};
    trv_torus_t mesh;
    trv_planner_t *planner;
    trv_planned_t plan;
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    (void)state;
    network.model = TRV_FIFO;
    assert_int_equal(trv_torus_init(&mesh, 2, size), 0);
    assert_int_equal(trv_torus_set_lines(&mesh, 3), 0);
    assert_int_equal(trv_planner_create(&planner, &mesh, TRV_ALLREDUCE, &network, NULL), 0);
    trv_advance_listen(hear, &heard);
    assert_int_equal(trv_planner_rank(planner, 1 << 20, 1, &plan), 1);
    trv_advance_listen(NULL, NULL);
    assert_true(heard.times > 10);
    trv_planner_destroy(planner);
}

/* The text on stderr of work of which the part `done` is done: what is written at once or, with `wait`, what has been
 * written when a line of progress is there, which takes two seconds; at most a minute. */
static void watch_stderr(bool wait, const char *cheaper, double done, char *text, size_t size)
{
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    const struct timespec pause = {0, 50000000};
    cli_progress_t progress;
    assert_non_null(file);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    cli_progress_begin(&progress, "working", 2);
    cli_progress_cheaper(&progress, cheaper);
    cli_progress_watch(&progress, 2);
    trv_advance(done);
    memset(text, 0, size);
    for (int i = 0; wait && !strstr(text, " %, ") && i < 1200; i++) {
        nanosleep(&pause, NULL);
        assert_true(pread(fileno(file), text, size - 1, 0) >= 0);
    }
    cli_progress_end(&progress);
    dup2(before, STDERR_FILENO);
    close(before);
    assert_true(pread(fileno(file), text, size - 1, 0) >= 0);
    fclose(file);
}

static void test_line(void **state)
{
    char text[512];
    (void)state;
    watch_stderr(false, "less is cheaper", 0.5, text, sizeof text);
    assert_string_equal(text, "");
    watch_stderr(true, "less is cheaper", 0.5, text, sizeof text);
    assert_memory_equal(text, "trivance: working, 50 %, ", 25); /* and some seconds: 2, or more on a busy machine */
    assert_non_null(strstr(text, " s left\n"));
    watch_stderr(true, "less is cheaper", 0.02, text, sizeof text);
    assert_ptr_equal(strstr(text, "trivance: working takes longer than a minute; less is cheaper\n"
                                  "trivance: working, 2 %, "),
                     text);
    assert_non_null(strstr(text, " min "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_planner),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
