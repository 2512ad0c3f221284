/*
 * The file of results. Every row is written by one write, and a later sweep continues after the last whole line, so
 * the file is valid whenever a sweep ends. The columns of the axes identify the points that a file has; no other record
 * is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/tool.h"
#include "cli/sweep/sweep.h"
#include "base/ascending.h"
#include "base/error.h"
#include "base/array.h"

#define LINE_BEGINNING "{\"torus\": " /* the beginning of every row in JSON lines */

int cli_sweep_format_of(const char *path, cli_format_t *format)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".csv") == 0)
        *format = CLI_FORMAT_CSV;
    else if (dot && strcmp(dot, ".jsonl") == 0)
        *format = CLI_FORMAT_LINES;
    else
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "the name '%.200s' must end in .csv or .jsonl (JSON lines), which selects the format; for example out.csv",
            path);
    return TRV_OK;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* Fills in the columns of the axes, then those of the results; returns their number. As in the other subcommands
 * `algorithm` is the one that was simulated, and `chosen_for` the name or family that was given. Tables as text have no
 * columns of parameters with only the default value. */
static int list_columns(const cli_sweep_rows_t *rows, cli_column_t *column)
{
    static const cli_column_t result[] = {
        {"time_ns", "time_ns", true, 0},
        {"packet_hops", "packet_hops", true, 0},
        {"wall_s", "wall_s", true, 0},
    };
    static const cli_column_t last[] = {{"chosen_for", "chosen_for", false, 0}, {"error", "error", false, 0}};
    const cli_sweep_grid_t *grid = rows->grid;
    int columns = 0;
    for (int i = 0; i < CLI_AXES; i++)
        if (grid->axis[i].values.count > 0)
            column[columns++] = (cli_column_t){grid->axis[i].column,
                                               cli_sweep_axis_is_default(grid, i) ? NULL : grid->axis[i].column,
                                               grid->axis[i].values.unit != NULL, 0};
    for (size_t i = 0; i < sizeof result / sizeof result[0]; i++)
        column[columns++] = result[i];
    if (rows->limit) {
        cli_limit_columns(column + columns);
        for (int i = 0; i < CLI_LIMIT_COLUMNS; i++, columns++)
            column[columns].title = column[columns].key;
    }
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        column[columns++] = last[i];
    return columns;
}

/* Formats the value without its unit, which is part of the column's name. */
static void format_cell(const cli_values_t *values, int i, char cell[CLI_VALUE_MAX])
{
    size_t unit = values->unit ? strlen(values->unit) : 0;
    snprintf(cell, CLI_VALUE_MAX, "%.*s", (int)(strlen(values->text[i]) - unit), values->text[i]);
}

static void add_value(cli_table_t *table, const cli_values_t *values, int i)
{
    char cell[CLI_VALUE_MAX];
    format_cell(values, i, cell);
    if (!values->unit)
        cli_cell_text(table, cell);
    else if (strspn(cell, "0123456789") == strlen(cell))
        cli_cell_both(table, cell, json_integer(strtoll(cell, NULL, 10)));
    else
        cli_cell_both(table, cell, json_real(trv_strtod(cell, NULL)));
}

static void add_limit(cli_table_t *table, const cli_sweep_grid_t *grid, const cli_sweep_result_t *result)
{
    cli_network_t network;
    cli_point_t point;
    trv_limit_t limit = {.time_ns = NAN};
    if (cli_sweep_point(grid, result->index, &network, &point) == TRV_OK)
        (void)trv_compare_limit(&point.torus, &point.options, point.collective, point.root, point.bytes, &limit);
    cli_limit_cells(table, &limit, result->valid ? result->time_ns : NAN);
}

