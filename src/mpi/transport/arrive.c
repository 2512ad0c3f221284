/*
 * Arrivals: testing what is pending, and checking what has come.
 *
 * Only pending requests are tested, which lie side by side. Few of them are tested one by one. Each such test looks at
 * the network, which is what it costs, so many are tested together, and a slot is answered from the latest look unless
 * it has been before: a pass over all slots looks once.
 *
 * A sender that counts differently may send the other kind (channel.c). So a receive that waits in vain looks for that
 * too, every now and then. MPI keeps the order of two messages between two ranks also where their tags differ (a
 * receive may ask for any tag), so what is found while the own message is missing was sent in its place, unless it
 * belongs to a receive posted earlier. A send that waits in vain looks for the empty message of a receiver that has
 * failed.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/transport/error.h"
#include "mpi/transport/inside.h"

/* Of a message that is not the one that is due. An empty one tells a send that its receiver has failed; a receive returns
 * TRV_REFUSED for it. */
static int wrong(const trv_mpi_slot_t *slot, long long bytes, size_t due)
{
    if (bytes == 0)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d has failed and ended this run; its own error has the reason",
                        slot->peer);
    if (bytes == (long long)due)
        return trv_fail(TRV_ERR_TRANSPORT, "rank %d cuts its messages otherwise: the ranks' counts or settings differ",
                        slot->peer);
    return trv_fail(TRV_ERR_TRANSPORT,
                    "rank %d sent %lld bytes where %zu are due: the ranks' counts or settings differ", slot->peer,
                    bytes, due);
}

/* What a request of the slot has come to that is complete. */
static int check(trv_mpi_slot_t *slot, int code, const MPI_Status *status)
{
    int class = MPI_SUCCESS, bytes = 0;
    if (code == MPI_SUCCESS && slot->sends)
        return TRV_OK;
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (code != MPI_SUCCESS && (slot->sends || class != MPI_ERR_TRUNCATE))
        return trv_mpi_transport_error(slot->sends ? "sending to another rank" : "receiving from another rank", code);
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    slot->refused = bytes == 0;
    if (slot->refused)
        return TRV_REFUSED;
    if ((size_t)bytes != slot->due)
        return wrong(slot, bytes, slot->due);
    if (code != MPI_SUCCESS) /* an MPI that tells only what it has kept */
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent more than the %zu bytes that are due: the ranks' counts or settings differ",
                        slot->peer, slot->due);
    if (!RETURNS_TRUNCATION && slot->small)
        memcpy(slot->data, slot->room, slot->due);
    return TRV_OK;
}

/* The slot's request is complete: the next piece takes its place, or the slot has none any more. */
static int step(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, int code, const MPI_Status *status)
{
    code = check(slot, code, status);
    if (code != TRV_OK || slot->piece == slot->pieces) {
        trv_mpi_channel_drop(channel, slot->at);
        trv_mpi_channel_give_up_pieces(slot); /* none, where all went well */
        return code < 0 ? code : TRV_OK;
    }
    channel->request[slot->at] = slot->more[slot->piece++];
    slot->due = slot->piece == slot->pieces ? slot->last : channel->piece_bytes;
    return TRV_OK;
}

/* As far as the slot gets. */
static int test_one(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot)
{
    MPI_Status status;
    int done = 1, code = TRV_OK;
    while (code == TRV_OK && slot->at != NONE) {
        int tested = PMPI_Test(&channel->request[slot->at], &done, &status);
        if (tested == MPI_SUCCESS && !done)
            return TRV_OK;
        code = step(channel, slot, tested, &status);
    }
    return code;
}

/* Tests all requests. Where several end badly the last one's sentence stays. */
static int look(trv_mpi_channel_t *channel)
{
    int done = 0, class = MPI_SUCCESS, result = TRV_OK;
    channel->looks++;
    int code = PMPI_Testsome(channel->active, channel->request, &done, channel->complete, channel->status);
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS)
        return trv_mpi_transport_error("MPI_Testsome", code);
    for (int i = 0; i < done; i++) /* slots, since requests move */
        channel->complete[i] = channel->owner[channel->complete[i]];
    for (int i = 0; i < done; i++) {
        trv_mpi_slot_t *slot = &channel->slot[channel->complete[i]];
        int one = step(channel, slot, class == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR,
                       &channel->status[i]);
        if (one == TRV_OK && slot->at != NONE)
            one = test_one(channel, slot);
        result = one < 0 ? one : result;
    }
    return result;
}

/* Whether an earlier one would take the message. */
static bool has_to_wait(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = slot->before; i != NONE; i = channel->slot[i].before)
        if (channel->slot[i].peer == slot->peer)
            return true;
    return false;
}

/* Takes the empty message that is there. The receive is over: nothing more comes. */
static int take_refusal(trv_mpi_channel_t *channel, trv_mpi_slot_t *slot, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int done = 0, code = PMPI_Irecv(NULL, 0, MPI_BYTE, slot->peer, tag, channel->comm, &request);
    while (code == MPI_SUCCESS && !done)
        code = PMPI_Test(&request, &done, &status);
    if (slot->rest > 0)
        trv_mpi_channel_unlist(channel, slot);
    slot->rest = 0;
    slot->refused = true;
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error("receiving from another rank", code);
}

/* Looks for a large message, or its next piece, where no request of the slot is pending. */
static int find(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    MPI_Status status;
    int found = 0, bytes = 0, tag = slot->tag + TRV_MPI_LANE_TAGS;
    if (has_to_wait(channel, slot))
        return TRV_OK;
    int code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Iprobe", code);
    if (!found)
        return TRV_OK;
    size_t piece = slot->rest < channel->piece_bytes ? slot->rest : channel->piece_bytes;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes == 0)
        return take_refusal(channel, slot, tag);
    if ((size_t)bytes != piece)
        return wrong(slot, bytes, piece);
    code = trv_mpi_channel_post(channel, at, tag, slot->data, piece, piece);
    if (code < 0)
        return code;
    slot->data += piece;
    slot->rest -= piece;
    if (slot->rest == 0)
        trv_mpi_channel_unlist(channel, slot);
    return TRV_OK;
}

