/*
 * Decisions: the choice of rank 0, what a rank prepares for the vote (collective/agreement.h), and the limit of memory.
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
static int create_schedule(trv_mpi_decision_t *prepared, const trv_mpi_state_t *state, const broadcast_t *broadcast)
{
    const trv_decision_t *decision = &broadcast->decision;
    const trv_mpi_config_t *config = &state->config;
    trv_network_t network = config->network;
    trv_mpi_places_t *places = &prepared->places;
    *places = (trv_mpi_places_t){.fragment_bytes = broadcast->fragment_bytes,
                                 .coordinate = config->coordinate,
                                 .member = config->member,
                                 .comm_rank = config->comm_rank,
                                 .node = config->node};
    snprintf(prepared->base.algorithm, sizeof prepared->base.algorithm, "%s", decision->algorithm);
    if (decision->on_nodes) {
        trv_mpi_layout_t *layout = &prepared->layout;
        int code = trv_mpi_layout_init(layout, state, (trv_order_t)decision->order);
        if (code == TRV_OK)
            code = find_shape(config, decision, &network.torus);
        if (code < 0)
            return code;
        places->coordinate = layout->coordinate;
        places->member = layout->member;
        places->comm_rank = layout->comm_rank;
    }
    snprintf(prepared->base.full_name, sizeof prepared->base.full_name, "%s", decision->full_name);
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
    const size_t bytes = trv_mpi_node_bytes(arguments, &prepared->places) * (size_t)leader_vectors(arguments);
    return prepared->base.model &&
           trv_prepared_memory_bytes(&prepared->base) + bytes > trv_mpi_settings()->memory_bytes;
}

/* Allocates the scratch memory of a leader once, because a run that has none would fail after the vote. The memory is
 * kept for the run. */
