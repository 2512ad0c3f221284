/*
 * The order of the rows. The table lists all algorithms at one size before the next size, so that they can be compared;
 * the layouts of OSU and nccl-tests list all sizes of one algorithm before the next algorithm.
 *
 * All ranks execute the same sequence of measurements. A decision that depends on a measurement uses a figure that is
 * the same on all ranks.
 */
#include "cli/mpi/bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/shared/progress.h"
#include "cli/shared/tool.h"
#include "base/error.h"
#include "cli/mpi/samples.h"
#include "cli/mpi/polled.h"

typedef struct bench {
    bench_options_t options;
    bench_team_t team;
    bench_output_t output;
    cli_progress_t progress; /* on rank 0 */
    machine_load_t machine_load;
    double spreads; /* sum over the rows */
    int rows;
    bool begun; /* the output */
    uint64_t wrong;
} bench_t;

static void show_progress(bench_t *bench, const char *label, uint64_t bytes)
{
    char what[CLI_PROGRESS_NAME_MAX];
    snprintf(what, sizeof what, "%.60s, %llu bytes", label, (unsigned long long)bytes);
    cli_progress_name(&bench->progress, what);
}

/* Measures all members of an entry; stores the fastest one's row, and the member in the task. In the nccl layout the
 * member is selected by the out-of-place run, and the in-place run follows. */
static int measure_entry(bench_t *bench, bench_task_t *task, bench_row_t *best)
{
    const bench_entry_t *entry = task->entry;
    int code = TRV_OK, candidates = 0, best_member = -1;
    if (entry->kind != BENCH_ALGORITHM)
        return bench_measure(&bench->team, task, best);
    for (int i = 0; i < entry->choice.members && code == TRV_OK; i++) {
        if (bench_supports(&bench->options, entry, i, task->torus) < 0)
            continue;
        bench_row_t row;
        task->member = i;
        code = bench_measure(&bench->team, task, &row);
        if (code == TRV_OK && (candidates++ == 0 || row.wrong > best->wrong ||
                               (row.wrong == best->wrong && row.average_us < best->average_us))) {
            *best = row; /* a wrong result is never hidden behind a faster one */
            best_member = i;
        }
    }
    task->member = best_member;
    return code == TRV_OK && candidates == 0 ? TRV_ERR_UNSUPPORTED : code;
}

/* Prints the head of the output before the first row, so that an error before it is printed without a head. */
static void begin_output(bench_t *bench)
{
    if (bench->team.rank == 0 && !bench->begun)
        bench_output_begin(&bench->output, &bench->options, &bench->machine_load, bench->team.ranks);
    bench->begun = true;
}

/* Prints a row. `second`: the row of the in-place run, or NULL. */
static void row_add(bench_t *bench, const bench_row_t *row, const bench_row_t *second, bool first)
{
    bench->spreads += row->spread;
    bench->rows++;
    bench->wrong += row->wrong + (row->checked && !row->identical) + (second ? second->wrong + !second->identical : 0);
    cli_progress_pause(&bench->progress);
    begin_output(bench);
    if (bench->team.rank != 0)
        return;
    if (first)
        bench_output_section(&bench->output, row->torus, row->entry,
                             bench->options.transports > 1 ? row->transport : NULL);
    bench_output_row(&bench->output, row, second);
}

/* Measures and prints an entry over one of the transports. `first`: whether this is the first row of the algorithm. */
static int row_run(bench_t *bench, bench_task_t task, bool first)
{
    bench_row_t row, second;
    const bool pair = bench->options.format == BENCH_NCCL;
    show_progress(bench, task.entry->label, task.bytes);
    task.in_place = !pair && bench->options.in_place;
    int code = measure_entry(bench, &task, &row);
    task.in_place = true;
    if (code == TRV_OK && pair)
        code = bench_measure(&bench->team, &task, &second);
    if (code == TRV_OK)
        row_add(bench, &row, pair ? &second : NULL, first);
    cli_progress_step(&bench->progress, 1);
    return code == TRV_ERR_UNSUPPORTED ? TRV_OK : code; /* the algorithm does not support the torus */
}

static bool entry_supports(const bench_t *bench, const bench_entry_t *entry, const trv_torus_t *torus)
{
    bool any = entry->kind != BENCH_ALGORITHM;
    for (int i = 0; i < entry->choice.members && !any; i++)
        any = bench_supports(&bench->options, entry, i, torus) == TRV_OK;
    return any;
}

static int torus_run(bench_t *bench, const trv_torus_t *torus)
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
            if (!entry_supports(bench, entry, torus)) {
                cli_progress_step(&bench->progress, 1);
                if (entry->required && bench->team.rank == 0 && transport == 0 && (by_algorithm ? b : a) == 0)
                    fprintf(stderr, "trivance bench: skipped: %s\n", trv_last_error());
                continue;
            }
            const bench_task_t task = {torus, entry, 0, transport, options->bytes[by_algorithm ? b : a], false};
            code = row_run(bench, task, by_algorithm && b == 0);
        }
    return code;
}

/* ---- In turns ---------------------------------------------------------------------------------------------------- */

/* The time of the fastest row of the MPI library with the type and operation of `row`; 0: there is none. */
static double library_time(const bench_row_t *all, int rows, const bench_row_t *row)
{
    double best_us = 0;
    for (int i = 0; i < rows; i++)
        if (all[i].entry->kind == BENCH_LIBRARY && all[i].entry->data.type == row->entry->data.type &&
            all[i].entry->data.op == row->entry->data.op && (best_us == 0 || all[i].average_us < best_us))
            best_us = all[i].average_us;
    return best_us;
}

