/*
 * Command lines: parses the options of a table with getopt_long, checks which options may be combined, and prints help.
 */
#include "cli/shared/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/error.h"
#include "base/text/nearest.h"
#include "cli/shared/table.h"
#include "cli/shared/tool.h"

#define OPTIONS_MAX 64
#define HELP_WIDTH  100
#define LABEL_MAX   28 /* columns; the text of a longer label begins after the label */
#define LONG_OPTION 0x10000

static const cli_option_t help_option = {"help", 'h', NULL, "print this text", NULL};

void cli_each_option(const cli_command_t *command, void (*visit)(void *context, const cli_option_t *option),
                     void *context)
{
    for (const cli_option_t *option = command->option; option && option->text; option++)
        visit(context, option);
    for (const cli_option_t *option = command->more ? command->more() : NULL; option && option->text; option++)
        visit(context, option);
    visit(context, &help_option);
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

/* Arguments of getopt_long. It returns LONG + the index for an option with a long name, and the letter for a short
 * one. */
typedef struct parser {
    const cli_option_t *option[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 1];
    char shorts[3 * OPTIONS_MAX + 4];
    int options;
    bool given[OPTIONS_MAX];
} parser_t;

static int letter_of(const cli_option_t *option) { return option->key < CLI_NO_LETTER ? option->key : 0; }

static void parser_add(void *context, const cli_option_t *option)
{
    parser_t *parser = context;
    const int letter = letter_of(option), has_value = !option->value            ? no_argument
                                                      : option->value[0] == '[' ? optional_argument
                                                                                : required_argument;
    if (!option->name || parser->options == OPTIONS_MAX)
        return;
    if (letter) {
        size_t used = strlen(parser->shorts);
        snprintf(parser->shorts + used, sizeof parser->shorts - used, "%c%s", letter,
                 has_value == required_argument ? ":" : "");
    }
    parser->longs[parser->options] = (struct option){option->name, has_value, NULL, LONG_OPTION + parser->options};
    parser->option[parser->options++] = option;
}

static const cli_option_t *parser_find(const parser_t *parser, int result)
{
    if (result >= LONG_OPTION)
        return parser->option[result - LONG_OPTION];
    for (int i = 0; i < parser->options; i++)
        if (letter_of(parser->option[i]) == result)
            return parser->option[i];
    return NULL;
}

static void report_unknown(const cli_command_t *asked, const char *text, const parser_t *parser)
{
    const char *command = asked->name;
    const char *name[OPTIONS_MAX];
    char bare[64];
    for (int i = 0; i < parser->options; i++)
        name[i] = parser->option[i]->name;
    snprintf(bare, sizeof bare, "%s", text);
    bare[strcspn(bare, "=")] = '\0';
    const bool is_name = strncmp(text, "--", 2) == 0;
    const char *reason = is_name && asked->refused ? asked->refused(bare + 2) : NULL;
    const char *nearest = is_name ? trv_nearest(bare + 2, name, parser->options) : NULL;
    if (reason)
        cli_bad(command, "%s", reason);
    else if (nearest)
        cli_bad(command, "there is no option '%.40s'; did you mean --%s?", bare, nearest);
    else
        cli_bad(command, "there is no option '%.40s'; `trivance %s --help` lists them", bare, command);
}

/* Reports an option that getopt_long rejected: `result` is ':' or '?'; `before` is the value of optind
 * before the call. */
static int report_syntax(const cli_command_t *asked, char **argv, int result, int before, const parser_t *parser)
{
    const char *command = asked->name;
    const char *text = argv[optind > before ? optind - 1 : optind];
    const char short_text[3] = {'-', (char)optopt, '\0'};
    const cli_option_t *known = optopt ? parser_find(parser, optopt) : NULL;
    if (!text)
        text = "";
    const bool is_name = strncmp(text, "--", 2) == 0;
    if (result == ':')
        return cli_bad(command, "the option %.40s needs a value; `trivance %s --help` shows an example", text, command);
    if (known && is_name)
        return cli_bad(command, "the option --%s takes no value", known->name);
    report_unknown(asked, is_name || !optopt ? text : short_text, parser);
    return CLI_BAD;
}

static int report_duplicate(const char *command, const cli_option_t *option)
{
    return cli_bad(command, "--%s is given twice and may be given only once; leave one out", option->name);
}

/* Prints the last error message, prefixed with the option's name unless the message contains it. */
static int report_value(const char *command, const cli_option_t *option)
{
    const char *sentence = trv_last_error();
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    return strstr(sentence, name) ? cli_bad_last(command) : cli_bad(command, "%s: %s", name, sentence);
}

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

#define MODE_TEXT_MAX 512

static bool list_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool mode_takes_files(const cli_mode_t *mode)
{
    return list_has_word(mode->reads, "FILE") || list_has_word(mode->reads, "[FILE]");
}

static bool mode_takes_arguments(const cli_mode_t *mode)
{
    return list_has_word(mode->reads, "TORUS") || mode_takes_files(mode);
}

/* The name of a subcommand's arguments (TORUS or FILE), the same for all modes that accept arguments. */
static const char *argument_noun(const cli_command_t *command)
{
    bool files = false;
    for (const cli_mode_t *mode = command->mode; !files; mode++) {
        files = mode_takes_files(mode);
        if (!mode->option)
            break;
    }
    return files ? "file" : "torus";
}

/* Whether an option is among these names, where MORE stands for all options of the command's `more`. */
static bool list_has_option(const char *names, const cli_command_t *command, const cli_option_t *option)
{
    if (list_has_word(names, option->name))
        return true;
    const cli_option_t *more = list_has_word(names, "MORE") ? command->more() : NULL;
    while (more && more->text && more != option)
        more++;
    return more && more->text;
}

static bool mode_reads(const cli_mode_t *mode, const cli_command_t *command, const cli_option_t *option)
{
    return (mode->option && strcmp(mode->option, option->name) == 0) || list_has_option(mode->reads, command, option);
}

/* The index of an option in the parser's table. */
static int parser_index(const parser_t *parser, const char *name)
{
    int index = 0;
    while (strcmp(parser->option[index]->name, name) != 0)
        index++;
    return index;
}

static void append_name(char text[MODE_TEXT_MAX], const char *before, const char *name, const char *value)
{
    trv_append(text, MODE_TEXT_MAX, "%s%s%s%s", *text ? before : "", name, value ? "=" : "", value ? value : "");
}

static void append_option(char text[MODE_TEXT_MAX], const char *before, const cli_option_t *option, bool with_value)
{
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    append_name(text, before, name, with_value ? option->value : NULL);
}

/* Writes "--schedule=FILE or --paper": the options that select the modes which read `option`, or, for NULL, the
 * modes without arguments. */
static void list_modes(const cli_command_t *command, const parser_t *parser, const cli_option_t *option,
                       char text[MODE_TEXT_MAX])
{
    for (const cli_mode_t *mode = command->mode; mode->option; mode++)
        if (option ? mode_reads(mode, command, option) : !mode_takes_arguments(mode))
            append_option(text, " or ", parser->option[parser_index(parser, mode->option)], true);
}

/* Checks that the selected mode reads every option given and has the arguments that it requires. Returns -1, or the
 * exit code after an error message. */
static int check_mode(const cli_command_t *command, const parser_t *parser, bool has_arguments)
{
    const cli_mode_t *mode = command->mode;
    const char *noun = argument_noun(command);
    const cli_option_t *unread = NULL;
    char given[MODE_TEXT_MAX] = "", modes[MODE_TEXT_MAX] = "";
    while (mode->option && !parser->given[parser_index(parser, mode->option)])
        mode++;
    for (int i = 0; i < parser->options; i++)
        if (parser->given[i] && !mode_reads(mode, command, parser->option[i])) {
            unread = parser->option[i];
            append_option(given, " and ", unread, false);
        }
    if (has_arguments && !mode_takes_arguments(mode)) {
        char arguments[16];
        snprintf(arguments, sizeof arguments, "the %s", noun);
        append_name(given, " and ", arguments, NULL);
    }
    if (mode->option && *given)
        return cli_bad(command->name, "%s; leave out %s, for example `trivance %s %s`", mode->about, given,
                       command->name, mode->example);
    list_modes(command, parser, unread, modes);
    if (unread)
        return cli_bad(command->name, "%s is valid only with %s; leave it out or add that", given, modes);
    if (has_arguments || !mode_takes_arguments(mode) || list_has_word(mode->reads, "[FILE]"))
        return -1;
    return mode->option ? cli_bad(command->name, "--%s requires a %s, for example `trivance %s %s`", mode->option, noun,
                                  command->name, mode->example)
                        : cli_bad(command->name, "give a %s or %s, for example `trivance %s %s`", noun, modes,
                                  command->name, mode->example);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Records that an option was given. Returns false if it was given before and may be given only once. */
static bool parser_mark_given(parser_t *parser, const cli_command_t *command, const cli_option_t *option)
{
    bool before = false;
    for (int i = 0; i < parser->options; i++)
        if (parser->option[i] == option) {
            before = parser->given[i];
            parser->given[i] = true;
        }
    return !before || (command->repeated && list_has_option(command->repeated, command, option));
}

int cli_read_options(const cli_command_t *command, int argc, char **argv, int (*read)(void *options, int key),
                     void *options)
{
    parser_t parser = {.shorts = ""};
    int result, before = optind;
    strcpy(parser.shorts, command->passes_on ? "+:" : ":");
    cli_each_option(command, parser_add, &parser);
    opterr = 0;
    while (before = optind, (result = getopt_long(argc, argv, parser.shorts, parser.longs, NULL)) != -1) {
        if (result == '?' || result == ':')
            return report_syntax(command, argv, result, before, &parser);
        const cli_option_t *option = parser_find(&parser, result);
        if (option == &help_option) {
            cli_print_help(command, stdout);
            return CLI_OK;
        }
        if (!parser_mark_given(&parser, command, option))
            return report_duplicate(command->name, option);
        if (read(options, option->key) < 0)
            return report_value(command->name, option);
    }
    if (command->alone && optind < argc)
        return cli_bad(command->name, "unexpected argument '%.60s': %s", argv[optind], command->alone);
    return command->mode ? check_mode(command, &parser, optind < argc) : -1;
}

int cli_skip_option(void *options, int key)
{
    (void)options, (void)key;
    return 0;
}

static int read_format(void *options, int key)
{
    (void)key;
    return cli_parse_format(optarg, options);
}

int cli_read_format_option(const cli_command_t *command, int argc, char **argv, cli_format_t *format)
{
    return cli_read_options(command, argc, argv, read_format, format);
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

void cli_print_wrapped(FILE *out, const char *text, int column, int indent)
{
    bool first = true;
    for (const char *at = text; *at;) {
        if (*at == '\n') {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
            at++;
            continue;
        }
        const size_t bytes = strcspn(at, " \n");
        char word[128];
        snprintf(word, sizeof word, "%.*s", (int)bytes, at);
        const int columns = cli_text_width(word);
        if (!first && column + 1 + columns > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fputs(word, out);
        column += columns;
        first = false;
        at += bytes;
        at += *at == ' ';
    }
    fputc('\n', out);
}

/* Writes "  -b, --bytes=M"; returns its length. */
static int format_label(const cli_option_t *option, char label[80])
{
    const int letter = letter_of(option);
    const char *value = option->value ? option->value : "", *joint = *value == '[' ? "[=" : *value ? "=" : "";
    return snprintf(label, 80, "  %c%c%c --%s%s%s", letter ? '-' : ' ', letter ? letter : ' ', letter ? ',' : ' ',
                    option->name, joint, *value == '[' ? value + 1 : value);
}

static void measure_label(void *context, const cli_option_t *option)
{
    char label[80];
    int *column = context, length = option->name ? format_label(option, label) + 2 : 0;
    if (length > *column && length <= LABEL_MAX)
        *column = length;
}

typedef struct printer {
    FILE *out;
    int column; /* of the texts */
    int rows;
} printer_t;

static void print_option(void *context, const cli_option_t *option)
{
    printer_t *printer = context;
    char label[80];
    if (printer->rows == 0 && option->name)
        fputs("Options:\n", printer->out);
    if (!option->name) {
        fprintf(printer->out, "%s%s:\n", printer->rows++ ? "\n" : "", option->text);
        return;
    }
    int length = format_label(option, label);
    printer->rows++;
    if (length + 1 > printer->column)
        fprintf(printer->out, "%s\n%*s", label, printer->column, "");
    else
        fprintf(printer->out, "%-*s", printer->column, label);
    cli_print_wrapped(printer->out, option->text, printer->column, printer->column);
}

static void print_options(const cli_command_t *command, FILE *out)
{
    printer_t printer = {.out = out};
    cli_each_option(command, measure_label, &printer.column);
    cli_each_option(command, print_option, &printer);
}

/* Prints every usage line, prefixed with the name of the tool or of the launcher that starts it. */
static void print_usage(const cli_command_t *command, FILE *out)
{
    const char *lead = "Usage: ";
    if (!*command->usage)
        fprintf(out, "Usage: trivance %s\n", command->name);
    for (const char *line = command->usage; *line; lead = "       ") {
        size_t length = strcspn(line, "\n");
        bool launched = strncmp(line, "mpirun ", 7) == 0 || strncmp(line, "trivance ", 9) == 0;
        fprintf(out, "%s%s%s%s%.*s\n", lead, launched ? "" : "trivance ", launched ? "" : command->name,
                launched || !length ? "" : " ", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_help(const cli_command_t *command, FILE *out)
{
    print_usage(command, out);
    fputc('\n', out);
    cli_print_wrapped(out, command->about, 0, 0);
    for (const cli_command_t *const *part = command->part; part && *part; part++)
        fprintf(out, "%s  %-8s %s\n", part == command->part ? "\nCommands:\n" : "", strrchr((*part)->name, ' ') + 1,
                (*part)->summary);
    fputc('\n', out);
    print_options(command, out);
    if (command->notes) {
        fputc('\n', out);
        cli_print_wrapped(out, command->notes, 0, 0);
    }
    if (command->examples)
        fprintf(out, "\nExamples:\n");
    for (const char *line = command->examples; line && *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void cli_print_help(const cli_command_t *command, FILE *out)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    if (memory) {
        print_help(command, memory);
        fclose(memory);
    }
    cli_print_text(out, text ? text : "");
    free(text);
}
