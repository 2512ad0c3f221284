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

typedef struct fixture {
    trv_mpi_channel_t *channel;
    const trv_transport_t *transport;
    int base;
} fixture_t;

static fixture_t begin(int slots, size_t fragment_bytes)
{
    fixture_t f = {.base = -1};
    expect(trv_mpi_channel_create(&f.channel, comm, fragment_bytes) == 0, "a channel");
    trv_mpi_channel_set_tag(f.channel, next_tag);
    next_tag += TRV_MPI_POSITION_TAGS;
    f.transport = trv_mpi_channel_transport(f.channel);
    expect(f.transport->open(f.transport->context, slots, 3, &f.base) == 0, "open: %s", trv_last_error());
    return f;
}

static void end(fixture_t *f)
{
    f->transport->close(f->transport->context, f->base);
    trv_mpi_channel_destroy(f->channel);
    test_barrier(comm);
}

static void receive(const fixture_t *f, int slot, int tag, char *data, size_t bytes)
{
    int code = f->transport->receive(f->transport->context, f->base, slot, previous_rank, tag, data, bytes);
    expect(code == 0, "receive: %s", trv_last_error());
}

static void send(const fixture_t *f, int slot, int tag, const char *data, size_t bytes)
{
    int code = f->transport->send(f->transport->context, f->base, slot, next_rank, tag, data, bytes);
    expect(code == 0, "send: %s", trv_last_error());
}

static int test(const fixture_t *f, int slot) { return f->transport->test(f->transport->context, f->base, slot); }

static void cancel(const fixture_t *f, int slot)
{
    expect(f->transport->cancel(f->transport->context, f->base, slot) >= 0, "cancel"); /* 1: a send is left */
}

static void wait_for(const fixture_t *f, int slot)
{
    int code;
    for (unsigned polls = 1; (code = test(f, slot)) == 0; polls++)
        trv_mpi_pause(polls);
    expect(code == 1, "a slot ends with %d: %s", code, trv_last_error());
}

/* Expects that the slot fails with a message that contains `words`, while the other slot, if any, is also tested. */
static void fails(const fixture_t *f, int slot, int other, const char *words, const char *what)
{
    int code = 0;
    for (unsigned polls = 1; (code = test(f, slot)) == 0; polls++) {
        trv_mpi_pause(polls);
        int other_code = other >= 0 ? test(f, other) : 0;
        if (other_code < 0) {
            code = other_code;
            break;
        }
        other = other_code == 1 ? -1 : other;
    }
    expect(code == TRV_ERR_TRANSPORT, "%s: ends with %d", what, code);
    expect(strstr(trv_last_error(), words) != NULL, "%s: '%s' without '%s'", what, trv_last_error(), words);
}

static int ends_with(const fixture_t *f, int slot)
{
    int code;
    for (unsigned polls = 1; (code = test(f, slot)) == 0; polls++)
        trv_mpi_pause(polls);
    return code;
}

static unsigned char content(int rank, int message, int i)
{
    return (unsigned char)test_random((uint64_t)(rank * 100003 + message * 10007 + i));
}

/* ---- Successful runs --------------------------------------------------------------------------------------------- */

/* Every rank sends MESSAGES messages of several sizes to the next one, all with one tag. */
static void ring(const fixture_t *f, int tag, bool backwards)
{
    static const int size[MESSAGES] = {BYTES_MAX, 2, 1, 1000, 3001, 2048, 2049};
    static char sent[MESSAGES][BYTES_MAX], got[MESSAGES][BYTES_MAX];
    for (int m = 0; m < MESSAGES; m++) {
        for (int i = 0; i < size[m]; i++)
            sent[m][i] = (char)content(test_rank, m, i);
        memset(got[m], 0, BYTES_MAX);
        receive(f, m, tag, got[m], (size_t)size[m]);
    }
    for (int m = 0; m < MESSAGES; m++)
        send(f, MESSAGES + m, tag, sent[m], (size_t)size[m]);
    for (int slot = 0; slot < 2 * MESSAGES; slot++)
        wait_for(f, backwards ? 2 * MESSAGES - 1 - slot : slot);
    for (int m = 0; m < MESSAGES; m++) {
        int wrong = 0;
        for (int i = 0; i < BYTES_MAX; i++)
            wrong += (unsigned char)got[m][i] != (i < size[m] ? content(previous_rank, m, i) : 0);
        expect(wrong == 0, "message %d of %d bytes: %d are wrong", m, size[m], wrong);
    }
}

static void fragments(size_t fragment_bytes)
{
    fixture_t f = begin(2 * MESSAGES, fragment_bytes);
    int rounds = fragment_bytes > 1 || exhaustive() ? 3 : 1;
    for (int round = 0; round < rounds; round++)
        ring(&f, round, false);
    end(&f);
}

