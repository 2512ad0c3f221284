/*
 * Questions to the planner, and its answers.
 *
 * The planner keeps its plans per process, so a second communicator of the same shape is answered at once. Answers are
 * kept here, too, with their schedules: a call of a new length then costs a walk through a short list.
 */
#include "mpi/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trivance/plan.h>

#include "common/error.h"
#include "common/size_class.h"
#include "mpi/reports/settings.h"

#define LONG_MS 1.0 /* planning that took as long is told */

struct trv_mpi_answer {
    trv_collective_t collective;
    uint64_t bytes;
    trv_plan_constraints_t constraints;
    char family[TRV_PLAN_NAME_MAX]; /* "": of all algorithms */
    const trv_schedule_t *schedule; /* NULL: there is none */
    char why[TRV_MPI_WHY_MAX];
    struct trv_mpi_answer *next;
};

trv_simulate_options_t trv_mpi_network(double alpha_ns, double bandwidth_bps, double hop_ns, double overhead_ns)
{
    const trv_simulate_options_t standard = TRV_SIMULATE_DEFAULTS;
    trv_simulate_options_t network = standard;
    network.model = TRV_FIFO;
    network.delivery = TRV_DELIVERY_TAIL; /* a message is there when all of it is */
    network.alpha_ns = alpha_ns;
    network.message_overhead_ns = overhead_ns;
    network.bandwidth_bps = bandwidth_bps;
    network.nic_bandwidth_bps *= bandwidth_bps / standard.bandwidth_bps;
    /* A way of one hop passes two routers, so what a hop takes beyond the standard is the link's alone. */
    double routers_ns = fmin(standard.router_out_ns + standard.router_in_ns, hop_ns / 2);
    network.router_out_ns = network.router_in_ns = routers_ns / 2;
    network.link_latency_ns = hop_ns - routers_ns;
    return network;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static trv_simulate_options_t network_as_set(void)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    return trv_mpi_network(settings->alpha_ns, settings->bandwidth_bps, settings->hop_ns, settings->overhead_ns);
}

/* The plan of the family's fastest member; TRV_ERR_UNSUPPORTED with the last reason where none will do. */
static int plan_of_family(trv_planner_t *planner, const struct trv_mpi_answer *question, trv_planned_t *best)
{
    int found = TRV_ERR_UNSUPPORTED;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        trv_planned_t plan;
        if (strcmp(trv_algorithm_family(algorithm), question->family) != 0)
            continue;
        int code = trv_planner_time(planner, question->bytes, trv_algorithm_name(algorithm), &plan);
        if (code < 0 && code != TRV_ERR_UNSUPPORTED)
            return code;
        if (code == TRV_OK && (found < 0 || plan.time_ns < best->time_ns)) {
            *best = plan;
            found = TRV_OK;
        }
    }
    return found;
}

static int make_planner(const trv_mpi_state_t *state, const struct trv_mpi_answer *question, trv_planner_t **planner)
{
    trv_simulate_options_t network = network_as_set();
    return trv_planner_create(planner, &state->torus, question->collective, &network, &question->constraints);
}

