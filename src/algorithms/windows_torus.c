/*
 * Window plans on a torus: one stream per dimension larger than 1, each on its own slice of the vector, each running
 * the plans of all dimensions one after the other or in turns (docs/windows.md). Every step works on the whole slice,
 * so a plan's registers are the schedule's.
 */
#include <stdlib.h>

#include "algorithms/visit.h"
#include "algorithms/windows.h"
#include "common/error.h"
#include "torus/torus.h"

typedef struct tables {
    int active, dimension[TRV_DIMS_MAX], levels[TRV_DIMS_MAX];
    trv_visit_t visit;
    trv_window_plan_t *plan[TRV_DIMS_MAX]; /* of dimension[i]; equal sizes share one */
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

static int add_messages(trv_step_t *out, const trv_schedule_t *schedule, int rank, const trv_window_step_t *window,
                        const trv_blocks_t *all)
{
    const trv_torus_t *torus = &schedule->torus;
    for (int m = 0; m < window->messages; m++) {
        const trv_window_message_t *message = &window->message[m];
        const int port = trv_port(out->dimension, message->sign);
        /* Two messages that may leave by one port (Bruck) have an interface each. */
        const int nic = schedule->messages_per_port > 1 ? trv_port(out->dimension, m > 0 ? -1 : 1) : -1;
        const int to = trv_torus_shift(torus, rank, out->dimension, -message->peer);
        const int from = trv_torus_shift(torus, rank, out->dimension, message->peer);
        trv_part_t *send = trv_step_send_by(out, to, port, nic, message->vectors);
        trv_part_t *receive = trv_step_receive_by(out, from, port, nic, message->vectors);
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
    const trv_turn_t turn = trv_visit_turn(tables->visit, tables->active, tables->levels, stream, step);
    const trv_window_step_t *window = &tables->plan[turn.turn]->step[turn.level];
    const trv_blocks_t all = trv_blocks_all(schedule);
    int rc = trv_step_reserve(out, window->messages, window->messages, window->combines);
    if (rc)
        return rc;
    out->dimension = tables->dimension[turn.turn];
    rc = add_messages(out, schedule, rank, window, &all);
    for (int c = 0; c < window->combines && !rc; c++) {
        const trv_window_combine_t *combine = &window->combine[c];
        rc = trv_step_combine(out, combine->dst, combine->sources, combine->source, 0, &all);
    }
    return rc;
}

/* Makes the plan of every active dimension; equal sizes share one. */
static int make_plans(const trv_schedule_t *schedule, trv_window_maker_t *maker, tables_t *tables)
{
    const int *size = schedule->torus.size;
    for (int i = 0; i < tables->active; i++) {
        for (int j = 0; j < i && !tables->plan[i]; j++)
            if (size[tables->dimension[j]] == size[tables->dimension[i]])
                tables->plan[i] = tables->plan[j];
        if (!tables->plan[i])
            tables->plan[i] = maker(size[tables->dimension[i]]);
        if (!tables->plan[i])
            return TRV_ERR_MEMORY;
    }
    return TRV_OK;
}

int trv_windows_create(trv_schedule_t *schedule, trv_window_maker_t *maker)
{
    tables_t *tables = calloc(1, sizeof *tables);
    if (!tables)
        return trv_fail_memory();
    /* The schedule owns its tables from here on; plans that were not made are NULL, which destroy takes. */
    schedule->tables = tables;
    schedule->destroy = destroy_tables;
    schedule->step = windows_step;
    tables->active = trv_torus_active(&schedule->torus, tables->dimension);
    int rc = make_plans(schedule, maker, tables);
    if (rc)
        return rc;
    bool whole = true;
    for (int i = 0; i < tables->active; i++) {
        const trv_window_plan_t *plan = tables->plan[i];
        whole = whole && plan->whole;
        tables->levels[i] = plan->steps;
        schedule->steps += plan->steps;
        if (plan->registers > schedule->registers)
            schedule->registers = plan->registers;
    }
    tables->visit = whole ? TRV_INTERLEAVED : TRV_SEQUENTIAL;
    schedule->streams = tables->active ? tables->active : 1;
    return TRV_OK;
}
