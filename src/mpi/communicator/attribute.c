/*
 * The state of a communicator is an attribute of it. It is created by the first collective on the communicator, or
 * inherited by a duplicate from its parent, and freed with the communicator.
 *
 * All ranks of a communicator create its duplicates in the same order. A duplicate therefore gets the next context id
 * of its parent's block, and shares the parent's decisions, without communication. A duplicate of a duplicate, and one
 * that is created when the block is used up, shares the decisions too, but has no context id at first: its ranks agree
 * on one in its first collective. If a duplicate cannot be recognized (trv_mpi_set_duplicating), it is initialized like
 * any other communicator.
 *
 * Open MPI 5 no longer runs the delete callbacks of MPI_COMM_WORLD at MPI_Finalize. Therefore the delete callback of an
 * attribute of MPI_COMM_SELF, which every MPI runs first, frees the remaining states.
 */
#include "mpi/communicator/attribute.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "collective/memory.h"
#include "collective/scratch.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "mpi/communicator/initialize.h"
#include "mpi/communicator/compare.h"
#include "mpi/communicator/discover.h"
#include "mpi/communicator/job_fabric.h"
#include "mpi/communicator/world.h"
#include "mpi/reports/log.h"
#include "mpi/reports/log_table.h"
#include "mpi/settings/job_settings.h"
#include "transport/mpi/mpi_error.h"
#include "transport/mpi/mpi_library.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the creation of the keys */
static atomic_int state_key = MPI_KEYVAL_INVALID;
static MPI_Comm own_comm = MPI_COMM_NULL;
static atomic_bool active;

/* The attribute of communicators for whose state this rank has no memory: all calls on them fall back. It is never
 * freed. */
static trv_mpi_state_t fallback_state = {.abandoned = true, .references = 1};

/* A cache, in each thread, of the latest communicator and its state, so that most calls need no look-up. Whenever a
 * communicator is freed, all of these entries become invalid, because MPI may reuse its handle. */
static atomic_uint freed;
static _Thread_local struct {
    MPI_Comm comm;
    trv_mpi_state_t *state;
    unsigned freed;
} latest;

/* ---- Finalization ------------------------------------------------------------------------------------------------ */

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    trv_mpi_state_t *state = value;
    atomic_fetch_add(&freed, 1);
    if (state != &fallback_state) {
        state->user = MPI_COMM_NULL;
        trv_mpi_state_release(state);
    }
    return MPI_SUCCESS;
}

/* Formats a size with three digits, in the smallest unit in which it is less than 1000: 1010 bytes are 0.986 KiB.
 * Returns `text`. */
static const char *format_size(double bytes, char text[TRV_BYTES_TEXT_MAX])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    for (; i < 4 && bytes >= 1000; i++)
        bytes /= 1024;
    trv_snprintf(text, TRV_BYTES_TEXT_MAX, "%.3g %s", bytes, unit[i]);
    return text;
}

static void report_memory(void)
{
    char peak[TRV_BYTES_TEXT_MAX], limit[TRV_BYTES_TEXT_MAX];
    if (trv_memory_peak() > 0 && trv_mpi_log_enabled(TRV_DEBUG_INFO, trv_mpi_log_rank()))
        trv_mpi_log_line("plans and their scratch memory used up to %s in this process; TRIVANCE_MEMORY limits the "
                         "memory that is kept between calls to %s",
                         format_size((double)trv_memory_peak(), peak),
                         format_size((double)trv_mpi_settings()->memory_bytes, limit));
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    trv_mpi_domain_t *job = trv_mpi_job_domain();
    trv_mpi_state_t *next;
    atomic_store(&active, false);
    for (trv_mpi_state_t *state = trv_mpi_states(); state; state = next) {
        next = state->next;
        if (state->user != MPI_COMM_NULL)
            PMPI_Comm_delete_attr(state->user, state_key);
    }
    report_memory();
    if (own_comm != MPI_COMM_NULL)
        PMPI_Comm_free(&own_comm);
    trv_scratch_clear();
    trv_mpi_job_domain_set(NULL);
    trv_mpi_domain_release(job);
    trv_mpi_job_fabric_end();
    trv_mpi_log_end();
    return MPI_SUCCESS;
}

/* ---- Duplicates -------------------------------------------------------------------------------------------------- */

static void open_recorder(trv_mpi_state_t *state)
{
    char label[TRV_MPI_LABEL_MAX];
    trv_mpi_settings(); /* enables the flight recorder if the settings ask for it */
    if (!state->recorder)
        state->recorder = trv_recorder_create(state->rank, trv_mpi_state_label(state, label), trv_mpi_log_text, NULL);
    else
        trv_recorder_rename(state->recorder, trv_mpi_state_label(state, label));
}

