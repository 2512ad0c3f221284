/*
 * Which algorithms the user means: a name, with its parameters where it has some ("hybrid:4x8"), a family ("trivance":
 * the fastest of its members), `planned` (what the planner chooses), `all`, or a list of these.
 */
#ifndef TRIVANCE_CLI_SHARED_SELECT_H
#define TRIVANCE_CLI_SHARED_SELECT_H

#include <stdbool.h>

#include <trivance/algorithms.h>
#include <trivance/planner.h>

#define CLI_CHOICES_MAX 32

/* One entry of the user's list. A family has several members, of which only those that are exact are candidates;
 * `planned` has none. */
typedef struct cli_choice {
    char label[TRV_ALGORITHM_NAME_MAX]; /* as typed, but "planned" for `auto`, too */
    bool planned;
    int members;
    const trv_algorithm_t *member[CLI_CHOICES_MAX];
} cli_choice_t;

/* What trv_schedule_create takes for a member: its name, with the parameters that were typed. */
const char *cli_member_name(const cli_choice_t *choice, int member);
/* Whether its results must say what it became: a family or `planned`. */
bool cli_is_several(const cli_choice_t *choice);

/* A family's member in a table, by the first letter of what distinguishes it: l, b, p. */
const char *cli_member_letter(const char *algorithm);
#define CLI_MEMBER_LETTERS "l, b, p: the fastest of the family's members, -l, -b and -pipelined"

typedef struct cli_selection {
    bool all;    /* the user said `all`: algorithms that do not take the torus are no error */
    bool single; /* the user named exactly one algorithm or family */
    int choices;
    cli_choice_t choice[CLI_CHOICES_MAX];
} cli_selection_t;

/* Reads "all", "trivance-b" or "trivance,swing-b,ring"; what is named twice counts once. */
int cli_select(const char *list, cli_selection_t *selection);
/* Trivance, the families that it is compared with, and `planned`. */
int cli_select_compared(cli_selection_t *selection);

/* allreduce, reduce-scatter, allgather and their names for people. */
int cli_parse_collective(const char *text, trv_collective_t *collective);
const char *cli_collective_name(trv_collective_t collective);
const char *cli_collective_title(trv_collective_t collective);

/* The paper's network as `planned` is planned for where no network is described: one queue per link, like its times. */
trv_simulate_options_t cli_usual_network(void);

/* A schedule's time on a network: simulated, or that of its model where a plan has no more (trv_planned_t). */
typedef struct cli_time {
    double ns; /* NAN: unknown */
    bool modelled;
} cli_time_t;

/* The schedule of the choice: of its only member, of the member that takes the vector fastest, or the plan that keeps
 * to the constraints (NULL: to be exact), the latter two as simulated on this network with one queue per link;
 * that time, unknown where nothing was simulated. TRV_ERR_UNSUPPORTED with the reason where there is none. */
int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective,
               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
               uint64_t vector_bytes, trv_schedule_t **schedule, cli_time_t *time);

/* Prints "planned is trivance-l at 32 B, 1 KiB; hybrid:9 at 32 KiB": what it became at each size (NULL: nothing). */
void cli_print_planned(const char *const *name, const uint64_t *bytes, int sizes);

#endif
