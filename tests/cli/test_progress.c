/*
 * Progress of long operations: spans, callbacks that cancel the work, and SIGINT while a progress bar is shown.
 */
#include <setjmp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <trivance/planner.h>

#include "base/span.h"
#include "search/distances/distances.h"
#include "search/stars/cover.h"
#include "search/stars/search.h"
#include "cli/shared/progress.h"

typedef struct heard {
    int calls, cancel_at; /* 0: never */
    double last;
} heard_t;

static int report_received(void *context, double fraction)
{
    heard_t *heard = context;
    assert_true(fraction >= heard->last && fraction < 1 + 1e-9);
    heard->last = fraction;
    return ++heard->calls == heard->cancel_at;
}

static void test_spans(void **state)
{
    heard_t heard = {0};
    (void)state;
    assert_int_equal(trv_span_report((trv_span_t){0}, 0.5), TRV_OK);
    trv_span_t half = trv_span((trv_span_t){report_received, &heard, 0, 1}, 0.5, 0.5), quarter = trv_span(half, 0, 0.5);
    assert_int_equal(trv_span_report(quarter, 0.5), TRV_OK);
    assert_true(heard.last == 0.625);
    assert_int_equal(trv_span_report(quarter, 7), TRV_OK); /* the estimate was wrong */
    assert_true(heard.last == 0.75);
    assert_int_equal(trv_span_callback(&half, 1), TRV_OK);
    assert_true(heard.last == 1);
    heard.cancel_at = 4;
    assert_int_equal(trv_span_report(half, 1), TRV_ERR_CANCELLED);
    assert_non_null(strstr(trv_last_error(), "cancelled"));
}

static trv_torus_t mesh_of(int lines)
{
    static const int size[] = {5, 4};
    trv_torus_t mesh;
    assert_int_equal(trv_torus_init(&mesh, 2, size), 0);
    assert_int_equal(trv_torus_set_lines(&mesh, (unsigned)lines), 0);
    return mesh;
}

/* Planning reports often, never decreases, and stops when it is cancelled; a cancelled plan is not cached. */
static void check_planner(int lines, trv_link_model_t model, int calls)
{
    const trv_torus_t mesh = mesh_of(lines);
    heard_t heard = {0};
    trv_planner_t *planner;
    trv_planner_choice_t plan, best;
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.model = model;
    network.progress = report_received;
    network.progress_context = &heard;
    assert_int_equal(trv_planner_create(&planner, &mesh, TRV_ALLREDUCE, 0, &network, NULL), 0);
    assert_int_equal(trv_planner_rank(planner, 1 << 20, 1, &plan), 1);
    assert_true(heard.calls > calls);
    heard = (heard_t){.cancel_at = 3};
    assert_int_equal(trv_planner_rank(planner, 1 << 20, 1, &plan), TRV_ERR_CANCELLED);
    assert_int_equal(heard.calls, 3);
    heard = (heard_t){0};
    assert_int_equal(trv_planner_rank(planner, 1 << 20, 1, &plan), 1);
    trv_planner_destroy(planner);
    heard = (heard_t){.cancel_at = 2};
    assert_int_equal(trv_planner_best(&mesh, TRV_ALLREDUCE, 0, 1 << 20, &network, NULL, &best), TRV_ERR_CANCELLED);
    heard = (heard_t){0};
    assert_int_equal(trv_planner_best(&mesh, TRV_ALLREDUCE, 0, 1 << 20, &network, NULL, &best), TRV_OK);
    assert_string_equal(best.algorithm, plan.algorithm);
}

static void test_planner(void **state)
{
    (void)state;
    check_planner(3, TRV_FIFO, 10);
    check_planner(0, TRV_FIFO, 5);
    check_planner(0, TRV_DATELINE, 5);
}

static void test_nodes(void **state)
{
    static const int node[] = {0, 1, 2, 5, 6, 7};
    const trv_torus_t mesh = mesh_of(0);
    heard_t heard = {0};
    trv_planner_node_choice_t plan;
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    (void)state;
    network.progress = report_received;
    network.progress_context = &heard;
    assert_int_equal(trv_planner_nodes(&mesh, 6, node, TRV_ALLREDUCE, 0, 1024, &network, NULL, 1, &plan), 1);
    assert_true(heard.calls > 3);
    heard = (heard_t){.cancel_at = 2};
    assert_int_equal(trv_planner_nodes(&mesh, 6, node, TRV_ALLREDUCE, 0, 1024, &network, NULL, 1, &plan),
                     TRV_ERR_CANCELLED);
}

