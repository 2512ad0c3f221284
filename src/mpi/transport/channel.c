/*
 * The transport over MPI: MPI_Isend, MPI_Irecv, MPI_Test on bytes, with PMPI_ names only so that no tool and no
 * interposer sees the library's own messages.
 *
 * Truncation. MPICH 4.0 ends the job when a receive turns out to be too short, whichever call completes it and whatever
 * the communicator's error handler says. So a receive must never be too short there, and messages are of two kinds with
 * a tag each. A *small* one is received into room of ours that takes any small message, and copied out once its length
 * is right. A large one is looked for with MPI_Iprobe, and its receive is posted when its length is right; a wrong one
 * stays where it is. Copying costs less than probing up to 2 KiB, probing less than 1 % from 4 KiB on. Where truncation
 * is returned as the standard says (Open MPI) all receives are posted at once, and there is one kind only: there probing
 * would cost up to a third.
 *
 * A sender that counts differently may send the other kind. So a receive that waits in vain looks for that too, every
 * now and then. MPI keeps the order of two messages between two ranks also where their tags differ (a receive may ask
 * for any tag), so what is found while the own message is missing was sent in its place, unless it belongs to a receive
 * posted earlier. A send that waits in vain looks for the empty message of a receiver that has failed.
 *
 * Pieces share the tag and keep their order, so both sides cut alike and need no header.
 *
 * Only pending requests are tested, which lie side by side. Few of them are tested one by one. Each such test looks at
 * the network, which is what it costs, so many are tested together, and a slot is answered from the latest look unless
 * it has been before: a pass over all slots looks once.
 */
#include "mpi/transport/channel.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/transport/error.h"
#include "mpi/transport/wait.h"

#ifdef OPEN_MPI
enum { RETURNS_TRUNCATION = 1 };
#else
enum { RETURNS_TRUNCATION = 0 };
#endif

enum {
    SMALL_BYTES = 2048,    /* the longest message of the small kind, where there are two */
    FEW = 4,               /* requests that are tested one by one */
    PATIENCE = 64,         /* polls of a slot in vain before it looks around */
    SEND_POLLS_MAX = 1000, /* of a send that is cancelled */
    NONE = -1
};

typedef struct slot {
    char *data;         /* where a small message is copied to, or the next piece of a large one goes */
    size_t rest;        /* bytes of a large message that were not found yet; else 0 */
    size_t due;         /* bytes of the pending request … */
    int at;             /* … which is this one; NONE: no request is pending */
    int pieces, piece;  /* of `more`, and the next of them */
    int capacity;       /* room in `more` */
    MPI_Request *more;  /* posted pieces behind the pending one, kept for the next run */
    size_t last;        /* bytes of the last of them */
    char *room;         /* of SMALL_BYTES, kept */
    int peer, tag;      /* in the communicator; without the kind */
    int lane;           /* the tag as the plan numbers it */
    int before, after;  /* slots in the list of the lane's large receives that are not found yet */
    unsigned answered;  /* from which look */
    unsigned vain;      /* polls */
    unsigned long order;
    bool sends, small;
    bool suspects;      /* has seen something else than it waits for */
} slot_t;

struct trv_mpi_channel {
    trv_transport_t transport;
    MPI_Comm comm;
    const int *member;
    size_t piece_bytes;
    int first_tag, slots;
    bool open;
    slot_t *slot;
    int first[TRV_MPI_LANE_TAGS], last[TRV_MPI_LANE_TAGS]; /* of every lane's list; NONE: empty */
    int active; /* pending requests, at most one of each slot */
    MPI_Request *request;
    int *owner; /* their slots */
    int *complete;
    MPI_Status *status;
    unsigned looks;
    unsigned long posted;
};

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void channel_close(void *context, int base)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    for (int i = 0; i < channel->slots; i++) {
        free(channel->slot[i].room);
        free(channel->slot[i].more);
    }
    free(channel->slot);
    free(channel->request);
    free(channel->owner);
    free(channel->complete);
    free(channel->status);
    channel->slot = NULL;
    channel->request = NULL;
    channel->owner = NULL;
    channel->complete = NULL;
    channel->status = NULL;
    channel->slots = channel->active = 0;
    channel->open = false;
}

