/*
 * Interception of the MPI calls of an unmodified program: decides which calls are dispatched, and reports the errors of
 * those that were.
 */
#include "mpi/front/intercept.h"

#include <stdatomic.h>
#include <string.h>

#include "mpi/communicator/attribute.h"
#include "mpi/communicator/exchange.h"
#include "mpi/front/comm_set.h"
#include "mpi/reports/log.h"
#include "mpi/reports/log_table.h"
#include "mpi/settings/job_settings.h"
#include "schedule/collective.h"

#define HINT_DEFAULT "default"

/* Greater than 0 while this thread executes code of Trivance. Collectives that the MPI library calls meanwhile, for its
 * internal purposes, are not intercepted. */
static _Thread_local int depth;
static atomic_bool init_intercepted;       /* MPI_Init was intercepted */
static _Thread_local bool latest_is_empty; /* the latest call of this thread that fell back has no elements */

void trv_mpi_intercept_init(bool enabled)
{
    depth++;
    init_intercepted = true;
    trv_mpi_job_init(enabled);
    depth--;
}

bool trv_mpi_intercept_is_inside(void) { return depth > 0; }

/* Warns once per process about calls of a program whose MPI_Init was not intercepted. */
static void warn_without_init(MPI_Comm comm)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    int rank = 0, initialized = 0;
    if (trv_mpi_is_component() || atomic_flag_test_and_set(&warned))
        return;
    if (!trv_mpi_may_dispatch() || comm == MPI_COMM_NULL || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS ||
        PMPI_Initialized(&initialized) != MPI_SUCCESS)
        return;
    trv_mpi_log_fallback(rank, "%s",
                         initialized ? "another library, for example a profiling tool, intercepts MPI_Init before "
                                       "Trivance and calls PMPI_Init; name Trivance's library before it in LD_PRELOAD"
                                     : "MPI_Init was not called, and sessions have no MPI_COMM_WORLD");
}

static bool enter(MPI_Comm comm)
{
    if (depth > 0)
        return false;
    if (!trv_mpi_is_active()) {
        if (!init_intercepted)
            warn_without_init(comm);
        return false;
    }
    depth++;
    return true;
}

static bool leave(bool executed, MPI_Comm comm, const int *code)
{
    depth--;
    if (executed && *code != MPI_SUCCESS) {
        trv_mpi_state_t *state;
        if (!trv_mpi_state_known(comm, &state) || !state || !atomic_load(&state->broken)) /* a broken one was logged */
            trv_mpi_log_warning("a collective failed: %s", trv_last_error());
        if (!trv_mpi_is_component())
            PMPI_Comm_call_errhandler(comm, *code);
    }
    return executed;
}

static bool blocking(const trv_mpi_call_t *call, MPI_Comm comm, int *code)
{
    return enter(comm) && leave(trv_mpi_dispatch(call, comm, code), comm, code);
}

/* False for calls that fall back on every communicator: those without elements, and those whose buffers are invalid
 * (`MPI_IN_PLACE` or NULL), which the MPI library reports. In collectives with a root only arguments that have a
 * meaning on this rank are examined; buffers are checked by the dispatch. */
static bool is_valid(const trv_mpi_call_t *call, MPI_Comm comm)
{
    const trv_mpi_reduction_t *reduction = call->reduction;
    int rank = 0;
    const trv_mpi_counts_t *counts = trv_mpi_call_counts(call);
    if (counts) /* a rank with an empty block may pass NULL */
        return trv_mpi_counts_complete(counts);
    if (reduction)
        return reduction->count > 0 && (reduction->collective == TRV_REDUCE ||
                                        (reduction->input && reduction->output && reduction->output != MPI_IN_PLACE));
    if (!trv_collective_has_root(call->movement->collective))
        return call->movement->recvcount > 0 && call->movement->recvbuf != MPI_IN_PLACE;
    return comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
           trv_mpi_movement_count(call->movement, rank) > 0;
}

/* With TRIVANCE_CHECK the ranks compare their arguments in every call, so a rank takes part even if its count is 0 or
 * its arguments are invalid. */
static bool is_checked(void) { return trv_mpi_is_active() && trv_mpi_settings()->check; }

