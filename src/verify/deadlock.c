/*
 * Explains a message whose other side is not in its step: the other side does not exist, or it is in another step and
 * the ranks may then wait for each other in a cycle.
 *
 * The ranks are run at their own pace: a rank enters a step when its sends and receives of the previous step are
 * complete; a send completes when the receiver is in the step that receives it. A rank that waits at the end waits
 * forever.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "verify/verifier.h"

typedef struct progress {
    trv_verifier_t *v;
    int stream;
    int *at;        /* the present step of each rank; v->steps when it has completed all */
    uint64_t *done; /* per rank: bit i for send i, bit sends + i for receive i */
} progress_t;

static int sides_between(const trv_step_t *step, int peer, bool send)
{
    const trv_message_t *message = send ? step->send : step->receive;
    int count = 0, all = send ? step->sends : step->receives;
    for (int i = 0; i < all; i++)
        count += message[i].peer == peer;
    return count;
}

/* The first other step in which `peer` has more messages with `rank` than `rank` has with it; -1 if there is none, -2
 * on failure. */
static int other_step(trv_verifier_t *v, int stream, int step, int rank, int peer, bool send)
{
    trv_step_t mine = TRV_STEP_INIT, other = TRV_STEP_INIT;
    int found = -1;
    for (int t = 0; t < v->steps && found == -1; t++) {
        if (t == step)
            continue;
        if (trv_schedule_step(v->schedule, rank, stream, t, &mine) ||
            trv_schedule_step(v->schedule, peer, stream, t, &other))
            found = -2;
        else if (sides_between(&other, rank, !send) > sides_between(&mine, peer, send))
            found = t;
    }
    trv_step_clear(&mine);
    trv_step_clear(&other);
    return found;
}

/* ---- Progress at every rank's own pace ------------------------------------------------------------------------- */

static int sides(const progress_t *p, int rank)
{
    return p->at[rank] < p->v->steps ? p->v->step[rank].sends + p->v->step[rank].receives : 0;
}

static const trv_message_t *side_at(const progress_t *p, int rank, int index)
{
    const trv_step_t *step = &p->v->step[rank];
    return index < step->sends ? &step->send[index] : &step->receive[index - step->sends];
}

/* The first incomplete side of `rank` with the given peer (or -1 for any) and direction; -1 if there is none. */
static int side_pending(const progress_t *p, int rank, int peer, bool sends, bool receives)
{
    for (int i = 0; i < sides(p, rank); i++) {
        bool is_send = i < p->v->step[rank].sends;
        if (!(p->done[rank] >> i & 1) && (is_send ? sends : receives) &&
            (peer < 0 || side_at(p, rank, i)->peer == peer))
            return i;
    }
    return -1;
}

static bool is_analysable(const progress_t *p, int rank)
{
    if (sides(p, rank) > 64) /* more sides than `done` has bits */
        return false;
    for (int i = 0; i < sides(p, rank); i++)
        if (side_at(p, rank, i)->peer < 0 || side_at(p, rank, i)->peer >= p->v->ranks)
            return false;
    return true;
}

/* Enters steps until one has messages to wait for. Returns false on failure. */
static bool progress_enter(progress_t *p, int rank, int step)
{
    p->at[rank] = step;
    p->done[rank] = 0;
    while (p->at[rank] < p->v->steps) {
        if (trv_schedule_step(p->v->schedule, rank, p->stream, p->at[rank], &p->v->step[rank]))
            return false;
        if (sides(p, rank) > 0)
            return is_analysable(p, rank);
        p->at[rank]++;
    }
    return true;
}

/* Completes the messages of `rank` whose other side is ready, both sides together, and enters the next step when all
 * messages of a step are complete. *moved is set when a message was completed. Returns false on failure. */
