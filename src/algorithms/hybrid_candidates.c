/*
 * Hybrids as candidates: for every size of the torus all divisors g, with every number of steps that reduces the
 * transmission (docs/distances.md), in both orders of visiting the dimensions. Dimensions of equal size share one
 * choice, so that all streams have the same work.
 *
 * The model of a hybrid is composed of the models of its dimensions. Each of these is determined once: measured on a
 * hybrid on its ring, or computed for its line.
 */
#include <stdio.h>
#include <stdlib.h>

#include <trivance/algorithms.h>
#include <trivance/cost.h>

#include "algorithms/collector.h"
#include "algorithms/hybrid.h"
#include "algorithms/builders/line.h"
#include "algorithms/uneven_sides.h"
#include "base/error.h"
#include "base/radix.h"
#include "search/distances/distances.h"
#include "torus/torus.h"

#define STEPS_MAX    64   /* per phase, in one dimension */
#define OPTIONS_MAX  128  /* per size */
#define SEARCHED_MAX 10   /* factors of one size whose distances need a search, which takes tens of milliseconds */
#define HYBRIDS_MAX  2048 /* per torus and order of visiting */
#define UNEVEN_ROWS  3
#define STREAMED     4   /* streams in each dimension on tori with lines … */
#define STREAMED_MAX 256 /* … if there are at most this many combinations of factors */

/* A choice for one dimension. Loads are those of the busiest link of the ring, as fractions of the vector. */
typedef struct option {
    int g, steps;               /* steps of one phase */
    double load[STEPS_MAX];     /* per step of the reduce-scatter */
    double held[STEPS_MAX + 1]; /* part of the vector that a rank holds before each of these steps, and after all */
    double scatter_hops;
    int middle_steps;
    double middle_hops, middle_load, middle_injected;
    double messages; /* of a rank, in reduce-scatter, stage and allgather */
    int peers;       /* to which it sends them; on lines an upper bound, one for each message */
} option_t;

/* The choices for one size, which all dimensions of that size share. */
typedef struct side {
    int size, options;
    bool line;
    option_t *option;
} side_t;

typedef struct source {
    const trv_collector_t *collector;
    trv_hybrid_form_t form;
    int active, dimension[TRV_DIMS_MAX];
    bool streamed;                    /* also add candidates with several streams in each dimension */
    int sides, side_of[TRV_DIMS_MAX]; /* the side of dimension[i] */
    side_t side[TRV_DIMS_MAX];
} source_t;

/* ---- One dimension ----------------------------------------------------------------------------------------------- */

/* Reads the steps of a hybrid on a ring: reduce-scatter, stage, allgather. The allgather is the reversal of the
 * reduce-scatter. */
static int option_read_steps(const trv_cost_t *cost, option_t *option)
{
    if (option->steps > STEPS_MAX || cost->steps < 2 * option->steps)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a hybrid of more than %d steps per phase is not a candidate", STEPS_MAX);
    option->held[0] = 1;
    for (int k = 0; k < option->steps; k++) {
        option->load[k] = cost->step[k].link_fraction;
        /* a rank does not keep what it sends */
        option->held[k + 1] = option->held[k] - 2 * cost->step[k].port_fraction;
        option->scatter_hops += cost->step[k].hops;
    }
    option->middle_steps = cost->steps - 2 * option->steps;
    for (int k = option->steps; k < option->steps + option->middle_steps; k++) {
        option->middle_load += cost->step[k].link_fraction;
        option->middle_hops += cost->step[k].hops;
        option->middle_injected += cost->step[k].port_fraction;
    }
    return TRV_OK;
}

/* Computes an option on a line: `g` neighbours scatter the vector among themselves; then the ranks that are g apart
 * exchange their g-th of it, on g lines that share their links. */
