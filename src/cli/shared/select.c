/*
 * Names, families and lists of algorithms; names of collectives.
 */
#include "cli/shared/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"
#include "cli/shared/progress.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "base/error.h"
#include "planner/timing.h"
#include "cli/shared/network_options.h"

static const cli_choice_t planned = {.label = "planned", .planned = true};

/* Only a choice of one algorithm may have parameters; its label has them. */
const char *cli_member_name(const cli_choice_t *choice, int member)
{
    return strpbrk(choice->label, ":@") ? choice->label : trv_algorithm_name(choice->member[member]);
}

bool cli_is_several(const cli_choice_t *choice) { return choice->planned || choice->members > 1; }

const char *cli_member_letter(const char *algorithm) { return strrchr(algorithm, '-') + 1; }

static bool already_chosen(const cli_selection_t *selection, const char *label)
{
    for (int i = 0; i < selection->choices; i++)
        if (strcmp(selection->choice[i].label, label) == 0)
            return true;
    return false;
}

static int add_choice(cli_selection_t *selection, const cli_choice_t *choice)
{
    if (already_chosen(selection, choice->label))
        return TRV_OK;
    if (selection->choices == CLI_CHOICES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "the list of algorithms has more than %d entries", CLI_CHOICES_MAX);
    selection->choice[selection->choices++] = *choice;
    return TRV_OK;
}

static int unknown_name(const char *text)
{
    const char *name[2 * CLI_CHOICES_MAX + 2] = {planned.label, "all"};
    int count = 2;
    for (int i = 0; i < trv_algorithms_count() && i < CLI_CHOICES_MAX; i++) {
        name[count++] = trv_algorithm_name(trv_algorithm_at(i));
        name[count++] = trv_algorithm_family(trv_algorithm_at(i));
    }
    for (int i = 0; i < count; i++)
        if (strcmp(text, name[i]) == 0) /* behind which parameters were given */
            return trv_fail(TRV_ERR_ARGUMENT, "%.40s takes no parameters; only names of `trivance list` may have some",
                            text);
    const char *nearest = trv_nearest(text, name, count);
    if (nearest)
        return trv_fail(TRV_ERR_ARGUMENT, "there is no algorithm '%.40s'; did you mean %s? `trivance list` shows all",
                        text, nearest);
    char names[512] = "";
    for (int i = 0; i < trv_algorithms_count(); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s, ", trv_algorithm_name(trv_algorithm_at(i)));
    }
    return trv_fail(TRV_ERR_ARGUMENT, "there is no algorithm '%.40s'; there are %s%s", text, names, planned.label);
}

static void set_single(cli_choice_t *choice, const char *label, const trv_algorithm_t *algorithm)
{
    *choice = (cli_choice_t){.members = 1, .member = {algorithm}};
    snprintf(choice->label, sizeof choice->label, "%s", label);
}

/* Parameters of a name are read where the torus is known; whether it may have any is known here. */
static int find_with_parameters(const char *text, cli_choice_t *choice)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":@"), text);
    const trv_algorithm_t *algorithm = trv_algorithm_find(name);
    if (!algorithm)
        return unknown_name(name);
    algorithm = trv_algorithm_find(text);
    if (!algorithm)
        return TRV_ERR_ARGUMENT;
    set_single(choice, text, algorithm);
    return TRV_OK;
}

/* A name first; else the family, of which only schedules that any operation may use are members. */
static int find_choice(const char *text, cli_choice_t *choice)
{
    *choice = planned;
    if (strcmp(text, planned.label) == 0 || strcmp(text, "auto") == 0)
        return TRV_OK;
    if (strpbrk(text, ":@"))
        return find_with_parameters(text, choice);
    *choice = (cli_choice_t){0};
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (strcmp(trv_algorithm_name(algorithm), text) == 0) {
            set_single(choice, text, algorithm);
            return TRV_OK;
        }
        if (strcmp(trv_algorithm_family(algorithm), text) == 0 && trv_algorithm_exactness(algorithm) == TRV_EXACT &&
            choice->members < CLI_CHOICES_MAX) {
            snprintf(choice->label, sizeof choice->label, "%s", text);
            choice->member[choice->members++] = algorithm;
        }
    }
    return choice->members ? TRV_OK : unknown_name(text);
}

static int select_all(cli_selection_t *selection)
{
    int rc = TRV_OK;
    cli_choice_t choice;
    selection->all = true;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        set_single(&choice, trv_algorithm_name(trv_algorithm_at(i)), trv_algorithm_at(i));
        rc = add_choice(selection, &choice);
    }
    return rc ? rc : add_choice(selection, &planned);
}

