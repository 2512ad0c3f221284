/*
 * Steps of a stream as the verifier executes them: all messages, then all combines. Their effect is determined by a
 * follower: values (values.c) or the trail of one contribution (trace.c).
 */
#include "verify/verifier.h"

int trv_verifier_fetch(trv_verifier_t *v, int stream, int step)
{
    for (int rank = 0; rank < v->ranks; rank++) {
        int rc = trv_schedule_step(v->schedule, rank, stream, step, &v->step[rank]);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

const trv_message_t *trv_other_side(const trv_step_t *step, int ranks, int rank, bool send, int index)
{
    const trv_message_t *own = send ? step[rank].send : step[rank].receive;
    const int peer = own[index].peer;
    if (peer < 0 || peer >= ranks)
        return NULL;
    const trv_message_t *other = send ? step[peer].receive : step[peer].send;
    const int others = send ? step[peer].receives : step[peer].sends;
    int earlier = 0;
    for (int i = 0; i < index; i++)
        earlier += own[i].peer == peer;
    for (int i = 0; i < others; i++)
        if (other[i].peer == rank && earlier-- == 0)
            return &other[i];
    return NULL;
}

size_t trv_part_cells(const trv_verifier_t *v, const trv_part_t *part, int64_t first, int64_t count, uint32_t *list)
{
    const size_t each = part->slots ? (size_t)count : 1;
    const size_t listed = part->slots ? trv_units_list(&part->blocks, 0, v->registers, list)
                                      : trv_units_list(&part->blocks, first, count, list);
    const uint32_t reg = (uint32_t)(part->reg * count);
    for (size_t i = 0; i < listed && !part->slots; i++)
        list[i] += reg;
    for (size_t i = part->slots ? listed : 0; i-- > 0;) /* in descending order, because the list grows in place */
        for (size_t u = each, slot = list[i]; u-- > 0;)
            list[i * each + u] = (uint32_t)(reg + slot * each + u);
    return listed * each;
}

/* Applies one part of a message. The receiver's units are the sender's. */
static bool step_transfer(trv_verifier_t *v, const trv_follower_t *follower, int from, const trv_part_t *sent, int to,
                          const trv_part_t *received)
{
    size_t cells = trv_part_cells(v, sent, v->first, v->count, v->list);
    const uint32_t *target = v->list;
    int64_t shift = (received->reg - sent->reg) * v->count;
    if (sent->slots) {
        size_t received_cells = trv_part_cells(v, received, v->first, v->count, v->other_list);
        cells = received_cells < cells ? received_cells : cells;
        target = v->other_list;
        shift = 0;
    }
    return cells == 0 || follower->copy(follower->context, from, v->list, to, target, shift, cells);
}

bool trv_verifier_apply(trv_verifier_t *v, const trv_follower_t *follower)
{
    for (int rank = 0; rank < v->ranks; rank++)
        for (int i = 0; i < v->step[rank].receives; i++) {
            const trv_message_t *receive = &v->step[rank].receive[i];
            const trv_message_t *send = trv_other_side(v->step, v->ranks, rank, false, i);
            for (int p = 0; send && p < receive->parts && p < send->parts; p++)
                if (send->part[p].slots == receive->part[p].slots &&
                    !step_transfer(v, follower, receive->peer, &send->part[p], rank, &receive->part[p]))
                    return false;
        }
    for (int rank = 0; rank < v->ranks; rank++)
        for (int c = 0; c < v->step[rank].combines; c++) {
            const trv_combine_t *combine = &v->step[rank].combine[c];
            size_t units = trv_units_list(&combine->blocks, v->first, v->count, v->list);
            if (units > 0 && !follower->combine(follower->context, rank, combine, v->list, units))
                return false;
        }
    return true;
}
