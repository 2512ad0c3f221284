/*
 * Start of a job by the option `bootstrap_broadcast`, with the ranks as threads of one process. If an option is invalid
 * on one rank, or the ranks have different address formats, all ranks fail with the same sentence.
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
static int broadcast_payload(void *context, void *data, size_t bytes)
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

typedef struct member {
    int rank, code;
    trv_net_options_t options;
    char reason[1024];
    pthread_t thread;
} member_t;

static void *member_run(void *context)
{
    member_t *member = context;
    trv_net_t *net;
    member->code = trv_net_init(&net, &member->options);
    if (member->code == TRV_OK)
        member->code = trv_net_barrier(trv_net_world(net));
    if (member->code == TRV_OK)
        member->code = trv_net_finalize(&net);
    snprintf(member->reason, sizeof member->reason, "%s", member->code < 0 ? trv_last_error() : "");
    return NULL;
}

static void members_init(member_t member[RANKS])
{
    for (int r = 0; r < RANKS; r++) {
        member[r] = (member_t){.rank = r, .options = {TRV_NET_OPTIONS}};
        member[r].options.rank = r;
        member[r].options.ranks = RANKS;
        member[r].options.address = "127.0.0.1";
        member[r].options.start_timeout_s = 20;
        member[r].options.bootstrap_broadcast = broadcast_payload;
        member[r].options.bootstrap_context = &member[r].rank;
    }
}

static void members_run(member_t member[RANKS])
{
    pthread_barrier_init(&barrier, NULL, RANKS);
    for (int r = 0; r < RANKS; r++)
        pthread_create(&member[r].thread, NULL, member_run, &member[r]);
    for (int r = 0; r < RANKS; r++)
        pthread_join(member[r].thread, NULL);
    pthread_barrier_destroy(&barrier);
}

static void expect_same_failure(member_t member[RANKS], const char *sentence)
{
    const double start_ns = trv_now_ns();
    members_run(member);
    for (int r = 0; r < RANKS; r++) {
        assert_true(member[r].code < 0);
        assert_string_equal(member[r].reason, sentence);
    }
    assert_true(trv_now_ns() - start_ns < 5e9);
}

static void test_start(void **state)
{
    member_t member[RANKS];
    (void)state;
    members_init(member);
    members_run(member);
    for (int r = 0; r < RANKS; r++)
        assert_string_equal(member[r].reason, "");
}

static void test_invalid_option(void **state)
{
    (void)state;
    for (int wrong_rank = 0; wrong_rank < RANKS; wrong_rank++) {
        char sentence[256];
        member_t member[RANKS];
        members_init(member);
        member[wrong_rank].options.torus = "5x5";
        snprintf(sentence, sizeof sentence,
                 "rank %d: the torus 5x5 does not have the job's 3 ranks; a ring of them is 3", wrong_rank);
        expect_same_failure(member, sentence);
    }
}

/* Invalid timeouts. */
static void test_invalid_timeouts(void **state)
{
    member_t member[RANKS];
    (void)state;
    members_init(member);
    member[1].options.timeout_s = -1;
    expect_same_failure(
        member,
        "rank 1: the option timeout_s is -1; expected a number of seconds, or 0 for the value of TRIVANCE_TIMEOUT");
    members_init(member);
    member[0].options.start_timeout_s = INFINITY;
    expect_same_failure(member, "rank 0: the option start_timeout_s is inf; expected a number of seconds, or 0 "
                                "for the value of TRIVANCE_START_TIMEOUT");
}

/* A torus with another number of ranks is an error for a whole job, but not for a net of some of its ranks. */
static void test_torus_of_other_size(void **state)
{
    member_t member[RANKS];
    (void)state;
    setenv("TRIVANCE_TORUS", "7,2x2", 1);
    for (int all = 3; all < 5; all++) {
        setenv("WORLD_SIZE", all == 3 ? "3" : "4", 1);
        members_init(member);
        members_run(member);
        assert_string_equal(member[2].reason, all == 4 ? ""
                                                       : "rank 0: TRIVANCE_TORUS=7,2x2 has no torus of 3 ranks; the "
                                                         "product of its sizes must be the number of ranks");
    }
    unsetenv("WORLD_SIZE");
    unsetenv("TRIVANCE_TORUS");
}

