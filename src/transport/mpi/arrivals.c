/*
 * Tests pending messages, and checks the messages that have arrived.
 *
 * A *slot* is one send or receive of the plan. The pending MPI requests are in one array, and only these are tested.
 * The cost of a test is that MPI polls the network. Up to TESTED_ALONE_MAX requests are therefore tested separately,
 * and more of them by one MPI_Testsome, the result of which is used for the tests of all slots: a pass over all slots
 * polls the network once.
 *
 * If the ranks' counts differ by mistake, a sender may send a message of the other kind (small or large, messages.c). A
 * receive that remains incomplete therefore looks for such a message every PROBE_INTERVAL polls. MPI keeps the order of
 * two messages between two ranks even if their tags differ (a receive may accept any tag). Therefore a message of the
 * other kind that is found while the expected one is missing was sent instead of it, unless it belongs to a receive
 * that was posted earlier. A wrong message is not received: the run fails, and its tags are not used again.
 *
 * The outcome of a slot is stored until the slot itself is tested, because the test of another slot may have found it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/inside.h"

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Stores the message of an error until the slot is tested. Only the latest one is kept, since one error per run is
 * enough for the report. */
static int error_store(trv_mpi_channel_t *channel, int code)
{
    if (code < 0)
        snprintf(channel->reason, sizeof channel->reason, "%s", trv_last_error());
    return code;
}

/* Ends a slot with `code`; error_store has stored the message of an error. */
static void slot_end(trv_mpi_channel_t *channel, int at, int code)
{
    channel->slot[at].outcome = code;
    trv_mpi_channel_cancel_slot(channel, at);
}

/* The error for a message of the wrong size. */
static int length_error(const trv_mpi_slot_t *slot, long long bytes, size_t expected)
{
    if (bytes == (long long)expected)
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d splits its messages differently: the ranks' counts or settings differ", slot->peer);
    return trv_fail(TRV_ERR_TRANSPORT, "rank %d sent %lld bytes instead of %zu: the ranks' counts or settings differ",
                    slot->peer, bytes, expected);
}

/* The error for a message of the other kind. */
static int kind_error(const trv_mpi_slot_t *slot, int bytes, size_t expected)
{
    if (!slot->small || bytes != HEADER_BYTES)
        return length_error(slot, bytes, expected);
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d sent more than %zu bytes, the expected length: the ranks' counts or settings differ",
                    slot->peer, expected);
}

static int receive_error(trv_mpi_channel_t *channel, int code)
{
    return error_store(channel, trv_mpi_transport_error("receiving from another rank", code));
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

/* Checks a completed request of a slot; `code` is MPI's. Copies a small message out of the slot's buffer. TRV_OK or an
 * error. */
static int request_check(const trv_mpi_slot_t *slot, int code, const MPI_Status *status)
{
    int class = MPI_SUCCESS, bytes = 0;
    if (code == MPI_SUCCESS && slot->sends)
        return TRV_OK;
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (code != MPI_SUCCESS && (slot->sends || class != MPI_ERR_TRUNCATE))
        return trv_mpi_transport_error(slot->sends ? "sending to another rank" : "receiving from another rank", code);
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if ((size_t)bytes != slot->expected)
        return length_error(slot, bytes, slot->expected);
    if (code != MPI_SUCCESS) /* some MPI libraries report the truncated length */
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent more than %zu bytes, the expected length: the ranks' counts or settings differ",
                        slot->peer, slot->expected);
    if (!returns_truncation() && slot->small)
        memcpy(slot->data, slot->buffer, slot->expected);
    return TRV_OK;
}

/* Handles a completed request of a slot: the request of the next fragment replaces it, or the slot has no request
 * left. */
static void request_complete(trv_mpi_channel_t *channel, int at, int code, const MPI_Status *status)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    code = request_check(slot, code, status);
    if (code == TRV_OK && slot->fragment < slot->fragments) {
        channel->request[slot->at] = slot->fragment_request[slot->fragment++];
        return;
    }
    trv_mpi_channel_drop_request(channel, slot->at);
    if (code < 0)
        slot_end(channel, at, error_store(channel, code));
}

