/*
 * Channels, and the messages that they post: MPI_Isend and MPI_Irecv of bytes. Only PMPI_ functions are called, so that
 * tools and interposers do not receive the library's messages.
 *
 * Truncation: MPICH 4.0 ends the job when a receive is too short, whichever call completes it and whatever error
 * handler the communicator has. With MPICH a receive must therefore never be too short, and there are two kinds of
 * messages, with different tags. A *small* message is received into an internal buffer with space for every small
 * message, and copied if its length is right. A *large* message is found by MPI_Iprobe; its receive is posted if its
 * length is right, and a wrong message is not received. Up to 2 KiB copying costs less than probing; from 4 KiB on the
 * cost of probing is negligible. If MPI returns truncation as an error, as the standard requires (Open MPI), all
 * receives are posted immediately and there is only one kind: probing would cost up to a third there.
 *
 * A message that is longer than a fragment is a large one with every MPI. It begins with a header, its total length,
 * which the receiver compares with the expected length before it receives a fragment.
 */
#include "transport/mpi/inside.h"

#include <limits.h>
#include <stdlib.h>

#include "base/abandon.h"
#include "base/error.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/over_fabric.h"
#include "transport/mpi/waiting.h"

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void channel_close(void *context, int base)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    for (int i = 0; i < channel->slots; i++) {
        free(channel->slot[i].buffer);
        free(channel->slot[i].more);
    }
    channel->lost ? trv_abandon(channel->slot) : free(channel->slot);
    free(channel->request);
    free(channel->owner);
    free(channel->complete);
    free(channel->status);
    channel->slot = NULL;
    channel->request = NULL;
    channel->owner = NULL;
    channel->complete = NULL;
    channel->status = NULL;
    channel->slots = channel->active = channel->amid = 0;
    channel->open = channel->lost = false;
}

int trv_mpi_channel_check_tags(int tags)
{
    return tags <= TRV_MPI_LANE_TAGS
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED, "the plan needs %d message tags; there are %d for it", tags,
                          TRV_MPI_LANE_TAGS);
}

static int channel_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    if (channel->open)
        return trv_fail(TRV_ERR_STATE, "an MPI channel serves one plan at a time");
    int rc = trv_mpi_channel_check_tags(tags);
    if (rc < 0)
        return rc;
    channel->open = true;
    size_t capacity = (size_t)requests + 1;
    channel->slot = calloc(capacity, sizeof *channel->slot);
    channel->request = malloc(capacity * sizeof(MPI_Request));
    channel->owner = malloc(capacity * sizeof *channel->owner);
    channel->complete = malloc(capacity * sizeof *channel->complete);
    channel->status = malloc(capacity * sizeof *channel->status);
    if (!channel->slot || !channel->request || !channel->owner || !channel->complete || !channel->status) {
        channel_close(channel, 0);
        return trv_fail_memory();
    }
    channel->slots = requests;
    for (int i = 0; i < requests; i++)
        channel->slot[i].at = NONE;
    for (int lane = 0; lane < TRV_MPI_LANE_TAGS; lane++)
        channel->first[lane] = channel->last[lane] = NONE;
    *base = 0;
    return TRV_OK;
}

/* ---- Lists of the large receives that are not posted yet --------------------------------------------------------- */

static void list_add(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    slot->before = channel->last[slot->lane];
    slot->after = NONE;
    channel->last[slot->lane] = at;
    *(slot->before == NONE ? &channel->first[slot->lane] : &channel->slot[slot->before].after) = at;
}

void trv_mpi_channel_unlist(trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    *(slot->before == NONE ? &channel->first[slot->lane] : &channel->slot[slot->before].after) = slot->after;
    *(slot->after == NONE ? &channel->last[slot->lane] : &channel->slot[slot->after].before) = slot->before;
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

static int post_request(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot, int tag, void *data, size_t bytes,
                        MPI_Request *request)
{
    int code = slot->sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request)
                           : PMPI_Irecv(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(slot->sends ? "MPI_Isend" : "MPI_Irecv", code);
}

int trv_mpi_channel_post(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t due)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int code = post_request(channel, slot, tag, data, bytes, &channel->request[channel->active]);
    if (code < 0)
        return code;
    slot->due = due;
    slot->at = channel->active++;
    channel->owner[slot->at] = at;
    return TRV_OK;
}

/* Posts a message in fragments: its header and all fragments. */
static int post_pieces(trv_mpi_channel_t *channel, int at, int tag, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    size_t pieces = (bytes - 1) / channel->piece_bytes + 1;
    if (pieces > (size_t)slot->capacity) {
        MPI_Request *more = pieces < INT_MAX ? realloc(slot->more, pieces * sizeof(MPI_Request)) : NULL;
        if (!more)
            return trv_fail_memory();
        slot->more = more;
        slot->capacity = (int)pieces;
    }
    slot->header = bytes;
    int code = trv_mpi_channel_post(channel, at, tag, &slot->header, HEADER_BYTES, HEADER_BYTES);
    while (code == TRV_OK && bytes > 0) {
        size_t piece = bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
        code = post_request(channel, slot, tag, data, piece, &slot->more[slot->pieces]);
        slot->pieces += code == TRV_OK;
        data += piece;
        bytes -= piece;
    }
    return code;
}

