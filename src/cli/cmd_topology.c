/*
 * trivance topology: checks topology files and draws them; without a file, reports the torus that is known before a
 * job. Under a launcher, trivance-mpi reports that of the job, and writes a file with --dump.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/scontrol.h"
#include "cli/check_setting.h"
#include "cli/subcommands.h"
#include "cli/shared/topology_command.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "base/error.h"
#include "topology/sources/sources.h"
#include "topology/topology_file.h"

#define DRAWN_MAX  4096 /* coordinates; larger tori are not drawn */
#define ACROSS_MAX 32
#define CELL_MAX   24
#define TEXT_MAX   (CELL_MAX - (int)sizeof "…") /* without the ellipsis */

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

/* Formats the entries of every coordinate as text, "0,8" or "node3", cut to the width of a cell. */
static char (*fill_cells(const trv_topology_t *topology, int *width))[CELL_MAX]
{
    char(*cell)[CELL_MAX] = calloc((size_t)topology->torus.ranks, sizeof *cell);
    *width = 1;
    for (int i = 0; cell && i < topology->count; i++) {
        char *text = cell[topology->coordinate[i]], name[CELL_MAX], both[2 * CELL_MAX];
        if (topology->host)
            snprintf(name, sizeof name, "%.*s", TEXT_MAX, topology->host[i]);
        else
            snprintf(name, sizeof name, "%d", i);
        trv_make_printable(name);
        snprintf(both, sizeof both, "%s%s%s", text, *text ? "," : "", name);
        bool cut = strstr(text, "…") != NULL;
        if (!cut)
            snprintf(text + strlen(text), CELL_MAX - strlen(text), "%s",
                     strlen(both) <= (size_t)TEXT_MAX ? both + strlen(text) : "…");
        int columns = (int)strlen(text) - (strstr(text, "…") ? 2 : 0);
        *width = columns > *width ? columns : *width;
    }
    return cell;
}

static void print_cell(const char *text, int width)
{
    int columns = (int)strlen(text) - (strstr(text, "…") ? 2 : 0);
    printf("  %*s%s", width - columns, "", *text ? text : ".");
}

