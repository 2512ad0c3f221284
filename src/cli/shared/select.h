/*
 * Selection of algorithms by the user: a name, with parameters where it has some ("hybrid:4x8"), a family ("trivance":
 * the fastest of its members), `planned` (the planner's selection), `all`, or a list of these.
 */
#ifndef TRIVANCE_CLI_SHARED_SELECT_H
#define TRIVANCE_CLI_SHARED_SELECT_H

#include <stdbool.h>

#include <trivance/algorithms.h>

#include "algorithms/family.h"
#include "schedule/collective.h"

#define CLI_CHOICES_MAX TRV_FAMILY_MAX

/* One entry of the user's list. A family has several members, `planned` has none. */
typedef struct cli_choice {
    char label[TRV_ALGORITHM_NAME_MAX]; /* as typed; for `auto`, "planned" */
    bool planned, family;
    int members; /* of a family those that support the collective, which may be one */
    const trv_algorithm_t *member[CLI_CHOICES_MAX];
} cli_choice_t;

/* A member's name for trv_schedule_create, with the parameters that were typed. */
const char *cli_member_name(const cli_choice_t *choice, int member);
/* Whether results must name the algorithm selected: for a family or `planned`. */
bool cli_is_several(const cli_choice_t *choice);

/* The letter of a family's member in a table, the first letter of its suffix: l, b, p. */
const char *cli_member_letter(const char *algorithm);
#define CLI_MEMBER_LETTERS "l, b, p: the fastest of the family's members, -l, -b and -pipelined"

/* Writes the label of a line in a table: in parentheses if its schedule only covers (TRV_COVERS), with the remark below
 * the table. Such a schedule is never marked as the fastest if others are exact. Returns `text`. */
char *cli_covers_label(const char *label, bool covers, char text[TRV_ALGORITHM_NAME_MAX + 2]);
#define CLI_COVERS_REMARK "(): correct only for max, min, and, or, because contributions may count twice"

typedef struct cli_selection {
    bool all;    /* the user typed `all`: an algorithm that does not support the torus is not an error */
    bool single; /* the user named exactly one algorithm or family */
    int choices;
    cli_choice_t choice[CLI_CHOICES_MAX];
} cli_selection_t;

/* Whether the planner selects a schedule. */
bool cli_has_planned(const cli_selection_t *selection);

/* Parses "all", "trivance-b" or "trivance,swing-b,ring"; duplicates count once. */
int cli_select(const char *list, cli_selection_t *selection);
/* Selects Trivance, the families that it is compared with, and `planned`. */
int cli_select_compared(cli_selection_t *selection);

/* Leaves out those algorithms of `all` and of families that support none of the collectives (bit c: collective c). */
void cli_selection_restrict(cli_selection_t *selection, unsigned collectives);

/* The names of the collectives, in the order of trv_collective_t. */
#define CLI_COLLECTIVE_WORDS "allreduce reduce-scatter allgather broadcast reduce scatter gather alltoall"
#define CLI_COLLECTIVE_HELP                                                                                            \
    "allreduce (default), reduce-scatter, allgather, broadcast, reduce, scatter, gather or alltoall"
#define CLI_ROOT_HELP "the root of a broadcast, reduce, scatter or gather (default 0)"

/* Parses "allreduce", "broadcast" …; and a root, which is checked when the torus is known. */
int cli_parse_collective(const char *text, trv_collective_t *collective);
int cli_parse_root(const char *text, int *root);
/* TRV_ERR_ARGUMENT for a root other than 0 of a collective that has none. */
int cli_check_root(trv_collective_t collective, int root);
/* Parses a list of collectives, of which repeated ones are ignored. */
int cli_parse_collectives(const char *list, trv_collective_t collective[TRV_COLLECTIVES], int *collectives);

#endif
