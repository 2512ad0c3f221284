/*
 * The calls of random programs. Most blocks are small, because the number of calls determines how many differences are
 * found; one vector in thirty is large enough to be sent in several fragments.
 */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION < 4 /* Open MPI 4.1 has the persistent calls under their pre-standard names */
#define MPI_Allreduce_init            MPIX_Allreduce_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Reduce_scatter_init       MPIX_Reduce_scatter_init
#define MPI_Allgather_init            MPIX_Allgather_init
#define MPI_Barrier_init              MPIX_Barrier_init
#endif

bool call_apart;

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

static int draw_count(draw_t *draw, collective_t collective)
{
    static const int most[] = {1, 2, 9, 100, 100, 1000, 1000, 3000};
    if (draw_once_in(draw, 16))
        return 0;
    if (collective == ALLREDUCE && draw_once_in(draw, 30))
        return 20000 + draw_below(draw, 60000);
    return 1 + draw_below(draw, most[draw_below(draw, 8)]);
}

static void draw_kind(draw_t *draw, call_t *call)
{
    static const collective_t one[] =
        {ALLREDUCE,     ALLREDUCE, ALLREDUCE, ALLGATHER, ALLGATHER, BARRIER, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER_BLOCK,
         REDUCE_SCATTER};
    static const form_t form[] = {BLOCKING, BLOCKING, BLOCKING, NONBLOCKING, NONBLOCKING, PERSISTENT};
    /* The groups of an intercommunicator may differ in size, which a Reduce-Scatter does not allow. */
    call->collective = one[draw_below(draw, call->inter ? 6 : 9)];
    call->form = form[draw_below(draw, call->inter ? 5 : 6)];
    if (is_call_broken(call))
        call->collective = ALLREDUCE;
    call->in_place = draw_once_in(draw, 3) && !call->inter && call->collective != BARRIER;
}

static void draw_counts(draw_t *draw, call_t *call)
{
    bool equal = draw_once_in(draw, 2);
    call->counts = malloc((size_t)call->ranks * sizeof *call->counts);
    call->in = 0;
    for (int i = 0; i < call->ranks; i++) {
        call->counts[i] = equal ? call->count : draw_below(draw, 2 * call->count + 1);
        call->in += (size_t)call->counts[i];
    }
    call->out = (size_t)call->counts[call->rank];
}

static void measure(draw_t *draw, call_t *call)
{
    size_t count = (size_t)call->count;
    call->in = call->out = count;
    if (call->collective == ALLGATHER)
        call->out = count * (size_t)call->blocks;
    else if (call->collective == REDUCE_SCATTER_BLOCK)
        call->in = count * (size_t)call->ranks;
    else if (call->collective == REDUCE_SCATTER)
        draw_counts(draw, call);
}

static void allocate(call_t *call)
{
    draw_t own = draw_begin(call->seed, (uint64_t)call->rank, call->inter); /* each rank has its own layouts */
    size_t most = call->in > call->out ? call->in : call->out;
    call->input = malloc(most * call->element.extent + 1);
    call->wanted = malloc(most * call->element.extent + 1);
    if (call->collective == ALLGATHER) {
        bool plain = are_layouts_broken(call);
        if (!call->in_place)
            call->send = layout_draw(plain ? NULL : &own, &call->element, call->count, 1);
        call->receive = layout_draw(plain ? NULL : &own, &call->element, call->count, (size_t)call->blocks);
    } else {
        if (!call->in_place)
            call->send = layout_plain(&call->element, call->in);
        call->receive = layout_plain(&call->element, call->in_place ? call->in : call->out);
    }
}

call_t call_draw(draw_t *draw, const comm_t *comm)
{
    call_t call = {.comm = comm,
                   .inter = comm->inter,
                   .leader = comm->leader,
                   .request = MPI_REQUEST_NULL,
                   .seed = draw_next(draw)};
    MPI_Comm_size(comm->comm, &call.ranks);
    MPI_Comm_rank(comm->comm, &call.rank);
    call.blocks = call.ranks;
    if (call.inter)
        MPI_Comm_remote_size(comm->comm, &call.blocks);
    draw_kind(draw, &call);
    if (call.collective == BARRIER)
        return call;
    call.element = element_draw(draw, call.collective != ALLGATHER);
    call.count = draw_count(draw, call.collective);
    measure(draw, &call);
    allocate(&call);
    call_fill(&call);
    return call;
}

