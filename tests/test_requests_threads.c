/*
 * Requests (collective/requests.h) over a transport without messages: their order, failures, timeouts, and their end by
 * any thread. ThreadSanitizer, which `make check-all` uses, is required to detect most of the possible errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "collective/recorder.h"
#include "collective/requests.h"

enum { ADVANCED_MAX = 64, THREADS = 4, ROUNDS = 200, STORM = 40 };

/* A request that advances until *gate, if it has one, and then for `steps` further calls. */
typedef struct step_request {
    trv_request_t base; /* the first member, so that pointers to both can be converted */
    char name;
    int steps, result; /* result: 1 or a negative code, of the last step */
    const atomic_int *gate;
    int *ends;
} step_request_t;

static trv_requests_t list;
static char advanced[ADVANCED_MAX + 1]; /* names of the requests, in the order of their progress */
static int advances;
static atomic_bool buffers_used;
static atomic_int expired;
static char expired_text[128];
static pthread_t expired_by;

static int step_advance(trv_request_t *base)
{
    step_request_t *request = (step_request_t *)(void *)base;
    if (request->name && advances < ADVANCED_MAX)
        advanced[advances++] = request->name;
    if ((request->gate && *request->gate == 0) || request->steps-- > 0)
        return 0;
    return request->result < 0 ? trv_fail(request->result, "request %c has failed", request->name) : request->result;
}

static int step_end(trv_request_t *base, int code)
{
    step_request_t *request = (step_request_t *)(void *)base;
    if (request->ends)
        ++*request->ends;
    return code;
}

static void step_describe(const void *base, char *text, size_t size)
{
    snprintf(text, size, "request %c", ((const step_request_t *)(const void *)base)->name);
}

static const trv_request_kind_t step_kind = {.advance = step_advance, .end = step_end, .describe = step_describe};
static const trv_request_kind_t awaited_kind = {.advance = step_advance,
                                                .end = step_end,
                                                .describe = step_describe,
                                                .only_awaited = true};

static void expire(trv_request_t *request, const char *text)
{
    (void)request;
    snprintf(expired_text, sizeof expired_text, "%s", text);
    expired_by = pthread_self();
    expired++;
}

static bool released(void *context)
{
    (void)context;
    return !buffers_used;
}

static uint64_t no_events(void *context)
{
    (void)context;
    return 0;
}

static bool pause_thread(void *context, uint64_t seen, unsigned polls)
{
    (void)context, (void)seen;
    if (polls > 4)
        sched_yield();
    return polls > 4;
}

static int set_up(void **state)
{
    static const trv_requests_transport_t transport = {expire, released, no_events, pause_thread};
    (void)state;
    list = (trv_requests_t){.active = 0};
    trv_requests_init(&list, &transport, NULL);
    memset(advanced, 0, sizeof advanced);
    advances = 0;
    buffers_used = false;
    expired = 0;
    trv_recording = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(list.active, 0);
    assert_null(list.first);
    trv_requests_clear(&list);
    return 0;
}

/* The request must be freed. */
static step_request_t *begin(char name, int steps, int result)
{
    step_request_t *request = calloc(1, sizeof *request);
    assert_non_null(request);
    trv_request_init(&request->base, &list, &step_kind);
    request->name = name;
    request->steps = steps;
    request->result = result;
    trv_request_begin(&request->base);
    return request;
}

static void step_free(step_request_t *request)
{
    trv_request_clear(&request->base);
    free(request);
}

static void wait_and_free(step_request_t *request, int code)
{
    bool ended = false;
    assert_int_equal(trv_request_wait(&request->base, INFINITY, &ended), code);
    assert_true(ended);
    step_free(request);
}

/* ---- One thread -------------------------------------------------------------------------------------------------- */

static void test_order(void **state)
{
    (void)state;
    step_request_t *request[5];
    for (int i = 0; i < 4; i++)
        request[i] = begin((char)('a' + i), i == 1 ? 0 : 1,
                           1); /* b ends in the first round, the others in the second */
    assert_int_equal(trv_requests_progress(&list), 1);
    assert_string_equal(advanced, "abcd");
    request[4] = begin('e', 0, 1);
    assert_int_equal(trv_requests_progress(&list), 4);
    assert_string_equal(advanced, "abcdacde");
    assert_int_equal(trv_requests_progress(&list), 0);
    for (int i = 0; i < 5; i++) {
        assert_false(trv_request_is_active(&request[i]->base));
        wait_and_free(request[i], TRV_OK);
    }
    assert_string_equal(advanced, "abcdacde");
}

/* A thread that waits for the last request advances that one first, and all others in the order of their starts. */
static void test_wait_advances_all(void **state)
{
    (void)state;
    step_request_t *a = begin('a', 0, 1), *b = begin('b', 1, 1), *c = begin('c', 1, 1);
    wait_and_free(c, TRV_OK);
    assert_string_equal(advanced, "cabc");
    wait_and_free(b, TRV_OK);
    wait_and_free(a, TRV_OK);
    assert_string_equal(advanced, "cabcb");
}

