/*
 * Stars as candidates: every chain that is known for the torus, as reduce-scatter and allgather, with whole vectors,
 * and with whole vectors in every set of steps that reaches a subgroup.
 */
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/star_streams.h"
#include "common/error.h"
#include "planner/candidates.h"

#define DIGITS 10 /* steps that a name can tell apart */

/* What a link carries in a step is known exactly: all messages of a step are equally large. */
static trv_model_t find_model(const trv_star_t *star, int phases)
{
    trv_star_order_t order;
    trv_model_t model = {0, 0, 0};
    double held = 1; /* of the vector, before the step */
    trv_star_order(star, &order);
    for (int i = 0; i < star->chain.steps; i++) {
        const int step = order.step[i], times = i < order.scatter ? phases : 1;
        if (i < order.scatter)
            held /= star->chain.step[step].vectors + 1;
        model.steps += times;
        model.hops += times * trv_star_hops(&star->chain, step);
        model.load += times * held * trv_star_link_messages(star, step) / trv_star_stream_count(star);
    }
    return model;
}

/* `always`: the choice of the algorithm that is just called star. */
static int add_star(trv_candidates_t *list, const trv_star_t *star, int number, bool always)
{
    trv_candidate_t candidate = {.always = always};
    candidate.model = find_model(star, list->collective == TRV_ALLREDUCE ? 2 : 1);
    trv_star_name(star, number, candidate.name, sizeof candidate.name);
    return trv_candidates_add(list, &candidate);
}

static int add_chain(trv_candidates_t *list, const trv_star_chain_t *chain, int number)
{
    trv_star_t star = {.form = TRV_STAR_SUMS, .chain = *chain};
    int rc = add_star(list, &star, number, number == 0);
    if (list->collective != TRV_ALLREDUCE)
        return rc;
    const unsigned all = (1U << chain->steps) - 1, last = chain->steps > DIGITS ? (1U << DIGITS) - 1 : all;
    for (star.whole = 1; star.whole <= last && !rc; star.whole++)
        if (trv_star_is_subgroup(chain, star.whole))
            rc = add_star(list, &star, number, false);
    star.whole = all;
    if (all != last && !rc)
        rc = add_star(list, &star, number, false);
    star.streams = 1; /* for the smallest vectors: fewer messages */
    return rc ? rc : add_star(list, &star, number, false);
}

int trv_candidates_stars(trv_candidates_t *list)
{
    trv_star_chain_t *chain = malloc(TRV_STAR_FOUND_MAX * sizeof *chain);
    if (!chain)
        return trv_fail_memory();
    int chains = list->torus.ranks > 1 ? trv_star_find(&list->torus, chain) : 0, rc = TRV_OK;
    for (int i = 0; i < chains && !rc; i++)
        rc = add_chain(list, &chain[i], i);
    free(chain);
    return chains == TRV_ERR_UNSUPPORTED ? TRV_OK : chains < 0 ? chains : rc;
}
