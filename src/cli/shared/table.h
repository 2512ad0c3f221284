/*
 * Tables that a subcommand prints: as aligned text for people, or as one JSON array or CSV for programs.
 *
 * A column has a key (JSON and CSV; NULL: in the text only) and a title (text; NULL: in JSON and CSV only). Rows are
 * given cell by cell in the order of the columns. JSON and CSV rows are printed as they come; so are text rows once
 * cli_table_stream was called (the columns' widths must then be set), otherwise they wait until the widths are known.
 */
#ifndef TRIVANCE_CLI_SHARED_TABLE_H
#define TRIVANCE_CLI_SHARED_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

typedef enum cli_format {
    CLI_FORMAT_TABLE,
    CLI_FORMAT_JSON,
    CLI_FORMAT_CSV,
    CLI_FORMAT_LINES /* JSON lines: an object per line, for files that grow */
} cli_format_t;

typedef struct cli_column {
    const char *key, *title;
    bool right; /* aligned to the right */
    int width;  /* at least */
} cli_column_t;

#define CLI_COLUMNS_MAX 32

typedef struct cli_table {
    FILE *out;
    cli_format_t format;
    bool stream, bold, failed;
    int columns, cells, rows;
    int64_t capacity;
    cli_column_t column[CLI_COLUMNS_MAX];
    json_t *object;              /* the row under construction, JSON and CSV */
    char *text[CLI_COLUMNS_MAX]; /* the row under construction, text */
    char **row;                  /* finished rows that wait: rows * columns texts */
} cli_table_t;

/* Parses "table", "json" or "csv". */
int cli_parse_format(const char *text, cli_format_t *format);

/* `bold`: print the titles in bold. The columns are copied. */
void cli_table_begin(cli_table_t *table, FILE *out, cli_format_t format, const cli_column_t *column, int columns,
                     bool bold);
void cli_table_stream(cli_table_t *table);

/* Any text, of a user or a file as well: what is not printable UTF-8 becomes ?, in every format. */
void cli_cell_text(cli_table_t *table, const char *text);
void cli_cell_int(cli_table_t *table, int64_t value);
/* `decimals` of them in the text and CSV; NAN is an empty cell. */
void cli_cell_real(cli_table_t *table, double value, int decimals);
void cli_cell_bool(cli_table_t *table, bool value);
void cli_cell_none(cli_table_t *table);
/* A text of the tool's own, with colours if need be, that differs from the JSON value, which it takes over; CSV has a
 * number or truth as JSON does, and the text of all else. */
void cli_cell_both(cli_table_t *table, const char *text, json_t *value);

void cli_row_end(cli_table_t *table);

/* Prints what waits and frees everything. 0, or TRV_ERR_MEMORY. */
int cli_table_end(cli_table_t *table);

/* Prints "planned is trivance-l at 32 B, 1 KiB; hybrid:9 at 32 KiB": what it became at each size (NULL: nothing). */
void cli_print_planned(const char *const *name, const uint64_t *bytes, int sizes);

/* The columns that a UTF-8 text takes on a terminal: one per code point, none for bold and colours. */
int cli_text_width(const char *text);

#endif
