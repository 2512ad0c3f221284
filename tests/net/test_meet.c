/*
 * Start of a job by the option `bootstrap_broadcast`, with the ranks as threads of one process. If an option is invalid on one rank,
 * or the ranks have different address formats, all ranks fail with the same sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/net.h>

#include "base/clock.h"
#include "transport/fabric/inside.h"

enum { RANKS = 3 };

static pthread_barrier_t barrier;
static char payload[4096];

/* The option `bootstrap_broadcast`: the context is the rank of the calling thread. */
static int broadcast(void *context, void *data, size_t bytes)
{
    const int rank = *(const int *)context;
    assert_true(bytes <= sizeof payload);
    if (rank == 0)
        memcpy(payload, data, bytes);
    pthread_barrier_wait(&barrier);
    memcpy(data, payload, bytes);
    pthread_barrier_wait(&barrier);
    return 0;
}

typedef struct place {
    int rank, code;
    trv_net_options_t options;
    char reason[1024];
    pthread_t thread;
} place_t;

static void *run(void *context)
{
    place_t *place = context;
    trv_net_t *net;
    place->code = trv_net_init(&net, &place->options);
    if (place->code == TRV_OK)
        place->code = trv_net_barrier(trv_net_world(net));
    if (place->code == TRV_OK)
        place->code = trv_net_finalize(&net);
    snprintf(place->reason, sizeof place->reason, "%s", place->code < 0 ? trv_last_error() : "");
    return NULL;
}

static void begin(place_t place[RANKS])
{
    for (int r = 0; r < RANKS; r++) {
        place[r] = (place_t){.rank = r, .options = {TRV_NET_OPTIONS}};
        place[r].options.rank = r;
        place[r].options.ranks = RANKS;
        place[r].options.address = "127.0.0.1";
        place[r].options.start_timeout_s = 20;
        place[r].options.bootstrap_broadcast = broadcast;
        place[r].options.bootstrap_context = &place[r].rank;
    }
}

static void run_all(place_t place[RANKS])
{
    pthread_barrier_init(&barrier, NULL, RANKS);
    for (int r = 0; r < RANKS; r++)
        pthread_create(&place[r].thread, NULL, run, &place[r]);
    for (int r = 0; r < RANKS; r++)
        pthread_join(place[r].thread, NULL);
    pthread_barrier_destroy(&barrier);
}

static void expect_all(place_t place[RANKS], const char *sentence)
{
    const double start_ns = trv_now_ns();
    run_all(place);
    for (int r = 0; r < RANKS; r++) {
        assert_true(place[r].code < 0);
        assert_string_equal(place[r].reason, sentence);
    }
    assert_true(trv_now_ns() - start_ns < 5e9);
}

static void test_meets(void **state)
{
    place_t place[RANKS];
    (void)state;
    begin(place);
    run_all(place);
    for (int r = 0; r < RANKS; r++)
        assert_string_equal(place[r].reason, "");
}

static void test_wrong_option(void **state)
{
    (void)state;
    for (int who = 0; who < RANKS; who++) {
        char sentence[256];
        place_t place[RANKS];
        begin(place);
        place[who].options.torus = "5x5";
        snprintf(sentence, sizeof sentence,
                 "rank %d: the torus 5x5 does not have 3 ranks, as the job has; a ring of them is 3", who);
        expect_all(place, sentence);
    }
}

/* Invalid timeouts. */
static void test_wrong_times(void **state)
{
    place_t place[RANKS];
    (void)state;
    begin(place);
    place[1].options.timeout_s = -1;
    expect_all(place,
               "rank 1: the option timeout_s is -1; it is a number of seconds, or 0 for the value of TRIVANCE_TIMEOUT");
    begin(place);
    place[0].options.start_timeout_s = INFINITY;
    expect_all(place, "rank 0: the option start_timeout_s is inf; it is a number of seconds, or 0 "
                      "for the value of TRIVANCE_START_TIMEOUT");
}

/* A torus with another number of ranks is an error for a whole job, but not for a net of some of its ranks. */
static void test_torus_of_all(void **state)
{
    place_t place[RANKS];
    (void)state;
    setenv("TRIVANCE_TORUS", "7,2x2", 1);
    for (int all = 3; all < 5; all++) {
        setenv("WORLD_SIZE", all == 3 ? "3" : "4", 1);
        begin(place);
        run_all(place);
        assert_string_equal(place[2].reason, all == 4 ? ""
                                                      : "rank 0: TRIVANCE_TORUS=7,2x2 has no torus of 3 ranks; the "
                                                        "product of its sizes must be the number of ranks");
    }
    unsetenv("WORLD_SIZE");
    unsetenv("TRIVANCE_TORUS");
}

