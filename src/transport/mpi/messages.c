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
#include "transport/mpi/fabric_channel.h"
#include "transport/mpi/waiting.h"

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void channel_close(void *context, int base)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    for (int i = 0; i < channel->slots; i++) {
        free(channel->slot[i].buffer);
        free(channel->slot[i].fragment_request);
    }
    channel->send_abandoned ? trv_abandon(channel->slot) : free(channel->slot);
    free(channel->request);
    free(channel->owner);
    free(channel->complete);
    free(channel->status);
    channel->slot = NULL;
    channel->request = NULL;
    channel->owner = NULL;
    channel->complete = NULL;
    channel->status = NULL;
    channel->slots = channel->active = channel->partial = 0;
    channel->open = channel->send_abandoned = false;
}

int trv_mpi_channel_check_tags(int tags)
{
    return tags <= TRV_MPI_LANE_TAGS
               ? TRV_OK
               : trv_fail(TRV_ERR_UNSUPPORTED, "the plan needs %d message tags; a plan can have at most %d", tags,
                          TRV_MPI_LANE_TAGS);
}

static int channel_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    if (channel->open)
        return trv_fail(TRV_ERR_STATE, "an MPI channel supports one plan at a time");
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
    slot->previous = channel->last[slot->lane];
    slot->next = NONE;
    channel->last[slot->lane] = at;
    *(slot->previous == NONE ? &channel->first[slot->lane] : &channel->slot[slot->previous].next) = at;
}

void trv_mpi_channel_unlist(trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    *(slot->previous == NONE ? &channel->first[slot->lane] : &channel->slot[slot->previous].next) = slot->next;
    *(slot->next == NONE ? &channel->last[slot->lane] : &channel->slot[slot->next].previous) = slot->previous;
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

static int post_request(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot, int tag, void *data, size_t bytes,
                        MPI_Request *request)
{
    int code = slot->sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request)
                           : PMPI_Irecv(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(slot->sends ? "MPI_Isend" : "MPI_Irecv", code);
}

int trv_mpi_channel_post(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t expected)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int code = post_request(channel, slot, tag, data, bytes, &channel->request[channel->active]);
    if (code < 0)
        return code;
    slot->expected = expected;
    slot->at = channel->active++;
    channel->owner[slot->at] = at;
    return TRV_OK;
}

/* Posts a message in fragments: its header and all fragments. */
static int post_fragments(trv_mpi_channel_t *channel, int at, int tag, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    size_t fragments = (bytes - 1) / channel->fragment_bytes + 1;
    if (fragments > (size_t)slot->capacity) {
        MPI_Request *fragment_request = fragments < INT_MAX
                                            ? realloc(slot->fragment_request, fragments * sizeof(MPI_Request))
                                            : NULL;
        if (!fragment_request)
            return trv_fail_memory();
        slot->fragment_request = fragment_request;
        slot->capacity = (int)fragments;
    }
    slot->header = bytes;
    int code = trv_mpi_channel_post(channel, at, tag, &slot->header, HEADER_BYTES, HEADER_BYTES);
    while (code == TRV_OK && bytes > 0) {
        size_t fragment = bytes < channel->fragment_bytes ? bytes : channel->fragment_bytes;
        code = post_request(channel, slot, tag, data, fragment, &slot->fragment_request[slot->fragments]);
        slot->fragments += code == TRV_OK;
        data += fragment;
        bytes -= fragment;
    }
    return code;
}

static int post_small_receive(trv_mpi_channel_t *channel, int at, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    if (returns_truncation())
        return trv_mpi_channel_post(channel, at, slot->tag, data, bytes, bytes);
    if (!slot->buffer && !(slot->buffer = malloc(SMALL_BYTES)))
        return trv_fail_memory();
    slot->data = data;
    return trv_mpi_channel_post(channel, at, slot->tag, slot->buffer, SMALL_BYTES, bytes);
}

