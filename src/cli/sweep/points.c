/*
 * The grid: its axes, and the point at an index. The digits of the index, in the mixed radix of the axes' lengths, are
 * the indices of the point's values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/formats.h>
#include <trivance/parameters.h>

#include "base/text/parse.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"
#include "base/hash.h"
#include "schedule/collective.h"

#define POINTS_MAX (UINT64_C(1) << 62)

const char *cli_axis_name(int axis)
{
    static const char *const name[] = {[CLI_AXIS_TORUS] = "torus",
                                       [CLI_AXIS_ALGORITHM] = "algorithm",
                                       [CLI_AXIS_BYTES] = "bytes",
                                       [CLI_AXIS_COLLECTIVE] = "collective",
                                       [CLI_AXIS_ROOT] = "root"};
    if (axis < CLI_AXIS_NETWORK)
        return name[axis];
    return cli_network_name(axis - CLI_AXIS_NETWORK) ? cli_network_name(axis - CLI_AXIS_NETWORK) : "";
}

int cli_axis_find(const char *name)
{
    for (int i = 0; i < CLI_AXES; i++)
        if (strcmp(cli_axis_name(i), name) == 0)
            return i;
    return -1;
}

/* Whether the values are slow ranks, slow links or cuts. They contain colons, so they have no ranges; "none" is
 * allowed. */
static bool is_slow(int axis)
{
    const trv_parameter_t *parameter = trv_parameter_find(cli_axis_name(axis));
    return parameter && parameter->kind == TRV_KIND_LIST;
}

/* The name of a network is the path of a file. */
static bool is_path(const char *name) { return strpbrk(name, "/.") != NULL; }

/* The text of a network that is read from a file is its path, this character, and a hash of its parameters
 * (format_network). */
#define FILE_HASH '#'

static int set_parameter(cli_network_t *network, int axis, const char *text)
{
    char path[CLI_VALUE_MAX];
    const char *hash = axis == CLI_AXIS_NETWORK && is_path(text) ? strrchr(text, FILE_HASH) : NULL;
    if (is_slow(axis) && strcmp(text, "none") == 0)
        return TRV_OK;
    snprintf(path, sizeof path, "%.*s", hash ? (int)(hash - text) : CLI_VALUE_MAX - 1, text);
    return cli_network_set(network, cli_axis_name(axis), path);
}

/* The values of an axis that is not given; NULL: the axis has no column. Rows always state the network's basic
 * parameters (TRV_SIMULATE_DEFAULTS), so that results can be compared without the command. */
static const char *default_list(int axis)
{
    const trv_parameter_t *parameter = trv_parameter_find(cli_axis_name(axis));
    if (axis == CLI_AXIS_ALGORITHM || axis == CLI_AXIS_BYTES)
        return axis == CLI_AXIS_BYTES ? "32:128M:x4" : "all";
    return parameter && (parameter->affects & TRV_STATED_RESULTS) ? parameter->usual : NULL;
}

/* ---- Reading the lists ------------------------------------------------------------------------------------------- */

static int read_tori(cli_values_t *values, const char *list)
{
    cli_values_t typed = {0};
    char text[TRV_TORUS_TEXT_MAX], item[TRV_TORUS_TEXT_MAX];
    trv_torus_t torus;
    int more, rc = TRV_OK;
    while (!rc && (more = trv_next_item(&list, "--torus", item, sizeof item)) != 0)
        if (more < 0) /* torus syntax first: 9m is a line of 9 ranks, not 9 MiB */
            rc = more;
        else
            rc = trv_torus_parse(item, &torus) == TRV_OK ? cli_values_add(&typed, "torus", item)
                                                         : cli_values_read(&typed, "torus", item, true);
    for (int i = 0; i < typed.count && !rc; i++)
        if ((rc = trv_torus_parse(typed.text[i], &torus)) == TRV_OK)
            rc = cli_values_add(values, "torus", trv_torus_format(&torus, text, sizeof text));
    cli_values_clear(&typed);
    return rc;
}

static int read_algorithms(cli_sweep_grid_t *grid, cli_values_t *values, const char *list)
{
    int rc = cli_select(list, &grid->selection);
    for (int i = 0; i < grid->selection.choices && !rc; i++)
        rc = cli_values_add(values, "algorithm", grid->selection.choice[i].label);
    return rc;
}

