/*
 * The bootstrap over TCP under unusual conditions: no file descriptors left, unauthenticated peers, a port by which a
 * rank would connect to itself, processes that fork, signals; and the options of its sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trivance/common.h>

#include "base/clock.h"
#include "bootstrap/tcp/link.h"
#include "bootstrap/tcp/bootstrap.h"

static void pause_s(double seconds) { usleep((useconds_t)(1e6 * seconds)); }

static char logged[512];

static void take_log(void *context, const char *sentence)
{
    (void)context;
    snprintf(logged, sizeof logged, "%s", sentence);
}

static trv_bootstrap_options_t options_of(int rank, int ranks, int port, double timeout_s)
{
    return (trv_bootstrap_options_t){.rank = rank,
                                     .ranks = ranks,
                                     .address = "127.0.0.1",
                                     .port = port,
                                     .timeout_ns = 1e9 * timeout_s,
                                     .log = take_log};
}

static trv_bootstrap_t *open_bootstrap(int rank, int ranks, int port, double timeout_s)
{
    const trv_bootstrap_options_t options = options_of(rank, ranks, port, timeout_s);
    trv_bootstrap_t *bootstrap;
    assert_int_equal(trv_bootstrap_open(&bootstrap, &options), TRV_OK);
    return bootstrap;
}

static int call_from(const char *address, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &at.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void *join(void *context)
{
    return trv_bootstrap_join(context, "welcome", 8) == TRV_OK ? NULL : strdup(trv_last_error());
}

/* Joins rank 0 and rank 1, which must succeed. */
static void join_both(trv_bootstrap_t *bootstrap[2])
{
    pthread_t thread;
    void *reason;
    pthread_create(&thread, NULL, join, bootstrap[1]);
    assert_int_equal(trv_bootstrap_join(bootstrap[0], "welcome", 8), TRV_OK);
    pthread_join(thread, &reason);
    assert_null(reason);
}

static void close_both(trv_bootstrap_t *bootstrap[2])
{
    trv_bootstrap_fail(bootstrap[0], "enough");
    trv_bootstrap_close(bootstrap[1]);
    trv_bootstrap_close(bootstrap[0]);
}

/* ---- The address of rank 0 --------------------------------------------------------------------------------------- */

/* Authenticates as rank 1 on an existing connection. */
static void send_hello(int fd, const trv_bootstrap_options_t *options)
{
    const uint8_t nonce[TRV_NONCE_BYTES] = "once";
    char greeting[64];
    size_t bytes;
    trv_link_t link;
    trv_frame_t frame;
    trv_writer_t hello = {.data = NULL};
    trv_link_begin(&link, false, options->secret, nonce);
    const ssize_t got = recv(fd, greeting, sizeof greeting, 0);
    assert_int_equal(trv_link_feed(&link, greeting, (size_t)got), TRV_OK);
    assert_int_equal(trv_link_next(&link, &frame), 0);
    trv_write_text(&hello, TRV_VERSION);
    trv_write_number(&hello, 1);
    trv_write_number(&hello, 2);
    trv_write_block(&hello, NULL, 0);
    trv_write_number(&hello, 0);
    trv_write_text(&hello, "127.0.0.1");
    trv_link_send(&link, TRV_FRAME_HELLO, hello.data, hello.used);
    const void *out = trv_link_out(&link, &bytes);
    assert_int_equal(send(fd, out, bytes, MSG_NOSIGNAL), bytes);
    trv_writer_clear(&hello);
    trv_link_clear(&link);
}

/* An unauthenticated peer connects by another address after a rank has connected and before it is authenticated. */
static void test_listen_everywhere(void **state)
{
    trv_bootstrap_options_t options = options_of(0, 2, 0, 10);
    trv_bootstrap_t *bootstrap;
    (void)state;
    options.listen_everywhere = true;
    assert_int_equal(trv_bootstrap_open(&bootstrap, &options), TRV_OK);
    const int port = trv_bootstrap_port(bootstrap), rank = call_from("127.0.0.1", port);
    const int peer = call_from("127.0.0.2", port);
    pause_s(0.1);
    send_hello(rank, &options);
    assert_int_equal(trv_bootstrap_join(bootstrap, "welcome", 8), TRV_OK);
    assert_string_equal(trv_bootstrap_local(bootstrap), "127.0.0.1");
    close(peer);
    close(rank);
    trv_bootstrap_close(bootstrap);
}