/* Rank 0 cannot listen; its address is so long that the sentence is close to its maximum length. */
static void test_invalid_address(void **state)
{
    char address[251], sentence[512];
    member_t member[RANKS];
    (void)state;
    memset(address, 'x', sizeof address - 1);
    address[sizeof address - 1] = '\0';
    members_init(member);
    member[0].options.address = address;
    members_run(member);
    snprintf(sentence, sizeof sentence, "rank 0: rank 0 cannot resolve the address '%s'", address);
    for (int r = 0; r < RANKS; r++) {
        assert_true(member[r].code < 0);
        assert_string_equal(member[r].reason, member[0].reason);
    }
    assert_memory_equal(member[0].reason, sentence, strlen(sentence));
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static void unexpected_failure(void *context, const char *sentence)
{
    (void)context;
    fail_msg("%s", sentence);
}

/* Two ranks with different interfaces return the same error. */
static void expect_mismatch(const char *const provider[2], const char *const ports[2], const char *sentence)
{
    trv_fabric_t *fabric[2];
    trv_writer_t interfaces[2] = {{.data = NULL}, {.data = NULL}}, addresses[2] = {{.data = NULL}, {.data = NULL}};
    const int two = 2;
    trv_torus_t ring;
    assert_int_equal(trv_torus_init(&ring, 1, &two), TRV_OK);
    for (int r = 0; r < 2; r++) {
        const trv_fabric_options_t options = {.oob = {.rank = r, .ranks = 2},
                                              .ports = ports[r],
                                              .fail = unexpected_failure};
        if (trv_fabric_create(&fabric[r], &options, provider[r], NULL) < 0) {
            print_message("%s\n", trv_last_error());
            skip();
        }
        fabric[r]->torus = ring;
        trv_fabric_publish_interfaces(fabric[r], &interfaces[r]);
    }
    for (int r = 0; r < 2; r++) {
        for (int other = 0; other < 2; other++) {
            trv_reader_t reader = trv_reader(interfaces[other].data, interfaces[other].used);
            assert_int_equal(trv_fabric_collect_interfaces(fabric[r], other, "here", other, &reader), TRV_OK);
        }
        assert_int_equal(trv_fabric_query_routes(fabric[r]), TRV_OK);
        assert_int_equal(trv_fabric_open_interfaces(fabric[r]), TRV_OK);
        trv_fabric_publish_addresses(fabric[r], &addresses[r]);
    }
    for (int r = 0; r < 2; r++) {
        int rc = TRV_OK;
        for (int other = 0; rc == TRV_OK && other < 2; other++) {
            trv_reader_t reader = trv_reader(addresses[other].data, addresses[other].used);
            rc = trv_fabric_collect_addresses(fabric[r], other, &reader);
        }
        assert_int_equal(rc, TRV_ERR_UNSUPPORTED);
        assert_string_equal(trv_last_error(), sentence);
    }
    for (int r = 0; r < 2; r++) {
        trv_fabric_close(fabric[r]);
        trv_writer_clear(&interfaces[r]);
        trv_writer_clear(&addresses[r]);
    }
}

/* A completion queue that reports an error, but has no error entry, must not cause an endless loop. */
static ssize_t report_error(struct fid_cq *queue, void *entry, size_t count)
{
    (void)queue, (void)entry, (void)count;
    return -FI_EAVAIL;
}

static ssize_t read_no_entry(struct fid_cq *queue, struct fi_cq_err_entry *entry, uint64_t flags)
{
    (void)queue, (void)entry, (void)flags;
    return -FI_EAGAIN;
}

static void test_error_without_entry(void **state)
{
    const trv_fabric_options_t options = {.oob = {.rank = 0, .ranks = 1}, .fail = unexpected_failure};
    const int one = 1;
    trv_fabric_t *fabric;
    trv_writer_t interfaces = {.data = NULL};
    (void)state;
    assert_int_equal(trv_fabric_create(&fabric, &options, "tcp", NULL), TRV_OK);
    assert_int_equal(trv_torus_init(&fabric->torus, 1, &one), TRV_OK);
    trv_fabric_publish_interfaces(fabric, &interfaces);
    trv_reader_t reader = trv_reader(interfaces.data, interfaces.used);
    assert_int_equal(trv_fabric_collect_interfaces(fabric, 0, "here", 0, &reader), TRV_OK);
    assert_int_equal(trv_fabric_query_routes(fabric), TRV_OK);
    assert_int_equal(trv_fabric_open_interfaces(fabric), TRV_OK);
    struct fid_cq *queue = fabric->interface[0].cq;
    struct fi_ops_cq *const own = queue->ops,
                            silent = {.size = sizeof silent, .read = report_error, .readerr = read_no_entry};
    queue->ops = (struct fi_ops_cq *)&silent;
    alarm(10);
    assert_int_equal(trv_fabric_poll(fabric), 0);
    alarm(0);
    queue->ops = own;
    trv_fabric_close(fabric);
    trv_writer_clear(&interfaces);
}

static void test_providers(void **state)
{
    (void)state;
    expect_mismatch((const char *const[]){"tcp;ofi_rxm", "shm"}, (const char *const[]){NULL, NULL},
                    "rank 1 uses libfabric's provider shm, and rank 0 uses tcp;ofi_rxm; select one that both have, for "
                    "example TRIVANCE_PROVIDER=tcp");
}

static void test_formats(void **state)
{
    (void)state;
    expect_mismatch((const char *const[]){"tcp", "tcp"}, (const char *const[]){"+0=127.0.0.1", "+0=::1"},
                    "rank 1 has an interface with IPv6 addresses, and rank 0 has one with IPv4 addresses; select "
                    "interfaces that reach each other, for example TRIVANCE_PORTS=+0=10.0.0.1,-0=10.0.1.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_invalid_option),
        cmocka_unit_test(test_invalid_address),
        cmocka_unit_test(test_providers),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_invalid_timeouts),
        cmocka_unit_test(test_torus_of_other_size),
        cmocka_unit_test(test_error_without_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
