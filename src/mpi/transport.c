/*
 * The transport over MPI: MPI_Isend, MPI_Irecv, MPI_Testsome on bytes, with PMPI_ names only so that no tool and no
 * interposer sees the library's own messages.
 *
 * A slot holds one message: one request, or several where the message is larger than an int counts. Pieces share the
 * tag and keep their order, so both sides cut alike and need no header.
 *
 * MPI looks at the network in every test, which is what a test costs. So all requests are tested together, and a slot
 * is answered from the latest look unless it has been before: a pass over all slots looks once.
 */
#include "mpi/transport.h"

#include <limits.h>
#include <stdlib.h>

#include "common/error.h"

typedef struct slot {
    MPI_Request *more;   /* the pieces behind the first, kept for the next run */
    size_t pieces, room; /* pending in `more`; its size */
    unsigned answered;   /* from which look */
    bool sends;
} slot_t;

struct trv_mpi_channel {
    trv_transport_t transport;
    MPI_Comm comm;
    const int *member;
    trv_mpi_tags_t *tags;
    bool shared, open;
    size_t piece_bytes;
    int first_tag, slots;
    slot_t *slot;
    MPI_Request *request; /* of every slot its first piece; MPI_REQUEST_NULL: complete */
    int *complete;        /* room for what MPI_Testsome answers … */
    MPI_Status *status;   /* … because MPICH 4.0's MPI_STATUSES_IGNORE makes compilers warn */
    unsigned looks;
};

int trv_mpi_transport_error(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    return trv_fail(TRV_ERR_TRANSPORT, "%s failed: %.400s", what, text);
}

/* ---- Tags -------------------------------------------------------------------------------------------------------- */

int trv_mpi_tags_init(trv_mpi_tags_t *tags, MPI_Comm comm)
{
    int *upper = NULL, found = 0;
    int code = PMPI_Comm_get_attr(comm, MPI_TAG_UB, &upper, &found);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("asking MPI for its largest tag", code);
    tags->limit = found && *upper < INT_MAX ? *upper + 1 : found ? INT_MAX : 32767; /* MPI promises at least 32767 */
    tags->range = NULL;
    return TRV_OK;
}

int trv_mpi_tags_positions(const trv_mpi_tags_t *tags)
{
    return tags->limit / 2 / TRV_MPI_POSITION_TAGS;
}

/* The lowest free range in the upper half. */
static int tags_take(trv_mpi_tags_t *tags, int count, int *first)
{
    trv_mpi_range_t **place = &tags->range;
    int at = tags->limit / 2;
    while (*place && (*place)->first - at < count) {
        at = (*place)->first + (*place)->count;
        place = &(*place)->next;
    }
    if (tags->limit - at < count)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "no %d message tags are free: this MPI has %d on a communicator; free plans "
                        "that are not needed",
                        count, tags->limit);
    trv_mpi_range_t *range = malloc(sizeof *range);
    if (!range)
        return trv_fail_memory();
    *range = (trv_mpi_range_t){.first = at, .count = count, .next = *place};
    *place = range;
    *first = at;
    return TRV_OK;
}

static void tags_give_back(trv_mpi_tags_t *tags, int first)
{
    for (trv_mpi_range_t **place = &tags->range; *place; place = &(*place)->next)
        if ((*place)->first == first) {
            trv_mpi_range_t *range = *place;
            *place = range->next;
            free(range);
            return;
        }
}

/* ---- The interface of the executor ------------------------------------------------------------------------------- */

static void channel_close(void *context, int base)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    if (!channel->open)
        return;
    for (int i = 0; i < channel->slots; i++)
        free(channel->slot[i].more);
    free(channel->slot);
    free(channel->request);
    free(channel->complete);
    free(channel->status);
    channel->slot = NULL;
    channel->request = NULL;
    channel->complete = NULL;
    channel->status = NULL;
    channel->slots = 0;
    if (!channel->shared)
        tags_give_back(channel->tags, channel->first_tag);
    channel->open = false;
}

static int channel_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    if (channel->open)
        return trv_fail(TRV_ERR_STATE, "an MPI channel serves one plan at a time");
    channel->first_tag = 0;
    if (channel->shared && tags > TRV_MPI_POSITION_TAGS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the plan needs %d message tags; there are %d for it", tags,
                        TRV_MPI_POSITION_TAGS);
    int code = channel->shared || tags == 0 ? TRV_OK : tags_take(channel->tags, tags, &channel->first_tag);
    if (code < 0)
        return code;
    channel->open = true;
    channel->slot = calloc((size_t)requests + 1, sizeof *channel->slot);
    channel->request = malloc(((size_t)requests + 1) * sizeof(MPI_Request));
    channel->complete = malloc(((size_t)requests + 1) * sizeof *channel->complete);
    channel->status = malloc(((size_t)requests + 1) * sizeof *channel->status);
    if (!channel->slot || !channel->request || !channel->complete || !channel->status) {
        channel_close(channel, 0);
        return trv_fail_memory();
    }
    for (int i = 0; i < requests; i++)
        channel->request[i] = MPI_REQUEST_NULL;
    channel->slots = requests;
    *base = 0;
    return TRV_OK;
}

