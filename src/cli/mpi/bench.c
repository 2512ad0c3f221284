/*
 * Which rows, in which order. The table goes through all algorithms at one size, so that they stand below each other;
 * the layouts of OSU and nccl-tests go through all sizes of one algorithm.
 *
 * All ranks walk the same way. Wherever what to do next depends on a measurement, it is a figure that all ranks share.
 */
#include "cli/mpi/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shared/tool.h"
#include "base/error.h"
#include "mpi/communicator/job_fabric.h"
#include "settings/settings.h"

typedef struct bench {
    bench_options_t options;
    bench_data_t data;
    bench_buffers_t buffers;
    MPI_Comm comm;
    int rank, ranks;
    bench_output_t output;
    bool progress;
    crowd_t crowd;
    double spreads; /* sum over the rows */
    int rows;
    bool begun; /* the output */
    int done, all;
    uint64_t wrong;
} bench_t;

static void show_progress(bench_t *bench, const char *algorithm, uint64_t bytes)
{
    bench->done++;
    if (bench->progress)
        fprintf(stderr, "\r\033[K%3d %%  %s, %llu bytes", 100 * (bench->done - 1) / (bench->all > 0 ? bench->all : 1),
                algorithm, (unsigned long long)bytes);
}

static int measure(bench_t *bench, const trv_torus_t *torus, const char *algorithm, uint64_t bytes, bool in_place,
                   bench_row_t *row)
{
    return bench_measure(&bench->options, &bench->data, &bench->buffers, bench->comm, torus, algorithm, bytes, in_place,
                         row);
}

/* The fastest member's row (out of place for the nccl layout, whose second half is in place). */
static int measure_entry(bench_t *bench, const trv_torus_t *torus, const bench_entry_t *entry, uint64_t bytes,
                         bool in_place, bench_row_t *best)
{
    if (entry->kind != BENCH_ALGORITHM)
        return measure(bench, torus, entry->choice.label, bytes, in_place, best);
    int code = TRV_OK, candidates = 0;
    for (int i = 0; i < entry->choice.members && code == TRV_OK; i++) {
        if (bench_serves(&bench->options, &entry->choice, i, torus) < 0)
            continue;
        bench_row_t row;
        code = measure(bench, torus, cli_member_name(&entry->choice, i), bytes, in_place, &row);
        if (code == TRV_OK && (candidates++ == 0 || row.wrong > best->wrong ||
                               (row.wrong == best->wrong && row.average_us < best->average_us)))
            *best = row; /* a wrong result is never hidden behind a faster one */
    }
    return code == TRV_OK && candidates == 0 ? TRV_ERR_UNSUPPORTED : code;
}

/* Only where there is something: an error stands alone. */
static void begin_output(bench_t *bench)
{
    if (bench->rank == 0 && !bench->begun)
        bench_output_begin(&bench->output, &bench->options, &bench->crowd, bench->ranks);
    bench->begun = true;
}

/* The entry over one of the transports. `first`: of the algorithm's rows. */
static int run_row(bench_t *bench, const trv_torus_t *torus, const bench_entry_t *entry, int transport, uint64_t bytes,
                   bool first)
{
    const char *const over = bench_transport(&bench->options, entry, transport);
    bench_row_t row, second;
    bool pair = bench->options.format == BENCH_NCCL;
    show_progress(bench, entry->choice.label, bytes);
    trv_mpi_job_fabric_pause(bench->options.transport[transport] != TRV_TRANSPORT_OFI);
    int code = measure_entry(bench, torus, entry, bytes, !pair && bench->options.in_place, &row);
    if (code == TRV_OK && pair)
        code = measure(bench, torus, entry->kind == BENCH_CHOSEN ? entry->choice.label : row.algorithm, bytes, true,
                       &second);
    if (code == TRV_OK) {
        row.transport = over;
        row.chosen_for = entry->choice.label;
        bench->spreads += row.spread;
        bench->rows++;
        row.chosen = entry->kind == BENCH_CHOSEN;
        bench->wrong += row.wrong + (row.checked && !row.identical) + (pair ? second.wrong + !second.identical : 0);
        if (bench->progress)
            fprintf(stderr, "\r\033[K");
        begin_output(bench);
        if (bench->rank == 0 && first)
            bench_output_section(&bench->output, torus, entry->choice.label,
                                 bench->options.transports > 1 ? over : NULL);
        if (bench->rank == 0)
            bench_output_row(&bench->output, &row, pair ? &second : NULL);
    }
    return code == TRV_ERR_UNSUPPORTED ? TRV_OK : code; /* a torus that this algorithm does not take */
}