static int slot_post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, char *data, size_t bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    bool small = bytes <= channel->fragment_bytes && (returns_truncation() || bytes <= SMALL_BYTES);
    slot->sends = sends;
    slot->small = small;
    slot->peer = channel->member ? channel->member[peer] : peer;
    slot->lane = lane;
    slot->tag = channel->first_tag + lane;
    slot->remaining = 0;
    slot->is_fragmented = bytes > channel->fragment_bytes;
    slot->fragments = slot->fragment = 0;
    slot->tested_round = channel->test_rounds - 1; /* the first test uses the latest look */
    slot->failed_polls = 0;
    slot->other_kind_found = slot->partial = false;
    slot->outcome = TRV_OK;
    slot->order = channel->posted++;
    channel->cancel_polls = 0;
    int code = TRV_OK;
    if (sends) {
        int tag = slot->tag + (small ? 0 : TRV_MPI_LANE_TAGS);
        code = slot->is_fragmented ? post_fragments(channel, at, tag, data, bytes)
                                   : trv_mpi_channel_post(channel, at, tag, data, bytes, bytes);
    } else if (small) {
        code = post_small_receive(channel, at, data, bytes);
    } else {
        slot->data = data;
        slot->remaining = bytes;
        list_add(channel, at);
    }
    if (code < 0 && !sends) /* the fragments of a send that have been posted are cancelled by the plan */
        trv_mpi_channel_cancel_slot(channel, at);
    return code;
}

static int channel_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return slot_post(context, slot, true, peer, tag, (char *)data, bytes); /* MPI_Isend reads only */
}

static int channel_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return slot_post(context, slot, false, peer, tag, data, bytes);
}

void trv_mpi_channel_drop_request(trv_mpi_channel_t *channel, int at)
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
static bool request_cancel(trv_mpi_channel_t *channel, MPI_Request *request, bool sends)
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

void trv_mpi_channel_set_partial(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, bool partial)
{
    channel->partial += partial - slot->partial;
    slot->partial = partial;
}

bool trv_mpi_channel_cancel_slot(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    bool ended = true;
    if (slot->remaining > 0)
        trv_mpi_channel_unlist(channel, slot);
    slot->remaining = 0;
    trv_mpi_channel_set_partial(channel, slot, false);
    if (slot->at != NONE) {
        ended = request_cancel(channel, &channel->request[slot->at], slot->sends);
        trv_mpi_channel_drop_request(channel, slot->at);
    }
    while (slot->fragment < slot->fragments)
        ended = request_cancel(channel, &slot->fragment_request[slot->fragment++], slot->sends) && ended;
    channel->send_abandoned = channel->send_abandoned || !ended;
    return ended;
}

static int channel_cancel(void *context, int base, int at)
{
    (void)base;
    return trv_mpi_channel_cancel_slot(context, at) ? 0 : 1;
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

int trv_mpi_channel_create(trv_mpi_channel_t **created, MPI_Comm comm, size_t fragment_bytes)
{
    trv_mpi_channel_t *channel = calloc(1, sizeof *channel);
    if (!channel)
        return trv_fail_memory();
    channel->comm = comm;
    channel->fragment_bytes = fragment_bytes > 0 && fragment_bytes < INT_MAX ? fragment_bytes : INT_MAX;
    channel->kinds = returns_truncation() && channel->fragment_bytes == INT_MAX ? 1 : 2;
    channel->transport = (trv_transport_t){TRV_TRANSPORT,
                                           .context = channel,
                                           .open = channel_open,
                                           .close = channel_close,
                                           .send = channel_send,
                                           .receive = channel_receive,
                                           .test = trv_mpi_channel_test,
                                           .cancel = channel_cancel};
    trv_mpi_channel_use_fabric(channel);
    *created = channel;
    return TRV_OK;
}

void trv_mpi_channel_set_tag(trv_mpi_channel_t *channel, int first_tag) { channel->first_tag = first_tag; }

void trv_mpi_channel_set_members(trv_mpi_channel_t *channel, const int *member) { channel->member = member; }

void trv_mpi_channel_destroy(trv_mpi_channel_t *channel)
{
    if (channel && !channel->fabric_channel)
        channel_close(channel, 0);
    if (channel)
        free(channel->fabric_channel);
    free(channel);
}

const trv_transport_t *trv_mpi_channel_transport(const trv_mpi_channel_t *channel) { return &channel->transport; }
