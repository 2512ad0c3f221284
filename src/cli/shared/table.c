/*
 * Tables as text, JSON or CSV.
 */
#include "cli/shared/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/shared/tool.h"
#include "cli/shared/option_words.h"
#include "base/text/parse.h"
#include "base/error.h"
#include "base/array.h"

int cli_parse_format(const char *text, cli_format_t *format)
{
    const int index = cli_words_find("table json csv", text, "format", " for this table");
    *format = index < 0 ? *format : (cli_format_t)index;
    return index < 0 ? index : TRV_OK;
}

int cli_text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        if (*text == '\033' && strchr(text, 'm'))
            text = strchr(text, 'm');
        else
            width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Prints one row of texts; NULL: the titles. */
static void print_text(const cli_table_t *table, char *const *text)
{
    int pending = 0; /* spaces to print before the next cell, so that no line ends in spaces */
    const bool bold = !text && table->out == stdout && cli_stdout_is_terminal();
    if (bold)
        fputs("\033[1m", table->out);
    for (int c = 0, shown = 0; c < table->columns; c++) {
        const cli_column_t *column = &table->column[c];
        if (!column->title)
            continue;
        const char *cell = text ? (text[c] ? text[c] : "") : column->title;
        int padding = column->width - cli_text_width(cell);
        if (padding < 0)
            padding = 0;
        pending += (shown++ ? 2 : 0) + (column->right ? padding : 0);
        int length = (int)strlen(cell), blank = 0; /* a cell may end in spaces, a line does not */
        while (blank < length && cell[length - blank - 1] == ' ')
            blank++;
        if (length > blank) {
            fprintf(table->out, "%*s%.*s", pending, "", length - blank, cell);
            pending = 0;
        }
        pending += blank + (column->right ? 0 : padding);
    }
    if (bold)
        fputs("\033[0m", table->out);
    fputc('\n', table->out);
}

static void print_head(const cli_table_t *table)
{
    if (table->format == CLI_FORMAT_JSON)
        fputs("[", table->out);
    for (int c = 0, shown = 0; table->format == CLI_FORMAT_CSV && c < table->columns; c++)
        if (table->column[c].key)
            fprintf(table->out, "%s%s", shown++ ? "," : "", table->column[c].key);
    if (table->format == CLI_FORMAT_CSV)
        fputc('\n', table->out);
}

void cli_table_begin(cli_table_t *table, FILE *out, cli_format_t format, const cli_column_t *column)
{
    *table = (cli_table_t){.out = out, .format = format};
    for (; column->key || column->title; column++) {
        const int width = column->title ? cli_text_width(column->title) : 0;
        table->column[table->columns] = *column;
        if (width > column->width)
            table->column[table->columns].width = width;
        table->columns++;
    }
    print_head(table);
}

void cli_table_begin_keys(cli_table_t *table, FILE *out, cli_format_t format, const char *keys)
{
    char *rest = table->keys;
    *table = (cli_table_t){.out = out, .format = format};
    snprintf(table->keys, sizeof table->keys, "%s", keys);
    for (const char *key; (key = strtok_r(rest, " ", &rest)) != NULL;)
        table->column[table->columns++].key = key;
    print_head(table);
}

void cli_table_stream(cli_table_t *table)
{
    table->stream = true;
    if (table->format == CLI_FORMAT_TABLE)
        print_text(table, NULL);
}

void cli_cell_both(cli_table_t *table, const char *text, json_t *value)
{
    int c = table->cells++;
    if (!value)
        table->failed = true;
    if (table->format == CLI_FORMAT_TABLE) {
        table->text[c] = strdup(text);
        if (!table->text[c])
            table->failed = true;
    } else if (value && table->column[c].key) {
        if (!table->object)
            table->object = json_object();
        /* CSV keeps the text beside the value, because the text has the requested number of decimals. */
        json_t *entry = table->format == CLI_FORMAT_CSV ? json_pack("[s%, O]", text, strlen(text), value)
                                                        : json_incref(value);
        if (json_object_set_new(table->object, table->column[c].key, entry))
            table->failed = true;
    }
    json_decref(value);
}

void cli_cell_text(cli_table_t *table, const char *text)
{
    char *printable = strdup(text);
    if (!printable) {
        cli_cell_none(table);
        table->failed = true;
        return;
    }
    trv_make_printable(printable);
    cli_cell_both(table, printable, json_string(printable));
    free(printable);
}

