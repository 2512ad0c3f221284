/*
 * trivance list: the table of algorithms with their properties.
 */
#include <stdio.h>
#include <string.h>

#include <trivance/algorithms.h>
#include <trivance/parameters.h>

#include "base/append.h"
#include "cli/subcommands.h"
#include "cli/shared/select.h"
#include "cli/shared/tool.h"
#include "cli/shared/table.h"
#include "schedule/collective.h"

#define COLLECTIVES_TEXT_MAX 128

enum { OPTION_COLLECTIVES = CLI_NO_LETTER, OPTION_PARAMETERS };

static const cli_option_t option[] = {
    {"collective", 'c', "C",
     "only algorithms for this collective: allreduce, reduce-scatter, allgather, broadcast, reduce, scatter, gather or "
     "alltoall",
     CLI_COLLECTIVE_WORDS},
    {"collectives", OPTION_COLLECTIVES, NULL,
     "the collectives instead, and which ranks have a part of the vector before and after", NULL},
    {"parameters", OPTION_PARAMETERS, NULL,
     "the parameters of networks instead, which are options of `trivance simulate` and keys of a network's file", NULL},
    {"format", 'f', "F", "table (default), json or csv", "table json csv"},
    CLI_OPTIONS_END};

const cli_command_t cli_list_command = {
    .name = "list",
    .summary = "the algorithms: their purpose, tori, costs and guarantees",
    .usage = "[OPTIONS]",
    .about = "Lists the algorithms: name, steps, bytes that a rank sends, guarantees, collectives, supported tori, and "
             "source; or the collectives, or the parameters of networks.",
    .option = option,
    .alone = "list takes only options, for example --format=json",
    .notes =
        "Names ending in -l are latency-optimal (whole vectors, fewest steps), those ending in -b bandwidth-optimal "
        "(reduce-scatter, then allgather; they also support each of the two alone). A family name, such as trivance or "
        "swing, means the fastest of its members for the given vector; `planned` (or auto) means the fastest of all "
        "exact ones for torus, size and network, with any parameters (`trivance plan`); `all` means every algorithm "
        "that supports the torus, and planned. exact: every contribution counts exactly once (covers: at least once, "
        "for MAX, MIN, AND, OR only). consistent: all ranks receive identical bits for floating point. Algorithms with "
        "several messages per port and step state their number; on lines and behind cuts most of those for rings have "
        "2. planned has at most the network's number (--messages-per-port), so they may be faster. NAME:together is "
        "the algorithm NAME with all streams in one: a rank begins a step when its messages of the previous step have "
        "arrived in all streams.",
    .examples = "trivance list --format=json\n"
                "trivance list --collective=broadcast\n"
                "trivance list --parameters\n",
};

typedef struct options {
    cli_format_t format;
    bool collectives, parameters, filtered;
    trv_collective_t collective; /* if filtered */
} options_t;

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key == 'f')
        return cli_parse_format(optarg, &options->format);
    if (key == OPTION_COLLECTIVES) {
        options->collectives = true;
        return TRV_OK;
    }
    if (key == OPTION_PARAMETERS) {
        options->parameters = true;
        return TRV_OK;
    }
    options->filtered = true;
    return cli_parse_collective(optarg, &options->collective);
}

static bool is_listed(const options_t *options, const trv_algorithm_t *algorithm)
{
    return !options->filtered || trv_algorithm_has_collective(algorithm, options->collective);
}

/* Writes the names of the algorithm's collectives. */
static const char *format_collectives(const trv_algorithm_t *algorithm, const char *separator,
                                      char text[COLLECTIVES_TEXT_MAX])
{
    text[0] = '\0';
    for (int i = 0; i < TRV_COLLECTIVES; i++)
        if (trv_algorithm_has_collective(algorithm, (trv_collective_t)i))
            trv_append(text, COLLECTIVES_TEXT_MAX, "%s%s", *text ? separator : "", trv_collective_shapes[i].name);
    return text;
}