void call_fill(call_t *call)
{
    if (call->collective == BARRIER)
        return;
    uint64_t giver = (uint64_t)call->rank * 64 + (uint64_t)call->leader;
    draw_t values = draw_begin(call->seed, giver, (uint64_t)call->round);
    element_fill(&call->element, call->input, call->in, draw_next(&values));
    layout_clear(&call->send);
    layout_clear(&call->receive);
    if (!call->in_place)
        layout_put(&call->send, 0, call->input, 1);
    else
        layout_put(&call->receive, call->collective == ALLGATHER ? (size_t)call->rank : 0, call->input, 1);
}

void call_free(call_t *call)
{
    if (call->collective == BARRIER)
        return;
    layout_free(&call->send);
    layout_free(&call->receive);
    element_free(&call->element);
    free(call->input);
    free(call->wanted);
    free(call->counts);
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

static double seconds(void) /* the same clock for all ranks of a machine; MPI_Wtime may have an origin per process */
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void post_blocking(call_t *c, const void *from, void *to)
{
    const element_t *e = &c->element;
    MPI_Comm on = c->comm->comm;
    switch (c->collective) {
    case ALLREDUCE: MPI_Allreduce(from, to, c->count, e->type, e->op, on); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(from, to, c->count, e->type, e->op, on); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(from, to, c->counts, e->type, e->op, on); break;
    case ALLGATHER: MPI_Allgather(from, c->send.count, c->send.type, to, c->receive.count, c->receive.type, on); break;
    default:
        c->entered = seconds();
        MPI_Barrier(on);
        c->left = seconds();
    }
}

static void post_nonblocking(call_t *c, const void *from, void *to)
{
    const element_t *e = &c->element;
    MPI_Comm on = c->comm->comm;
    MPI_Request *request = &c->request;
    switch (c->collective) {
    case ALLREDUCE: MPI_Iallreduce(from, to, c->count, e->type, e->op, on, request); break;
    case REDUCE_SCATTER_BLOCK: MPI_Ireduce_scatter_block(from, to, c->count, e->type, e->op, on, request); break;
    case REDUCE_SCATTER: MPI_Ireduce_scatter(from, to, c->counts, e->type, e->op, on, request); break;
    case ALLGATHER:
        MPI_Iallgather(from, c->send.count, c->send.type, to, c->receive.count, c->receive.type, on, request);
        break;
    default: MPI_Ibarrier(on, request);
    }
}

static void post_persistent(call_t *c, const void *from, void *to)
{
    const element_t *e = &c->element;
    MPI_Comm on = c->comm->comm;
    MPI_Info no = MPI_INFO_NULL;
    MPI_Request *request = &c->request;
    switch (c->collective) {
    case ALLREDUCE: MPI_Allreduce_init(from, to, c->count, e->type, e->op, on, no, request); break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block_init(from, to, c->count, e->type, e->op, on, no, request);
        break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_init(from, to, c->counts, e->type, e->op, on, no, request); break;
    case ALLGATHER:
        MPI_Allgather_init(from, c->send.count, c->send.type, to, c->receive.count, c->receive.type, on, no, request);
        break;
    default: MPI_Barrier_init(on, no, request);
    }
}

void call_post(call_t *call)
{
    const void *from = NULL;
    void *to = NULL;
    if (call->collective != BARRIER) {
        from = call->in_place ? MPI_IN_PLACE : layout_start(&call->send);
        to = layout_start(&call->receive);
    }
    if (call->in_place && call->collective == ALLGATHER)
        call->send.type = call->element.type; /* MPI ignores it */
    if (call->form == BLOCKING)
        post_blocking(call, from, to);
    else if (call->form == NONBLOCKING)
        post_nonblocking(call, from, to);
    else
        post_persistent(call, from, to);
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

static void refer(const call_t *c)
{
    const element_t *e = &c->element;
    MPI_Comm on = c->comm->comm;
    switch (c->collective) {
    case ALLREDUCE: PMPI_Allreduce(c->input, c->wanted, c->count, e->type, e->op, on); break;
    case REDUCE_SCATTER_BLOCK: PMPI_Reduce_scatter_block(c->input, c->wanted, c->count, e->type, e->op, on); break;
    case REDUCE_SCATTER: PMPI_Reduce_scatter(c->input, c->wanted, c->counts, e->type, e->op, on); break;
    default: PMPI_Allgather(c->input, c->count, e->type, c->wanted, c->count, e->type, on);
    }
}

static void scatter(const call_t *c, const char *whole)
{
    const element_t *e = &c->element;
    int *at = malloc((size_t)c->ranks * sizeof *at);
    for (int i = 0, sum = 0; c->counts && i < c->ranks; sum += c->counts[i++])
        at[i] = sum;
    if (c->counts)
        PMPI_Scatterv(whole, c->counts, at, e->type, c->wanted, c->counts[c->rank], e->type, 0, c->comm->comm);
    else
        PMPI_Scatter(whole, c->count, e->type, c->wanted, c->count, e->type, 0, c->comm->comm);
    free(at);
}

/* Computes the reference by other collectives, through the first rank. */
static void refer_apart(const call_t *c)
{
    const element_t *e = &c->element;
    MPI_Comm on = c->comm->comm;
    char *whole = malloc(c->in * e->extent + 1);
    if (c->collective == ALLGATHER) {
        PMPI_Gather(c->input, c->count, e->type, c->wanted, c->count, e->type, 0, on);
        PMPI_Bcast(c->wanted, (int)c->out, e->type, 0, on);
    } else if (c->collective == ALLREDUCE) {
        PMPI_Reduce(c->input, c->wanted, c->count, e->type, e->op, 0, on);
        PMPI_Bcast(c->wanted, c->count, e->type, 0, on);
    } else {
        PMPI_Reduce(c->input, whole, (int)c->in, e->type, e->op, 0, on);
        scatter(c, whole);
    }
    free(whole);
}

void call_reference(call_t *call)
{
    call->referenced = true;
    if (call->collective == BARRIER)
        return;
    memset(call->wanted, 0, call->out * call->element.extent);
    if (call_apart && !call->inter)
        refer_apart(call);
    else
        refer(call);
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static void name(const call_t *call, char *text, size_t size, const char *wrong)
{
    static const char *const form[] = {"", "non-blocking ", "persistent "};
    static const char *const collective[] = {"AllReduce", "Reduce-Scatter of equal blocks", "Reduce-Scatter",
                                             "AllGather", "Barrier"};
    snprintf(text, size, "%s%s of %d x %s, %s%s, on %d ranks%s, round %d: %s%s%s", form[call->form],
             collective[call->collective], call->count, call->element.type_name, call->element.op_name,
             call->in_place ? ", in place" : "", call->ranks, call->inter ? " of an intercommunicator" : "",
             call->round, call->receive.derived ? call->receive.name : "", call->receive.derived ? ": " : "", wrong);
}

/* Returns a description of the error in the buffers, or NULL. */
static const char *check_buffers(const call_t *call, char *got)
{
    bool gathers = call->collective == ALLGATHER;
    if (!call->in_place) {
        layout_get(&call->send, got, 1);
        if (memcmp(got, call->input, call->in * call->element.extent) != 0 || !layout_is_clean(&call->send, 1))
            return "the send buffer has changed";
    }
    if (!layout_is_clean(&call->receive, gathers ? (size_t)call->blocks : 1))
        return "bytes outside the receive buffer were written";
    return NULL;
}

const char *call_check(call_t *call, char *text, size_t size)
{
    char words[80];
    if (call->collective == BARRIER)
        return NULL;
    bool gathers = call->collective == ALLGATHER;
    char *got = malloc((call->in > call->out ? call->in : call->out) * call->element.extent + 1);
    const char *wrong = check_buffers(call, got);
    layout_get(&call->receive, got, gathers ? (size_t)call->blocks : 1);
    size_t at = element_compare(&call->element, got, call->wanted, call->out);
    if (!wrong && at < call->out) {
        snprintf(words, sizeof words, "element %zu of %zu differs", at, call->out);
        wrong = words;
    }
    if (gathers || call->collective == ALLREDUCE)
        call->hash = call->hash * 31 + element_hash(&call->element, got, call->out);
    free(got);
    if (wrong)
        name(call, text, size, wrong);
    return wrong ? text : NULL;
}
