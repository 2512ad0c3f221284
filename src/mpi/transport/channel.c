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
    char *data;        /* where the rest of a large message goes … */
    size_t rest;       /* … and how much has not been found yet; else 0 */
    char *room;        /* of SMALL_BYTES, kept */
    int peer, tag;     /* in the communicator; without the kind */
    int lane;          /* the tag as the plan numbers it */
    int requests;      /* pending */
    int at;            /* one of them */
    int before, after; /* slots in the list of the lane's large receives that are not found yet */
    unsigned answered; /* from which look */
    unsigned vain;     /* polls */
    unsigned long order;
    bool sends, small;
    bool suspects;     /* has seen something else than it waits for */
} slot_t;

/* Of a pending request. */
typedef struct duty {
    int slot, bytes;
    char *data; /* of a small receive: where its room is copied to */
} duty_t;

struct trv_mpi_channel {
    trv_transport_t transport;
    MPI_Comm comm;
    const int *member;
    size_t piece_bytes;
    int first_tag, slots;
    bool open;
    slot_t *slot;
    int first[TRV_MPI_LANE_TAGS], last[TRV_MPI_LANE_TAGS]; /* of every lane's list; NONE: empty */
    int active, capacity;                                  /* pending requests, and room for them: */
    MPI_Request *request;
    duty_t *duty;
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
    for (int i = 0; i < channel->slots; i++)
        free(channel->slot[i].room);
    free(channel->slot);
    free(channel->request);
    free(channel->duty);
    free(channel->complete);
    free(channel->status);
    channel->slot = NULL;
    channel->request = NULL;
    channel->duty = NULL;
    channel->complete = NULL;
    channel->status = NULL;
    channel->slots = channel->active = channel->capacity = 0;
    channel->open = false;
}

/* Room for so many pending requests. */
static int make_room(trv_mpi_channel_t *channel, size_t capacity)
{
    if (capacity > INT_MAX)
        return trv_fail_memory();
    MPI_Request *request = realloc(channel->request, capacity * sizeof *request);
    channel->request = request ? request : channel->request;
    duty_t *duty = realloc(channel->duty, capacity * sizeof *duty);
    channel->duty = duty ? duty : channel->duty;
    int *complete = realloc(channel->complete, capacity * sizeof *complete);
    channel->complete = complete ? complete : channel->complete;
    MPI_Status *status = realloc(channel->status, capacity * sizeof *status);
    channel->status = status ? status : channel->status;
    if (!request || !duty || !complete || !status)
        return trv_fail_memory();
    channel->capacity = (int)capacity;
    return TRV_OK;
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
    channel->slot = calloc((size_t)requests + 1, sizeof *channel->slot);
    if (!channel->slot || make_room(channel, (size_t)requests + 1) < 0) {
        channel_close(channel, 0);
        return trv_fail_memory();
    }
    channel->slots = requests;
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

static int post_piece(trv_mpi_channel_t *channel, int at, int tag, void *data, size_t bytes, size_t room)
{
    slot_t *slot = &channel->slot[at];
    if (channel->active == channel->capacity && make_room(channel, 2 * (size_t)channel->capacity) < 0)
        return TRV_ERR_MEMORY;
    MPI_Request *request = &channel->request[channel->active];
    int code = slot->sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, slot->peer, tag, channel->comm, request)
                           : PMPI_Irecv(data, (int)room, MPI_BYTE, slot->peer, tag, channel->comm, request);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error(slot->sends ? "MPI_Isend" : "MPI_Irecv", code);
    channel->duty[channel->active] = (duty_t){.slot = at, .bytes = (int)bytes};
    slot->at = channel->active++;
    slot->requests++;
    return TRV_OK;
}

static size_t piece_of(const trv_mpi_channel_t *channel, size_t bytes)
{
    return bytes < channel->piece_bytes ? bytes : channel->piece_bytes;
}

