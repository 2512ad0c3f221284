/*
 * Derives the streams of a schedule from a star chain, see star_streams.h.
 *
 * A stream may apply any symmetry of the torus to the chain. Half of the streams are mirrored (v becomes -v), so that
 * both directions of a dimension carry the same load. Dimensions of the same size are permuted cyclically (a
 * *rotation*), so that they carry the same load, too:
 *
 *     4x4x8    stream 0: x y z    1: y x z    2: -x -y -z    3: -y -x -z
 *
 * Of streams that turn out to be identical one suffices (Trivance's steps, +-3^k, are their own mirror image). If a
 * number of streams is requested, identical ones are kept: each works on its own part of the vector, and while one
 * waits for the alpha of a step, the messages of another use the links.
 */
#include "algorithms/builders/star_streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "torus/torus.h"

/* ---- Rotations --------------------------------------------------------------------------------------------------- */

/* The dimensions that have the size of `d`, ascending (up to TRV_DIMS_MAX); returns their number. */
static int dimensions_of_size(const trv_torus_t *torus, int d, int *list)
{
    int count = 0;
    for (int other = 0; other < torus->dims; other++)
        if (torus->size[other] == torus->size[d])
            list[count++] = other;
    return count;
}

int trv_star_streams_max(const trv_torus_t *torus)
{
    int max = 1, list[TRV_DIMS_MAX];
    for (int d = 0; d < torus->dims; d++)
        if (torus->size[d] > 1) {
            int count = dimensions_of_size(torus, d, list);
            max = count > max ? count : max;
        }
    return 2 * max;
}

/* The dimension to which the rotation maps every dimension. The dimensions of a size are not rotated if their number
 * does not divide the number of rotations, because they could not all be used equally often. */
static void rotation_image(const trv_torus_t *torus, int rotations, int rotation, int *image)
{
    int list[TRV_DIMS_MAX];
    for (int d = 0; d < torus->dims; d++) {
        const int count = dimensions_of_size(torus, d, list);
        image[d] = d;
        for (int i = 0; i < count && rotations % count == 0; i++)
            if (list[i] == d)
                image[d] = list[(i + rotation) % count];
    }
}

/* A step of the chain as the stream executes it. */
static void rotate_step(const trv_star_step_t *from, int dims, const int *image, bool mirrored, trv_star_step_t *to)
{
    to->vectors = from->vectors;
    for (int i = 0; i < from->vectors; i++) {
        const trv_star_vector_t *vector = &from->vector[i];
        to->vector[i].port = trv_port(image[trv_port_dimension(vector->port)],
                                      mirrored ? -trv_port_sign(vector->port) : trv_port_sign(vector->port));
        for (int d = 0; d < dims; d++)
            to->vector[i].at[image[d]] = mirrored ? -vector->at[d] : vector->at[d];
    }
}

static void stream_step(const trv_star_t *star, const trv_star_layout_t *layout, int stream, int step,
                        trv_star_step_t *to)
{
    rotate_step(&star->chain.step[step], star->chain.torus.dims, layout->image[stream], stream >= layout->plain, to);
}

static bool same_vector(const trv_star_vector_t *a, const trv_star_vector_t *b, int dims)
{
    return a->port == b->port && memcmp(a->at, b->at, (size_t)dims * sizeof *a->at) == 0;
}

/* Whether two streams are identical in every step. `other` may be a stream that is not mirrored, or one that is not
 * counted yet. */
static bool same_streams(const trv_star_t *star, const trv_star_layout_t *layout, int one, int other)
{
    for (int k = 0; k < star->chain.steps; k++) {
        trv_star_step_t a, b;
        stream_step(star, layout, one, k, &a);
        stream_step(star, layout, other, k, &b);
        for (int i = 0; i < a.vectors; i++) {
            int j = 0;
            while (j < b.vectors && !same_vector(&a.vector[i], &b.vector[j], star->chain.torus.dims))
                j++;
            if (j == b.vectors)
                return false;
        }
    }
    return true;
}

static void find_streams(const trv_star_t *star, trv_star_layout_t *layout)
{
    const int requested = star->streams > 0 ? star->streams : trv_star_streams_max(&star->chain.torus);
    const int rotations = (requested + 1) / 2;
    layout->streams = 0;
    layout->plain = TRV_STAR_STREAMS_MAX;
    for (int s = 0; s < requested; s++) {
        if (s == rotations)
            layout->plain = layout->streams;
        const int last = layout->streams;
        bool duplicate = false;
        rotation_image(&star->chain.torus, rotations, s % rotations, layout->image[last]);
        for (int earlier = 0; earlier < last && star->streams == 0 && !duplicate; earlier++)
            duplicate = same_streams(star, layout, earlier, last);
        layout->streams += !duplicate;
    }
    if (layout->plain > layout->streams)
        layout->plain = layout->streams;
}