/* A large receive is tested last: a slot that waits must not delay others, and a pass tests many slots. */
static void many_slots(void)
{
    fixture_t f = begin(2 * MESSAGES, 0);
    int open[2 * MESSAGES], pending = 0;
    for (int m = 0; m < MESSAGES; m++) {
        receive(&f, m, 0, in + m * BYTES_MAX, (size_t)(m % 2 ? BYTES_MAX : 10));
        open[pending++] = m;
    }
    for (int m = 0; m < MESSAGES; m++) {
        send(&f, MESSAGES + m, 0, out + m * BYTES_MAX, (size_t)(m % 2 ? BYTES_MAX : 10));
        open[pending++] = MESSAGES + m;
    }
    for (unsigned polls = 1; pending > 0; polls++, trv_mpi_pause(polls))
        for (int i = pending - 1; i >= 0; i--) {
            int code = test(&f, open[i]);
            expect(code >= 0, "a slot of many: %s", trv_last_error());
            if (code)
                open[i] = open[--pending];
        }
    end(&f);
}

static void many_runs(void)
{
    static const size_t size[] = {8, 2048, 2049, 5000};
    fixture_t f = begin(2, 0);
    for (int run = 0; run < 1000; run++) {
        size_t bytes = size[run % 4];
        memset(out, test_rank + run, bytes);
        receive(&f, 0, run % 3, in, bytes);
        send(&f, 1, run % 3, out, bytes);
        wait_for(&f, run % 2);
        wait_for(&f, 1 - run % 2);
        char expected = (char)(previous_rank + run);
        expect(in[0] == expected && in[bytes - 1] == expected, "run %d: wrong bytes", run);
    }
    end(&f);
}

static void channels(void)
{
    fixture_t f = begin(1, 0);
    int base;
    expect(f.transport->open(f.transport->context, 1, 1, &base) == TRV_ERR_STATE, "a second open");
    end(&f);
    trv_mpi_channel_create(&f.channel, comm, 0);
    f.transport = trv_mpi_channel_transport(f.channel);
    expect(f.transport->open(f.transport->context, 1, TRV_MPI_LANE_TAGS + 1, &base) == TRV_ERR_UNSUPPORTED,
           "more tags than there are");
    expect(f.transport->open(f.transport->context, 1, TRV_MPI_LANE_TAGS, &base) == 0, "as many tags as there are");
    end(&f);
    fixture_t two[2] = {begin(2, 0), begin(2, 0)};
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
static void late_messages(size_t first, size_t second)
{
    fixture_t f = begin(4, 0);
    receive(&f, 0, 0, in, first);
    receive(&f, 1, 0, in + first, second);
    memset(out, 1, first + second);
    for (int i = 0; i < POLLS; i++)
        expect(test(&f, 0) == 0 && test(&f, 1) == 0, "nothing was sent: %s", trv_last_error());
    test_barrier(comm);
    send(&f, 2, 0, out, first);
    for (int i = 0; i < POLLS; i++) /* the first one is not tested, so its message may not have been received */
        expect(test(&f, 1) == 0, "the second receive, before it was sent: %s", trv_last_error());
    test_barrier(comm);
    send(&f, 3, 0, out, second);
    for (int slot = 0; slot < 4; slot++)
        wait_for(&f, slot);
    end(&f);
}

/* The peer is ahead: its later messages, of the other kind, arrive before their receives are posted. */
static void early_messages(size_t first, size_t second)
{
    fixture_t f = begin(4, 0);
    send(&f, 2, 0, out, first);
    send(&f, 3, 0, out, second);
    test_barrier(comm);
    receive(&f, 0, 0, in, first);
    wait_for(&f, 0);
    receive(&f, 1, 0, in, second);
    for (int slot = 1; slot < 4; slot++)
        wait_for(&f, slot);
    end(&f);
}

/* ---- Failing runs ------------------------------------------------------------------------------------------------ */

static void mismatch(size_t sent, size_t expected, bool late)
{
    char words[100], what[100];
    fixture_t f = begin(2, 0);
    snprintf(what, sizeof what, "%zu bytes instead of %zu%s", sent, expected, late ? ", sent first" : "");
    snprintf(words, sizeof words, "rank %d sent %zu bytes instead of %zu", previous_rank, sent, expected);
    memset(in, 0, expected);
    if (late) {
        send(&f, 1, 0, out, sent);
        test_barrier(comm);
        receive(&f, 0, 0, in, expected);
    } else {
        receive(&f, 0, 0, in, expected);
        test_barrier(comm);
        send(&f, 1, 0, out, sent);
    }
    fails(&f, 0, 1, words, what);
    test_barrier(comm);
    cancel(&f, 0);
    cancel(&f, 1);
    end(&f);
}

/* The size of the fragments differs from that of the previous rank. */
static void other_fragments(size_t bytes)
{
    char words[100];
    size_t fragment = 100 * (size_t)(test_rank + 1); /* several fragments are wrong; any of them may be reported */
    fixture_t f = begin(2, fragment);
    snprintf(words, sizeof words, "rank %d sent %d bytes instead of", previous_rank, 100 * (previous_rank + 1));
    receive(&f, 0, 0, in, bytes);
    send(&f, 1, 0, out, bytes);
    fails(&f, 0, 1, words, "other fragments");
    test_barrier(comm);
    cancel(&f, 0);
    cancel(&f, 1);
    end(&f);
}

/* A failure that is found while another slot is tested is returned by the test of the slot itself. */
static void failure_of_other_slot(void)
{
    enum { SLOTS = 8 };
    fixture_t f = begin(2 * SLOTS, 0);
    for (int i = 0; i < SLOTS; i++)
        receive(&f, i, i % 3, in + 100 * i, 100);
    for (int i = 0; i < SLOTS; i++)
        send(&f, SLOTS + i, i % 3, out, i == 4 ? 60 : 100);
    for (int i = SLOTS - 1; i >= 0; i--) {
        int code = ends_with(&f, i);
        expect(code == (i == 4 ? TRV_ERR_TRANSPORT : 1), "slot %d, beside one that fails: %d", i, code);
        expect(i != 4 || strstr(trv_last_error(), "60 bytes instead of 100"), "slot 4: %s", trv_last_error());
    }
    for (int i = 0; i < SLOTS; i++)
        wait_for(&f, SLOTS + i);
    end(&f);
}

/* Cancelled messages are not touched again, and the same channel continues with other tags. */
static void cancelled(size_t bytes, size_t fragment_bytes)
{
    fixture_t f = begin(2 * MESSAGES, fragment_bytes);
    memset(in, 0, LARGE_BYTES);
    memset(out, 1, LARGE_BYTES);
    receive(&f, 0, 1, in, bytes);
    receive(&f, 1, 1, in, bytes);
    receive(&f, 2, 0, in, bytes);
    int code = test(&f, 0);
    expect(code == 0, "nothing was sent, and a receive of %zu bytes ends with %d: %s", bytes, code, trv_last_error());
    for (int slot = 0; slot < 3; slot++)
        cancel(&f, slot);
    test_barrier(comm);
    send(&f, 3, 1, out, bytes);
    for (int i = 0; i < POLLS; i++)
        (void)(test(&f, 3) == 1);
    test_barrier(comm);
    for (size_t i = 0; i < bytes; i++)
        if (!expect(in[i] == 0, "a receive that was cancelled writes byte %zu", i))
            break;
    cancel(&f, 3);
    trv_mpi_channel_set_tag(f.channel, next_tag);
    next_tag += TRV_MPI_POSITION_TAGS;
    test_barrier(comm);
    ring(&f, 1, true);
    end(&f);
}

/* PMPI_Isend, which fails after `sends_left` calls; -1: it does not fail. */
static int sends_left = -1;
int __real_PMPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on, MPI_Request *to);
int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on, MPI_Request *to);