static int option_compute(const side_t *side, option_t *option)
{
    trv_line_cost_t cost[STEPS_MAX];
    const int middle = side->size / option->g;
    int rc = trv_line_costs(option->g, true, cost);
    option->held[0] = 1;
    for (int k = 0; k < option->steps && !rc; k++) {
        option->load[k] = cost[k].load / option->g;
        option->held[k + 1] = cost[k].largest / option->g; /* the message is all that its receiver then holds */
        option->scatter_hops += cost[k].hops;
        option->messages += 2 * cost[k].messages / option->g;
    }
    if (!rc)
        rc = trv_line_costs(middle, false, cost);
    option->middle_steps = trv_log_ceil(3, middle);
    for (int k = 0; k < option->middle_steps && !rc; k++) {
        option->middle_load += cost[k].load; /* g lines, each with a g-th of the vector */
        option->middle_hops += (double)option->g * cost[k].hops;
        option->middle_injected += 1.0 / option->g;
        option->messages += cost[k].messages / middle;
    }
    return rc;
}

/* Counts the ranks to which rank 0 sends. */
static int option_count_peers(const trv_schedule_t *schedule, option_t *option)
{
    const int ranks = trv_schedule_torus(schedule)->ranks;
    bool *met = calloc((size_t)ranks, sizeof *met);
    trv_step_t step = TRV_STEP_INIT;
    int rc = met ? TRV_OK : trv_fail_memory();
    for (int k = 0; k < trv_schedule_steps(schedule) && !rc; k++) {
        rc = trv_schedule_step(schedule, 0, 0, k, &step);
        for (int i = 0; i < step.sends && !rc; i++) {
            option->peers += !met[step.send[i].peer];
            met[step.send[i].peer] = true;
        }
    }
    trv_step_clear(&step);
    free(met);
    return rc;
}

static int option_measure(const source_t *source, const side_t *side, option_t *option)
{
    trv_torus_t ring;
    trv_schedule_t *schedule;
    trv_cost_t cost;
    char name[TRV_ALGORITHM_NAME_MAX];
    if (side->line) {
        const int rc = option_compute(side, option);
        option->peers = (int)option->messages;
        return rc;
    }
    int rc = trv_torus_init(&ring, 1, &side->size);
    if (rc)
        return rc;
    trv_hybrid_t hybrid = {.dimension = {{option->g, option->steps, 0}}, .form = source->form};
    trv_hybrid_name(&hybrid, &ring, name, sizeof name);
    rc = trv_schedule_create(&schedule, &ring, name, TRV_ALLREDUCE);
    if (rc)
        return rc;
    rc = trv_cost_measure(schedule, &cost);
    if (!rc && source->collector->has_message_overheads)
        rc = option_count_peers(schedule, option);
    trv_schedule_destroy(schedule);
    if (!rc)
        rc = option_read_steps(&cost, option);
    if (!rc)
        option->messages = (double)cost.messages / side->size;
    trv_cost_clear(&cost);
    return rc;
}

static int side_add_option(const source_t *source, side_t *side, int g, int steps)
{
    if (side->options == OPTIONS_MAX)
        return TRV_OK;
    option_t *option = &side->option[side->options];
    *option = (option_t){.g = g, .steps = steps};
    int rc = option_measure(source, side, option);
    side->options += rc == TRV_OK;
    return rc;
}

/* Whether the distances of a ring of `g` are searched for. */
static bool is_searched(int g) { return g > TRV_DISTANCES_TABLE_MAX && g <= TRV_DISTANCES_SEARCH_MAX; }

/* Whether factor `g` is skipped: of the factors whose distances are searched for, SEARCHED_MAX are kept, evenly spaced.
 * Only sizes of thousands of ranks have more. */
static bool is_skipped(int size, int g)
{
    int all = 0, before = 0;
    for (int f = 2; f <= size && is_searched(g); f++) {
        all += size % f == 0 && is_searched(f);
        before += f < g && size % f == 0 && is_searched(f);
    }
    return all > SEARCHED_MAX && (before + 1) * SEARCHED_MAX / all == before * SEARCHED_MAX / all;
}