int cli_select(const char *list, cli_selection_t *selection)
{
    char item[TRV_ALGORITHM_NAME_MAX];
    const char *rest = list;
    int more;
    *selection = (cli_selection_t){0};
    while ((more = trv_next_item(&rest, "algorithms", item, sizeof item)) > 0) {
        cli_choice_t choice;
        int rc = strcmp(item, "all") == 0 ? select_all(selection) : find_choice(item, &choice);
        if (!rc && strcmp(item, "all") != 0)
            rc = add_choice(selection, &choice);
        if (rc)
            return rc;
    }
    selection->single = !selection->all && selection->choices == 1;
    return more;
}

int cli_select_compared(cli_selection_t *selection)
{
    char list[CLI_CHOICES_MAX * TRV_ALGORITHM_NAME_MAX];
    size_t used = 0;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if ((trv_algorithm_baseline(algorithm) || trv_algorithm_colour(algorithm)) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s,", trv_algorithm_family(algorithm));
    }
    if (used < sizeof list)
        snprintf(list + used, sizeof list - used, "planned");
    return cli_select(list, selection);
}

static const struct {
    const char *name, *title;
} collectives[] = {
    [TRV_ALLREDUCE] = {"allreduce", "AllReduce"},
    [TRV_REDUCE_SCATTER] = {"reduce-scatter", "Reduce-Scatter"},
    [TRV_ALLGATHER] = {"allgather", "AllGather"},
};

int cli_parse_collective(const char *text, trv_collective_t *collective)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(collectives[i].name, text) == 0) {
            *collective = (trv_collective_t)i;
            return TRV_OK;
        }
    return trv_fail(TRV_ERR_ARGUMENT,
                    "there is no collective '%.40s'; there are allreduce, reduce-scatter and allgather", text);
}

const char *cli_collective_name(trv_collective_t collective) { return collectives[collective].name; }
const char *cli_collective_title(trv_collective_t collective) { return collectives[collective].title; }

/* The member that is fastest when simulated. */
static int choose_member(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective,
                         const trv_simulate_options_t *network, uint64_t vector_bytes, trv_schedule_t **schedule,
                         double *best_ns)
{
    const trv_network_t on = cli_network_on(torus, network);
    int failure = TRV_OK;
    for (int i = 0; i < choice->members; i++) {
        trv_schedule_t *candidate;
        double time_ns = NAN;
        int rc = trv_schedule_create_on(&candidate, &on, cli_member_name(choice, i), collective);
        if (!rc && choice->members > 1 && (rc = trv_timing_find(candidate, network, vector_bytes, &time_ns)) != 0)
            trv_schedule_destroy(candidate);
        if (rc && rc != TRV_ERR_UNSUPPORTED) {
            trv_schedule_destroy(*schedule);
            *schedule = NULL;
            return rc;
        }
        if (rc) {
            failure = rc;
        } else if (*schedule && time_ns >= *best_ns) {
            trv_schedule_destroy(candidate);
        } else {
            trv_schedule_destroy(*schedule);
            *schedule = candidate;
            *best_ns = time_ns;
        }
    }
    return *schedule ? TRV_OK : failure;
}

trv_simulate_options_t cli_usual_network(void)
{
    trv_simulate_options_t network = TRV_SIMULATE_DEFAULTS;
    network.model = TRV_FIFO;
    return network;
}

int cli_choose(const cli_choice_t *choice, const trv_torus_t *torus, trv_collective_t collective,
               const trv_simulate_options_t *network, const trv_planner_constraints_t *constraints,
               uint64_t vector_bytes, trv_schedule_t **schedule, cli_time_t *time)
{
    trv_planned_t plan;
    cli_progress_t progress;
    *schedule = NULL;
    *time = (cli_time_t){.ns = NAN};
    if (!choice->planned)
        return choose_member(choice, torus, collective, network, vector_bytes, schedule, &time->ns);
    const trv_network_t on = cli_network_on(torus, network);
    trv_span_t all = cli_progress_begin(&progress, "planning", 1);
    const trv_simulate_options_t reporting = cli_network_reporting(network, &all);
    int rc = trv_planner_best(torus, collective, vector_bytes, &reporting, constraints, &plan);
    cli_progress_end(&progress);
    if (rc)
        return rc;
    *time = (cli_time_t){.ns = plan.time_ns, .modelled = plan.modelled};
    return trv_schedule_create_on(schedule, &on, plan.algorithm, collective);
}

void cli_print_planned(const char *const *name, const uint64_t *bytes, int sizes)
{
    char text[TRV_BYTES_TEXT_MAX];
    const char *before = NULL;
    for (int i = 0; i < sizes; i++) {
        if (!name[i])
            continue;
        bool same = before && strcmp(before, name[i]) == 0;
        if (!same)
            printf("%s%s at", before ? "; " : "planned is ", name[i]);
        printf("%s %s", same ? "," : "", trv_format_bytes(bytes[i], text));
        before = name[i];
    }
    if (before)
        putchar('\n');
}