static int try_node_memory(const trv_mpi_decision_t *prepared, const trv_mpi_arguments_t *arguments)
{
    const size_t bytes = trv_mpi_node_bytes(arguments, &prepared->places);
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
        prepared = trv_mpi_decision_create(arguments, arguments->root);
    if (!prepared)
        return NULL;
    prepared->base.bytes_min = decision->bytes_min;
    prepared->base.bytes_max = decision->bytes_max;
    prepared->base.any_root = trv_any_root(&state->config.network, arguments->collective);
    if (!*decision->algorithm ||
        (create_schedule(prepared, state, broadcast) == TRV_OK && trv_mpi_decision_prepare(prepared, state) == TRV_OK &&
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
    snprintf(prepared->base.reason, sizeof prepared->base.reason, "%s", decision->reason);
    prepared->requested = decision->left_to_library;
    prepared->tally = trv_mpi_log_decision(state->rank, trv_mpi_state_label(state, label),
                                           trv_collective_shape(arguments->collective)->name,
                                           trv_mpi_vector_bytes(arguments, state->ranks), type,
                                           *decision->algorithm ? decision->algorithm : NULL, decision->reason,
                                           decision->left_to_library);
    prepared->mpi.tally = prepared->tally;
}

/* ---- Agreeing ---------------------------------------------------------------------------------------------------- */

static trv_vote_call_t call_of(const trv_mpi_arguments_t *arguments, int ranks)
{
    return (trv_vote_call_t){.collective = arguments->collective,
                             .root = arguments->root,
                             .signature = trv_mpi_signature_hash(arguments),
                             .count = arguments->count,
                             .bytes = trv_mpi_vector_bytes(arguments, ranks),
                             .element_bytes = arguments->elements.size,
                             .blocks = arguments->blocks ? arguments->blocks->digest : 0};
}

/* The context of an agreement. */
typedef struct deciding {
    trv_mpi_state_t *state;
    const trv_mpi_arguments_t *arguments;
    broadcast_t broadcast;
    trv_agreement_t agreement;
    trv_mpi_decision_t *prepared;
} deciding_t;

static bool prepare_for_vote(void *context, int64_t word[TRV_VOTE_WORDS])
{
    deciding_t *deciding = context;
    deciding->prepared = prepare(deciding->state, deciding->arguments, &deciding->broadcast);
    word[TRV_VOTE_OVER_LIMIT] = trv_memory_exceeds_limit();
    word[TRV_VOTE_TOO_LARGE] = deciding->prepared && is_too_large(deciding->prepared, deciding->arguments);
    return deciding->prepared != NULL;
}

/* Performs the broadcast and the vote. deciding->prepared is NULL unless the verdict is TRV_DECIDED. */
static trv_vote_result_t agree(deciding_t *deciding, bool on_device)
{
    trv_mpi_state_t *state = deciding->state;
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    const trv_vote_call_t call = call_of(deciding->arguments, state->ranks);
    trv_agreement_t *agreement = &deciding->agreement;
    if (state->rank == 0)
        choose(state, deciding->arguments, &deciding->broadcast);
    trv_agreement_begin(agreement, &deciding->broadcast.decision, sizeof deciding->broadcast, &call, prepare_for_vote,
                        deciding);
    agreement->word[TRV_VOTE_ON_DEVICE] = on_device;
    agreement->word[TRV_VOTE_FULL] = agreement->word[TRV_VOTE_OVER_LIMIT] = trv_memory_exceeds_limit();
    const int code = trv_mpi_oob_run(&oob, &agreement->exchange, SAME_CALL);
    if (code != MPI_SUCCESS) { /* on this rank only; the other ranks may run a schedule */
        trv_mpi_transport_error("the decision for a call", code);
        trv_mpi_state_break(state);
    }
    const trv_vote_result_t verdict = code == MPI_SUCCESS ? trv_agreement_result(agreement, state->ranks) : TRV_UNABLE;
    if (verdict != TRV_DECIDED && deciding->prepared) {
        trv_mpi_decision_release(deciding->prepared);
        deciding->prepared = NULL;
    }
    return verdict;
}

/* Whether the communicator has decisions whose eviction frees memory. */
static bool has_plans(const trv_mpi_state_t *state)
{
    bool found = false;
    for (const trv_cache_entry_t *entry = state->decisions.first; entry && !found; entry = entry->next)
        found = ((const trv_prepared_t *)(const void *)entry->object)->schedule != NULL;
    return found;
}

/* The limit TRIVANCE_MEMORY. A plan that exceeds it is never kept, so all calls of its kind are left to the MPI
 * library. Otherwise, if the plans of a rank exceed it together, the communicator's earlier decisions are evicted;
 * without any, the plans of other communicators take all memory. Returns the reason to leave the calls to the MPI
 * library, or NULL. */
static const char *memory_objection(const trv_mpi_state_t *state, const int64_t word[TRV_VOTE_WORDS])
{
    return word[TRV_VOTE_TOO_LARGE] ? "their plan takes more memory on a rank than TRIVANCE_MEMORY allows"
           : word[TRV_VOTE_OVER_LIMIT] && !has_plans(state)
               ? "the plans of a rank have reached the limit TRIVANCE_MEMORY"
               : NULL;
}

trv_vote_result_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool on_device,
                                 trv_mpi_decision_t **prepared)
{
    deciding_t deciding = {.state = state, .arguments = arguments};
    trv_decision_t *decision = &deciding.broadcast.decision;
    const int64_t *word = deciding.agreement.word;
    *prepared = trv_mpi_decision_find(state, arguments);
    if (*prepared)
        return TRV_DECIDED;
    const trv_vote_result_t verdict = agree(&deciding, on_device);
    *prepared = deciding.prepared;
    if (verdict != TRV_DECIDED)
        return verdict;
    const char *objection = word[TRV_VOTE_ON_DEVICE] ? "a rank's buffer is, or may be, on a GPU"
                                                     : memory_objection(state, word);
    /* Only plans are evicted: if decisions without a plan were, too, calls that are always left to the MPI library
     * would evict each other's decisions for ever. */
    const bool evicts = word[objection ? TRV_VOTE_FULL : TRV_VOTE_OVER_LIMIT] && has_plans(state);
    if (objection && *decision->algorithm)
        leave_to_library(*prepared, decision, objection);
    report(*prepared, state, decision);
    if (evicts)
        trv_cache_clear(&state->roots);
    trv_cache_add(&state->decisions, &(*prepared)->base.cached, evicts ? 1 : DECISIONS_MAX);
    return TRV_DECIDED;
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
    static const int class_of[] =
        {[TRV_NO_DIFFERENCE] = MPI_SUCCESS, [TRV_OTHER_COLLECTIVE] = MPI_ERR_OTHER, [TRV_OTHER_BLOCKS] = MPI_ERR_COUNT,
         [TRV_OTHER_ROOT] = MPI_ERR_ROOT,   [TRV_OTHER_SIGNATURE] = MPI_ERR_OP,     [TRV_OTHER_COUNT] = MPI_ERR_COUNT};
    const trv_mpi_oob_t oob = trv_mpi_state_oob(state);
    const trv_vote_call_t call = call_of(arguments, state->ranks);
    int64_t word[TRV_VOTE_WORDS] = {0};
    trv_vote_set_call(word, &call);
    word[TRV_VOTE_UNABLE] = fault != MPI_SUCCESS ? ((int64_t)(state->ranks - state->rank) << 32) + fault
                                                 : 0; /* the maximum has the lowest rank's fault */
    int code = trv_mpi_oob_allreduce_max(&oob, word, TRV_VOTE_WORDS, SAME_CALL);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' arguments", code), MPI_ERR_OTHER;
    if (fault != MPI_SUCCESS) { /* the message about this rank's arguments is the most specific one */
        if (trv_mpi_is_drop_in())
            log_fault(state);
        return fault;
    }
    if (word[TRV_VOTE_UNABLE] != 0)
        return trv_fail(TRV_ERR_INVALID, "rank %d of the communicator passed invalid arguments; its %s the reason",
                        state->ranks - (int)(word[TRV_VOTE_UNABLE] >> 32),
                        trv_mpi_is_drop_in() ? "line in the log has" : "trv_last_error() has"),
               (int)(word[TRV_VOTE_UNABLE] & INT32_MAX);
    return class_of[trv_vote_compare(word, arguments->elements.size)];
}