/* Tests a slot's requests, one after the other, until one is incomplete. */
static void slot_test(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    MPI_Status status;
    while (slot->at != NONE) {
        int done = 1, tested = PMPI_Test(&channel->request[slot->at], &done, &status);
        if (tested == MPI_SUCCESS && !done)
            return;
        request_complete(channel, at, tested, &status);
    }
}

/* Tests all pending requests together. TRV_OK, or an error of the test itself. */
static int test_all(trv_mpi_channel_t *channel)
{
    int done = 0, class = MPI_SUCCESS;
    channel->test_rounds++;
    int code = PMPI_Testsome(channel->active, channel->request, &done, channel->complete, channel->status);
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS)
        return trv_mpi_transport_error("MPI_Testsome", code);
    for (int i = 0; i < done; i++) /* store slots: dropping a request moves another one */
        channel->complete[i] = channel->owner[channel->complete[i]];
    for (int i = 0; i < done; i++) {
        const int at = channel->complete[i];
        request_complete(channel, at, class == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR,
                         &channel->status[i]);
        slot_test(channel, at);
    }
    return TRV_OK;
}

/* ---- Large messages ---------------------------------------------------------------------------------------------- */

/* Whether an earlier large receive with the same tag waits for the same peer; it must get the peer's next message. */
static bool has_earlier_large(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = slot->previous; i != NONE; i = channel->slot[i].previous)
        if (channel->slot[i].peer == slot->peer)
            return true;
    return false;
}

/* Whether the next large message from the peer is a fragment of another slot's message. */
static bool belongs_to_other(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (other->partial && other != slot && other->peer == slot->peer && other->tag == slot->tag)
            return true;
    }
    return false;
}

/* Whether a message with this tag from the slot's peer has arrived that belongs to no other slot, and its length. */
static bool has_arrived(trv_mpi_channel_t *channel, int at, int tag, int *bytes)
{
    const trv_mpi_slot_t *slot = &channel->slot[at];
    MPI_Status status;
    if (channel->partial > slot->partial && tag == slot->tag + TRV_MPI_LANE_TAGS && belongs_to_other(channel, slot))
        return false;
    int found = 0, code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
    if (code != MPI_SUCCESS)
        slot_end(channel, at, error_store(channel, trv_mpi_transport_error("MPI_Iprobe", code)));
    if (code == MPI_SUCCESS && found)
        PMPI_Get_count(&status, MPI_BYTE, bytes);
    return code == MPI_SUCCESS && found;
}

static size_t next_fragment_bytes(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    return slot->remaining < channel->fragment_bytes ? slot->remaining : channel->fragment_bytes;
}

/* Receives the header of a message in fragments, which has arrived. False if the message is not the expected one; then
 * the slot has ended. */
static bool receive_header(trv_mpi_channel_t *channel, int at, int bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    const int tag = slot->tag + TRV_MPI_LANE_TAGS;
    uint64_t header = 0;
    if (bytes != HEADER_BYTES) {
        slot_end(channel, at, error_store(channel, length_error(slot, bytes, slot->remaining)));
        return false;
    }
    int code = PMPI_Recv(&header, HEADER_BYTES, MPI_BYTE, slot->peer, tag, channel->comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        slot_end(channel, at, receive_error(channel, code));
        return false;
    }
    if (header != slot->remaining) {
        slot_end(channel, at, error_store(channel, length_error(slot, (long long)header, slot->remaining)));
        return false;
    }
    trv_mpi_channel_set_partial(channel, slot, true);
    return true;
}

/* Looks for a slot's large message, or its next fragment, and posts its receive. No request of the slot may be
 * pending. */