static int channel_open(void *context, int requests, int tags, int *base)
{
    trv_mpi_channel_t *channel = context;
    if (channel->open)
        return trv_fail(TRV_ERR_STATE, "an MPI channel serves one plan at a time");
    if (tags > TRV_MPI_LANE_TAGS)
        return trv_fail(TRV_ERR_UNSUPPORTED, "the plan needs %d message tags; there are %d for it", tags,
                        TRV_MPI_LANE_TAGS);
    channel->open = true;
    size_t room = (size_t)requests + 1;
    channel->slot = calloc(room, sizeof *channel->slot);
    channel->request = malloc(room * sizeof(MPI_Request));
    channel->owner = malloc(room * sizeof *channel->owner);
    channel->complete = malloc(room * sizeof *channel->complete);
    channel->status = malloc(room * sizeof *channel->status);
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

/* ---- Lists of the large receives that are not found yet ---------------------------------------------------------- */

static void enlist(trv_mpi_channel_t *channel, int at)
{
    slot_t *slot = &channel->slot[at];
    slot->before = channel->last[slot->lane];
    slot->after = NONE;
    channel->last[slot->lane] = at;
    *(slot->before == NONE ? &channel->first[slot->lane] : &channel->slot[slot->before].after) = at;
}

static void unlist(trv_mpi_channel_t *channel, const slot_t *slot)
{
    *(slot->before == NONE ? &channel->first[slot->lane] : &channel->slot[slot->before].after) = slot->after;
    *(slot->after == NONE ? &channel->last[slot->lane] : &channel->slot[slot->after].before) = slot->before;
}

/* Whether an earlier one would take the message. */
static bool has_to_wait(const trv_mpi_channel_t *channel, const slot_t *slot)
{
    for (int i = slot->before; i != NONE; i = channel->slot[i].before)
        if (channel->slot[i].peer == slot->peer)
            return true;
    return false;
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

static int post_request(const trv_mpi_channel_t *channel, const slot_t *slot, int tag, void *data, size_t bytes,
                        MPI_Request *request)
{
    int code = slot->sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request)
                           : PMPI_Irecv(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(slot->sends ? "MPI_Isend" : "MPI_Irecv", code);
}

/* The slot's pending request, for `due` of the `bytes` that there is room for. */
static int post_pending(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t due)
{
    slot_t *slot = &channel->slot[at];
    int code = post_request(channel, slot, tag, data, bytes, &channel->request[channel->active]);
    if (code < 0)
        return code;
    slot->due = due;
    slot->at = channel->active++;
    channel->owner[slot->at] = at;
    return TRV_OK;
}

/* The pieces behind the first one. */
static int post_more(const trv_mpi_channel_t *channel, slot_t *slot, int tag, char *data, size_t bytes)
{
    size_t pieces = (bytes - 1) / channel->piece_bytes + 1;
    if (pieces > (size_t)slot->capacity) {
        MPI_Request *more = pieces < INT_MAX ? realloc(slot->more, pieces * sizeof *more) : NULL;
        if (!more)
            return trv_fail_memory();
        slot->more = more;
        slot->capacity = (int)pieces;
    }
    int code = TRV_OK;
    while (code == TRV_OK && bytes > 0) {
        slot->last = bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
        code = post_request(channel, slot, tag, data, slot->last, &slot->more[slot->pieces]);
        slot->pieces += code == TRV_OK;
        data += slot->last;
        bytes -= slot->last;
    }
    return code;
}

static int post_pieces(trv_mpi_channel_t *channel, int at, int tag, char *data, size_t bytes)
{
    size_t piece = bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
    int code = post_pending(channel, at, tag, data, piece, piece);
    return code < 0 || piece == bytes ? code
                                      : post_more(channel, &channel->slot[at], tag, data + piece, bytes - piece);
}

static int post_small_receive(trv_mpi_channel_t *channel, int at, char *data, size_t bytes)
{
    slot_t *slot = &channel->slot[at];
    if (!slot->room && !(slot->room = malloc(SMALL_BYTES)))
        return trv_fail_memory();
    slot->data = data;
    return post_pending(channel, at, slot->tag, slot->room, SMALL_BYTES, bytes);
}

static int channel_cancel(void *context, int base, int at);

static int post(trv_mpi_channel_t *channel, int at, bool sends, int peer, int lane, char *data, size_t bytes)
{
    slot_t *slot = &channel->slot[at];
    bool small = RETURNS_TRUNCATION || (bytes <= SMALL_BYTES && bytes <= channel->piece_bytes);
    slot->sends = sends;
    slot->small = small;
    slot->peer = channel->member ? channel->member[peer] : peer;
    slot->lane = lane;
    slot->tag = channel->first_tag + lane;
    slot->rest = 0;
    slot->pieces = slot->piece = 0;
    slot->answered = channel->looks - 1; /* the pass that posts it need not look for it */
    slot->vain = 0;
    slot->suspects = false;
    slot->order = channel->posted++;
    int code = TRV_OK;
    if (bytes == 0)
        return TRV_OK; /* empty messages are not sent: see `refuse` */
    if (sends || RETURNS_TRUNCATION) {
        code = post_pieces(channel, at, slot->tag + (small ? 0 : TRV_MPI_LANE_TAGS), data, bytes);
    } else if (small) {
        code = post_small_receive(channel, at, data, bytes);
    } else {
        slot->data = data;
        slot->rest = bytes;
        enlist(channel, at);
    }
    if (code < 0)
        channel_cancel(channel, 0, at);
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

/* ---- Arrivals ---------------------------------------------------------------------------------------------------- */

/* Of a message that is not the one that is due. */
static int wrong(const slot_t *slot, long long bytes, size_t due)
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
static int check(const slot_t *slot, int code, const MPI_Status *status)
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
        memcpy(slot->data, slot->room, slot->due);
    return TRV_OK;
}

/* Moves the last request to the place of one that is complete or given up. */
static void drop(trv_mpi_channel_t *channel, int at)
{
    channel->slot[channel->owner[at]].at = NONE;
    if (at == --channel->active)
        return;
    channel->request[at] = channel->request[channel->active];
    channel->owner[at] = channel->owner[channel->active];
    channel->slot[channel->owner[at]].at = at;
}

/* The slot's request is complete: the next piece takes its place, or the slot has none any more. */
static int step(trv_mpi_channel_t *channel, slot_t *slot, int code, const MPI_Status *status)
{
    code = check(slot, code, status);
    if (code < 0 || slot->piece == slot->pieces) {
        drop(channel, slot->at);
        return code;
    }
    channel->request[slot->at] = slot->more[slot->piece++];
    slot->due = slot->piece == slot->pieces ? slot->last : channel->piece_bytes;
    return TRV_OK;
}

/* As far as the slot gets. */
static int test_one(trv_mpi_channel_t *channel, slot_t *slot)
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
        slot_t *slot = &channel->slot[channel->complete[i]];
        int one = step(channel, slot, class == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR,
                       &channel->status[i]);
        if (one == TRV_OK && slot->at != NONE)
            one = test_one(channel, slot);
        result = one < 0 ? one : result;
    }
    return result;
}

