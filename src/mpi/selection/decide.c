/*
 * Decisions in two exchanges: rank 0 broadcasts its complete choice; then all ranks vote whether they can execute it,
 * by an allreduce with the maximum. Memory is allocated between the two, because allocation can fail on a single rank.
 */
#include "mpi/selection/decide.h"

#include <stdio.h>

#include "collective/decision.h"
#include "collective/memory.h"
#include "collective/scratch.h"
#include "base/append.h"
#include "base/error.h"
#include "mpi/communicator/exchange.h"
#include "mpi/communicator/world.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"
#include "mpi/selection/choose.h"
#include "mpi/selection/chooser.h"
#include "mpi/selection/roots.h"
#include "schedule/collective.h"
#include "torus/box.h"
#include "transport/mpi/mpi_error.h"

static const char SAME_CALL[] = "make the same call";

enum { DECISIONS_MAX = 256 }; /* per communicator */

/* The broadcast of rank 0. */
typedef struct broadcast {
    trv_decision_t decision;
    uint64_t fragment_bytes;
} broadcast_t;

/* ---- Choosing, on rank 0 ----------------------------------------------------------------------------------------- */

static void choose(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, broadcast_t *broadcast)
{
    trv_choice_t choice = {.on_nodes = false};
    const trv_mpi_config_t *config = &state->config;
    int code = config->out_of_memory ? trv_fail(TRV_ERR_MEMORY, "%s", config->reason)
                                     : trv_mpi_choose(state, arguments, &choice);
    trv_decision_make(&broadcast->decision, code, &choice, &config->network, arguments->collective,
                      trv_mpi_chooser_root(state, arguments));
    broadcast->fragment_bytes = trv_mpi_settings()->piece_bytes;
}

/* ---- Preparing --------------------------------------------------------------------------------------------------- */

/* The torus of a decision on a set of nodes. Every rank knows the nodes, and so the box that they form. */
static int find_shape(const trv_mpi_config_t *config, const trv_decision_t *decision, trv_torus_t *torus)
{
    if (!decision->in_box)
        return trv_torus_set_lines(torus, decision->lines ? 1 : 0);
    trv_box_t box;
    int found = trv_box_find(&box, &trv_mpi_world()->network.torus, torus->ranks, config->machine_node);
    if (found > 0)
        *torus = box.torus;
    return found > 0    ? TRV_OK
           : found == 0 ? trv_fail(TRV_ERR_STATE,
                                   "the communicator's nodes form no torus, but rank 0 selected a schedule for one")
                        : found;
}

/* Creates the schedule, and fills in the rank at each of its torus coordinates. TRV_OK or a code of the core. */
static int make_spec(trv_mpi_decision_t *prepared, const trv_mpi_state_t *state, const broadcast_t *broadcast)
{
    const trv_decision_t *decision = &broadcast->decision;
    const trv_mpi_config_t *config = &state->config;
    trv_network_t network = config->network;
    trv_mpi_plan_spec_t *spec = &prepared->spec;
    *spec = (trv_mpi_plan_spec_t){.algorithm = prepared->algorithm,
                                  .fragment_bytes = broadcast->fragment_bytes,
                                  .coordinate = config->coordinate,
                                  .member = config->member,
                                  .comm_rank = config->comm_rank,
                                  .node = config->node};
    snprintf(prepared->algorithm, sizeof prepared->algorithm, "%s", decision->algorithm);
    if (decision->on_nodes) {
        trv_mpi_layout_t *layout = &prepared->layout;
        int code = trv_mpi_layout_init(layout, state, (trv_order_t)decision->order);
        if (code == TRV_OK)
            code = find_shape(config, decision, &network.torus);
        if (code < 0)
            return code;
        spec->coordinate = layout->coordinate;
        spec->member = layout->member;
        spec->comm_rank = layout->comm_rank;
    }
    snprintf(prepared->full_name, sizeof prepared->full_name, "%s", decision->full_name);
    return trv_mpi_decision_create_schedule(prepared, &network);
}

/* The number of scratch vectors of a leader: an All-to-All, which runs in place, has a copy of its input. */
static int leader_vectors(const trv_mpi_arguments_t *arguments)
{
    return trv_collective_shape(arguments->collective)->exchanges ? 2 : 1;
}

/* Whether the plan of a decision, with the scratch memory of a leader, exceeds TRIVANCE_MEMORY. */
static bool is_too_large(const trv_mpi_decision_t *prepared, const trv_mpi_arguments_t *arguments)
{
    const size_t bytes = trv_mpi_node_bytes(arguments, &prepared->spec) * (size_t)leader_vectors(arguments);
    return prepared->model && trv_plan_memory_bytes(prepared->model) + bytes > trv_mpi_settings()->memory_bytes;
}

