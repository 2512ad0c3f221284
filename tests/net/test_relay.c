/*
 * Messages by which ranks find a relay, and splices, which copy the bytes of relayed connections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bootstrap/tcp/files.h"
#include "bootstrap/tcp/relay_message.h"
#include "bootstrap/tcp/splice.h"

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void test_messages(void **state)
{
    const uint8_t secret[TRV_SHA256_BYTES] = "secret", other[TRV_SHA256_BYTES] = "other";
    uint8_t data[TRV_RELAY_MESSAGE_BYTES + 1] = {0};
    (void)state;
    for (int answer = 0; answer < 2; answer++) {
        const trv_relay_message_t sent = {.is_answer = answer,
                                          .nonce = "nonce",
                                          .rank = 70000,
                                          .address = 0x0a000102,
                                          .port = 65535};
        trv_relay_message_t got = {.rank = 0};
        trv_relay_message_encode(secret, &sent, data);
        assert_true(trv_relay_message_decode(secret, data, TRV_RELAY_MESSAGE_BYTES, &got));
        assert_int_equal(got.is_answer, answer);
        assert_memory_equal(got.nonce, sent.nonce, sizeof got.nonce);
        assert_int_equal(got.rank, sent.rank);
        assert_int_equal(got.address, sent.address);
        assert_int_equal(got.port, sent.port);
        /* another job, another length, a changed bit */
        assert_false(trv_relay_message_decode(other, data, TRV_RELAY_MESSAGE_BYTES, &got));
        assert_false(trv_relay_message_decode(secret, data, TRV_RELAY_MESSAGE_BYTES - 1, &got));
        assert_false(trv_relay_message_decode(secret, data, TRV_RELAY_MESSAGE_BYTES + 1, &got));
        assert_false(trv_relay_message_decode(secret, data, 0, &got));
        for (int bit = 0; bit < 8 * TRV_RELAY_MESSAGE_BYTES; bit++) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(trv_relay_message_decode(secret, data, TRV_RELAY_MESSAGE_BYTES, &got));
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* ---- Splices ----------------------------------------------------------------------------------------------------- */

static int listener_open(struct sockaddr_in *at)
{
    socklen_t length = sizeof *at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)at, &length), 0);
    return fd;
}

/* A connection of which one end belongs to a splice, and the other end to the peer. */
static int connection_open(int *peer)
{
    struct sockaddr_in at;
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    const int listener = listener_open(&at), fd = trv_file_socket(AF_INET, SOCK_STREAM);
    connect(fd, (struct sockaddr *)&at, sizeof at);
    *peer = accept(listener, (struct sockaddr *)&from, &length);
    fcntl(*peer, F_SETFL, O_NONBLOCK);
    close(listener);
    return fd;
}

static trv_splices_t splice_open(int peer[2])
{
    trv_splices_t splices = TRV_SPLICES;
    assert_true(trv_splices_open(&splices));
    const int here = connection_open(&peer[0]), there = connection_open(&peer[1]);
    assert_true(trv_splices_add(&splices, here, there));
    return splices;
}

static bool event_run(trv_splices_t *splices, int wait_ms)
{
    struct pollfd ready = {.fd = splices->epoll, .events = POLLIN};
    if (poll(&ready, 1, wait_ms) != 1)
        return false;
    trv_splices_event(splices);
    return true;
}

enum { STREAM_BYTES = 20 << 20 };

static uint8_t stream_byte(size_t at, int direction) { return (uint8_t)(at * 7 + at / 251 + (size_t)direction); }

/* Writes a part of the stream, at most `bytes_max` bytes, and ends the output after its last byte. */
static void stream_write(int peer, size_t *at, int direction, size_t bytes_max)
{
    uint8_t data[5000];
    size_t bytes = bytes_max < sizeof data ? bytes_max : sizeof data;
    bytes = bytes < STREAM_BYTES - *at ? bytes : STREAM_BYTES - *at;
    for (size_t i = 0; i < bytes; i++)
        data[i] = stream_byte(*at + i, direction);
    const ssize_t written = bytes > 0 ? send(peer, data, bytes, MSG_NOSIGNAL) : 0;
    *at += written > 0 ? (size_t)written : 0;
    if (*at == STREAM_BYTES && written > 0)
        shutdown(peer, SHUT_WR);
}