static const char *symmetry_name(trv_symmetry_t symmetry)
{
    switch (symmetry) {
    case TRV_SYMMETRY_TRANSLATION: return "translation";
    case TRV_SYMMETRY_PARITY: return "parity";
    default: return "none";
    }
}

static void add_collectives(cli_table_t *table, const trv_algorithm_t *algorithm)
{
    char text[COLLECTIVES_TEXT_MAX];
    json_t *list = json_array();
    for (int i = 0; i < TRV_COLLECTIVES; i++)
        if (trv_algorithm_has_collective(algorithm, (trv_collective_t)i))
            json_array_append_new(list, json_string(trv_collective_shapes[i].name));
    cli_cell_both(table, format_collectives(algorithm, " ", text), list);
}

static void add_properties(cli_table_t *table, const trv_algorithm_t *algorithm)
{
    bool exact = trv_algorithm_exactness(algorithm) == TRV_EXACT;
    const char *parameters = trv_algorithm_parameters(algorithm);
    cli_cell_text(table, trv_algorithm_name(algorithm));
    parameters ? cli_cell_text(table, parameters) : cli_cell_none(table);
    cli_cell_text(table, trv_algorithm_family(algorithm));
    cli_cell_text(table, trv_algorithm_title(algorithm));
    cli_cell_text(table, trv_algorithm_latency_optimal(algorithm) ? "L" : "B");
    cli_cell_text(table, trv_algorithm_steps_formula(algorithm));
    cli_cell_text(table, trv_algorithm_bytes_formula(algorithm));
    cli_cell_both(table, exact ? "exact" : "covers", json_boolean(exact));
    cli_cell_bool(table, trv_algorithm_consistent(algorithm));
    cli_cell_text(table, symmetry_name(trv_algorithm_symmetry(algorithm)));
    cli_cell_text(table, trv_algorithm_sizes(algorithm));
    cli_cell_text(table, trv_algorithm_source(algorithm));
    cli_cell_text(table, trv_algorithm_use(algorithm));
    cli_cell_bool(table, trv_algorithm_baseline(algorithm));
    cli_cell_int(table, trv_algorithm_colour(algorithm));
    add_collectives(table, algorithm);
    cli_row_end(table);
}

/* Prints the collectives and supported sizes, which are too long for columns, in one paragraph per algorithm. */
static void print_paragraphs(const options_t *options)
{
    char collectives[COLLECTIVES_TEXT_MAX];
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        const char *parameters = trv_algorithm_parameters(algorithm);
        if (!is_listed(options, algorithm))
            continue;
        printf("\n%s: %s\n  for     %s\n  does    %s\n  sizes   %s\n  source  %s\n", trv_algorithm_name(algorithm),
               trv_algorithm_title(algorithm), trv_algorithm_use(algorithm),
               format_collectives(algorithm, ", ", collectives), trv_algorithm_sizes(algorithm),
               trv_algorithm_source(algorithm));
        if (parameters)
            printf("  also    %s:%s\n", trv_algorithm_name(algorithm), parameters);
    }
    puts("\nplanned: the fastest of all exact ones for a torus, a size and a network, whatever their parameters\n"
         "  `trivance plan TORUS --all-sizes` shows which that is, `trivance plan TORUS --why` why");
}

/* Prints the families that have more than one member: "trivance (trivance-l, trivance-b)". */
static void print_families(const options_t *options)
{
    int families = 0;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *member[TRV_FAMILY_MAX];
        const char *family = trv_algorithm_family(trv_algorithm_at(i));
        char text[256] = "";
        int count = 0, members = trv_family_members(family, member);
        for (int m = 0; m < members && member[0] == trv_algorithm_at(i); m++)
            if (is_listed(options, member[m]))
                trv_append(text, sizeof text, "%s%s", count++ ? ", " : "", trv_algorithm_name(member[m]));
        if (count > 1)
            printf("%s%s = the fastest of %s", families++ ? "; " : "\nFamilies: ", family, text);
    }
    if (families)
        puts(".");
}

