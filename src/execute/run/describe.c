/*
 * Descriptions of a plan: the messages for which a run waits, and its sizes.
 */
#include "base/append.h"
#include "execute/run/plan.h"

#define LANES_SHOWN 4

/* A text in a buffer of `size` bytes. `name` maps ranks to the numbers that are printed. */
typedef struct text {
    char *at;
    size_t size;
    const int *name;
} text_t;

static int name_of(const text_t *text, int rank) { return text->name ? text->name[rank] : rank; }

/* Appends `before` and the peers of the messages whose bits are set, such as "before 1, 2". */
static void add_peers(text_t *text, const char *before, const trv_extent_t *message, int messages,
                      const uint64_t *pending)
{
    for (int i = 0; i < messages; i++)
        if (pending[i / 64] >> (i % 64) & 1) {
            trv_append(text->at, text->size, "%s%d", before, name_of(text, message[i].peer));
            before = ", ";
        }
}

static void add_lane(text_t *text, const trv_plan_t *plan, const trv_lane_t *lane)
{
    const trv_program_t *program = lane->sized->program;
    if (lane->waits_for_input) {
        trv_append(text->at, text->size, "lane %d of %d, chunk %zu of %zu, waits for its input", lane->number,
                   plan->lanes, lane->chunk, plan->chunks);
        return;
    }
    const trv_stage_t *stage = &program->stage[lane->stage];
    const trv_ready_t *ready = &lane->ready[lane->stage % 2];
    trv_append(text->at, text->size, "lane %d of %d, ", lane->number, plan->lanes);
    if (plan->chunks > 1)
        trv_append(text->at, text->size, "chunk %zu of %zu, ", lane->chunk, plan->chunks);
    trv_append(text->at, text->size, "step %d of %d, waits for ", stage->step, trv_schedule_steps(plan->schedule));
    if (ready->missing)
        add_peers(text, "ranks ", program->receive + stage->receive, stage->receives, ready->pending);
    if (lane->sending) {
        add_peers(text, ready->missing ? " and for " : "", program->send + stage->send, stage->sends,
                  lane->pending_send);
        trv_append(text->at, text->size, " to receive its data");
    }
}

void trv_plan_describe_as(const trv_plan_t *plan, const int *name, char *at, size_t size)
{
    static const char *const states[] = {"never started", "comparing the arguments with the other ranks", "running",
                                         "complete", "failed"};
    text_t text = {.at = at, .size = size, .name = name};
    const bool is_running = plan->state == TRV_PLAN_RUNNING && !plan->failure;
    int shown = 0, more = 0;
    if (!size)
        return;
    *at = '\0';
    trv_append(at, size, "rank %d: %s", name_of(&text, plan->rank),
               is_running ? "" : states[plan->state == TRV_PLAN_RUNNING ? TRV_PLAN_FAILED : plan->state]);
    for (int i = 0; is_running && i < plan->lanes; i++) {
        if (plan->lane[i].done)
            continue;
        if (shown++ >= LANES_SHOWN) {
            more++;
            continue;
        }
        if (shown > 1)
            trv_append(at, size, "; ");
        add_lane(&text, plan, &plan->lane[i]);
    }
    if (more)
        trv_append(at, size, "; and %d more lane%s", more, more == 1 ? "" : "s");
}

void trv_plan_describe(const trv_plan_t *plan, char *text, size_t size)
{
    trv_plan_describe_as(plan, NULL, text, size);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

size_t trv_plan_bytes_sent(const trv_plan_t *plan)
{
    size_t bytes = 0;
    if (!trv_plan_check(plan) && plan->unequal)
        return plan->blocks->bytes_sent;
    for (int s = 0; !trv_plan_check(plan) && s < plan->streams; s++) {
        bytes += trv_sized_bytes_sent(&plan->sized[2 * s + 1]);
        if (plan->chunks > 1)
            bytes += (plan->chunks - 1) * trv_sized_bytes_sent(&plan->sized[2 * s]);
    }
    return bytes;
}

size_t trv_plan_scratch_bytes(const trv_plan_t *plan) { return trv_plan_check(plan) ? 0 : plan->scratch_bytes; }

size_t trv_plan_memory_bytes(const trv_plan_t *plan)
{
    size_t bytes = 0;
    for (int s = 0; !trv_plan_check(plan) && s < plan->streams; s++)
        bytes += sizeof(trv_program_t) + trv_program_memory_bytes(&plan->compiled->program[s]) +
                 trv_sized_memory_bytes(&plan->sized[2 * s]) + trv_sized_memory_bytes(&plan->sized[2 * s + 1]);
    return bytes > 0 && plan->blocks ? bytes + trv_blocks_memory_bytes(plan->blocks) : bytes;
}
