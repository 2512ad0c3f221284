/*
 * Direct exchanges: one message for each pair of ranks that have data for each other, without a schedule.
 *
 * In step k a rank sends to the rank at displacement k and receives from the rank at displacement -k; on a ring these
 * are k positions after and before it. Sends and receives have a window each, and proceed independently. There is no
 * deadlock: of all messages that are not complete, consider one with the smallest k. Its sender and its receiver have
 * completed all of their messages before it, so both have posted it.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/error.h"
#include "execute/run/arguments.h"
#include "execute/run/block_sizes.h"
#include "execute/run/ranges.h"
#include "execute/run/run_scratch.h"
#include "torus/torus.h"

enum { EMPTY_POLLS_MAX = 16, SEND = 0, RECEIVE = 1, SIDES = 2 };

/* Data to send to a rank or to receive from it, in bytes. */
typedef struct extent {
    size_t offset, bytes;
} extent_t;

/* The sends or the receives of a rank. */
typedef struct side {
    char *data;
    extent_t *extent; /* per rank */
    int next;         /* the next step whose message is not posted */
    int pending;      /* number of messages in flight; per slot, their peers or -1: */
    int peer[TRV_DIRECT_WINDOW];
    trv_range_t *range; /* scratch buffer */
    size_t ranges;
} side_t;

typedef enum direct_state { DIRECT_NEW, DIRECT_RUNNING, DIRECT_IDLE, DIRECT_FAILED } direct_state_t;

struct trv_direct {
    trv_torus_t torus;
    int rank;
    trv_transport_t transport;
    bool opened;
    int handle;
    direct_state_t state;
    side_t side[SIDES];
    trv_plan_options_t options;
    trv_run_scratch_t scratch;
};

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int direct_allocate(trv_direct_t *direct)
{
    const size_t n = (size_t)direct->torus.ranks;
    for (int s = 0; s < SIDES; s++) {
        side_t *side = &direct->side[s];
        side->extent = calloc(n, sizeof *side->extent);
        side->range = malloc(n * sizeof *side->range);
        if (!side->extent || !side->range)
            return trv_fail_memory();
        for (int slot = 0; slot < TRV_DIRECT_WINDOW; slot++)
            side->peer[slot] = -1;
    }
    return 0;
}

int trv_direct_create(trv_direct_t **created, const trv_torus_t *torus, int rank, const trv_transport_t *transport,
                      const trv_plan_options_t *options)
{
    *created = NULL;
    if (!torus || !transport)
        return trv_fail(TRV_ERR_ARGUMENT, "an exchange needs a torus and a transport; one of them is NULL");
    if (rank < 0 || rank >= torus->ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "rank %d is not on the torus; its ranks are 0 … %d", rank, torus->ranks - 1);
    int rc = trv_check_size(transport->size, sizeof *transport, "TRV_TRANSPORT");
    if (!rc && options)
        rc = trv_check_size(options->size, sizeof *options, "TRV_PLAN_OPTIONS");
    if (rc)
        return rc;
    trv_direct_t *direct = calloc(1, sizeof *direct);
    if (!direct)
        return trv_fail_memory();
    direct->torus = *torus;
    direct->rank = rank;
    direct->transport = *transport;
    if (options)
        direct->options = *options;
    rc = direct_allocate(direct);
    if (!rc) {
        rc = transport->open(transport->context, SIDES * TRV_DIRECT_WINDOW, 1, &direct->handle);
        direct->opened = !rc;
    }
    if (rc)
        trv_direct_destroy(direct);
    else
        *created = direct;
    return rc;
}

/* ---- Destruction ------------------------------------------------------------------------------------------------- */

/* Cancels all messages. If a send may still read the scratch, that is never freed. */
static void direct_end(trv_direct_t *direct)
{
    const trv_transport_t *t = &direct->transport;
    bool lost = false;
    for (int s = 0; s < SIDES; s++)
        for (int slot = 0; slot < TRV_DIRECT_WINDOW; slot++) {
            if (direct->side[s].peer[slot] < 0)
                continue;
            lost = t->cancel(t->context, direct->handle, s * TRV_DIRECT_WINDOW + slot) > 0 || lost;
            direct->side[s].peer[slot] = -1;
        }
    direct->side[SEND].pending = direct->side[RECEIVE].pending = 0;
    if (lost)
        trv_run_scratch_abandon(&direct->scratch);
    trv_run_scratch_release(&direct->scratch, &direct->options);
}