static int list_collectives(cli_format_t format)
{
    static const cli_column_t column[] = {{"name", "collective", false, 0}, {"title", "title", false, 0},
                                          {"before", "before", false, 0},   {"after", "after", false, 0},
                                          {"reduces", "reduces", false, 0}, {0}};
    static const char *const holders[] = {[TRV_EVERY_RANK] = "every rank", [TRV_OWNER] = "owner", [TRV_ROOT] = "root"};
    cli_table_t table;
    cli_table_begin(&table, stdout, format, column);
    for (int i = 0; i < TRV_COLLECTIVES; i++) {
        const trv_collective_shape_t *shape = &trv_collective_shapes[i];
        cli_cell_text(&table, shape->name);
        cli_cell_text(&table, shape->title);
        cli_cell_text(&table, holders[shape->before]);
        cli_cell_text(&table, holders[shape->after]);
        cli_cell_bool(&table, shape->reduces);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

static int list_parameters(cli_format_t format)
{
    static const cli_column_t column[] = {{"name", "parameter", false, 0},    {"value", "value", false, 0},
                                          {"default", "default", false, 0},   {"plans", "plans", false, 0},
                                          {"sentence", "sentence", false, 0}, {0}};
    cli_table_t table;
    cli_table_begin(&table, stdout, format, column);
    for (int i = 0; trv_parameter_at(i); i++) {
        const trv_parameter_t *parameter = trv_parameter_at(i);
        cli_cell_text(&table, parameter->name);
        cli_cell_text(&table, parameter->value);
        cli_cell_text(&table, parameter->usual);
        cli_cell_bool(&table, parameter->affects & TRV_AFFECTS_PLANS);
        cli_cell_text(&table, parameter->sentence);
        cli_row_end(&table);
    }
    return cli_table_end(&table);
}

int cli_list(int argc, char **argv)
{
    static const cli_column_t column[] =
        {{"name", "algorithm", false, 0},
         {"parameters", NULL, false, 0},
         {"family", NULL, false, 0},
         {"title", NULL, false, 0},
         {"variant", NULL, false, 0},
         {"steps", "steps", false, 0},
         {"bytes", "bytes sent per rank", false, 0},
         {"exact", "result", false, 0},
         {"consistent", "consistent", false, 0},
         {"symmetry", "symmetry", false, 0},
         {"sizes", NULL, false, 0},
         {"source", NULL, false, 0},
         {"use", NULL, false, 0},
         {"baseline", NULL, false, 0}, /* stated for the first member of a family, like the colour of its curves */
         {"colour", NULL, false, 0},
         {"collectives", NULL, false, 0},
         {0}};
    options_t options = {.format = CLI_FORMAT_TABLE};
    int code = cli_read_options(&cli_list_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    if (options.collectives + options.parameters + options.filtered > 1)
        return cli_bad(argv[0],
                       "--collectives lists all collectives, --parameters all parameters, and --collective some "
                       "algorithms; give one of them");
    if (options.collectives)
        return list_collectives(options.format) == TRV_OK ? CLI_OK : cli_bad_last(argv[0]);
    if (options.parameters)
        return list_parameters(options.format) == TRV_OK ? CLI_OK : cli_bad_last(argv[0]);

    cli_table_t table;
    cli_table_begin(&table, stdout, options.format, column);
    for (int i = 0; i < trv_algorithms_count(); i++)
        if (is_listed(&options, trv_algorithm_at(i)))
            add_properties(&table, trv_algorithm_at(i));
    if (cli_table_end(&table))
        return cli_bad_last(argv[0]);
    if (options.format == CLI_FORMAT_TABLE) {
        print_families(&options);
        print_paragraphs(&options);
    }
    return CLI_OK;
}