int trv_star_link_messages(const trv_star_t *star, const trv_star_layout_t *layout, int step)
{
    const trv_torus_t *torus = &star->chain.torus;
    int link[TRV_PORTS_MAX] = {0}, max = 0;
    for (int s = 0; s < layout->streams; s++) {
        trv_star_step_t rotated;
        stream_step(star, layout, s, step, &rotated);
        for (int v = 0; v < rotated.vectors; v++)
            for (int d = 0; d < torus->dims; d++) {
                /* The message travels against the vector. If both ways are equally long, the direction is +, or - in
                 * mirrored streams, whose vectors have a negative coordinate there. */
                const int hops = rotated.vector[v].at[d], sign = 2 * abs(hops) == torus->size[d] ? hops : -hops;
                const int port = rotated.vector[v].port;
                link[trv_port_dimension(port) == d ? port : trv_port(d, sign)] += abs(hops);
            }
    }
    for (int port = 0; port < trv_port_count(torus); port++)
        max = link[port] > max ? link[port] : max;
    return max;
}

/* ---- The order of the steps -------------------------------------------------------------------------------------- */

/* Orders the reduce-scatter's steps, from the last to the first. The vector shrinks from step to step, so the step with
 * the highest load per vector comes last. Among equal steps one is preferred that, together with all steps that follow
 * it, reaches a subgroup, because every message is then contiguous. */
static void order_scatter(const trv_star_t *star, trv_star_layout_t *layout)
{
    const trv_star_chain_t *chain = &star->chain;
    int messages[TRV_STAR_STEPS_MAX];
    unsigned done = star->whole;
    for (int k = 0; k < chain->steps; k++)
        messages[k] = trv_star_link_messages(star, layout, k);
    for (int i = layout->scatter - 1; i >= 0; i--) {
        int next = -1;
        bool best = false;
        for (int k = 0; k < chain->steps; k++) {
            if (done >> k & 1)
                continue;
            const bool subgroup = trv_star_is_subgroup(chain, done | 1U << k);
            const int more = next < 0
                                 ? 1
                                 : messages[k] * chain->step[next].vectors - messages[next] * chain->step[k].vectors;
            if (more > 0 || (more == 0 && subgroup && !best)) {
                next = k;
                best = subgroup;
            }
        }
        done |= 1U << next;
        layout->contiguous = layout->contiguous && best;
        layout->step[i] = next;
    }
}

/* Orders the L steps. All orders cost the same, so one is chosen in which the steps so far always reach a subgroup, if
 * there is one. A greedy choice suffices: a step that completes a subgroup now would also do so later. */
static void order_whole(const trv_star_t *star, trv_star_layout_t *layout)
{
    unsigned done = 0;
    for (int i = layout->scatter; i < star->chain.steps; i++) {
        int next = -1;
        for (int k = 0; k < star->chain.steps; k++)
            if ((star->whole & ~done) >> k & 1 && (next < 0 || trv_star_is_subgroup(&star->chain, done | 1U << k)))
                next = k;
        done |= 1U << next;
        layout->ordered = layout->ordered && trv_star_is_subgroup(&star->chain, done);
        layout->step[i] = next;
    }
}

void trv_star_layout_make(const trv_star_t *star, trv_star_layout_t *layout)
{
    find_streams(star, layout);
    layout->ordered = star->chain.direct;
    layout->contiguous = true;
    layout->scatter = star->chain.steps;
    for (int k = 0; k < star->chain.steps; k++)
        layout->scatter -= star->whole >> k & 1;
    order_scatter(star, layout);
    order_whole(star, layout);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

int trv_star_peer(const trv_torus_t *torus, int rank, const trv_star_vector_t *vector, bool back)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, rank, at);
    for (int d = 0; d < torus->dims; d++) {
        at[d] = (at[d] + (back ? -vector->at[d] : vector->at[d])) % torus->size[d];
        at[d] += at[d] < 0 ? torus->size[d] : 0;
    }
    return trv_torus_rank(torus, at);
}