void trv_direct_destroy(trv_direct_t *direct)
{
    if (!direct)
        return;
    direct_end(direct);
    if (direct->opened)
        direct->transport.close(direct->transport.context, direct->handle);
    for (int s = 0; s < SIDES; s++) {
        free(direct->side[s].extent);
        free(direct->side[s].range);
    }
    trv_run_scratch_clear(&direct->scratch);
    free(direct);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static int check_startable(const trv_direct_t *direct, int root, size_t element_size)
{
    if (!direct)
        return trv_fail(TRV_ERR_ARGUMENT, "the exchange is NULL; create one with trv_direct_create");
    if (direct->state == DIRECT_RUNNING)
        return trv_fail(TRV_ERR_STATE, "the exchange is running; wait for it before starting it again");
    if (direct->state == DIRECT_FAILED)
        return trv_fail(TRV_ERR_STATE, "the exchange failed earlier; destroy it and create a new one");
    const int rc = trv_collective_check(TRV_GATHER, root, direct->torus.ranks);
    return rc || element_size > 0 ? rc : trv_fail(TRV_ERR_ARGUMENT, "elements of 0 bytes cannot be sent");
}

/* An error if a side has data without a buffer. */
static int check_null(const trv_direct_t *direct, int which)
{
    const side_t *side = &direct->side[which];
    return which == SEND ? trv_buffers_check_null(side->data, side->ranges, NULL, 0)
                         : trv_buffers_check_null(NULL, 0, side->data, side->ranges);
}

/* Sets the extents of a side to the blocks. */
static int set_blocks(trv_direct_t *direct, int which, const void *data, size_t size, const trv_direct_blocks_t *blocks)
{
    side_t *side = &direct->side[which];
    trv_range_t place = {0, 0};
    side->ranges = 0;
    side->data = (char *)data;
    if (!blocks || !blocks->count)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the counts of the blocks to %s are NULL; there must be one for each of %d ranks",
                        which == SEND ? "send" : "receive", direct->torus.ranks);
    for (int r = 0; r < direct->torus.ranks; r++) {
        const size_t count = blocks->count[r];
        const int rc = trv_block_place(blocks->count, blocks->displacement, r, size, &place);
        if (rc)
            return rc;
        side->extent[r] = count > 0 ? (extent_t){place.begin * size, count * size} : (extent_t){0, 0};
        if (count > 0)
            side->range[side->ranges++] = (trv_range_t){place.begin * size, place.end * size};
    }
    return check_null(direct, which);
}

/* Sets the extents of a side to `count` elements for one rank. */
static int set_single(trv_direct_t *direct, int which, const void *data, size_t size, int peer, size_t count)
{
    side_t *side = &direct->side[which];
    memset(side->extent, 0, (size_t)direct->torus.ranks * sizeof *side->extent);
    side->ranges = count > 0;
    side->data = (char *)data;
    if (count > SIZE_MAX / 4 / size)
        return trv_fail_extent(direct->rank, count, size, 0);
    side->extent[peer].bytes = count * size;
    side->range[0] = (trv_range_t){0, count * size};
    return check_null(direct, which);
}

/* Empties a side on which this rank sends or receives nothing. */
static void set_nothing(trv_direct_t *direct, int which)
{
    side_t *side = &direct->side[which];
    memset(side->extent, 0, (size_t)direct->torus.ranks * sizeof *side->extent);
    side->data = NULL;
    side->ranges = 0;
}

