/*
 * The transport without the executor: messages in fragments, their order, tags of several channels, and errors:
 * messages of the wrong length, of both kinds (messages.c), and cancelled runs.
 *
 * Errors on MPI_COMM_WORLD end the program here, as in most programs. With MPICH a truncated receive would be such an
 * error on every communicator.
 *
 * All messages are sent around the ring of all ranks, so the same happens on every rank. The cases that must work also
 * run on a single rank.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "topics.h"
#include "../../exhaustive.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

enum { MESSAGES = 7, BYTES_MAX = 10000, LARGE_BYTES = 1 << 20 };
enum { POLLS = 300 }; /* a slot checks the others after 64 polls without a message */

static MPI_Comm comm;
static int next_tag; /* every case uses another position, because messages may be left */
static int next_rank, previous_rank;
static char out[LARGE_BYTES], in[LARGE_BYTES];

typedef struct bench {
    trv_mpi_channel_t *channel;
    const trv_transport_t *transport;
    int base;
} bench_t;

static bench_t begin(int slots, size_t piece_bytes)
{
    bench_t b = {.base = -1};
    expect(trv_mpi_channel_create(&b.channel, comm, piece_bytes) == 0, "a channel");
    trv_mpi_channel_place(b.channel, next_tag);
    next_tag += TRV_MPI_POSITION_TAGS;
    b.transport = trv_mpi_channel_transport(b.channel);
    expect(b.transport->open(b.transport->context, slots, 3, &b.base) == 0, "open: %s", trv_last_error());
    return b;
}

static void end(bench_t *b)
{
    b->transport->close(b->transport->context, b->base);
    trv_mpi_channel_destroy(b->channel);
    test_barrier(comm);
}

static void receive(const bench_t *b, int slot, int tag, char *data, size_t bytes)
{
    int code = b->transport->receive(b->transport->context, b->base, slot, previous_rank, tag, data, bytes);
    expect(code == 0, "receive: %s", trv_last_error());
}

static void send(const bench_t *b, int slot, int tag, const char *data, size_t bytes)
{
    int code = b->transport->send(b->transport->context, b->base, slot, next_rank, tag, data, bytes);
    expect(code == 0, "send: %s", trv_last_error());
}

static int test(const bench_t *b, int slot) { return b->transport->test(b->transport->context, b->base, slot); }

static void cancel(const bench_t *b, int slot)
{
    expect(b->transport->cancel(b->transport->context, b->base, slot) >= 0, "cancel"); /* 1: a send is left */
}

static void wait_for(const bench_t *b, int slot)
{
    int code;
    for (unsigned polls = 1; (code = test(b, slot)) == 0; polls++)
        trv_mpi_pause(polls);
    expect(code == 1, "a slot ends with %d: %s", code, trv_last_error());
}

/* Expects that the slot fails with a message that contains `words`, while the other slot, if any, is also tested. */
static void fails(const bench_t *b, int slot, int other, const char *words, const char *what)
{
    int code = 0;
    for (unsigned polls = 1; (code = test(b, slot)) == 0; polls++) {
        trv_mpi_pause(polls);
        int beside = other >= 0 ? test(b, other) : 0;
        if (beside < 0) {
            code = beside;
            break;
        }
        other = beside == 1 ? -1 : other;
    }
    expect(code == TRV_ERR_TRANSPORT, "%s: ends with %d", what, code);
    expect(strstr(trv_last_error(), words) != NULL, "%s: '%s' without '%s'", what, trv_last_error(), words);
}

static int ends_with(const bench_t *b, int slot)
{
    int code;
    for (unsigned polls = 1; (code = test(b, slot)) == 0; polls++)
        trv_mpi_pause(polls);
    return code;
}

static unsigned char content(int rank, int message, int i)
{
    return (unsigned char)test_random((uint64_t)(rank * 100003 + message * 10007 + i));
}

/* ---- What should work -------------------------------------------------------------------------------------------- */

/* Every rank sends MESSAGES messages of several sizes to the next one, all with one tag. */
static void ring(const bench_t *b, int tag, bool backwards)
{
    static const int size[MESSAGES] = {BYTES_MAX, 2, 1, 1000, 3001, 2048, 2049};
    static char sent[MESSAGES][BYTES_MAX], got[MESSAGES][BYTES_MAX];
    for (int m = 0; m < MESSAGES; m++) {
        for (int i = 0; i < size[m]; i++)
            sent[m][i] = (char)content(test_rank, m, i);
        memset(got[m], 0, BYTES_MAX);
        receive(b, m, tag, got[m], (size_t)size[m]);
    }
    for (int m = 0; m < MESSAGES; m++)
        send(b, MESSAGES + m, tag, sent[m], (size_t)size[m]);
    for (int slot = 0; slot < 2 * MESSAGES; slot++)
        wait_for(b, backwards ? 2 * MESSAGES - 1 - slot : slot);
    for (int m = 0; m < MESSAGES; m++) {
        int wrong = 0;
        for (int i = 0; i < BYTES_MAX; i++)
            wrong += (unsigned char)got[m][i] != (i < size[m] ? content(previous_rank, m, i) : 0);
        expect(wrong == 0, "message %d of %d bytes: %d are wrong", m, size[m], wrong);
    }
}