int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm on, MPI_Request *to)
{
    if (sends_left == 0)
        return MPI_ERR_OTHER;
    sends_left -= sends_left > 0;
    return __real_PMPI_Isend(data, count, type, peer, tag, on, to);
}

/* A send that fails after MPI has accepted `accepted` of its messages (the header, then fragments). `cancel` returns 1 if
 * one of them may still read the buffer: a fragment that the receiver has not received. */
static void send_fails(size_t bytes, size_t fragment_bytes, int accepted, int expected)
{
    fixture_t f = begin(1, fragment_bytes);
    sends_left = accepted;
    int code = f.transport->send(f.transport->context, f.base, 0, next_rank, 0, out, bytes);
    sends_left = -1;
    expect(code < 0 && strstr(trv_last_error(), "MPI_Isend"), "a send fails with %d: %s", code, trv_last_error());
    code = f.transport->cancel(f.transport->context, f.base, 0);
    expect(code == expected, "cancel after %d messages returns %d", accepted, code);
    end(&f);
}

static void failures(void)
{
    other_fragments(1000);
    other_fragments(10000);
    failure_of_other_slot();
    cancelled(100, 0);
    cancelled(10000, 0);
    cancelled(10000, 3000);
    cancelled(LARGE_BYTES, 0);
    send_fails(100, 0, 0, 0);
    send_fails(LARGE_BYTES, 0, 0, 0);
    send_fails(LARGE_BYTES, LARGE_BYTES / 2, 0, 0);
    send_fails(LARGE_BYTES, LARGE_BYTES / 2, 1, 0);
    send_fails(LARGE_BYTES, LARGE_BYTES / 2, 2, 1);
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
    fragments(0);
    fragments(1000);
    fragments(1);
    many_slots();
    many_runs();
    channels();
    late_messages(100, 200000);
    late_messages(200000, 100);
    late_messages(200000, 150000);
    early_messages(100, 3000);
    early_messages(3000, 100);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] && test_ranks > 1; i++)
        for (int late = 0; late < 2; late++)
            mismatch(lengths[i][0], lengths[i][1], late);
    if (test_ranks > 1)
        failures();
    /* The communicator is not freed: messages are left on it, and a later one would have its context id. */
}
