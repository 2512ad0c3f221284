/*
 * Shortest paths among the subgroups of a torus, and the selection of those that are kept.
 *
 * A chain is rated by the time that a model predicts for its best form on a vector of m bytes. In this form the first
 * steps are a reduce-scatter and allgather; the rest, from a subgroup of r ranks on, is L with a part r / n of the
 * vector:
 *
 *     2 (alpha + hops * hop) + load * (ranks of the next subgroup / n) * m * byte      per step of the first kind
 *     alpha + hops * hop + load / 2 * (r / n) * m * byte                               per step of L
 *
 * (load / 2, because two mirrored streams share the vector.) Each r has shortest paths of its own. The objectives are
 * vectors from tiny to large with a low, a usual and a high alpha. Chains are kept until, for every objective, one of
 * them is close to the best.
 */
#include "search/stars/search.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define HOP_NS       200.0 /* a link and a router in the paper's network (appendix E) */
#define BYTE_NS      0.01  /* 800 Gb/s */
#define CLOSE_FACTOR 1.002 /* a chain is close to the best if it takes at most this factor longer */
#define FORMS_MAX    256   /* maximum number of orders of subgroups: divisors of numbers up to 2^16 */

typedef struct objective {
    double alpha_ns, vector_ns; /* time of a step; time of the whole vector on one link */
} objective_t;

/* A path: per step the edge and the index of its option. */
typedef struct path {
    int steps;
    int edge[TRV_STAR_STEPS_MAX], option[TRV_STAR_STEPS_MAX];
} path_t;

typedef struct finder {
    trv_star_graph_t graph;
    int *ascending;           /* nodes in the order of their ranks */
    double *shared, *latency; /* per node: minimum time from there to the end, beginning as B, and as L only */
    int *choice;              /* per node: edge * TRV_STAR_OPTIONS_MAX + option of the next step as L; -1: none */
    int *shared_choice;       /* the same for a next step as B; -1: L from here on */
    int forms, form[FORMS_MAX];
} finder_t;

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static double step_ns(const objective_t *objective, const trv_star_option_t *option, double share)
{
    return objective->alpha_ns + HOP_NS * option->hops + option->load / 2 * share * objective->vector_ns;
}

/* Computes the minimum times as L from all nodes of at most `ranks` ranks. */
static void finder_relax_latency(finder_t *finder, const objective_t *objective, int ranks)
{
    const trv_star_graph_t *graph = &finder->graph;
    double share = (double)ranks / graph->all.torus.ranks;
    for (int i = 0; i < graph->nodes; i++) {
        const trv_star_node_t *node = &graph->node[finder->ascending[i]];
        int at = finder->ascending[i];
        if (node->ranks > ranks)
            break;
        finder->latency[at] = node->ranks == 1 ? 0 : DBL_MAX;
        for (int e = node->first_edge; e < node->first_edge + node->edges; e++)
            for (int o = 0; o < graph->edge[e].options; o++) {
                double rest = finder->latency[graph->edge[e].to];
                double time = rest == DBL_MAX ? DBL_MAX : rest + step_ns(objective, &graph->edge[e].option[o], share);
                if (time < finder->latency[at]) {
                    finder->latency[at] = time;
                    finder->choice[at] = e * TRV_STAR_OPTIONS_MAX + o;
                }
            }
    }
}

/* Computes the minimum times if the steps begin as B. */
static void finder_relax_shared(finder_t *finder, const objective_t *objective)
{
    const trv_star_graph_t *graph = &finder->graph;
    for (int f = 0; f < finder->forms; f++) {
        finder_relax_latency(finder, objective, finder->form[f]);
        for (int i = 0; i < graph->nodes; i++)
            if (graph->node[i].ranks == finder->form[f])
                finder->shared[i] = finder->latency[i];
    }
    for (int i = 0; i < graph->nodes; i++) {
        int at = finder->ascending[i];
        const trv_star_node_t *node = &graph->node[at];
        finder->shared_choice[at] = -1;
        for (int e = node->first_edge; e < node->first_edge + node->edges; e++)
            for (int o = 0; o < graph->edge[e].options; o++) {
                double rest = finder->shared[graph->edge[e].to];
                double share = (double)node->ranks / graph->edge[e].factor / graph->all.torus.ranks;
                double time = rest == DBL_MAX ? DBL_MAX
                                              : rest + 2 * step_ns(objective, &graph->edge[e].option[o], share);
                if (time < finder->shared[at]) {
                    finder->shared[at] = time;
                    finder->shared_choice[at] = e * TRV_STAR_OPTIONS_MAX + o;
                }
            }
    }
}