/* Whether a call has no elements on this rank. */
static bool is_empty(const trv_mpi_call_t *call, MPI_Comm comm)
{
    const trv_mpi_counts_t *counts = trv_mpi_call_counts(call);
    int rank = 0, ranks = 0;
    if (comm == MPI_COMM_NULL || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return false;
    if (!counts)
        return (call->movement ? trv_mpi_movement_count(call->movement, rank) : call->reduction->count) == 0;
    bool empty = trv_mpi_counts_complete(counts);
    for (int r = 0; empty && r < ranks; r++)
        empty = trv_mpi_count_at(counts, r) == 0;
    return empty;
}

/* Notes for trv_mpi_intercept_end why a call that falls back was not dispatched. */
static void note_fallback(const trv_mpi_call_t *call, MPI_Comm comm)
{
    if (atomic_load_explicit(&trv_mpi_observes, memory_order_relaxed))
        latest_is_empty = is_empty(call, comm);
}

bool trv_mpi_intercept(const trv_mpi_call_t *call, MPI_Comm comm, int *code)
{
    if ((is_valid(call, comm) || is_checked()) && blocking(call, comm, code))
        return true;
    note_fallback(call, comm);
    return false;
}

/* ---- Non-blocking and persistent --------------------------------------------------------------------------------- */

static trv_mpi_request_t *post(const trv_mpi_call_t *call, MPI_Comm comm, bool persistent,
                               void (*done)(void *context, int class), void *context, int *code)
{
    int invalid;
    trv_mpi_state_t *state;
    trv_mpi_request_spec_t spec;
    trv_mpi_request_t *request = NULL;
    if (!trv_mpi_state_known(comm, &state) || !trv_mpi_dispatches(state) || !is_valid(call, comm))
        return NULL;
    const bool has_elements = trv_mpi_make_request_spec(call, state->rank, state->ranks, &spec, &invalid);
    if (invalid == MPI_ERR_NO_MEM || (has_elements && !done && trv_mpi_has_schedule(state, &spec, persistent))) {
        *code = trv_mpi_class(trv_mpi_state_fail_memory(state));
    } else if (has_elements && done) {
        spec.done = done;
        spec.context = context;
        const int made = trv_mpi_make_request(&request, state, &spec, persistent);
        if (made < 0)
            *code = trv_mpi_class(made); /* the other ranks have their requests, so this one cannot fall back */
    }
    trv_mpi_arguments_clear(&spec.arguments);
    return request;
}

trv_mpi_request_t *trv_mpi_intercept_post(const char *name, const trv_mpi_call_t *call, MPI_Comm comm, bool persistent,
                                          void (*done)(void *context, int class), void *context, int *code)
{
    *code = MPI_SUCCESS;
    if (!enter(comm))
        return NULL;
    trv_mpi_request_t *request = post(call, comm, persistent, done, context, code);
    leave(*code != MPI_SUCCESS, comm, code);
    if (!request && *code == MPI_SUCCESS && is_valid(call, comm))
        trv_mpi_intercept_log_fallback(name, call, trv_mpi_undecided_reason(persistent), comm);
    else if (!request)
        note_fallback(call, comm);
    return request;
}

/* ---- Hints ------------------------------------------------------------------------------------------------------- */

/* Whether any rank has a hint (`here`: this rank has one). Collective: ranks without a hint must call it, too. */
static bool has_any_hint(MPI_Comm comm, bool here)
{
    static const char what[] = "set its hints";
    trv_mpi_state_t *state;
    int inter = 0, ranks = 0;
    int64_t any = here;
    if (trv_mpi_state_known(comm, &state)) {
        const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
        return trv_mpi_oob_allreduce_max(&oob, &any, 1, what) == MPI_SUCCESS && any;
    }
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS ||
        !trv_mpi_within_world(comm, ranks))
        return false;
    return trv_mpi_allreduce_max(comm, &any, 1, what) == MPI_SUCCESS && any;
}

static void apply_hint(MPI_Comm comm, const char *algorithm)
{
    trv_mpi_state_t *state;
    bool library = algorithm && strcmp(algorithm, TRV_RULE_MPI) == 0;
    bool restores_default = algorithm && strcmp(algorithm, HINT_DEFAULT) == 0;
    if (!has_any_hint(comm, algorithm != NULL))
        return;
    if (trv_mpi_state_find(comm, &state) != MPI_SUCCESS || !state || state->abandoned)
        return;
    if (trv_mpi_comm_set(state, NULL, restores_default ? NULL : algorithm, library) != MPI_SUCCESS && state->rank == 0)
        trv_mpi_log_warning("the hint trivance_algorithm of a communicator of %d ranks is ignored: %s", state->ranks,
                            trv_last_error());
}

void trv_mpi_intercept_hint(MPI_Comm comm, const char *algorithm)
{
    if (!enter(comm))
        return;
    apply_hint(comm, algorithm);
    depth--;
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

void trv_mpi_intercept_log_fallback(const char *name, const trv_mpi_call_t *call, const char *reason, MPI_Comm comm)
{
    if (trv_mpi_is_active())
        trv_mpi_log_fallback_of(name, call && is_valid(call, comm) ? call : NULL, reason, comm);
}

/* Why no decision was made for a call of a function for which there are schedules. */
static const char *reason_of(MPI_Comm comm)
{
    int inter = 0, ranks = 0;
    trv_mpi_state_t *state;
    if (!trv_mpi_is_active())
        return "Trivance is not active: no torus, algorithm or rules are set, or they cannot be used";
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return "invalid arguments";
    if (inter || ranks == 1)
        return inter ? "an intercommunicator" : "a communicator of one rank";
    if (trv_mpi_state_known(comm, &state) && state->config.left_to_library)
        return TRV_MPI_HINT_REASON;
    if (latest_is_empty)
        return "calls with count 0 have nothing to communicate";
    return trv_mpi_within_world(comm, ranks) ? "invalid arguments, or a warning states the reason"
                                             : "processes outside of MPI_COMM_WORLD";
}

void trv_mpi_intercept_end(trv_mpi_span_t span, const char *unsupported, MPI_Comm comm)
{
    trv_mpi_span_end(span, !trv_mpi_span_is_open(span) ? "" : unsupported ? unsupported : reason_of(comm));
}
