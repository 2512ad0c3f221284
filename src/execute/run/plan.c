/*
 * Plans: creation, destruction, and the functions that start a run and make progress.
 *
 * The number of chunks and lanes depends on the schedule, the count and the options alone, so that all ranks compute
 * the same. A stream has at most TRV_PLAN_WINDOW lanes: chunk c is executed by lane c mod WINDOW, whose scratch it
 * reuses.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abandon.h"
#include "base/error.h"
#include "execute/run/arguments.h"
#include "execute/run/plan.h"
#include "schedule/collective.h"
#include "torus/torus.h"

enum { EMPTY_POLLS_MAX = 16 };

int trv_plan_check(const trv_plan_t *plan)
{
    return plan ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "the plan is NULL; create one with trv_plan_create");
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int check_arguments(const trv_schedule_t *schedule, int rank, size_t count, const trv_elements_t *elements)
{
    const int ranks = trv_schedule_torus(schedule)->ranks;
    if (rank < 0 || rank >= ranks)
        return trv_fail(TRV_ERR_ARGUMENT, "rank %d is not on the torus; its ranks are 0 … %d", rank, ranks - 1);
    const trv_collective_t collective = trv_schedule_collective(schedule);
    int rc = trv_elements_check(collective, elements);
    if (!rc)
        rc = trv_count_check(collective, trv_elements_size(elements), count, ranks);
    if (rc)
        return rc;
    if (trv_collective_shape(collective)->reduces && trv_schedule_exactness(schedule) == TRV_COVERS &&
        !trv_op_idempotent(elements->op))
        return trv_fail(TRV_ERR_INVALID,
                        "'%s' may add a contribution twice, which is correct for min, max, land, lor, band and bor, "
                        "but not for %s",
                        trv_schedule_name(schedule), trv_op_name(elements->op));
    return 0;
}

void trv_plan_set_chunks(trv_plan_t *plan)
{
    const size_t window = (size_t)(plan->lanes_max / plan->streams);
    plan->chunk_elements = trv_chunk_elements(plan->schedule, plan->count, plan->element_size,
                                              plan->options.chunk_bytes);
    plan->chunks = plan->count ? (plan->count - 1) / plan->chunk_elements + 1 : 1;
    plan->window = (int)(plan->chunks < window ? plan->chunks : window);
    plan->lanes = plan->window * plan->streams;
}

static int max_int(int a, int b) { return a > b ? a : b; }

/* Allocates the sizes of all programs, and the arrays for walks. */
static int allocate_sizes(trv_plan_t *plan)
{
    int sources = 1, bounds = 1, containers = 1, rc = 0;
    plan->sized = calloc(2 * (size_t)plan->streams, sizeof *plan->sized);
    for (int s = 0; plan->sized && !rc && s < plan->streams; s++) {
        const trv_program_t *program = &plan->compiled->program[s];
        plan->lane_sends = max_int(plan->lane_sends, program->stage_sends);
        plan->lane_receives = max_int(plan->lane_receives, program->stage_receives);
        sources = max_int(sources, program->sources_max);
        bounds = max_int(bounds, program->walk_bounds);
        containers = max_int(containers, program->containers);
        for (int last = 0; !rc && last < 2; last++)
            rc = trv_sized_create(&plan->sized[2 * s + last], program, false);
    }
    if (rc)
        return rc;
    plan->source = calloc((size_t)sources, sizeof *plan->source);
    plan->cursor = malloc((size_t)containers * sizeof *plan->cursor);
    plan->walk.segment = malloc((size_t)bounds * sizeof *plan->walk.segment);
    plan->walk.bound = malloc((size_t)bounds * sizeof *plan->walk.bound);
    return plan->sized && plan->source && plan->cursor && plan->walk.segment && plan->walk.bound ? 0
                                                                                                 : trv_fail_memory();
}