static void pieces(size_t piece_bytes)
{
    bench_t b = begin(2 * MESSAGES, piece_bytes);
    int rounds = piece_bytes > 1 || exhaustive() ? 3 : 1;
    for (int round = 0; round < rounds; round++)
        ring(&b, round, false);
    end(&b);
}

/* A large receive is tested last: a slot that waits must not delay others, and a pass tests many slots. */
static void together(void)
{
    bench_t b = begin(2 * MESSAGES, 0);
    int open[2 * MESSAGES], pending = 0;
    for (int m = 0; m < MESSAGES; m++) {
        receive(&b, m, 0, in + m * BYTES_MAX, (size_t)(m % 2 ? BYTES_MAX : 10));
        open[pending++] = m;
    }
    for (int m = 0; m < MESSAGES; m++) {
        send(&b, MESSAGES + m, 0, out + m * BYTES_MAX, (size_t)(m % 2 ? BYTES_MAX : 10));
        open[pending++] = MESSAGES + m;
    }
    for (unsigned polls = 1; pending > 0; polls++, trv_mpi_pause(polls))
        for (int i = pending - 1; i >= 0; i--) {
            int code = test(&b, open[i]);
            expect(code >= 0, "a slot of many: %s", trv_last_error());
            if (code)
                open[i] = open[--pending];
        }
    end(&b);
}

static void many_runs(void)
{
    static const size_t size[] = {8, 2048, 2049, 5000};
    bench_t b = begin(2, 0);
    for (int run = 0; run < 1000; run++) {
        size_t bytes = size[run % 4];
        memset(out, test_rank + run, bytes);
        receive(&b, 0, run % 3, in, bytes);
        send(&b, 1, run % 3, out, bytes);
        wait_for(&b, run % 2);
        wait_for(&b, 1 - run % 2);
        char due = (char)(previous_rank + run);
        expect(in[0] == due && in[bytes - 1] == due, "run %d: wrong bytes", run);
    }
    end(&b);
}

static void channels(void)
{
    bench_t b = begin(1, 0);
    int base;
    expect(b.transport->open(b.transport->context, 1, 1, &base) == TRV_ERR_STATE, "a second open");
    end(&b);
    trv_mpi_channel_create(&b.channel, comm, 0);
    b.transport = trv_mpi_channel_transport(b.channel);
    expect(b.transport->open(b.transport->context, 1, TRV_MPI_LANE_TAGS + 1, &base) == TRV_ERR_UNSUPPORTED,
           "more tags than there are");
    expect(b.transport->open(b.transport->context, 1, TRV_MPI_LANE_TAGS, &base) == 0, "as many tags as there are");
    end(&b);
    bench_t two[2] = {begin(2, 0), begin(2, 0)};
    for (int c = 0; c < 2; c++)
        receive(&two[c], 0, 0, in + c, 1);
    for (int c = 1; c >= 0; c--)
        send(&two[c], 1, 0, c ? "b" : "a", 1);
    for (int i = 0; i < 4; i++)
        wait_for(&two[i % 2], i / 2);
    expect(in[0] == 'a' && in[1] == 'b', "two channels mix their messages");
    end(&two[0]);
    end(&two[1]);
}

/* A receive that waits long looks for other messages of its peer, and must not mistake later ones for its message. */
static void patient(size_t first, size_t second)
{
    bench_t b = begin(4, 0);
    receive(&b, 0, 0, in, first);
    receive(&b, 1, 0, in + first, second);
    memset(out, 1, first + second);
    for (int i = 0; i < POLLS; i++)
        expect(test(&b, 0) == 0 && test(&b, 1) == 0, "nothing was sent: %s", trv_last_error());
    test_barrier(comm);
    send(&b, 2, 0, out, first);
    for (int i = 0; i < POLLS; i++) /* the first one is not tested, so its message may not have been received */
        expect(test(&b, 1) == 0, "the second receive, before it was sent: %s", trv_last_error());
    test_barrier(comm);
    send(&b, 3, 0, out, second);
    for (int slot = 0; slot < 4; slot++)
        wait_for(&b, slot);
    end(&b);
}

/* The peer is ahead: its later messages, of the other kind, arrive before their receives are posted. */
static void ahead(size_t first, size_t second)
{
    bench_t b = begin(4, 0);
    send(&b, 2, 0, out, first);
    send(&b, 3, 0, out, second);
    test_barrier(comm);
    receive(&b, 0, 0, in, first);
    wait_for(&b, 0);
    receive(&b, 1, 0, in, second);
    for (int slot = 1; slot < 4; slot++)
        wait_for(&b, slot);
    end(&b);
}

/* ---- What should fail -------------------------------------------------------------------------------------------- */

