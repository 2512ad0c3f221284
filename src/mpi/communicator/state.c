/*
 * Creation and release of a communicator's state, and its context ids.
 */
#include "mpi/communicator/state.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/wiring.h"
#include "mpi/reports/log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `states` */
static trv_mpi_state_t *states;                          /* the list of all states of the process */

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

/* ---- Label ------------------------------------------------------------------------------------------------------- */

#define NAME_SHOWN  24 /* bytes of a communicator's name */
#define RANKS_SHOWN 4

/* Cuts a name to NAME_SHOWN bytes, not within a character of UTF-8, and replaces control characters, which would break
 * the line of the log. */
static void clean_name(char name[MPI_MAX_OBJECT_NAME])
{
    if (strlen(name) > NAME_SHOWN) {
        int end = NAME_SHOWN;
        while (end > 0 && ((unsigned char)name[end] & 0xC0) == 0x80)
            end--;
        name[end] = '\0';
    }
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
}

/* The name that the program has given to a communicator, as " 'rows'". Empty: it has none; Open MPI's default names are
 * no names. */
static void format_name(MPI_Comm comm, char text[NAME_SHOWN + 4])
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    *text = '\0';
    if (comm != MPI_COMM_NULL && PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && *name &&
        strncmp(name, "MPI_COMM_", 9) != 0 && strncmp(name, "MPI COMMUNICATOR ", 17) != 0) {
        clean_name(name);
        snprintf(text, NAME_SHOWN + 4, " '%.*s'", NAME_SHOWN, name);
    }
}

/* The first ranks in MPI_COMM_WORLD, as " of ranks 0,4,8,…". Empty: the communicator has the ranks of MPI_COMM_WORLD,
 * in their order, or they are not known. */
static void format_members(const trv_mpi_state_t *state, char text[80])
{
    const trv_mpi_members_t *members = state->members;
    int used = 0;
    *text = '\0';
    if (!members || members->domain != trv_mpi_job_domain() || (!members->of && state->ranks == members->domain->ranks))
        return;
    const int shown = state->ranks <= RANKS_SHOWN ? state->ranks : RANKS_SHOWN - 1;
    for (int r = 0; r < shown; r++)
        used += snprintf(text + used, (size_t)(80 - used), "%s%d", r ? "," : " of ranks ",
                         members->of ? members->of[r] : r);
    if (shown < state->ranks)
        snprintf(text + used, (size_t)(80 - used), ",…");
}

const char *trv_mpi_state_label(const trv_mpi_state_t *state, char text[TRV_MPI_LABEL_MAX])
{
    char torus[TRV_TORUS_TEXT_MAX], name[NAME_SHOWN + 4], members[80];
    int cuts = 0;
    for (int i = 0; i < state->config.network.slow_links; i++)
        cuts += isinf(state->config.network.slow_link[i].factor) != 0;
    trv_torus_format(&state->config.network.torus, torus, sizeof torus);
    format_name(state->user, name);
    format_members(state, members);
    snprintf(text, TRV_MPI_LABEL_MAX, "comm %d%s%s (%d rank%s%s%s%s)", state->number, name, members, state->ranks,
             state->ranks == 1 ? "" : "s", state->config.torus_known ? ", " : "",
             state->config.torus_known ? torus : "", state->config.torus_known && cuts ? " with a cut" : "");
    return text;
}

/* ---- Context ids ------------------------------------------------------------------------------------------------- */

void trv_mpi_context_ids_release(trv_mpi_context_ids_t *context_ids)
{
    if (!context_ids || atomic_fetch_sub_explicit(&context_ids->references, 1, memory_order_acq_rel) > 1)
        return;
    if (atomic_load(&context_ids->poisoned))
        atomic_store(&context_ids->domain->poisoned, true);
    else
        trv_mpi_block_release(context_ids->domain, context_ids->block);
    trv_mpi_domain_release(context_ids->domain);
    free(context_ids->duplicate);
    free(context_ids);
}

void trv_mpi_state_init_positions(trv_mpi_state_t *state)
{
    state->ids.persistent = state->ids.index * TRV_MPI_POSITIONS + 1 + TRV_MPI_REQUEST_POSITIONS;
    state->ids.persistent_max = (state->ids.index + 1) * TRV_MPI_POSITIONS;
}

