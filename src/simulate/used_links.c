/*
 * Determines whether the network can carry all messages if it does not forward, and whether any message passes a slow
 * or cut link. If none does, the simulation can ignore these links. It is then as fast as on a network without them,
 * because the symmetry of the schedule holds.
 */
#include <stdlib.h>

#include "base/error.h"
#include "simulate/simulator.h"
#include "torus/reach.h"
#include "torus/rows.h"
#include "torus/torus.h"

/* Marks, per rank of the fold and port. A rank of the fold represents all ranks that translations map onto it. */
enum {
    IN_ROW = 1, /* some link of the same row and direction is slow or cut */
    SLOW = 2
};

typedef struct passing {
    const trv_simulator_t *simulator;
    int ports;
    unsigned char *mark;
} passing_t;

static unsigned char *mark_of(const passing_t *p, int class, int port)
{
    return &p->mark[(size_t) class * (size_t)p->ports + (size_t)port];
}

static void mark_links(const passing_t *p, const trv_simulate_options_t *options)
{
    const trv_torus_t *fold = &p->simulator->fold;
    for (int i = 0; i < options->slow_links; i++) {
        const trv_slow_link_t *link = &options->slow_link[i];
        const int d = trv_port_dimension(link->port);
        int class = trv_simulator_class(p->simulator, link->rank);
        *mark_of(p, class, link->port) |= SLOW;
        for (int k = 0; k < fold->size[d]; k++) {
            *mark_of(p, class, link->port) |= IN_ROW;
            class = trv_torus_shift(fold, class, d, 1);
        }
    }
}

static bool leg_passes(const passing_t *p, int *class, const trv_leg_t *leg)
{
    const trv_torus_t *fold = &p->simulator->fold;
    const int port = (int)leg->port, d = trv_port_dimension(port), sign = trv_port_sign(port);
    bool passes = false;
    if (*mark_of(p, *class, port) & IN_ROW)
        for (int hop = 0, at = *class; hop < (int)leg->hops && hop < fold->size[d] && !passes; hop++) {
            passes = *mark_of(p, at, port) & SLOW;
            at = trv_torus_shift(fold, at, d, sign);
        }
    *class = trv_torus_shift(fold, *class, d, sign * (int)(leg->hops % (unsigned)fold->size[d]));
    return passes;
}

static bool some_passes(const passing_t *p)
{
    const trv_simulator_t *s = p->simulator;
    const size_t stages = (size_t)s->streams * (size_t)s->steps;
    for (int rank = 0; rank < s->fold.ranks; rank++)
        for (size_t i = 0; i < stages; i++) {
            const stage_t *stage = &s->stage[(size_t)rank * stages + i];
            for (uint32_t m = 0; m < stage->sends; m++) {
                const send_t *send = &s->send[stage->first_send + m];
                int class = rank;
                for (int l = 0; l < send->legs; l++)
                    if (leg_passes(p, &class, &s->leg[send->first_leg + (uint32_t)l]))
                        return true;
            }
        }
    return false;
}

int trv_simulator_check_forwarding(const trv_simulator_t *simulator, const trv_simulate_options_t *options)
{
    return trv_check_hops(options->no_forwarding, simulator->farthest.from, simulator->farthest.to,
                          simulator->farthest.hops);
}

int trv_simulator_drop_links(const trv_simulator_t *simulator, trv_simulate_options_t *options)
{
    passing_t passing = {.simulator = simulator, .ports = trv_port_count(&simulator->torus)};
    for (int i = 0; i < options->slow_links; i++) {
        const int rc = trv_link_check(&simulator->torus, &options->slow_link[i]);
        if (rc)
            return rc;
    }
    if (options->slow_links == 0)
        return TRV_OK;
    passing.mark = calloc((size_t)simulator->fold.ranks * (size_t)passing.ports, 1);
    if (!passing.mark)
        return trv_fail_memory();
    mark_links(&passing, options);
    if (!some_passes(&passing))
        options->slow_links = 0;
    free(passing.mark);
    return TRV_OK;
}
