/* The cases of argument_cases.h, and how a call with each of them is made. */
#include "argument_cases.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { RANKS_MAX = 16, COUNT = 2 };

typedef enum collective {
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    REDUCE,
    BCAST,
    ALLGATHER,
    ALLTOALL,
    ALLGATHERV,
    GATHER,
    SCATTER,
    COLLECTIVES
} collective_t;
static const char *const collective_name[COLLECTIVES] = {"Allreduce",      "Reduce_scatter_block",
                                                         "Reduce_scatter", "Reduce",
                                                         "Bcast",          "Allgather",
                                                         "Alltoall",       "Allgatherv",
                                                         "Gather",         "Scatter"};

/* The arguments of a call. Reductions use the sent type, a Broadcast the receive side. */
typedef struct arguments {
    const void *sendbuf;
    void *recvbuf;
    int sendcount, recvcount, counts[RANKS_MAX], places[RANKS_MAX];
    MPI_Datatype sendtype, recvtype;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} arguments_t;

/* The fault of a call. */
typedef enum fault {
    UNCOMMITTED_ON_LAST,
    NOTHING,
    NEGATIVE_SENT,
    NEGATIVE_RECEIVED,
    NO_SENT_TYPE,
    NO_RECEIVED_TYPE,
    UNCOMMITTED_SENT,
    UNCOMMITTED_RECEIVED,
    UNCOMMITTED_GAPS,
    NO_OP,
    UNDEFINED_OP,
    DERIVED_OP,
    NEGATIVE_ROOT,
    ROOT_TOO_LARGE,
    NO_SENT_BUFFER,
    NO_RECEIVED_BUFFER,
    SAME_BUFFER,
    SENT_IN_PLACE,
    RECEIVED_IN_PLACE,
    NO_COMM,
    INTER_IN_PLACE,
    FAULTS
} fault_t;
static const char *const fault_name[FAULTS] = {"an uncommitted type on the last rank",
                                               "nothing wrong",
                                               "a negative count sent",
                                               "a negative count received",
                                               "no sent type",
                                               "no received type",
                                               "an uncommitted sent type",
                                               "an uncommitted received type",
                                               "an uncommitted type with gaps",
                                               "no operation",
                                               "an undefined operation",
                                               "a predefined operation on a derived type",
                                               "a negative root",
                                               "a root that is too large",
                                               "no send buffer",
                                               "no receive buffer",
                                               "the same buffer twice",
                                               "sent in place",
                                               "received in place",
                                               "no communicator",
                                               "in place between groups"};

/* Errors that the MPI library does not detect: MPICH 4.0 or Open MPI 4.1 crashes, or waits for other ranks. */
#if defined(MPICH)
static const bool checks_buffers = true;
static const struct undetected {
    collective_t collective;
    fault_t fault;
} undetected[] = {{ALLREDUCE, NEGATIVE_SENT}, {REDUCE_SCATTER_BLOCK, NEGATIVE_SENT},
                  {REDUCE, NEGATIVE_SENT},    {REDUCE, SENT_IN_PLACE},
                  {GATHER, SENT_IN_PLACE},    {ALLGATHER, INTER_IN_PLACE},
                  {ALLTOALL, INTER_IN_PLACE}};
#else
static const bool checks_buffers = false;
static const struct undetected {
    collective_t collective;
    fault_t fault;
} undetected[] = {{REDUCE_SCATTER_BLOCK, INTER_IN_PLACE},
                  {SCATTER, NEGATIVE_SENT},
                  {ALLGATHER, NO_COMM},
                  {SCATTER, UNCOMMITTED_GAPS}};
#endif

static MPI_Datatype uncommitted, with_gaps, derived;
static MPI_Comm inter;
static int rank, ranks;
static int sent[COUNT * RANKS_MAX], received[COUNT * RANKS_MAX];

static int call(collective_t collective, const functions_t *f, const arguments_t *a)
{
    switch (collective) {
    case ALLREDUCE: return f->allreduce(a->sendbuf, a->recvbuf, a->sendcount, a->sendtype, a->op, a->comm);
    case REDUCE_SCATTER_BLOCK:
        return f->reduce_scatter_block(a->sendbuf, a->recvbuf, a->sendcount, a->sendtype, a->op, a->comm);
    case REDUCE_SCATTER: return f->reduce_scatter(a->sendbuf, a->recvbuf, a->counts, a->sendtype, a->op, a->comm);
    case REDUCE: return f->reduce(a->sendbuf, a->recvbuf, a->sendcount, a->sendtype, a->op, a->root, a->comm);
    case BCAST: return f->bcast(a->recvbuf, a->recvcount, a->recvtype, a->root, a->comm);
    case ALLGATHER:
        return f->allgather(a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount, a->recvtype, a->comm);
    case ALLTOALL:
        return f->alltoall(a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount, a->recvtype, a->comm);
    case ALLGATHERV:
        return f->allgatherv(a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->counts, a->places, a->recvtype,
                             a->comm);
    case GATHER:
        return f->gather(a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount, a->recvtype, a->root,
                         a->comm);
    default:
        return f->scatter(a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, a->recvcount, a->recvtype, a->root,
                          a->comm);
    }
}

