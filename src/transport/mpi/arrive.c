/*
 * Tests pending messages, and checks the messages that have arrived.
 *
 * A *slot* is one send or receive of the plan. The pending MPI requests are in one array, and only these are tested.
 * The cost of a test is that MPI polls the network. Up to FEW requests are therefore tested separately, and more by one
 * MPI_Testsome, the result of which is used for the tests of all slots: a pass over all slots polls the network once.
 *
 * If the ranks' counts differ by mistake, a sender may send a message of the other kind (small or large, messages.c). A
 * receive that remains incomplete therefore looks for such a message every PATIENCE polls. MPI keeps the order of two
 * messages between two ranks even if their tags differ (a receive may accept any tag). Therefore a message of the other
 * kind that is found while the expected one is missing was sent in its place, unless it belongs to a receive that was
 * posted earlier. A wrong message is not received: the run fails, and its tags are not used again.
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
static int keep(trv_mpi_channel_t *channel, int code)
{
    if (code < 0)
        snprintf(channel->reason, sizeof channel->reason, "%s", trv_last_error());
    return code;
}

/* Ends a slot with `code`; keep() has stored the message of an error. */
static void over(trv_mpi_channel_t *channel, int at, int code)
{
    channel->slot[at].outcome = code;
    trv_mpi_channel_give_up(channel, at);
}

/* The error for a message of the wrong size. */
static int wrong(const trv_mpi_slot_t *slot, long long bytes, size_t due)
{
    if (bytes == (long long)due)
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d splits its messages differently: the ranks' counts or settings differ", slot->peer);
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d sent %lld bytes where %zu are due: the ranks' counts or settings differ", slot->peer,
                    bytes, due);
}

/* The error for a message of the other kind. */
static int wrong_kind(const trv_mpi_slot_t *slot, int bytes, size_t due)
{
    if (!slot->small || bytes != HEADER_BYTES)
        return wrong(slot, bytes, due);
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d sent more than the %zu bytes that are due: the ranks' counts or settings differ",
                    slot->peer, due);
}

static int fail_receive(trv_mpi_channel_t *channel, int code)
{
    return keep(channel, trv_mpi_transport_error("receiving from another rank", code));
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

/* Checks a completed request of a slot; `code` is MPI's. Copies a small message out of the slot's buffer. TRV_OK or an
 * error. */
static int check(const trv_mpi_slot_t *slot, int code, const MPI_Status *status)
{
    int class = MPI_SUCCESS, bytes = 0;
    if (code == MPI_SUCCESS && slot->sends)
        return TRV_OK;
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (code != MPI_SUCCESS && (slot->sends || class != MPI_ERR_TRUNCATE))
        return trv_mpi_transport_error(slot->sends ? "sending to another rank" : "receiving from another rank", code);
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if ((size_t)bytes != slot->due)
        return wrong(slot, bytes, slot->due);
    if (code != MPI_SUCCESS) /* some MPI libraries report the truncated length */
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent more than the %zu bytes that are due: the ranks' counts or settings differ",
                        slot->peer, slot->due);
    if (!RETURNS_TRUNCATION && slot->small)
        memcpy(slot->data, slot->buffer, slot->due);
    return TRV_OK;
}

/* Handles a completed request of a slot: the request of the next fragment replaces it, or the slot has no request
 * left. */
static void step(trv_mpi_channel_t *channel, int at, int code, const MPI_Status *status)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    code = check(slot, code, status);
    if (code == TRV_OK && slot->piece < slot->pieces) {
        channel->request[slot->at] = slot->more[slot->piece++];
        return;
    }
    trv_mpi_channel_drop(channel, slot->at);
    if (code < 0)
        over(channel, at, keep(channel, code));
}

/* Tests a slot's requests, one after the other, until one is incomplete. */
static void test_one(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    MPI_Status status;
    while (slot->at != NONE) {
        int done = 1, tested = PMPI_Test(&channel->request[slot->at], &done, &status);
        if (tested == MPI_SUCCESS && !done)
            return;
        step(channel, at, tested, &status);
    }
}

/* Tests all pending requests together. TRV_OK, or an error of the test itself. */
static int look(trv_mpi_channel_t *channel)
{
    int done = 0, class = MPI_SUCCESS;
    channel->looks++;
    int code = PMPI_Testsome(channel->active, channel->request, &done, channel->complete, channel->status);
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS)
        return trv_mpi_transport_error("MPI_Testsome", code);
    for (int i = 0; i < done; i++) /* store slots: dropping a request moves another one */
        channel->complete[i] = channel->owner[channel->complete[i]];
    for (int i = 0; i < done; i++) {
        const int at = channel->complete[i];
        step(channel, at, class == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR, &channel->status[i]);
        test_one(channel, at);
    }
    return TRV_OK;
}

/* ---- Large messages ---------------------------------------------------------------------------------------------- */

/* Whether an earlier large receive with the same tag waits for the same peer; it must get the peer's next message. */
static bool has_to_wait(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = slot->before; i != NONE; i = channel->slot[i].before)
        if (channel->slot[i].peer == slot->peer)
            return true;
    return false;
}

/* Whether the next large message from the peer is a fragment of another slot's message. */
static bool is_anothers(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (other->amid && other != slot && other->peer == slot->peer && other->tag == slot->tag)
            return true;
    }
    return false;
}

