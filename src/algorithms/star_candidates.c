/*
 * Stars as candidates: every known chain of the torus as reduce-scatter and allgather, with whole vectors, and with
 * whole vectors in every set of steps that reaches a subgroup.
 */
#include <stdlib.h>

#include <trivance/algorithms.h>

#include "algorithms/collector.h"
#include "algorithms/star_name.h"
#include "algorithms/builders/star_streams.h"
#include "base/error.h"

#define DIGITS 10 /* number of steps that a name can identify by a digit */

/* The model of a star. The load of the links in a step is exact, because all messages of a step have the same size. In
 * the allgather of an AllReduce a rank sends to the peers of the reduce-scatter. */
static trv_model_t star_model(const trv_star_t *star, const trv_star_layout_t *layout, trv_collective_t collective)
{
    const int phases = collective == TRV_ALLREDUCE ? 2 : 1;
    trv_model_t model = {.steps = 0};
    double held = 1;             /* part of the vector before the step */
    int messages = 0, parts = 0; /* of a stream */
    for (int i = 0; i < star->chain.steps; i++) {
        const int step = layout->step[i], times = i < layout->scatter ? phases : 1;
        if (i < layout->scatter)
            held /= star->chain.step[step].vectors + 1;
        model.steps += times;
        model.hops += times * trv_star_hops(&star->chain, step);
        model.load += times * held * trv_star_link_messages(star, layout, step) / layout->streams;
        model.injected += times * held / layout->streams;
        messages += times * star->chain.step[step].vectors;
        parts += held < 1 ? star->chain.step[step].vectors : 0;
        if (collective == TRV_ALLGATHER)
            continue;
        model.reductions++;
        model.reduced += (star->chain.step[step].vectors + 1) * held;
    }
    trv_model_messages(&model, messages, layout->streams);
    model.parts = parts * layout->streams;
    return model;
}

/* Adds one form of a star with its distinct streams, and with the maximum number of streams if these are fewer.
 * `always`: it is the choice of the name star alone. */
static int star_add(const trv_collector_t *collector, const trv_star_t *form, int number, bool always)
{
    trv_star_t star = *form;
    trv_star_layout_t layout;
    int rc = TRV_OK, streams[] = {star.streams, trv_star_streams_max(&star.chain.torus)};
    trv_star_layout_make(&star, &layout);
    for (int i = 0; i < (star.streams == 0 && layout.streams < streams[1] ? 2 : 1) && !rc; i++) {
        char name[TRV_ALGORITHM_NAME_MAX];
        star.streams = streams[i];
        trv_star_layout_make(&star, &layout);
        const trv_model_t model = star_model(&star, &layout, collector->collective);
        trv_star_name(&star, number, name, sizeof name);
        rc = collector->add(collector->list, name, &model, always && i == 0);
    }
    return rc;
}

static int star_add_chain(const trv_collector_t *collector, const trv_star_chain_t *chain, int number)
{
    trv_star_t star = {.form = TRV_STAR_SUMS, .chain = *chain};
    int rc = star_add(collector, &star, number, number == 0);
    if (collector->collective != TRV_ALLREDUCE)
        return rc;
    const unsigned all = (1U << chain->steps) - 1, last = chain->steps > DIGITS ? (1U << DIGITS) - 1 : all;
    for (star.whole = 1; star.whole <= last && !rc; star.whole++)
        if (trv_star_is_subgroup(chain, star.whole))
            rc = star_add(collector, &star, number, false);
    star.whole = all;
    if (all != last && !rc)
        rc = star_add(collector, &star, number, false);
    star.streams = 1; /* for the smallest vectors, because fewer messages are sent */
    return rc ? rc : star_add(collector, &star, number, false);
}

int trv_star_candidates(const trv_collector_t *collector)
{
    trv_star_chain_t *chain = malloc(TRV_STAR_FOUND_MAX * sizeof *chain);
    if (!chain)
        return trv_fail_memory();
    int chains = collector->torus->ranks > 1 ? trv_star_find(collector->torus, chain) : 0, rc = TRV_OK;
    for (int i = 0; i < chains && !rc; i++)
        rc = star_add_chain(collector, &chain[i], i);
    free(chain);
    return chains == TRV_ERR_UNSUPPORTED ? TRV_OK : chains < 0 ? chains : rc;
}