static int post_pieces(trv_mpi_channel_t *channel, int at, int tag, char *data, size_t bytes)
{
    int code = TRV_OK;
    while (code == TRV_OK && bytes > 0) {
        size_t piece = piece_of(channel, bytes);
        code = post_piece(channel, at, tag, data, piece, piece);
        data += piece;
        bytes -= piece;
    }
    return code;
}

static int post_small_receive(trv_mpi_channel_t *channel, int at, char *data, size_t bytes)
{
    slot_t *slot = &channel->slot[at];
    if (!slot->room && !(slot->room = malloc(SMALL_BYTES)))
        return trv_fail_memory();
    int code = post_piece(channel, at, slot->tag, slot->room, bytes, SMALL_BYTES);
    if (code == TRV_OK)
        channel->duty[slot->at].data = data;
    return code;
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
    slot->requests = 0;
    slot->answered = channel->looks - 1; /* the pass that posts it need not look for it */
    slot->vain = 0;
    slot->suspects = false;
    slot->order = channel->posted++;
    int code = TRV_OK;
    if (sends || RETURNS_TRUNCATION) {
        code = post_pieces(channel, at, slot->tag + (small ? 0 : TRV_MPI_LANE_TAGS), data, bytes);
    } else if (small && bytes > 0) {
        code = post_small_receive(channel, at, data, bytes);
    } else if (bytes > 0) {
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

static int failed(const slot_t *slot, int code)
{
    return trv_mpi_transport_error(slot->sends ? "sending to another rank" : "receiving from another rank", code);
}

/* A request that is complete. */
static int complete(trv_mpi_channel_t *channel, const duty_t *duty, int code, const MPI_Status *status)
{
    slot_t *slot = &channel->slot[duty->slot];
    int class = MPI_SUCCESS, bytes = duty->bytes;
    slot->requests--;
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (code != MPI_SUCCESS && (slot->sends || class != MPI_ERR_TRUNCATE))
        return failed(slot, code);
    if (slot->sends)
        return TRV_OK;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes != duty->bytes)
        return wrong(slot, bytes, (size_t)duty->bytes);
    if (code != MPI_SUCCESS) /* an MPI that tells only what it has kept */
        return trv_fail(TRV_ERR_TRANSPORT,
                        "rank %d sent more than the %d bytes that are due: the ranks' counts or settings differ",
                        slot->peer, duty->bytes);
    if (duty->data)
        memcpy(duty->data, slot->room, (size_t)bytes);
    return TRV_OK;
}

/* Moves the last request to a place that has become free. */
static void drop(trv_mpi_channel_t *channel, int at)
{
    if (at == --channel->active)
        return;
    channel->request[at] = channel->request[channel->active];
    channel->duty[at] = channel->duty[channel->active];
    channel->slot[channel->duty[at].slot].at = at;
}

static int test_one(trv_mpi_channel_t *channel, int at)
{
    MPI_Status status;
    int done = 0, code = PMPI_Test(&channel->request[at], &done, &status);
    if (code == MPI_SUCCESS && !done)
        return TRV_OK;
    duty_t duty = channel->duty[at];
    drop(channel, at);
    return complete(channel, &duty, code, &status);
}

/* Tests all requests. Where several end badly the last one's sentence stays. */
static int look(trv_mpi_channel_t *channel)
{
    int done = 0, result = TRV_OK;
    channel->looks++;
    int class = MPI_SUCCESS;
    int code = PMPI_Testsome(channel->active, channel->request, &done, channel->complete, channel->status);
    if (code != MPI_SUCCESS)
        PMPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS)
        return trv_mpi_transport_error("MPI_Testsome", code);
    for (int i = 0; i < done; i++) {
        int one = complete(channel, &channel->duty[channel->complete[i]],
                           code == MPI_SUCCESS ? MPI_SUCCESS : channel->status[i].MPI_ERROR, &channel->status[i]);
        result = one < 0 ? one : result;
        channel->duty[channel->complete[i]].slot = NONE;
    }
    for (int at = channel->active - 1; done > 0 && at >= 0; at--)
        if (channel->duty[at].slot == NONE) {
            drop(channel, at);
            done--;
        }
    return result;
}

