/*
 * Arrivals: testing what is pending, and checking what has come.
 *
 * Only pending requests are tested, which lie side by side. Few of them are tested one by one. Each such test looks at
 * the network, which is what it costs, so many are tested together, and a slot is answered from the latest look unless
 * it has been before: a pass over all slots looks once.
 *
 * A sender that counts differently may send the other kind (messages.c). So a receive that stays incomplete looks for that
 * too, every PATIENCE polls. MPI keeps the order of two messages between two ranks also where their tags differ (a
 * receive may ask for any tag), so what is found while the own message is missing was sent in its place, unless it
 * belongs to a receive posted earlier. A wrong message stays with MPI: the run fails, and its tags are not used again.
 *
 * How an operation ends is kept in its slot until the slot's own `test`: a look for another one may have found it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/inside.h"

/* ---- Bad ends ---------------------------------------------------------------------------------------------------- */

/* Keeps an error's sentence for the slot's `test`; the latest one, since any of a run's will do. */
static int keep(trv_mpi_channel_t *channel, int code)
{
    if (code < 0)
        snprintf(channel->reason, sizeof channel->reason, "%s", trv_last_error());
    return code;
}

/* The operation is over. An error's sentence is kept already. */
static void over(trv_mpi_channel_t *channel, int at, int code)
{
    channel->slot[at].outcome = code;
    trv_mpi_channel_give_up(channel, at);
}

/* Of a message that is not the one that is due. */
static int wrong(const trv_mpi_slot_t *slot, long long bytes, size_t due)
{
    if (bytes == (long long)due)
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d splits its messages differently: the ranks' counts or settings differ", slot->peer);
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d sent %lld bytes where %zu are due: the ranks' counts or settings differ", slot->peer,
                    bytes, due);
}

/* Of a message of the other kind. */
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

/* ---- What is complete -------------------------------------------------------------------------------------------- */

/* What a request of the slot has come to. */
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
    if (code != MPI_SUCCESS) /* an MPI that tells only what it has kept */
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent more than the %zu bytes that are due: the ranks' counts or settings differ",
                        slot->peer, slot->due);
    if (!RETURNS_TRUNCATION && slot->small)
        memcpy(slot->data, slot->buffer, slot->due);
    return TRV_OK;
}

/* The slot's request is complete: the next piece takes its place, or the slot has none any more. */
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

/* As far as the slot gets. */
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

/* Tests all requests. */
static int look(trv_mpi_channel_t *channel)
{
    int done = 0, class = MPI_SUCCESS;
    channel->looks++;
    int code = PMPI_Testsome(channel->active, channel->request, &done, channel->complete, channel->status);
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS)
        return trv_mpi_transport_error("MPI_Testsome", code);
    for (int i = 0; i < done; i++) /* slots, since requests move */
        channel->complete[i] = channel->owner[channel->complete[i]];
    for (int i = 0; i < done; i++) {
        const int at = channel->complete[i];
        step(channel, at, class == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR, &channel->status[i]);
        test_one(channel, at);
    }
    return TRV_OK;
}

/* ---- Large messages ---------------------------------------------------------------------------------------------- */

/* Whether an earlier one would take the message. */
static bool has_to_wait(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = slot->before; i != NONE; i = channel->slot[i].before)
        if (channel->slot[i].peer == slot->peer)
            return true;
    return false;
}

/* Whether what comes next of the large kind is a piece of another slot's message. */
static bool is_anothers(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (other->amid && other != slot && other->peer == slot->peer && other->tag == slot->tag)
            return true;
    }
    return false;
}

/* Whether the peer's first message of a kind that nobody has taken is there, and its length. */
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

/* Takes the header of a message in pieces, which is there; false where the message is not the one that is due. */
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

/* Looks for a large message, or its next piece, where no request of the slot is pending. */
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
    trv_mpi_channel_hold(channel, slot, false); /* the posted receive has the last piece */
}

/* A large receive, as far as it gets. */
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

/* For all large receives: a caller may wait for another slot first, which its peer may complete after one of these. */
static void find_all(trv_mpi_channel_t *channel)
{
    for (int lane = 0; lane < TRV_MPI_LANE_TAGS; lane++)
        for (int at = channel->first[lane], after; at != NONE; at = after) {
            after = channel->slot[at].after;
            find_and_test(channel, at);
        }
}

/* ---- What comes instead ------------------------------------------------------------------------------------------ */

static bool is_open(const trv_mpi_slot_t *slot) { return slot->at != NONE || slot->rest > 0; }

/* Whether an earlier receive of the lane waits for the same peer. */
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

/* For a receive that is not complete: whether the peer has sent a message of the other kind in its place. What is found is
 * believed when it is still there, and the own message still missing, at the next such time. */
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

/* As far as the slot gets; now and then also looks at what else has arrived. */
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
