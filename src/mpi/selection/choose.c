/*
 * The choice of the algorithm for a call.
 *
 * The algorithm is requested by one of these sources, in the order of precedence: the name that TRV_Comm_set gave, a
 * rule of TRIVANCE_TUNE, the name in TRIVANCE_ALGORITHM, a rule of TRIVANCE_RULES_FILE, or none (auto). A name selects
 * one algorithm, with its parameters; otherwise (auto, planned, a family) the planner selects one
 * (collective/choice.h). Auto requires a known torus.
 *
 * The algorithm must be correct for the type and the operation. Exact operations permit schedules with windows and
 * overlaps; other operations require consistent schedules; operations that do not commute require the gathered form,
 * which adds in rank order (the drop-in leaves them to the MPI library). If the requested algorithm is not correct, the
 * planner's choice replaces it. Schedules that send in both directions over a shared path are not excluded: the planner
 * simulates the shared path (docs/connections.md, "Shared paths").
 *
 * Rank 0 of the communicator chooses, for all vectors of a size class at once, and broadcasts the result (decide.h),
 * because the settings and measurements that this file reads may differ between ranks.
 */
#include "mpi/selection/choose.h"

#include <stdio.h>
#include <string.h>

#include "algorithms/family.h"
#include "base/error.h"
#include "base/size_class.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"
#include "mpi/selection/chooser.h"
#include "mpi/selection/node_sets.h"

/* The algorithm that adds in rank order gathers the vectors of all ranks, so their total size is limited. */
#define IN_RANK_ORDER_BYTES_MAX (256 * 1024)

static int choose_none(trv_choice_t *choice, const char *reason)
{
    choice->algorithm[0] = '\0';
    snprintf(choice->reason, sizeof choice->reason, "%s", reason);
    return TRV_OK;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Narrows the range of sizes of `choice` to those on the same side of `bound` as `bytes`; a size equal to `bound` is
 * on the upper side. */
static void keep_to_side(trv_choice_t *choice, uint64_t bytes, uint64_t bound)
{
    if (bytes < bound && choice->bytes_max >= bound)
        choice->bytes_max = bound - 1;
    if (bytes >= bound && choice->bytes_min < bound)
        choice->bytes_min = bound;
}

/* Sets the range of sizes for which the choice for `bytes` is valid: the same size class, and the same side of the
 * bounds of every rule. */
static void bound_sizes(trv_choice_t *choice, uint64_t bytes)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    const trv_rules_t *rules[] = {&settings->tune_rules, &settings->file_rules};
    trv_size_class_bounds(bytes, &choice->bytes_min, &choice->bytes_max);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < rules[i]->count; r++) {
            const trv_rule_t *rule = &rules[i]->rule[r];
            keep_to_side(choice, bytes, rule->bytes_min);
            if (rule->bytes_max < UINT64_MAX)
                keep_to_side(choice, bytes, rule->bytes_max + 1);
        }
}

static void clear_bounds(trv_choice_t *choice)
{
    choice->bytes_min = 0;
    choice->bytes_max = UINT64_MAX;
}

/* ---- The request ------------------------------------------------------------------------------------------------- */

typedef struct request {
    const char *algorithm; /* a name, a family, TRV_RULE_AUTO, TRV_RULE_PLANNED or TRV_RULE_MPI */
    const char *source;    /* its source, for the log; "" for none */
} request_t;

static bool is_auto(const char *algorithm) { return strcmp(algorithm, TRV_RULE_AUTO) == 0; }

