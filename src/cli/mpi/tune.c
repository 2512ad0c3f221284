/*
 * The command line and the sequence of measurements. Rank 0 reads the options and broadcasts them; only rank 0 prints
 * and writes files.
 */
#include "cli/mpi/tune.h"
#include "cli/mpi/polled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/communicator/attribute.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "cli/shared/tune_command.h"
#include "base/text/parse.h"
#include "cli/shared/select.h"
#include "base/ascending.h"
#include "base/error.h"
#include "mpi/communicator/state.h"

#define BYTES_MAX (UINT64_C(1) << 30)

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static int read_bytes(const char *list, tune_options_t *options)
{
    int sizes = 0, code = trv_parse_bytes_list(list, options->bytes, TUNE_SIZES_MAX, &sizes);
    if (code < 0)
        return code;
    qsort(options->bytes, (size_t)sizes, sizeof options->bytes[0], trv_compare_uint64);
    if (options->bytes[sizes - 1] > BYTES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "a size is larger than 1 GiB; use smaller ones, for example 8,4K,1M");
    options->sizes = 0;
    for (int i = 0; i < sizes; i++)
        if (i == 0 || options->bytes[i] != options->bytes[i - 1])
            options->bytes[options->sizes++] = options->bytes[i];
    return TRV_OK;
}

static int read_time(const char *text, double *seconds)
{
    double time_ns;
    if (trv_parse_time_ns(text, &time_ns) < 0 || time_ns < 1e8 || time_ns > 86400e9)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.40s' is not a time from 100ms to 86400s: expected a number with the unit ms or s, for "
                        "example --time=5s",
                        text);
    *seconds = time_ns / 1e9;
    return TRV_OK;
}

static int option_apply(void *context, int key)
{
    tune_t *tune = context;
    tune_options_t *options = &tune->options;
    switch (key) {
    case TUNE_TORUS: options->has_torus = true; return cli_read_torus_of(optarg, tune->ranks, &options->torus);
    case TUNE_TIME: return read_time(optarg, &options->seconds);
    case 'c': return cli_parse_collectives(optarg, options->collective, &options->collectives);
    case 'b': return read_bytes(optarg, options);
    case 'f': return cli_parse_format(optarg, &options->format);
    default: options->output = optarg; return TRV_OK;
    }
}

/* On rank 0: returns CLI_OK, CLI_BAD, or -1 if --help was printed. */
static int options_read(int argc, char **argv, tune_t *tune)
{
    tune_options_t *options = &tune->options;
    for (; options->collectives < TRV_COLLECTIVES; options->collectives++)
        options->collective[options->collectives] = (trv_collective_t)options->collectives;
    read_bytes("8:2M:x8", options);
    int code = cli_read_options(&cli_tune_command, argc, argv, option_apply, tune);
    if (options->seconds == 0)
        options->seconds = 5 * options->collectives;
    return code == CLI_OK ? -1 : code >= 0 ? code : CLI_OK;
}

