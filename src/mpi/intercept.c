/*
 * The calls of a program that does not know us.
 *
 * A communicator is adopted at its first collective: its ranks make the library's own communicator, read the torus, and
 * agree that all of them could and have read the same. A shape of call (collective, count, type, operation) is agreed
 * on when its plan is made: every rank has the memory, and no rank's buffer lies on a GPU. Both cost a one-word
 * reduction once, and nothing is sent by a schedule before. A rank that later comes with a buffer on a GPU can not turn
 * back alone; it does its part through copies on the host.
 */
#include "mpi/intercept.h"

#include <limits.h>
#include <string.h>

#include "common/error.h"
#include "mpi/buffers.h"
#include "mpi/call.h"
#include "mpi/choose.h"
#include "mpi/device.h"
#include "mpi/operation.h"
#include "mpi/report.h"
#include "mpi/reports/log.h"
#include "mpi/reports/settings.h"
#include "mpi/state.h"

/* Collectives that the MPI library makes of its own accord, while it works for us, are its own. */
static _Thread_local int depth;

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

/* Reads the torus, and compares it and the settings with the other ranks'. */
static int configure(trv_mpi_state_t *state)
{
    bool good = trv_mpi_state_set(state, NULL, NULL) == MPI_SUCCESS;
    if (!good)
        trv_mpi_refuse(state->rank, "%s", trv_last_error());
    uint64_t setting = good ? trv_mpi_setting(state) : 0, fact[] = {good, setting, ~setting};
    int code = trv_mpi_least(state->comm, fact, 3);
    if (code == MPI_SUCCESS && fact[0] && fact[1] != ~fact[2])
        trv_mpi_refuse(state->rank, "the variables TRIVANCE_… differ between ranks");
    state->abandoned = code != MPI_SUCCESS || !fact[0] || fact[1] != ~fact[2];
    state->configured = true;
    return code;
}

/* The communicator's state where it may be served; NULL: pass, or an error in *code. */
static trv_mpi_state_t *find_state(MPI_Comm comm, int *code)
{
    trv_mpi_state_t *state;
    *code = trv_mpi_state_adopt(comm, &state);
    if (*code == MPI_SUCCESS && state && !state->abandoned && !state->configured)
        *code = configure(state);
    return *code == MPI_SUCCESS && state && !state->abandoned ? state : NULL;
}

/* ---- Shapes of calls --------------------------------------------------------------------------------------------- */

typedef enum readiness { NO_MEMORY, ON_DEVICE, READY } readiness_t;

/* Makes the operation of a new shape, on all ranks or on none; NULL: pass. */
static trv_mpi_operation_t *make_operation(trv_mpi_state_t *state, const trv_mpi_want_t *want, bool on_device)
{
    trv_mpi_choice_t choice;
    trv_mpi_operation_t *operation = NULL;
    int chosen = trv_mpi_choose(state, want, &choice);
    int made = trv_mpi_cache_make(state, want, &operation);
    if (chosen == TRV_OK && !choice.schedule)
        return made == TRV_OK ? operation : NULL; /* the same choice on all ranks: nothing to agree on */
    uint64_t ready = made < 0 ? NO_MEMORY : on_device ? ON_DEVICE : READY;
    if (trv_mpi_least(state->comm, &ready, 1) != MPI_SUCCESS || ready == NO_MEMORY) {
        trv_mpi_refuse(state->rank, "a plan could not be made on every rank of a communicator (%s)",
                       made < 0 ? trv_last_error() : "the reason is another rank's");
        trv_mpi_cache_clear(state);
        state->abandoned = true;
        return NULL;
    }
    if (ready == ON_DEVICE) {
        trv_mpi_operation_clear(operation);
        operation->algorithm = "mpi";
        choice = (trv_mpi_choice_t){.why = "a rank's buffer is, or may be, on a GPU"};
        trv_mpi_report_choice(operation, state, &choice);
    }
    return operation;
}