/* Allocates all memory of a run except scratch. */
static int plan_allocate(trv_plan_t *plan)
{
    int rc = allocate_sizes(plan);
    if (rc)
        return rc;
    const size_t send_words = (size_t)(plan->lane_sends + 63) / 64, words = (size_t)(plan->lane_receives + 63) / 64;
    const size_t lanes = (size_t)plan->lanes_max, lane_words = send_words + 2 * words;
    plan->lane = calloc(lanes, sizeof *plan->lane);
    plan->bits = calloc(lanes * lane_words + 1, sizeof *plan->bits);
    if (!plan->lane || !plan->bits)
        return trv_fail_memory();
    for (int i = 0; i < plan->lanes_max; i++) {
        trv_lane_t *lane = &plan->lane[i];
        uint64_t *bits = plan->bits + (size_t)i * lane_words;
        lane->number = i;
        lane->stream = i % plan->streams;
        lane->tag = plan->check_tags + i;
        lane->slot = plan->check_slots + i * (plan->lane_sends + 2 * plan->lane_receives);
        lane->done = true;
        lane->pending_send = bits;
        lane->ready[0].pending = bits + send_words;
        lane->ready[1].pending = bits + send_words + words;
    }
    return 0;
}

static int open_transport(trv_plan_t *plan)
{
    const trv_transport_t *t = &plan->transport;
    int requests = plan->check_slots + plan->lanes_max * (plan->lane_sends + 2 * plan->lane_receives);
    int rc = t->open(t->context, requests, plan->check_tags + plan->lanes_max, &plan->handle);
    plan->opened = !rc;
    return rc;
}

/* Sets the maximum number of lanes, which the number of tags limits. */
static int count_lanes(trv_plan_t *plan)
{
    if (plan->streams > TRV_PLAN_TAGS_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "'%s' has %d streams; a plan has at most %d",
                        trv_schedule_name(plan->schedule), plan->streams, TRV_PLAN_TAGS_MAX);
    const int window = TRV_PLAN_TAGS_MAX / plan->streams;
    plan->lanes_max = plan->streams * (window < TRV_PLAN_WINDOW ? window : TRV_PLAN_WINDOW);
    return 0;
}

/* Sets the count, of equal blocks, and computes the sizes of the programs for it. */
void trv_plan_set_count(trv_plan_t *plan, size_t count)
{
    plan->count = count;
    plan->unequal = false;
    plan->starts = 0;
    trv_plan_set_chunks(plan);
    plan->lane_scratch_bytes = 0;
    for (int i = 0; i < 2 * plan->streams; i++) {
        const bool last = i % 2;
        if (!last && plan->chunks == 1)
            continue;
        trv_sized_t *sized = &plan->sized[i];
        trv_size(sized, last ? count - (plan->chunks - 1) * plan->chunk_elements : plan->chunk_elements, count,
                 plan->element_size);
        if (sized->scratch_bytes > plan->lane_scratch_bytes)
            plan->lane_scratch_bytes = sized->scratch_bytes;
    }
    plan->scratch_bytes = (size_t)plan->lanes * plan->lane_scratch_bytes;
    plan->copy_bytes = 0;
    const trv_collective_shape_t *shape = trv_collective_shape(plan->collective);
    plan->origin[TRV_AT_INPUT] = shape->before == TRV_OWNER ? (size_t)plan->rank * count : 0;
    plan->origin[TRV_AT_OUTPUT] = shape->after == TRV_OWNER ? (size_t)plan->rank * count : 0;
}

/* Sets the blocks of an All-to-All: displacement x is the block for rank + x in the input, from rank - x in the
 * output. */
static int number_blocks(trv_plan_t *plan)
{
    const trv_torus_t *torus = trv_schedule_torus(plan->schedule);
    for (int base = TRV_AT_INPUT; base <= TRV_AT_OUTPUT; base++) {
        plan->block[base] = malloc((size_t)plan->ranks * sizeof *plan->block[base]);
        if (!plan->block[base])
            return trv_fail_memory();
        for (int x = 0; x < plan->ranks; x++)
            plan->block[base][x] = trv_torus_displace(torus, plan->rank, x, base == TRV_AT_INPUT ? 1 : -1);
    }
    return 0;
}