/* Fills the state of a duplicate. MPI does not pass the new communicator to the copy callback, so find_attribute sets
 * `user` when the duplicate is first used. */
static void duplicate_init(trv_mpi_state_t *child, const trv_mpi_state_t *parent)
{
    trv_mpi_state_init(child, parent->rank, parent->ranks);
    child->config = parent->config;
    child->members = parent->members;
    trv_mpi_members_hold(child->members);
    open_recorder(child);
}

_Static_assert(TRV_MPI_BLOCK_IDS <= TRV_CACHE_GROUP,
               "each context id of a block has a list entry in every cached object");

/* Creates a duplicate's state with the next context id of the block. It cannot fail: the memory was allocated with the
 * parent's. */
static trv_mpi_state_t *inherit(trv_mpi_state_t *parent)
{
    int index = ++parent->ids.allocated;
    trv_mpi_state_t *child = &parent->ids.context_ids->duplicate[index - 1];
    duplicate_init(child, parent);
    child->ids.context_ids = parent->ids.context_ids;
    child->ids.index = index;
    trv_mpi_state_init_positions(child);
    atomic_fetch_add_explicit(&child->ids.context_ids->references, 1, memory_order_relaxed);
    trv_cache_share(&child->decisions, &parent->decisions, index);
    return child;
}

/* Creates a duplicate's state without a context id. NULL: no memory; then the ranks initialize the duplicate like a new
 * communicator, because the first exchange reports that this rank has not inherited the state. */
static trv_mpi_state_t *inherit_without_id(const trv_mpi_state_t *parent)
{
    trv_mpi_state_t *child = calloc(1, sizeof *child);
    if (!child || !trv_cache_copy(&child->decisions, &parent->decisions)) {
        free(child);
        return NULL;
    }
    duplicate_init(child, parent);
    return child;
}

/* Whether the MPI library calls copy callbacks also in functions that do not duplicate (trv_mpi_set_duplicating). */
static bool copies_elsewhere(void) { return trv_mpi_library() != TRV_MPICH; }
static _Thread_local bool duplicating;

bool trv_mpi_set_duplicating(bool duplicates)
{
    const bool before = duplicating;
    duplicating = duplicates;
    return before;
}

/* The copy callback of MPI_Comm_dup and related functions, called on all ranks in the same order. It must not return an
 * error on one rank, because the other ranks would wait for it in MPI and would dispatch calls on their copies. A rank
 * without memory copies nothing. */
static int on_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra;
    trv_mpi_state_t *parent = value;
    *flag = 0;
    if ((copies_elsewhere() && !duplicating) || parent->abandoned || !parent->config.configured ||
        parent->members->wiring->shared) /* the shared memory of a node belongs to one communicator */
        return MPI_SUCCESS;
    const bool in_block = parent->ids.index == 0 && !parent->decisions.copied &&
                          parent->ids.allocated + 1 < TRV_MPI_BLOCK_IDS;
    if (!in_block && parent->members->domain != trv_mpi_job_domain())
        return MPI_SUCCESS;
    trv_mpi_state_t *child = in_block ? inherit(parent) : inherit_without_id(parent);
    *(trv_mpi_state_t **)copy = child;
    *flag = child != NULL;
    return MPI_SUCCESS;
}

/* ---- Initialization ---------------------------------------------------------------------------------------------- */

int trv_mpi_process_init(void)
{
    int self_key = MPI_KEYVAL_INVALID, key = MPI_KEYVAL_INVALID, running = 0, over = 0, code = MPI_SUCCESS;
    if (state_key != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    PMPI_Initialized(&running);
    PMPI_Finalized(&over);
    if (!running || over)
        return trv_fail(TRV_ERR_STATE, "MPI is not running; call TRV_ functions between MPI_Init and MPI_Finalize"),
               MPI_ERR_OTHER;
    pthread_mutex_lock(&lock);
    if (state_key == MPI_KEYVAL_INVALID) {
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_key, NULL);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, NULL);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own_comm); /* without the attributes of MPI_COMM_SELF */
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_set_errhandler(own_comm, MPI_ERRORS_RETURN);
        if (code == MPI_SUCCESS)
            state_key = key;
        trv_memory_limit(trv_mpi_settings()->memory_bytes);
        trv_mpi_log_observe();
    }
    pthread_mutex_unlock(&lock);
    if (code != MPI_SUCCESS)
        trv_mpi_transport_error("creating an attribute key", code);
    return code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
}

MPI_Comm trv_mpi_own_comm(void)
{
    trv_mpi_process_init();
    return own_comm;
}

