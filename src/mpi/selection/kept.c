/*
 * Keeping decisions.
 */
#include "mpi/selection/kept.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/operations/scratch.h"
#include "mpi/reports/log.h"
#include "mpi/reports/job_settings.h"
#include "mpi/transport/waiting.h"

#define KEPT_MAX 256 /* of a communicator */

typedef trv_mpi_kept_t kept_t;

/* The place in the state's list of a decision made there, or inherited with a number of the same block. */
static kept_t *entry_of(trv_mpi_decision_t *decision, const trv_mpi_state_t *state)
{
    kept_t *entry = &decision->kept[state->index];
    *entry = (kept_t){.decision = decision};
    return entry;
}

static void to_front(trv_mpi_state_t *state, kept_t **place)
{
    kept_t *entry = *place;
    *place = entry->next;
    entry->next = state->kept;
    state->kept = entry;
}

static void drop_from(kept_t **place)
{
    while (*place) {
        kept_t *gone = *place;
        *place = gone->next;
        trv_mpi_decision_release(gone->decision);
    }
}

static void clear(trv_mpi_state_t *state) { drop_from(&state->kept); }

/* Where a child without a number lists what it inherits. */
static bool make_room(trv_mpi_state_t *child, const trv_mpi_state_t *parent)
{
    size_t decisions = 0;
    for (const kept_t *entry = parent->kept; entry; entry = entry->next)
        decisions++;
    child->room = calloc(decisions + 1, sizeof *child->room);
    return child->room != NULL;
}

static bool inherit(trv_mpi_state_t *child, const trv_mpi_state_t *parent)
{
    if (!child->numbers && !make_room(child, parent))
        return false;
    kept_t **end = &child->kept, *place = child->room;
    for (const kept_t *entry = parent->kept; entry; entry = entry->next) {
        trv_mpi_decision_hold(entry->decision);
        if (place)
            *place = (kept_t){.decision = entry->decision};
        *end = place ? place++ : entry_of(entry->decision, child);
        end = &(*end)->next;
    }
    return true;
}

/* At the end of the job. */
static void end(void)
{
    const double mib = 1024 * 1024;
    if (trv_mpi_memory_most() > 0 && trv_mpi_heard(TRV_DEBUG_INFO, trv_mpi_log_rank()))
        trv_mpi_say("plans and their scratch took up to %.1f MiB of this process's memory; TRIVANCE_MEMORY allows %.0f "
                    "MiB to be kept",
                    (double)trv_mpi_memory_most() / mib, (double)trv_mpi_settings()->memory_bytes / mib);
    trv_mpi_scratch_clear();
}

static void begin(void)
{
    static const trv_mpi_upstairs_t upstairs = {clear, inherit, end};
    trv_mpi_settings(); /* before anything is said */
    trv_mpi_state_upstairs(&upstairs);
    trv_mpi_wait_meanwhile(trv_mpi_requests_progress);
}

void trv_mpi_kept_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

trv_mpi_decision_t *trv_mpi_kept_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *call)
{
    for (kept_t **place = &state->kept; *place && call->count >= 0; place = &(*place)->next) {
        const trv_mpi_decision_t *decision = (*place)->decision;
        const trv_mpi_want_t *kind = &decision->kind;
        if (kind->datatype != call->datatype || kind->op != call->op || kind->collective != call->collective ||
            !kind->elements.predefined)
            continue;
        size_t blocks = kind->collective == TRV_ALLREDUCE ? 1 : (size_t)state->ranks;
        size_t bytes = blocks * (size_t)call->count * kind->elements.size;
        if (bytes < decision->bytes_min || bytes > decision->bytes_max)
            continue;
        if (place != &state->kept)
            to_front(state, place);
        return state->kept->decision;
    }
    return NULL;
}

trv_mpi_decision_t *trv_mpi_kept_look(trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    for (kept_t **place = &state->kept; *place; place = &(*place)->next)
        if (trv_mpi_decision_fits((*place)->decision, want, state->ranks)) {
            to_front(state, place);
            return state->kept->decision;
        }
    return NULL;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

static void trim(trv_mpi_state_t *state, int kept_max)
{
    kept_t **place = &state->kept;
    for (int i = 0; *place && i < kept_max; i++)
        place = &(*place)->next;
    drop_from(place);
}

trv_mpi_verdict_t trv_mpi_kept_get(trv_mpi_state_t *state, const trv_mpi_want_t *want, bool on_device,
                                   trv_mpi_decision_t **decision)
{
    *decision = trv_mpi_kept_look(state, want);
    if (*decision)
        return TRV_MPI_DECIDED;
    const trv_mpi_voice_t voice = {on_device, state->kept != NULL};
    trv_mpi_verdict_t verdict = trv_mpi_decide(state, want, voice, decision);
    if (!*decision)
        return verdict;
    kept_t *entry = entry_of(*decision, state);
    entry->next = state->kept;
    state->kept = entry;
    trim(state, verdict == TRV_MPI_CROWDED ? 1 : KEPT_MAX);
    return TRV_MPI_DECIDED;
}
