/*
 * Names, families and lists of algorithms; names of collectives.
 */
#include "cli/shared/select.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/error.h"
#include "schedule/collective.h"
#include "settings/rules.h"
#include "cli/shared/option_words.h"

static const cli_choice_t planned = {.label = "planned", .planned = true};

/* Only a choice of one algorithm may have parameters; its label has them. */
const char *cli_member_name(const cli_choice_t *choice, int member)
{
    return strpbrk(choice->label, ":@") ? choice->label : trv_algorithm_name(choice->member[member]);
}

bool cli_has_planned(const cli_selection_t *selection)
{
    bool planned = false;
    for (int i = 0; i < selection->choices; i++)
        planned |= selection->choice[i].planned;
    return planned;
}

bool cli_is_several(const cli_choice_t *choice) { return choice->planned || choice->family; }

const char *cli_member_letter(const char *algorithm) { return strrchr(algorithm, '-') + 1; }

char *cli_covers_label(const char *label, bool covers, char text[TRV_ALGORITHM_NAME_MAX + 2])
{
    snprintf(text, TRV_ALGORITHM_NAME_MAX + 2, covers ? "(%s)" : "%s", label);
    return text;
}

static bool selection_has(const cli_selection_t *selection, const char *label)
{
    for (int i = 0; i < selection->choices; i++)
        if (strcmp(selection->choice[i].label, label) == 0)
            return true;
    return false;
}

static int selection_add(cli_selection_t *selection, const cli_choice_t *choice)
{
    if (selection_has(selection, choice->label))
        return TRV_OK;
    if (selection->choices == CLI_CHOICES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "the list of algorithms has more than %d entries", CLI_CHOICES_MAX);
    selection->choice[selection->choices++] = *choice;
    return TRV_OK;
}

static int report_unknown(const char *text)
{
    const char *name[2 * CLI_CHOICES_MAX + 2] = {planned.label, "all"};
    const int count = 2 + trv_family_list_names(name + 2, 2 * CLI_CHOICES_MAX);
    for (int i = 0; i < count; i++)
        if (strcmp(text, name[i]) == 0) /* which has parameters after it */
            return trv_fail(
                TRV_ERR_ARGUMENT,
                "%.40s takes no parameters; only algorithms of `trivance list` have parameters, for example hybrid:9",
                text);
    if (isdigit((unsigned char)text[0]))
        return trv_fail(TRV_ERR_ARGUMENT,
                        "there is no algorithm '%.40s': commas separate algorithms; numbers that belong to one are "
                        "separated as in hybrid:3x3",
                        text);
    const char *nearest = trv_nearest(text, name, count);
    if (nearest)
        return trv_fail(TRV_ERR_ARGUMENT, "there is no algorithm '%.40s'; did you mean %s? `trivance list` shows all",
                        text, nearest);
    return trv_fail(TRV_ERR_ARGUMENT, "%s; families, planned and all", trv_last_error());
}

static void choice_set_single(cli_choice_t *choice, const char *label, const trv_algorithm_t *algorithm)
{
    *choice = (cli_choice_t){.members = 1, .member = {algorithm}};
    snprintf(choice->label, sizeof choice->label, "%s", label);
}

/* Finds a name with or without parameters. Parameters are parsed later, when the torus is known; here only names
 * that may have parameters are accepted with them. */
static int choice_find_single(const char *text, cli_choice_t *choice)
{
    char name[TRV_ALGORITHM_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":@"), text);
    const trv_algorithm_t *algorithm = trv_algorithm_find(name);
    if (!algorithm)
        return report_unknown(name);
    algorithm = trv_algorithm_find(text);
    if (!algorithm)
        return TRV_ERR_ARGUMENT;
    choice_set_single(choice, text, algorithm);
    return TRV_OK;
}

/* Finds an algorithm by name, or else a family. */
static int choice_find(const char *text, cli_choice_t *choice)
{
    *choice = planned;
    if (strcmp(text, planned.label) == 0 || strcmp(text, TRV_RULE_AUTO) == 0)
        return TRV_OK;
    if (!trv_is_family(text))
        return choice_find_single(text, choice);
    *choice = (cli_choice_t){.family = true};
    choice->members = trv_family_members(text, choice->member);
    snprintf(choice->label, sizeof choice->label, "%s", text);
    return TRV_OK;
}

static int selection_add_all(cli_selection_t *selection)
{
    int rc = TRV_OK;
    cli_choice_t choice;
    selection->all = true;
    for (int i = 0; i < trv_algorithms_count() && !rc; i++) {
        choice_set_single(&choice, trv_algorithm_name(trv_algorithm_at(i)), trv_algorithm_at(i));
        rc = selection_add(selection, &choice);
    }
    return rc ? rc : selection_add(selection, &planned);
}

int cli_select(const char *list, cli_selection_t *selection)
{
    char item[TRV_ALGORITHM_NAME_MAX];
    const char *rest = list;
    int more;
    *selection = (cli_selection_t){0};
    while ((more = trv_next_item(&rest, "algorithms", item, sizeof item)) > 0) {
        cli_choice_t choice;
        int rc = strcmp(item, "all") == 0 ? selection_add_all(selection) : choice_find(item, &choice);
        if (!rc && strcmp(item, "all") != 0)
            rc = selection_add(selection, &choice);
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

void cli_selection_restrict(cli_selection_t *selection, unsigned collectives)
{
    int kept = 0;
    for (int i = 0; i < selection->choices; i++) {
        cli_choice_t choice = selection->choice[i];
        const bool named = !choice.planned && !choice.family && !selection->all;
        const int members = named ? 0 : trv_family_restrict(choice.member, choice.members, collectives);
        if (members > 0)
            choice.members = members;
        if (choice.planned || named || members > 0 || !selection->all)
            selection->choice[kept++] = choice;
    }
    selection->choices = kept;
}

int cli_parse_collective(const char *text, trv_collective_t *collective)
{
    const int index = cli_words_find(CLI_COLLECTIVE_WORDS, text, "collective", "");
    *collective = index < 0 ? *collective : (trv_collective_t)index;
    return index < 0 ? index : TRV_OK;
}

int cli_parse_collectives(const char *list, trv_collective_t collective[TRV_COLLECTIVES], int *collectives)
{
    char item[32];
    int more;
    *collectives = 0;
    while ((more = trv_next_item(&list, "collectives", item, sizeof item)) > 0) {
        trv_collective_t read = TRV_ALLREDUCE;
        bool twice = false;
        if (cli_parse_collective(item, &read) < 0)
            return TRV_ERR_ARGUMENT;
        for (int i = 0; i < *collectives; i++)
            twice = twice || collective[i] == read;
        if (!twice)
            collective[(*collectives)++] = read;
    }
    return more;
}

int cli_parse_root(const char *text, int *root) { return trv_parse_int(text, "--root", 0, (1 << 30) - 1, root); }

int cli_check_root(trv_collective_t collective, int root)
{
    return root == 0 || trv_collective_has_root(collective)
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "--root: %s has no root; leave out --root, or add --collective=broadcast",
                          trv_collective_name(collective));
}
