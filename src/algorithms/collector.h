/*
 * What an algorithm with parameters offers the planner: the names that are worth a look on a torus, each with a model of
 * its time that is known before the schedule is made.
 */
#ifndef TRIVANCE_ALGORITHMS_COLLECTOR_H
#define TRIVANCE_ALGORITHMS_COLLECTOR_H

#include <stdbool.h>

#include <trivance/schedule.h>

/* The model: time = steps * (alpha + what a message of no bytes takes) + hops * time of a hop + load * vector /
 * bandwidth + waits * overhead of a message, or messages * overhead where that is more. Hops are those of the longest
 * message of each step, added up, load what a step waits for on the busiest link as a fraction of the vector, added up.
 * Where that is one stream's, and the others' messages are on the links while it pays its latencies, busy is what the link
 * carries of all, which takes no less than vector / bandwidth. A stream waits for the overheads of its own messages and,
 * until the others are out of step with it, of theirs. */
typedef struct trv_model {
    double steps, hops, load, busy;
    double messages, waits; /* all that a rank sends; for how many of their overheads a stream waits */
} trv_model_t;

/* Sets the last two, where a stream of each rank sends so many messages in all. The steps are set. */
static inline void trv_model_messages(trv_model_t *model, double of_stream, int streams)
{
    model->messages = streams * of_stream;
    model->waits = of_stream + (model->steps > 0 ? (streams - 1) * of_stream / model->steps : 0);
}

/* Who asks for candidates, and for which. */
typedef struct trv_collector {
    const trv_torus_t *torus;
    trv_collective_t collective;
    bool consistent; /* what is not will not be taken */
    /* Adds one. `always`: it is considered whatever the model says. A model of NULL is measured on the schedule. */
    int (*add)(void *list, const char *name, const trv_model_t *model, bool always);
    void *list;
} trv_collector_t;

#endif
