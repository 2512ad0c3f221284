/*
 * Builds the groups, edges and channels of a GOAL program.
 */
#include "simulate/goal_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- Groups and edges -------------------------------------------------------------------------------------------- */

/* The requirements of all operations, sorted by operation and without duplicates. */
typedef struct sorted {
    trv_goal_dependency_t *dependency;
    uint32_t *first; /* per operation, and one more: index of its first requirement */
} sorted_t;

static int compare_dependencies(const void *left, const void *right)
{
    const trv_goal_dependency_t *a = left, *b = right;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->on != b->on)
        return a->on < b->on ? -1 : 1;
    return (int)a->start - (int)b->start;
}

static int sort_dependencies(const trv_goal_t *goal, sorted_t *sorted)
{
    uint32_t count = 0, at = 0;
    sorted->dependency = malloc(((size_t)goal->dependencies + 1) * sizeof *sorted->dependency);
    sorted->first = malloc(((size_t)goal->ops + 1) * sizeof *sorted->first);
    if (!sorted->dependency || !sorted->first)
        return trv_fail_memory();
    if (goal->dependencies > 0) {
        memcpy(sorted->dependency, goal->dependency, goal->dependencies * sizeof *sorted->dependency);
        qsort(sorted->dependency, goal->dependencies, sizeof *sorted->dependency, compare_dependencies);
    }
    for (uint32_t i = 0; i < goal->dependencies; i++)
        if (count == 0 || compare_dependencies(&sorted->dependency[i], &sorted->dependency[count - 1]) != 0)
            sorted->dependency[count++] = sorted->dependency[i];
    for (uint32_t op = 0; op <= goal->ops; op++) {
        while (at < count && sorted->dependency[at].op < op)
            at++;
        sorted->first[op] = at;
    }
    return TRV_OK;
}

static uint32_t dependencies_of(const sorted_t *sorted, uint32_t op)
{
    return sorted->first[op + 1] - sorted->first[op];
}

static bool same_group(const trv_goal_t *goal, const sorted_t *sorted, uint32_t a, uint32_t b)
{
    const trv_goal_dependency_t *x = &sorted->dependency[sorted->first[a]], *y = &sorted->dependency[sorted->first[b]];
    uint32_t count = dependencies_of(sorted, a);
    if (goal->op[a].rank != goal->op[b].rank || count != dependencies_of(sorted, b))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (x[i].on != y[i].on || x[i].start != y[i].start)
            return false;
    return true;
}

