/*
 * Deciding takes two exchanges: rank 0 broadcasts its choice in full; all ranks vote whether they can carry it out. Memory
 * is allocated between the two, because allocation can fail on a single rank.
 */
#include "mpi/selection/decide.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "mpi/communicator/exchange.h"
#include "mpi/operations/scratch.h"
#include "mpi/reports/job_settings.h"
#include "mpi/selection/choose.h"
#include "mpi/transport/mpi_error.h"

enum { POOL_MAX = 16 };

static const char WHAT[] = "make the same call";

/* What rank 0 tells. */
typedef struct wire {
    int32_t code; /* TRV_OK, or why there is no choice: `why` is the sentence */
    int32_t meant;
    int32_t laid, order, lines; /* along a set of nodes, in that order, as a line rather than a ring */
    uint64_t bytes_min, bytes_max, chunk_bytes, piece_bytes;
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* as it is called; "": the MPI library serves */
    char spelled[TRV_SPELLED_MAX];          /* as it is made */
    char why[TRV_MPI_WHY_MAX];
} wire_t;

/* An operation of a decision, which one run at a time uses. */
typedef struct instance {
    trv_pooled_t pooled; /* first: the address of one is that of the other */
    trv_mpi_operation_t operation;
    trv_mpi_decision_t *decision;
} instance_t;

/* ---- Instances --------------------------------------------------------------------------------------------------- */

static instance_t *instance_of(trv_mpi_operation_t *operation)
{
    return (instance_t *)(void *)((char *)operation - offsetof(instance_t, operation));
}

/* NULL with the sentence. */
static instance_t *instance_make(trv_mpi_decision_t *decision, trv_mpi_state_t *state)
{
    instance_t *instance = calloc(1, sizeof *instance);
    if (!instance) {
        trv_fail_memory();
        return NULL;
    }
    if (trv_mpi_operation_init(&instance->operation, state, &decision->kind, &decision->recipe, true, 0) < 0) {
        free(instance);
        return NULL;
    }
    instance->decision = decision;
    instance->operation.algorithm = decision->algorithm;
    return instance;
}

static void instance_free(instance_t *instance)
{
    trv_mpi_operation_clear(&instance->operation);
    free(instance);
}

static trv_mpi_operation_t *take(void *source, trv_mpi_state_t *state, const trv_mpi_want_t *want)
{
    trv_mpi_decision_t *decision = source;
    instance_t *instance = (instance_t *)(void *)trv_pool_take(&decision->pool);
    instance = instance ? instance : instance_make(decision, state);
    if (!instance)
        return NULL;
    instance->operation.state = state;
    instance->operation.tally = decision->tally;
    trv_mpi_operation_take(&instance->operation, want);
    return &instance->operation;
}

trv_mpi_operation_t *trv_mpi_decision_take(trv_mpi_decision_t *decision, trv_mpi_state_t *state,
                                           const trv_mpi_want_t *want)
{
    trv_mpi_operation_t *operation = take(decision, state, want);
    if (operation)
        trv_mpi_operation_place(operation, 0);
    return operation;
}

void trv_mpi_decision_give(trv_mpi_operation_t *operation)
{
    instance_t *instance = instance_of(operation);
    if (operation->failed || !trv_pool_give(&instance->decision->pool, &instance->pooled))
        instance_free(instance);
}