static int side_make(const source_t *source, side_t *side)
{
    side->option = malloc(OPTIONS_MAX * sizeof *side->option);
    if (!side->option)
        return trv_fail_memory();
    int rc = TRV_OK;
    for (int g = 1; g <= side->size && !rc; g++) {
        if (side->size % g != 0 || (g < side->size && source->collector->collective != TRV_ALLREDUCE) ||
            is_skipped(side->size, g))
            continue;
        if (g == 1) {
            rc = side_add_option(source, side, 1, 0);
            continue;
        }
        if (side->line) {
            rc = side_add_option(source, side, g, trv_log_ceil(3, g));
            continue;
        }
        trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
        int rows = trv_distances_front(g, front);
        rc = rows < 0 ? rows : TRV_OK;
        for (int r = 0; r < rows && !rc; r++)
            rc = side_add_option(source, side, g, front[r].steps);
    }
    return rc;
}

/* ---- All dimensions together ------------------------------------------------------------------------------------- */

/* A hybrid, and the work of its streams in the reduce-scatter. */
typedef struct mix {
    const option_t *option[TRV_DIMS_MAX]; /* of dimension[i] */
    const option_t *whole[TRV_DIMS_MAX];  /* the option g = 1, for dimensions over which a stream does not scatter */
    int own;
    trv_visit_t visit;
    int steps[TRV_DIMS_MAX]; /* per stream */
    struct {
        int turn;
        double load; /* of this stream's own messages, as a fraction of its slice */
        double sent; /* the part of its slice that a rank sends */
    } scatter[TRV_DIMS_MAX][STEPS_MAX * TRV_DIMS_MAX];
} mix_t;

static const option_t *mix_option(const source_t *source, const mix_t *mix, int stream, int i)
{
    bool scattered = (i - stream + source->active) % source->active < mix->own;
    return scattered ? mix->option[i] : mix->whole[i];
}

/* The product of what the stream holds in all dimensions other than `but`, before the levels `level` (NULL: after all).
 * The sizes of its messages in dimension `but` are multiples of this. */
static double mix_others_held(const source_t *source, const mix_t *mix, int stream, int but, const int *level)
{
    double held = 1;
    for (int i = 0; i < source->active; i++) {
        const option_t *option = mix_option(source, mix, stream, i);
        if (i != but)
            held *= option->held[level ? level[i] : option->steps];
    }
    return held;
}

static void mix_walk_scatter(const source_t *source, mix_t *mix, int stream)
{
    int levels[TRV_DIMS_MAX];
    mix->steps[stream] = 0;
    for (int i = 0; i < source->active; i++)
        mix->steps[stream] += levels[i] = mix_option(source, mix, stream, i)->steps;
    for (int t = 0; t < mix->steps[stream]; t++) {
        const trv_turn_t turn = trv_visit_turn(mix->visit, source->active, levels, stream, t);
        const option_t *option = mix_option(source, mix, stream, turn.index);
        const double others = mix_others_held(source, mix, stream, turn.index, turn.done);
        mix->scatter[stream][t].turn = turn.index;
        mix->scatter[stream][t].load = option->load[turn.level] * others;
        mix->scatter[stream][t].sent = (option->held[turn.level] - option->held[turn.level + 1]) * others;
    }
}

/* The load of the busiest link of the dimension in which `stream` works in step `t`: of its own messages, and of those
 * of the other streams that work in that dimension. */
static double mix_scatter_load(const source_t *source, const mix_t *mix, int stream, int t)
{
    double load = 0;
    for (int s = 0; s < source->active; s++)
        if (t < mix->steps[s] && mix->scatter[s][t].turn == mix->scatter[stream][t].turn)
            load += mix->scatter[s][t].load;
    return load;
}

/* Adds to the model what stream 0 injects and reduces, and its messages of parts; all streams are similar. A step of
 * the reduce-scatter sends two messages and reduces two that it receives, with the rank's own data; so does one of the
 * stage, with all that is left of the slice. */