/* Rank 0 cannot listen; its address is so long that the sentence is close to its maximum length. */
static void test_wrong_address(void **state)
{
    char address[251], sentence[512];
    place_t place[RANKS];
    (void)state;
    memset(address, 'x', sizeof address - 1);
    address[sizeof address - 1] = '\0';
    begin(place);
    place[0].options.address = address;
    run_all(place);
    snprintf(sentence, sizeof sentence, "rank 0: rank 0 cannot find the address '%s'", address);
    for (int r = 0; r < RANKS; r++) {
        assert_true(place[r].code < 0);
        assert_string_equal(place[r].reason, place[0].reason);
    }
    assert_memory_equal(place[0].reason, sentence, strlen(sentence));
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static void never(void *context, const char *sentence)
{
    (void)context;
    fail_msg("%s", sentence);
}

/* Two ranks with different interfaces return the same error. */
static void expect_mismatch(const char *const provider[2], const char *const ports[2], const char *sentence)
{
    trv_fabric_t *fabric[2];
    trv_writer_t offer[2] = {{.data = NULL}, {.data = NULL}}, writer[2] = {{.data = NULL}, {.data = NULL}};
    const int two = 2;
    trv_torus_t ring;
    assert_int_equal(trv_torus_init(&ring, 1, &two), TRV_OK);
    for (int r = 0; r < 2; r++) {
        const trv_fabric_options_t options = {.oob = {.rank = r, .ranks = 2}, .ports = ports[r], .fail = never};
        if (trv_fabric_create(&fabric[r], &options, provider[r], NULL) < 0) {
            print_message("%s\n", trv_last_error());
            skip();
        }
        fabric[r]->torus = ring;
        trv_fabric_offer(fabric[r], &offer[r]);
    }
    for (int r = 0; r < 2; r++) {
        for (int other = 0; other < 2; other++) {
            trv_reader_t reader = trv_reader(offer[other].data, offer[other].used);
            assert_int_equal(trv_fabric_hear(fabric[r], other, "here", other, &reader), TRV_OK);
        }
        assert_int_equal(trv_fabric_survey(fabric[r]), TRV_OK);
        trv_fabric_describe(fabric[r], &writer[r]);
    }
    for (int r = 0; r < 2; r++) {
        int rc = TRV_OK;
        for (int other = 0; rc == TRV_OK && other < 2; other++) {
            trv_reader_t reader = trv_reader(writer[other].data, writer[other].used);
            rc = trv_fabric_learn(fabric[r], other, &reader);
        }
        assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
        assert_string_equal(trv_last_error(), sentence);
    }
    for (int r = 0; r < 2; r++) {
        trv_fabric_close(fabric[r]);
        trv_writer_clear(&offer[r]);
        trv_writer_clear(&writer[r]);
    }
}

/* A completion queue that reports an error, but has no error entry, must not cause an endless loop. */
static ssize_t read_error(struct fid_cq *queue, void *entry, size_t count)
{
    (void)queue, (void)entry, (void)count;
    return -FI_EAVAIL;
}

static ssize_t have_none(struct fid_cq *queue, struct fi_cq_err_entry *entry, uint64_t flags)
{
    (void)queue, (void)entry, (void)flags;
    return -FI_EAGAIN;
}

static void test_silent_error(void **state)
{
    const trv_fabric_options_t options = {.oob = {.rank = 0, .ranks = 1}, .fail = never};
    const int one = 1;
    trv_fabric_t *fabric;
    trv_writer_t offer = {.data = NULL};
    (void)state;
    assert_int_equal(trv_fabric_create(&fabric, &options, "tcp", NULL), TRV_OK);
    assert_int_equal(trv_torus_init(&fabric->torus, 1, &one), TRV_OK);
    trv_fabric_offer(fabric, &offer);
    trv_reader_t reader = trv_reader(offer.data, offer.used);
    assert_int_equal(trv_fabric_hear(fabric, 0, "here", 0, &reader), TRV_OK);
    assert_int_equal(trv_fabric_survey(fabric), TRV_OK);
    struct fid_cq *queue = fabric->port[0].cq;
    struct fi_ops_cq *const own = queue->ops,
                            silent = {.size = sizeof silent, .read = read_error, .readerr = have_none};
    queue->ops = (struct fi_ops_cq *)&silent;
    alarm(10);
    assert_int_equal(trv_fabric_poll(fabric), 0);
    alarm(0);
    queue->ops = own;
    trv_fabric_close(fabric);
    trv_writer_clear(&offer);
}

static void test_providers(void **state)
{
    (void)state;
    expect_mismatch((const char *const[]){"tcp;ofi_rxm", "shm"}, (const char *const[]){NULL, NULL},
                    "rank 1 has libfabric's provider shm, and rank 0 tcp;ofi_rxm; name one that both have, as in "
                    "TRIVANCE_PROVIDER=tcp");
}

static void test_formats(void **state)
{
    (void)state;
    expect_mismatch((const char *const[]){"tcp", "tcp"}, (const char *const[]){"+0=127.0.0.1", "+0=::1"},
                    "rank 1 has an interface with addresses of another kind than rank 0 (IPv6; rank 0: IPv4): name "
                    "interfaces that reach each other in TRIVANCE_PORTS, as in +0=10.0.0.1,-0=10.0.1.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meets),        cmocka_unit_test(test_wrong_option), cmocka_unit_test(test_wrong_address),
        cmocka_unit_test(test_providers),    cmocka_unit_test(test_formats),      cmocka_unit_test(test_wrong_times),
        cmocka_unit_test(test_torus_of_all), cmocka_unit_test(test_silent_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