/* The operation that serves the call; NULL: pass. */
static trv_mpi_operation_t *find_operation(trv_mpi_state_t *state, const trv_mpi_want_t *want, const void *input,
                                           const void *output)
{
    trv_mpi_operation_t *operation = trv_mpi_cache_look(state, want);
    if (!operation)
        operation = make_operation(state, want,
                                   trv_mpi_on_device(input, output) || (trv_device_present() && trv_device_unknown()));
    return operation;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int run(trv_mpi_operation_t *operation, const trv_mpi_state_t *state, const void *input, void *output)
{
    trv_mpi_buffers_t buffers;
    int code = trv_mpi_buffers_begin(&buffers, state, &operation->want, input, output);
    if (code == TRV_OK)
        code = trv_mpi_buffers_end(&buffers, state,
                                   trv_mpi_operation_run(operation, buffers.input, buffers.output));
    return code == TRV_OK ? MPI_SUCCESS : trv_mpi_class(code);
}

/* Counts the call. Whether we serve it. */
static bool serves(trv_mpi_operation_t *operation, trv_mpi_state_t *state)
{
    if (!operation)
        return false;
    trv_mpi_report_call(operation, state);
    return trv_mpi_operation_serves(operation);
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* Types of the program's own belong to the MPI library: only their layout would be equal on all ranks. */
static bool is_named(MPI_Datatype datatype)
{
    int integers, addresses, datatypes, combiner = MPI_UNDEFINED;
    return PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

/* False: the arguments are wrong. */
static bool want_of(const trv_mpi_arguments_t *call, trv_mpi_want_t *want)
{
    if (trv_mpi_want(call, want) != MPI_SUCCESS)
        return false;
    if (want->elements.way == TRV_MPI_LOCAL && !is_named(call->datatype)) {
        want->elements.way = TRV_MPI_LIBRARY;
        want->elements.reason = "a derived type";
    }
    return true;
}

/* The operation of a shape that is not the latest; NULL: pass. */
static trv_mpi_operation_t *find_reduction(trv_mpi_state_t *state, const trv_mpi_arguments_t *call)
{
    trv_mpi_want_t want;
    return want_of(call, &want) ? find_operation(state, &want, call->input, call->output) : NULL;
}

static bool reduce(const trv_mpi_arguments_t *call, MPI_Comm comm, int *code)
{
    trv_mpi_state_t *state = find_state(comm, code);
    if (!state)
        return *code != MPI_SUCCESS;
    trv_mpi_operation_t *operation =
        trv_mpi_cache_find(state, call->collective, (size_t)call->count, call->datatype, call->op);
    if (!operation)
        operation = find_reduction(state, call);
    if (!serves(operation, state))
        return false;
    *code = run(operation, state, call->input, call->output);
    return true;
}

/* ---- AllGather --------------------------------------------------------------------------------------------------- */

static int gather_packed(trv_mpi_operation_t *operation, const trv_mpi_state_t *state, const trv_mpi_gather_t *gather,
                         size_t bytes)
{
    trv_mpi_buffers_t buffers;
    int code = trv_mpi_buffers_begin_packed(&buffers, state, gather, bytes);
    if (code == TRV_OK)
        code = trv_mpi_buffers_end(&buffers, state,
                                   trv_mpi_operation_run(operation, buffers.input, buffers.output));
    return code == TRV_OK ? MPI_SUCCESS : trv_mpi_class(code);
}

/* False: nothing to serve. */
static bool measure(const trv_mpi_gather_t *gather, size_t *bytes, bool *plain)
{
    return trv_mpi_gather_measure(gather, bytes, plain) == MPI_SUCCESS && *bytes > 0 && *bytes <= INT_MAX &&
           (!*plain || (gather->sendbuf && gather->recvbuf));
}

static bool allgather(const trv_mpi_gather_t *gather, MPI_Comm comm, int *code)
{
    size_t bytes = 0;
    bool plain = false;
    if (!measure(gather, &bytes, &plain))
        return false;
    trv_mpi_state_t *state = find_state(comm, code);
    if (!state)
        return *code != MPI_SUCCESS;
    trv_mpi_want_t want = trv_mpi_bytes(bytes);
    trv_mpi_operation_t *operation = find_operation(state, &want, gather->sendbuf, gather->recvbuf);
    if (!serves(operation, state))
        return false;
    *code = plain ? run(operation, state, gather->sendbuf, gather->recvbuf)
                  : gather_packed(operation, state, gather, bytes);
    return true;
}

/* ---- Non-blocking and persistent --------------------------------------------------------------------------------- */

static bool make_job(const trv_mpi_arguments_t *call, const trv_mpi_gather_t *gather, trv_mpi_job_t *job)
{
    size_t bytes = 0;
    bool plain = false;
    if (call) {
        *job = (trv_mpi_job_t){.input = call->input, .output = call->output};
        return call->count > 0 && call->input && call->output && call->output != MPI_IN_PLACE &&
               want_of(call, &job->want);
    }
    if (gather->recvcount <= 0 || gather->recvbuf == MPI_IN_PLACE || !measure(gather, &bytes, &plain))
        return false;
    *job = (trv_mpi_job_t){.want = trv_mpi_bytes(bytes), .input = gather->sendbuf, .output = gather->recvbuf,
                           .packed = plain ? NULL : gather};
    return true;
}

static trv_mpi_request_t *post(const trv_mpi_job_t *job, MPI_Comm comm, bool persistent)
{
    trv_mpi_state_t *state;
    trv_mpi_request_t *request = NULL;
    if (!trv_mpi_state_known(comm, &state))
        return NULL;
    trv_mpi_operation_t *kept = trv_mpi_cache_peek(state, &job->want);
    if (!kept || !trv_mpi_operation_serves(kept) || !trv_mpi_request_possible(state, persistent))
        return NULL;
    if (trv_mpi_request_create(&request, state, kept, job, persistent) < 0)
        PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM); /* the other ranks serve it: no way back */
    return request;
}

/* ---- Hints ------------------------------------------------------------------------------------------------------- */

static void take_hint(MPI_Comm comm, const char *algorithm)
{
    int code;
    trv_mpi_state_t *state = find_state(comm, &code);
    if (state && strcmp(algorithm, TRV_RULE_MPI) == 0)
        state->abandoned = true;
    else if (state && trv_mpi_state_set(state, NULL, algorithm) != MPI_SUCCESS && state->rank == 0)
        trv_mpi_warn("the hint trivance_algorithm of a communicator of %d ranks is ignored: %s", state->ranks,
                     trv_last_error());
}

/* ---- The entries ------------------------------------------------------------------------------------------------- */

static bool enter(void)
{
    if (depth > 0 || !trv_mpi_may_serve())
        return false;
    depth++;
    return true;
}

static bool leave(bool served, MPI_Comm comm, const int *code)
{
    depth--;
    if (served && *code != MPI_SUCCESS) {
        trv_mpi_warn("a collective failed: %s", trv_last_error());
        if (!trv_mpi_is_component())
            PMPI_Comm_call_errhandler(comm, *code);
    }
    return served;
}

bool trv_mpi_intercept_reduce(const trv_mpi_arguments_t *call, MPI_Comm comm, int *code)
{
    if (call->count <= 0 || !call->input || !call->output || call->output == MPI_IN_PLACE || !enter())
        return false;
    return leave(reduce(call, comm, code), comm, code);
}

bool trv_mpi_intercept_allgather(const trv_mpi_gather_t *gather, MPI_Comm comm, int *code)
{
    if (gather->recvcount <= 0 || gather->recvbuf == MPI_IN_PLACE || !enter())
        return false;
    return leave(allgather(gather, comm, code), comm, code);
}

bool trv_mpi_intercept_barrier(MPI_Comm comm, int *code)
{
    unsigned char in = 0, out = 0;
    return trv_mpi_intercept_reduce(&(trv_mpi_arguments_t){TRV_ALLREDUCE, &in, &out, 1, MPI_BYTE, MPI_BOR}, comm, code);
}

trv_mpi_request_t *trv_mpi_intercept_post(const trv_mpi_arguments_t *call, const trv_mpi_gather_t *gather,
                                          MPI_Comm comm, bool persistent, void (*done)(void *context, int code),
                                          void *context)
{
    trv_mpi_job_t job;
    if (!enter())
        return NULL;
    trv_mpi_request_t *request = NULL;
    bool good = make_job(call, gather, &job);
    if (good) {
        job.done = done;
        job.context = context;
        request = post(&job, comm, persistent);
    }
    depth--;
    if (good && !request)
        trv_mpi_intercept_note(persistent ? "persistent calls" : "non-blocking calls",
                               "no blocking call of the same shape has made it ready", comm);
    return request;
}

void trv_mpi_intercept_hint(MPI_Comm comm, const char *algorithm)
{
    if (!enter())
        return;
    take_hint(comm, algorithm);
    depth--;
}

void trv_mpi_intercept_note(const char *name, const char *why, MPI_Comm comm)
{
    int rank = 0;
    if (!trv_mpi_settings()->info || comm == MPI_COMM_NULL || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return;
    trv_mpi_log_passed(rank, name, 0, why);
}