static arguments_t valid_arguments(MPI_Comm comm)
{
    arguments_t a = {.sendbuf = sent,
                     .recvbuf = received,
                     .sendcount = COUNT,
                     .recvcount = COUNT,
                     .sendtype = MPI_INT,
                     .recvtype = MPI_INT,
                     .op = MPI_SUM,
                     .comm = comm};
    for (int r = 0; r < ranks; r++) {
        a.counts[r] = COUNT;
        a.places[r] = COUNT * r;
    }
    return a;
}

/* ---- Which ranks make a call ------------------------------------------------------------------------------------- */

/* In collectives with a root some arguments have a meaning on the root only, or on the other ranks only. If such an
 * argument is wrong, only these ranks call, because their error comes before any message. */
typedef enum callers { NONE, ALL, ROOT, OTHERS, LAST } callers_t;

static bool is_reduction(collective_t c) { return c <= REDUCE; }
static bool has_root(collective_t c) { return c == REDUCE || c == BCAST || c == GATHER || c == SCATTER; }

/* The ranks that send, or receive, by arguments of their own. */
static callers_t senders(collective_t c) { return c == BCAST ? NONE : c == SCATTER ? ROOT : ALL; }
static callers_t receivers(collective_t c) { return c == GATHER || c == REDUCE ? ROOT : ALL; }

static callers_t callers_of(fault_t fault, collective_t c)
{
    for (size_t i = 0; i < sizeof undetected / sizeof undetected[0]; i++)
        if (undetected[i].collective == c && undetected[i].fault == fault)
            return NONE;
    switch (fault) {
    case NOTHING:
    case NO_COMM: return ALL;
    case NEGATIVE_SENT:
    case NO_SENT_TYPE: return senders(c);
    case NEGATIVE_RECEIVED:
    case NO_RECEIVED_TYPE: return is_reduction(c) ? NONE : receivers(c);
    case UNCOMMITTED_SENT: return senders(c) == NONE ? NONE : ALL;
    case UNCOMMITTED_RECEIVED:
    case UNCOMMITTED_GAPS: return is_reduction(c) ? NONE : ALL;
    case UNCOMMITTED_ON_LAST: return is_reduction(c) || c == SCATTER ? NONE : ALL;
    case NO_OP:
    case UNDEFINED_OP:
    case DERIVED_OP: return is_reduction(c) ? ALL : NONE;
    case NEGATIVE_ROOT:
    case ROOT_TOO_LARGE: return has_root(c) ? ALL : NONE;
    case NO_SENT_BUFFER: return checks_buffers ? senders(c) : NONE;
    case NO_RECEIVED_BUFFER: return checks_buffers ? receivers(c) : NONE;
    case SAME_BUFFER: return c == BCAST ? NONE : ALL;
    case SENT_IN_PLACE: return c == REDUCE || c == GATHER ? OTHERS : c == SCATTER ? ROOT : NONE;
    case RECEIVED_IN_PLACE: return c == BCAST || c == SCATTER ? NONE : receivers(c);
    default: return c == ALLREDUCE || c == ALLGATHER || c == ALLTOALL || c == REDUCE_SCATTER_BLOCK ? ALL : NONE;
    }
}

/* The ranks that make the call with the MPI library's function. The others would wait for a rank that returns an error
 * before it sends; Trivance executes such calls before it returns the error, so that no rank waits. */
static callers_t plain_callers_of(fault_t fault, collective_t c)
{
    const callers_t callers = callers_of(fault, c);
    const bool waits = c == SCATTER && (fault == UNCOMMITTED_SENT || fault == UNCOMMITTED_GAPS || fault == SAME_BUFFER);
    return callers != ALL ? callers : fault == UNCOMMITTED_ON_LAST ? LAST : waits ? ROOT : ALL;
}