static bool takes(const bench_t *bench, const bench_entry_t *entry, const trv_torus_t *torus)
{
    bool any = entry->kind != BENCH_ALGORITHM;
    for (int i = 0; i < entry->choice.members && !any; i++)
        any = bench_serves(&bench->options, &entry->choice, i, torus) == TRV_OK;
    return any;
}

static int run_torus(bench_t *bench, const trv_torus_t *torus)
{
    const bench_options_t *options = &bench->options;
    bool by_algorithm = options->format == BENCH_OSU || options->format == BENCH_NCCL;
    const int lines = options->entries * options->transports;
    int outer = by_algorithm ? lines : options->sizes, inner = by_algorithm ? options->sizes : lines;
    int code = TRV_OK;
    for (int a = 0; a < outer; a++)
        for (int b = 0; b < inner && code == TRV_OK; b++) {
            const int line = by_algorithm ? a : b, transport = line % options->transports;
            const bench_entry_t *entry = &options->entry[line / options->transports];
            if (transport > 0 && entry->kind == BENCH_LIBRARY)
                continue;
            if (!takes(bench, entry, torus)) {
                bench->done++;
                if (entry->required && bench->rank == 0 && transport == 0 && (by_algorithm ? b : a) == 0)
                    fprintf(stderr, "trivance bench: left out: %s\n", trv_last_error());
                continue;
            }
            code = run_row(bench, torus, entry, transport, options->bytes[by_algorithm ? b : a],
                           by_algorithm && b == 0);
        }
    return code;
}

/* Both buffers hold the largest vector. Ranks without enough memory must not leave the others waiting. */
static int get_buffers(bench_t *bench)
{
    uint64_t most = 0;
    for (int i = 0; i < bench->options.sizes; i++)
        most = bench->options.bytes[i] > most ? bench->options.bytes[i] : most;
    bench->buffers.send = aligned_alloc(64, (most + 63) / 64 * 64);
    bench->buffers.receive = aligned_alloc(64, (most + 63) / 64 * 64);
    int mine = bench->buffers.send && bench->buffers.receive &&
               bench_data_init(&bench->data, &bench->options, bench->rank, bench->ranks) == TRV_OK;
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, bench->comm);
    return all ? TRV_OK
               : trv_fail(TRV_ERR_MEMORY,
                          "there is no memory for two vectors of %llu bytes on every rank; take a "
                          "smaller --bytes",
                          (unsigned long long)most);
}

static int run_all(bench_t *bench)
{
    int code = get_buffers(bench);
    if (code == TRV_OK)
        code = crowd_find(bench->comm, &bench->crowd);
    if (code < 0)
        return code;
    bench->all = bench->options.tori * bench->options.sizes * bench->options.entries * bench->options.transports;
    bench->progress = bench->rank == 0 && cli_stderr_is_terminal() &&
                      (!cli_stdout_is_terminal() || bench->options.format == BENCH_MATRIX);
    for (int t = 0; t < bench->options.tori && code == TRV_OK; t++)
        code = run_torus(bench, &bench->options.torus[t]);
    if (bench->progress)
        fprintf(stderr, "\r\033[K");
    if (code == TRV_OK)
        begin_output(bench);
    if (bench->rank == 0 && bench->begun && bench_output_end(&bench->output) < 0 && code == TRV_OK)
        code = TRV_ERR_MEMORY;
    if (bench->rows > 0)
        crowd_add_spread(&bench->crowd, bench->spreads / bench->rows);
    if (bench->rank == 0 && code == TRV_OK && bench->options.format != BENCH_MATRIX)
        crowd_warn("bench", &bench->crowd);
    return code;
}

int bench_main(int argc, char **argv)
{
    bench_t bench = {.comm = MPI_COMM_NULL};
    PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &bench.comm);
    PMPI_Comm_rank(bench.comm, &bench.rank);
    PMPI_Comm_size(bench.comm, &bench.ranks);
    int result = bench_options(argc, argv, bench.comm, &bench.options);
    if (result == 0) {
        int code = run_all(&bench);
        if (code < 0 && bench.rank == 0)
            cli_bad_last("bench");
        result = code < 0 ? CLI_BAD : bench.wrong ? CLI_WRONG : CLI_OK;
    } else if (result < 0) {
        result = CLI_OK; /* --help */
    }
    bench_data_clear(&bench.data);
    bench_options_clear(&bench.options);
    free(bench.buffers.send);
    free(bench.buffers.receive);
    PMPI_Comm_free(&bench.comm);
    return result;
}