static void mismatch(size_t sent, size_t due, bool late)
{
    char words[100], what[100];
    bench_t b = begin(2, 0);
    snprintf(what, sizeof what, "%zu bytes where %zu are due%s", sent, due, late ? ", sent first" : "");
    snprintf(words, sizeof words, "rank %d sent %zu bytes where %zu are due", previous_rank, sent, due);
    memset(in, 0, due);
    if (late) {
        send(&b, 1, 0, out, sent);
        test_barrier(comm);
        receive(&b, 0, 0, in, due);
    } else {
        receive(&b, 0, 0, in, due);
        test_barrier(comm);
        send(&b, 1, 0, out, sent);
    }
    fails(&b, 0, 1, words, what);
    test_barrier(comm);
    cancel(&b, 0);
    cancel(&b, 1);
    end(&b);
}

/* The size of the fragments differs from that of the previous rank. */
static void other_pieces(size_t bytes)
{
    char words[100];
    size_t piece = 100 * (size_t)(test_rank + 1); /* several fragments are wrong; any of them may be reported */
    bench_t b = begin(2, piece);
    snprintf(words, sizeof words, "rank %d sent %d bytes where", previous_rank, 100 * (previous_rank + 1));
    receive(&b, 0, 0, in, bytes);
    send(&b, 1, 0, out, bytes);
    fails(&b, 0, 1, words, "other pieces");
    test_barrier(comm);
    cancel(&b, 0);
    cancel(&b, 1);
    end(&b);
}

/* A failure that is found while another slot is tested is returned by the test of the slot itself. */
static void fails_beside(void)
{
    enum { SLOTS = 8 };
    bench_t b = begin(2 * SLOTS, 0);
    for (int i = 0; i < SLOTS; i++)
        receive(&b, i, i % 3, in + 100 * i, 100);
    for (int i = 0; i < SLOTS; i++)
        send(&b, SLOTS + i, i % 3, out, i == 4 ? 60 : 100);
    for (int i = SLOTS - 1; i >= 0; i--) {
        int code = ends_with(&b, i);
        expect(code == (i == 4 ? TRV_ERR_TRANSPORT : 1), "slot %d, beside one that fails: %d", i, code);
        expect(i != 4 || strstr(trv_last_error(), "60 bytes where 100"), "slot 4: %s", trv_last_error());
    }
    for (int i = 0; i < SLOTS; i++)
        wait_for(&b, SLOTS + i);
    end(&b);
}

/* Cancelled messages are not touched again, and the same channel continues with other tags. */
static void cancelled(size_t bytes, size_t piece_bytes)
{
    bench_t b = begin(2 * MESSAGES, piece_bytes);
    memset(in, 0, LARGE_BYTES);
    memset(out, 1, LARGE_BYTES);
    receive(&b, 0, 1, in, bytes);
    receive(&b, 1, 1, in, bytes);
    receive(&b, 2, 0, in, bytes);
    int code = test(&b, 0);
    expect(code == 0, "nothing was sent, and a receive of %zu bytes ends with %d: %s", bytes, code, trv_last_error());
    for (int slot = 0; slot < 3; slot++)
        cancel(&b, slot);
    test_barrier(comm);
    send(&b, 3, 1, out, bytes);
    for (int i = 0; i < POLLS; i++)
        (void)(test(&b, 3) == 1);
    test_barrier(comm);
    for (size_t i = 0; i < bytes; i++)
        if (!expect(in[i] == 0, "a receive that was cancelled writes byte %zu", i))
            break;
    cancel(&b, 3);
    trv_mpi_channel_place(b.channel, next_tag);
    next_tag += TRV_MPI_POSITION_TAGS;
    test_barrier(comm);
    ring(&b, 1, true);
    end(&b);
}

static void failures(void)
{
    other_pieces(1000);
    other_pieces(10000);
    fails_beside();
    cancelled(100, 0);
    cancelled(10000, 0);
    cancelled(10000, 3000);
    cancelled(LARGE_BYTES, 0);
}

void topic_transport(void)
{
    static const size_t lengths[][2] =
        {{12, 24},     {24, 12},       {1, 2048},           {2048, 1}, /* small, small */
         {8, 2049},    {2048, 100000}, {1000, LARGE_BYTES},            /* small, large */
         {2049, 8},    {100000, 2048}, {LARGE_BYTES, 1000},            /* large, small */
         {3000, 2500}, {2500, 3000},   {100000, 50000},     {5000, LARGE_BYTES}, {LARGE_BYTES, 5000}};
    next_tag = 0;
    MPI_Comm_dup(test_comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    next_rank = (test_rank + 1) % test_ranks;
    previous_rank = (test_rank + test_ranks - 1) % test_ranks;
    pieces(0);
    pieces(1000);
    pieces(1);
    together();
    many_runs();
    channels();
    patient(100, 200000);
    patient(200000, 100);
    patient(200000, 150000);
    ahead(100, 3000);
    ahead(3000, 100);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] && test_ranks > 1; i++)
        for (int late = 0; late < 2; late++)
            mismatch(lengths[i][0], lengths[i][1], late);
    if (test_ranks > 1)
        failures();
    /* The communicator is not freed: messages are left on it, and a later one would have its context id. */
}
