/*
 * The command line of trivance sweep.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shared/lower_bound.h"
#include "cli/shared/plot.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "cli/sweep/sweep.h"
#include "base/error.h"

#define CONFIRM_POINTS 100000 /* a grid with more points needs --yes */

enum {
    OPTION_TORUS = CLI_NO_LETTER,
    OPTION_ROOT,
    OPTION_LIMIT,
    OPTION_PLOT,
    OPTION_RESTART,
    OPTION_YES,
    OPTION_DRY_RUN
};

static const cli_option_t option[] =
    {{NULL, 0, NULL, "Grid (every option takes a list separated by commas)", NULL},
     {"torus", OPTION_TORUS, "LIST", "tori, for example 8,8x8,4x4x4", NULL},
     {"algorithm", 'a', "LIST",
      "algorithms or families of `trivance list`, planned, or all (default: those that support the torus); a family "
      "means its fastest member, planned the fastest of all for the size and the network",
      "ALGORITHM all"},
     {"bytes", 'b', "LIST", "sizes of the vector (default 32:128M:x4)", NULL},
     {"collective", 'c', "LIST", CLI_COLLECTIVE_HELP, CLI_COLLECTIVE_WORDS},
     {"root", OPTION_ROOT, "LIST", "the roots of broadcasts, reduces, scatters and gathers (default 0)", NULL},
     {NULL, 0, NULL, "Execution and output", NULL},
     {"output", 'o', "FILE", "write rows to FILE.csv or FILE.jsonl instead of to stdout", "FILE"},
     {"limit", OPTION_LIMIT, NULL, "add columns with " CLI_LIMIT_COLUMNS_HELP, NULL},
     {"plot", OPTION_PLOT, "FILE", CLI_PLOT_HELP, "FILE"},
     {"restart", OPTION_RESTART, NULL, "empty the file first", NULL},
     {"format", 'f', "F", "format of stdout: table (default), json or csv", "table json csv"},
     {"workers", 'j', "N", "simulations at a time (default: one per core; under mpirun 1 per rank)", NULL},
     {"dry-run", OPTION_DRY_RUN, NULL, "simulate nothing; print how many points there are", NULL},
     {"yes", OPTION_YES, NULL, "confirm a grid of more than 100,000 points", NULL},
     CLI_OPTIONS_END};

const cli_command_t cli_sweep_command = {
    .name = "sweep",
    .summary = "a grid of simulations, on all cores or under mpirun, resumable",
    .usage = "[FILE.json] [OPTIONS]\n"
             "mpirun -n N trivance sweep [FILE.json] [OPTIONS]",
    .about = "Simulates every combination of tori, algorithms, sizes and parameters of the network, on all cores or on "
             "all ranks of mpirun. Results are rows of a CSV or JSON lines file, appended when their points finish; "
             "the same command resumes a sweep that was interrupted.",
    .option = option,
    .more = cli_network_options,
    .repeated = "torus algorithm bytes collective MORE",
    .notes = "Entries of numbers may be ranges: 1K:64M is 1K, 2K, 4K … 64M; 1K:64M:x4 multiplies by 4, and "
             "1us:3us:+500ns adds 500 ns. FILE.json is an object with the names of these options as keys, and strings, "
             "numbers or lists of these as values; an option replaces its key, and an option that is given again "
             "extends its list. slow-rank, slow-link and cut may be none; each entry of them is a network of its own.",
    .examples = "trivance sweep --torus=8,8x8 --bytes=1K:64M:x4 --bandwidth=200Gb/s,800Gb/s -o out.csv\n"
                "trivance sweep grid.json --model=dateline -o out.jsonl\n"
                "trivance sweep --torus=8x8 --bytes=1K:64M -o plotted.csv --plot=plotted.svg\n"
                "mpirun -n 64 trivance sweep grid.json -o grid.csv\n",
};

