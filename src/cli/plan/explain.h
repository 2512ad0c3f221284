/*
 * trivance plan --why: the rows of its table and the networks on which each would be selected.
 */
#ifndef TRIVANCE_CLI_PLAN_EXPLAIN_H
#define TRIVANCE_CLI_PLAN_EXPLAIN_H

#include <trivance/cost.h>

#include "base/span.h"
#include "cli/plan/query.h"
#include "cli/shared/excess.h"
#include "cli/shared/select.h"

#define CLI_EXPLAINED_PLANS 7 /* plans that are shown, no two of them equal; and the families */
#define CLI_EXPLAINED_MAX   (CLI_EXPLAINED_PLANS + CLI_CHOICES_MAX + CLI_ALSO_MAX)
#define CLI_FACTOR_MAX      100. /* a parameter is varied up to this factor, in both directions */
#define CLI_VALUES          16   /* values of a parameter tried in each direction */

enum { CLI_ALPHA, CLI_BANDWIDTH, CLI_LATENCY, CLI_PARAMETERS };

/* The values of a parameter for which the planner selects the choice of a row: below or above a limit, or only a range
 * around a value. */
typedef enum cli_side { CLI_NEVER, CLI_BELOW, CLI_ABOVE, CLI_AROUND } cli_side_t;

typedef struct cli_explained {
    trv_planner_choice_t choice;
    bool excess; /* it has more messages per port than the network allows */
    struct {
        cli_side_t side;
        int offset;   /* the first of CLI_VALUES values in either direction at which it is selected; negative: below */
        double value; /* in ns, bits per second and ns; the planner selects the row at this value */
    } win[CLI_PARAMETERS];
} cli_explained_t;

/* The analysis of a plan. Row 0 is the plan. */
typedef struct cli_explanation {
    const cli_plan_query_t *query;
    trv_planner_t *planner;
    trv_span_t span;   /* the part of the progress bar for the current work */
    trv_limit_t limit; /* with --limit */
    cli_excess_t excess;
    int rows;
    cli_explained_t row[CLI_EXPLAINED_MAX];
} cli_explanation_t;

/* Fills in `win` of all rows. The planner's network is another one afterwards. */
int cli_explain_other_networks(cli_explanation_t *analysis);

/* The value of a parameter on the given network. */
double cli_explained_value(const cli_explanation_t *analysis, int parameter);

#endif