trv_mpi_oob_t trv_mpi_state_oob(const trv_mpi_state_t *state)
{
    return (trv_mpi_oob_t){.comm = state->members->domain->comm,
                           .member = state->members->of,
                           .rank = state->rank,
                           .ranks = state->ranks,
                           .tag = trv_mpi_state_tag(state, 0) + TRV_MPI_OOB_TAG};
}

bool trv_mpi_state_has_persistent(const trv_mpi_state_t *state)
{
    return state->ids.persistent < state->ids.persistent_max ||
           (state->ids.index == 0 && state->ids.allocated + 1 < TRV_MPI_BLOCK_IDS);
}

bool trv_mpi_state_allocate_persistent(trv_mpi_state_t *state, trv_mpi_context_ids_t **context_ids, int *tag)
{
    if (!trv_mpi_state_has_persistent(state))
        return false;
    if (state->ids.persistent == state->ids.persistent_max) { /* use the next context id of the block */
        state->ids.persistent = ++state->ids.allocated * TRV_MPI_POSITIONS;
        state->ids.persistent_max = state->ids.persistent + TRV_MPI_POSITIONS;
    }
    *context_ids = state->ids.context_ids;
    atomic_fetch_add_explicit(&state->ids.context_ids->references, 1, memory_order_relaxed);
    *tag = trv_mpi_context_ids_tag(state->ids.context_ids, state->ids.persistent++);
    return true;
}

void trv_mpi_state_break(trv_mpi_state_t *state)
{
    if (state->ids.context_ids)
        atomic_store(&state->ids.context_ids->poisoned, true);
    if (state->ids.extra)
        atomic_store(&state->ids.extra->poisoned, true);
    if (atomic_exchange(&state->broken, true))
        return;
    char line[1024];
    snprintf(line, sizeof line,
             "rank %d: a collective failed on a communicator of %d ranks, which can no longer be used: %s",
             trv_mpi_log_rank(), state->ranks, trv_last_error());
    trv_mpi_log_failure(line);
}

int trv_mpi_state_fail_memory(trv_mpi_state_t *state)
{
    const int code = trv_fail_memory();
    trv_mpi_state_break(state);
    return code;
}

int trv_mpi_state_broken(void)
{
    return trv_fail(TRV_ERR_TRANSPORT,
                    "an earlier collective on this communicator failed, so it can no longer be used");
}

/* ---- Creation and release ---------------------------------------------------------------------------------------- */

static void list_add(trv_mpi_state_t *state)
{
    pthread_mutex_lock(&lock);
    state->next = states;
    state->link = &states;
    if (states)
        states->link = &state->next;
    states = state;
    pthread_mutex_unlock(&lock);
}

void trv_mpi_state_init(trv_mpi_state_t *state, int rank, int ranks)
{
    static atomic_int made;
    state->user = MPI_COMM_NULL;
    state->rank = rank;
    state->ranks = ranks;
    state->number = atomic_fetch_add(&made, 1) + 1;
    atomic_init(&state->references, 1);
    list_add(state);
}

static void list_remove(trv_mpi_state_t *state)
{
    pthread_mutex_lock(&lock);
    *state->link = state->next;
    if (state->next)
        state->next->link = state->link;
    pthread_mutex_unlock(&lock);
}

static void destroy(trv_mpi_state_t *state)
{
    trv_mpi_context_ids_t *context_ids = state->ids.context_ids;
    bool is_duplicate = state->ids.index > 0;
    list_remove(state);
    trv_cache_clear(&state->roots);
    trv_cache_clear(&state->decisions);
    trv_recorder_destroy(state->recorder);
    trv_mpi_members_release(state->members);
    trv_mpi_context_ids_release(state->ids.extra);
    if (!is_duplicate)
        free(state);
    trv_mpi_context_ids_release(context_ids); /* last: it may free `state`, if that is a duplicate's */
}

void trv_mpi_state_hold(trv_mpi_state_t *state)
{
    atomic_fetch_add_explicit(&state->references, 1, memory_order_relaxed);
}

void trv_mpi_state_release(trv_mpi_state_t *state)
{
    if (state && atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) == 1)
        destroy(state);
}

trv_mpi_state_t *trv_mpi_states(void) { return states; }
