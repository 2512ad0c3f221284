/*
 * The transport by itself: messages in pieces, order, tags of several channels, cancelling.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "mpi/transport/channel.h"
#include "mpi/transport/wait.h"

enum { MESSAGES = 5, BYTES_MAX = 10000 };

static void wait_for(const trv_transport_t *transport, int base, int slot)
{
    int code;
    for (unsigned polls = 1; (code = transport->test(transport->context, base, slot)) == 0; polls++)
        trv_mpi_pause(polls);
    expect(code == 1, "a slot ends with %d: %s", code, trv_last_error());
}

static unsigned char content(int rank, int message, int i)
{
    return (unsigned char)test_random((uint64_t)(rank * 100003 + message * 10007 + i));
}

/* Every rank sends MESSAGES messages of several sizes to the next one, all with one tag. */
static void ring(const trv_transport_t *transport, int base, int tag)
{
    static const int size[MESSAGES] = {BYTES_MAX, 0, 1, 1000, 3001};
    static char out[MESSAGES][BYTES_MAX], in[MESSAGES][BYTES_MAX];
    int next = (test_rank + 1) % test_ranks, previous = (test_rank + test_ranks - 1) % test_ranks;
    for (int m = 0; m < MESSAGES; m++) {
        for (int i = 0; i < size[m]; i++)
            out[m][i] = (char)content(test_rank, m, i);
        memset(in[m], 0, BYTES_MAX);
        expect(transport->receive(transport->context, base, m, previous, tag, in[m], (size_t)size[m]) == 0, "receive");
    }
    for (int m = 0; m < MESSAGES; m++)
        expect(transport->send(transport->context, base, MESSAGES + m, next, tag, out[m], (size_t)size[m]) == 0,
               "send");
    for (int slot = 2 * MESSAGES - 1; slot >= 0; slot--)
        wait_for(transport, base, slot);
    for (int m = 0; m < MESSAGES; m++) {
        int wrong = 0;
        for (int i = 0; i < BYTES_MAX; i++)
            wrong += (unsigned char)in[m][i] != (i < size[m] ? content(previous, m, i) : 0);
        expect(wrong == 0, "message %d of %d bytes: %d are wrong", m, size[m], wrong);
    }
}

static void pieces(MPI_Comm comm, size_t piece_bytes)
{
    trv_mpi_tags_t tags;
    trv_mpi_channel_t *channel;
    int base = -1;
    expect(trv_mpi_tags_init(&tags, comm) == 0, "reading MPI_TAG_UB");
    expect(tags.limit >= 32767, "%d tags", tags.limit);
    expect(trv_mpi_channel_create(&channel, comm, &tags, false, piece_bytes) == 0, "a channel");
    const trv_transport_t *transport = trv_mpi_channel_transport(channel);
    expect(transport->open(transport->context, 2 * MESSAGES, 3, &base) == 0, "open");
    for (int round = 0; round < 3; round++)
        ring(transport, base, round);
    transport->close(transport->context, base);
    expect(tags.range == NULL, "tags are left behind");
    trv_mpi_channel_destroy(channel);
}

static void ranges(MPI_Comm comm)
{
    trv_mpi_tags_t tags;
    trv_mpi_channel_t *channel[4];
    int base;
    trv_mpi_tags_init(&tags, comm);
    for (int c = 0; c < 4; c++) {
        trv_mpi_channel_create(&channel[c], comm, &tags, c == 3, 0);
        const trv_transport_t *transport = trv_mpi_channel_transport(channel[c]);
        expect(transport->open(transport->context, 1, 10 + c, &base) == 0, "open");
        expect(transport->open(transport->context, 1, 1, &base) == TRV_ERR_STATE, "a second open");
    }
    expect(tags.range && tags.range->first == tags.limit / 2 && tags.range->count == 10, "the first range");
    trv_mpi_channel_destroy(channel[1]);
    trv_mpi_channel_create(&channel[1], comm, &tags, false, 0);
    const trv_transport_t *transport = trv_mpi_channel_transport(channel[1]);
    expect(transport->open(transport->context, 1, 11, &base) == 0 && tags.range->next->first == tags.limit / 2 + 10,
           "the gap is used again");
    transport->close(transport->context, base);
    expect(transport->open(transport->context, 1, tags.limit, &base) == TRV_ERR_UNSUPPORTED,
           "more tags than there are");
    for (int c = 0; c < 4; c++)
        trv_mpi_channel_destroy(channel[c]);
    expect(tags.range == NULL, "tags are left behind");
}

/* A receive that nobody answers is given up; later messages arrive where they should. */
static void cancelled(MPI_Comm comm)
{
    trv_mpi_tags_t tags;
    trv_mpi_channel_t *channel;
    int base, never = 0;
    trv_mpi_tags_init(&tags, comm);
    trv_mpi_channel_create(&channel, comm, &tags, true, 1000);
    const trv_transport_t *transport = trv_mpi_channel_transport(channel);
    transport->open(transport->context, 2 * MESSAGES, 2, &base);
    expect(transport->receive(transport->context, base, 0, (test_rank + test_ranks - 1) % test_ranks, 1, &never,
                              sizeof never) == 0, "receive");
    expect(transport->test(transport->context, base, 0) == 0, "nobody sent, and it is complete");
    expect(transport->cancel(transport->context, base, 0) == 0, "cancel");
    test_barrier(comm);
    ring(transport, base, 1);
    trv_mpi_channel_destroy(channel);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pieces(comm, 0);
    pieces(comm, 1000);
    pieces(comm, 1);
    ranges(comm);
    cancelled(comm);
    MPI_Comm_free(&comm);
    return test_end();
}