/* Compares version and settings of all ranks of the world. Collective. Returns TRV_OK, 1 if all calls will fall back,
 * or an error code with the message in trv_last_error(); all ranks return the same. A rank with `enabled` false does
 * not read its settings. */
static int compare_world(int rank, bool enabled)
{
    enum { UNABLE, DISABLED, ENABLED, FALLS_BACK, SOURCE, STRICT, DIGEST, COMPLEMENT, WORDS };
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t word[WORDS] = {[UNABLE] = enabled && trv_mpi_process_init() != MPI_SUCCESS,
                           [ENABLED] = enabled,
                           [DISABLED] = enabled ? 0 : ranks - rank,
                           [STRICT] = enabled && trv_mpi_settings()->fallback == TRV_FALLBACK_ERROR};
    const bool discovers = enabled && trv_mpi_may_discover();
    bool able = !word[UNABLE], falls_back = enabled && !trv_mpi_may_dispatch() && !discovers;
    word[FALLS_BACK] = falls_back;
    word[SOURCE] = discovers && trv_mpi_discovery_has_source();
    trv_word_pair(&word[DIGEST], enabled ? trv_mpi_settings_digest() : 0);
    int code = trv_mpi_allreduce_max(MPI_COMM_WORLD, word, WORDS, "call MPI_Init with Trivance loaded");
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' settings", code);
    if (word[STRICT])
        trv_mpi_log_strict();
    if (!word[ENABLED])
        return 1;
    if (word[DISABLED])
        return trv_fail(
            TRV_ERR_INVALID,
            "coll_trivance_priority is 0 on rank %d and greater than 0 on others; it must be the same on all ranks",
            ranks - (int)word[DISABLED]);
    if (!trv_word_agrees(&word[DIGEST]))
        return trv_mpi_explain_difference(MPI_COMM_WORLD);
    if (word[UNABLE])
        return able ? trv_fail(TRV_ERR_MEMORY, "another rank could not initialize Trivance") : TRV_ERR_MEMORY;
    if (word[FALLS_BACK] && !falls_back) /* with equal settings, only a lack of memory can be the cause */
        return trv_fail(TRV_ERR_MEMORY, "another rank had no memory for its settings");
    return falls_back || (discovers && !word[SOURCE]) ? 1 : TRV_OK;
}

/* Compares all ranks of the world and creates the job's domain. Collective. Returns as compare_world. */
static int create_job(int rank, bool enabled)
{
    trv_mpi_domain_t *job = NULL;
    int code = compare_world(rank, enabled);
    if (code != TRV_OK)
        return code;
    /* The network must be known before the domain is created, because the domain opens libfabric, and the interfaces
     * are assigned to the ports of the torus. */
    if (trv_mpi_world_discover(MPI_COMM_WORLD) != MPI_SUCCESS)
        return TRV_ERR_MEMORY;
    if (trv_mpi_may_discover() && trv_mpi_world()->code == 0)
        return 1;
    if (trv_mpi_domain_create(&job, MPI_COMM_WORLD) != MPI_SUCCESS)
        return TRV_ERR_MEMORY;
    trv_mpi_job_domain_set(job);
    return TRV_OK;
}

bool trv_mpi_job_init(bool enabled)
{
    static atomic_flag called = ATOMIC_FLAG_INIT;
    int rank = 0;
    if (atomic_flag_test_and_set(&called))
        return trv_mpi_is_active();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = create_job(rank, enabled);
    if (code < 0)
        trv_mpi_log_fallback(rank, "Trivance is disabled: %s", trv_last_error());
    else if (enabled && trv_mpi_settings()->fault) /* repeated, because before MPI_Init it cannot end the program */
        trv_mpi_log_fallback(rank, "%s", trv_mpi_settings()->fault);
    else if (code == 1 && enabled && trv_mpi_log_enabled(TRV_DEBUG_INFO, rank))
        trv_mpi_log_line("no torus, algorithm or rules are set, and no torus is found: all calls fall back to the MPI "
                         "library");
    atomic_store(&active, code == TRV_OK);
    return code == TRV_OK;
}

bool trv_mpi_is_active(void) { return atomic_load_explicit(&active, memory_order_relaxed); }

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static bool find_attribute(MPI_Comm comm, trv_mpi_state_t **state)
{
    if (latest.state && latest.comm == comm && latest.freed == atomic_load_explicit(&freed, memory_order_acquire)) {
        *state = latest.state;
        return true;
    }
    int found = 0, key = state_key;
    unsigned before = atomic_load(&freed);
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, key, state, &found) != MPI_SUCCESS || !found)
        return false;
    if ((*state)->user == MPI_COMM_NULL && *state != &fallback_state)
        (*state)->user = comm; /* the first use of a duplicate */
    latest.comm = comm;
    latest.state = *state;
    latest.freed = before;
    return true;
}

