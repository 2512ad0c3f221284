/*
 * Keeping decisions.
 */
#include "mpi/selection/kept.h"

#include <stdlib.h>

#include "mpi/operations/scratch.h"

#define KEPT_MAX 256 /* of a communicator */

typedef struct trv_mpi_kept {
    trv_mpi_decision_t *decision;
    struct trv_mpi_kept *next;
} kept_t;

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
        free(gone);
    }
}

static void clear(trv_mpi_state_t *state)
{
    drop_from(&state->kept);
}

/* A child that has no memory for what its parent has decided would decide anew, and alone. So its entries are as good as
 * its state: where they can not be had, neither can it (MPI_Comm_dup says so). */
static bool inherit(trv_mpi_state_t *child, const trv_mpi_state_t *parent)
{
    kept_t **end = &child->kept;
    for (const kept_t *entry = parent->kept; entry; entry = entry->next) {
        kept_t *copy = malloc(sizeof *copy);
        if (!copy)
            return false;
        *copy = (kept_t){.decision = entry->decision};
        trv_mpi_decision_hold(copy->decision);
        *end = copy;
        end = &copy->next;
    }
    return true;
}

void trv_mpi_kept_begin(void)
{
    static const trv_mpi_upstairs_t upstairs = {clear, inherit, trv_mpi_scratch_clear};
    trv_mpi_state_upstairs(&upstairs);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

trv_mpi_decision_t *trv_mpi_kept_find(trv_mpi_state_t *state, const trv_mpi_arguments_t *call)
{
    for (kept_t **place = &state->kept; *place; place = &(*place)->next) {
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
    kept_t *entry = malloc(sizeof *entry);
    bool unable = state->unable;
    state->unable = unable || !entry; /* told in the exchange */
    trv_mpi_verdict_t verdict = trv_mpi_decide(state, want, (trv_mpi_voice_t){on_device, state->kept != NULL}, decision);
    state->unable = unable;
    if (!*decision) {
        free(entry);
        return verdict;
    }
    *entry = (kept_t){*decision, state->kept};
    state->kept = entry;
    trim(state, verdict == TRV_MPI_CROWDED ? 1 : KEPT_MAX);
    return TRV_MPI_DECIDED;
}