static int read_option(void *context, int key)
{
    cli_sweep_t *sweep = context;
    cli_sweep_grid_t *grid = &sweep->grid;
    switch (key) {
    case OPTION_TORUS: return cli_sweep_append(&grid->list[CLI_AXIS_TORUS], optarg);
    case 'a': return cli_sweep_append(&grid->list[CLI_AXIS_ALGORITHM], optarg);
    case 'b': return cli_sweep_append(&grid->list[CLI_AXIS_BYTES], optarg);
    case 'c': return cli_sweep_append(&grid->list[CLI_AXIS_COLLECTIVE], optarg);
    case OPTION_ROOT: return cli_sweep_append(&grid->list[CLI_AXIS_ROOT], optarg);
    case 'o': sweep->path = cli_output_is_stdout(optarg) ? NULL : optarg; return TRV_OK;
    case 'f': sweep->with_format = true; return cli_parse_format(optarg, &sweep->format);
    case 'j': return trv_parse_int(optarg, "--workers", 1, 1024, &sweep->workers);
    case OPTION_LIMIT: sweep->limit = true; return TRV_OK;
    case OPTION_PLOT: sweep->plot = optarg; return TRV_OK;
    case OPTION_RESTART: sweep->restart = true; return TRV_OK;
    case OPTION_DRY_RUN: sweep->dry = true; return TRV_OK;
    case OPTION_YES: sweep->yes = true; return TRV_OK;
    default: return cli_sweep_append(&grid->list[CLI_AXIS_NETWORK + key - CLI_NETWORK_OPTION], optarg ? optarg : "yes");
    }
}

static int read_description(cli_sweep_grid_t *grid, const char *path)
{
    trv_torus_t torus;
    trv_json_t json = {.root = NULL};
    int rc = access(path, F_OK) && trv_torus_parse(path, &torus) == TRV_OK
                 ? trv_fail(TRV_ERR_ARGUMENT, "there is no file '%.60s'; a torus is given as --torus=%.60s", path, path)
                 : trv_json_read(&json, path);
    if (!rc)
        rc = cli_sweep_grid_load(grid, &json);
    trv_json_close(&json);
    return rc;
}

/* Formats a number like "1,000,000". */
static char *format_count(uint64_t count, char text[32])
{
    char plain[32];
    int length = snprintf(plain, sizeof plain, "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = plain[i];
    }
    text[used] = '\0';
    return text;
}

/* Checks that some point has compatible parameters. If so, the sweep runs, and the rows of the others report why theirs
 * are not compatible. */
static int check_points(const cli_sweep_grid_t *grid)
{
    cli_network_t network;
    cli_point_t point;
    int rc = TRV_OK;
    for (uint64_t i = 0; i < grid->points && i < CONFIRM_POINTS; i++)
        if ((rc = cli_sweep_point(grid, i, &network, &point)) == TRV_OK)
            return TRV_OK;
    return rc;
}

static int check(cli_sweep_t *sweep)
{
    char count[32], axes[512];
    int rc = cli_sweep_grid_finish(&sweep->grid);
    if (!rc && sweep->path && sweep->with_format)
        rc = trv_fail(
            TRV_ERR_ARGUMENT,
            "--format is for stdout; the format of --output is that of the name, for example out.csv or out.jsonl");
    if (!rc && !sweep->path && sweep->restart)
        rc = trv_fail(TRV_ERR_ARGUMENT, "--restart requires --output, whose file it empties, for example -o out.csv");
    if (!rc && sweep->path)
        rc = cli_sweep_format_of(sweep->path, &sweep->format);
    if (!rc && sweep->path)
        rc = cli_output_check(sweep->path);
    if (!rc && cli_sweep_points(&sweep->grid) > CONFIRM_POINTS && !sweep->yes && !sweep->dry)
        rc = trv_fail(TRV_ERR_ARGUMENT, "the grid has %s points (%s); add --yes to simulate all of them",
                      format_count(cli_sweep_points(&sweep->grid), count),
                      cli_sweep_grid_format(&sweep->grid, axes, sizeof axes));
    return rc ? rc : check_points(&sweep->grid);
}

int cli_sweep_read(cli_sweep_t *sweep, int argc, char **argv)
{
    int code = cli_read_options(&cli_sweep_command, argc, argv, read_option, sweep), rc = TRV_OK;
    if (code >= 0)
        return code == CLI_OK ? 1 : code;
    if (argc - optind > 1)
        rc = trv_fail(TRV_ERR_ARGUMENT, "there are two files, '%.60s' and '%.60s'; give one", argv[optind],
                      argv[optind + 1]);
    if (!rc && optind < argc)
        rc = read_description(&sweep->grid, argv[optind]);
    if (!rc)
        rc = check(sweep);
    return rc ? cli_bad_last(sweep->command) : 0;
}