typedef struct impostor {
    int listener;
    const char *greeting; /* NULL: it sends nothing */
} impostor_t;

/* Accepts connections, and keeps them until the listener is shut down. */
static void *impostor_run(void *context)
{
    const impostor_t *impostor = context;
    int fd[64], count = 0;
    for (; count < 64 && (fd[count] = accept(impostor->listener, NULL, NULL)) >= 0; count++)
        if (impostor->greeting)
            send(fd[count], impostor->greeting, strlen(impostor->greeting), MSG_NOSIGNAL);
    while (count > 0)
        close(fd[--count]);
    return NULL;
}

static int listen_at(const char *address, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &at.sin_addr);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

/* At the addresses that rank 0 publishes before its right one, nothing listens, another process does, or rank 0 of
 * another job. */
static void test_other_processes(void **state)
{
    trv_bootstrap_options_t options = options_of(0, 2, 0, 20), other = options;
    trv_bootstrap_t *bootstrap[2], *other_job;
    pthread_t thread[2];
    (void)state;
    assert_int_equal(trv_bootstrap_open(&bootstrap[0], &options), TRV_OK);
    const int port = trv_bootstrap_port(bootstrap[0]);
    impostor_t impostor[2] = {{listen_at("127.0.0.3", port), NULL}, {listen_at("127.0.0.4", port), "SSH-2.0-x\r\n"}};
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, impostor_run, &impostor[i]);
    other.address = "127.0.0.5";
    other.port = options.port = port;
    other.secret[0] = 1;
    assert_int_equal(trv_bootstrap_open(&other_job, &other), TRV_OK);
    options.rank = 1;
    options.address = "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5,127.0.0.1";
    assert_int_equal(trv_bootstrap_open(&bootstrap[1], &options), TRV_OK);
    join_both(bootstrap);
    assert_string_equal(trv_bootstrap_local(bootstrap[1]), "127.0.0.1");
    close_both(bootstrap);
    trv_bootstrap_close(other_job);
    for (int i = 0; i < 2; i++) {
        shutdown(impostor[i].listener, SHUT_RDWR);
        pthread_join(thread[i], NULL);
        close(impostor[i].listener);
    }
}

/* ---- No file descriptors ----------------------------------------------------------------------------------------- */

/* Rank 0 in a process without a free file descriptor for connections reports that, and its thread does not spin. */
static int serve_without_files(int port_out)
{
    trv_bootstrap_t *bootstrap = open_bootstrap(0, 2, 0, 1);
    const int port = trv_bootstrap_port(bootstrap);
    if (write(port_out, &port, sizeof port) != sizeof port)
        return 1;
    const int last = dup(port_out);
    const struct rlimit limit = {(rlim_t)last, (rlim_t)last};
    close(last);
    setrlimit(RLIMIT_NOFILE, &limit);
    const double before_ns = trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (trv_bootstrap_join(bootstrap, "welcome", 8) == TRV_OK)
        return 2;
    if (!strstr(trv_last_error(), "ulimit -n"))
        return 3;
    if (trv_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns > 0.3e9)
        return 4;
    return strstr(logged, "Too many open files") ? 0 : 5;
}

static void test_no_files(void **state)
{
    int pipes[2], port = 0, status, peer[4];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(serve_without_files(pipes[1]));
    assert_int_equal(read(pipes[0], &port, sizeof port), sizeof port);
    pause_s(0.1);
    for (int i = 0; i < 4; i++)
        peer[i] = call_from("127.0.0.1", port);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    for (int i = 0; i < 4; i++)
        close(peer[i]);
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- A connection to itself -------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

/* Runs in a new network namespace in which every connection has one of two source ports; then with an address of this
 * host that refuses the connection, which is no answer of rank 0, and one that is not reached. Returns 77 if the system
 * does not permit that. */
static int join_by_own_port(void)
{
    struct ifreq loop = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 || ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &loop) != 0 ||
        !write_file("/proc/sys/net/ipv4/ip_local_port_range", "30000 30001"))
        return 77;
    const char *const address[] = {"127.0.0.1", "127.0.0.2,10.0.0.1"},
                      *const sentence[] = {"does not accept connections",
                                           "is not reached (Network is unreachable); ranks"};
    for (int i = 0; i < 2; i++) {
        trv_bootstrap_options_t options = options_of(1, 2, 30000, 0.5);
        trv_bootstrap_t *bootstrap;
        options.address = address[i];
        if (trv_bootstrap_open(&bootstrap, &options) < 0 || trv_bootstrap_join(bootstrap, NULL, 0) == TRV_OK)
            return 1;
        fprintf(stderr, "%s\n", trv_last_error());
        if (!strstr(trv_last_error(), sentence[i]))
            return 2;
    }
    return 0;
}