static int hash_parameter(void *context, const char *name, const char *value, const char *source)
{
    (void)source;
    uint64_t *hash = context;
    *hash = trv_hash(trv_hash(*hash, name, strlen(name) + 1), value, strlen(value) + 1);
    return TRV_OK;
}

/* Appends to the path of a file a hash of its parameters, so that a sweep does not continue results of a file that has
 * changed. `text` has CLI_VALUE_MAX bytes. */
static int format_network(const char *typed, char *text)
{
    uint64_t hash = TRV_HASH_SEED;
    if (!is_path(typed)) {
        snprintf(text, CLI_VALUE_MAX, "%s", typed);
        return TRV_OK;
    }
    int rc = trv_profile_read(typed, hash_parameter, &hash);
    if (!rc && snprintf(text, CLI_VALUE_MAX, "%s%c%08x", typed, FILE_HASH, (unsigned)hash) >= CLI_VALUE_MAX)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the path '%.60s…' has more than %d bytes", typed, CLI_VALUE_MAX - 10);
    return rc;
}

bool cli_sweep_is_other_content(const cli_values_t *networks, const char *text)
{
    const char *hash = strrchr(text, FILE_HASH);
    const size_t length = hash ? (size_t)(hash + 1 - text) : 0;
    for (int i = 0; i < networks->count && hash; i++)
        if (strncmp(networks->text[i], text, length) == 0 && strcmp(networks->text[i], text) != 0)
            return true;
    return false;
}

static int read_networks(cli_values_t *values, const char *list)
{
    cli_values_t typed = {0};
    char text[CLI_VALUE_MAX];
    int rc = cli_values_read(&typed, "network", list, false);
    for (int i = 0; i < typed.count && !rc; i++)
        if ((rc = format_network(typed.text[i], text)) == TRV_OK)
            rc = cli_values_add(values, "network", text);
    cli_values_clear(&typed);
    return rc;
}

/* Checks a single value. Incompatible combinations are reported by the points that have them. */
static int check_value(int axis, const char *text)
{
    cli_network_t network;
    trv_collective_t collective;
    uint64_t bytes;
    int root;
    switch (axis) {
    case CLI_AXIS_BYTES: return trv_parse_vector(text, &bytes);
    case CLI_AXIS_COLLECTIVE: return cli_parse_collective(text, &collective);
    case CLI_AXIS_ROOT: return cli_parse_root(text, &root);
    default: cli_network_init(&network); return set_parameter(&network, axis, text);
    }
}

static int read_axis(cli_sweep_grid_t *grid, int axis)
{
    cli_values_t *values = &grid->axis[axis].values;
    const char *list = grid->list[axis];
    if (axis == CLI_AXIS_TORUS)
        return read_tori(values, list);
    if (axis == CLI_AXIS_ALGORITHM)
        return read_algorithms(grid, values, list);
    int rc = axis == CLI_AXIS_NETWORK ? read_networks(values, list)
                                      : cli_values_read(values, cli_axis_name(axis), list, !is_slow(axis));
    for (int i = 0; i < values->count && !rc; i++)
        rc = check_value(axis, values->text[i]);
    return rc;
}

/* "link-latency" in ns is the column link_latency_ns. */
static void name_column(int axis, cli_axis_t *into)
{
    const char *suffix = into->values.suffix ? into->values.suffix : "";
    snprintf(into->column, sizeof into->column, "%s%s", cli_axis_name(axis), suffix);
    for (char *p = into->column; *p; p++)
        *p = *p == '-' ? '_' : *p;
}

bool cli_sweep_axis_is_default(const cli_sweep_grid_t *grid, int axis)
{
    const cli_values_t *values = &grid->axis[axis].values;
    cli_network_t network, defaults;
    if (values->count != 1 || axis < CLI_AXIS_COLLECTIVE)
        return false;
    if (axis == CLI_AXIS_COLLECTIVE || axis == CLI_AXIS_ROOT)
        return strcmp(values->text[0], axis == CLI_AXIS_ROOT ? "0" : trv_collective_name(TRV_ALLREDUCE)) == 0;
    cli_network_init(&network);
    cli_network_init(&defaults);
    return set_parameter(&network, axis, values->text[0]) == TRV_OK &&
           /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): intended */
           memcmp(&network.options, &defaults.options, sizeof defaults.options) == 0;
}