/* Reads and compares a part of the stream; true at its end. */
static bool stream_read(int peer, size_t *at, int direction)
{
    uint8_t data[3000];
    const ssize_t got = recv(peer, data, sizeof data, 0);
    for (ssize_t i = 0; i < got; i++)
        assert_int_equal(data[i], stream_byte(*at + (size_t)i, direction));
    *at += got > 0 ? (size_t)got : 0;
    return got == 0;
}

/* Both peers send a long stream, more than all buffers contain, of which one direction is read late. The splice ends
 * when both directions have. */
static void test_splice(void **state)
{
    int peer[2];
    size_t sent[2] = {0}, got[2] = {0};
    bool ended[2] = {false};
    (void)state;
    trv_splices_t splices = splice_open(peer);
    srand(1);
    for (long turn = 0; !ended[0] || !ended[1]; turn++) {
        for (int i = 0; i < 2; i++) {
            stream_write(peer[i], &sent[i], i, 1 + (size_t)rand() % 5000);
            if (!ended[i] && (i == 0 || ended[0] || turn % 64 == 0))
                ended[i] = stream_read(peer[!i], &got[i], i);
        }
        event_run(&splices, 0);
    }
    assert_int_equal(got[0], STREAM_BYTES);
    assert_int_equal(got[1], STREAM_BYTES);
    while (event_run(&splices, 100))
        ;
    assert_int_equal(splices.count, 0);
    trv_splices_close(&splices);
    close(peer[0]);
    close(peer[1]);
}

/* One peer ends its output, and still receives the bytes of the other. An idle splice causes no events. */
static void test_half_closed(void **state)
{
    int peer[2];
    char text[8];
    (void)state;
    trv_splices_t splices = splice_open(peer);
    shutdown(peer[0], SHUT_WR);
    while (event_run(&splices, 100))
        ;
    assert_int_equal(recv(peer[1], text, sizeof text, 0), 0);
    assert_int_equal(splices.count, 1);
    assert_int_equal(send(peer[1], "answer", 7, 0), 7);
    while (event_run(&splices, 100))
        ;
    assert_int_equal(recv(peer[0], text, sizeof text, 0), 7);
    assert_int_equal(splices.count, 1);
    close(peer[1]);
    while (event_run(&splices, 100))
        ;
    assert_int_equal(splices.count, 0);
    assert_int_equal(recv(peer[0], text, sizeof text, 0), 0);
    trv_splices_close(&splices);
    close(peer[0]);
}

/* A connection that is reset, and one that cannot be established, end the splice. */
static void test_failures(void **state)
{
    int peer[2];
    char text[8];
    struct sockaddr_in at;
    (void)state;
    trv_splices_t splices = splice_open(peer);
    setsockopt(peer[0], SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    close(peer[0]);
    while (event_run(&splices, 100))
        ;
    assert_int_equal(splices.count, 0);
    assert_int_equal(recv(peer[1], text, sizeof text, 0), 0);
    close(peer[1]);

    const int here = connection_open(&peer[0]), there = trv_file_socket(AF_INET, SOCK_STREAM);
    close(listener_open(&at));
    connect(there, (struct sockaddr *)&at, sizeof at);
    assert_true(trv_splices_add(&splices, here, there));
    while (event_run(&splices, 100))
        ;
    assert_int_equal(splices.count, 0);
    close(peer[0]);

    /* the peer ends its output before the other connection is established, which the full queue of a listener delays */
    const int listener = listener_open(&at), early = connection_open(&peer[0]);
    assert_int_equal(listen(listener, 0), 0);
    int waiting[8];
    for (int i = 0; i < 8; i++) {
        waiting[i] = trv_file_socket(AF_INET, SOCK_STREAM);
        connect(waiting[i], (struct sockaddr *)&at, sizeof at);
    }
    assert_true(trv_splices_add(&splices, early, waiting[7]));
    close(peer[0]);
    int events = 0;
    while (event_run(&splices, 100))
        assert_true(++events < 100);
    assert_int_equal(splices.count, 0);
    for (int i = 0; i < 7; i++)
        trv_file_close(waiting[i]);
    close(listener);

    /* open splices are closed with the others */
    const int one = connection_open(&peer[0]), two = connection_open(&peer[1]);
    assert_true(trv_splices_add(&splices, one, two));
    trv_splices_close(&splices);
    assert_int_equal(splices.count, 0);
    close(peer[0]);
    close(peer[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_splice),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