static request_t find_request(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    static const char *const source[] = {"a rule of TRIVANCE_TUNE", "a rule of TRIVANCE_RULES_FILE"};
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    const trv_rules_t *rules[] = {&settings->tune_rules, &settings->file_rules};
    bool named = !is_auto(state->config.algorithm);
    /* Whether a name takes precedence over rules[i]. */
    const bool name_first[] = {state->config.algorithm_named, named};
    for (int i = 0; i < 2; i++) {
        if (name_first[i])
            continue;
        const trv_rule_t *rule = trv_rules_match(rules[i], arguments->collective, &state->config.network.torus,
                                                 state->ranks, trv_mpi_vector_bytes(arguments, state->ranks));
        if (rule)
            return (request_t){rule->algorithm, source[i]};
    }
    return (request_t){state->config.algorithm, named ? "as set" : ""};
}

/* ---- One algorithm ----------------------------------------------------------------------------------------------- */

static trv_chooser_t chooser_of(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    trv_chooser_t chooser = trv_mpi_chooser(state, &state->config.network, state->config.shared_port);
    chooser.root = trv_mpi_chooser_root(state, arguments);
    return chooser;
}

/* The vector that a node has in the schedule. In an All-to-All it has the blocks of all its ranks. */
static uint64_t node_vector_bytes(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    const uint64_t bytes = trv_mpi_vector_bytes(arguments, state->ranks);
    const bool exchanges = trv_collective_shape(arguments->collective)->exchanges;
    return exchanges ? bytes * (uint64_t)(state->ranks / state->config.network.torus.ranks) : bytes;
}

/* Chooses a schedule for the torus as requested, or (NULL) by the planner. */
static int choose_on_torus(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, const request_t *request,
                           trv_choice_t *choice)
{
    const trv_chooser_t chooser = chooser_of(state, arguments);
    const trv_signature_t signature = trv_mpi_signature(arguments);
    const uint64_t bytes = trv_size_class(node_vector_bytes(state, arguments));
    if (!request)
        return trv_choose_planned(&chooser, &signature, bytes, NULL, choice);
    const int code = trv_choose_requested(&chooser, &signature, bytes, request->algorithm, request->source, choice);
    /* The planner's choice replaces a single algorithm that does not support the call. */
    return code == TRV_ERR_MEMORY || trv_is_family(request->algorithm) ? code : TRV_OK;
}