void cli_cell_int(cli_table_t *table, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    cli_cell_both(table, text, json_integer(value));
}

void cli_cell_real(cli_table_t *table, double value, int decimals)
{
    char text[64] = "";
    if (!isfinite(value)) {
        cli_cell_both(table, text, json_null());
        return;
    }
    trv_snprintf(text, sizeof text, "%.*f", decimals, value);
    cli_cell_both(table, text, json_real(trv_strtod(text, NULL)));
}

void cli_cell_bool(cli_table_t *table, bool value) { cli_cell_both(table, value ? "yes" : "no", json_boolean(value)); }

void cli_cell_none(cli_table_t *table) { cli_cell_both(table, "", json_null()); }

static void print_json(cli_table_t *table)
{
    fputs(table->rows ? ",\n" : "\n", table->out);
    json_dumpf(table->object, table->out, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
}

/* Prints a cell as RFC 4180 requires: quoted if it contains a comma, a quote or a line break. */
static void print_csv_cell(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', out);
}

/* Whether the text is a number only, without a unit or word after it. */
static bool is_number(const char *text)
{
    char *end;
    trv_strtod(text, &end);
    return end != text && *end == '\0';
}

static void print_csv(cli_table_t *table)
{
    const char *key;
    json_t *entry;
    int shown = 0;
    json_object_foreach(table->object, key, entry)
    {
        const json_t *value = json_array_get(entry, 1);
        if (shown++)
            fputc(',', table->out);
        const char *text = json_string_value(json_array_get(entry, 0));
        if (json_is_boolean(value) || (json_is_number(value) && !is_number(text)))
            json_dumpf(value, table->out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        else
            print_csv_cell(table->out, text);
    }
    fputc('\n', table->out);
}

/* Keeps the row until all widths are known. */
static void keep_text(cli_table_t *table)
{
    if (trv_array_reserve(&table->row, &table->capacity, table->rows, 1, (size_t)table->columns * sizeof *table->row)) {
        table->failed = true;
        return;
    }
    for (int c = 0; c < table->columns; c++) {
        int width = table->text[c] ? cli_text_width(table->text[c]) : 0;
        if (width > table->column[c].width)
            table->column[c].width = width;
        table->row[table->rows * table->columns + c] = table->text[c];
        table->text[c] = NULL;
    }
    table->rows++;
}

void cli_row_end(cli_table_t *table)
{
    if (table->format == CLI_FORMAT_TABLE && !table->stream) {
        keep_text(table);
    } else {
        if (table->format == CLI_FORMAT_TABLE)
            print_text(table, table->text);
        else if (table->format == CLI_FORMAT_CSV)
            print_csv(table);
        else
            print_json(table);
        table->rows++;
    }
    for (int c = 0; c < table->columns; c++) {
        free(table->text[c]);
        table->text[c] = NULL;
    }
    json_decref(table->object);
    table->object = NULL;
    table->cells = 0;
    if (table->stream)
        fflush(table->out);
}

int cli_table_end(cli_table_t *table)
{
    if (table->format == CLI_FORMAT_JSON)
        fputs(table->rows ? "\n]\n" : "]\n", table->out);
    if (table->format == CLI_FORMAT_TABLE && !table->stream && !table->failed) {
        print_text(table, NULL);
        for (int r = 0; r < table->rows; r++)
            print_text(table, table->row + r * table->columns);
    }
    for (int i = 0; table->row && i < table->rows * table->columns; i++)
        free(table->row[i]);
    free(table->row);
    table->row = NULL;
    return table->failed ? trv_fail_memory() : TRV_OK;
}

void cli_print_planned(const char *lead, const char *const *name, const uint64_t *bytes, int sizes)
{
    char text[TRV_BYTES_TEXT_MAX];
    const char *before = NULL;
    for (int i = 0; i < sizes; i++) {
        if (!name[i])
            continue;
        bool same = before && strcmp(before, name[i]) == 0;
        if (!same)
            printf("%s%s at", before ? "; " : lead, name[i]);
        printf("%s %s", same ? "," : "", trv_format_bytes(bytes[i], text));
        before = name[i];
    }
    if (before)
        putchar('\n');
}