/* A large receive, as far as it gets. */
static int find_and_test(trv_mpi_channel_t *channel, int at)
{
    trv_mpi_slot_t *slot = &channel->slot[at];
    int code = TRV_OK;
    do {
        if (slot->at == NONE)
            code = find(channel, at);
        if (code < 0 || slot->at == NONE)
            return code; /* found nothing, or a refusal */
        code = test_one(channel, slot);
    } while (code == TRV_OK && slot->at == NONE && slot->rest > 0);
    return code;
}

/* ---- What comes instead ------------------------------------------------------------------------------------------ */

/* Whether an earlier receive of the lane waits for the same peer. */
static bool is_late(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const trv_mpi_slot_t *other = &channel->slot[i];
        if (!other->sends && (other->at != NONE || other->rest > 0) && other->peer == slot->peer &&
            other->tag == slot->tag && other->order < slot->order)
            return true;
    }
    return false;
}

/* Whether the peer's first message of a kind that nobody has taken is there, and its length. */
static int look_for(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot, int kind, int *found, int *bytes)
{
    MPI_Status status;
    int code = PMPI_Iprobe(slot->peer, slot->tag + kind * TRV_MPI_LANE_TAGS, channel->comm, found, &status);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Iprobe", code);
    if (*found)
        PMPI_Get_count(&status, MPI_BYTE, bytes);
    return TRV_OK;
}

static int look_for_refusal(const trv_mpi_channel_t *channel, const trv_mpi_slot_t *slot)
{
    int found = 0, bytes = 0, code = TRV_OK;
    for (int kind = 0; kind < 2 && code == TRV_OK; kind++) {
        code = look_for(channel, slot, kind, &found, &bytes);
        if (code == TRV_OK && found && bytes == 0)
            return wrong(slot, 0, 0);
    }
    return code;
}

/* For a slot that waits in vain. What a receive finds is believed when it is still there, and the own message still
 * missing, at the next such time: the own one may have arrived between the two looks. */
static int look_around(const trv_mpi_channel_t *channel, trv_mpi_slot_t *slot)
{
    if (slot->sends)
        return look_for_refusal(channel, slot);
    bool found_already = !slot->small && slot->at != NONE;
    if (RETURNS_TRUNCATION || found_already || is_late(channel, slot))
        return TRV_OK;
    int found = 0, bytes = 0;
    int code = look_for(channel, slot, slot->small, &found, &bytes);
    if (code == TRV_OK && found && slot->suspects && bytes == 0) /* and its twin is what the receive will take */
        return TRV_OK;
    if (code == TRV_OK && found && slot->suspects)
        return wrong(slot, bytes, slot->small ? slot->due
                                  : slot->rest < channel->piece_bytes ? slot->rest : channel->piece_bytes);
    slot->suspects = found;
    return code;
}

/* ---- What is thrown away ----------------------------------------------------------------------------------------- */

/* A receive of whatever comes next from the peer on this tag, of either kind: it keeps a rank that has failed from
 * leaving others with sends that nobody takes. Tries again where there is no memory. */
static int discard(const trv_mpi_channel_t *channel, trv_mpi_slot_t *slot)
{
    for (int kind = 0; kind < 2; kind++) {
        MPI_Message message;
        MPI_Status status;
        int found = 0, bytes = 0, tag = slot->tag + kind * TRV_MPI_LANE_TAGS;
        int code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Iprobe", code);
        if (!found)
            continue;
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        void *nowhere = malloc((size_t)bytes + 1);
        if (!nowhere)
            return 0;
        code = PMPI_Mprobe(slot->peer, tag, channel->comm, &message, &status);
        if (code == MPI_SUCCESS)
            code = PMPI_Mrecv(nowhere, bytes, MPI_BYTE, &message, &status);
        free(nowhere);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("receiving from another rank", code);
        return bytes == 0 ? TRV_REFUSED
                          : trv_fail(TRV_ERR_TRANSPORT, "a message of rank %d was thrown away", slot->peer);
    }
    return 0;
}

/* For all large receives: a caller may wait for another slot first, which its peer may complete after one of these. */
static int find_all(trv_mpi_channel_t *channel)
{
    int code = TRV_OK;
    for (int lane = 0; lane < TRV_MPI_LANE_TAGS; lane++)
        for (int at = channel->first[lane], after; code == TRV_OK && at != NONE; at = after) {
            after = channel->slot[at].after;
            code = find_and_test(channel, at);
        }
    return code;
}

int trv_mpi_channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    trv_mpi_slot_t *slot = &channel->slot[at];
    int code = TRV_OK;
    if (slot->nowhere)
        return discard(channel, slot);
    if (slot->rest > 0) {
        code = find_and_test(channel, at);
    } else if (slot->at != NONE && channel->active <= FEW) {
        code = test_one(channel, slot);
    } else if (slot->at != NONE) {
        if (slot->answered == channel->looks)
            code = look(channel);
        slot->answered = channel->looks;
    }
    if (code < 0)
        return code;
    if (slot->at == NONE && slot->rest == 0)
        return slot->refused ? TRV_REFUSED : 1;
    if (++slot->vain % PATIENCE != 0)
        return 0;
    code = RETURNS_TRUNCATION ? TRV_OK : find_all(channel);
    return code < 0 ? code : look_around(channel, slot);
}