static int choose_in_rank_order(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments,
                                trv_choice_t *choice)
{
    request_t request = {NULL, "the operation does not commute: operands are added in rank order"};
    for (int i = 0; i < trv_algorithms_count() && !request.algorithm; i++)
        if (trv_algorithm_in_rank_order(trv_algorithm_at(i)))
            request.algorithm = trv_algorithm_name(trv_algorithm_at(i));
    size_t bytes = trv_mpi_vector_bytes(arguments, state->ranks);
    keep_to_side(choice, bytes, IN_RANK_ORDER_BYTES_MAX / (uint64_t)state->ranks + 1);
    if (trv_mpi_is_drop_in())
        return choose_none(choice, "the operation does not commute");
    if (arguments->collective != TRV_ALLREDUCE)
        return choose_none(choice, "the operation does not commute, which only AllReduce supports");
    if (bytes > IN_RANK_ORDER_BYTES_MAX / (uint64_t)state->ranks)
        return choose_none(choice,
                           "the operation does not commute, and the vectors are too large to be added in rank order");
    return choose_on_torus(state, arguments, &request, choice);
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

/* The reason why no schedule can execute this operation because of how the ranks are arranged on the torus; else
 * NULL. */
static const char *torus_objection(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    if (!state->config.node && !state->config.comm_rank)
        return NULL;
    if (arguments->unequal && state->config.node)
        return "several ranks share each node, which blocks of different sizes do not support";
    if (arguments->collective != TRV_ALLREDUCE && state->config.node && state->config.network.torus.ranks == 1)
        return "all ranks share one node";
    if (trv_collective_has_blocks(arguments->collective) && !state->config.node)
        return "the torus numbers the ranks in another order than the communicator, which only AllReduce, Broadcast "
               "and Reduce support";
    if (!arguments->elements.commutative)
        return "the operation does not commute, and the torus numbers the ranks in another order";
    if (state->config.node && arguments->elements.size > TRV_MPI_NODE_CHUNK_BYTES)
        return "an element is larger than a chunk of the shared memory of a node";
    return NULL;
}

/* The reason why no schedule may execute this operation, for the log; else NULL. */
static const char *objection_to(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    if (arguments->elements.reducer == TRV_MPI_LIBRARY)
        return arguments->elements.reason;
    const char *reason = torus_objection(state, arguments);
    if (reason || !trv_mpi_is_drop_in())
        return reason;
    if (trv_mpi_settings()->fault)
        return trv_mpi_settings()->fault;
    return !state->config.torus_known && state->members->wiring->status == TRV_MPI_WIRING_INVALID ? state->config.reason
                                                                                                  : NULL;
}

/* Handles a name from TRIVANCE_ALGORITHM that does not support the torus. On communicators as large as the world this
 * is an error; on smaller ones the request becomes auto. */
static int check_setting(const trv_mpi_state_t *state, request_t *request, trv_choice_t *choice)
{
    const char *setting = trv_mpi_settings()->algorithm;
    if (state->config.algorithm_named || !setting || strcmp(request->algorithm, setting) != 0)
        return TRV_OK;
    int code = trv_mpi_algorithm_fits(&state->config.network, setting);
    if (code == TRV_OK || code == TRV_ERR_MEMORY)
        return code;
    if (code == TRV_ERR_UNSUPPORTED && !trv_mpi_state_spans_world(state)) {
        snprintf(choice->reason, sizeof choice->reason, "%.300s", trv_last_error());
        *request = (request_t){TRV_RULE_AUTO, choice->reason};
        return TRV_OK;
    }
    trv_fail(code, "TRIVANCE_ALGORITHM: %s", trv_last_error());
    if (trv_mpi_is_drop_in()) {
        trv_mpi_log_fallback(state->rank, "%s", trv_last_error());
        snprintf(choice->reason, sizeof choice->reason, "%.300s", trv_last_error());
        *request = (request_t){TRV_RULE_MPI, choice->reason};
        return TRV_OK;
    }
    return code;
}

static int choose_requested(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, trv_choice_t *choice)
{
    request_t request = find_request(state, arguments);
    int code = check_setting(state, &request, choice);
    if (code < 0)
        return code;
    const bool is_mpi = strcmp(request.algorithm, TRV_RULE_MPI) == 0;
    choice->left_to_library = is_mpi && request.source != choice->reason; /* a setting asks for the MPI library */
    if (request.source != choice->reason)
        snprintf(choice->reason, sizeof choice->reason, "%s%s", request.source,
                 choice->left_to_library ? " selects the MPI library" : "");
    if (is_mpi)
        return TRV_OK;
    /* trv_mpi_choose has checked that the operation commutes. */
    const bool on_nodes = state->config.machine_node && arguments->collective == TRV_ALLREDUCE;
    const bool must_be_faster = is_auto(request.algorithm) && !state->config.torus_known && trv_mpi_is_drop_in();
    if (must_be_faster && !on_nodes)
        return choose_none(choice, state->config.reason);
    code = choose_on_torus(state, arguments, &request, choice);
    if (code == TRV_OK && !*choice->algorithm && on_nodes)
        code = trv_mpi_choose_on_nodes(state, arguments, must_be_faster, choice);
    return code == TRV_OK && !*choice->algorithm && !must_be_faster ? choose_on_torus(state, arguments, NULL, choice)
                                                                    : code;
}

int trv_mpi_choose(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, trv_choice_t *choice)
{
    *choice = (trv_choice_t){.on_nodes = false};
    const char *objection = objection_to(state, arguments);
    clear_bounds(choice);
    if (objection)
        return choose_none(choice, objection);
    bound_sizes(choice, trv_mpi_vector_bytes(arguments, state->ranks));
    return arguments->elements.commutative ? choose_requested(state, arguments, choice)
                                           : choose_in_rank_order(state, arguments, choice);
}