static void free_pooled(trv_mpi_decision_t *decision)
{
    instance_t *instance;
    while ((instance = (instance_t *)(void *)trv_pool_take(&decision->pool)) != NULL)
        instance_free(instance);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void trv_mpi_decision_hold(trv_mpi_decision_t *decision)
{
    atomic_fetch_add_explicit(&decision->references, 1, memory_order_relaxed);
}

static void destroy(trv_mpi_decision_t *decision)
{
    free_pooled(decision);
    trv_mpi_model_destroy(decision->model);
    trv_schedule_destroy(decision->schedule);
    trv_mpi_layout_clear(&decision->layout);
    trv_pool_clear(&decision->pool);
    free(decision);
}

void trv_mpi_decision_release(trv_mpi_decision_t *decision)
{
    if (atomic_fetch_sub_explicit(&decision->references, 1, memory_order_acq_rel) == 1)
        destroy(decision);
}

static void release(void *source) { trv_mpi_decision_release(source); }

trv_mpi_lender_t trv_mpi_decision_lend(trv_mpi_decision_t *decision)
{
    trv_mpi_decision_hold(decision);
    return (trv_mpi_lender_t){decision, take, trv_mpi_decision_give, release};
}

bool trv_mpi_decision_fits(const trv_mpi_decision_t *decision, const trv_mpi_want_t *want, int ranks)
{
    size_t bytes = trv_mpi_vector_bytes(want, ranks);
    return bytes >= decision->bytes_min && bytes <= decision->bytes_max && trv_mpi_same_kind(&decision->kind, want);
}

/* ---- Choosing, on rank 0 ----------------------------------------------------------------------------------------- */

static void choose(trv_mpi_state_t *state, const trv_mpi_want_t *want, wire_t *wire)
{
    trv_choice_t choice = {.on_nodes = false};
    int code = state->unable ? trv_fail(TRV_ERR_MEMORY, "%s", state->why) : trv_mpi_choose(state, want, &choice);
    const trv_network_t laid = {TRV_NETWORK, .torus = choice.torus};
    if (code == TRV_OK && *choice.algorithm)
        code = trv_schedule_spell_on(choice.on_nodes ? &laid : &state->network, choice.algorithm, want->collective,
                                     wire->spelled, sizeof wire->spelled);
    wire->code = code;
    if (code < 0) {
        snprintf(wire->why, sizeof wire->why, "%s", trv_last_error());
        return;
    }
    wire->meant = choice.left_to_library;
    wire->laid = choice.on_nodes;
    wire->order = (int32_t)choice.order;
    wire->lines = choice.on_nodes && choice.torus.lines != 0;
    wire->bytes_min = choice.bytes_min;
    wire->bytes_max = choice.bytes_max;
    wire->piece_bytes = trv_mpi_settings()->piece_bytes;
    memcpy(wire->algorithm, choice.algorithm, sizeof wire->algorithm);
    snprintf(wire->why, sizeof wire->why, "%s", choice.reason);
}

/* ---- Carrying it out --------------------------------------------------------------------------------------------- */

/* The schedule, and where this rank and the others are in it. */
static int make_recipe(trv_mpi_decision_t *decision, const trv_mpi_state_t *state, const wire_t *wire)
{
    trv_network_t network = state->network;
    trv_mpi_recipe_t *recipe = &decision->recipe;
    *recipe = (trv_mpi_recipe_t){.algorithm = decision->algorithm,
                                 .chunk_bytes = wire->chunk_bytes,
                                 .piece_bytes = wire->piece_bytes,
                                 .place = state->place,
                                 .member = state->member,
                                 .name = state->name,
                                 .node = state->node};
    if (wire->laid) {
        trv_mpi_layout_t *layout = &decision->layout;
        int code = trv_mpi_layout_init(layout, state, (trv_order_t)wire->order);
        if (code == TRV_OK)
            code = trv_torus_set_lines(&network.torus, wire->lines ? 1 : 0);
        if (code < 0)
            return code;
        recipe->place = layout->place;
        recipe->member = layout->member;
        recipe->name = layout->name;
    }
    int code = trv_schedule_create_on(&decision->schedule, &network, wire->spelled, decision->kind.collective);
    recipe->schedule = decision->schedule;
    return code;
}

/* What a rank needs; NULL with the sentence where it cannot have it. */
static trv_mpi_decision_t *prepare(trv_mpi_state_t *state, const trv_mpi_want_t *want, const wire_t *wire)
{
    trv_mpi_decision_t *decision = calloc(1, sizeof *decision);
    if (!decision || state->unable) {
        free(decision);
        trv_fail_memory();
        return NULL;
    }
    atomic_init(&decision->references, 1);
    trv_pool_init(&decision->pool, POOL_MAX);
    decision->kind = *want;
    decision->bytes_min = wire->bytes_min;
    decision->bytes_max = wire->bytes_max;
    snprintf(decision->algorithm, sizeof decision->algorithm, "%s", *wire->algorithm ? wire->algorithm : "mpi");
    decision->mpi = (trv_mpi_operation_t){.want = *want, .algorithm = "mpi"};
    if (!*wire->algorithm)
        return decision;
    int code = make_recipe(decision, state, wire);
    if (code == TRV_OK)
        code = trv_mpi_model_create(&decision->model, want, &decision->recipe);
    decision->recipe.model = decision->model;
    instance_t *instance = code == TRV_OK ? instance_make(decision, state) : NULL;
    if (instance) {
        trv_mpi_decision_give(&instance->operation);
        return decision;
    }
    trv_mpi_decision_release(decision);
    return NULL;
}

/* The MPI library serves after all. */
static void take_back(trv_mpi_decision_t *decision, wire_t *wire, const char *why)
{
    free_pooled(decision);
    decision->recipe = (trv_mpi_recipe_t){.algorithm = "mpi"};
    trv_mpi_model_destroy(decision->model);
    trv_schedule_destroy(decision->schedule);
    decision->model = NULL;
    decision->schedule = NULL;
    trv_mpi_layout_clear(&decision->layout);
    snprintf(decision->algorithm, sizeof decision->algorithm, "mpi");
    snprintf(wire->why, sizeof wire->why, "%s", why);
    wire->algorithm[0] = '\0';
    wire->meant = 0;
}

static void report(trv_mpi_decision_t *decision, const trv_mpi_state_t *state, const wire_t *wire)
{
    const trv_mpi_want_t *want = &decision->kind;
    char type[64] = "", where[TRV_MPI_WHERE_MAX];
    if (want->elements.way == TRV_MPI_KERNEL && want->collective != TRV_ALLGATHER)
        snprintf(type, sizeof type, "%s %s", trv_type_name(want->elements.type), trv_op_name(want->elements.op));
    decision->tally = trv_mpi_log_decision(state->rank, trv_mpi_state_where(state, where),
                                           trv_rules_collective_name(want->collective),
                                           trv_mpi_vector_bytes(want, state->ranks), type,
                                           *wire->algorithm ? wire->algorithm : NULL, wire->why, wire->meant);
    decision->mpi.tally = decision->tally;
}

/* ---- Agreeing ---------------------------------------------------------------------------------------------------- */

enum {
    UNABLE,
    ON_DEVICE,
    OTHER_CALL,
    OVER,
    COLLECTIVE,
    COLLECTIVE_COMPLEMENT,
    KIND,
    KIND_COMPLEMENT,
    COUNT,
    COUNT_COMPLEMENT,
    UNEVEN,
    UNEVEN_COMPLEMENT,
    WORDS
};
_Static_assert(WORDS <= TRV_MPI_WORDS_MAX, "an exchange takes no more words");

static void tell_call(int64_t word[WORDS], const trv_mpi_want_t *want, uint64_t uneven)
{
    trv_mpi_word_pair(&word[COLLECTIVE], (uint64_t)want->collective);
    trv_mpi_word_pair(&word[KIND], trv_mpi_kind_hash(want));
    trv_mpi_word_pair(&word[COUNT], want->count);
    trv_mpi_word_pair(&word[UNEVEN], uneven);
}

static void speak(int64_t word[WORDS], const trv_mpi_want_t *want, const wire_t *wire,
                  const trv_mpi_decision_t *decision, trv_mpi_voice_t voice, int ranks)
{
    size_t bytes = trv_mpi_vector_bytes(want, ranks);
    word[UNABLE] = wire->code < 0 || !decision;
    word[ON_DEVICE] = voice.on_device;
    word[OTHER_CALL] = wire->code == TRV_OK && (bytes < wire->bytes_min || bytes > wire->bytes_max);
    word[OVER] = trv_mpi_memory_kept() > trv_mpi_settings()->memory_bytes;
    tell_call(word, want, 0);
}

/* The sentence for calls that differ; MPI_SUCCESS where they are the same. */
static int difference(const int64_t word[WORDS], const trv_mpi_want_t *want)
{
    if (!trv_mpi_word_agrees(&word[COLLECTIVE]))
        return trv_fail(TRV_ERR_INVALID, "the ranks call different collectives on this communicator"), MPI_ERR_OTHER;
    if (!trv_mpi_word_agrees(&word[UNEVEN]))
        return trv_fail(TRV_ERR_INVALID,
                        "the counts of MPI_Reduce_scatter differ between ranks; all ranks must pass the "
                        "same list"),
               MPI_ERR_COUNT;
    if (!trv_mpi_word_agrees(&word[KIND]))
        return trv_fail(TRV_ERR_INVALID, "the type or the operation differs between ranks; all ranks must pass the "
                                         "same"),
               MPI_ERR_OP;
    if (!trv_mpi_word_agrees(&word[COUNT]) || word[OTHER_CALL])
        return trv_fail(TRV_ERR_INVALID,
                        "the count differs between ranks: from %llu elements of %zu bytes to %llu; "
                        "all ranks must pass the same",
                        (unsigned long long)(TRV_MPI_WORD_MAX - word[COUNT_COMPLEMENT]), want->elements.size,
                        (unsigned long long)word[COUNT]),
               MPI_ERR_COUNT;
    return MPI_SUCCESS;
}

static trv_mpi_verdict_t judge(const trv_mpi_state_t *state, const trv_mpi_want_t *want, const int64_t word[WORDS],
                               const wire_t *wire, bool able)
{
    if (difference(word, want) != MPI_SUCCESS)
        return TRV_MPI_DIFFER;
    if (wire->code < 0 && wire->code != TRV_ERR_MEMORY) {
        trv_fail(wire->code, "%s", wire->why);
        return TRV_MPI_REFUSED;
    }
    if (word[UNABLE]) {
        trv_fail(TRV_ERR_MEMORY, "a plan could not be made on every rank of a communicator of %d ranks (%s)",
                 state->ranks, able ? "the reason is another rank's" : "this one has no memory for it");
        return TRV_MPI_UNABLE;
    }
    return TRV_MPI_DECIDED;
}

trv_mpi_verdict_t trv_mpi_decide(trv_mpi_state_t *state, const trv_mpi_want_t *want, trv_mpi_voice_t voice,
                                 trv_mpi_decision_t **decided)
{
    const trv_mpi_circle_t circle = trv_mpi_state_circle(state);
    wire_t wire = {.code = TRV_OK};
    int64_t word[WORDS];
    *decided = NULL;
    if (state->rank == 0)
        choose(state, want, &wire);
    int code = trv_mpi_circle_tell(&circle, &wire, sizeof wire, WHAT);
    trv_mpi_decision_t *decision = code == MPI_SUCCESS && wire.code == TRV_OK ? prepare(state, want, &wire) : NULL;
    speak(word, want, &wire, decision, voice, state->ranks);
    if (code == MPI_SUCCESS)
        code = trv_mpi_circle_greatest(&circle, word, WORDS, WHAT);
    if (code != MPI_SUCCESS)
        trv_mpi_transport_error("deciding how a call is served", code);
    trv_mpi_verdict_t verdict = code == MPI_SUCCESS ? judge(state, want, word, &wire, decision != NULL)
                                                    : TRV_MPI_UNABLE;
    if (verdict != TRV_MPI_DECIDED) {
        if (decision)
            trv_mpi_decision_release(decision);
        return verdict;
    }
    if (word[ON_DEVICE] && *wire.algorithm)
        take_back(decision, &wire, "a rank's buffer is, or may be, on a GPU");
    if (word[OVER] && !voice.crowded && *wire.algorithm)
        take_back(decision, &wire, "a rank keeps as much for plans as TRIVANCE_MEMORY allows");
    report(decision, state, &wire);
    *decided = decision;
    return word[OVER] && voice.crowded ? TRV_MPI_CROWDED : TRV_MPI_DECIDED;
}

/* ---- TRIVANCE_CHECK ---------------------------------------------------------------------------------------------- */

int trv_mpi_compare_calls(trv_mpi_state_t *state, const trv_mpi_want_t *want, uint64_t uneven, int fault)
{
    const trv_mpi_circle_t circle = trv_mpi_state_circle(state);
    int64_t word[WORDS] = {0};
    tell_call(word, want, uneven);
    word[UNABLE] = fault;
    int code = trv_mpi_circle_greatest(&circle, word, WORDS, WHAT);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("comparing the ranks' arguments", code), MPI_ERR_OTHER;
    if (fault != MPI_SUCCESS)
        return fault; /* this rank's own sentence is the better one */
    if (word[UNABLE] != MPI_SUCCESS)
        return trv_fail(TRV_ERR_INVALID, "another rank was given arguments that are refused; its trv_last_error() has "
                                         "the reason"),
               (int)word[UNABLE];
    return difference(word, want);
}