static void test_started_again(void **state)
{
    (void)state;
    step_request_t *a = begin('a', 0, -3);
    bool ended = false;
    assert_int_equal(trv_request_wait(&a->base, INFINITY, &ended), -3);
    a->result = 1;
    trv_request_begin(&a->base);
    assert_true(trv_request_is_active(&a->base));
    wait_and_free(a, TRV_OK);
}

static void test_wait_until(void **state)
{
    (void)state;
    static atomic_int gate;
    gate = 0;
    step_request_t *a = begin('a', 0, 1);
    a->gate = &gate;
    bool ended = true;
    assert_int_equal(trv_request_wait(&a->base, 0, &ended), TRV_OK);
    assert_false(ended);
    const double begun_ns = trv_now_ns();
    assert_int_equal(trv_request_wait(&a->base, begun_ns + 2e7, &ended), TRV_OK);
    assert_false(ended);
    assert_true(trv_now_ns() - begun_ns >= 2e7);
    gate = 1;
    wait_and_free(a, TRV_OK);
}

/* A request ends once its operation has ended and no longer accesses the buffers, and is not advanced in between. */
static void test_released(void **state)
{
    (void)state;
    int ends = 0;
    step_request_t *a = begin('a', 0, 1), *b = begin('b', 0, -7);
    a->ends = b->ends = &ends;
    buffers_used = true;
    for (int i = 0; i < 3; i++)
        assert_int_equal(trv_requests_progress(&list), 0);
    assert_true(trv_request_is_active(&a->base) && trv_request_is_active(&b->base));
    assert_string_equal(advanced, "ab");
    trv_fail(-1, "another error");
    buffers_used = false;
    assert_int_equal(trv_requests_progress(&list), 2);
    assert_int_equal(ends, 2);
    wait_and_free(a, TRV_OK);
    wait_and_free(b, -7);
    assert_string_equal(trv_last_error(), "request b has failed");
}

static int end_fails(trv_request_t *request, int code)
{
    request->status = 5;
    return code < 0 ? code : trv_fail(-9, "the end has failed");
}

static int notified;

static void notify(void *context, int status)
{
    notified += status;
    step_free(context); /* the owner may free the request */
}

static void test_end_fails(void **state)
{
    (void)state;
    static const trv_request_kind_t kind = {.advance = step_advance, .end = end_fails, .describe = step_describe};
    step_request_t *a = begin('a', 0, 1), *b = begin('b', 0, 1);
    a->base.kind = b->base.kind = &kind;
    b->base.notify = notify;
    b->base.context = b;
    notified = 0;
    assert_int_equal(trv_requests_progress(&list), 2);
    assert_int_equal(notified, 5);
    wait_and_free(a, -9);
    assert_string_equal(trv_last_error(), "the end has failed");
}

static int advance_nested(trv_request_t *base)
{
    assert_int_equal(trv_requests_progress(&list), 0);
    assert_true(trv_request_is_active(base));
    return step_advance(base);
}

/* MPI may call its progress function, and this one ours, while a request is advanced. */
static void test_nested(void **state)
{
    (void)state;
    static const trv_request_kind_t kind = {.advance = advance_nested, .end = step_end, .describe = step_describe};
    step_request_t *a = begin('a', 0, 1), *b = begin('b', 0, 1);
    a->base.kind = b->base.kind = &kind;
    assert_int_equal(trv_requests_progress(&list), 2);
    assert_string_equal(advanced, "ab");
    wait_and_free(a, TRV_OK);
    wait_and_free(b, TRV_OK);
}

static void begin_again(void *context, int status)
{
    (void)status;
    trv_request_begin(context);
}

/* Progress ends although every end begins another request. */
static void test_begins_at_the_end(void **state)
{
    (void)state;
    step_request_t *a = begin('a', 0, 1), *b = begin('b', 0, 1);
    a->base.notify = b->base.notify = begin_again;
    a->base.context = a;
    b->base.context = b;
    assert_int_equal(trv_requests_progress(&list), 2);
    assert_int_equal(trv_requests_progress(&list), 2);
    assert_string_equal(advanced, "abab");
    a->base.notify = b->base.notify = NULL;
    wait_and_free(b, TRV_OK);
    wait_and_free(a, TRV_OK);
}

/* ---- Several threads --------------------------------------------------------------------------------------------- */

static void *wait_for(void *argument)
{
    bool ended = false;
    trv_request_t *request = argument;
    return (void *)(intptr_t)trv_request_wait(request, INFINITY, &ended);
}

/* The timeout of a request for which no thread waits, or of which another thread has no news. */
static void test_timeout(void **state)
{
    (void)state;
    static atomic_int gate;
    gate = 0;
    list.timeout_ms = 50;
    step_request_t *a = begin('a', 0, 1), *m = begin('m', 0, 1), *b = begin('b', 0, 1);
    a->gate = b->gate = m->gate = &gate;
    m->base.kind = &awaited_kind;
    b->base.watch.reported = true; /* only the timeout of `a` is of interest */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_for, &b->base), 0);
    while (expired == 0)
        usleep(1000);
    gate = 1;
    pthread_join(thread, NULL);
    assert_int_equal(expired, 1);
    assert_string_equal(expired_text, "request a");
    assert_true(pthread_equal(expired_by, thread));
    wait_and_free(a, TRV_OK);
    wait_and_free(b, TRV_OK);
    wait_and_free(m, TRV_OK);
}