/* Whether a message with this tag from the slot's peer has arrived that belongs to no other slot, and its length. */
static bool is_there(trv_mpi_channel_t *channel, int at, int tag, int *bytes)
{
    const trv_mpi_slot_t *slot = &channel->slot[at];
    MPI_Status status;
    if (channel->amid > slot->amid && tag == slot->tag + TRV_MPI_LANE_TAGS && is_anothers(channel, slot))
        return false;
    int found = 0, code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
    if (code != MPI_SUCCESS)
        over(channel, at, keep(channel, trv_mpi_transport_error("MPI_Iprobe", code)));
    if (code == MPI_SUCCESS && found)
        PMPI_Get_count(&status, MPI_BYTE, bytes);
    return code == MPI_SUCCESS && found;
}

static size_t next_piece(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    return slot->rest < channel->piece_bytes ? slot->rest : channel->piece_bytes;
}

/* Receives the header of a message in fragments, which has arrived. False if the message is not the expected one; then
 * the slot has ended. */
static bool take_header(trv_mpi_channel_t *channel, int at, int bytes)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    const int tag = slot->tag + TRV_MPI_LANE_TAGS;
    uint64_t header = 0;
    if (bytes != HEADER_BYTES) {
        over(channel, at, keep(channel, wrong(slot, bytes, slot->rest)));
        return false;
    }
    int code = PMPI_Recv(&header, HEADER_BYTES, MPI_BYTE, slot->peer, tag, channel->comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        over(channel, at, fail_receive(channel, code));
        return false;
    }
    if (header != slot->rest) {
        over(channel, at, keep(channel, wrong(slot, (long long)header, slot->rest)));
        return false;
    }
    trv_mpi_channel_hold(channel, slot, true);
    return true;
}

/* Looks for a slot's large message, or its next fragment, and posts its receive. No request of the slot may be
 * pending. */
static void find(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int bytes = 0, tag = slot->tag + TRV_MPI_LANE_TAGS;
    if (has_to_wait(channel, slot) || !is_there(channel, at, tag, &bytes))
        return;
    if (slot->cut && !slot->amid && (!take_header(channel, at, bytes) || !is_there(channel, at, tag, &bytes)))
        return;
    const size_t piece = next_piece(channel, slot);
    if ((size_t)bytes != piece) {
        over(channel, at, keep(channel, wrong(slot, bytes, piece)));
        return;
    }
    int code = trv_mpi_channel_post(channel, at, tag, slot->data, piece, piece);
    if (code < 0) {
        over(channel, at, keep(channel, code));
        return;
    }
    slot->data += piece;
    slot->rest -= piece;
    if (slot->rest > 0)
        return;
    trv_mpi_channel_unlist(channel, slot);
    trv_mpi_channel_hold(channel, slot, false); /* the last fragment's receive is posted */
}

/* Looks for the fragments of a large receive and tests them, until one is missing or incomplete. */
static void find_and_test(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    do {
        if (slot->at == NONE)
            find(channel, at);
        if (slot->at == NONE)
            return;
        test_one(channel, at);
    } while (slot->at == NONE && slot->rest > 0);
}

/* Calls find_and_test for all large receives: the peer may send the message for which the caller waits only after one
 * of these was received. */
static void find_all(trv_mpi_channel_t *channel)
{
    for (int lane = 0; lane < TRV_MPI_LANE_TAGS; lane++)
        for (int at = channel->first[lane], after; at != NONE; at = after) {
            after = channel->slot[at].after;
            find_and_test(channel, at);
        }
}

/* ---- Messages of the other kind ---------------------------------------------------------------------------------- */

static bool is_open(const trv_mpi_slot_t *slot) { return slot->at != NONE || slot->rest > 0; }

/* Whether an earlier receive with the same tag waits for the same peer. */
static bool is_late(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (!other->sends && is_open(other) && other->peer == slot->peer && other->tag == slot->tag &&
            other->order < slot->order)
            return true;
    }
    return false;
}

/* Checks whether the peer has sent a message of the other kind in place of the one that a receive expects. The slot
 * fails only if a second look, PATIENCE polls later, finds such a message again while the expected one is still
 * missing. */
static void look_for_other_kind(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int bytes = 0, other = slot->tag + slot->small * TRV_MPI_LANE_TAGS;
    const bool has_come = !slot->small && slot->at != NONE;
    if (slot->sends || has_come || slot->amid || is_late(channel, slot))
        return;
    const bool found = is_there(channel, at, other, &bytes);
    if (found && slot->suspects)
        over(channel, at, keep(channel, wrong_kind(slot, bytes, slot->small ? slot->due : slot->rest)));
    slot->suspects = found;
}

/* ---- Testing ----------------------------------------------------------------------------------------------------- */

/* Makes progress on a slot, and every PATIENCE polls on the other large receives. */
static void advance(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    if (slot->rest > 0) {
        find_and_test(channel, at);
    } else if (slot->at != NONE && channel->active <= FEW) {
        test_one(channel, at);
    } else if (slot->at != NONE) {
        int code = slot->answered == channel->looks ? look(channel) : TRV_OK;
        slot->answered = channel->looks;
        if (code < 0)
            over(channel, at, keep(channel, code));
    }
    if (channel->kinds == 1 || !is_open(slot) || ++slot->vain % PATIENCE != 0)
        return;
    find_all(channel);
    if (is_open(slot))
        look_for_other_kind(channel, at);
}

int trv_mpi_channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    const trv_mpi_slot_t *slot = &channel->slot[at];
    if (is_open(slot))
        advance(channel, at);
    if (slot->outcome < 0)
        return trv_fail(slot->outcome, "%s", channel->reason);
    return !is_open(slot);
}