static void test_simulator(void **state)
{
    const trv_torus_t torus = mesh_of(0);
    heard_t heard = {0};
    trv_schedule_t *schedule;
    trv_simulator_t *simulator;
    trv_simulation_t result;
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.model = TRV_DATELINE; /* all ranks are simulated */
    (void)state;
    network.progress = report_received;
    network.progress_context = &heard;
    assert_int_equal(trv_schedule_create(&schedule, &torus, "trivance-l", TRV_ALLREDUCE), TRV_OK);
    assert_int_equal(trv_simulator_create(&simulator, schedule), TRV_OK);
    assert_int_equal(trv_simulate(simulator, &network, 32 << 20, &result), TRV_OK);
    assert_true(heard.calls > 3 && heard.last > 0.5);
    heard = (heard_t){.cancel_at = 2};
    assert_int_equal(trv_simulate(simulator, &network, 32 << 20, &result), TRV_ERR_CANCELLED);
    trv_simulator_destroy(simulator);
    trv_schedule_destroy(schedule);
}

static void test_searches(void **state)
{
    static const int size[] = {4, 4};
    heard_t heard = {.cancel_at = 2};
    const trv_span_t span = {report_received, &heard, 0, 1};
    trv_distances_t distances;
    trv_star_chain_t *chain = calloc(TRV_STAR_FOUND_MAX, sizeof *chain);
    trv_torus_t torus;
    (void)state;
    assert_non_null(chain);
    assert_int_equal(trv_torus_init(&torus, 2, size), TRV_OK);
    assert_int_equal(trv_distances_search(200, 6, 1 << 20, span, &distances, NULL), TRV_ERR_CANCELLED);
    heard = (heard_t){.cancel_at = 2};
    assert_int_equal(trv_star_search(&torus, 1 << 20, span, chain), TRV_ERR_CANCELLED);
    heard = (heard_t){.cancel_at = 1};
    assert_int_equal(trv_star_cover_search(&torus, NULL, 1 << 20, span, chain), TRV_ERR_CANCELLED);
    free(chain);
}

/* SIGINT cancels work that reports to a progress bar, and nothing is written if stderr is not a terminal. */
static void test_interrupt(void **state)
{
    cli_progress_t progress;
    (void)state;
    const trv_span_t all = cli_progress_begin(&progress, "working", 1);
    assert_int_equal(trv_span_report(all, 0.25), TRV_OK);
    assert_false(cli_interrupted());
    raise(SIGINT);
    assert_int_equal(trv_span_report(all, 0.5), TRV_ERR_CANCELLED);
    assert_true(cli_interrupted());
    cli_progress_end(&progress);
    struct sigaction now;
    assert_int_equal(sigaction(SIGINT, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

/* On a pseudo-terminal, after the first two seconds, in which nothing is shown. */
static void test_bar(void **state)
{
    cli_progress_t progress;
    char text[4096] = "";
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO);
    (void)state;
    assert_true(terminal >= 0 && saved >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    dup2(slave, STDERR_FILENO);
    const trv_span_t all = cli_progress_begin(&progress, "half done", 10);
    cli_progress_step(&progress, 4);
    nanosleep(&(struct timespec){2, 100000000}, NULL);
    assert_int_equal(trv_span_report(all, 0.5), TRV_OK);
    cli_progress_end(&progress);
    cli_progress_step(&progress, 5); /* too late, but harmless */
    dup2(saved, STDERR_FILENO);
    close(slave);
    size_t length = 0;
    ssize_t more;
    while (length < sizeof text - 1 && (more = read(terminal, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)more;
    close(terminal);
    close(saved);
    assert_true(length > 0);
    assert_non_null(strstr(text, "half done [####################....................]  50 %, "));
    assert_non_null(strstr(text, " s left"));
    assert_string_equal(text + length - 4, "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),     cmocka_unit_test(test_planner),  cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_simulator), cmocka_unit_test(test_searches), cmocka_unit_test(test_bar),
        cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
