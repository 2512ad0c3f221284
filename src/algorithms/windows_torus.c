/*
 * Window plans on a torus: one stream per dimension larger than 1, each on its own slice of the vector, each running
 * the plans of all dimensions one after the other or in turns (docs/windows.md). Every step works on
 * the whole slice, so a plan's registers are the schedule's.
 */
#include <stdlib.h>

#include "algorithms/windows.h"
#include "common/error.h"
#include "torus/torus.h"

/* What a stream does in one of its steps. */
typedef struct turn {
    int dimension;
    const trv_window_step_t *step;
} turn_t;

typedef struct tables {
    int active;
    trv_window_plan_t *plan[TRV_DIMS_MAX]; /* per active dimension; equal sizes share one */
    turn_t turn[];                         /* streams x steps */
} tables_t;

static void destroy_tables(void *tables)
{
    tables_t *mine = tables;
    for (int i = 0; i < mine->active; i++) {
        bool shared = false;
        for (int j = 0; j < i && !shared; j++)
            shared = mine->plan[j] == mine->plan[i];
        if (!shared)
            trv_window_plan_destroy(mine->plan[i]);
    }
    free(mine);
}

/* Lists the turns of `stream`: rounds of one step in every dimension that has any left, or all steps of each in turn.
 * */
static void list_turns(const tables_t *tables, const int *dimension, int stream, bool interleaved, turn_t *turn)
{
    const int active = tables->active;
    int done[TRV_DIMS_MAX] = {0};
    for (int left = active, t = 0; left > 0; t++) {
        const int i = (stream + t) % active;
        const trv_window_plan_t *plan = tables->plan[i];
        if (done[i] == plan->steps)
            continue;
        const int steps = interleaved ? 1 : plan->steps;
        for (int k = 0; k < steps; k++)
            *turn++ = (turn_t){dimension[i], &plan->step[done[i]++]};
        left -= done[i] == plan->steps;
    }
}

static int add_messages(trv_step_t *out, const trv_schedule_t *schedule, int rank, const turn_t *turn,
                        const trv_blocks_t *all)
{
    for (int m = 0; m < turn->step->messages; m++) {
        const trv_window_message_t *message = &turn->step->message[m];
        const int port = trv_port(turn->dimension, message->sign);
        trv_part_t *send = trv_step_send(
            out, trv_torus_shift(&schedule->torus, rank, turn->dimension, -message->peer), port, message->vectors);
        trv_part_t *receive = trv_step_receive(
            out, trv_torus_shift(&schedule->torus, rank, turn->dimension, message->peer), port, message->vectors);
        if (!send || !receive)
            return TRV_ERR_MEMORY;
        for (int v = 0; v < message->vectors; v++) {
            send[v] = (trv_part_t){.reg = message->send[v], .blocks = *all};
            receive[v] = (trv_part_t){.reg = message->receive[v], .blocks = *all};
        }
    }
    return TRV_OK;
}

static int windows_step(const trv_schedule_t *schedule, int rank, int stream, int step, trv_step_t *out)
{
    const tables_t *tables = schedule->tables;
    const turn_t *turn = &tables->turn[stream * schedule->steps + step];
    const trv_blocks_t all = trv_blocks_all(schedule);
    int rc = trv_step_reserve(out, turn->step->messages, turn->step->messages, turn->step->combines);
    if (rc)
        return rc;
    out->dimension = turn->dimension;
    rc = add_messages(out, schedule, rank, turn, &all);
    for (int c = 0; c < turn->step->combines && !rc; c++) {
        const trv_window_combine_t *combine = &turn->step->combine[c];
        rc = trv_step_combine(out, combine->dst, combine->sources, combine->source, 0, &all);
    }
    return rc;
}

/* Makes the plan of every active dimension; equal sizes share one. */
static int make_plans(trv_schedule_t *schedule, trv_window_maker_t *maker, const int *dimension, int active,
                      trv_window_plan_t **plan)
{
    const int *size = schedule->torus.size;
    for (int i = 0; i < active; i++) {
        plan[i] = NULL;
        for (int j = 0; j < i && !plan[i]; j++)
            if (size[dimension[j]] == size[dimension[i]])
                plan[i] = plan[j];
        if (!plan[i])
            plan[i] = maker(size[dimension[i]]);
        if (!plan[i])
            return TRV_ERR_MEMORY;
    }
    return TRV_OK;
}

int trv_windows_create(trv_schedule_t *schedule, trv_window_maker_t *maker)
{
    int dimension[TRV_DIMS_MAX];
    const int active = trv_torus_active(&schedule->torus, dimension);
    int steps = 0;
    for (int i = 0; i < active; i++)
        steps += trv_window_steps(schedule->torus.size[dimension[i]]);
    tables_t *tables = calloc(1, sizeof *tables + (size_t)(active * steps) * sizeof tables->turn[0]);
    if (!tables)
        return trv_fail_memory();
    /* The schedule owns its tables from here on; plans that were not made are NULL, which destroy takes. */
    schedule->tables = tables;
    schedule->destroy = destroy_tables;
    schedule->step = windows_step;
    tables->active = active;
    int rc = make_plans(schedule, maker, dimension, active, tables->plan);
    if (rc)
        return rc;
    bool whole = true;
    for (int i = 0; i < active; i++) {
        const trv_window_plan_t *plan = tables->plan[i];
        whole = whole && plan->whole;
        if (plan->registers > schedule->registers)
            schedule->registers = plan->registers;
    }
    schedule->streams = active ? active : 1;
    schedule->steps = steps;
    for (int i = 0; i < active; i++)
        list_turns(tables, dimension, i, whole, &tables->turn[i * steps]);
    return TRV_OK;
}