/* Creates a plan of the schedule. `compiled` is the compiled part of a plan of the same schedule and rank, or NULL. */
static int plan_create(trv_plan_t **plan, const trv_schedule_t *schedule, int rank, size_t count,
                       const trv_elements_t *elements, const trv_transport_t *transport,
                       const trv_plan_options_t *options, trv_compiled_t *compiled)
{
    int rc = trv_check_size(transport->size, sizeof *transport, "TRV_TRANSPORT");
    if (!rc)
        rc = check_arguments(schedule, rank, count, elements);
    if (rc)
        return rc;
    trv_plan_t *created = calloc(1, sizeof *created);
    if (!created)
        return trv_fail_memory();
    created->schedule = schedule;
    created->rank = rank;
    created->ranks = trv_schedule_torus(schedule)->ranks;
    created->collective = trv_schedule_collective(schedule);
    created->is_root = trv_collective_has_root(created->collective) && rank == trv_schedule_root(schedule);
    created->streams = trv_schedule_streams(schedule);
    created->elements = *elements;
    created->element_size = trv_elements_size(elements);
    if (!elements->reduce && trv_op_supports(elements->op, elements->type))
        created->reduction = trv_reduction_of(elements->op, elements->type);
    created->transport = *transport;
    created->options = *options;
    created->check_slots = created->options.check ? TRV_CHECK_SLOTS : 0;
    created->check_tags = created->options.check ? TRV_CHECK_TAGS : 0;
    created->compiled = compiled;
    if (compiled)
        atomic_fetch_add(&compiled->references, 1);
    rc = count_lanes(created);
    if (!rc && !compiled)
        rc = trv_compiled_create(&created->compiled, schedule, rank);
    if (!rc)
        rc = plan_allocate(created);
    if (!rc && trv_collective_shape(created->collective)->exchanges)
        rc = number_blocks(created);
    if (!rc) {
        trv_plan_set_count(created, count);
        rc = open_transport(created);
    }
    if (rc)
        trv_plan_destroy(created);
    else
        *plan = created;
    return rc;
}

int trv_plan_create(trv_plan_t **plan, const trv_schedule_t *schedule, int rank, size_t count,
                    const trv_elements_t *elements, const trv_transport_t *transport, const trv_plan_options_t *options)
{
    const trv_plan_options_t defaults = {TRV_PLAN_OPTIONS};
    *plan = NULL;
    if (!schedule || !elements || !transport)
        return trv_fail(TRV_ERR_ARGUMENT, "a plan needs a schedule, elements and a transport; one of them is NULL");
    int rc = options ? trv_check_size(options->size, sizeof *options, "TRV_PLAN_OPTIONS") : TRV_OK;
    return rc ? rc : plan_create(plan, schedule, rank, count, elements, transport, options ? options : &defaults, NULL);
}

int trv_plan_create_with(trv_plan_t **created, const trv_plan_t *model, const trv_elements_t *elements,
                         const trv_transport_t *transport, void *scratch_context)
{
    trv_plan_options_t options = model->options;
    options.scratch_context = scratch_context;
    return plan_create(created, model->schedule, model->rank, model->count, elements, transport, &options,
                       model->compiled);
}

int trv_plan_create_like(trv_plan_t **created, const trv_plan_t *plan, const trv_elements_t *elements,
                         const trv_transport_t *transport)
{
    *created = NULL;
    int rc = trv_plan_check(plan);
    if (rc)
        return rc;
    if (!elements || !transport)
        return trv_fail(TRV_ERR_ARGUMENT, "a plan needs elements and a transport; one of them is NULL");
    return trv_plan_create_with(created, plan, elements, transport, plan->options.scratch_context);
}