int cli_sweep_check_list(int axis, const char *list)
{
    cli_sweep_grid_t *grid = calloc(1, sizeof *grid);
    if (!grid)
        return trv_fail_memory();
    int rc = cli_sweep_append(&grid->list[axis], list);
    if (!rc)
        rc = read_axis(grid, axis);
    cli_sweep_grid_clear(grid);
    free(grid);
    return rc;
}

/* ---- Supported points -------------------------------------------------------------------------------------------- */

/* The i-th of the axes that determine whether an algorithm is supported; -1 after the last. */
static int support_axis(int i)
{
    static const char *const name[] = {"torus", "algorithm", "collective", "slow-link", "cut"};
    return i < (int)(sizeof name / sizeof name[0]) ? cli_axis_find(name[i]) : -1;
}

/* Finds the torus for these values, with the dimensions that cuts open as lines, and the collective. On an error the
 * point is not left out, so that its row reports the error. */
static int find_opened(const cli_sweep_grid_t *grid, const int *digit, trv_collective_t *collective,
                       trv_torus_t *opened)
{
    cli_network_t network;
    trv_torus_t torus;
    int rc = TRV_OK;
    cli_network_init(&network);
    *collective = TRV_ALLREDUCE;
    for (int i = 0, axis; (axis = support_axis(i)) >= 0 && !rc; i++) {
        const cli_values_t *values = &grid->axis[axis].values;
        const char *text = values->count > 0 ? values->text[digit[axis]] : NULL;
        if (axis == CLI_AXIS_TORUS)
            rc = trv_torus_parse(text, &torus);
        else if (text && axis == CLI_AXIS_COLLECTIVE)
            rc = cli_parse_collective(text, collective);
        else if (text && axis >= CLI_AXIS_NETWORK)
            rc = set_parameter(&network, axis, text);
    }
    if (!rc)
        rc = cli_network_finish(&network, &torus);
    return rc ? rc : cli_network_open_rings(&torus, &network.options, opened);
}

static bool point_is_supported(const cli_sweep_grid_t *grid, const int *digit)
{
    const cli_choice_t *choice = &grid->selection.choice[digit[CLI_AXIS_ALGORITHM]];
    trv_collective_t collective;
    trv_torus_t opened;
    if (!grid->selection.all || choice->planned || find_opened(grid, digit, &collective, &opened))
        return true;
    for (int i = 0; i < choice->members; i++)
        if (trv_algorithm_supports(choice->member[i], &opened, collective) == TRV_OK)
            return true;
    return false;
}

bool cli_sweep_has(const cli_sweep_grid_t *grid, uint64_t index)
{
    int digit[CLI_AXES];
    for (int i = 0, axis; (axis = support_axis(i)) >= 0; i++)
        digit[axis] = cli_sweep_digit(grid, index, axis);
    return point_is_supported(grid, digit);
}

/* Counts the unsupported combinations over the axes of support_axis. */
static uint64_t count_left_out(const cli_sweep_grid_t *grid)
{
    int digit[CLI_AXES] = {0}, carry = 0;
    uint64_t count = 0, combinations = 0;
    while (carry >= 0) {
        combinations++;
        count += !point_is_supported(grid, digit);
        for (carry = 0; carry >= 0 && support_axis(carry) >= 0; carry++) {
            const int axis = support_axis(carry);
            if (++digit[axis] < grid->axis[axis].values.count)
                break;
            digit[axis] = 0;
        }
        carry = support_axis(carry) >= 0 ? carry : -1;
    }
    return count * (grid->points / combinations);
}

/* Rejects roots of a collective that has none. */
static int check_roots(const cli_sweep_grid_t *grid)
{
    const cli_values_t *roots = &grid->axis[CLI_AXIS_ROOT].values;
    const cli_values_t *collectives = &grid->axis[CLI_AXIS_COLLECTIVE].values;
    trv_collective_t collective = TRV_ALLREDUCE;
    int root, rc = TRV_OK;
    for (int c = 0; c < (collectives->count > 0 ? collectives->count : 1) && !rc; c++) {
        if (collectives->count > 0)
            rc = cli_parse_collective(collectives->text[c], &collective);
        for (int r = 0; r < roots->count && !rc; r++)
            if ((rc = cli_parse_root(roots->text[r], &root)) == TRV_OK)
                rc = cli_check_root(collective, root);
    }
    return rc;
}

uint64_t cli_sweep_points(const cli_sweep_grid_t *grid) { return grid->points - grid->left_out; }