static void rows_add(bench_t *bench, bench_row_t *row, int rows)
{
    for (int i = 0; i < rows; i++) {
        row[i].library_us = library_time(row, rows, &row[i]);
        row_add(bench, &row[i], NULL, false);
    }
}

_Static_assert(BENCH_ENTRIES_MAX *BENCH_TRANSPORTS_MAX <= SAMPLES_KINDS_MAX, "every line is a kind of sample");
_Static_assert(BENCH_EXCHANGES_MAX <= SAMPLES_KINDS_MAX, "every exchange is a kind of sample");

/* Lists the measurements of one size, for all entries that support the torus. */
static int tasks_list(const bench_t *bench, const trv_torus_t *torus, uint64_t bytes, bench_task_t *task)
{
    const bench_options_t *options = &bench->options;
    int tasks = 0;
    for (int line = 0; line < options->entries * options->transports; line++) {
        const bench_entry_t *entry = &options->entry[line / options->transports];
        const int transport = line % options->transports;
        if (entry->kind != BENCH_EXCHANGE && (transport == 0 || entry->kind != BENCH_LIBRARY) &&
            entry_supports(bench, entry, torus))
            task[tasks++] = (bench_task_t){torus, entry, 0, transport, bytes, options->in_place};
    }
    return tasks;
}

static int torus_run_turns(bench_t *bench, const trv_torus_t *torus)
{
    static bench_row_t row[SAMPLES_KINDS_MAX];
    bench_task_t task[SAMPLES_KINDS_MAX];
    int code = TRV_OK, rows = 0;
    for (int e = 0; e < bench->options.entries && code == TRV_OK; e++)
        if (bench->options.entry[e].kind == BENCH_EXCHANGE) {
            task[0] = (bench_task_t){.torus = torus, .entry = &bench->options.entry[e]};
            code = bench_measure_exchange(&bench->team, task, row, &rows);
            rows_add(bench, row, code == TRV_OK ? rows : 0);
        }
    for (int s = 0; s < bench->options.sizes && code == TRV_OK; s++) {
        show_progress(bench, "in turns", bench->options.bytes[s]);
        rows = tasks_list(bench, torus, bench->options.bytes[s], task);
        code = rows > 0 ? bench_measure_turns(&bench->team, task, rows, row) : TRV_OK;
        rows_add(bench, row, code == TRV_OK ? rows : 0);
        cli_progress_step(&bench->progress, 1);
    }
    return code;
}

/* ---- The whole program ------------------------------------------------------------------------------------------- */

/* Allocates two buffers that hold the largest vector. All ranks agree on the result, so that a rank without enough
 * memory does not leave the others waiting. */
static int buffers_allocate(bench_t *bench)
{
    bench_team_t *team = &bench->team;
    uint64_t bytes_max = 0;
    for (int i = 0; i < bench->options.sizes; i++)
        bytes_max = bench->options.bytes[i] > bytes_max ? bench->options.bytes[i] : bytes_max;
    team->send = aligned_alloc(64, (bytes_max + 63) / 64 * 64);
    team->receive = aligned_alloc(64, (bytes_max + 63) / 64 * 64);
    bool mine = team->send && team->receive;
    for (int i = 0; i < bench->options.entries; i++)
        mine = mine && bench_data_init(&bench->options.entry[i].data, team->rank, team->ranks) == TRV_OK;
    return polled_all_true(team->comm, mine)
               ? TRV_OK
               : trv_fail(TRV_ERR_MEMORY,
                          "there is no memory for two vectors of %llu bytes on every rank; use a smaller --bytes",
                          (unsigned long long)bytes_max);
}

static int bench_run(bench_t *bench)
{
    int code = buffers_allocate(bench);
    if (code == TRV_OK)
        code = machine_load_measure(bench->team.comm, &bench->machine_load);
    if (code < 0)
        return code;
    const int lines = bench->options.turns ? 1 : bench->options.entries * bench->options.transports;
    if (bench->team.rank == 0)
        cli_progress_begin(&bench->progress, "", bench->options.tori * bench->options.sizes * lines);
    for (int t = 0; t < bench->options.tori && code == TRV_OK; t++)
        code = (bench->options.turns ? torus_run_turns : torus_run)(bench, &bench->options.torus[t]);
    cli_progress_end(&bench->progress);
    if (code == TRV_OK)
        begin_output(bench);
    if (bench->team.rank == 0 && bench->begun && bench_output_end(&bench->output) < 0 && code == TRV_OK)
        code = TRV_ERR_MEMORY;
    if (bench->rows > 0)
        machine_load_add_spread(&bench->machine_load, bench->spreads / bench->rows);
    if (bench->team.rank == 0 && code == TRV_OK)
        machine_load_warn("bench", &bench->machine_load);
    return code;
}

int bench_main(int argc, char **argv)
{
    static bench_t bench;
    bench_team_t *team = &bench.team;
    team->options = &bench.options;
    PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &team->comm);
    PMPI_Comm_rank(team->comm, &team->rank);
    PMPI_Comm_size(team->comm, &team->ranks);
    int result = bench_options(argc, argv, team->comm, &bench.options);
    if (result == 0) {
        int code = bench_run(&bench);
        if (code < 0 && team->rank == 0)
            cli_bad_last("bench");
        result = code < 0 ? CLI_BAD : bench.wrong ? CLI_WRONG : CLI_OK;
    } else if (result < 0) {
        result = CLI_OK; /* --help */
    }
    bench_options_clear(&bench.options);
    call_library_end();
    free(team->send);
    free(team->receive);
    PMPI_Comm_free(&team->comm);
    return result;
}
