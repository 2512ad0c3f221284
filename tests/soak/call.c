/*
 * The calls of random programs. Most blocks are small, because the number of calls determines how many differences are
 * found; one vector in thirty is large enough to be sent in several fragments.
 */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Broadcasts have types of one element: if the count differs between ranks, those of Open MPI that split a vector
 * disagree on its parts. */
static const kind_t kinds[COLLECTIVES] =
    {[ALLREDUCE] = {"AllReduce", BLOCK, BLOCK, .weight = 3, .reduces = true, .same = true, .inter = true},
     [REDUCE] = {"Reduce", BLOCK, ROOT_BLOCK, .weight = 2, .reduces = true},
     [REDUCE_SCATTER_BLOCK] = {"Reduce-Scatter of equal blocks", ALL_BLOCKS, BLOCK, .weight = 2, .reduces = true},
     [REDUCE_SCATTER] = {"Reduce-Scatter", ALL_BLOCKS, BLOCK, .weight = 2, .reduces = true, .counts = true},
     [BROADCAST] = {"Broadcast", ROOT_BLOCK, BLOCK, .weight = 2, .same = true, .layout = LAYOUT_ELEMENTS},
     [ALLGATHER] = {"AllGather", BLOCK, ALL_BLOCKS, .weight = 2, .same = true, .inter = true, .layout = LAYOUT_BLOCKS},
     [ALLGATHERV] = {"AllGather of unequal blocks", BLOCK, ALL_BLOCKS, .weight = 2, .same = true, .counts = true,
                     .displaced = true, .layout = LAYOUT_DISPLACED},
     [GATHER] = {"Gather", BLOCK, ROOT_ALL_BLOCKS, .weight = 2, .layout = LAYOUT_BLOCKS},
     [SCATTER] = {"Scatter", ROOT_ALL_BLOCKS, BLOCK, .weight = 2, .layout = LAYOUT_BLOCKS},
     [ALLTOALL] = {"All-to-All", ALL_BLOCKS, ALL_BLOCKS, .weight = 2, .layout = LAYOUT_BLOCKS},
     [BARRIER] = {"Barrier", NO_DATA, NO_DATA, .weight = 1, .inter = true}};

/* ---- Random calls ------------------------------------------------------------------------------------------------ */

/* The following calls are legal, but fail without Trivance, too. All ranks of a communicator decide alike. */

/* MPICH 4.0: in an AllGather between groups, messages of one direction match receives of the other. */
static bool is_call_broken(const call_t *call)
{
#ifdef MPICH
    return call->collective == ALLGATHER && call->inter;
#else
    (void)call;
    return false;
#endif
}

/* Both MPI libraries fail with long double complex elements separated by gaps: Open MPI 4.1 has a buffer of 16 bytes
 * for an element that is split between two fragments, and MPICH 4.0 reports a truncated message. */
static bool are_layouts_broken(const call_t *call)
{
    return call->element.part[0].size > 8 && call->element.parts == 2;
}

/* MPICH 4.0 moves blocks through packed buffers, and an element of several parts may then be split between two
 * fragments of 8 KiB: the second is lost, or reported as truncated. */
static int reduce_broken_count(const call_t *call, int count)
{
#ifdef MPICH
    return !call->kind->reduces && call->element.parts == 2 ? count % 12 : count;
#else
    (void)call;
    return count;
#endif
}

/* MPICH 4.0: an Allgatherv on one rank ignores the displacement. */
static bool are_displacements_broken(const call_t *call)
{
#ifdef MPICH
    return call->ranks == 1;
#else
    (void)call;
    return false;
#endif
}

static bool is_root_only(data_t data) { return data == ROOT_BLOCK || data == ROOT_ALL_BLOCKS; }

static bool is_all_blocks(data_t data) { return data == ALL_BLOCKS || data == ROOT_ALL_BLOCKS; }

static void draw_kind(draw_t *draw, call_t *call)
{
    static const form_t form[] = {BLOCKING, BLOCKING, BLOCKING, NONBLOCKING, NONBLOCKING, PERSISTENT};
    int sum = 0;
    for (int k = 0; k < COLLECTIVES; k++)
        sum += call->inter && !kinds[k].inter ? 0 : kinds[k].weight;
    int drawn = draw_below(draw, sum), at = 0;
    for (;; at++) {
        drawn -= call->inter && !kinds[at].inter ? 0 : kinds[at].weight;
        if (drawn < 0)
            break;
    }
    call->collective = (collective_t)at;
    call->form = form[draw_below(draw, call->inter ? 5 : 6)];
    if (is_call_broken(call))
        call->collective = ALLREDUCE;
    call->kind = &kinds[call->collective];
    const bool rooted = is_root_only(call->kind->input) || is_root_only(call->kind->output);
    call->root = rooted ? draw_below(draw, call->ranks) : 0;
    call->in_place = draw_once_in(draw, 3) && !call->inter && call->collective != BARRIER;
    if (call->collective == BROADCAST || (rooted && call->rank != call->root)) /* only the root is in place */
        call->in_place = false;
}

