/*
 * Plans for sets of nodes, compared with the algorithms that an MPI library may use. Rank 0 of a communicator plans;
 * its result is broadcast.
 *
 * Results are cached, so that a program that creates the same communicator repeatedly plans once. The planner's work is
 * limited, not its time (trv_planner_nodes): the same calls give the same plans in every run, whatever the machine's
 * load.
 */
#include "mpi/selection/node_sets.h"

#include <pthread.h>
#include <stdio.h>

#include <trivance/planner.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/size_class.h"
#include "mpi/communicator/places.h"
#include "mpi/selection/chooser.h"

#define KEPT_MAX 1024 /* results; a new one replaces the oldest */
#define MACHINE_MAX                                                                                                    \
    4096 /* nodes: on larger machines a plan takes seconds, too long for an MPI call that did not ask for it */

/* Algorithms that an MPI library without knowledge of the network may use. */
static const char *const rivals[] = {"recdoub-l", "recdoub-b", "ring"};
enum { RIVALS = sizeof rivals / sizeof rivals[0] };

typedef struct answer {
    int code;           /* TRV_OK or TRV_ERR_UNSUPPORTED */
    char sentence[256]; /* the reason for TRV_ERR_UNSUPPORTED */
    trv_planner_node_choice_t best;
    int rival; /* index of the fastest rival; -1: none supports the nodes */
    double rival_ns;
    bool least; /* rival_ns is a lower bound */
} answer_t;