/* Reads the options on rank 0 and broadcasts them; the result is the same on all ranks. */
static int options_broadcast(int argc, char **argv, tune_t *tune)
{
    int result = tune->rank == 0 ? options_read(argc, argv, tune) : CLI_OK;
    if (polled_broadcast(tune->comm, &result, sizeof result) < 0 ||
        polled_broadcast(tune->comm, &tune->options, sizeof tune->options) < 0)
        return cli_bad_last(argv[0]);
    tune->options.output = tune->rank == 0 ? tune->options.output : NULL; /* a pointer that is valid on rank 0 only */
    return result;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Lists the cells: each size as whole elements on every rank, and therefore the smallest sizes once. */
static void cells_plan(tune_t *tune)
{
    const tune_options_t *options = &tune->options;
    for (int i = 0; i < options->collectives * options->sizes; i++) {
        tune_cell_t *cell = &tune->cell[tune->cells_all];
        cell->collective = options->collective[i / options->sizes];
        const uint64_t unit = trv_collective_blocks(cell->collective, tune->ranks) * sizeof(float);
        const uint64_t bytes = options->bytes[i % options->sizes];
        cell->bytes = bytes > unit ? bytes - bytes % unit : unit;
        if (i % options->sizes == 0 || cell->bytes != cell[-1].bytes)
            tune->cells_all++;
    }
}

/* Allocates the buffers. All ranks agree on the result, so that a rank without enough memory does not leave the
 * others waiting. */
static int buffers_allocate(tune_t *tune)
{
    const tune_options_t *options = &tune->options;
    /* The larger of the largest vector and one element per rank; filled with zeros. */
    size_t bytes = options->bytes[options->sizes - 1] + (size_t)tune->ranks * sizeof(float);
    tune->send = calloc(1, bytes);
    tune->receive = calloc(1, bytes);
    tune->cell = calloc((size_t)options->collectives * (size_t)options->sizes, sizeof *tune->cell);
    if (polled_all_true(tune->comm, tune->send && tune->receive && tune->cell)) {
        cells_plan(tune);
        return TRV_OK;
    }
    return trv_fail(TRV_ERR_MEMORY,
                    "there is no memory for two vectors of %zu bytes on every rank; use a smaller --bytes", bytes);
}

/* Finds the torus that the collectives will use: that of the options, that of the environment, or a ring. */
static int torus_find(tune_t *tune)
{
    char text[TRV_TORUS_TEXT_MAX];
    trv_mpi_state_t *state = NULL;
    if (tune->options.has_torus)
        trv_torus_format(&tune->options.torus, text, sizeof text);
    if (TRV_Comm_set(tune->comm, tune->options.has_torus ? text : NULL, TRV_RULE_AUTO) != MPI_SUCCESS ||
        trv_mpi_state_find(tune->comm, &state) != MPI_SUCCESS || !state)
        return TRV_ERR_ARGUMENT; /* the error message is already set */
    tune->options.torus = state->config.network.torus;
    tune->member = state->config.member;
    return TRV_OK;
}

/* Measures the cells, which share the remaining time by rank 0's clock. Cells without time left are not measured and
 * fall back to the library. */
static int measure_cells(tune_t *tune)
{
    int code = TRV_OK;
    while (tune->cells < tune->cells_all && code == TRV_OK) {
        double seconds = (tune->options.seconds - (PMPI_Wtime() - tune->begun)) / (tune->cells_all - tune->cells);
        code = polled_broadcast(tune->comm, &seconds, sizeof seconds);
        if (seconds <= 0 && tune->cells > 0)
            break;
        if (code == TRV_OK)
            code = tune_measure(tune, seconds, &tune->cell[tune->cells++]);
    }
    return code;
}

/* Computes the spread: the median, over the cells, of the ratio of the library's quartiles. */
static void spread_measure(tune_t *tune)
{
    double *ratio = malloc((size_t)tune->cells * sizeof *ratio);
    for (int i = 0; ratio && i < tune->cells; i++)
        ratio[i] = tune->cell[i].times[0].high_us / fmax(tune->cell[i].times[0].low_us, 1e-3);
    if (ratio && tune->cells > 0)
        machine_load_add_spread(&tune->machine_load, trv_median(ratio, tune->cells));
    free(ratio);
}

static int measure_all(tune_t *tune)
{
    int code = torus_find(tune);
    if (code == TRV_OK)
        code = machine_load_measure(tune->comm, &tune->machine_load);
    if (code == TRV_OK)
        code = tune_network(tune);
    if (code == TRV_OK)
        code = measure_cells(tune);
    spread_measure(tune);
    return code;
}

/* On rank 0: prints warnings about the reliability of the results. */
static void warnings_print(const tune_t *tune)
{
    machine_load_warn("tune", &tune->machine_load);
    if (tune->cells < tune->cells_all)
        cli_warn("tune",
                 "the time was over after %d of %d sizes, and the others fall back to the MPI library; increase "
                 "--time or reduce --bytes",
                 tune->cells, tune->cells_all);
}

/* Runs all measurements. The rules file is opened before them, so that an unwritable path is reported at the start. */
static int tune_run(tune_t *tune)
{
    cli_output_t output = {.stream = NULL};
    const char *path = tune->options.output;
    int code = path ? cli_output_begin(&output, path) : TRV_OK;
    bool open = path && code == TRV_OK;
    if (polled_broadcast(tune->comm, &code, sizeof code) < 0 || code < 0)
        return TRV_ERR_ARGUMENT; /* rank 0 has the error message */
    code = buffers_allocate(tune);
    if (code == TRV_OK)
        code = measure_all(tune);
    if (code == TRV_OK && open)
        tune_write_rules(tune, output.stream);
    if (open)
        code = cli_output_end(&output, code);
    if (code == TRV_OK && tune->rank == 0) {
        code = tune_print(tune, stdout);
        warnings_print(tune);
    }
    return code;
}

int tune_main(int argc, char **argv)
{
    static tune_t tune = {.comm = MPI_COMM_NULL};
    PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &tune.comm);
    PMPI_Comm_rank(tune.comm, &tune.rank);
    PMPI_Comm_size(tune.comm, &tune.ranks);
    tune.begun = PMPI_Wtime();
    int result = options_broadcast(argc, argv, &tune);
    if (result == CLI_OK && tune_run(&tune) < 0)
        result = tune.rank == 0 ? cli_bad_last(argv[0]) : CLI_BAD;
    free(tune.send);
    free(tune.receive);
    free(tune.cell);
    PMPI_Comm_free(&tune.comm);
    return result < 0 ? CLI_OK : result;
}
