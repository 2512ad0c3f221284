/*
 * Two threads ask the planner the same questions, and get the same answers, which are those of a planner that is not
 * shared. There are more sets of slow links than the planner's cache holds. ThreadSanitizer must find nothing here
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

enum { QUESTIONS = 24, SLOW = 150, SLOW_BYTES = 65536 };

typedef struct asker {
    int first, rc;
    trv_planner_choice_t choice[QUESTIONS], slow_choice[SLOW];
} asker_t;

static trv_torus_t question_torus(int question)
{
    return (trv_torus_t){.dims = 2, .size = {3 + question % 6, 4}, .ranks = (3 + question % 6) * 4};
}

static uint64_t question_bytes(int question) { return (uint64_t)64 << question / 2; }

/* A ring of three ranks with one slow link, which is different for each question. */
static const trv_torus_t ring = {.dims = 1, .size = {3}, .ranks = 3};

static trv_slow_link_t slow_link(int question)
{
    return (trv_slow_link_t){.rank = question % 3, .port = question % 2, .factor = 1.5 + question};
}

static trv_simulate_options_t slow_network(const trv_slow_link_t *link)
{
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.slow_links = 1;
    network.slow_link = link;
    return network;
}

static void *ask_all(void *argument)
{
    asker_t *asker = argument;
    const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    for (int i = 0; i < QUESTIONS && !asker->rc; i++) {
        int question = (asker->first + i) % QUESTIONS;
        const trv_torus_t torus = question_torus(question);
        asker->rc = trv_planner_best(&torus, TRV_ALLREDUCE, 0, question_bytes(question), &network, NULL,
                                     &asker->choice[question]);
    }
    for (int i = 0; i < SLOW && !asker->rc; i++) {
        int question = (asker->first + i) % SLOW;
        const trv_slow_link_t link = slow_link(question);
        const trv_simulate_options_t slow = slow_network(&link);
        asker->rc = trv_planner_best(&ring, TRV_ALLREDUCE, 0, SLOW_BYTES, &slow, NULL, &asker->slow_choice[question]);
    }
    if (asker->rc)
        fprintf(stderr, "%s\n", trv_last_error());
    return NULL;
}

/* Compares the choices of two threads with each other and with that of a planner of this thread alone. */
static void check_choices(const trv_torus_t *torus, uint64_t bytes, const trv_simulate_options_t *network,
                          const trv_planner_choice_t *first, const trv_planner_choice_t *second)
{
    trv_planner_t *planner = NULL;
    trv_planner_choice_t alone;
    assert_int_equal(trv_planner_create(&planner, torus, TRV_ALLREDUCE, 0, network, NULL), TRV_OK);
    assert_int_equal(trv_planner_rank(planner, bytes, 1, &alone), 1);
    trv_planner_destroy(planner);
    assert_string_equal(first->algorithm, alone.algorithm);
    assert_string_equal(second->algorithm, alone.algorithm);
    assert_true(first->time_ns == alone.time_ns && second->time_ns == alone.time_ns);
}

static void test_threads(void **state)
{
    static asker_t asker[2] = {{.first = 0}, {.first = QUESTIONS / 3}};
    const trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    pthread_t thread[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_all, &asker[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(asker[i].rc, 0);
    }
    for (int question = 0; question < QUESTIONS; question++) {
        const trv_torus_t torus = question_torus(question);
        check_choices(&torus, question_bytes(question), &network, &asker[0].choice[question],
                      &asker[1].choice[question]);
    }
    for (int question = 0; question < SLOW; question++) {
        const trv_slow_link_t link = slow_link(question);
        const trv_simulate_options_t slow = slow_network(&link);
        check_choices(&ring, SLOW_BYTES, &slow, &asker[0].slow_choice[question], &asker[1].slow_choice[question]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