bool trv_mpi_within_world(MPI_Comm comm, int ranks)
{
    enum { CHECKED_MAX = 4096, AT_ONCE = 128 };
    MPI_Group group, world;
    int rank[AT_ONCE], in_world[AT_ONCE];
    bool within = true;
    if (ranks > CHECKED_MAX)
        return true;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int checked = 0, count; within && checked < ranks; checked += count) {
        count = ranks - checked < AT_ONCE ? ranks - checked : AT_ONCE;
        for (int i = 0; i < count; i++)
            rank[i] = checked + i;
        PMPI_Group_translate_ranks(group, count, rank, world, in_world);
        for (int i = 0; within && i < count; i++)
            within = in_world[i] != MPI_UNDEFINED;
    }
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return within;
}

/* Initializes a communicator in its first collective. `state`: its attribute, or NULL if none could be set. Under the
 * drop-in an error makes all calls fall back and is not returned. */
static int state_initialize(MPI_Comm comm, trv_mpi_state_t *state, trv_mpi_state_t **initialized)
{
    trv_mpi_state_t *attribute = state ? state : &fallback_state;
    int rank = 0, code = trv_mpi_communicator_init(comm, state);
    if (code == MPI_SUCCESS) {
        *initialized = state;
        return MPI_SUCCESS;
    }
    if (!trv_mpi_is_drop_in()) {
        PMPI_Comm_delete_attr(comm, state_key); /* also fallback_state, without memory for a state */
        *initialized = NULL;
        return code;
    }
    attribute->abandoned = true;
    PMPI_Comm_rank(comm, &rank);
    trv_mpi_log_fallback(rank, "a communicator could not be initialized: %s", trv_last_error());
    *initialized = attribute;
    return MPI_SUCCESS;
}

/* Creates and initializes the state of a communicator that has not inherited one. */
static int state_create(MPI_Comm comm, trv_mpi_state_t **created)
{
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    trv_mpi_state_t *state = calloc(1, sizeof *state);
    if (state) {
        trv_mpi_state_init(state, rank, ranks);
        state->user = comm;
    } else {
        trv_fail_memory();
    }
    int code = PMPI_Comm_set_attr(comm, state_key, state ? state : &fallback_state);
    if (code != MPI_SUCCESS) { /* MPI has called its error handler */
        trv_mpi_state_release(state);
        trv_mpi_transport_error("setting an attribute", code);
    }
    return state_initialize(comm, code == MPI_SUCCESS ? state : NULL, created);
}

int trv_mpi_state_find(MPI_Comm comm, trv_mpi_state_t **state)
{
    int inter = 0, ranks = 0;
    *state = NULL;
    if (comm == MPI_COMM_NULL) /* the MPI functions below would abort */
        return trv_mpi_is_drop_in()
                   ? MPI_SUCCESS
                   : (trv_fail(TRV_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL; pass MPI_COMM_WORLD, for example"),
                      MPI_ERR_COMM);
    trv_mpi_state_t *attribute;
    const bool has_attribute = find_attribute(comm, &attribute);
    *state = has_attribute ? attribute : NULL;
    if (has_attribute && (attribute->ids.context_ids || attribute->abandoned))
        return MPI_SUCCESS;
    int code = trv_mpi_process_init();
    if (code != MPI_SUCCESS)
        return code;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator is invalid; pass MPI_COMM_WORLD, for example"),
               MPI_ERR_COMM;
    if (!has_attribute && (inter || (trv_mpi_is_drop_in() && (ranks < 2 || !trv_mpi_within_world(comm, ranks)))))
        return MPI_SUCCESS;
    code = has_attribute ? state_initialize(comm, attribute, state) : state_create(comm, state);
    if (code != MPI_SUCCESS || (*state)->abandoned || (*state)->config.configured)
        return code;
    code = trv_mpi_state_configure(*state, NULL, NULL);
    if (code != MPI_SUCCESS && trv_mpi_is_drop_in()) { /* wrong settings: the same error on all ranks */
        trv_mpi_log_fallback((*state)->rank, "%s", trv_last_error());
        (*state)->abandoned = true;
        code = MPI_SUCCESS;
    }
    open_recorder(*state);
    return code;
}

bool trv_mpi_state_known(MPI_Comm comm, trv_mpi_state_t **state)
{
    return comm != MPI_COMM_NULL && find_attribute(comm, state) && (*state)->ids.context_ids &&
           (*state)->config.configured && !(*state)->abandoned;
}