static int post_small_receive(trv_mpi_channel_t *channel, int at, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    if (RETURNS_TRUNCATION)
        return trv_mpi_channel_post(channel, at, slot->tag, data, bytes, bytes);
    if (!slot->buffer && !(slot->buffer = malloc(SMALL_BYTES)))
        return trv_fail_memory();
    slot->data = data;
    return trv_mpi_channel_post(channel, at, slot->tag, slot->buffer, SMALL_BYTES, bytes);
}

static int post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    bool small = bytes <= channel->piece_bytes && (RETURNS_TRUNCATION || bytes <= SMALL_BYTES);
    slot->sends = sends;
    slot->small = small;
    slot->peer = channel->member ? channel->member[peer] : peer;
    slot->lane = lane;
    slot->tag = channel->first_tag + lane;
    slot->rest = 0;
    slot->cut = bytes > channel->piece_bytes;
    slot->pieces = slot->piece = 0;
    slot->answered = channel->looks - 1; /* the first test uses the latest look */
    slot->vain = 0;
    slot->suspects = slot->amid = false;
    slot->outcome = TRV_OK;
    slot->order = channel->posted++;
    channel->cancel_polls = 0;
    int code = TRV_OK;
    if (sends) {
        int tag = slot->tag + (small ? 0 : TRV_MPI_LANE_TAGS);
        code = slot->cut ? post_pieces(channel, at, tag, data, bytes)
                         : trv_mpi_channel_post(channel, at, tag, data, bytes, bytes);
    } else if (small) {
        code = post_small_receive(channel, at, data, bytes);
    } else {
        slot->data = data;
        slot->rest = bytes;
        list_add(channel, at);
    }
    if (code < 0)
        trv_mpi_channel_give_up(channel, at);
    return code;
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

void trv_mpi_channel_drop(trv_mpi_channel_t *channel, int at)
{
    channel->slot[channel->owner[at]].at = NONE;
    if (at == --channel->active)
        return;
    channel->request[at] = channel->request[channel->active];
    channel->owner[at] = channel->owner[channel->active];
    channel->slot[channel->owner[at]].at = at;
}

/* ---- Cancelling -------------------------------------------------------------------------------------------------- */

/* Cancels a receive, or waits for a send and abandons it after SEND_POLLS_MAX polls (channel.h). Returns whether the
 * request has ended. */
static bool give_up(trv_mpi_channel_t *channel, MPI_Request *request, bool sends)
{
    MPI_Status status;
    int done = 0, code = PMPI_Test(request, &done, &status);
    while (sends && code == MPI_SUCCESS && !done && channel->cancel_polls < SEND_POLLS_MAX) {
        trv_mpi_pause(++channel->cancel_polls);
        code = PMPI_Test(request, &done, &status);
    }
    if (code != MPI_SUCCESS || done)
        return true;
    if (sends) {
        PMPI_Request_free(request);
        return false;
    }
    PMPI_Cancel(request);
    PMPI_Wait(request, &status);
    return true;
}

void trv_mpi_channel_hold(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, bool amid)
{
    channel->amid += amid - slot->amid;
    slot->amid = amid;
}

bool trv_mpi_channel_give_up(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    bool over = true;
    if (slot->rest > 0)
        trv_mpi_channel_unlist(channel, slot);
    slot->rest = 0;
    trv_mpi_channel_hold(channel, slot, false);
    if (slot->at != NONE) {
        over = give_up(channel, &channel->request[slot->at], slot->sends);
        trv_mpi_channel_drop(channel, slot->at);
    }
    while (slot->piece < slot->pieces)
        over = give_up(channel, &slot->more[slot->piece++], slot->sends) && over;
    channel->lost = channel->lost || !over;
    return over;
}

static int channel_cancel(void *context, int base, int at)
{
    (void)base;
    return trv_mpi_channel_give_up(context, at) ? 0 : 1;
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

int trv_mpi_channel_create(trv_mpi_channel_t **created, MPI_Comm comm, size_t piece_bytes)
{
    trv_mpi_channel_t *channel = calloc(1, sizeof *channel);
    if (!channel)
        return trv_fail_memory();
    channel->comm = comm;
    channel->piece_bytes = piece_bytes > 0 && piece_bytes < INT_MAX ? piece_bytes : INT_MAX;
    channel->kinds = RETURNS_TRUNCATION && channel->piece_bytes == INT_MAX ? 1 : 2;
    channel->transport = (trv_transport_t){TRV_TRANSPORT,
                                           .context = channel,
                                           .open = channel_open,
                                           .close = channel_close,
                                           .send = channel_send,
                                           .receive = channel_receive,
                                           .test = trv_mpi_channel_test,
                                           .cancel = channel_cancel};
    trv_mpi_channel_over(channel);
    *created = channel;
    return TRV_OK;
}

void trv_mpi_channel_place(trv_mpi_channel_t *channel, int first_tag) { channel->first_tag = first_tag; }

void trv_mpi_channel_map(trv_mpi_channel_t *channel, const int *member) { channel->member = member; }

void trv_mpi_channel_destroy(trv_mpi_channel_t *channel)
{
    if (channel && !channel->over)
        channel_close(channel, 0);
    if (channel)
        free(channel->over);
    free(channel);
}

const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel) { return &channel->transport; }