static void add_cells(cli_sweep_rows_t *rows, const cli_sweep_result_t *result)
{
    const cli_sweep_grid_t *grid = rows->grid;
    cli_table_t *table = &rows->table;
    for (int i = 0; i < CLI_AXES; i++)
        if (i == CLI_AXIS_ALGORITHM && result->valid)
            cli_cell_text(table, result->algorithm);
        else if (grid->axis[i].values.count > 0)
            add_value(table, &grid->axis[i].values, cli_sweep_digit(grid, result->index, i));
    if (result->valid) {
        cli_cell_real(table, result->time_ns, 3);
        cli_cell_int(table, (int64_t)result->packet_hops);
        cli_cell_real(table, result->wall_s, 6);
    }
    for (int i = 0; !result->valid && i < 3; i++)
        cli_cell_none(table);
    if (rows->limit)
        add_limit(table, grid, result);
    add_value(table, &grid->axis[CLI_AXIS_ALGORITHM].values, cli_sweep_digit(grid, result->index, CLI_AXIS_ALGORITHM));
    if (result->valid)
        cli_cell_none(table);
    else
        cli_cell_text(table, result->error);
    cli_row_end(table);
}

/* ---- Reading the existing rows ----------------------------------------------------------------------------------- */

typedef struct cells {
    int count;
    char text[CLI_COLUMNS_MAX][CLI_VALUE_MAX]; /* truncated; only error messages are longer */
} cells_t;

/* Splits a CSV line into cells (RFC 4180). */
static bool split_csv(const char *line, cells_t *cells)
{
    for (cells->count = 0; cells->count < CLI_COLUMNS_MAX; line++) {
        char *text = cells->text[cells->count++];
        size_t length = 0;
        bool quoted = *line == '"';
        for (line += quoted; *line; line++) {
            if (quoted && *line == '"' && *++line != '"')
                quoted = false; /* the closing quote; a doubled one is a literal quote */
            if (!*line || (!quoted && *line == ','))
                break;
            if (length < CLI_VALUE_MAX - 1)
                text[length++] = *line;
        }
        text[length] = '\0';
        if (!*line)
            return !quoted;
    }
    return false;
}

/* Splits a JSON line into cells; its keys must be the names of the columns. */
static bool split_json(const char *line, const cli_sweep_rows_t *rows, cells_t *cells)
{
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL), *value;
    const char *key;
    cells->count = 0;
    json_object_foreach(object, key, value)
    {
        int i = cells->count++;
        if (i >= rows->table.columns || strcmp(key, rows->table.column[i].key) != 0) {
            cells->count = -1;
            break;
        }
        if (json_is_integer(value))
            snprintf(cells->text[i], CLI_VALUE_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else if (json_is_real(value))
            trv_snprintf(cells->text[i], CLI_VALUE_MAX, "%.12g", json_real_value(value));
        else
            snprintf(cells->text[i], CLI_VALUE_MAX, "%s", json_is_string(value) ? json_string_value(value) : "");
    }
    json_decref(object);
    return cells->count >= 0;
}

/* Whether format_cell yields this cell for value i. */
static bool is_cell(const cli_values_t *values, int i, const char *cell)
{
    size_t length = strlen(cell);
    return strncmp(values->text[i], cell, length) == 0 &&
           strcmp(values->text[i] + length, values->unit ? values->unit : "") == 0;
}

/* Finds the index of the point that a row belongs to. */
static int find_point(const cli_sweep_rows_t *rows, const cells_t *cells, uint64_t *index)
{
    int next = 0;
    *index = 0;
    for (int axis = 0; axis < CLI_AXES; axis++) {
        const cli_values_t *values = &rows->grid->axis[axis].values;
        if (values->count == 0)
            continue;
        int column = next++, i = 0;
        if (axis == CLI_AXIS_ALGORITHM)
            column = rows->table.columns - 2; /* chosen_for */
        while (i < values->count && !is_cell(values, i, cells->text[column]))
            i++;
        if (i == values->count && axis == CLI_AXIS_NETWORK && cli_sweep_is_other_content(values, cells->text[column]))
            return trv_fail(TRV_ERR_ARGUMENT, "has network %.60s, of a file whose parameters have changed since",
                            cells->text[column]);
        if (i == values->count)
            return trv_fail(TRV_ERR_ARGUMENT, "has %s %.60s, which is not in this sweep",
                            rows->table.column[column].key, cells->text[column]);
        *index = *index * (uint64_t)values->count + (uint64_t)i;
    }
    return TRV_OK;
}