/* Computes the groups of the L steps; returns the torus modulo all that they reach. */
static trv_quotient_t group_whole(const trv_star_streams_t *streams, const trv_torus_t *torus,
                                  trv_star_stream_t *stream)
{
    trv_quotient_t group;
    trv_quotient_begin(&group, torus);
    for (int i = streams->layout.scatter; i < streams->steps; i++) {
        stream->group[i] = group;
        for (int v = 0; v < stream->star[i].vectors; v++)
            trv_quotient_divide(&group, stream->star[i].vector[v].at);
    }
    return group;
}

/* Numbers the blocks of all streams like those of the first stream: a rank x of a stream has the blocks of that rank of
 * the first stream that the rotation maps to x. Without L steps every rank has its own block, in every stream. */
static void number_blocks(const trv_star_streams_t *streams, int number)
{
    const trv_quotient_t *first = &streams->stream[0].blocks;
    const int dims = first->torus.dims, *image = streams->layout.image[number];
    if (number == 0 || streams->layout.scatter == streams->steps)
        return;
    streams->stream[number].blocks = *first;
    for (int i = 0; i < dims; i++)
        for (int d = 0; d < dims; d++)
            streams->stream[number].blocks.factor[i][image[d]] = first->factor[i][d];
}

static int make_shifts(trv_arena_t *arena, const trv_quotient_t *blocks, const trv_star_step_t *star,
                       trv_shifts_t *shifts)
{
    const int dims = blocks->torus.dims;
    int *vector = trv_arena_alloc(arena, (size_t)(star->vectors + 1) * (size_t)dims * sizeof *vector);
    if (!vector)
        return trv_fail_memory();
    *shifts = (trv_shifts_t){star->vectors + 1, vector};
    memset(vector, 0, (size_t)dims * sizeof *vector);
    for (int i = 0; i < star->vectors; i++) {
        int back[TRV_DIMS_MAX];
        for (int d = 0; d < dims; d++)
            back[d] = -star->vector[i].at[d];
        trv_quotient_map(blocks, back, vector + (i + 1) * dims);
    }
    return TRV_OK;
}

/* Computes the groups of the reduce-scatter, from its last step to its first. */
static void group_scatter(const trv_star_streams_t *streams, trv_star_stream_t *stream)
{
    trv_quotient_t group;
    trv_quotient_begin(&group, &stream->blocks.space);
    for (int i = streams->layout.scatter - 1; i >= 0; i--) {
        stream->group[i] = group;
        for (int v = 1; v < stream->shift[i].count; v++)
            trv_quotient_divide(&group, stream->shift[i].vector + v * group.torus.dims);
    }
}

static int make_stream(const trv_star_streams_t *streams, const trv_star_t *star, int number, trv_arena_t *arena)
{
    const trv_torus_t *torus = &star->chain.torus;
    const size_t steps = (size_t)streams->steps;
    trv_star_stream_t *stream = &streams->stream[number];
    trv_star_step_t *rotated = trv_arena_alloc(arena, steps * sizeof *rotated);
    trv_shifts_t *shift = trv_arena_alloc(arena, steps * sizeof *shift);
    stream->group = trv_arena_alloc(arena, steps * sizeof *stream->group);
    if (!rotated || !shift || !stream->group)
        return trv_fail_memory();
    stream->star = rotated;
    stream->shift = shift;
    for (int i = 0; i < streams->steps; i++)
        stream_step(star, &streams->layout, number, streams->layout.step[i], &rotated[i]);
    stream->blocks = group_whole(streams, torus, stream);
    number_blocks(streams, number);
    for (int i = 0; i < streams->layout.scatter; i++) {
        int rc = make_shifts(arena, &stream->blocks, &rotated[i], &shift[i]);
        if (rc)
            return rc;
    }
    group_scatter(streams, stream);
    return TRV_OK;
}

int trv_star_streams_make(trv_star_streams_t *streams, const trv_star_t *star, trv_arena_t *arena)
{
    streams->steps = star->chain.steps;
    streams->vectors_max = 0;
    for (int k = 0; k < streams->steps; k++)
        if (star->chain.step[k].vectors > streams->vectors_max)
            streams->vectors_max = star->chain.step[k].vectors;
    trv_star_layout_make(star, &streams->layout);
    streams->stream = trv_arena_alloc(arena, (size_t)streams->layout.streams * sizeof *streams->stream);
    int rc = streams->stream ? TRV_OK : trv_fail_memory();
    for (int s = 0; s < streams->layout.streams && !rc; s++)
        rc = make_stream(streams, star, s, arena);
    return rc;
}
