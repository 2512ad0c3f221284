/*
 * Debug mode: before a run the ranks compare its arguments, so that a count that differs is reported as an error on
 * every rank instead of causing a hang.
 *
 * The comparison is a dissemination in ceil(log2 n) rounds: in round k a rank sends the minimum and the maximum of
 * every value that it has received so far to the rank 2^k after it. Minima and maxima may include a rank more than
 * once, so this works for any n; at the end all ranks have the same values and reach the same result.
 */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "execute/run/plan.h"
#include "schedule/collective.h"

enum { FIELD_COUNT, FIELD_SIZE, FIELD_SIGNATURE, FIELD_COLLECTIVE, FIELD_SCHEDULE, FIELD_BLOCKS, FIELD_CHUNK };

static uint64_t hash(const char *text, uint64_t seed) { return trv_hash(seed ^ TRV_HASH_SEED, text, strlen(text)); }

static uint64_t schedule_hash(const trv_schedule_t *schedule)
{
    char torus[TRV_TORUS_TEXT_MAX];
    uint64_t h = hash(trv_torus_format(trv_schedule_torus(schedule), torus, sizeof torus), 0);
    h = hash(trv_schedule_name(schedule), h);
    for (int s = 0; s < trv_schedule_streams(schedule); s++) {
        const int weight = trv_schedule_weight(schedule, s);
        h = trv_hash(h, &weight, sizeof weight);
    }
    return h ^ (uint64_t)trv_schedule_steps(schedule);
}

static int round_post(trv_plan_t *plan)
{
    trv_check_t *check = &plan->check;
    const trv_transport_t *t = &plan->transport;
    const int to = (plan->rank + check->distance) % plan->ranks;
    const int from = (plan->rank + plan->ranks - check->distance) % plan->ranks;
    memcpy(check->sent, check->mine, sizeof check->sent);
    int rc = t->receive(t->context, plan->handle, 1, from, 0, check->received, sizeof check->received);
    check->receiving = !rc;
    if (!rc) {
        check->sending = true; /* also after a failure: it may have sent a part */
        rc = t->send(t->context, plan->handle, 0, to, 0, check->sent, sizeof check->sent);
    }
    return rc;
}

int trv_check_start(trv_plan_t *plan)
{
    trv_check_t *check = &plan->check;
    const trv_elements_t *e = &plan->elements;
    uint64_t signature = !trv_collective_shape(plan->collective)->reduces ? 0
                         : e->reduce                                      ? 1
                                                                          : 2 + (uint64_t)e->op * TRV_TYPES + e->type;
    check->mine[0][FIELD_COUNT] = plan->count;
    check->mine[0][FIELD_SIZE] = plan->element_size;
    check->mine[0][FIELD_SIGNATURE] = signature;
    check->mine[0][FIELD_COLLECTIVE] = plan->collective;
    check->mine[0][FIELD_SCHEDULE] = schedule_hash(plan->schedule);
    check->mine[0][FIELD_BLOCKS] = trv_blocks_hash(plan);
    check->mine[0][FIELD_CHUNK] = plan->chunk_elements;
    memcpy(check->mine[1], check->mine[0], sizeof check->mine[1]);
    check->distance = 1;
    check->sending = check->receiving = false;
    return plan->ranks > 1 ? round_post(plan) : 0;
}

static int compare_fields(const trv_check_t *check)
{
    static const char *const what[TRV_CHECK_FIELDS] = {"the number of elements",
                                                       "the size of an element",
                                                       "the element type or operation",
                                                       "the collective",
                                                       "the schedule (algorithm or torus)",
                                                       "the sizes of the blocks",
                                                       "the size of chunks"};
    for (int f = 0; f < TRV_CHECK_FIELDS; f++) {
        unsigned long long min = check->mine[0][f], max = check->mine[1][f];
        if (min == max)
            continue;
        if (f == FIELD_COUNT || f == FIELD_SIZE)
            return trv_fail(TRV_ERR_INVALID,
                            "the ranks differ in %s (from %llu to %llu); it must be the same on all ranks", what[f],
                            min, max);
        return trv_fail(TRV_ERR_INVALID, "the ranks differ in %s; it must be the same on all ranks", what[f]);
    }
    return 1;
}

int trv_check_progress(trv_plan_t *plan, bool *progressed)
{
    trv_check_t *check = &plan->check;
    const trv_transport_t *t = &plan->transport;
    while (check->distance < plan->ranks) {
        int rc = check->receiving ? t->test(t->context, plan->handle, 1) : 0;
        check->receiving = check->receiving && rc <= 0;
        if (rc >= 0) {
            rc = check->sending ? t->test(t->context, plan->handle, 0) : 0;
            check->sending = check->sending && rc <= 0;
        }
        if (rc < 0)
            return rc;
        if (check->receiving || check->sending)
            return 0;
        *progressed = true;
        for (int f = 0; f < TRV_CHECK_FIELDS; f++) {
            if (check->received[0][f] < check->mine[0][f])
                check->mine[0][f] = check->received[0][f];
            if (check->received[1][f] > check->mine[1][f])
                check->mine[1][f] = check->received[1][f];
        }
        check->distance *= 2;
        rc = check->distance < plan->ranks ? round_post(plan) : 0;
        if (rc)
            return rc;
    }
    return compare_fields(check);
}

bool trv_check_cancel(trv_plan_t *plan)
{
    const trv_transport_t *t = &plan->transport;
    const bool still_read = plan->check.sending && t->cancel(t->context, plan->handle, 0) > 0;
    if (plan->check.receiving)
        t->cancel(t->context, plan->handle, 1);
    plan->check.sending = plan->check.receiving = false;
    return still_read;
}