static void test_self_connection(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(join_by_own_port());
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* ---- Connections ------------------------------------------------------------------------------------------------- */

static int option_of(int fd, int name)
{
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(fd, IPPROTO_TCP, name, &value, &length) == 0 ? value : -1;
}

/* The loss of a host is detected within a minute. */
static void test_keepalive(void **state)
{
    trv_bootstrap_t *bootstrap[2] = {open_bootstrap(0, 2, 0, 10)};
    int found = 0;
    (void)state;
    bootstrap[1] = open_bootstrap(1, 2, trv_bootstrap_port(bootstrap[0]), 10);
    join_both(bootstrap);
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in other;
        socklen_t length = sizeof other;
        if (getpeername(fd, (struct sockaddr *)&other, &length) != 0 || other.sin_family != AF_INET)
            continue;
        found++;
        assert_in_range(option_of(fd, TCP_USER_TIMEOUT), 1, 60000);
        assert_in_range(option_of(fd, TCP_KEEPIDLE) + option_of(fd, TCP_KEEPINTVL) * option_of(fd, TCP_KEEPCNT), 1, 60);
    }
    assert_int_equal(found, 2);
    close_both(bootstrap);
}

/* The process of a rank ends while a child that it has forked continues: the end of the rank is detected at once. */
static int die_as_parent(int port, int joined)
{
    char word;
    trv_bootstrap_t *bootstrap = open_bootstrap(1, 2, port, 10);
    if (trv_bootstrap_join(bootstrap, NULL, 0) != TRV_OK || read(joined, &word, 1) != 1)
        return 1;
    if (fork() == 0) {
        pause_s(5);
        _exit(0);
    }
    return 0;
}

static void test_fork(void **state)
{
    trv_bootstrap_t *bootstrap = open_bootstrap(0, 2, 0, 10);
    const int port = trv_bootstrap_port(bootstrap);
    int status, joined[2]; /* rank 1 dies only after rank 0 has joined */
    (void)state;
    assert_int_equal(pipe(joined), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(die_as_parent(port, joined[0]));
    assert_int_equal(trv_bootstrap_join(bootstrap, "welcome", 8), TRV_OK);
    assert_int_equal(write(joined[1], "", 1), 1);
    close(joined[0]);
    close(joined[1]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    const double start_ns = trv_now_ns();
    while (!trv_bootstrap_has_failed(bootstrap) && trv_now_ns() - start_ns < 3e9)
        pause_s(0.01);
    assert_true(trv_bootstrap_has_failed(bootstrap));
    assert_true(trv_bootstrap_state(bootstrap) < 0);
    assert_non_null(strstr(trv_last_error(), "rank 1 at 127.0.0.1 has died"));
    trv_bootstrap_close(bootstrap);
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

static uint64_t blocked(const char *task)
{
    char path[300], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "SigBlk: %llx", &mask);
    if (file)
        fclose(file);
    return mask;
}

static void test_signals(void **state)
{
    trv_bootstrap_t *bootstrap = open_bootstrap(0, 2, 0, 10);
    DIR *tasks = opendir("/proc/self/task");
    char self[32];
    int others = 0;
    (void)state;
    snprintf(self, sizeof self, "%d", (int)getpid());
    for (const struct dirent *at; (at = readdir(tasks));)
        if (at->d_name[0] != '.' && strcmp(at->d_name, self) != 0) {
            others++;
            for (int signal = 1; signal < 32; signal++)
                if (signal != SIGKILL && signal != SIGSTOP)
                    assert_true(blocked(at->d_name) >> (signal - 1) & 1);
        }
    closedir(tasks);
    assert_int_equal(others, 1);
    assert_int_equal(blocked(self), 0);
    trv_bootstrap_close(bootstrap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen_everywhere), cmocka_unit_test(test_other_processes),
        cmocka_unit_test(test_no_files),          cmocka_unit_test(test_self_connection),
        cmocka_unit_test(test_keepalive),         cmocka_unit_test(test_fork),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
