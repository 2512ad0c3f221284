/*
 * The command line of a subcommand, in one table: what is parsed, what --help prints, the OPTIONS of its man page and
 * what the shell completes are made from it (cli/main/pages.c writes the latter two).
 */
#ifndef TRIVANCE_CLI_SHARED_COMMAND_H
#define TRIVANCE_CLI_SHARED_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/shared/table.h"

typedef struct cli_option {
    const char *name;  /* without dashes; NULL: `text` is the heading of the options below; "": it has a letter only */
    int key;           /* its letter, or CLI_NO_LETTER and more */
    const char *value; /* what it takes, as "TIME"; "[0|1]": and may be left out; NULL: nothing */
    const char *text;  /* what it means; NULL ends the table */
    const char *words; /* what the shell may complete, with blanks between: words, FILE, DIR or ALGORITHM; or NULL */
} cli_option_t;

#define CLI_NO_LETTER 256
#define CLI_LETTER(c) (0x1000 + (c)) /* the key of a letter that means something else than the same key of a name */
#define CLI_OPTIONS_END                                                                                                \
    {                                                                                                                  \
        NULL, 0, NULL, NULL, NULL                                                                                      \
    }

/* One of the things that a subcommand does, each of which reads some of the options. A call asks for the first whose
 * option is given; the last has none and is what is done otherwise. */
typedef struct cli_mode {
    const char *option; /* without dashes; NULL ends the table */
    const char *about;  /* how the sentence that refuses other options begins: "--why asks about one size" */
    const char *
        reads; /* names with blanks between; TORUS or FILE: arguments, without which it is refused; MORE: all of `more` */
    const char *example; /* what stands behind the subcommand's name */
} cli_mode_t;

typedef struct cli_command {
    const char *name;    /* "plan", "testbed up" */
    const char *summary; /* half a line for the list of subcommands */
    const char *usage;   /* what stands behind the name; a line for each way to call it */
    const char *about;   /* paragraphs */
    const cli_option_t *option;
    const cli_option_t *(*more)(void); /* options that several subcommands have in common, behind its own; or NULL */
    const char *repeated; /* options that may be given several times: names with blanks between, MORE: all of `more` */
    const cli_mode_t *mode; /* where it does several things, and takes arguments for some only; or NULL */
    const char *notes;      /* paragraphs behind the options; or NULL */
    const char *examples;   /* a line each */
    bool passes_on;         /* what follows the first word that is no option is another program's */
    const struct cli_command *const *part; /* subcommands of its own, ends with NULL; or NULL */
} cli_command_t;

/* Reads the options, which must all belong to one mode, and calls `read` with the key of each; optarg is its value. An
 * error message of `read` is prefixed with the option's name unless it contains the name. Returns -1 if the command
 * continues with argv[optind]; otherwise help or an error was printed, and the result is the exit code. */
int cli_read_options(const cli_command_t *command, int argc, char **argv, int (*read)(void *options, int key),
                     void *options);

/* For a command that takes --format and --help only. */
int cli_read_format_option(const cli_command_t *command, int argc, char **argv, cli_format_t *format);

/* Calls `visit` for all options, headings included, in the order of --help. */
void cli_each_option(const cli_command_t *command, void (*visit)(void *context, const cli_option_t *option),
                     void *context);

void cli_print_help(const cli_command_t *command, FILE *out);

#endif
