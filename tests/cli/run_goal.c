/*
 * Reader of GOAL as accepted by LogGOPSim's txt2bin: one statement per line, fields in a fixed order, labels defined
 * before they are used. A rank's operations are executed when their dependencies allow it; a receive takes the oldest
 * message that has arrived from its source with its tag.
 */
#include "formats.h"

#include <stdlib.h>
#include <string.h>

#define OPS_MAX   20000
#define NEEDS_MAX 100000

typedef struct op {
    char label[32], kind;
    int rank, peer;
    unsigned long tag;
    unsigned long long amount;
    bool done, taken; /* taken: a send whose message has been received */
} op_t;

typedef struct program {
    int ops, needs, rank;
    op_t op[OPS_MAX];
    struct {
        int op, on;
    } need[NEEDS_MAX];
} program_t;

/* Returns the operation of the current rank with this label, or -1. */
static int find(const program_t *p, const char *label)
{
    for (int i = p->ops; i-- > 0 && p->op[i].rank == p->rank;)
        if (strcmp(p->op[i].label, label) == 0)
            return i;
    return -1;
}

static const char *read_line(program_t *p, const char *line)
{
    char label[32], other[32], word[8], to[8];
    int used = 0, cpu, nic;
    op_t op = {.rank = p->rank, .peer = -1};
    if (sscanf(line, "%31[a-zA-Z0-9_] requires %31[a-zA-Z0-9_]%n", label, other, &used) == 2 && !line[used]) {
        if (find(p, label) < 0 || find(p, other) < 0 || p->needs == NEEDS_MAX)
            return format_error("unknown labels: %s", line);
        p->need[p->needs].op = find(p, label);
        p->need[p->needs++].on = find(p, other);
        return NULL;
    }
    if (sscanf(line, "%31[a-zA-Z0-9_]: calc %llu%n", op.label, &op.amount, &used) == 2) {
        op.kind = 'c';
    } else if (sscanf(line, "%31[a-zA-Z0-9_]: %4[a-z] %llub %4[a-z] %d tag %lu%n", op.label, word, &op.amount, to,
                      &op.peer, &op.tag, &used) == 6) {
        op.kind = word[0];
        if (strcmp(word, "send") == 0 ? strcmp(to, "to") : strcmp(word, "recv") || strcmp(to, "from"))
            return format_error("neither send nor receive: %s", line);
    } else {
        return format_error("no statement: %s", line);
    }
    int more = 0;
    if (sscanf(line + used, " cpu %d%n", &cpu, &more) == 1)
        used += more;
    if (op.kind != 'c' && sscanf(line + used, " nic %d%n", &nic, &more) == 1)
        used += more;
    if (line[used] || strpbrk(op.label, "0123456789_") == op.label || find(p, op.label) >= 0 || p->ops == OPS_MAX)
        return format_error("more than a statement, or a bad label: %s", line);
    p->op[p->ops++] = op;
    return NULL;
}

static const char *read_program(program_t *p, char *text, int ranks)
{
    int number, used;
    bool inside = false;
    p->rank = -1;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *error = NULL;
        used = 0;
        if (strncmp(line, "//", 2) == 0)
            continue;
        if (sscanf(line, "num_ranks %d%n", &number, &used) == 1 && !line[used] && p->rank < 0 && !inside)
            error = number == ranks ? NULL : "the number of ranks is wrong";
        else if (sscanf(line, "rank %d {%n", &number, &used) == 1 && used && !line[used] && !inside)
            error = number == ++p->rank && (inside = true) ? NULL : "ranks are not in order";
        else if (strcmp(line, "}") == 0 && inside)
            inside = false;
        else
            error = inside ? read_line(p, line) : format_error("outside of a rank: %s", line);
        if (error)
            return error;
    }
    return p->rank == ranks - 1 && !inside ? NULL : "a rank is missing";
}

/* Returns the message that a receive takes: the only one of its sender with its tag, or NULL while there is none. */
static op_t *message_for(program_t *p, const op_t *receive, int *matches)
{
    op_t *found = NULL;
    *matches = 0;
    for (int i = 0; i < p->ops; i++) {
        op_t *send = &p->op[i];
        if (send->kind != 's' || send->rank != receive->peer || send->peer != receive->rank ||
            send->tag != receive->tag)
            continue;
        ++*matches;
        found = send;
    }
    return found;
}

static const char *run_program(program_t *p, uint64_t *bytes)
{
    bool moved = true;
    *bytes = 0;
    while (moved) {
        moved = false;
        for (int i = 0; i < p->ops; i++) {
            op_t *op = &p->op[i], *send = NULL;
            int matches = 1;
            bool ready = !op->done;
            for (int n = 0; n < p->needs && ready; n++)
                ready = p->need[n].op != i || p->op[p->need[n].on].done;
            if (ready && op->kind == 'r')
                ready = (send = message_for(p, op, &matches)) != NULL && send->done && !send->taken;
            if (matches > 1)
                return format_error("two messages from rank %d to rank %d with tag %lu", op->peer, op->rank, op->tag);
            if (!ready)
                continue;
            if (send && (send->taken = true) && send->amount != op->amount)
                return "a receive has another size than its message";
            op->done = moved = true;
            *bytes += op->kind == 's' ? op->amount : 0;
        }
    }
    for (int i = 0; i < p->ops; i++)
        if (!p->op[i].done || (p->op[i].kind == 's' && !p->op[i].taken))
            return format_error("operation %s of rank %d is never done", p->op[i].label, p->op[i].rank);
    return NULL;
}

const char *goal_run(const char *text, int ranks, uint64_t bytes)
{
    program_t *p = calloc(1, sizeof *p);
    char *copy = strdup(text);
    uint64_t moved = 0;
    const char *error = read_program(p, copy, ranks);
    if (!error)
        error = run_program(p, &moved);
    if (!error && moved != bytes)
        error = format_error("its messages have %llu bytes", (unsigned long long)moved);
    free(copy);
    free(p);
    return error;
}