/* Looks for a large message, or its next piece, where no request of the slot is pending. */
static int find(trv_mpi_channel_t *channel, int at)
{
    slot_t *slot = &channel->slot[at];
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
    if ((size_t)bytes != piece)
        return wrong(slot, bytes, piece);
    code = post_pending(channel, at, tag, slot->data, piece, piece);
    if (code < 0)
        return code;
    slot->data += piece;
    slot->rest -= piece;
    if (slot->rest == 0)
        unlist(channel, slot);
    return TRV_OK;
}

/* A large receive, as far as it gets. */
static int find_and_test(trv_mpi_channel_t *channel, int at)
{
    slot_t *slot = &channel->slot[at];
    int code = TRV_OK;
    do {
        if (slot->at == NONE)
            code = find(channel, at);
        if (code < 0 || slot->at == NONE)
            return code;
        code = test_one(channel, slot);
    } while (code == TRV_OK && slot->at == NONE && slot->rest > 0);
    return code;
}

/* ---- What comes instead ------------------------------------------------------------------------------------------ */

/* Whether an earlier receive of the lane waits for the same peer. */
static bool is_late(const trv_mpi_channel_t *channel, const slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const slot_t *other = &channel->slot[i];
        if (!other->sends && (other->at != NONE || other->rest > 0) && other->peer == slot->peer &&
            other->tag == slot->tag && other->order < slot->order)
            return true;
    }
    return false;
}

