/*
 * The command line of a subcommand, in one table. The parser, the output of --help, the OPTIONS of the man page and the
 * completion of the shell are all made from it (cli/main/pages.c writes the latter two).
 */
#ifndef TRIVANCE_CLI_SHARED_COMMAND_H
#define TRIVANCE_CLI_SHARED_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/shared/table.h"

typedef struct cli_option {
    const char *name;  /* without dashes; NULL: `text` is the heading of the options below */
    int key;           /* its letter, or CLI_NO_LETTER + a number */
    const char *value; /* its value, for example "TIME"; "[0|1]": optional; NULL: none */
    const char *text;  /* description; NULL ends the table */
    const char *words; /* completions, separated by blanks: words, FILE, DIR or ALGORITHM; or NULL */
} cli_option_t;

#define CLI_NO_LETTER 256
#define CLI_OPTIONS_END                                                                                                \
    {                                                                                                                  \
        NULL, 0, NULL, NULL, NULL                                                                                      \
    }

/* A mode of a subcommand, which reads some of its options. The first mode whose option is given is selected; the
 * last one has no option and is the default. */
typedef struct cli_mode {
    const char *option; /* without dashes; NULL ends the table */
    const char *about;  /* beginning of the error message for other options: "--why asks about one size" */
    const char
        *reads; /* names, separated by blanks; TORUS or FILE: required arguments; [FILE]: optional ones; MORE: all
                            of `more` */
    const char *example; /* follows the subcommand's name */
} cli_mode_t;

typedef struct cli_command {
    const char *name;    /* "plan", "testbed up" */
    const char *summary; /* half a line for the list of subcommands */
    const char *usage;   /* follows the name; a line for each form of the command */
    const char *about;   /* paragraphs */
    const cli_option_t *option;
    const cli_option_t *(*more)(void);        /* options shared with other subcommands, after its own; or NULL */
    const char *repeated;                     /* options that may be given several times: as mode.reads */
    const char *(*refused)(const char *name); /* why the command has no option of this name, or NULL; may be NULL */
    const cli_mode_t *mode;                   /* its modes, if it has several; or NULL */
    const char *alone;                        /* it takes options only: end of the error about an argument; or NULL */
    const char *notes;                        /* paragraphs after the options; or NULL */
    const char *examples;                     /* a line each */
    bool passes_on;                           /* arguments from the first non-option on belong to another program */
    const struct cli_command *const *part;    /* nested subcommands, ends with NULL; or NULL */
} cli_command_t;

/* Reads the options, which must all belong to one mode, and calls `read` with the key of each; optarg is its value. An
 * error message of `read` is prefixed with the option's name unless it contains the name. Returns -1 if the command
 * continues with argv[optind]; otherwise help or an error was printed, and the result is the exit code. */
int cli_read_options(const cli_command_t *command, int argc, char **argv, int (*read)(void *options, int key),
                     void *options);

/* For cli_read_options: accepts every value, because there is none or another program reads it. */
int cli_skip_option(void *options, int key);

/* Reads the options of a command that accepts only --format and --help. Returns as cli_read_options. */
int cli_read_format_option(const cli_command_t *command, int argc, char **argv, cli_format_t *format);

/* Calls `visit` for all options, headings included, in the order of --help. */
void cli_each_option(const cli_command_t *command, void (*visit)(void *context, const cli_option_t *option),
                     void *context);

/* Prints text with line breaks between words, beginning at `column`; all lines but the first are indented. */
void cli_print_wrapped(FILE *out, const char *text, int column, int indent);

void cli_print_help(const cli_command_t *command, FILE *out);

#endif