static int find_column(const cli_sweep_rows_t *rows, const char *key)
{
    int column = 0;
    while (strcmp(rows->table.column[column].key, key) != 0)
        column++;
    return column;
}

static int read_row(cli_sweep_rows_t *rows, const char *line)
{
    cells_t cells;
    uint64_t index;
    bool good = rows->format == CLI_FORMAT_CSV ? split_csv(line, &cells) : split_json(line, rows, &cells);
    if (!good || cells.count != rows->table.columns)
        return trv_fail(TRV_ERR_ARGUMENT, "is not a row of this sweep, because its columns differ");
    int rc = find_point(rows, &cells, &index);
    if (rc || !cli_sweep_has(rows->grid, index))
        return rc;
    rows->numbers |= cells.text[cells.count - 1][0] == '\0';
    if (trv_array_reserve(&rows->done, &rows->done_capacity, (int64_t)rows->done_count, 1, sizeof *rows->done))
        return TRV_ERR_MEMORY;
    rows->done[rows->done_count++] = index;
    const char *time_ns = cells.text[find_column(rows, "time_ns")];
    if (rows->time_ns && time_ns[0])
        rows->time_ns[index] = trv_strtod(time_ns, NULL);
    return TRV_OK;
}

/* Checks a line without a line end, which an interrupted write left. It must begin like a row, because it will be
 * truncated: text of other origin must not be lost. */
static int check_incomplete(const char *line, const char *header)
{
    const char *expected = header[0] ? header : LINE_BEGINNING;
    size_t length = strlen(line) < strlen(expected) ? strlen(line) : strlen(expected);
    return memcmp(line, expected, length) == 0
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "is not the beginning of a sweep's results");
}

/* Reads one whole line with its line end; `header` is the first line of a CSV file, or empty. */
static int read_line(cli_sweep_rows_t *rows, char *line, size_t length, const char *header)
{
    if (strlen(line) != length)
        return trv_fail(TRV_ERR_ARGUMENT, "is not text");
    if (rows->end > 0 || !header[0]) {
        line[length - 1] = '\0';
        return read_row(rows, line);
    }
    return strcmp(line, header) == 0 ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "does not list the columns of this sweep");
}

static int read_lines(cli_sweep_rows_t *rows, FILE *file, const char *header)
{
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    int rc = TRV_OK;
    while (!rc && (length = getline(&line, &capacity, file)) > 0) {
        bool whole = line[length - 1] == '\n';
        number++;
        if (whole)
            rc = read_line(rows, line, (size_t)length, header);
        else if (rows->end == 0)
            rc = check_incomplete(line, header);
        rows->end += whole && !rc ? length : 0;
    }
    free(line);
    if (!rc)
        return ferror(file) ? trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read", rows->path) : TRV_OK;
    return trv_fail(rc,
                    "'%.200s' is left unchanged: its line %zu %s; use another file, or --restart to overwrite this one",
                    rows->path, number, trv_last_error());
}

/* Sorts the points and removes duplicates. */
static void sort_done(cli_sweep_rows_t *rows)
{
    size_t kept = 0;
    if (rows->done_count > 0)
        qsort(rows->done, rows->done_count, sizeof *rows->done, trv_compare_uint64);
    for (size_t i = 0; i < rows->done_count; i++)
        if (kept == 0 || rows->done[kept - 1] != rows->done[i])
            rows->done[kept++] = rows->done[i];
    rows->done_count = kept;
}

static int resume(cli_sweep_rows_t *rows, const char *header)
{
    int copy = dup(rows->descriptor);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file)
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read: %s", rows->path, strerror(errno));
    int rc = read_lines(rows, file, header);
    fclose(file);
    sort_done(rows);
    return rc;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Appends the text. On an error the file is truncated to what it was before. */