int cli_sweep_grid_finish(cli_sweep_grid_t *grid)
{
    if (!grid->list[CLI_AXIS_TORUS])
        return trv_fail(TRV_ERR_ARGUMENT, "no torus is given; give at least one, for example --torus=8,8x8");
    grid->points = 1;
    for (int i = 0; i < CLI_AXES; i++) {
        const bool of_profile = i > CLI_AXIS_NETWORK && grid->list[CLI_AXIS_NETWORK]; /* --network is the first */
        if (!grid->list[i] && !of_profile && default_list(i) && !(grid->list[i] = strdup(default_list(i))))
            return trv_fail_memory();
        int rc = grid->list[i] ? read_axis(grid, i) : TRV_OK;
        if (rc)
            return rc;
        /* A file of results belongs to the same sweep whether or not the default was given. */
        if (!default_list(i) && cli_sweep_axis_is_default(grid, i))
            cli_values_clear(&grid->axis[i].values);
        name_column(i, &grid->axis[i]);
        uint64_t count = grid->axis[i].values.count > 0 ? (uint64_t)grid->axis[i].values.count : 1;
        if (grid->points > POINTS_MAX / count)
            return trv_fail(TRV_ERR_ARGUMENT, "the grid has more than 2^62 points; use shorter lists");
        grid->points *= count;
    }
    grid->left_out = count_left_out(grid);
    return check_roots(grid);
}

void cli_sweep_grid_clear(cli_sweep_grid_t *grid)
{
    for (int i = 0; i < CLI_AXES; i++) {
        free(grid->list[i]);
        cli_values_clear(&grid->axis[i].values);
    }
    *grid = (cli_sweep_grid_t){0};
}

char *cli_sweep_grid_format(const cli_sweep_grid_t *grid, char *text, size_t size)
{
    static const char *const several[] = {[CLI_AXIS_TORUS] = "tori",
                                          [CLI_AXIS_ALGORITHM] = "algorithms",
                                          [CLI_AXIS_BYTES] = "sizes",
                                          [CLI_AXIS_COLLECTIVE] = "collectives",
                                          [CLI_AXIS_ROOT] = "roots"};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < CLI_AXES && used < size; i++)
        if (grid->axis[i].values.count > 1)
            used += (size_t)snprintf(text + used, size - used, "%s%d %s%s", used ? " × " : "",
                                     grid->axis[i].values.count, i < CLI_AXIS_NETWORK ? several[i] : "values of ",
                                     i < CLI_AXIS_NETWORK ? "" : cli_axis_name(i));
    return text;
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

int cli_sweep_digit(const cli_sweep_grid_t *grid, uint64_t index, int axis)
{
    for (int i = CLI_AXES - 1; i > axis; i--)
        if (grid->axis[i].values.count > 1)
            index /= (uint64_t)grid->axis[i].values.count;
    return grid->axis[axis].values.count > 1 ? (int)(index % (uint64_t)grid->axis[axis].values.count) : 0;
}

int cli_sweep_point(const cli_sweep_grid_t *grid, uint64_t index, cli_network_t *network, cli_point_t *point)
{
    const char *text[CLI_AXES] = {NULL};
    int rc = TRV_OK;
    for (int i = 0; i < CLI_AXES; i++)
        if (grid->axis[i].values.count > 0)
            text[i] = grid->axis[i].values.text[cli_sweep_digit(grid, index, i)];
    *point = (cli_point_t){.choice = &grid->selection.choice[cli_sweep_digit(grid, index, CLI_AXIS_ALGORITHM)]};
    cli_network_init(network);
    for (int i = CLI_AXIS_NETWORK; i < CLI_AXES && !rc; i++)
        if (text[i])
            rc = set_parameter(network, i, text[i]);
    if (!rc)
        rc = trv_torus_parse(text[CLI_AXIS_TORUS], &point->torus);
    if (!rc)
        rc = trv_parse_bytes(text[CLI_AXIS_BYTES], &point->bytes);
    if (!rc && text[CLI_AXIS_COLLECTIVE])
        rc = cli_parse_collective(text[CLI_AXIS_COLLECTIVE], &point->collective);
    if (!rc && text[CLI_AXIS_ROOT])
        rc = cli_parse_root(text[CLI_AXIS_ROOT], &point->root);
    if (!rc)
        rc = trv_collective_check(point->collective, point->root, point->torus.ranks);
    if (!rc)
        rc = cli_network_finish(network, &point->torus);
    point->options = network->options;
    return rc;
}