/* Whether the peer's first message of a kind that nobody has taken is there, and its length. */
static int look_for(const trv_mpi_channel_t *channel, const slot_t *slot, int kind, int *found, int *bytes)
{
    MPI_Status status;
    int code = PMPI_Iprobe(slot->peer, slot->tag + kind * TRV_MPI_LANE_TAGS, channel->comm, found, &status);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Iprobe", code);
    if (*found)
        PMPI_Get_count(&status, MPI_BYTE, bytes);
    return TRV_OK;
}

static int look_for_refusal(const trv_mpi_channel_t *channel, const slot_t *slot)
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
static int look_around(const trv_mpi_channel_t *channel, slot_t *slot)
{
    if (slot->sends)
        return look_for_refusal(channel, slot);
    bool found_already = !slot->small && slot->at != NONE;
    if (RETURNS_TRUNCATION || found_already || is_late(channel, slot))
        return TRV_OK;
    int found = 0, bytes = 0;
    int code = look_for(channel, slot, slot->small, &found, &bytes);
    if (code == TRV_OK && found && slot->suspects)
        return wrong(slot, bytes, slot->small ? slot->due
                                  : slot->rest < channel->piece_bytes ? slot->rest : channel->piece_bytes);
    slot->suspects = found;
    return code;
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

static int channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    slot_t *slot = &channel->slot[at];
    int code = TRV_OK;
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
        return 1;
    if (++slot->vain % PATIENCE != 0)
        return 0;
    code = RETURNS_TRUNCATION ? TRV_OK : find_all(channel);
    return code < 0 ? code : look_around(channel, slot);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

/* See the header. */
static void give_up(MPI_Request *request, bool sends)
{
    MPI_Status status;
    int done = 0, code = PMPI_Test(request, &done, &status);
    for (unsigned polls = 1; sends && code == MPI_SUCCESS && !done && polls < SEND_POLLS_MAX; polls++) {
        trv_mpi_pause(polls);
        code = PMPI_Test(request, &done, &status);
    }
    if (code != MPI_SUCCESS || done)
        return;
    if (sends) {
        PMPI_Request_free(request);
        return;
    }
    PMPI_Cancel(request);
    PMPI_Wait(request, &status);
}

static int channel_cancel(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    slot_t *slot = &channel->slot[at];
    if (slot->rest > 0)
        unlist(channel, slot);
    slot->rest = 0;
    if (slot->at != NONE) {
        give_up(&channel->request[slot->at], slot->sends);
        drop(channel, slot->at);
    }
    while (slot->piece < slot->pieces)
        give_up(&slot->more[slot->piece++], slot->sends);
    return TRV_OK;
}

/* Once of each kind, for whatever the peer waits for. */
static int channel_refuse(void *context, int base, int peer, int tag)
{
    (void)base;
    const trv_mpi_channel_t *channel = context;
    peer = channel->member ? channel->member[peer] : peer;
    for (int kind = 0; kind < 2; kind++) {
        MPI_Request request;
        int code = PMPI_Isend(NULL, 0, MPI_BYTE, peer, channel->first_tag + tag + kind * TRV_MPI_LANE_TAGS,
                              channel->comm, &request);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Isend", code);
        PMPI_Request_free(&request);
    }
    return TRV_OK;
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

int trv_mpi_channel_create(trv_mpi_channel_t **created, MPI_Comm comm, size_t piece_bytes)
{
    trv_mpi_channel_t *channel = calloc(1, sizeof *channel);
    if (!channel)
        return trv_fail_memory();
    channel->comm = comm;
    channel->piece_bytes = piece_bytes > 0 && piece_bytes < INT_MAX ? piece_bytes : INT_MAX;
    channel->transport = (trv_transport_t){.context = channel, .open = channel_open, .close = channel_close,
                                           .send = channel_send, .receive = channel_receive, .test = channel_test,
                                           .cancel = channel_cancel, .refuse = channel_refuse};
    *created = channel;
    return TRV_OK;
}

void trv_mpi_channel_place(trv_mpi_channel_t *channel, int first_tag)
{
    channel->first_tag = first_tag;
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
