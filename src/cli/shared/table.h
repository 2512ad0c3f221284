/*
 * Tables that a subcommand prints: as aligned text for users, or as one JSON array or CSV for programs.
 *
 * A column has a key (JSON and CSV; NULL: in the text only) and a title (text; NULL: in JSON and CSV only). Titles are
 * bold on a terminal. Rows are given cell by cell in the order of the columns. JSON and CSV rows are printed
 * immediately; so are text rows after cli_table_stream (which requires the columns' widths to be set), otherwise they
 * are kept until the widths are known.
 */
#ifndef TRIVANCE_CLI_SHARED_TABLE_H
#define TRIVANCE_CLI_SHARED_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

typedef enum cli_format { CLI_FORMAT_TABLE, CLI_FORMAT_JSON, CLI_FORMAT_CSV } cli_format_t;

typedef struct cli_column {
    const char *key, *title;
    bool right; /* aligned to the right */
    int width;  /* minimum */
} cli_column_t;

#define CLI_COLUMNS_MAX 64
#define CLI_KEYS_MAX    4096 /* characters */

typedef struct cli_table {
    FILE *out;
    cli_format_t format;
    bool stream, failed;
    int columns, cells, rows;
    int64_t capacity;
    cli_column_t column[CLI_COLUMNS_MAX];
    char keys[CLI_KEYS_MAX];     /* of columns that have only keys */
    json_t *object;              /* the row under construction, JSON and CSV */
    char *text[CLI_COLUMNS_MAX]; /* the row under construction, text */
    char **row;                  /* finished rows, not yet printed: rows * columns texts */
} cli_table_t;

/* Parses "table", "json" or "csv". */
int cli_parse_format(const char *text, cli_format_t *format);

/* The columns, which are copied, end with one that has neither a key nor a title. */
void cli_table_begin(cli_table_t *table, FILE *out, cli_format_t format, const cli_column_t *column);
/* For JSON and CSV: columns without titles, whose keys are separated by blanks. */
void cli_table_begin_keys(cli_table_t *table, FILE *out, cli_format_t format, const char *keys);
void cli_table_stream(cli_table_t *table);

/* Adds any text, including text from a user or a file: bytes that are not printable UTF-8 become ?, in every format. */
void cli_cell_text(cli_table_t *table, const char *text);
void cli_cell_int(cli_table_t *table, int64_t value);
/* Adds a number with `decimals` decimals in the text and CSV; NAN is an empty cell. */
void cli_cell_real(cli_table_t *table, double value, int decimals);
void cli_cell_bool(cli_table_t *table, bool value);
void cli_cell_none(cli_table_t *table);
/* Adds a cell whose text, which may have colours, differs from its JSON value. Takes ownership of `value`. CSV
 * prints the value if it is a number or boolean, otherwise the text. */
void cli_cell_both(cli_table_t *table, const char *text, json_t *value);

void cli_row_end(cli_table_t *table);

/* Prints the rows not yet printed and frees everything. Returns 0 or TRV_ERR_MEMORY. */
int cli_table_end(cli_table_t *table);

/* Prints "planned is trivance-l at 32 B, 1 KiB; hybrid:9 at 32 KiB", with "planned is " as `lead`: the schedule
 * selected at each size (NULL: none). */
void cli_print_planned(const char *lead, const char *const *name, const uint64_t *bytes, int sizes);

/* The width of a UTF-8 text on a terminal, in columns: one per code point, none for bold and colours. */
int cli_text_width(const char *text);

#endif