/* ---- Destruction ------------------------------------------------------------------------------------------------- */

static void plan_cancel(trv_plan_t *plan)
{
    if (plan->state == TRV_PLAN_CHECKING)
        plan->lost = trv_check_cancel(plan) || plan->lost;
    if (plan->state == TRV_PLAN_RUNNING && trv_run_cancel(plan))
        trv_run_scratch_abandon(&plan->scratch);
    trv_run_scratch_release(&plan->scratch, &plan->options);
}

void trv_plan_destroy(trv_plan_t *plan)
{
    if (!plan)
        return;
    plan_cancel(plan);
    if (plan->opened)
        plan->transport.close(plan->transport.context, plan->handle);
    for (int i = 0; plan->sized && i < 2 * plan->streams; i++)
        trv_sized_clear(&plan->sized[i]);
    trv_blocks_destroy(plan->blocks);
    trv_compiled_release(plan->compiled);
    free(plan->sized);
    free(plan->block[TRV_AT_INPUT]);
    free(plan->block[TRV_AT_OUTPUT]);
    free(plan->cursor);
    free(plan->walk.segment);
    free(plan->walk.bound);
    free(plan->lane);
    free(plan->bits);
    free(plan->source);
    trv_run_scratch_clear(&plan->scratch);
    plan->lost ? trv_abandon(plan) : free(plan);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int plan_fail(trv_plan_t *plan, int code)
{
    char reason[sizeof plan->reason];
    snprintf(reason, sizeof reason, "%s", trv_last_error());
    plan_cancel(plan); /* the transport may make progress on other runs here */
    plan->state = TRV_PLAN_FAILED;
    return trv_fail(code, "%s", reason);
}

/* In place, a rank's own block in the other buffer is its input or output. */
static int set_buffers(trv_plan_t *plan, const void *input, void *output)
{
    const size_t part = plan->count * plan->element_size, own = (size_t)plan->rank * part;
    const trv_collective_shape_t *shape = trv_collective_shape(plan->collective);
    const bool in_place = input == output && part > 0;
    int rc = trv_buffers_check(plan->collective, part, plan->ranks, plan->is_root, input, output);
    if (rc)
        return rc;
    plan->input = input;
    plan->output = output;
    if (in_place && shape->before == TRV_OWNER && (shape->after == TRV_EVERY_RANK || plan->is_root))
        plan->input = (const char *)input + own;
    if (in_place && shape->before == TRV_ROOT && shape->after == TRV_OWNER && plan->is_root)
        plan->output = (char *)output + own;
    plan->copied_output = NULL;
    plan->scratch_bytes -= plan->copy_bytes;
    plan->copy_bytes = in_place && shape->exchanges ? part * (size_t)plan->ranks : 0;
    plan->scratch_bytes += plan->copy_bytes;
    return 0;
}

/* Copies the input of an All-to-All in place, of which the output overwrites blocks before they are sent; or replaces
 * an output that overlaps blocks of the input of other ranks. */
static void use_copy(trv_plan_t *plan)
{
    if (plan->copy_bytes == 0)
        return;
    char *copy = plan->scratch.data + plan->scratch_bytes - plan->copy_bytes;
    if (plan->copied_output)
        plan->output = copy;
    else
        plan->input = memcpy(copy, plan->input, plan->copy_bytes);
}

static int start_lanes(trv_plan_t *plan)
{
    int rc = trv_run_scratch_acquire(&plan->scratch, &plan->options, plan->scratch_bytes);
    if (rc)
        return rc;
    use_copy(plan);
    plan->state = TRV_PLAN_RUNNING;
    plan->starts += plan->starts < 2;
    trv_run_start(plan);
    return 0;
}

int trv_plan_start(trv_plan_t *plan, const void *input, void *output)
{
    int rc = trv_plan_check(plan);
    if (!rc && plan->unequal)
        return trv_plan_start_blocks(plan, plan->blocks->count, plan->blocks->displacement, input, output);
    return rc ? rc : trv_plan_start_count(plan, plan->count, input, output);
}

int trv_plan_check_startable(const trv_plan_t *plan)
{
    int rc = trv_plan_check(plan);
    if (rc)
        return rc;
    if (plan->state == TRV_PLAN_RUNNING || plan->state == TRV_PLAN_CHECKING)
        return trv_fail(TRV_ERR_STATE, "the plan is running; wait for it before starting it again");
    if (plan->state == TRV_PLAN_FAILED)
        return trv_fail(TRV_ERR_STATE, "the plan failed earlier; destroy it and create a new one");
    return 0;
}

int trv_plan_start_count(trv_plan_t *plan, size_t count, const void *input, void *output)
{
    int rc = trv_plan_check_startable(plan);
    if (!rc && (count != plan->count || plan->unequal)) {
        rc = trv_count_check(plan->collective, plan->element_size, count, plan->ranks);
        if (!rc)
            trv_plan_set_count(plan, count);
    }
    if (!rc)
        rc = set_buffers(plan, input, output);
    return rc ? rc : trv_plan_begin(plan);
}

int trv_plan_begin(trv_plan_t *plan)
{
    plan->input_ready = plan->streamed ? 0 : SIZE_MAX;
    if (!plan->options.check)
        return start_lanes(plan);
    plan->state = TRV_PLAN_CHECKING;
    const int rc = trv_check_start(plan);
    return rc ? plan_fail(plan, rc) : 0;
}

void trv_plan_cancel(trv_plan_t *plan)
{
    if (trv_plan_check(plan) == 0 && (plan->state == TRV_PLAN_RUNNING || plan->state == TRV_PLAN_CHECKING))
        plan_fail(plan, trv_fail(TRV_ERR_STATE, "the run was cancelled"));
}

static int plan_progress(trv_plan_t *plan, bool *progressed)
{
    int rc = 1;
    if (plan->state == TRV_PLAN_CHECKING) {
        rc = trv_check_progress(plan, progressed);
        if (rc == TRV_ERR_INVALID) {
            plan->state = TRV_PLAN_IDLE; /* all ranks have found that they differ; nothing has started */
            return rc;
        }
        if (rc > 0)
            rc = start_lanes(plan);
    }
    if (rc >= 0 && plan->state == TRV_PLAN_RUNNING) {
        rc = trv_run_progress(plan, progressed);
        if (rc > 0) {
            if (plan->copied_output)
                memcpy(plan->copied_output, plan->output, plan->copy_bytes);
            trv_run_scratch_release(&plan->scratch, &plan->options);
            plan->state = TRV_PLAN_IDLE;
        }
    }
    return rc < 0 ? plan_fail(plan, rc) : rc;
}

static int check_started(const trv_plan_t *plan)
{
    int rc = trv_plan_check(plan);
    if (!rc && plan->state == TRV_PLAN_NEW)
        rc = trv_fail(TRV_ERR_STATE, "the plan was not started; call trv_plan_start first");
    if (!rc && plan->state == TRV_PLAN_FAILED)
        rc = trv_fail(TRV_ERR_STATE, "the plan failed earlier; destroy it and create a new one");
    return rc;
}

int trv_plan_test(trv_plan_t *plan)
{
    bool progressed = false;
    int rc = check_started(plan);
    return rc ? rc : plan_progress(plan, &progressed);
}

int trv_plan_wait(trv_plan_t *plan)
{
    int rc = check_started(plan), empty = 0;
    if (rc)
        return rc;
    do {
        bool progressed = false;
        rc = plan_progress(plan, &progressed);
        empty = progressed ? 0 : empty + 1;
        if (empty > EMPTY_POLLS_MAX)
            sched_yield();
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

int trv_plan_run(trv_plan_t *plan, const void *input, void *output)
{
    int rc = trv_plan_start(plan, input, output);
    return rc ? rc : trv_plan_wait(plan);
}
