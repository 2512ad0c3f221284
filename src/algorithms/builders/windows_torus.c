/*
 * Growing windows on a torus, as a stage: every stream, on its own slice of the vector, executes the window steps of
 * all dimensions, one dimension after the other or alternating (docs/windows.md). Every step works on the same blocks,
 * so the registers of the window steps are those of the stage.
 */
#include <stdlib.h>

#include "algorithms/builders/visit.h"
#include "algorithms/builders/windows.h"
#include "base/error.h"
#include "torus/torus.h"

typedef struct windows {
    trv_stage_t base;
    trv_stage_lattice_t lattice;
    int levels[TRV_DIMS_MAX];
    trv_visit_t visit;
    bool share_port;
    trv_window_steps_t *steps[TRV_DIMS_MAX]; /* the window steps of dimension[i]; equal sizes share them */
} windows_t;

static void windows_destroy(trv_stage_t *stage)
{
    windows_t *windows = (windows_t *)stage;
    for (int i = 0; i < windows->lattice.active; i++) {
        bool shared = false;
        for (int j = 0; j < i && !shared; j++)
            shared = windows->steps[j] == windows->steps[i];
        if (!shared)
            trv_window_steps_destroy(windows->steps[i]);
    }
    free(windows);
}

static int add_messages(trv_step_t *out, const trv_schedule_t *schedule, int rank, int stride,
                        const trv_window_step_t *window, bool share_port, const trv_blocks_t *blocks)
{
    const trv_torus_t *torus = &schedule->torus;
    for (int m = 0; m < window->messages; m++) {
        const trv_window_message_t *message = &window->message[m];
        const int port = trv_port(out->dimension, message->sign);
        /* Two messages that may leave through one port (Bruck) use different network interfaces. */
        const int nic = share_port ? trv_port(out->dimension, m > 0 ? -1 : 1) : -1;
        const int to = trv_torus_shift(torus, rank, out->dimension, -message->peer * stride);
        const int from = trv_torus_shift(torus, rank, out->dimension, message->peer * stride);
        trv_part_t *send = trv_step_send_by(out, to, port, nic, message->vectors);
        trv_part_t *receive = trv_step_receive_by(out, from, port, nic, message->vectors);
        if (!send || !receive)
            return TRV_ERR_MEMORY;
        for (int v = 0; v < message->vectors; v++) {
            send[v] = (trv_part_t){.reg = message->send[v], .blocks = *blocks};
            receive[v] = (trv_part_t){.reg = message->receive[v], .blocks = *blocks};
        }
    }
    return TRV_OK;
}

static int windows_step(const trv_stage_t *stage, const trv_schedule_t *schedule, int rank, int stream, int step,
                        const trv_blocks_t *blocks, trv_step_t *out)
{
    const windows_t *windows = (const windows_t *)stage;
    const trv_stage_lattice_t *lattice = &windows->lattice;
    const trv_turn_t turn = trv_visit_turn(windows->visit, lattice->active, windows->levels, stream, step);
    const trv_window_step_t *window = &windows->steps[turn.index]->step[turn.level];
    int rc = trv_step_reserve(out, window->messages, window->messages, window->combines);
    if (rc)
        return rc;
    out->dimension = lattice->dimension[turn.index];
    rc = add_messages(out, schedule, rank, lattice->stride[turn.index], window, windows->share_port, blocks);
    for (int c = 0; c < window->combines && !rc; c++) {
        const trv_window_combine_t *combine = &window->combine[c];
        rc = trv_step_combine(out, combine->dst, combine->sources, combine->source, 0, blocks);
    }
    return rc;
}

/* Creates the window steps of every dimension; equal sizes share them. */
static bool make_steps(windows_t *windows, trv_window_maker_t *maker, int reach)
{
    const trv_stage_lattice_t *lattice = &windows->lattice;
    for (int i = 0; i < lattice->active; i++) {
        for (int j = 0; j < i && !windows->steps[i]; j++)
            if (lattice->size[j] == lattice->size[i])
                windows->steps[i] = windows->steps[j];
        if (!windows->steps[i])
            windows->steps[i] = maker(lattice->size[i], reach);
        if (!windows->steps[i])
            return false;
    }
    return true;
}

trv_stage_t *trv_windows_stage(const trv_stage_lattice_t *lattice, trv_window_maker_t *maker, int reach,
                               bool share_port)
{
    windows_t *windows = calloc(1, sizeof *windows);
    if (!windows) {
        trv_fail_memory();
        return NULL;
    }
    windows->lattice = *lattice;
    windows->share_port = share_port;
    windows->base = (trv_stage_t){.registers = 1, .step = windows_step, .destroy = windows_destroy};
    if (!make_steps(windows, maker, reach)) {
        windows_destroy(&windows->base); /* accepts NULL for window steps that were not created */
        return NULL;
    }
    bool whole = true;
    for (int i = 0; i < lattice->active; i++) {
        const trv_window_steps_t *steps = windows->steps[i];
        whole = whole && steps->whole;
        windows->levels[i] = steps->steps;
        windows->base.steps += steps->steps;
        if (steps->registers > windows->base.registers)
            windows->base.registers = steps->registers;
    }
    windows->visit = whole ? TRV_INTERLEAVED : TRV_SEQUENTIAL;
    return &windows->base;
}