static void mix_add_costs(const source_t *source, const mix_t *mix, trv_model_t *model)
{
    const bool reduces = source->collector->collective != TRV_ALLGATHER;
    const int phases = source->collector->collective == TRV_ALLREDUCE ? 2 : 1;
    for (int t = 0; t < mix->steps[0]; t++) {
        model->injected += phases * mix->scatter[0][t].sent / 2 / source->active;
        model->reduced += 1.5 * mix->scatter[0][t].sent;
    }
    model->reductions = mix->steps[0];
    for (int i = 0; i < source->active; i++) {
        const option_t *option = mix_option(source, mix, 0, i);
        const double others = mix_others_held(source, mix, 0, i, NULL);
        model->injected += option->middle_injected * others / source->active;
        model->reduced += 3 * option->middle_steps * others * option->held[option->steps];
        model->reductions += option->middle_steps;
        if (mix->steps[0] > 0)
            model->parts += source->active * option->peers;
    }
    if (!reduces)
        model->reductions = model->reduced = 0;
}

static trv_model_t mix_model(const source_t *source, mix_t *mix)
{
    const int phases = source->collector->collective == TRV_ALLREDUCE ? 2 : 1;
    double in_dimension[TRV_DIMS_MAX] = {0}, longest = 0, busiest = 0;
    double largest = 0; /* the maximum over the streams */
    trv_model_t model = {.steps = 0};
    for (int s = 0; s < source->active; s++)
        mix_walk_scatter(source, mix, s);
    for (int s = 0; s < source->active; s++) {
        double steps = phases * mix->steps[s], hops = 0, load = 0, messages = 0;
        for (int t = 0; t < mix->steps[s]; t++)
            load += phases * mix_scatter_load(source, mix, s, t);
        for (int i = 0; i < source->active; i++) {
            const option_t *option = mix_option(source, mix, s, i);
            const double middle = option->middle_load * mix_others_held(source, mix, s, i, NULL);
            steps += option->middle_steps;
            hops += phases * option->scatter_hops + option->middle_hops;
            load += middle;
            in_dimension[i] += middle;
            messages += option->messages * phases / 2; /* with one phase there is no stage */
        }
        for (int t = 0; t < mix->steps[s]; t++)
            in_dimension[mix->scatter[s][t].turn] += phases * mix->scatter[s][t].load;
        model.steps = steps > model.steps ? steps : model.steps;
        model.hops = hops > model.hops ? hops : model.hops;
        longest = load > longest ? load : longest;
        largest = messages > largest ? messages : largest;
    }
    for (int i = 0; i < source->active; i++)
        busiest = in_dimension[i] > busiest ? in_dimension[i] : busiest;
    model.load = (busiest > longest ? busiest : longest) / source->active;
    trv_model_messages(&model, largest, source->active);
    mix_add_costs(source, mix, &model);
    return model;
}

/* If all dimensions are lines, the extreme cases have names of their own: line-l and line-b. */
static const char *extreme_name(const source_t *source, const int *choice, int own, trv_visit_t visit)
{
    bool extreme[2] = {own == 0 && visit == TRV_INTERLEAVED, own == 0 && visit == TRV_INTERLEAVED};
    for (int s = 0; s < source->sides; s++) {
        const int g = source->side[s].option[choice[s]].g;
        extreme[0] = extreme[0] && source->side[s].line && g == 1;
        extreme[1] = extreme[1] && source->side[s].line && g == source->side[s].size;
    }
    return extreme[0] ? "line-l" : extreme[1] ? "line-b" : NULL;
}

static bool source_has_only_lines(const source_t *source)
{
    for (int s = 0; s < source->sides; s++)
        if (!source->side[s].line)
            return false;
    return true;
}