/* Draws one plane for each coordinate of the dimensions before the last two. */
static int draw(const trv_topology_t *topology)
{
    const trv_torus_t *torus = &topology->torus;
    int width, at[TRV_DIMS_MAX];
    int across = torus->size[torus->dims - 1], down = torus->dims > 1 ? torus->size[torus->dims - 2] : 1;
    if (torus->ranks > DRAWN_MAX || across > ACROSS_MAX)
        return puts("(too large to be drawn)"), CLI_OK;
    char(*cell)[CELL_MAX] = fill_cells(topology, &width);
    if (!cell) {
        trv_fail_memory();
        return cli_bad_last("topology");
    }
    for (int index = 0; index < torus->ranks; index++) {
        trv_torus_coordinates(torus, index, at);
        if (index % (across * down) == 0) {
            putchar('\n');
            for (int d = 0; d < torus->dims - 2; d++)
                printf("%sdimension %d at %d", d ? ", " : "", d, at[d]);
            if (torus->dims > 2)
                putchar('\n');
        }
        print_cell(cell[index], *cell[index] ? width : width - 1);
        if (index % across == across - 1)
            putchar('\n');
    }
    free(cell);
    return CLI_OK;
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static void count_coordinates(const trv_topology_t *topology, int *coordinates, int *min, int *max)
{
    int *count = calloc((size_t)topology->torus.ranks, sizeof *count);
    *coordinates = *max = 0;
    *min = topology->count;
    for (int i = 0; count && i < topology->count; i++)
        count[topology->coordinate[i]]++;
    for (int p = 0; count && p < topology->torus.ranks; p++) {
        if (count[p] == 0)
            continue;
        ++*coordinates;
        *min = count[p] < *min ? count[p] : *min;
        *max = count[p] > *max ? count[p] : *max;
    }
    free(count);
}

/* Prints whether the network forwards, and the links, identified by the coordinate at their source. */
static void show_links(const trv_topology_t *topology)
{
    if (topology->no_forwarding)
        puts("hosts do not forward: a message crosses one link");
    for (int i = 0; i < topology->slow_links; i++) {
        const trv_slow_link_t *link = &topology->slow_link[i];
        char port[TRV_PORT_TEXT_MAX];
        int at[TRV_DIMS_MAX];
        trv_torus_coordinates(&topology->torus, link->rank, at);
        for (int d = 0; d < topology->torus.dims; d++)
            printf("%s%d", d ? ", " : "link [", at[d]);
        printf("] %s: ", trv_port_format(link->port, port));
        if (isinf(link->factor))
            puts("down");
        else
            trv_fprintf(stdout, "%.4g of the bandwidth\n", 1 / link->factor);
    }
}

static int show(const char *path, const trv_topology_t *topology)
{
    const char *what = topology->host ? "host" : "rank";
    char text[TRV_TORUS_TEXT_MAX];
    int coordinates, min, max;
    count_coordinates(topology, &coordinates, &min, &max);
    printf("%s: torus %s, %d %s%s at %d coordinate%s", path, trv_torus_format(&topology->torus, text, sizeof text),
           topology->count, what, topology->count == 1 ? "" : "s", coordinates, coordinates == 1 ? "" : "s");
    if (topology->count == 1)
        putchar('\n');
    else if (min == max)
        printf(", %d at each\n", max);
    else
        printf(", %d to %d at each%s\n", min, max,
               topology->host ? "" : ": uneven, so calls of all of them fall back to the MPI library");
    for (int d = 0; d < topology->torus.dims; d++) {
        bool is_line = (topology->torus.lines >> d) & 1, shared = (topology->shared_port >> d) & 1;
        if (is_line || shared)
            printf("dimension %d: %s%s%s\n", d, is_line ? "no wrap-around" : "", is_line && shared ? ", " : "",
                   shared ? "both directions share a port" : "");
    }
    show_links(topology);
    return draw(topology);
}

static int check(const char *path)
{
    trv_topology_t topology;
    if (trv_topology_read(&topology, path, cli_warn_callback, (void *)(size_t) "topology") < 0)
        return cli_bad_last("topology");
    int code = show(path, &topology);
    trv_topology_clear(&topology);
    return code;
}

/* Runs --ports under any launcher: an MPI launcher, or one that sets the variables of torchrun. */
static int ports(char **argv)
{
    const bool without_mpi = getenv("RANK") && getenv("WORLD_SIZE");
    if (without_mpi || cli_launcher())
        return cli_hand_over(without_mpi ? NULL : cli_launcher(), argv);
    return cli_bad("topology", "--ports requires a launcher, for example "
                               "`trivance launch -n 4 trivance topology --ports`");
}

/* ---- Without a file ---------------------------------------------------------------------------------------------- */

typedef struct report {
    bool why, wrong; /* wrong: a source has an invalid value */
    int lines;
} report_t;

static void source_print(void *context, bool wrong, const char *sentence)
{
    report_t *report = context;
    report->wrong = report->wrong || wrong;
    if (report->why || wrong)
        report->lines += printf("%s\n", sentence) > 0;
}

/* Checks the values of the settings that state a network. */
static int check_settings(void)
{
    static const char *const name[] = {"TRIVANCE_TOPOLOGY_FILE", "TRIVANCE_TORUS", "TRIVANCE_SLURM_DIMS"};
    int rc = TRV_OK;
    for (int i = 0; i < trv_settings_count() && rc >= 0; i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        const char *value = getenv(setting->name);
        bool states_network = false;
        for (size_t n = 0; n < sizeof name / sizeof name[0]; n++)
            states_network = states_network || strcmp(setting->name, name[n]) == 0;
        if (states_network && value && *value)
            rc = cli_check_setting(setting, setting->name, value);
    }
    return rc;
}

/* Reports the network of this node alone: the settings, and the coordinates that Slurm has set, in a batch script for
 * example. */
static int report_local(bool why)
{
    static const char *const setting[] = {"TRIVANCE_TOPOLOGY_FILE", "TRIVANCE_TORUS"};
    const char *dims = getenv("TRIVANCE_SLURM_DIMS");
    report_t report = {.why = why};
    trv_rank_record_t record;
    trv_found_t found;
    if (check_settings() < 0)
        return cli_bad_last("topology");
    for (int i = 0; i < 2; i++)
        if (getenv(setting[i]) && *getenv(setting[i]))
            return printf("%s=%s\n", setting[i], getenv(setting[i])), CLI_OK;
    const trv_source_options_t options = {.slurm_dims = dims};
    trv_record_read(&record);
    const int code = trv_discover(&found, &record, 1, &options, source_print, &report);
    trv_found_clear(&found);
    if (code < 0)
        return cli_bad_last("topology");
    if (dims && *dims)
        printf("tori of Slurm: %s\n", dims);
    if (code == 1)
        printf("this node: SLURM_TOPOLOGY_ADDR=%s\n", record.slurm.address);
    if (code == 1 || (dims && *dims))
        puts(
            "For the torus of a job, start this command by its launcher, for example `mpirun -n 8 trivance topology`.");
    else if (report.lines == 0)
        puts("No torus is known: TRIVANCE_TORUS and TRIVANCE_TOPOLOGY_FILE are not set, and no SLURM_TOPOLOGY_ADDR has "
             "coordinates; Fujitsu MPI and PMIx report coordinates only to the ranks of a job.");
    return !report.wrong && (code == 1 || (dims && *dims)) ? CLI_OK : CLI_WRONG;
}

/* Reports the torus of the job, if a launcher has started this process. */
static int report_torus(char **argv, bool why)
{
    const char *task = getenv("SLURM_PROCID");
    const int launched = cli_launched_rank(), rank = launched >= 0 ? launched : task ? atoi(task) : 0;
    if (rank == 0)
        cli_slurm_set_dims("topology"); /* rank 0 interprets the coordinates of all ranks */
    if (cli_launcher())
        return cli_hand_over(cli_launcher(), argv);
    return rank == 0 ? report_local(why) : CLI_OK;
}

/* Reads the options. All ranks of a job have the same command line, so only rank 0 reports an error in it. */
static int read_options(int argc, char **argv, cli_topology_options_t *options)
{
    const bool silent = cli_launched_rank() > 0;
    if (silent)
        cli_silence(true);
    const int code = cli_read_options(&cli_topology_command, argc, argv, cli_topology_option, options);
    if (silent)
        cli_silence(false);
    return code;
}

int cli_topology(int argc, char **argv)
{
    cli_topology_options_t options = {.dump = false};
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    if (options.dump)
        return cli_run_under_mpi(argc, argv, &cli_topology_command, "mpirun -n 8 trivance topology --dump --torus=2x4");
    if (options.ports)
        return ports(argv);
    if (optind == argc)
        return report_torus(argv, options.why);
    if (options.why)
        return cli_bad("topology", "--why is valid only without a file; leave one of them out");
    for (code = CLI_OK; optind < argc && code == CLI_OK; optind++)
        code = check(argv[optind]);
    return code;
}