static int append(cli_sweep_rows_t *rows, const char *text, size_t size)
{
    size_t written = 0;
    while (written < size) {
        ssize_t count = write(rows->descriptor, text + written, size - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            int reason = errno;
            /* If truncating fails, the next sweep truncates the file. */
            bool cut = rows->regular && ftruncate(rows->descriptor, rows->end) == 0;
            return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' could not be written: %s%s", rows->path,
                            strerror(reason), cut ? "; the same command continues after its last row" : "");
        }
        written += (size_t)count;
    }
    rows->end += (off_t)size;
    return TRV_OK;
}

/* Begins the table and returns its header line, or "". */
static int begin_table(cli_sweep_rows_t *rows, char **header, size_t *size)
{
    cli_column_t column[CLI_COLUMNS_MAX];
    int columns = list_columns(rows, column);
    FILE *out = open_memstream(header, size);
    if (!out)
        return trv_fail_memory();
    cli_table_begin(&rows->table, out, rows->format, column, columns, false);
    return fclose(out) == 0 ? TRV_OK : trv_fail_memory();
}

static int open_file(cli_sweep_rows_t *rows)
{
    struct stat status;
    rows->descriptor = open(rows->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (rows->descriptor < 0 || fstat(rows->descriptor, &status) != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: %s", rows->path, strerror(errno));
    rows->regular = S_ISREG(status.st_mode);
    if (rows->regular && flock(rows->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return trv_fail(TRV_ERR_ARGUMENT, "another sweep is writing '%.200s'; wait for it, or give another file",
                        rows->path);
    return TRV_OK;
}

int cli_sweep_rows_open(cli_sweep_rows_t *rows, const cli_sweep_grid_t *grid, const char *path, cli_format_t format,
                        bool restart, bool limit, double *time_ns)
{
    char *header = NULL;
    size_t size = 0;
    *rows = (cli_sweep_rows_t){.path = path,
                               .format = format,
                               .grid = grid,
                               .descriptor = -1,
                               .limit = limit,
                               .time_ns = time_ns};
    if (!path) {
        cli_column_t column[CLI_COLUMNS_MAX];
        int columns = list_columns(rows, column);
        cli_table_begin(&rows->table, stdout, format, column, columns, cli_stdout_is_terminal());
        return TRV_OK;
    }
    int rc = begin_table(rows, &header, &size);
    if (!rc)
        rc = open_file(rows);
    if (!rc && rows->regular && !restart)
        rc = resume(rows, header);
    if (!rc && rows->regular && ftruncate(rows->descriptor, rows->end) != 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: %s", path, strerror(errno));
    if (!rc && rows->end == 0)
        rc = append(rows, header, size);
    free(header);
    return rc;
}

int cli_sweep_rows_add(cli_sweep_rows_t *rows, const cli_sweep_result_t *result)
{
    char *text = NULL;
    size_t size = 0;
    rows->numbers |= result->valid;
    if (rows->time_ns && result->valid)
        rows->time_ns[result->index] = result->time_ns;
    if (!rows->path) {
        add_cells(rows, result);
        return fflush(stdout) == 0 ? TRV_OK
                                   : trv_fail(TRV_ERR_ARGUMENT, "the output could not be written: %s", strerror(errno));
    }
    rows->table.out = open_memstream(&text, &size);
    if (!rows->table.out)
        return trv_fail_memory();
    add_cells(rows, result);
    int rc = fclose(rows->table.out) == 0 && !rows->table.failed ? append(rows, text, size) : trv_fail_memory();
    free(text);
    return rc;
}

int cli_sweep_rows_close(cli_sweep_rows_t *rows)
{
    int rc = TRV_OK;
    if (!rows->path && rows->table.out)
        rc = cli_table_end(&rows->table);
    if (rows->path && rows->descriptor >= 0 && close(rows->descriptor) != 0)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' could not be written: %s", rows->path, strerror(errno));
    free(rows->done);
    rows->done = NULL;
    rows->done_count = 0;
    rows->descriptor = -1;
    return rc;
}