static int source_add_hybrid(const source_t *source, const int *choice, int own, trv_visit_t visit)
{
    const char *extreme = extreme_name(source, choice, own, visit);
    mix_t mix = {.own = own ? own : source->active, .visit = visit};
    trv_hybrid_t hybrid = {.form = source->form, .visit = visit, .own = own};
    char name[TRV_ALGORITHM_NAME_MAX];
    for (int d = 0; d < source->collector->torus->dims; d++)
        hybrid.dimension[d] = (trv_factor_t){.g = 1};
    for (int i = 0; i < source->active; i++) {
        const side_t *side = &source->side[source->side_of[i]];
        mix.option[i] = &side->option[choice[source->side_of[i]]];
        mix.whole[i] = &side->option[0];
        const trv_factor_t factor = {mix.option[i]->g, mix.option[i]->steps, 0};
        hybrid.dimension[source->dimension[i]] = factor;
    }
    trv_model_t model = mix_model(source, &mix);
    trv_hybrid_name(&hybrid, source->collector->torus, name, sizeof name);
    int rc = source->collector->add(source->collector->list, extreme ? extreme : name, &model, false);
    if (rc || extreme || !source->streamed || own || visit != TRV_INTERLEAVED)
        return rc;
    hybrid.streams = STREAMED;
    trv_hybrid_name(&hybrid, source->collector->torus, name, sizeof name);
    if (source_has_only_lines(source)) {
        model.busy = model.load;
        model.load /= 2; /* half of a dimension's streams travel in each direction */
        trv_model_messages(&model, model.messages / source->active, STREAMED * source->active);
        model.parts *= STREAMED;
        model.injected /= STREAMED;
        return source->collector->add(source->collector->list, name, &model, false);
    }
    return trv_uneven_add(source->collector, name, "", ":weights", 1);
}

/* Adds one choice of options in all its forms. */
static int source_add_forms(const source_t *source, const int *choice)
{
    bool scatters = false;
    for (int s = 0; s < source->sides; s++)
        scatters = scatters || source->side[s].option[choice[s]].steps > 0;
    const int owns = scatters && source->collector->collective == TRV_ALLREDUCE ? source->active : 1;
    int rc = TRV_OK;
    for (int own = 0; own < owns && !rc; own++) {
        rc = source_add_hybrid(source, choice, own, TRV_INTERLEAVED);
        if (!rc && scatters && source->active > 1 && own != 1)
            rc = source_add_hybrid(source, choice, own, TRV_SEQUENTIAL);
    }
    return rc;
}

/* Adds all combinations of options; `choice` enumerates them. */
static int source_add_all(const source_t *source)
{
    int choice[TRV_DIMS_MAX] = {0}, side = 0, rc = TRV_OK;
    while (side < source->sides && !rc) {
        rc = source_add_forms(source, choice);
        for (side = 0; side < source->sides && ++choice[side] == source->side[side].options; side++)
            choice[side] = 0;
    }
    return rc;
}

/* While there are too many combinations, removes every second option of the size that has most. The first (L) and the
 * last (B in most steps) remain. */
static void source_limit_combinations(source_t *source)
{
    for (;;) {
        double combinations = 1;
        side_t *largest = &source->side[0];
        for (int s = 0; s < source->sides; s++) {
            combinations *= source->side[s].options;
            largest = source->side[s].options > largest->options ? &source->side[s] : largest;
        }
        source->streamed = source->collector->torus->lines && source->active > 1 && combinations <= STREAMED_MAX;
        if (combinations <= HYBRIDS_MAX)
            return;
        const int last = largest->options - 1;
        int kept = 0;
        for (int i = 0; i <= last; i++)
            if (i % 2 == 0 || i == last)
                largest->option[kept++] = largest->option[i];
        largest->options = kept;
    }
}

static int source_find_sides(source_t *source)
{
    const trv_torus_t *torus = source->collector->torus;
    source->active = trv_torus_active(source->collector->torus, source->dimension);
    for (int i = 0; i < source->active; i++) {
        const int d = source->dimension[i];
        int s = 0;
        while (s < source->sides &&
               (source->side[s].size != torus->size[d] || source->side[s].line != trv_torus_is_line(torus, d)))
            s++;
        source->side_of[i] = s;
        if (s < source->sides)
            continue;
        source->side[s].size = torus->size[d];
        source->side[s].line = trv_torus_is_line(torus, d);
        source->sides++;
        int rc = side_make(source, &source->side[s]);
        if (rc)
            return rc;
    }
    return TRV_OK;
}