/* Follows the choices from the whole torus. Returns false if none leads to the end. */
static bool finder_follow(finder_t *finder, const objective_t *objective, path_t *path)
{
    const trv_star_graph_t *graph = &finder->graph;
    bool shared = true;
    path->steps = 0;
    if (finder->shared[0] == DBL_MAX)
        return false;
    for (int at = 0; graph->node[at].ranks > 1; path->steps++) {
        if (shared && finder->shared_choice[at] < 0) {
            finder_relax_latency(finder, objective, graph->node[at].ranks);
            shared = false;
        }
        int choice = shared ? finder->shared_choice[at] : finder->choice[at];
        path->edge[path->steps] = choice / TRV_STAR_OPTIONS_MAX;
        path->option[path->steps] = choice % TRV_STAR_OPTIONS_MAX;
        at = graph->edge[path->edge[path->steps]].to;
    }
    return true;
}

/* The time of a path in its best form. */
static double path_ns(const finder_t *finder, const objective_t *objective, const path_t *path)
{
    const trv_star_graph_t *graph = &finder->graph;
    double best = DBL_MAX, shared = 0, share = 1;
    for (int k = 0; k <= path->steps; k++) {
        double time = shared;
        for (int j = k; j < path->steps; j++)
            time += step_ns(objective, &graph->edge[path->edge[j]].option[path->option[j]], share);
        best = time < best ? time : best;
        if (k == path->steps)
            break;
        const trv_star_edge_t *edge = &graph->edge[path->edge[k]];
        share /= edge->factor;
        shared += 2 * step_ns(objective, &edge->option[path->option[k]], share);
    }
    return best;
}

/* ---- From paths to chains ---------------------------------------------------------------------------------------- */