/* Allocates the scratch memory of a leader once, because a run that has none would fail after the vote. The memory is
 * kept for the run. */
static int try_node_memory(const trv_mpi_decision_t *prepared, const trv_mpi_arguments_t *arguments)
{
    const size_t bytes = trv_mpi_node_bytes(arguments, &prepared->spec);
    if (bytes == 0 || is_too_large(prepared, arguments))
        return TRV_OK;
    void *memory[2] = {NULL, NULL};
    bool complete = true;
    for (int i = 0; i < leader_vectors(arguments) && complete; i++)
        complete = (memory[i] = trv_scratch_take(NULL, bytes)) != NULL;
    for (int i = 0; i < 2; i++)
        if (memory[i])
            trv_scratch_give(NULL, memory[i], bytes);
    return complete ? TRV_OK : trv_fail_memory();
}

/* Allocates everything that this rank needs to execute the decision. NULL with the message in trv_last_error() if it
 * cannot. */
static trv_mpi_decision_t *prepare(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                                   const broadcast_t *broadcast)
{
    const trv_decision_t *decision = &broadcast->decision;
    trv_mpi_decision_t *prepared = NULL;
    if (!state->config.out_of_memory)
        prepared = trv_mpi_decision_create(arguments, decision->bytes_min, decision->bytes_max);
    if (!prepared) {
        trv_fail_memory();
        return NULL;
    }
    prepared->any_root = trv_mpi_any_root(state, arguments->collective);
    if (!*decision->algorithm ||
        (make_spec(prepared, state, broadcast) == TRV_OK && trv_mpi_decision_prepare(prepared, state) == TRV_OK &&
         try_node_memory(prepared, arguments) == TRV_OK))
        return prepared;
    trv_mpi_decision_release(prepared);
    return NULL;
}

/* Changes a prepared decision: calls fall back to the MPI library, for this reason. */
static void leave_to_library(trv_mpi_decision_t *prepared, trv_decision_t *decision, const char *reason)
{
    trv_mpi_decision_leave_to_library(prepared);
    snprintf(decision->reason, sizeof decision->reason, "%s", reason);
    decision->algorithm[0] = '\0';
    decision->left_to_library = 0;
}

/* Stores the reason for a decision, and logs it. */
static void report(trv_mpi_decision_t *prepared, const trv_mpi_state_t *state, const trv_decision_t *decision)
{
    const trv_mpi_arguments_t *arguments = &prepared->signature;
    char type[64] = "", label[TRV_MPI_LABEL_MAX];
    if (arguments->elements.reducer == TRV_MPI_KERNEL && trv_collective_shape(arguments->collective)->reduces)
        snprintf(type, sizeof type, "%s %s", trv_type_name(arguments->elements.type),
                 trv_op_name(arguments->elements.op));
    if (arguments->unequal)
        trv_append(type, sizeof type, "%sblocks of different sizes", *type ? ", " : "");
    snprintf(prepared->reason, sizeof prepared->reason, "%s", decision->reason);
    prepared->requested = decision->left_to_library;
    prepared->tally = trv_mpi_log_decision(state->rank, trv_mpi_state_label(state, label),
                                           trv_collective_shape(arguments->collective)->name,
                                           trv_mpi_vector_bytes(arguments, state->ranks), type,
                                           *decision->algorithm ? decision->algorithm : NULL, decision->reason,
                                           decision->left_to_library);
    prepared->mpi.tally = prepared->tally;
}

/* ---- Agreeing ---------------------------------------------------------------------------------------------------- */

/* The words of a vote. All ranks receive the maximum of each. */
enum {
    UNABLE,     /* this rank cannot execute the decision; trv_mpi_compare_calls: its rank and its fault */
    ON_DEVICE,  /* its buffer is, or may be, on a GPU */
    OTHER_CALL, /* its vector is not in the decision's range of sizes */
    OVER_LIMIT, /* its plans exceed TRIVANCE_MEMORY */
    FULL,       /* they exceeded it before this decision's plan was created */
    TOO_LARGE,  /* the plan of this decision alone exceeds it, with the scratch memory of a node's leader */
    COLLECTIVE,
    COLLECTIVE_COMPLEMENT,
    SIGNATURE,
    SIGNATURE_COMPLEMENT,
    COUNT,
    COUNT_COMPLEMENT,
    ROOT,
    ROOT_COMPLEMENT,
    COUNT_LIST,
    COUNT_LIST_COMPLEMENT,
    WORDS
};
_Static_assert(WORDS <= TRV_MPI_WORDS_MAX, "an exchange has at most TRV_MPI_WORDS_MAX words");