static int find_plan(const trv_mpi_state_t *state, const struct trv_mpi_answer *question, trv_planned_t *best)
{
    trv_simulate_options_t network = network_as_set();
    if (!*question->family)
        return trv_plan_best(&state->torus, question->collective, question->bytes, &network, &question->constraints,
                             best);
    trv_planner_t *planner;
    int code = make_planner(state, question, &planner);
    if (code == TRV_OK)
        code = plan_of_family(planner, question, best);
    trv_planner_destroy(planner);
    return code;
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

typedef struct unit {
    double ns;
    const char *name;
} unit_t;

/* The one in which a time is read best. */
static unit_t unit_for(double time_ns)
{
    static const unit_t unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    return time_ns >= unit[0].ns ? unit[0] : time_ns >= unit[1].ns ? unit[1] : unit[2];
}

/* "; trivance-b would take 25 us", from the rank that speaks: nothing depends on it. */
static void append_second(const trv_mpi_state_t *state, struct trv_mpi_answer *answer, unit_t unit)
{
    trv_planner_t *planner;
    trv_planned_t plan[2];
    if (*answer->family || !trv_mpi_heard(TRV_DEBUG_INFO, state->rank) || make_planner(state, answer, &planner) < 0)
        return;
    size_t used = strlen(answer->why);
    if (trv_planner_rank(planner, answer->bytes, 2, plan) == 2)
        snprintf(answer->why + used, sizeof answer->why - used, "; %s would take %.4g %s", plan[1].algorithm,
                 plan[1].time_ns / unit.ns, unit.name);
    trv_planner_destroy(planner);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void describe(const trv_mpi_state_t *state, struct trv_mpi_answer *answer, const trv_planned_t *best,
                     double took_ms)
{
    const unit_t unit = unit_for(best->time_ns);
    snprintf(answer->why, sizeof answer->why, "%s: %.4g %s expected, of which %d step%s %.3g, hops %.3g, bytes %.3g",
             *answer->family ? "the fastest of its family" : "planned", best->time_ns / unit.ns, unit.name, best->steps,
             best->steps == 1 ? "" : "s", best->alpha_ns / unit.ns, best->hops_ns / unit.ns,
             best->transmission_ns / unit.ns);
    append_second(state, answer, unit);
    size_t used = strlen(answer->why);
    if (took_ms >= LONG_MS)
        snprintf(answer->why + used, sizeof answer->why - used, "; planning took %.0f ms", took_ms);
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* Fills the answer to the question that it holds. */
static int ask(trv_mpi_state_t *state, struct trv_mpi_answer *answer)
{
    trv_planned_t best;
    double began_ms = now_ms();
    int code = find_plan(state, answer, &best);
    if (code == TRV_ERR_UNSUPPORTED) {
        snprintf(answer->why, sizeof answer->why, "%s", trv_last_error());
        return TRV_OK;
    }
    if (code == TRV_OK)
        code = trv_mpi_state_schedule(state, best.algorithm, answer->collective, &answer->schedule);
    if (code == TRV_OK)
        describe(state, answer, &best, now_ms() - began_ms);
    return code;
}

static struct trv_mpi_answer question_of(const trv_mpi_state_t *state, const trv_mpi_want_t *want,
                                         const char *family)
{
    bool reduces = want->collective != TRV_ALLGATHER;
    struct trv_mpi_answer question = {
        .collective = want->collective,
        .bytes = trv_size_class(trv_mpi_vector_bytes(state, want)),
        .constraints = {.consistent = reduces && !want->elements.exact && !trv_mpi_settings()->allow_inconsistent,
                        .idempotent = reduces && want->elements.idempotent,
                        .narrow = state->one_way | state->shared_port}};
    snprintf(question.family, sizeof question.family, "%s", family ? family : "");
    return question;
}

static bool same_question(const struct trv_mpi_answer *a, const struct trv_mpi_answer *b)
{
    return a->collective == b->collective && a->bytes == b->bytes &&
           a->constraints.consistent == b->constraints.consistent &&
           a->constraints.idempotent == b->constraints.idempotent && a->constraints.narrow == b->constraints.narrow &&
           strcmp(a->family, b->family) == 0;
}

/* The kept answer, or a new one; NULL with the code where there is none. */
static const struct trv_mpi_answer *answer_to(trv_mpi_state_t *state, const struct trv_mpi_answer *question, int *code)
{
    struct trv_mpi_answer *answer = state->answers;
    *code = TRV_OK;
    while (answer && !same_question(answer, question))
        answer = answer->next;
    if (answer)
        return answer;
    answer = malloc(sizeof *answer);
    *code = answer ? TRV_OK : trv_fail_memory();
    if (answer) {
        *answer = *question;
        *code = ask(state, answer);
    }
    if (*code < 0) {
        free(answer);
        return NULL;
    }
    answer->next = state->answers;
    return state->answers = answer;
}

int trv_mpi_planned(trv_mpi_state_t *state, const trv_mpi_want_t *want, const char *family, trv_mpi_choice_t *choice)
{
    int code;
    struct trv_mpi_answer question = question_of(state, want, family);
    const struct trv_mpi_answer *answer = answer_to(state, &question, &code);
    if (!answer)
        return code;
    size_t used = strlen(choice->why);
    snprintf(choice->why + used, sizeof choice->why - used, "%s%s", used ? "; " : "", answer->why);
    choice->schedule = answer->schedule;
    return TRV_OK;
}

void trv_mpi_planned_clear(trv_mpi_state_t *state)
{
    while (state->answers) {
        struct trv_mpi_answer *gone = state->answers;
        state->answers = gone->next;
        free(gone);
    }
}