/* The vectors of a step are in the coordinates of its own node; `view` maps them back to those of the torus. */
static void chain_from_path(const trv_star_graph_t *graph, const path_t *path, trv_star_chain_t *chain)
{
    int dims = graph->all.torus.dims;
    trv_star_symmetry_t view = graph->symmetry[0];
    memset(chain, 0, sizeof *chain);
    chain->torus = graph->all.torus;
    chain->steps = path->steps;
    for (int k = 0; k < path->steps; k++) {
        const trv_star_edge_t *edge = &graph->edge[path->edge[k]];
        const trv_star_symmetry_t *symmetry = &graph->symmetry[edge->symmetry], before = view;
        chain->step[k].vectors = edge->factor - 1;
        for (int i = 0; i < edge->factor - 1; i++)
            for (int d = 0; d < dims; d++)
                chain->step[k].vector[i].at[d] = view.sign[d] *
                                                 graph->all
                                                     .at[edge->option[path->option[k]].displacement[i]][view.from[d]];
        /* The next node is the image under `symmetry`, in which coordinate from[d], times the sign, became coordinate
         * d. */
        for (int d = 0; d < dims; d++)
            for (int e = 0; e < dims; e++)
                if (symmetry->from[e] == before.from[d]) {
                    view.from[d] = (int8_t)e;
                    view.sign[d] = (int8_t)(before.sign[d] * symmetry->sign[e]);
                }
    }
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

#define OBJECTIVES_MAX 32

typedef struct candidates {
    int objectives, count;
    objective_t objective[OBJECTIVES_MAX];
    path_t path[OBJECTIVES_MAX];
    double time[OBJECTIVES_MAX][OBJECTIVES_MAX]; /* time of a path, for an objective */
} candidates_t;

static void candidates_set_objectives(candidates_t *candidates)
{
    static const double alpha_us[] = {0.5, 1.5, 5.0};
    static const double bytes[] = {32, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20};
    /* The first objective prefers the fewest steps, then the fewest hops, then the lowest load. */
    candidates->objective[candidates->objectives++] = (objective_t){1e9, 1.0};
    for (size_t a = 0; a < sizeof alpha_us / sizeof alpha_us[0]; a++)
        for (size_t b = 0; b < sizeof bytes / sizeof bytes[0]; b++)
            candidates->objective[candidates->objectives++] = (objective_t){1e3 * alpha_us[a], BYTE_NS * bytes[b]};
}

/* Compares the best of the paths in `kept` (bits) and `also` with the best of all, for every objective. Returns the
 * largest ratio of their times, and sets *sum to the sum of the ratios. */
static double candidates_loss(const candidates_t *candidates, unsigned kept, int also, double *sum)
{
    double worst = 0;
    *sum = 0;
    kept |= 1u << also;
    for (int o = 0; o < candidates->objectives; o++) {
        double best = DBL_MAX, mine = DBL_MAX;
        for (int p = 0; p < candidates->count; p++) {
            double time = candidates->time[p][o];
            best = time < best ? time : best;
            mine = (kept >> p & 1) && time < mine ? time : mine;
        }
        worst = mine / best > worst ? mine / best : worst;
        *sum += mine / best;
    }
    return worst;
}

static int finder_choose_chains(const finder_t *finder, const candidates_t *candidates, trv_star_chain_t *chain)
{
    unsigned kept = 0;
    int count = 0;
    double sum, worst = DBL_MAX;
    for (int next = 0; next >= 0 && count < TRV_STAR_FOUND_MAX && worst > CLOSE_FACTOR; count++) {
        kept |= 1u << next;
        chain_from_path(&finder->graph, &candidates->path[next], &chain[count]);
        worst = candidates_loss(candidates, kept, next, &sum);
        double smallest = sum;
        next = -1;
        for (int p = 0; p < candidates->count; p++)
            if (candidates_loss(candidates, kept, p, &sum) > 0 && sum < smallest) {
                smallest = sum;
                next = p;
            }
    }
    return count;
}

static int finder_find_paths(finder_t *finder, candidates_t *candidates)
{
    char text[TRV_TORUS_TEXT_MAX];
    candidates_set_objectives(candidates);
    for (int o = 0; o < candidates->objectives; o++) {
        finder_relax_shared(finder, &candidates->objective[o]);
        if (!finder_follow(finder, &candidates->objective[o], &candidates->path[candidates->count]))
            return trv_fail(TRV_ERR_UNSUPPORTED, "no star chain was found for %s within the limit of the search",
                            trv_torus_format(&finder->graph.all.torus, text, sizeof text));
        candidates->count++;
    }
    for (int p = 0; p < candidates->count; p++)
        for (int o = 0; o < candidates->objectives; o++)
            candidates->time[p][o] = path_ns(finder, &candidates->objective[o], &candidates->path[p]);
    return TRV_OK;
}

static int finder_begin(finder_t *finder, const trv_torus_t *torus, int64_t work, trv_span_t part)
{
    int rc = trv_star_graph_create(&finder->graph, torus, work, part);
    if (rc)
        return rc;
    const trv_star_graph_t *graph = &finder->graph;
    size_t nodes = (size_t)graph->nodes;
    finder->ascending = malloc(nodes * sizeof *finder->ascending);
    finder->latency = malloc(nodes * sizeof *finder->latency);
    finder->shared = malloc(nodes * sizeof *finder->shared);
    finder->choice = malloc(nodes * sizeof *finder->choice);
    finder->shared_choice = malloc(nodes * sizeof *finder->shared_choice);
    if (!finder->ascending || !finder->latency || !finder->shared || !finder->choice || !finder->shared_choice)
        return trv_fail_memory();
    for (int ranks = 1, position = 0; ranks <= torus->ranks; ranks++) {
        if (torus->ranks % ranks)
            continue;
        finder->form[finder->forms++] = ranks;
        for (int i = 0; i < graph->nodes; i++)
            if (graph->node[i].ranks == ranks)
                finder->ascending[position++] = i;
    }
    return TRV_OK;
}

static void finder_end(finder_t *finder)
{
    free(finder->ascending);
    free(finder->latency);
    free(finder->shared);
    free(finder->choice);
    free(finder->shared_choice);
    trv_star_graph_clear(&finder->graph);
}

/* ---- Interface --------------------------------------------------------------------------------------------------- */

static int largest_prime(int value)
{
    int prime = 1;
    for (int p = 2; p * (int64_t)p <= value; p++)
        for (; value % p == 0; value /= p)
            prime = p;
    return value > 1 ? value : prime;
}

static int check_torus(const trv_torus_t *torus)
{
    char text[TRV_TORUS_TEXT_MAX];
    int dims = 0, prime = largest_prime(torus->ranks);
    for (int d = 0; d < torus->dims; d++)
        dims += torus->size[d] > 1;
    trv_torus_format(torus, text, sizeof text);
    if (prime > 2 * dims + 1)
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        "%s has no star chain: its number of ranks, %d, has the prime factor %d, but with %d ports per "
                        "rank the factor of a step is at most %d",
                        text, torus->ranks, prime, 2 * dims, 2 * dims + 1);
    if (torus->ranks > TRV_STAR_SEARCH_MAX)
        return trv_fail(TRV_ERR_UNSUPPORTED, "star chains are searched for tori of at most %d ranks; %s has %d",
                        TRV_STAR_SEARCH_MAX, text, torus->ranks);
    return TRV_OK;
}

int trv_star_search(const trv_torus_t *torus, int64_t work, trv_span_t part, trv_star_chain_t chain[TRV_STAR_FOUND_MAX])
{
    finder_t finder = {0};
    int count = 0, rc = check_torus(torus);
    if (rc)
        return rc;
    candidates_t *candidates = calloc(1, sizeof *candidates);
    rc = candidates ? finder_begin(&finder, torus, work, part) : trv_fail_memory();
    if (!rc)
        rc = finder_find_paths(&finder, candidates);
    if (!rc)
        count = finder_choose_chains(&finder, candidates, chain);
    finder_end(&finder);
    free(candidates);
    for (int i = 0; i < count && !rc; i++)
        rc = trv_star_check(&chain[i], false);
    return rc ? rc : count;
}