static bool is_caller(callers_t callers)
{
    return callers == ALL || (callers == ROOT && rank == 0) || (callers == OTHERS && rank != 0) ||
           (callers == LAST && rank == ranks - 1);
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void set_type(arguments_t *a, bool both, bool received_side, MPI_Datatype type)
{
    if (both || !received_side) {
        a->sendtype = type;
        a->sendcount = type == MPI_DATATYPE_NULL ? COUNT : 1;
    }
    if (both || received_side) {
        a->recvtype = type;
        a->recvcount = a->sendcount;
        for (int r = 0; r < ranks && type != MPI_DATATYPE_NULL; r++) {
            a->counts[r] = 1;
            a->places[r] = r;
        }
        a->recvcount = type == MPI_DATATYPE_NULL ? COUNT : 1;
    }
}

/* A buffer that is also the send buffer: this rank's own part of the receive buffer. */
static void set_same(collective_t c, arguments_t *a)
{
    const bool by_block = c == ALLGATHER || c == ALLGATHERV || c == GATHER, root = rank == 0;
    a->sendbuf = received + (by_block ? COUNT * rank : 0);
    if ((c == REDUCE || c == GATHER) && !root)
        a->sendbuf = sent;
    if (c == SCATTER || c == REDUCE_SCATTER || c == REDUCE_SCATTER_BLOCK) {
        a->sendbuf = sent;
        a->recvbuf = c == SCATTER && !root ? received : sent;
    }
}

static void set_fault(fault_t fault, collective_t c, arguments_t *a)
{
    switch (fault) {
    case NEGATIVE_SENT: a->sendcount = a->counts[c == REDUCE_SCATTER ? 0 : RANKS_MAX - 1] = -1; break;
    case NEGATIVE_RECEIVED: a->recvcount = a->counts[0] = -1; break;
    case NO_SENT_TYPE: set_type(a, false, false, MPI_DATATYPE_NULL); break;
    case NO_RECEIVED_TYPE: set_type(a, false, true, MPI_DATATYPE_NULL); break;
    case UNCOMMITTED_SENT: set_type(a, is_reduction(c), false, uncommitted); break;
    case UNCOMMITTED_ON_LAST:
        if (rank == ranks - 1)
            set_type(a, false, c == BCAST, uncommitted);
        break;
    case UNCOMMITTED_RECEIVED: set_type(a, false, true, uncommitted); break;
    case UNCOMMITTED_GAPS: set_type(a, false, c == BCAST, with_gaps); break;
    case NO_OP: a->op = MPI_OP_NULL; break;
    case UNDEFINED_OP: a->op = MPI_MAXLOC; break;
    case DERIVED_OP: set_type(a, true, true, derived); break;
    case NEGATIVE_ROOT: a->root = -100; break;
    case ROOT_TOO_LARGE: a->root = ranks; break;
    case NO_SENT_BUFFER: a->sendbuf = NULL; break;
    case NO_RECEIVED_BUFFER: a->recvbuf = NULL; break;
    case SAME_BUFFER: set_same(c, a); break;
    case SENT_IN_PLACE: a->sendbuf = MPI_IN_PLACE; break;
    case RECEIVED_IN_PLACE: a->recvbuf = MPI_IN_PLACE; break;
    case NO_COMM: a->comm = MPI_COMM_NULL; break;
    case INTER_IN_PLACE:
        a->sendbuf = MPI_IN_PLACE;
        a->comm = inter;
        break;
    default: break;
    }
}

static int class_of(collective_t c, fault_t fault, const functions_t *f, MPI_Comm comm)
{
    arguments_t a = valid_arguments(comm);
    int class = MPI_SUCCESS;
    set_fault(fault, c, &a);
    const int code = call(c, f, &a);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static void inter_create(MPI_Comm comm)
{
    MPI_Comm half;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_free(&half);
}

void argument_cases(const functions_t *tested, const functions_t *plain, MPI_Comm comm,
                    void (*compare)(const char *what, int got, int expected))
{
#ifdef __has_feature
#if __has_feature(address_sanitizer)
    /* Open MPI's own functions read outside of buffers if arguments are invalid. */
    (void)tested, (void)plain, (void)comm, (void)compare;
    return;
#endif
#endif
    MPI_Comm own[2];
    MPI_Errhandler handler;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    inter_create(comm);
    MPI_Type_contiguous(COUNT, MPI_INT, &uncommitted);
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &with_gaps);
    MPI_Type_contiguous(COUNT, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(comm, &own[i]);
        MPI_Comm_set_errhandler(own[i], MPI_ERRORS_RETURN);
    }
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler); /* Open MPI uses it for some errors on other communicators */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (collective_t c = 0; c < COLLECTIVES; c++)
        for (fault_t fault = 0; fault < FAULTS; fault++) {
            char what[100];
            const callers_t callers = callers_of(fault, c), plain_callers = plain_callers_of(fault, c);
            const bool some_fail = plain_callers != callers || (fault == SAME_BUFFER && has_root(c));
            if (!is_caller(callers) || (!plain && some_fail))
                continue;
            snprintf(what, sizeof what, "%s: %s", collective_name[c], fault_name[fault]);
            const int expected = plain && is_caller(plain_callers) ? class_of(c, fault, plain, own[0]) : MPI_SUCCESS;
            compare(what, class_of(c, fault, tested, own[1]), expected);
        }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Type_free(&uncommitted);
    MPI_Type_free(&with_gaps);
    MPI_Type_free(&derived);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&own[1]);
    MPI_Comm_free(&own[0]);
}