static bool progress_advance(progress_t *p, int rank, bool *advanced)
{
    for (int i = 0; i < sides(p, rank); i++) {
        bool send = i < p->v->step[rank].sends;
        int peer = side_at(p, rank, i)->peer;
        if (p->done[rank] >> i & 1 || side_pending(p, rank, peer, send, !send) != i)
            continue;
        /* NOLINTNEXTLINE(readability-suspicious-call-argument): from the view of the peer */
        int other = side_pending(p, peer, rank, !send, send);
        if (other < 0)
            continue;
        p->done[rank] |= (uint64_t)1 << i;
        p->done[peer] |= (uint64_t)1 << other;
        *advanced = true;
    }
    return sides(p, rank) == 0 || side_pending(p, rank, -1, true, true) >= 0 ||
           progress_enter(p, rank, p->at[rank] + 1);
}

static bool progress_run(progress_t *p)
{
    bool ok = true;
    for (int rank = 0; rank < p->v->ranks && ok; rank++)
        ok = progress_enter(p, rank, 0);
    for (bool advanced = true; advanced && ok;) {
        advanced = false;
        for (int rank = 0; rank < p->v->ranks && ok; rank++)
            ok = progress_advance(p, rank, &advanced);
    }
    return ok;
}

/* Follows the ranks that wait for each other from `rank` on. If this leads to a visited rank, writes the cycle,
 * for example "0 -> 1 -> 0". */
static bool find_cycle(progress_t *p, int rank, char *text, size_t text_size)
{
    enum { VISITED = -1 }; /* stored in p->at, which is not needed any more */
    size_t used = 0;
    while (p->at[rank] != VISITED) {
        int waits = side_pending(p, rank, -1, true, true);
        if (waits < 0)
            return false;
        p->at[rank] = VISITED;
        rank = side_at(p, rank, waits)->peer;
    }
    int start = rank, shown = 0;
    do {
        if (shown < 8 && used < text_size)
            used += (size_t)snprintf(text + used, text_size - used, "%d -> ", rank);
        else if (shown == 8 && used < text_size)
            used += (size_t)snprintf(text + used, text_size - used, "… -> ");
        shown++;
        rank = side_at(p, rank, side_pending(p, rank, -1, true, true))->peer;
    } while (rank != start);
    if (used < text_size)
        snprintf(text + used, text_size - used, "%d", start);
    return true;
}

static int waits_in_cycle(trv_verifier_t *v, int stream, int rank, bool *found, char *text, size_t text_size)
{
    size_t ranks = (size_t)v->ranks;
    progress_t p = {.v = v, .stream = stream};
    p.at = calloc(ranks, sizeof *p.at);
    p.done = calloc(ranks, sizeof *p.done);
    *found = p.at && p.done && progress_run(&p) && p.at[rank] < v->steps && find_cycle(&p, rank, text, text_size);
    int rc = p.at && p.done ? TRV_OK : trv_fail_memory();
    free(p.at);
    free(p.done);
    return rc;
}

int trv_verifier_missing_side(trv_verifier_t *v, int stream, int step, int rank, int peer, bool send, char *text,
                              size_t text_size)
{
    char ranks[160];
    bool found = false;
    int other = other_step(v, stream, step, rank, peer, send);
    if (other == -2)
        return trv_fail_memory();
    if (other < 0) {
        snprintf(text, text_size,
                 send ? "sends rank %d a message that rank %d never receives"
                      : "waits for a message from rank %d that rank %d never sends",
                 peer, peer);
        return TRV_OK;
    }
    int rc = waits_in_cycle(v, stream, rank, &found, ranks, sizeof ranks);
    if (found)
        snprintf(text, text_size,
                 "%s rank %d, which %s it in step %d only, and ranks wait for each other in a cycle: %s",
                 send ? "sends a message to" : "waits for a message from", peer, send ? "receives" : "sends", other,
                 ranks);
    else
        snprintf(text, text_size, "%s rank %d, which %s it in step %d; both sides of a message belong to the same step",
                 send ? "sends a message to" : "waits for a message from", peer, send ? "receives" : "sends", other);
    return rc;
}