static int post_piece(const trv_mpi_channel_t *channel, const slot_t *slot, int peer, int tag, char *data, size_t bytes,
                      MPI_Request *request)
{
    int count = (int)bytes;
    int code = slot->sends ? PMPI_Isend(data, count, MPI_BYTE, peer, tag, channel->comm, request)
                           : PMPI_Irecv(data, count, MPI_BYTE, peer, tag, channel->comm, request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(slot->sends ? "MPI_Isend" : "MPI_Irecv", code);
}

/* The pieces behind the first one. */
static int post_more(const trv_mpi_channel_t *channel, slot_t *slot, int peer, int tag, char *data, size_t bytes)
{
    size_t pieces = (bytes + channel->piece_bytes - 1) / channel->piece_bytes;
    if (pieces > slot->room) {
        MPI_Request *more = realloc(slot->more, pieces * sizeof *more);
        if (!more)
            return trv_fail_memory();
        slot->more = more;
        slot->room = pieces;
    }
    while (bytes > 0) {
        size_t piece = bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
        int code = post_piece(channel, slot, peer, tag, data, piece, &slot->more[slot->pieces]);
        if (code < 0)
            return code;
        slot->pieces++;
        data += piece;
        bytes -= piece;
    }
    return TRV_OK;
}

static int post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int tag, char *data, size_t bytes)
{
    slot_t *slot = &channel->slot[at];
    slot->sends = sends;
    slot->answered = channel->looks - 1; /* the pass that posts it need not look for it */
    peer = channel->member ? channel->member[peer] : peer;
    size_t piece = bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
    int code = post_piece(channel, slot, peer, channel->first_tag + tag, data, piece, &channel->request[at]);
    return code < 0 || piece == bytes
               ? code
               : post_more(channel, slot, peer, channel->first_tag + tag, data + piece, bytes - piece);
}

static int channel_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, true, peer, tag, (char *)data, bytes); /* MPI_Isend reads only */
}

static int channel_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, false, peer, tag, data, bytes);
}

static int failed(const slot_t *slot, int code)
{
    return trv_mpi_transport_error(slot->sends ? "sending to another rank" : "receiving from another rank", code);
}

static int channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    slot_t *slot = &channel->slot[at];
    int done, code = MPI_SUCCESS;
    if (channel->request[at] != MPI_REQUEST_NULL && slot->answered == channel->looks) {
        channel->looks++;
        code = PMPI_Testsome(channel->slots, channel->request, &done, channel->complete, channel->status);
    }
    if (code == MPI_SUCCESS && channel->request[at] != MPI_REQUEST_NULL) {
        slot->answered = channel->looks;
        return 0;
    }
    done = 1;
    while (code == MPI_SUCCESS && done && slot->pieces > 0) {
        code = PMPI_Test(&slot->more[slot->pieces - 1], &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done)
            slot->pieces--;
    }
    return code == MPI_SUCCESS ? done : failed(slot, code);
}

/* A receive is cancelled for good. A send that has not left yet can not be taken back everywhere (Open MPI refuses), so
 * it is left to MPI. */
static void drop(MPI_Request *request, bool sends)
{
    int done = 0;
    if (*request == MPI_REQUEST_NULL || (PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done))
        return;
    if (*request == MPI_REQUEST_NULL)
        return;
    if (sends) {
        PMPI_Request_free(request);
        return;
    }
    PMPI_Cancel(request);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
}

static int channel_cancel(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    slot_t *slot = &channel->slot[at];
    drop(&channel->request[at], slot->sends);
    while (slot->pieces > 0)
        drop(&slot->more[--slot->pieces], slot->sends);
    return TRV_OK;
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

int trv_mpi_channel_create(trv_mpi_channel_t **created, MPI_Comm comm, trv_mpi_tags_t *tags, bool shared,
                           size_t piece_bytes)
{
    trv_mpi_channel_t *channel = calloc(1, sizeof *channel);
    if (!channel)
        return trv_fail_memory();
    channel->comm = comm;
    channel->tags = tags;
    channel->shared = shared;
    channel->piece_bytes = piece_bytes > 0 && piece_bytes < INT_MAX ? piece_bytes : INT_MAX;
    channel->transport = (trv_transport_t){.context = channel, .open = channel_open, .close = channel_close,
                                           .send = channel_send, .receive = channel_receive, .test = channel_test,
                                           .cancel = channel_cancel};
    *created = channel;
    return TRV_OK;
}

void trv_mpi_channel_place(trv_mpi_channel_t *channel, int position)
{
    channel->first_tag = position * TRV_MPI_POSITION_TAGS;
}

void trv_mpi_channel_map(trv_mpi_channel_t *channel, const int *member)
{
    channel->member = member;
}

const int *trv_mpi_channel_members(const trv_mpi_channel_t *channel)
{
    return channel->member;
}

void trv_mpi_channel_destroy(trv_mpi_channel_t *channel)
{
    if (channel)
        channel_close(channel, 0);
    free(channel);
}

const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel)
{
    return &channel->transport;
}