static void set_call_words(int64_t word[WORDS], const trv_mpi_arguments_t *arguments)
{
    trv_mpi_word_pair(&word[COLLECTIVE], (uint64_t)arguments->collective);
    trv_mpi_word_pair(&word[SIGNATURE], trv_mpi_signature_hash(arguments));
    trv_mpi_word_pair(&word[COUNT], arguments->count);
    trv_mpi_word_pair(&word[ROOT], (uint64_t)arguments->root & TRV_MPI_WORD_MAX);
    trv_mpi_word_pair(&word[COUNT_LIST], arguments->blocks ? arguments->blocks->digest : 0);
}

static void vote(int64_t word[WORDS], const trv_mpi_arguments_t *arguments, const trv_decision_t *decision,
                 const trv_mpi_decision_t *prepared, int ranks)
{
    const size_t bytes = trv_mpi_vector_bytes(arguments, ranks);
    word[UNABLE] = decision->code < 0 || !prepared;
    word[OTHER_CALL] = decision->code == TRV_OK && (bytes < decision->bytes_min || bytes > decision->bytes_max);
    word[OVER_LIMIT] = trv_memory_exceeds_limit();
    word[TOO_LARGE] = prepared && is_too_large(prepared, arguments);
    set_call_words(word, arguments);
}

/* Compares the ranks' calls by the result of a vote. MPI_SUCCESS if they are equal, else an error class with the
 * message in trv_last_error(). */
static int compare_votes(const int64_t word[WORDS], const trv_mpi_arguments_t *arguments)
{
    if (!trv_mpi_word_agrees(&word[COLLECTIVE]))
        return trv_fail(TRV_ERR_INVALID, "the ranks call different collectives on this communicator"), MPI_ERR_OTHER;
    if (!trv_mpi_word_agrees(&word[COUNT_LIST]))
        return trv_fail(TRV_ERR_INVALID,
                        "the sizes of the blocks differ between ranks; all ranks must pass the same list of counts"),
               MPI_ERR_COUNT;
    if (!trv_mpi_word_agrees(&word[ROOT]))
        return trv_fail(TRV_ERR_INVALID,
                        "the root differs between ranks: from %llu to %llu; all ranks must pass the same",
                        (unsigned long long)(TRV_MPI_WORD_MAX - word[ROOT_COMPLEMENT]), (unsigned long long)word[ROOT]),
               MPI_ERR_ROOT;
    if (!trv_mpi_word_agrees(&word[SIGNATURE]))
        return trv_fail(TRV_ERR_INVALID, "the type or the operation differs between ranks; all ranks must pass the "
                                         "same"),
               MPI_ERR_OP;
    if (!trv_mpi_word_agrees(&word[COUNT]) || word[OTHER_CALL])
        return trv_fail(TRV_ERR_INVALID,
                        "the count differs between ranks: from %llu elements of %zu bytes to %llu; "
                        "all ranks must pass the same",
                        (unsigned long long)(TRV_MPI_WORD_MAX - word[COUNT_COMPLEMENT]), arguments->elements.size,
                        (unsigned long long)word[COUNT]),
               MPI_ERR_COUNT;
    return MPI_SUCCESS;
}

static trv_mpi_verdict_t evaluate_vote(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                                       const int64_t word[WORDS], const trv_decision_t *decision, bool able)
{
    if (compare_votes(word, arguments) != MPI_SUCCESS)
        return TRV_MPI_DIFFER;
    if (decision->code < 0 && decision->code != TRV_ERR_MEMORY) {
        trv_fail(decision->code, "%s", decision->reason);
        return TRV_MPI_UNSATISFIABLE;
    }
    if (word[UNABLE]) {
        trv_fail(TRV_ERR_MEMORY, "a plan could not be created on every rank of a communicator of %d ranks (%s)",
                 state->ranks, able ? "another rank failed" : "this rank has no memory for it");
        return TRV_MPI_UNABLE;
    }
    return TRV_MPI_DECIDED;
}

