/*
 * Kept operations: behind the blocking calls, and lent to requests.
 *
 * The blocking calls of a communicator never run at the same time and share their tags, so it does not matter whether
 * the ranks keep the same ones; they do, because only the order of calls decides. How many are kept is bounded in
 * number and in bytes of their vectors.
 *
 * A request borrows one of the same shape: a spare one that an earlier request gave back, else a new one. This is
 * each rank's own affair; who runs with whom is said by the position (transport.h). With no memory for a new one the
 * kept one itself is lent, and whoever has it runs it by turns.
 */
#include <pthread.h>
#include <stdlib.h>

#include "common/error.h"
#include "mpi/operation.h"

#define KEPT_MAX 64
#define KEPT_BYTES_MAX ((size_t)1 << 30)
#define SPARE_MAX 16

struct trv_mpi_entry {
    trv_mpi_operation_t operation; /* first: the address of one is that of the other */
    struct trv_mpi_entry *next;
    bool kept; /* in the list of the state */
    int borrowers;
    unsigned settings; /* those of the state when it was made */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of spare ones and borrowers: requests end in any thread */

static struct trv_mpi_entry *entry_of(trv_mpi_operation_t *operation)
{
    return (struct trv_mpi_entry *)(void *)operation;
}

static struct trv_mpi_entry *make_entry(trv_mpi_state_t *state, const trv_mpi_want_t *want, int *code)
{
    struct trv_mpi_entry *entry = calloc(1, sizeof *entry);
    *code = entry ? trv_mpi_operation_init(&entry->operation, state, want, true) : trv_fail_memory();
    if (*code < 0) {
        free(entry);
        return NULL;
    }
    entry->settings = state->settings;
    return entry;
}

static void free_entry(struct trv_mpi_entry *entry)
{
    trv_mpi_operation_clear(&entry->operation);
    free(entry);
}

/* An entry that is no longer in the list. The last borrower frees it. */
static void drop(struct trv_mpi_entry *entry)
{
    pthread_mutex_lock(&lock);
    entry->kept = false;
    bool unused = entry->borrowers == 0;
    pthread_mutex_unlock(&lock);
    if (unused)
        free_entry(entry);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* What is the same on all ranks is the key, so that they keep the same operations: a kernel's type rather than its
 * handle (MPI_INT here may be MPI_INTEGER there). Handles of user-defined types and operations may be freed and given
 * out again; there the shape is the key. The kept operation is told the present handles. */
static bool serves(const trv_mpi_want_t *kept, const trv_mpi_want_t *want)
{
    const trv_mpi_elements_t *a = &kept->elements, *b = &want->elements;
    if (kept->collective != want->collective || kept->count != want->count || a->way != b->way || a->size != b->size ||
        a->predefined != b->predefined || a->commutative != b->commutative || a->reason != b->reason)
        return false;
    if (a->way == TRV_MPI_KERNEL)
        return a->type == b->type && a->op == b->op;
    return !a->predefined || (kept->datatype == want->datatype && kept->op == want->op);
}

static void to_front(trv_mpi_state_t *state, struct trv_mpi_entry **place)
{
    struct trv_mpi_entry *entry = *place;
    *place = entry->next;
    entry->next = state->cache;
    state->cache = entry;
}

/* Drops what is beyond the bounds; the first one always stays. */
static void trim(trv_mpi_state_t *state)
{
    size_t bytes = 0;
    int kept = 0;
    struct trv_mpi_entry **place = &state->cache;
    while (*place) {
        bytes += trv_mpi_vector_bytes(state, &(*place)->operation.want);
        if (kept++ == 0 || (kept <= KEPT_MAX && bytes <= KEPT_BYTES_MAX)) {
            place = &(*place)->next;
            continue;
        }
        struct trv_mpi_entry *gone = *place;
        *place = gone->next;
        drop(gone);
    }
}

trv_mpi_operation_t *trv_mpi_cache_peek(trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    for (struct trv_mpi_entry **place = &state->cache; *place; place = &(*place)->next)
        if (serves(&(*place)->operation.want, want)) {
            to_front(state, place);
            return &state->cache->operation;
        }
    return NULL;
}

trv_mpi_operation_t *trv_mpi_cache_look(trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    trv_mpi_operation_t *operation = trv_mpi_cache_peek(state, want);
    if (operation) {
        trv_mpi_operation_await(operation); /* a request may run it with other handles */
        trv_mpi_operation_handles(operation, want);
    }
    return operation;
}

int trv_mpi_cache_make(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation)
{
    int code;
    struct trv_mpi_entry *entry = make_entry(state, want, &code);
    if (!entry)
        return code;
    entry->kept = true;
    entry->next = state->cache;
    state->cache = entry;
    trim(state);
    *operation = &entry->operation;
    return TRV_OK;
}

int trv_mpi_cache_get(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_operation_t **operation)
{
    *operation = trv_mpi_cache_look(state, want);
    return *operation ? TRV_OK : trv_mpi_cache_make(state, want, operation);
}

trv_mpi_operation_t *trv_mpi_cache_find(trv_mpi_state_t *state, trv_collective_t collective, size_t count,
                                        MPI_Datatype datatype, MPI_Op op)
{
    for (struct trv_mpi_entry **place = &state->cache; *place; place = &(*place)->next) {
        const trv_mpi_want_t *want = &(*place)->operation.want;
        if (want->count == count && want->datatype == datatype && want->op == op && want->collective == collective &&
            want->elements.predefined) {
            to_front(state, place);
            return &state->cache->operation;
        }
    }
    return NULL;
}

/* ---- Lending ----------------------------------------------------------------------------------------------------- */

static struct trv_mpi_entry *take_spare(trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    for (struct trv_mpi_entry **place = &state->spare; *place; place = &(*place)->next)
        if (serves(&(*place)->operation.want, want)) {
            struct trv_mpi_entry *found = *place;
            *place = found->next;
            return found;
        }
    return NULL;
}

trv_mpi_operation_t *trv_mpi_cache_borrow(trv_mpi_state_t *state, trv_mpi_operation_t *kept)
{
    int code;
    pthread_mutex_lock(&lock);
    struct trv_mpi_entry *entry = take_spare(state, &kept->want);
    pthread_mutex_unlock(&lock);
    if (!entry)
        entry = make_entry(state, &kept->want, &code);
    if (!entry)
        entry = entry_of(kept);
    pthread_mutex_lock(&lock);
    entry->borrowers++;
    pthread_mutex_unlock(&lock);
    return &entry->operation;
}

static void keep_spare(trv_mpi_state_t *state, struct trv_mpi_entry *entry)
{
    struct trv_mpi_entry **place = &state->spare;
    entry->next = state->spare;
    state->spare = entry;
    for (int kept = 0; *place; kept++) {
        struct trv_mpi_entry *last = *place;
        if (kept < SPARE_MAX) {
            place = &last->next;
            continue;
        }
        *place = last->next;
        free_entry(last);
    }
}

void trv_mpi_cache_give_back(trv_mpi_state_t *state, trv_mpi_operation_t *operation)
{
    struct trv_mpi_entry *entry = entry_of(operation);
    pthread_mutex_lock(&lock);
    if (--entry->borrowers == 0 && !entry->kept) {
        if (entry->settings == state->settings && !operation->failed)
            keep_spare(state, entry);
        else
            free_entry(entry);
    }
    pthread_mutex_unlock(&lock);
}

void trv_mpi_cache_clear(trv_mpi_state_t *state)
{
    state->settings++;
    while (state->cache) {
        struct trv_mpi_entry *gone = state->cache;
        state->cache = gone->next;
        drop(gone);
    }
    pthread_mutex_lock(&lock);
    while (state->spare) {
        struct trv_mpi_entry *gone = state->spare;
        state->spare = gone->next;
        free_entry(gone);
    }
    pthread_mutex_unlock(&lock);
}