/* A number of steps that is worth trying for the streams that do not begin in a dimension: that of a row of the front
 * close to the fewest steps. */
static int later_steps(int size, int row)
{
    trv_distances_t front[TRV_DISTANCES_FRONT_MAX];
    const int rows = size > 1 ? trv_distances_front(size, front) : 0;
    return rows > 0 ? front[row < rows ? row : rows - 1].steps : rows;
}

/* Adds forms of B for the longest vectors, on uneven sides and on tori with lines. Streams use distance 1 in the
 * dimension where they begin, because they move most data there, and few steps in the others, because in each of these
 * steps they would wait for other streams' messages. Several streams begin in each dimension: while one waits for the
 * start of a step, the others use the link. */
static int hybrid_add_uneven(const trv_collector_t *collector)
{
    static const int all[] = {5, 8, 12}, few[] = {5, 12}; /* fewer on tori with lines, where simulations take longer */
    const trv_torus_t *torus = collector->torus;
    const int *streams = torus->lines ? few : all, counts = torus->lines ? 2 : 3;
    trv_hybrid_t hybrid = {0};
    char name[TRV_ALGORITHM_NAME_MAX];
    int rc = TRV_OK;
    int dimension[TRV_DIMS_MAX];
    hybrid.visit = trv_torus_active(torus, dimension) > 2 ? TRV_INTERLEAVED : TRV_SEQUENTIAL;
    for (int form = 0; form < UNEVEN_ROWS * counts && !rc; form++) {
        hybrid.streams = streams[form / UNEVEN_ROWS];
        for (int d = 0; d < torus->dims && !rc; d++) {
            trv_factor_t *factor = &hybrid.dimension[d];
            factor->g = torus->size[d];
            factor->steps = torus->size[d] / 2;
            factor->later = later_steps(torus->size[d], 1 + form % UNEVEN_ROWS);
            rc = factor->later < 0 ? factor->later : TRV_OK;
            if (factor->steps > TRV_DISTANCES_STEPS_MAX)
                return rc;
            if (factor->later == factor->steps)
                factor->later = 0;
        }
        trv_hybrid_name(&hybrid, torus, name, sizeof name);
        if (!rc)
            rc = trv_uneven_add(collector, name, ":folded", ":weights", torus->lines ? 1 : TRV_WEIGHTS_BALANCED_MAX);
    }
    return rc;
}

/* Adds forms of B for tori with lines: the lines are used as folded rings, with the steps of a ring. */
static int hybrid_add_folded(const source_t *source)
{
    const trv_torus_t *torus = source->collector->torus;
    trv_hybrid_t hybrid = {.streams = source->active > 1 ? STREAMED : 1};
    char name[TRV_ALGORITHM_NAME_MAX];
    int rc = TRV_OK;
    for (int row = 0; row < UNEVEN_ROWS && !rc; row++) {
        for (int d = 0; d < torus->dims && !rc; d++) {
            const int steps = later_steps(torus->size[d], row);
            hybrid.dimension[d] = (trv_factor_t){.g = torus->size[d], .steps = steps};
            rc = steps < 0 ? steps : TRV_OK;
        }
        trv_hybrid_name(&hybrid, torus, name, sizeof name);
        if (!rc)
            rc = trv_uneven_add(source->collector, name, ":folded", ":weights", 1);
    }
    return rc;
}

int trv_hybrid_candidates(const trv_collector_t *collector)
{
    source_t source = {.collector = collector, .form = collector->consistent ? TRV_HYBRID_GROUPED : TRV_HYBRID_WINDOWS};
    int rc = source_find_sides(&source);
    if (!rc && source.sides > 0) {
        source_limit_combinations(&source);
        rc = source_add_all(&source);
    }
    if (!rc && source.active > 1 && (source.sides > 1 || collector->torus->lines))
        rc = hybrid_add_uneven(collector);
    if (!rc && source.active > 0 && collector->torus->lines)
        rc = hybrid_add_folded(&source);
    for (int s = 0; s < source.sides; s++)
        free(source.side[s].option);
    return rc;
}