/* Performs the broadcast and the vote. *made is NULL unless the verdict is TRV_MPI_DECIDED. */
static trv_mpi_verdict_t broadcast_and_vote(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                                            bool on_device, broadcast_t *broadcast, int64_t word[WORDS],
                                            trv_mpi_decision_t **prepared)
{
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    trv_decision_t *decision = &broadcast->decision;
    if (state->rank == 0)
        choose(state, arguments, broadcast);
    int code = trv_mpi_oob_broadcast(&oob, broadcast, sizeof *broadcast, SAME_CALL);
    word[ON_DEVICE] = on_device;
    word[FULL] = trv_memory_exceeds_limit();
    *prepared = code == MPI_SUCCESS && decision->code == TRV_OK ? prepare(state, arguments, broadcast) : NULL;
    vote(word, arguments, decision, *prepared, state->ranks);
    if (code == MPI_SUCCESS)
        code = trv_mpi_oob_allreduce_max(&oob, word, WORDS, SAME_CALL);
    if (code != MPI_SUCCESS) { /* on this rank only; the other ranks may run a schedule */
        trv_mpi_transport_error("the decision for a call", code);
        trv_mpi_state_break(state);
    }
    trv_mpi_verdict_t verdict = code == MPI_SUCCESS ? evaluate_vote(state, arguments, word, decision, *prepared != NULL)
                                                    : TRV_MPI_UNABLE;
    if (verdict != TRV_MPI_DECIDED && *prepared) {
        trv_mpi_decision_release(*prepared);
        *prepared = NULL;
    }
    return verdict;
}

/* Whether the communicator has decisions whose eviction frees memory. */
static bool has_plans(const trv_mpi_state_t *state)
{
    bool found = false;
    for (const trv_cache_entry_t *entry = state->decisions.first; entry && !found; entry = entry->next)
        found = ((const trv_mpi_decision_t *)(const void *)entry->object)->schedule != NULL;
    return found;
}

/* The limit TRIVANCE_MEMORY. A plan that exceeds it is never kept, so all calls of its kind are left to the MPI
 * library. Otherwise, if the plans of a rank exceed it together, the communicator's earlier decisions are evicted;
 * without any, the plans of other communicators take all memory. Returns the reason to leave the calls to the MPI
 * library, or NULL. */
static const char *memory_objection(const trv_mpi_state_t *state, const int64_t word[WORDS])
{
    return word[TOO_LARGE] ? "their plan takes more memory on a rank than TRIVANCE_MEMORY allows"
           : word[OVER_LIMIT] && !has_plans(state) ? "the plans of a rank have reached the limit TRIVANCE_MEMORY"
                                                   : NULL;
}

trv_mpi_verdict_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                 trv_mpi_decision_t **prepared)
{
    broadcast_t broadcast = {.fragment_bytes = 0};
    trv_decision_t *decision = &broadcast.decision;
    int64_t word[WORDS];
    *prepared = trv_mpi_decision_find(state, arguments);
    if (*prepared)
        return TRV_MPI_DECIDED;
    const trv_mpi_verdict_t verdict = broadcast_and_vote(state, arguments, on_device, &broadcast, word, prepared);
    if (verdict != TRV_MPI_DECIDED)
        return verdict;
    const char *objection = word[ON_DEVICE] ? "a rank's buffer is, or may be, on a GPU" : memory_objection(state, word);
    /* Only plans are evicted: if decisions without a plan were, too, calls that are always left to the MPI library
     * would evict each other's decisions for ever. */
    const bool evicts = word[objection ? FULL : OVER_LIMIT] && has_plans(state);
    if (objection && *decision->algorithm)
        leave_to_library(*prepared, decision, objection);
    report(*prepared, state, decision);
    if (evicts)
        trv_cache_clear(&state->roots);
    trv_cache_add(&state->decisions, &(*prepared)->cached, evicts ? 1 : DECISIONS_MAX);
    return TRV_MPI_DECIDED;
}

/* ---- TRIVANCE_CHECK ---------------------------------------------------------------------------------------------- */

static void log_fault(const trv_mpi_state_t *state)
{
    char line[1024];
    snprintf(line, sizeof line, "rank %d of a communicator of %d ranks: %s", state->rank, state->ranks,
             trv_last_error());
    trv_mpi_log_failure(line);
}

int trv_mpi_compare_calls(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, int fault)
{
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    int64_t word[WORDS] = {0};
    set_call_words(word, arguments);
    word[UNABLE] = fault != MPI_SUCCESS ? ((int64_t)(state->ranks - state->rank) << 32) + fault
                                        : 0; /* the maximum has the lowest rank's fault */
    int code = trv_mpi_oob_allreduce_max(&oob, word, WORDS, SAME_CALL);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' arguments", code), MPI_ERR_OTHER;
    if (fault != MPI_SUCCESS) { /* the message about this rank's arguments is the most specific one */
        if (trv_mpi_is_drop_in())
            log_fault(state);
        return fault;
    }
    if (word[UNABLE] != 0)
        return trv_fail(TRV_ERR_INVALID, "rank %d of the communicator passed invalid arguments; its %s the reason",
                        state->ranks - (int)(word[UNABLE] >> 32),
                        trv_mpi_is_drop_in() ? "line in the log has" : "trv_last_error() has"),
               (int)(word[UNABLE] & INT32_MAX);
    return compare_votes(word, arguments);
}