/* Looks for a large message. 1: all of it is found. */
static int find(trv_mpi_channel_t *channel, int at)
{
    slot_t *slot = &channel->slot[at];
    int found = !has_to_wait(channel, slot), bytes = 0;
    while (found && slot->rest > 0) {
        MPI_Status status;
        int tag = slot->tag + TRV_MPI_LANE_TAGS;
        int code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
        if (code != MPI_SUCCESS)
            return trv_mpi_transport_error("MPI_Iprobe", code);
        if (!found)
            break;
        size_t piece = piece_of(channel, slot->rest);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        if ((size_t)bytes != piece)
            return wrong(slot, bytes, piece);
        code = post_piece(channel, at, tag, slot->data, piece, piece);
        if (code < 0)
            return code;
        slot->data += piece;
        slot->rest -= piece;
    }
    if (slot->rest == 0)
        unlist(channel, slot);
    return slot->rest == 0;
}

/* ---- What comes instead ------------------------------------------------------------------------------------------ */

/* Whether an earlier receive of the lane waits for the same peer. */
static bool is_late(const trv_mpi_channel_t *channel, const slot_t *slot)
{
    for (int i = 0; i < channel->slots; i++) {
        const slot_t *other = &channel->slot[i];
        if (!other->sends && (other->requests > 0 || other->rest > 0) && other->peer == slot->peer &&
            other->tag == slot->tag && other->order < slot->order)
            return true;
    }
    return false;
}

/* For a slot that waits in vain. What a receive finds is believed when it is still there, and the own message still
 * missing, at the next such time: the own one may have arrived between the two looks. */
static int look_around(const trv_mpi_channel_t *channel, slot_t *slot)
{
    if (!slot->sends && (RETURNS_TRUNCATION || (slot->requests > 0 && slot->rest == 0 && !slot->small) ||
                         is_late(channel, slot)))
        return TRV_OK;
    int found = 0, bytes = 0, tag = slot->sends || !slot->small ? slot->tag : slot->tag + TRV_MPI_LANE_TAGS;
    MPI_Status status;
    int code = PMPI_Iprobe(slot->peer, tag, channel->comm, &found, &status);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Iprobe", code);
    if (found)
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (slot->sends)
        return found && bytes == 0 ? wrong(slot, 0, 0) : TRV_OK;
    if (found && slot->suspects)
        return wrong(slot, bytes, slot->small ? (size_t)channel->duty[slot->at].bytes
                                              : piece_of(channel, slot->rest));
    slot->suspects = found;
    return TRV_OK;
}

static int channel_test(void *context, int base, int at)
{
    (void)base;
    trv_mpi_channel_t *channel = context;
    slot_t *slot = &channel->slot[at];
    int code = slot->rest > 0 ? find(channel, at) : TRV_OK;
    if (code >= 0 && slot->requests > 0) {
        if (slot->requests == 1 && channel->active <= FEW && channel->duty[slot->at].slot == at)
            code = test_one(channel, slot->at);
        else if (slot->answered == channel->looks)
            code = look(channel);
        slot->answered = channel->looks;
    }
    if (code < 0)
        return code;
    if (slot->requests == 0 && slot->rest == 0)
        return 1;
    return ++slot->vain % PATIENCE == 0 ? look_around(channel, slot) : 0;
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
    for (int i = channel->active - 1; i >= 0; i--)
        if (channel->duty[i].slot == at) {
            give_up(&channel->request[i], slot->sends);
            drop(channel, i);
        }
    slot->requests = 0;
    return TRV_OK;
}

static int channel_refuse(void *context, int base, int peer, int tag)
{
    (void)base;
    const trv_mpi_channel_t *channel = context;
    MPI_Request request;
    int code = PMPI_Isend(NULL, 0, MPI_BYTE, channel->member ? channel->member[peer] : peer, channel->first_tag + tag,
                          channel->comm, &request);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Isend", code);
    PMPI_Request_free(&request);
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