static uint64_t hash_waits(const trv_goal_t *goal, const sorted_t *sorted, uint32_t op)
{
    uint64_t h = (uint64_t)goal->op[op].rank + 1;
    for (uint32_t i = sorted->first[op]; i < sorted->first[op + 1]; i++)
        h = (h ^ h >> 29 ^ (2 * (uint64_t)sorted->dependency[i].on + sorted->dependency[i].start)) *
            UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static bool waits_for_messages(const trv_goal_t *goal, const sorted_t *sorted, uint32_t op)
{
    for (uint32_t i = sorted->first[op]; i < sorted->first[op + 1]; i++)
        if (!sorted->dependency[i].start && goal->op[sorted->dependency[i].on].kind != TRV_GOAL_CALC)
            return true;
    return false;
}

/* Assigns every operation to a group, using a hash table of the groups that exist so far. */
static int make_groups(goal_program_t *program, const sorted_t *sorted)
{
    const trv_goal_t *goal = program->goal;
    uint64_t capacity = 16;
    while (capacity < 2 * (uint64_t)goal->ops)
        capacity *= 2;
    uint32_t *table = malloc(capacity * sizeof *table), *last = malloc(((size_t)goal->ops + 1) * sizeof *last);
    if (!table || !last) {
        free(table);
        free(last);
        return trv_fail_memory();
    }
    memset(table, 0xff, capacity * sizeof *table);
    for (uint32_t op = 0; op < goal->ops; op++) {
        uint64_t at = hash_waits(goal, sorted, op) & (capacity - 1);
        while (table[at] != TRV_GOAL_NONE && !same_group(goal, sorted, op, program->group[table[at]].first))
            at = (at + 1) & (capacity - 1);
        bool message = goal->op[op].kind != TRV_GOAL_CALC;
        if (table[at] == TRV_GOAL_NONE) {
            table[at] = program->groups;
            program->group[program->groups++] = (goal_group_t){op, dependencies_of(sorted, op), message,
                                                               waits_for_messages(goal, sorted, op)};
        } else {
            program->next_in_group[last[table[at]]] = op;
            program->group[table[at]].messages |= message;
        }
        last[table[at]] = op;
        program->next_in_group[op] = TRV_GOAL_NONE;
    }
    free(table);
    free(last);
    return TRV_OK;
}

/* Makes an edge for each group and operation that the group waits for, listed with the operation. */
static void make_edges(goal_program_t *program, const sorted_t *sorted)
{
    uint32_t *first = program->first_edge, ops = program->goal->ops;
    memset(first, 0, ((size_t)ops + 1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) { /* count, then fill from the end of each list */
        for (uint32_t g = program->groups; g-- > 0;) {
            uint32_t op = program->group[g].first;
            for (uint32_t i = sorted->first[op]; i < sorted->first[op + 1]; i++) {
                const trv_goal_dependency_t *dependency = &sorted->dependency[i];
                if (pass == 0)
                    first[dependency->on]++;
                else
                    program->edge[--first[dependency->on]] = (goal_edge_t){g, dependency->start};
            }
        }
        for (uint32_t op = 0; op < ops && pass == 0; op++)
            first[op + 1] += first[op];
    }
}

/* ---- Channels ---------------------------------------------------------------------------------------------------- */

typedef struct end { /* a send or a receive, the two ends of a message */
    int from, to;
    uint32_t tag, op;
} end_t;

static int compare_channels(const end_t *a, const end_t *b)
{
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static int compare_ends(const void *left, const void *right)
{
    const end_t *a = left, *b = right;
    int order = compare_channels(a, b);
    return order ? order : (a->op > b->op) - (a->op < b->op);
}

static int unmatched(const trv_goal_t *goal, uint32_t op, uint32_t sends, uint32_t receives)
{
    const trv_goal_op_t *o = &goal->op[op];
    bool send = o->kind == TRV_GOAL_SEND;
    return trv_fail(TRV_ERR_INVALID,
                    "%.200s, line %u: rank %d has %u %s rank %d with tag %u, but rank %d has %u matching %s",
                    goal->name, o->line, o->rank, send ? sends : receives, send ? "send(s) to" : "receive(s) from",
                    o->peer, o->tag, o->peer, send ? receives : sends, send ? "receive(s)" : "send(s)");
}

/* Makes a channel of the sends and receives that have the same sender, receiver and tag. */
static int add_channel(goal_program_t *program, const end_t *end, uint32_t count, uint32_t slot)
{
    const trv_goal_t *goal = program->goal;
    uint32_t sends = 0;
    for (uint32_t i = 0; i < count; i++) {
        sends += goal->op[end[i].op].kind == TRV_GOAL_SEND;
        program->channel_of[end[i].op] = program->channels;
    }
    if (2 * (uint64_t)sends != count)
        return unmatched(goal, end[0].op, sends, count - sends);
    program->channel[program->channels++] = (goal_channel_t){.first = slot};
    return TRV_OK;
}

static int make_channels(goal_program_t *program)
{
    const trv_goal_t *goal = program->goal;
    end_t *end = malloc(((size_t)goal->ops + 1) * sizeof *end);
    uint32_t ends = 0;
    int rc = end ? TRV_OK : trv_fail_memory();
    for (uint32_t op = 0; op < goal->ops && !rc; op++) {
        const trv_goal_op_t *o = &goal->op[op];
        if (o->kind == TRV_GOAL_SEND)
            end[ends++] = (end_t){o->rank, o->peer, o->tag, op};
        else if (o->kind == TRV_GOAL_RECV)
            end[ends++] = (end_t){o->peer, o->rank, o->tag, op};
    }
    if (!rc && ends > 0)
        qsort(end, ends, sizeof *end, compare_ends);
    for (uint32_t i = 0, next; i < ends && !rc; i = next) {
        for (next = i + 1; next < ends && compare_channels(&end[i], &end[next]) == 0;)
            next++;
        rc = add_channel(program, &end[i], next - i, i / 2);
    }
    free(end);
    return rc;
}

/* ---- The whole program ------------------------------------------------------------------------------------------- */

static int prepare(goal_program_t *program, sorted_t *sorted)
{
    size_t ops = (size_t)program->goal->ops + 1, dependencies = (size_t)program->goal->dependencies + 1;
    program->group = malloc(ops * sizeof *program->group);
    program->next_in_group = malloc(ops * sizeof *program->next_in_group);
    program->first_edge = malloc(ops * sizeof *program->first_edge);
    program->edge = malloc(dependencies * sizeof *program->edge);
    program->channel = malloc(ops * sizeof *program->channel);
    program->channel_of = malloc(ops * sizeof *program->channel_of);
    if (!program->group || !program->next_in_group || !program->first_edge || !program->edge || !program->channel ||
        !program->channel_of)
        return trv_fail_memory();
    int rc = make_channels(program);
    rc = rc ? rc : sort_dependencies(program->goal, sorted);
    rc = rc ? rc : make_groups(program, sorted);
    if (!rc)
        make_edges(program, sorted);
    return rc;
}

int trv_goal_program_create(goal_program_t *program, const trv_goal_t *goal)
{
    sorted_t sorted = {NULL, NULL};
    *program = (goal_program_t){.goal = goal};
    int rc = prepare(program, &sorted);
    free(sorted.dependency);
    free(sorted.first);
    return rc;
}

void trv_goal_program_clear(goal_program_t *program)
{
    free(program->group);
    free(program->next_in_group);
    free(program->first_edge);
    free(program->edge);
    free(program->channel);
    free(program->channel_of);
}