static int draw_count(draw_t *draw, const call_t *call)
{
    static const int most[] = {1, 2, 9, 100, 100, 1000, 1000, 3000};
    const bool blocks = is_all_blocks(call->kind->input) || is_all_blocks(call->kind->output);
    const int ranks = call->inter ? call->ranks + call->giver_ranks : call->ranks; /* the same in both groups */
    if (draw_once_in(draw, 16))
        return 0;
    if (draw_once_in(draw, 30))
        return (20000 + draw_below(draw, 60000)) / (blocks ? ranks : 1);
    return 1 + draw_below(draw, most[draw_below(draw, 8)]);
}

static void draw_counts(draw_t *draw, call_t *call)
{
    const bool equal = !call->kind->counts || draw_once_in(draw, 2);
    size_t all = 0;
    call->counts = malloc((size_t)call->giver_ranks * sizeof *call->counts);
    for (int i = 0; i < call->giver_ranks; i++) {
        call->counts[i] = equal ? call->count : draw_below(draw, 2 * call->count + 1);
        if (!call->inter && i == call->rank)
            call->offset = all;
        all += (size_t)call->counts[i];
    }
    const size_t block = (size_t)(call->inter ? call->count : call->counts[call->rank]);
    const bool is_root = call->rank == call->root;
    call->in = is_root_only(call->kind->input) && !is_root ? 0 : is_all_blocks(call->kind->input) ? all : block;
    call->out = is_root_only(call->kind->output) && !is_root ? 0 : is_all_blocks(call->kind->output) ? all : block;
}

static layout_t draw_layout(draw_t *draw, const call_t *call, layout_rule_t rule, data_t data)
{
    const int block = call->inter ? call->count : call->counts[call->rank];
    if (rule == LAYOUT_DISPLACED && are_displacements_broken(call))
        rule = LAYOUT_ELEMENTS;
    if (are_layouts_broken(call))
        rule = LAYOUT_PLAIN;
    return is_all_blocks(data) ? layout_draw(draw, rule, &call->element, call->counts, call->giver_ranks)
                               : layout_draw(draw, rule, &call->element, &block, 1);
}

/* Each rank has its own layouts; a buffer that a rank does not pass has none. */
static void draw_layouts(call_t *call)
{
    const kind_t *kind = call->kind;
    draw_t own = draw_begin(call->seed, (uint64_t)call->rank, call->inter);
    const bool is_root = call->rank == call->root, scatters = call->collective == SCATTER;
    const bool sends = (is_root || !is_root_only(kind->input)) && call->collective != BROADCAST;
    const bool receives = is_root || !is_root_only(kind->output);
    if (sends && (!call->in_place || scatters))
        call->send = draw_layout(&own, call, kind->displaced ? LAYOUT_ELEMENTS : kind->layout, kind->input);
    if (receives && !(call->in_place && scatters))
        call->receive = draw_layout(&own, call, kind->layout,
                                    call->in_place && kind->reduces ? kind->input : kind->output);
    if (scatters && call->in_place)
        call->out = 0; /* it remains in the send buffer */
}

static void copy_counts(call_t *call)
{
    if (!call->kind->counts || call->form == BLOCKING)
        return;
    const size_t blocks = (size_t)call->giver_ranks;
    call->request_counts = malloc(blocks * sizeof *call->request_counts);
    call->request_displacements = malloc(blocks * sizeof *call->request_displacements);
    for (size_t b = 0; b < blocks; b++) {
        call->request_counts[b] = call->counts[b];
        call->request_displacements[b] = call->kind->displaced ? call->receive.displacement[b] : 0;
    }
}