static void post_next(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int bytes = 0, tag = slot->tag + TRV_MPI_LANE_TAGS;
    if (has_earlier_large(channel, slot) || !has_arrived(channel, at, tag, &bytes))
        return;
    if (slot->is_fragmented && !slot->partial &&
        (!receive_header(channel, at, bytes) || !has_arrived(channel, at, tag, &bytes)))
        return;
    const size_t fragment = next_fragment_bytes(channel, slot);
    if ((size_t)bytes != fragment) {
        slot_end(channel, at, error_store(channel, length_error(slot, bytes, fragment)));
        return;
    }
    int code = trv_mpi_channel_post(channel, at, tag, slot->data, fragment, fragment);
    if (code < 0) {
        slot_end(channel, at, error_store(channel, code));
        return;
    }
    slot->data += fragment;
    slot->remaining -= fragment;
    if (slot->remaining > 0)
        return;
    trv_mpi_channel_unlist(channel, slot);
    trv_mpi_channel_set_partial(channel, slot, false); /* the last fragment's receive is posted */
}

/* Looks for the fragments of a large receive and tests them, until one is missing or incomplete. */
static void post_and_test(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    do {
        if (slot->at == NONE)
            post_next(channel, at);
        if (slot->at == NONE)
            return;
        slot_test(channel, at);
    } while (slot->at == NONE && slot->remaining > 0);
}

/* Calls post_and_test for all large receives: the peer may send the message for which the caller waits only after one
 * of these was received. */
static void post_and_test_all(trv_mpi_channel_t *channel)
{
    for (int lane = 0; lane < TRV_MPI_LANE_TAGS; lane++)
        for (int at = channel->first[lane], next; at != NONE; at = next) {
            next = channel->slot[at].next;
            post_and_test(channel, at);
        }
}

/* ---- Messages of the other kind ---------------------------------------------------------------------------------- */

static bool slot_is_open(const trv_mpi_slot_t *slot) { return slot->at != NONE || slot->remaining > 0; }

/* Whether an earlier receive with the same tag waits for the same peer. */
static bool has_earlier_open(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (!other->sends && slot_is_open(other) && other->peer == slot->peer && other->tag == slot->tag &&
            other->order < slot->order)
            return true;
    }
    return false;
}

/* Checks whether the peer has sent a message of the other kind in place of the one that a receive expects. The slot
 * fails only if a second look, PROBE_INTERVAL polls later, finds such a message again while the expected one is still
 * missing. */
static void check_other_kind(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int bytes = 0, other = slot->tag + slot->small * TRV_MPI_LANE_TAGS;
    const bool is_posted = !slot->small && slot->at != NONE;
    if (slot->sends || is_posted || slot->partial || has_earlier_open(channel, slot))
        return;
    const bool found = has_arrived(channel, at, other, &bytes);
    if (found && slot->other_kind_found)
        slot_end(channel, at,
                 error_store(channel, kind_error(slot, bytes, slot->small ? slot->expected : slot->remaining)));
    slot->other_kind_found = found;
}

/* ---- Testing ----------------------------------------------------------------------------------------------------- */

/* Makes progress on a slot, and every PROBE_INTERVAL polls on the other large receives. */
static void slot_progress(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    if (slot->remaining > 0) {
        post_and_test(channel, at);
    } else if (slot->at != NONE && channel->active <= TESTED_ALONE_MAX) {
        slot_test(channel, at);
    } else if (slot->at != NONE) {
        int code = slot->tested_round == channel->test_rounds ? test_all(channel) : TRV_OK;
        slot->tested_round = channel->test_rounds;
        if (code < 0)
            slot_end(channel, at, error_store(channel, code));
    }
    if (channel->kinds == 1 || !slot_is_open(slot) || ++slot->failed_polls % PROBE_INTERVAL != 0)
        return;
    post_and_test_all(channel);
    if (slot_is_open(slot))
        check_other_kind(channel, at);
}

int trv_mpi_channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    const trv_mpi_slot_t *slot = &channel->slot[at];
    if (slot_is_open(slot))
        slot_progress(channel, at);
    if (slot->outcome < 0)
        return trv_fail(slot->outcome, "%s", channel->reason);
    return !slot_is_open(slot);
}
