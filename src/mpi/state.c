/*
 * The life of a communicator's state: made by the first collective on it, freed with it.
 *
 * The library's own communicator comes from MPI_Comm_split (MPI_Comm_dup would run the copy callbacks of other
 * libraries) and is never copied with the user's. Open MPI 5 no longer runs the delete callbacks of MPI_COMM_WORLD at
 * MPI_Finalize, so an attribute on MPI_COMM_SELF, which is deleted first in every MPI, frees whatever is left.
 */
#include "mpi/state.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/call.h"
#include "mpi/operation.h"
#include "mpi/planned.h"
#include "mpi/recorder.h"
#include "mpi/settings.h"
#include "mpi/transport/error.h"
#include "mpi/watch.h"
#include "mpi/wiring.h"

/* States that the drop-in makes in a process: some MPI libraries have no more than 2048 communicators, and they are the
 * program's. */
#define ADOPTED_MAX 256

struct trv_mpi_schedule {
    trv_schedule_t *schedule;
    struct trv_mpi_schedule *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the three below */
static trv_mpi_state_t *states;
static int living;
static int state_key = MPI_KEYVAL_INVALID;

/* The latest communicator of each thread and its state, to spare most calls the look-up. Any communicator that is freed
 * makes all of these stale, since its handle may be given out again. */
static atomic_uint freed;
static _Thread_local struct {
    MPI_Comm comm;
    trv_mpi_state_t *state;
    unsigned freed;
} latest;

int trv_mpi_class(int code)
{
    switch (code) {
    case TRV_OK: return MPI_SUCCESS;
    case TRV_ERR_MEMORY: return MPI_ERR_NO_MEM;
    case TRV_ERR_UNSUPPORTED: return MPI_ERR_UNSUPPORTED_OPERATION;
    case TRV_ERR_STATE: return MPI_ERR_REQUEST;
    case TRV_ERR_TRANSPORT: return MPI_ERR_OTHER;
    default: return MPI_ERR_ARG;
    }
}

/* ---- The end of a state ------------------------------------------------------------------------------------------ */

static void unlink_state(trv_mpi_state_t *state)
{
    pthread_mutex_lock(&lock);
    for (trv_mpi_state_t **place = &states; *place; place = &(*place)->next)
        if (*place == state) {
            *place = state->next;
            living--;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void destroy(trv_mpi_state_t *state)
{
    unlink_state(state);
    trv_mpi_cache_clear(state);
    trv_mpi_planned_clear(state);
    trv_mpi_wiring_destroy(state->wiring);
    trv_mpi_recorder_destroy(state->recorder);
    while (state->schedules) {
        struct trv_mpi_schedule *entry = state->schedules;
        state->schedules = entry->next;
        trv_schedule_destroy(entry->schedule);
        free(entry);
    }
    if (state->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&state->comm);
    free(state);
}

void trv_mpi_state_each(void (*visit)(const trv_mpi_state_t *state))
{
    pthread_mutex_lock(&lock);
    for (trv_mpi_state_t *state = states; state; state = state->next)
        visit(state);
    pthread_mutex_unlock(&lock);
}

void trv_mpi_state_hold(trv_mpi_state_t *state)
{
    state->references++;
}

void trv_mpi_state_release(trv_mpi_state_t *state)
{
    if (state && --state->references == 0)
        destroy(state);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    trv_mpi_state_t *state = value;
    atomic_fetch_add(&freed, 1);
    state->user = MPI_COMM_NULL;
    trv_mpi_cache_clear(state);
    trv_mpi_state_release(state);
    return MPI_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    trv_mpi_state_t *next;
    for (trv_mpi_state_t *state = states; state; state = next) {
        next = state->next;
        if (state->user != MPI_COMM_NULL)
            PMPI_Comm_delete_attr(state->user, state_key);
    }
    trv_mpi_log_end();
    return MPI_SUCCESS;
}

/* ---- Its beginning ----------------------------------------------------------------------------------------------- */

/* Between MPI_Init and MPI_Finalize. A program that has sessions only is never there, and has no MPI_COMM_WORLD. */
static bool world_exists(void)
{
    int running = 0, over = 0;
    PMPI_Initialized(&running);
    PMPI_Finalized(&over);
    return running && !over;
}

static int make_key(void)
{
    int self_key = MPI_KEYVAL_INVALID, code = MPI_SUCCESS;
    bool world = world_exists();
    if (!world && !trv_mpi_is_drop_in())
        return trv_fail(TRV_ERR_STATE, "MPI is not running; call TRV_ functions between MPI_Init and MPI_Finalize"),
               MPI_ERR_OTHER;
    pthread_mutex_lock(&lock);
    if (state_key == MPI_KEYVAL_INVALID) {
        if (world)
            code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_key, NULL);
        if (code == MPI_SUCCESS && world)
            code = PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, NULL);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &state_key, NULL);
    }
    pthread_mutex_unlock(&lock);
    if (code != MPI_SUCCESS)
        trv_mpi_transport_error("creating an attribute key", code);
    return code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* The library's own communicator, of the ranks that want one. A failure is returned, whatever the program has told MPI
 * to do with its errors. */
static int split(MPI_Comm comm, bool wanted, int rank, MPI_Comm *own)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int code = PMPI_Comm_get_errhandler(comm, &handler);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return code;
    code = trv_mpi_watch_arrival(comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split(comm, wanted ? 0 : MPI_UNDEFINED, rank, own);
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
    return code;
}

static int fill(trv_mpi_state_t *state, MPI_Comm comm)
{
    static atomic_int made;
    state->user = comm;
    state->comm = MPI_COMM_NULL;
    state->number = atomic_fetch_add(&made, 1) + 1;
    state->references = 1;
    int code = PMPI_Comm_rank(comm, &state->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(comm, &state->ranks);
    if (code == MPI_SUCCESS)
        code = split(comm, true, state->rank, &state->comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(state->comm, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("making the library's own communicator", code);
    return trv_mpi_tags_init(&state->tags, state->comm);
}

static void enlist(trv_mpi_state_t *state)
{
    pthread_mutex_lock(&lock);
    state->next = states;
    states = state;
    living++;
    pthread_mutex_unlock(&lock);
}

static int create(MPI_Comm comm, trv_mpi_state_t **created)
{
    trv_mpi_state_t *state = calloc(1, sizeof *state);
    if (!state)
        return trv_mpi_class(trv_fail_memory());
    int code = fill(state, comm);
    if (code == TRV_OK) {
        int set = PMPI_Comm_set_attr(comm, state_key, state);
        if (set != MPI_SUCCESS)
            code = trv_mpi_transport_error("setting an attribute", set);
    }
    if (code < 0) {
        destroy(state);
        return trv_mpi_class(code);
    }
    enlist(state);
    *created = state;
    return MPI_SUCCESS;
}

/* Finds what an earlier call hung on the communicator. */
static bool find_kept(MPI_Comm comm, trv_mpi_state_t **state)
{
    if (latest.state && latest.comm == comm && latest.freed == atomic_load(&freed)) {
        *state = latest.state;
        return true;
    }
    int found = 0;
    unsigned before = atomic_load(&freed);
    if (state_key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, state_key, state, &found) != MPI_SUCCESS || !found)
        return false;
    latest.comm = comm;
    latest.state = *state;
    latest.freed = before;
    return true;
}

int trv_mpi_state_find(MPI_Comm comm, trv_mpi_state_t **state)
{
    *state = NULL;
    if (comm == MPI_COMM_NULL) /* MPI would abort */
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL; pass MPI_COMM_WORLD, for example"),
               MPI_ERR_COMM;
    if (find_kept(comm, state))
        return MPI_SUCCESS;
    *state = NULL;
    if (state_key == MPI_KEYVAL_INVALID) {
        int code = make_key();
        if (code != MPI_SUCCESS)
            return code;
    }
    int inter = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_ARGUMENT, "MPI does not know the communicator"), MPI_ERR_COMM;
    return inter ? MPI_SUCCESS : create(comm, state);
}

int trv_mpi_state_get(MPI_Comm comm, trv_mpi_state_t **state)
{
    int code = trv_mpi_state_find(comm, state);
    if (code != MPI_SUCCESS || !*state || (*state)->configured)
        return code;
    return trv_mpi_state_set(*state, NULL, NULL);
}

bool trv_mpi_state_known(MPI_Comm comm, trv_mpi_state_t **state)
{
    return comm != MPI_COMM_NULL && find_kept(comm, state) && (*state)->configured && !(*state)->abandoned;
}

/* ---- Under the drop-in ------------------------------------------------------------------------------------------- */

/* What hangs on a communicator instead of a state where a rank cannot have one: there is memory for nothing else. */
static trv_mpi_state_t nobody = {.references = INT_MAX / 2, .abandoned = true};

static bool has_room(void)
{
    pthread_mutex_lock(&lock);
    bool room = living < ADOPTED_MAX;
    pthread_mutex_unlock(&lock);
    return room;
}

/* NULL with the sentence where this rank cannot have a state. */
static trv_mpi_state_t *new_state(MPI_Comm comm)
{
    if (!world_exists())
        return trv_fail(TRV_ERR_STATE, "MPI_Init was not called, and sessions have no MPI_COMM_WORLD"), NULL;
    if (!has_room())
        return trv_fail(TRV_ERR_UNSUPPORTED, "more than %d communicators are in use", ADOPTED_MAX), NULL;
    trv_mpi_state_t *state = calloc(1, sizeof *state);
    if (state)
        *state = (trv_mpi_state_t){.user = comm, .comm = MPI_COMM_NULL, .references = 1};
    else
        trv_fail_memory();
    return state;
}

/* Makes this rank's state if it can, and takes part in the others' in any case. */
static bool take_part(MPI_Comm comm, trv_mpi_state_t *state)
{
    MPI_Comm none;
    if (state != &nobody)
        return fill(state, comm) == TRV_OK;
    split(comm, false, 0, &none);
    return false;
}

static int adopt(MPI_Comm comm, trv_mpi_state_t **adopted)
{
    trv_mpi_state_t *state = new_state(comm);
    int rank = 0;
    if (!state)
        state = &nobody;
    int code = PMPI_Comm_set_attr(comm, state_key, state);
    if (code != MPI_SUCCESS) {
        trv_mpi_transport_error("setting an attribute", code);
        return MPI_ERR_NO_MEM;
    }
    if (state != &nobody)
        enlist(state);
    bool able = take_part(comm, state);
    uint64_t all_able = able;
    code = trv_mpi_least(comm, &all_able, 1);
    if (state != &nobody)
        state->abandoned = code != MPI_SUCCESS || !all_able;
    if (!all_able && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
        trv_mpi_refuse(rank, "a communicator is left alone: %s", able ? "another rank can not" : trv_last_error());
    *adopted = state;
    return code;
}

int trv_mpi_state_adopt(MPI_Comm comm, trv_mpi_state_t **state)
{
    int inter = 0, ranks = 0;
    if (comm != MPI_COMM_NULL && find_kept(comm, state))
        return MPI_SUCCESS;
    *state = NULL;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
        PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS || ranks < 2)
        return MPI_SUCCESS;
    int code = state_key == MPI_KEYVAL_INVALID ? make_key() : MPI_SUCCESS;
    return code == MPI_SUCCESS ? adopt(comm, state) : code;
}

/* ---- Schedules --------------------------------------------------------------------------------------------------- */

static bool same_torus(const trv_torus_t *a, const trv_torus_t *b)
{
    bool same = a->dims == b->dims;
    for (int d = 0; same && d < a->dims; d++)
        same = a->size[d] == b->size[d];
    return same;
}

int trv_mpi_state_schedule(trv_mpi_state_t *state, const char *algorithm, trv_collective_t collective,
                           const trv_schedule_t **schedule)
{
    *schedule = NULL;
    for (struct trv_mpi_schedule *entry = state->schedules; entry; entry = entry->next)
        if (strcmp(trv_schedule_name(entry->schedule), algorithm) == 0 &&
            trv_schedule_collective(entry->schedule) == collective &&
            same_torus(trv_schedule_torus(entry->schedule), &state->torus)) {
            *schedule = entry->schedule;
            return TRV_OK;
        }
    struct trv_mpi_schedule *entry = calloc(1, sizeof *entry);
    if (!entry)
        return trv_fail_memory();
    int code = trv_schedule_create(&entry->schedule, &state->torus, algorithm, collective);
    if (code < 0) {
        free(entry);
        return code;
    }
    entry->next = state->schedules;
    state->schedules = entry;
    *schedule = entry->schedule;
    return TRV_OK;
}