call_t call_draw(draw_t *draw, const comm_t *comm)
{
    call_t call = {.comm = comm,
                   .inter = comm->inter,
                   .leader = comm->leader,
                   .giver_leader = comm->giver_leader,
                   .request = REQUEST_NULL,
                   .seed = draw_next(draw)};
    MPI_Comm_size(comm->comm, &call.ranks);
    MPI_Comm_rank(comm->comm, &call.rank);
    call.giver_ranks = call.ranks;
    if (call.inter)
        MPI_Comm_remote_size(comm->comm, &call.giver_ranks);
    draw_kind(draw, &call);
    if (call.collective == BARRIER)
        return call;
    call.element = element_draw(draw, call.kind->reduces);
    call.count = reduce_broken_count(&call, draw_count(draw, &call));
    draw_counts(draw, &call);
    draw_layouts(&call);
    copy_counts(&call);
    call_fill(&call);
    return call;
}

void call_free(call_t *call)
{
    if (call->collective == BARRIER)
        return;
    layout_free(&call->send);
    layout_free(&call->receive);
    element_free(&call->element);
    free(call->counts);
    free(call->request_counts);
    free(call->request_displacements);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void input_of(const call_t *call, uint64_t rank, uint64_t leader, size_t first, size_t count, void *to)
{
    draw_t values = draw_begin(call->seed, rank * 64 + leader, (uint64_t)call->round);
    element_fill(&call->element, to, first, count, draw_next(&values));
}

void call_input(const call_t *call, int giver, size_t first, size_t count, void *to)
{
    input_of(call, (uint64_t)giver, (uint64_t)call->giver_leader, first, count, to);
}

static char *own_input(const call_t *call)
{
    char *input = malloc(call->in * call->element.extent + 1);
    input_of(call, (uint64_t)call->rank, (uint64_t)call->leader, 0, call->in, input);
    return input;
}

void call_fill(call_t *call)
{
    if (call->collective == BARRIER)
        return;
    layout_clear(&call->send);
    layout_clear(&call->receive);
    if (call->in == 0)
        return;
    char *input = own_input(call);
    const bool one_of_many = !is_all_blocks(call->kind->input) && is_all_blocks(call->kind->output);
    const int first = one_of_many ? call->rank : 0;
    if (call->send.memory)
        layout_put(&call->send, 0, call->send.blocks, input);
    else
        layout_put(&call->receive, first, one_of_many ? first + 1 : call->receive.blocks, input);
    free(input);
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

void call_describe(const call_t *call, char *text, size_t size, const char *wrong)
{
    static const char *const form[] = {"", "non-blocking ", "persistent "};
    snprintf(text, size, "%s%s of %d x %s, %s%s, root %d of %d ranks%s, round %d, sent %s, received %s: %s",
             form[call->form], call->kind->name, call->count, call->element.type_name, call->element.op_name,
             call->in_place ? ", in place" : "", call->root, call->ranks, call->inter ? " of an intercommunicator" : "",
             call->round, call->send.name ? call->send.name : "nothing",
             call->receive.name ? call->receive.name : "nothing", wrong);
}

/* Returns a description of the error in the bytes that a call does not write, or NULL. */
static const char *check_buffers(const call_t *call)
{
    const char *wrong = NULL;
    if (call->send.memory && call->in > 0) {
        char *sent = malloc(call->in * call->element.extent), *input = own_input(call);
        layout_get(&call->send, 0, call->send.blocks, sent);
        if (memcmp(sent, input, call->in * call->element.extent) != 0 || !layout_is_clean(&call->send))
            wrong = "the send buffer has changed";
        free(sent);
        free(input);
    }
    if (call->receive.memory && !layout_is_clean(&call->receive))
        wrong = "bytes outside the receive buffer were written";
    return wrong;
}

/* Copies the output from the receive buffer. In place, the result of a Reduce-Scatter is at the start of the input. */
static void get_output(const call_t *call, char *got)
{
    if (call->out > 0 && call->kind->reduces)
        memcpy(got, call->receive.memory, call->out * call->element.extent); /* a plain layout */
    else if (call->out > 0)
        layout_get(&call->receive, 0, call->receive.blocks, got);
}

const char *call_check(call_t *call, char *text, size_t size)
{
    char words[80];
    if (call->collective == BARRIER)
        return NULL;
    const char *wrong = check_buffers(call);
    const size_t bytes = call->out * call->element.extent + 1;
    char *got = malloc(bytes), *wanted = malloc(bytes);
    get_output(call, got);
    call_expect(call, wanted);
    size_t at = element_compare(&call->element, got, wanted, call->out);
    if (!wrong && at < call->out) {
        snprintf(words, sizeof words, "element %zu of %zu differs", at, call->out);
        wrong = words;
    }
    if (call->kind->same)
        call->hash = call->hash * 31 + element_hash(&call->element, got, call->out);
    free(got);
    free(wanted);
    if (wrong)
        call_describe(call, text, size, wrong);
    return wrong ? text : NULL;
}
