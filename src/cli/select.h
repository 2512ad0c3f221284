/*
 * Which algorithms the user means: a name, a family ("trivance": the better of its L and B), `all`, or a list of these.
 */
#ifndef TRIVANCE_CLI_SELECT_H
#define TRIVANCE_CLI_SELECT_H

#include <stdbool.h>

#include <trivance/algorithms.h>
#include <trivance/cost.h>

#define CLI_CHOICES_MAX 32

/* One entry of the user's list. A family has several members, of which only those that are exact are candidates. */
typedef struct cli_choice {
    const char *label;
    int members;
    const trv_algorithm_t *member[CLI_CHOICES_MAX];
} cli_choice_t;

typedef struct cli_selection {
    bool all;    /* the user said `all`: algorithms that do not take the torus are no error */
    bool single; /* the user named exactly one algorithm or family */
    int choices;
    cli_choice_t choice[CLI_CHOICES_MAX];
} cli_selection_t;

/* Reads "all", "trivance-b" or "trivance,swing-b,ring"; what is named twice counts once. */
int cli_select(const char *list, cli_selection_t *selection);

/* allreduce, reduce-scatter, allgather and their names for people. */
int cli_parse_collective(const char *text, trv_collective_t *collective);
const char *cli_collective_name(trv_collective_t collective);
const char *cli_collective_title(trv_collective_t collective);

/* The schedule of the choice: of its only member, or of the member that is fastest for the vector by the cost model.
 * TRV_ERR_UNSUPPORTED with the reason where no member takes the torus. */
int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective,
               const trv_network_t *network, uint64_t vector_bytes, trv_schedule_t **schedule);

#endif