static struct {
    pthread_mutex_t mutex;
    uint64_t key[KEPT_MAX]; /* 0: none */
    answer_t answer[KEPT_MAX];
    int next;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef struct question {
    const trv_torus_t *machine;
    int nodes;
    const int *node;
    uint64_t bytes;
    trv_simulate_options_t network;
    trv_planner_constraints_t constraints;
} question_t;

/* ---- Planning ---------------------------------------------------------------------------------------------------- */

static int compare(const question_t *question, answer_t *answer)
{
    answer->rival = -1;
    for (int i = 0; i < RIVALS; i++) {
        double time_ns;
        bool least;
        int code = trv_planner_nodes_time(question->machine, question->nodes, question->node, TRV_ALLREDUCE, 0,
                                          question->bytes, &question->network, rivals[i], &time_ns, &least);
        if (code < 0 && code != TRV_ERR_UNSUPPORTED)
            return code;
        if (code == TRV_OK && (answer->rival < 0 || time_ns < answer->rival_ns)) {
            answer->rival = i;
            answer->rival_ns = time_ns;
            answer->least = least;
        }
    }
    return TRV_OK;
}

static int plan(const question_t *question, answer_t *answer)
{
    *answer = (answer_t){.rival = -1};
    int code = trv_planner_nodes(question->machine, question->nodes, question->node, TRV_ALLREDUCE, 0, question->bytes,
                                 &question->network, &question->constraints, 1, &answer->best);
    if (code == TRV_ERR_UNSUPPORTED) {
        answer->code = code;
        snprintf(answer->sentence, sizeof answer->sentence, "%s", trv_last_error());
        return TRV_OK;
    }
    return code < 0 ? code : compare(question, answer);
}

/* The key of the cache: a hash of the inputs of a plan that may change within a process. Never 0. */
static uint64_t key_of(const question_t *question)
{
    const uint64_t words[] = {(uint64_t)question->nodes,        question->bytes,
                              question->constraints.consistent, question->constraints.idempotent,
                              question->network.shared_paths,   question->network.one_path};
    const uint64_t key = trv_hash(TRV_HASH_SEED, words, sizeof words);
    return trv_hash(key, question->node, (size_t)question->nodes * sizeof *question->node) | 1;
}

/* Looks up a plan, or makes and caches it. A thread that calls this while another thread plans waits until it has
 * finished. */
static int ask(const question_t *question, answer_t *answer)
{
    const uint64_t key = key_of(question);
    int code = TRV_OK, at = 0;
    pthread_mutex_lock(&kept.mutex);
    while (at < KEPT_MAX && kept.key[at] != key)
        at++;
    if (at < KEPT_MAX) {
        *answer = kept.answer[at];
    } else if ((code = plan(question, answer)) == TRV_OK) {
        kept.key[kept.next] = key;
        kept.answer[kept.next] = *answer;
        kept.next = (kept.next + 1) % KEPT_MAX;
    }
    pthread_mutex_unlock(&kept.mutex);
    return code;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void leave(const trv_mpi_state_t *state, const answer_t *answer, trv_choice_t *choice)
{
    const trv_planner_choice_t *best = &answer->best.choice;
    trv_choice_append(choice, "%s%s", *choice->reason ? "; " : "", state->config.why);
    if (answer->code < 0)
        trv_choice_append(choice, "; %s", answer->sentence);
    else
        trv_choice_append(choice, "; on its nodes %s takes %s%.4g us and the best plan, %s, %.4g us",
                          rivals[answer->rival], answer->least ? "at least " : "", answer->rival_ns / 1e3,
                          best->algorithm, best->time_ns / 1e3);
}

static void take(const trv_mpi_state_t *state, const question_t *question, const answer_t *answer, trv_choice_t *choice)
{
    char machine[TRV_TORUS_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX];
    const trv_planner_node_choice_t *best = &answer->best;
    choice->on_nodes = true;
    choice->order = best->order;
    choice->torus = best->torus;
    snprintf(choice->algorithm, sizeof choice->algorithm, "%s", best->choice.algorithm);
    const trv_time_unit_t *unit = trv_choice_append_plan(choice, "planned", &best->choice);
    if (answer->rival >= 0)
        trv_choice_append(choice, "; %s would take %s%.4g %s", rivals[answer->rival], answer->least ? "at least " : "",
                          answer->rival_ns / unit->ns, unit->name);
    trv_torus_format(question->machine, machine, sizeof machine);
    if (best->torus.dims > 1)
        trv_choice_append(choice, "; the %s %s of %d nodes of %s: %s", best->torus.lines ? "mesh" : "torus",
                          trv_torus_format(&best->torus, torus, sizeof torus), question->nodes, machine,
                          state->config.why);
    else
        trv_choice_append(choice, "; a %s along %d nodes of %s, order %s: %s", best->torus.lines ? "line" : "ring",
                          question->nodes, machine, trv_order_name(best->order), state->config.why);
}

int trv_mpi_planned_on_nodes(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments, bool must_win,
                             trv_choice_t *choice)
{
    const trv_network_t *machine = &trv_mpi_world()->network;
    const trv_chooser_t chooser = trv_mpi_chooser(state, machine, trv_mpi_world()->shared_port);
    const trv_signature_t signature = trv_mpi_signature(arguments);
    const question_t question = {.machine = &machine->torus,
                                 .nodes = state->config.network.torus.ranks,
                                 .node = state->config.machine_node,
                                 .bytes = trv_size_class(trv_mpi_vector_bytes(arguments, state->ranks)),
                                 .network = chooser.simulation,
                                 .constraints = trv_signature_constraints(&signature, chooser.allow_inconsistent)};
    answer_t answer;
    const double began_s = trv_now_s();
    int code = TRV_OK;
    if (must_win && machine->torus.ranks > MACHINE_MAX) {
        answer = (answer_t){.code = TRV_ERR_UNSUPPORTED};
        snprintf(answer.sentence, sizeof answer.sentence,
                 "the machine has more than %d nodes, and finding a plan for some "
                 "of them would take seconds",
                 MACHINE_MAX);
    } else {
        code = ask(&question, &answer);
    }
    if (code < 0)
        return code;
    if (answer.code < 0 || (must_win && answer.rival >= 0 && answer.best.choice.time_ns >= answer.rival_ns))
        leave(state, &answer, choice);
    else
        take(state, &question, &answer, choice);
    trv_choice_append_duration(choice, trv_now_s() - began_s);
    return TRV_OK;
}
