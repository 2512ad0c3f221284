/*
 * The interface through which algorithms with parameters offer candidates to the planner: the names that should be
 * considered on a torus, each with a model of its time that is known before the schedule is created.
 */
#ifndef TRIVANCE_ALGORITHMS_COLLECTOR_H
#define TRIVANCE_ALGORITHMS_COLLECTOR_H

#include <stdbool.h>

#include <trivance/network.h>
#include <trivance/schedule.h>

/* The model of a schedule's time:
 *
 *   time = steps * (alpha + time of a message without data) + hops * time of a hop
 *          + max(load * vector / bandwidth, injected * vector / injection rate)
 *          + reductions * time to reduce reduced / reductions / streams * vector in each stream
 *          + max(waits * overhead of a message per wait, messages * overhead of a message)
 *
 * `hops` is the sum over the steps of the hops of the longest message. `load` is the sum over the steps of the load of
 * the busiest link for which a stream waits, as a fraction of the vector. If that is the load of one stream, and the
 * other streams' messages use the links while it waits for its latencies, `busy` is the load of the link by all
 * streams; the time is then at least busy * vector / bandwidth, and longer with `queues`. A stream waits for the
 * overheads of its own messages and, as long as the other streams execute the same step, of theirs. Of all messages,
 * the fraction `parts / messages` has the overhead of a part in addition. With `message`, `load` and `busy` are those
 * of the whole flits in which links carry a message. `injected`, `message`, `parts`, `reductions` and
 * `reduced` are 0 if the algorithm's model does not determine them. */
typedef struct trv_model {
    double steps, hops, load, busy;
    double injected; /* sum over the steps of the bytes of a stream's largest message, as a fraction of the vector */
    double message;  /* bytes of a message, as a fraction of the vector, if most messages are of the same size */
    double messages, waits; /* messages that a rank sends; number of message overheads for which a stream waits */
    double parts; /* messages of a rank that are the first of their stream to a peer and carry a part of its data */
    double reductions; /* steps of a stream that reduce */
    double reduced;    /* bytes that the reductions of a rank read, as a fraction of the vector */
    double streams;    /* of the schedule; set by trv_model_messages */
    bool queues;       /* messages of different streams meet at links irregularly, so that their times add up in part */
} trv_model_t;

/* Sets `messages`, `waits` and `streams` for a stream that sends `of_stream` messages per rank in all. `steps` must be
 * set. */
static inline void trv_model_messages(trv_model_t *model, double of_stream, int streams)
{
    model->streams = streams;
    model->messages = streams * of_stream;
    model->waits = of_stream + (model->steps > 0 ? (streams - 1) * of_stream / model->steps : 0);
}

/* A request for candidates: the network, the collective and the receiver of the names. */
typedef struct trv_collector {
    const trv_torus_t *torus;     /* of the network; dimensions whose rows are used as lines are lines */
    const trv_network_t *network; /* for algorithms for any network */
    trv_collective_t collective;
    int root;                   /* of a rooted collective, otherwise 0 */
    bool consistent;            /* only consistent schedules are accepted */
    bool has_message_overheads; /* messages or parts have overheads */
    /* Adds a candidate. `always`: it is considered whatever its model predicts. If the model is NULL, the schedule is
     * created and measured. */
    int (*add)(void *list, const char *name, const trv_model_t *model, bool always);
    void *list;
} trv_collector_t;

#endif
