/*
 * The bootstrap over TCP: published test vectors of the hash functions; up to a thousand ranks, as threads of one
 * process; unauthenticated peers, garbage, another secret, another number of ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/clock.h"
#include "bootstrap/tcp/bootstrap.h"

/* ---- The hash ---------------------------------------------------------------------------------------------------- */

static const char *hex(const uint8_t code[TRV_SHA256_BYTES])
{
    static char text[2 * TRV_SHA256_BYTES + 1];
    for (int i = 0; i < TRV_SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", code[i]);
    return text;
}

static const char *sha(const char *text, int times)
{
    uint8_t code[TRV_SHA256_BYTES];
    trv_sha256_t hash;
    trv_sha256_begin(&hash);
    for (int i = 0; i < times; i++)
        trv_sha256_add(&hash, text, strlen(text));
    trv_sha256_end(&hash, code);
    return hex(code);
}

/* FIPS 180-2, appendix B; the last vector is a million times "a", in pieces that are not aligned with blocks. */
static void test_sha256(void **state)
{
    (void)state;
    assert_string_equal(sha("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(sha("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_string_equal(sha("aaaaa", 200000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static const char *hmac(const void *key, size_t key_bytes, const char *text)
{
    uint8_t code[TRV_SHA256_BYTES];
    trv_hmac_t hash;
    trv_hmac_begin(&hash, key, key_bytes);
    trv_hmac_add(&hash, text, strlen(text));
    trv_hmac_end(&hash, code);
    return hex(code);
}

/* RFC 4231, test cases 1, 2 and 6. */
static void test_hmac(void **state)
{
    uint8_t key[131];
    (void)state;
    memset(key, 0x0b, 20);
    assert_string_equal(hmac(key, 20, "Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_string_equal(hmac("Jefe", 4, "what do ya want for nothing?"),
                        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    assert_string_equal(hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First"),
                        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* ---- Bootstrap --------------------------------------------------------------------------------------------------- */

typedef struct member {
    int rank, ranks, port;
    const char *secret;
    double timeout_s;
    bool dies, fails;
    char greeting[32];
    int code;
    char reason[TRV_REASON_MAX];
    int logged;
    pthread_t thread;
} member_t;

static void count_log(void *context, const char *sentence)
{
    member_t *member = context;
    (void)sentence;
    member->logged++;
}

/* Rank 0 waits for all ranks, and compares the greetings of those that send one. */
static int greetings_check(const member_t *member, trv_bootstrap_t *bootstrap)
{
    const int rc = trv_bootstrap_gather(bootstrap);
    for (int r = 1; rc == TRV_OK && r < member->ranks; r++) {
        char expected[32];
        size_t bytes;
        const void *greeting = trv_bootstrap_greeting(bootstrap, r, &bytes);
        snprintf(expected, sizeof expected, "greeting of rank %d", r);
        assert_int_equal(bytes, r % 2 ? sizeof expected : 0);
        assert_true(r % 2 ? strcmp(greeting, expected) == 0 : !greeting);
    }
    return rc;
}

static int member_exchange(member_t *member, trv_bootstrap_t *bootstrap)
{
    char text[64], expected[64];
    size_t bytes;
    int rc = member->rank == 0 && member->ranks % 2 ? greetings_check(member, bootstrap) : TRV_OK;
    if (rc == TRV_OK)
        rc = trv_bootstrap_join(bootstrap, "welcome", 8);
    if (rc < 0)
        return rc;
    assert_string_equal(trv_bootstrap_welcome(bootstrap, &bytes), "welcome");
    if (member->fails)
        trv_bootstrap_fail(bootstrap, "a failure of this rank");
    snprintf(text, sizeof text, "I am rank %d", member->rank);
    rc = trv_bootstrap_exchange(bootstrap, text, strlen(text) + 1);
    for (int r = 0; rc == TRV_OK && r < member->ranks; r++) {
        snprintf(expected, sizeof expected, "I am rank %d", r);
        assert_string_equal(trv_bootstrap_record(bootstrap, r, &bytes), expected);
        assert_int_equal(bytes, strlen(expected) + 1);
    }
    return rc == TRV_OK && !member->dies ? trv_bootstrap_leave(bootstrap, NULL, NULL) : rc;
}

static trv_bootstrap_options_t member_options(member_t *member)
{
    trv_bootstrap_options_t options = {.rank = member->rank,
                                       .ranks = member->ranks,
                                       .address = "127.0.0.1",
                                       .port = member->port,
                                       .timeout_ns = 1e9 * member->timeout_s,
                                       .log = count_log,
                                       .context = member};
    snprintf((char *)options.secret, sizeof options.secret, "%s", member->secret);
    snprintf(member->greeting, sizeof member->greeting, "greeting of rank %d", member->rank);
    options.greeting = member->greeting;
    options.greeting_bytes = member->rank % 2 ? sizeof member->greeting : 0;
    return options;
}

static void member_run(member_t *member, trv_bootstrap_t *bootstrap)
{
    const trv_bootstrap_options_t options = member_options(member);
    member->code = bootstrap ? TRV_OK : trv_bootstrap_open(&bootstrap, &options);
    if (member->code == TRV_OK)
        member->code = member_exchange(member, bootstrap);
    snprintf(member->reason, sizeof member->reason, "%s", member->code < 0 ? trv_last_error() : "");
    trv_bootstrap_close(bootstrap);
}

static void *member_thread(void *context)
{
    member_run(context, NULL);
    return NULL;
}

/* Creates the bootstrap on rank 0, which determines the port, and starts the threads of the other ranks. */
static void members_start(member_t *member, int ranks, trv_bootstrap_t **bootstrap)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    const trv_bootstrap_options_t options = member_options(&member[0]);
    assert_int_equal(trv_bootstrap_open(bootstrap, &options), TRV_OK);
    for (int r = 1; r < ranks; r++) {
        member[r].port = trv_bootstrap_port(*bootstrap);
        assert_int_equal(pthread_create(&member[r].thread, &attributes, member_thread, &member[r]), 0);
    }
    pthread_attr_destroy(&attributes);
}

static member_t *members_create(int ranks, double timeout_s)
{
    member_t *member = calloc((size_t)ranks, sizeof *member);
    for (int r = 0; r < ranks; r++)
        member[r] = (member_t){.rank = r, .ranks = ranks, .secret = "pssst", .timeout_s = timeout_s};
    return member;
}

static void members_finish(member_t *member, int ranks, trv_bootstrap_t *bootstrap)
{
    member_run(&member[0], bootstrap);
    for (int r = 1; r < ranks; r++)
        pthread_join(member[r].thread, NULL);
}

static void members_meet(int ranks)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(ranks, 60);
    members_start(member, ranks, &bootstrap);
    members_finish(member, ranks, bootstrap);
    for (int r = 0; r < ranks; r++)
        assert_string_equal(member[r].reason, "");
    free(member);
}

static void test_small_jobs(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 5; ranks++)
        members_meet(ranks);
}

/* Prints the processor time that a thousand ranks take together. */
static void test_thousand_ranks(void **state)
{
    (void)state;
    const double before_ns = trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    members_meet(1000);
    const double took_s = (trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns) / 1e9;
    print_message("1,000 ranks: %.2f s of processor time in all\n", took_s);
}

static void expect_all(member_t *member, int ranks, const char *part)
{
    for (int r = 0; r < ranks; r++) {
        assert_int_not_equal(member[r].code, TRV_OK);
        const bool late = r > 0 &&
                          strstr(member[r].reason, "does not accept connections"); /* the job had already ended */
        if (!strstr(member[r].reason, part) && !late)
            fail_msg("rank %d reports '%s', not '%s'", r, member[r].reason, part);
    }
}

static void test_missing_rank(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(4, 0.3);
    (void)state;
    members_start(member, 3, &bootstrap);
    members_finish(member, 3, bootstrap);
    expect_all(member, 3, "while it waited for all ranks to connect; missing: 3");
    free(member);
}

static void test_other_secret(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(3, 0.5);
    (void)state;
    member[2].secret = "other";
    members_start(member, 3, &bootstrap);
    members_finish(member, 3, bootstrap);
    expect_all(member, 2, "missing: 2; 1 connection was refused");
    assert_non_null(strstr(member[2].reason, "TRIVANCE_SECRET must be the same"));
    assert_non_null(strstr(member[2].reason, "without it, WORLD_SIZE"));
    assert_int_equal(member[0].logged, 1);
    free(member);
}

static void test_other_size(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(3, 2);
    (void)state;
    member[1].ranks = 5;
    members_start(member, 3, &bootstrap);
    members_finish(member, 3, bootstrap);
    expect_all(member, 3, "expects 5 ranks (WORLD_SIZE), and rank 0 expects 3");
    free(member);
}

static void test_duplicate_rank(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(3, 2);
    (void)state;
    member[2].rank = 1;
    members_start(member, 3, &bootstrap);
    members_finish(member, 3, bootstrap);
    expect_all(member, 3, "two processes have rank 1");
    free(member);
}

static void test_rank_dies(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(4, 10);
    (void)state;
    member[2].dies = true; /* it closes its connection without trv_bootstrap_leave */
    members_start(member, 4, &bootstrap);
    members_finish(member, 4, bootstrap);
    for (int r = 0; r < 4; r++)
        if (r != 2)
            assert_non_null(strstr(member[r].reason, "rank 2 at 127.0.0.1 has died"));
    free(member);
}

static void test_rank_0_dies(void **state)
{
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(3, 10);
    (void)state;
    member[0].dies = true;
    members_start(member, 3, &bootstrap);
    members_finish(member, 3, bootstrap);
    for (int r = 1; r < 3; r++)
        assert_non_null(strstr(member[r].reason, "has died"));
    free(member);
}

static void test_rank_fails(void **state)
{
    (void)state;
    for (int failing_rank = 0; failing_rank < 3; failing_rank++) {
        trv_bootstrap_t *bootstrap;
        member_t *member = members_create(3, 10);
        member[failing_rank].fails = true;
        members_start(member, 3, &bootstrap);
        members_finish(member, 3, bootstrap);
        expect_all(member, 3, "a failure of this rank");
        free(member);
    }
}

static void test_port_in_use(void **state)
{
    trv_bootstrap_t *bootstrap, *second;
    member_t *member = members_create(2, 1);
    (void)state;
    trv_bootstrap_options_t options = member_options(&member[0]);
    assert_int_equal(trv_bootstrap_open(&bootstrap, &options), TRV_OK);
    options.port = trv_bootstrap_port(bootstrap);
    assert_int_equal(trv_bootstrap_open(&second, &options), TRV_ERR_TRANSPORT);
    assert_non_null(strstr(trv_last_error(), "Address already in use"));
    options.address = "192.0.2.77"; /* reserved for documentation (RFC 5737) */
    assert_true(trv_bootstrap_open(&second, &options) < 0);
    assert_non_null(strstr(trv_last_error(), "MASTER_ADDR must be an address of rank 0's host"));
    trv_bootstrap_close(bootstrap);
    free(member);
}

/* ---- Unauthenticated peers --------------------------------------------------------------------------------------- */

static int connect_raw(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Some unauthenticated peers send nothing, some garbage, some close their connection; there are more of them than rank
 * 0 keeps. The job starts nevertheless. */
static void test_unauthenticated(void **state)
{
    enum { PEERS = 150 };
    trv_bootstrap_t *bootstrap;
    member_t *member = members_create(3, 20);
    int fd[PEERS];
    char garbage[4096];
    (void)state;
    const trv_bootstrap_options_t options = member_options(&member[0]);
    assert_int_equal(trv_bootstrap_open(&bootstrap, &options), TRV_OK);
    srand(1);
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (char)rand();
    for (int i = 0; i < PEERS; i++) {
        fd[i] = connect_raw(trv_bootstrap_port(bootstrap));
        if (i % 3 == 0)
            assert_true(send(fd[i], garbage, sizeof garbage, MSG_NOSIGNAL) > 0);
        if (i % 3 == 1)
            close(fd[i]);
    }
    for (int r = 1; r < 3; r++) {
        member[r].port = trv_bootstrap_port(bootstrap);
        pthread_create(&member[r].thread, NULL, member_thread, &member[r]);
    }
    members_finish(member, 3, bootstrap);
    for (int r = 0; r < 3; r++)
        assert_string_equal(member[r].reason, "");
    assert_int_equal(member[0].logged, PEERS / 3);
    for (int i = 0; i < PEERS; i++)
        if (i % 3 != 1)
            close(fd[i]);
    free(member);
}

/* Another program listens on the port of rank 0. */
static void *answer(void *context)
{
    int fd = accept(*(int *)context, NULL, NULL);
    if (fd >= 0 && send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL) > 0)
        usleep(100000);
    close(fd);
    return NULL;
}

static void test_other_program(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    member_t member = {.rank = 1, .ranks = 2, .secret = "pssst", .timeout_s = 10};
    pthread_t thread;
    (void)state;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 4), 0);
    getsockname(fd, (struct sockaddr *)&at, &length);
    member.port = ntohs(at.sin_port);
    pthread_create(&thread, NULL, answer, &fd);
    member_run(&member, NULL);
    pthread_join(thread, NULL);
    assert_non_null(strstr(member.reason, "is not rank 0 of Trivance"));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),         cmocka_unit_test(test_hmac),
        cmocka_unit_test(test_small_jobs),     cmocka_unit_test(test_missing_rank),
        cmocka_unit_test(test_other_secret),   cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_duplicate_rank), cmocka_unit_test(test_rank_dies),
        cmocka_unit_test(test_rank_0_dies),    cmocka_unit_test(test_rank_fails),
        cmocka_unit_test(test_port_in_use),    cmocka_unit_test(test_unauthenticated),
        cmocka_unit_test(test_other_program),  cmocka_unit_test(test_thousand_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