/* An error if blocks of the output overlap each other or the input. */
static int check_disjoint(trv_direct_t *direct, size_t size)
{
    side_t *in = &direct->side[SEND], *out = &direct->side[RECEIVE];
    const size_t overlap = trv_ranges_overlap(out->range, out->ranges);
    if (overlap)
        return trv_fail_blocks(out->range[overlap].begin / size, out->range[overlap - 1].end / size);
    if (!in->ranges || !out->ranges)
        return 0;
    trv_ranges_overlap(in->range, in->ranges);              /* only sorts: blocks of an input may overlap */
    for (size_t i = 0; i < in->ranges + out->ranges; i++) { /* as addresses */
        trv_range_t *range = i < in->ranges ? &in->range[i] : &out->range[i - in->ranges];
        const uintptr_t base = (uintptr_t)(i < in->ranges ? in->data : out->data);
        *range = (trv_range_t){base + range->begin, base + range->end};
    }
    return trv_ranges_meet(in->range, in->ranges, out->range, out->ranges) ? trv_fail_overlap() : 0;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* The port of a message at a displacement: the first dimension in which it differs, the shorter way around. */
static int port_of(const trv_torus_t *torus, int displacement)
{
    int d = 0;
    while (trv_torus_coordinate(torus, displacement, d) == 0)
        d++;
    return trv_port(d, 2 * trv_torus_coordinate(torus, displacement, d) <= torus->size[d] ? 1 : -1);
}

/* Posts messages until the window is full. */
static int side_post(trv_direct_t *direct, int which)
{
    const trv_transport_t *t = &direct->transport;
    side_t *side = &direct->side[which];
    int rc = 0;
    for (int slot = 0; !rc && side->pending < TRV_DIRECT_WINDOW && side->next < direct->torus.ranks; side->next++) {
        const int peer = trv_torus_displace(&direct->torus, direct->rank, side->next, which == SEND ? 1 : -1);
        const extent_t extent = side->extent[peer];
        if (extent.bytes == 0)
            continue;
        while (side->peer[slot] >= 0)
            slot++;
        if (t->port)
            t->port(t->context, direct->handle, port_of(&direct->torus, side->next));
        if (which == SEND)
            rc = t->send(t->context, direct->handle, slot, peer, 0, side->data + extent.offset, extent.bytes);
        else
            rc = t->receive(t->context, direct->handle, TRV_DIRECT_WINDOW + slot, peer, 0, side->data + extent.offset,
                            extent.bytes);
        if (rc && which == RECEIVE)
            return rc;
        side->peer[slot] = peer; /* also after a failed send: a part may have been sent */
        side->pending++;
    }
    return rc;
}

/* Tests the messages in flight and posts further ones. */
static int side_progress(trv_direct_t *direct, int which, bool *progressed)
{
    const trv_transport_t *t = &direct->transport;
    side_t *side = &direct->side[which];
    bool posts = false;
    for (int slot = 0, left = side->pending; left > 0; slot++) {
        if (side->peer[slot] < 0)
            continue;
        left--;
        const int rc = t->test(t->context, direct->handle, which * TRV_DIRECT_WINDOW + slot);
        if (rc == 0)
            continue;
        side->peer[slot] = -1;
        side->pending--;
        posts = *progressed = true;
        if (rc < 0)
            return rc;
    }
    return posts ? side_post(direct, which) : 0;
}

static int direct_fail(trv_direct_t *direct, int code)
{
    char reason[512];
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    direct_end(direct);
    direct->state = DIRECT_FAILED;
    return trv_fail(code, "%s", reason);
}

/* Copies the rank's own data and posts the first messages. */
static int direct_begin(trv_direct_t *direct)
{
    const extent_t from = direct->side[SEND].extent[direct->rank], to = direct->side[RECEIVE].extent[direct->rank];
    if (from.bytes != to.bytes)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "rank %d sends %zu bytes to itself, but receives %zu bytes from itself; both must be equal",
                        direct->rank, from.bytes, to.bytes);
    if (from.bytes > 0 && direct->side[SEND].data + from.offset != direct->side[RECEIVE].data + to.offset)
        memcpy(direct->side[RECEIVE].data + to.offset, direct->side[SEND].data + from.offset, from.bytes);
    direct->side[SEND].next = direct->side[RECEIVE].next = 1;
    direct->state = DIRECT_RUNNING;
    int rc = side_post(direct, RECEIVE);
    if (!rc)
        rc = side_post(direct, SEND);
    return rc ? direct_fail(direct, rc) : 0;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

/* Makes the input of an all-to-all in place a copy of the blocks for other ranks, one after the other in scratch. */
static int copy_input(trv_direct_t *direct)
{
    side_t *in = &direct->side[SEND], *out = &direct->side[RECEIVE];
    size_t bytes = 0;
    for (int r = 0; r < direct->torus.ranks; r++) {
        in->extent[r] = (extent_t){bytes, out->extent[r].bytes};
        bytes += r == direct->rank ? 0 : out->extent[r].bytes;
    }
    const int rc = trv_run_scratch_acquire(&direct->scratch, &direct->options, bytes);
    if (rc)
        return rc;
    in->data = direct->scratch.data;
    for (int r = 0; r < direct->torus.ranks; r++)
        if (r != direct->rank && in->extent[r].bytes > 0)
            memcpy(in->data + in->extent[r].offset, out->data + out->extent[r].offset, in->extent[r].bytes);
    return 0;
}

/* Excludes the rank's own block, which in place is at its destination already. */
static void keep_own(trv_direct_t *direct)
{
    direct->side[SEND].extent[direct->rank].bytes = direct->side[RECEIVE].extent[direct->rank].bytes = 0;
}

int trv_direct_start_alltoall(trv_direct_t *direct, size_t element_size, const void *input,
                              const trv_direct_blocks_t *send, void *output, const trv_direct_blocks_t *receive)
{
    /* A rank without data has neither buffers nor counts. */
    const bool in_place = input == output && (input || !send || !send->count);
    int rc = check_startable(direct, 0, element_size);
    if (!rc)
        rc = set_blocks(direct, RECEIVE, output, element_size, receive);
    if (!rc && in_place)
        set_nothing(direct, SEND);
    else if (!rc)
        rc = set_blocks(direct, SEND, input, element_size, send);
    if (!rc)
        rc = check_disjoint(direct, element_size);
    if (!rc && in_place)
        rc = copy_input(direct);
    if (!rc && in_place)
        keep_own(direct);
    return rc ? rc : direct_begin(direct);
}

/* Starts a gather or scatter. `whole`: the side on which the root has all blocks; every rank has one on the other. */
static int start_rooted(trv_direct_t *direct, int whole, int root, size_t element_size, const void *all,
                        const trv_direct_blocks_t *blocks, const void *own, size_t count)
{
    const int single = whole == SEND ? RECEIVE : SEND;
    int rc = check_startable(direct, root, element_size);
    const bool is_root = !rc && direct->rank == root, in_place = is_root && all == own;
    if (!rc && is_root)
        rc = set_blocks(direct, whole, all, element_size, blocks);
    else if (!rc)
        set_nothing(direct, whole);
    if (!rc && in_place)
        set_nothing(direct, single);
    else if (!rc)
        rc = set_single(direct, single, own, element_size, root, count);
    if (!rc)
        rc = check_disjoint(direct, element_size);
    if (!rc && in_place)
        keep_own(direct);
    return rc ? rc : direct_begin(direct);
}

int trv_direct_start_gather(trv_direct_t *direct, int root, size_t element_size, const void *input, size_t count,
                            void *output, const trv_direct_blocks_t *blocks)
{
    return start_rooted(direct, RECEIVE, root, element_size, output, blocks, input, count);
}

int trv_direct_start_scatter(trv_direct_t *direct, int root, size_t element_size, const void *input,
                             const trv_direct_blocks_t *blocks, void *output, size_t count)
{
    return start_rooted(direct, SEND, root, element_size, input, blocks, output, count);
}

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

static int direct_progress(trv_direct_t *direct, bool *progressed)
{
    if (!direct)
        return trv_fail(TRV_ERR_ARGUMENT, "the exchange is NULL; create one with trv_direct_create");
    if (direct->state == DIRECT_NEW)
        return trv_fail(TRV_ERR_STATE, "the exchange was not started; call one of trv_direct_start_… first");
    if (direct->state == DIRECT_FAILED)
        return trv_fail(TRV_ERR_STATE, "the exchange failed earlier; destroy it and create a new one");
    if (direct->state == DIRECT_IDLE)
        return 1;
    int rc = side_progress(direct, RECEIVE, progressed);
    if (!rc)
        rc = side_progress(direct, SEND, progressed);
    if (rc)
        return direct_fail(direct, rc);
    if (direct->side[SEND].pending + direct->side[RECEIVE].pending > 0)
        return 0;
    trv_run_scratch_release(&direct->scratch, &direct->options);
    direct->state = DIRECT_IDLE;
    return 1;
}

int trv_direct_test(trv_direct_t *direct)
{
    bool progressed = false;
    return direct_progress(direct, &progressed);
}

int trv_direct_wait(trv_direct_t *direct)
{
    int rc, empty = 0;
    do {
        bool progressed = false;
        rc = direct_progress(direct, &progressed);
        empty = progressed ? 0 : empty + 1;
        if (rc == 0 && empty > EMPTY_POLLS_MAX)
            sched_yield();
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

void trv_direct_cancel(trv_direct_t *direct)
{
    if (direct && direct->state == DIRECT_RUNNING)
        direct_fail(direct, trv_fail(TRV_ERR_STATE, "the exchange was cancelled"));
}

/* ---- Description ------------------------------------------------------------------------------------------------- */

void trv_direct_describe_as(const trv_direct_t *direct, const int *name, char *text, size_t size)
{
    static const char *const states[] = {"never started", "running", "complete", "failed"};
    const bool runs = direct->state == DIRECT_RUNNING;
    if (size > 0)
        snprintf(text, size, "rank %d: %s", name ? name[direct->rank] : direct->rank,
                 runs ? "waits for " : states[direct->state]);
    for (int s = RECEIVE; size > 0 && runs && s >= SEND; s--) {
        const side_t *side = &direct->side[s];
        const char *before = s == RECEIVE ? "ranks " : direct->side[RECEIVE].pending ? " and for " : "";
        for (int slot = 0; slot < TRV_DIRECT_WINDOW; slot++) {
            if (side->peer[slot] < 0)
                continue;
            trv_append(text, size, "%s%d", before, name ? name[side->peer[slot]] : side->peer[slot]);
            before = ", ";
        }
        if (s == SEND && side->pending)
            trv_append(text, size, " to receive its data");
    }
}