static void test_awaited_timeout(void **state)
{
    (void)state;
    static atomic_int gate;
    gate = 0;
    list.timeout_ms = 50;
    step_request_t *m = begin('m', 0, 1);
    m->base.kind = &awaited_kind;
    m->gate = &gate;
    for (double end_ns = trv_now_ns() + 2e8; trv_now_ns() < end_ns; usleep(1000))
        trv_requests_progress(&list);
    assert_int_equal(expired, 0);
    bool ended = false;
    for (double end_ns = trv_now_ns() + 2e8; trv_now_ns() < end_ns && !ended;) /* a program that polls */
        trv_request_wait(&m->base, trv_now_ns() + 2e4, &ended);
    assert_false(ended);
    assert_int_equal(expired, 1);
    m->base.watch = (trv_watch_t){0};
    trv_request_wait(&m->base, trv_now_ns() + 2e8, &ended);
    assert_false(ended);
    assert_int_equal(expired, 2);
    gate = 1;
    wait_and_free(m, TRV_OK);
}

/* Time counts only while a thread makes progress. */
static void test_no_timeout_without_progress(void **state)
{
    (void)state;
    list.timeout_ms = 1500;
    step_request_t *a = begin('a', 1000000, 1);
    trv_requests_progress(&list);
    usleep(2000000);
    trv_requests_progress(&list);
    assert_int_equal(expired, 0);
    a->steps = 0;
    wait_and_free(a, TRV_OK);
}

static void *fail_all(void *argument)
{
    (void)argument;
    while (trv_requests_progress(&list) == 0)
        sched_yield();
    return NULL;
}

/* The owner receives the message of a failure that another thread has found. */
static void test_failure_of_another_thread(void **state)
{
    (void)state;
    step_request_t *a = begin('a', 10, -4);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_all, NULL), 0);
    pthread_join(thread, NULL);
    trv_fail(-1, "another error");
    wait_and_free(a, -4);
    assert_string_equal(trv_last_error(), "request a has failed");
}

static int advance_slowly(trv_request_t *base)
{
    usleep(500);
    return step_advance(base);
}

/* A request ends while its owner waits, which then frees it at once. */
static void test_end_while_waiting(void **state)
{
    (void)state;
    static const trv_request_kind_t kind = {.advance = advance_slowly, .end = step_end, .describe = step_describe};
    for (int round = 0; round < ROUNDS; round++) {
        int ends = 0;
        step_request_t *a = calloc(1, sizeof *a);
        assert_non_null(a);
        trv_request_init(&a->base, &list, &kind);
        a->steps = round % 5;
        a->result = 1;
        a->ends = &ends;
        trv_request_begin(&a->base);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for, &a->base), 0);
        while (trv_request_is_active(&a->base))
            trv_requests_progress(&list);
        void *code;
        pthread_join(thread, &code);
        assert_true(code == NULL);
        assert_int_equal(ends, 1);
        step_free(a);
    }
}

static atomic_int wrong;

/* Begins requests, and waits for or tests them in another order; frees each at once. */
static void *storm(void *argument)
{
    unsigned random = *(const unsigned *)argument;
    step_request_t *request[STORM];
    for (int round = 0; round < ROUNDS; round++) {
        int ends[STORM] = {0}; /* a failure is a negative code, and every fifth request fails */
        for (int i = 0; i < STORM; i++) {
            random = random * 1103515245 + 12345;
            request[i] = calloc(1, sizeof *request[i]);
            trv_request_init(&request[i]->base, &list, &step_kind);
            request[i]->steps = (int)(random >> 16) % 7;
            request[i]->result = i % 5 == 0 ? -2 : 1;
            request[i]->ends = &ends[i];
            trv_request_begin(&request[i]->base);
        }
        for (int i = 0, at = (int)(random >> 16) % STORM; i < STORM; i++, at = (at + 7) % STORM) {
            bool ended = false;
            const bool tests = (random >> (16 + i % 8) & 1) != 0;
            int code;
            do
                code = trv_request_wait(&request[at]->base, tests ? 0 : INFINITY, &ended);
            while (!ended);
            wrong += code != (at % 5 == 0 ? -2 : TRV_OK) || ends[at] != 1;
            step_free(request[at]);
        }
    }
    return NULL;
}

static void test_storm(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    unsigned seed[THREADS];
    wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        seed[i] = (unsigned)i;
        assert_int_equal(pthread_create(&thread[i], NULL, storm, &seed[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait_advances_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_started_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait_until, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_released, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begins_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_timeout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_awaited_timeout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_timeout_without_progress, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure_of_another_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end_while_waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_storm, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
