/*
 * Two threads ask the planner the same questions, and get the same answers. ThreadSanitizer must find nothing here
 * (build with -fsanitize=thread).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/trivance.h>

enum { QUESTIONS = 24 };

typedef struct asker {
    int first, rc;
    trv_planner_choice_t choice[QUESTIONS];
} asker_t;

static void *ask_all(void *argument)
{
    asker_t *asker = argument;
    const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    for (int i = 0; i < QUESTIONS && !asker->rc; i++) {
        int question = (asker->first + i) % QUESTIONS;
        trv_torus_t torus = {.dims = 2, .size = {3 + question % 6, 4}, .ranks = (3 + question % 6) * 4};
        asker->rc = trv_planner_best(&torus, TRV_ALLREDUCE, 0, (uint64_t)64 << question / 2, &network, NULL,
                                     &asker->choice[question]);
    }
    if (asker->rc)
        fprintf(stderr, "%s\n", trv_last_error());
    return NULL;
}

static void test_threads(void **state)
{
    static asker_t asker[2] = {{.first = 0}, {.first = QUESTIONS / 3}};
    pthread_t thread[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_all, &asker[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(asker[i].rc, 0);
    }
    for (int i = 0; i < QUESTIONS; i++) {
        assert_string_equal(asker[0].choice[i].algorithm, asker[1].choice[i].algorithm);
        assert_true(asker[0].choice[i].time_ns == asker[1].choice[i].time_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
