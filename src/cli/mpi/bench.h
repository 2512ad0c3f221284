/*
 * trivance-mpi bench: collectives on real MPI ranks, every result checked.
 *
 *     bench_options.c  the command line
 *     bench_entries.c  the list of algorithms of the command line
 *     bench_schedule.c a schedule from the user's file
 *     bench_data.c     inputs with exactly known results, and the check of results
 *     bench_measure.c  a row: the call, its check, its times on all ranks; exchanges with neighbours
 *     bench_output.c   rows as table, csv, json, or in the layout of the OSU benchmarks or nccl-tests
 *     bench.c          the order of the rows
 */
#ifndef TRIVANCE_CLI_MPI_BENCH_H
#define TRIVANCE_CLI_MPI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/reduce.h>
#include <trivance/schedule.h>

#include "cli/mpi/call.h"
#include "cli/mpi/machine_load.h"
#include "cli/shared/select.h"
#include "cli/shared/table.h"
#include "schedule/collective.h"

#define BENCH_TORI_MAX       16
#define BENCH_SIZES_MAX      256
#define BENCH_ENTRIES_MAX    (CLI_CHOICES_MAX + 10)
#define BENCH_TRANSPORTS_MAX 2

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/* A vector's content repeats with this period, in elements: a prime, so that a misplaced block is detected. */
#define BENCH_PERIOD 1009
/* The root of collectives that have one. */
#define BENCH_ROOT 0

typedef struct bench_data {
    trv_collective_t collective;
    trv_type_t type;
    trv_op_t op;
    int rank, ranks;
    char *input;    /* BENCH_PERIOD elements: this rank's contribution */
    char *expected; /* BENCH_PERIOD elements: the reduction of all contributions */
} bench_data_t;

/* Fills in `input` and `expected`; the caller has set the collective, type and operation. */
int bench_data_init(bench_data_t *data, int rank, int ranks);
void bench_data_clear(bench_data_t *data);
/* The number of blocks of `count` elements in the input (before) or the result (after) of this rank. `count` is that of
 * the call: of the vector, or of one block for collectives with blocks. */
uint64_t bench_data_blocks(const bench_data_t *data, trv_holders_t holders);
/* Fills the input of this rank. */
void bench_data_fill(const bench_data_t *data, char *buffer, uint64_t count);
/* Returns the number of wrong elements in the result of this rank. */
uint64_t bench_data_wrong(const bench_data_t *data, const char *result, uint64_t count);
/* Whether all ranks have the same result, so that their hashes must be equal. */
bool bench_data_identical(trv_collective_t collective);
/* Returns a hash that is equal for bitwise equal results (padding inside long doubles is ignored). */
uint64_t bench_data_hash(const bench_data_t *data, const char *result, uint64_t count);

/* ---- Options ----------------------------------------------------------------------------------------------------- */

typedef enum bench_format { BENCH_TABLE, BENCH_CSV, BENCH_JSON, BENCH_OSU, BENCH_NCCL } bench_format_t;

/* One entry of --algorithm: an algorithm, a family (the fastest of its members is shown), the MPI library's own
 * collective ("mpi", "mpi:ring"), a selection by Trivance as with TRV_Comm_set ("auto", "planned"), the schedule of
 * a file, or exchanges with the neighbours. */
typedef enum bench_kind { BENCH_ALGORITHM, BENCH_LIBRARY, BENCH_CHOSEN, BENCH_SCHEDULE, BENCH_EXCHANGE } bench_kind_t;

typedef struct bench_entry {
    bench_kind_t kind;
    bool required; /* named by the user: it must support one of the tori */
    int setting;   /* BENCH_LIBRARY: the number of its algorithm (call.h) … */
    MPI_Comm comm; /* … and the communicator for it; not MPI_COMM_NULL for entries that run */
    cli_choice_t choice;
    char label[TRV_ALGORITHM_NAME_MAX + 32]; /* as typed: "auto=int32"; for a family's member its name */
    bench_data_t data;                       /* including its type and operation */
} bench_entry_t;

typedef struct bench_options {
    trv_collective_t collective;
    int tori, sizes, entries, transports;
    int transport[BENCH_TRANSPORTS_MAX]; /* trv_transport_library_t */
    trv_torus_t torus[BENCH_TORI_MAX];
    trv_network_t network; /* of the environment, with its links, if its torus is the only one; otherwise no ranks */
    bench_entry_t entry[BENCH_ENTRIES_MAX];
    uint64_t bytes[BENCH_SIZES_MAX]; /* of the whole vector */
    trv_type_t type;                 /* of entries without a type of their own */
    trv_op_t op;
    int iterations, warmup; /* -1: depends on the time of a run */
    bool in_place, check, turns;
    bench_format_t format;
    trv_schedule_t *schedule; /* of --schedule, verified; NULL: none. bench_options_clear destroys it */
} bench_options_t;

/* Reads the command line. Returns CLI_OK; -1 when there is nothing to run (--help was printed); otherwise the exit
 * code. The result is the same on all ranks; only rank 0 prints. */
int bench_options(int argc, char **argv, MPI_Comm comm, bench_options_t *options);

void bench_options_clear(bench_options_t *options);

/* bench_entries.c: reads --algorithm. `comm` is for the MPI library's algorithms. */
int bench_read_entries(bench_options_t *options, const char *list, MPI_Comm comm);
/* Appends an entry, unless there is one with the same label. */
int bench_add_entry(bench_options_t *options, const bench_entry_t *entry);
/* Returns 0 if MPI has the type and the operation is defined on it, otherwise an error code. */
int bench_check_elements(const bench_options_t *options, trv_type_t type, trv_op_t op);
/* Returns 0 if a member of the entry, with the parameters that were typed, supports the collective and the operation
 * on the torus; otherwise an error code, with the reason as the error message. */
int bench_supports(const bench_options_t *options, const bench_entry_t *entry, int member, const trv_torus_t *torus);

/* The transport of an entry's i-th row: "mpi" or "ofi"; NULL for the MPI library's own collective. */
const char *bench_transport(const bench_options_t *options, const bench_entry_t *entry, int i);

/* bench_schedule.c: reads a schedule file on rank 0, broadcasts it and verifies it on all ranks. Returns 0,
 * CLI_WRONG or a negative code, the same on all ranks. */
int bench_schedule_load(const char *path, MPI_Comm comm, trv_schedule_t **schedule);

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Common to all measurements. */
typedef struct bench_team {
    const bench_options_t *options;
    MPI_Comm comm;
    int rank, ranks;
    char *send, *receive; /* of the largest vector */
} bench_team_t;

typedef struct bench_row {
    const trv_torus_t *torus;
    const bench_entry_t *entry;
    char algorithm[TRV_ALGORITHM_NAME_MAX];
    const char *transport; /* "mpi", "ofi"; NULL: unknown, for the MPI library's collective */
    uint64_t bytes, count; /* of the whole vector, in bytes and elements */
    bool in_place;
    int steps, iterations;
    uint64_t bytes_sent; /* maximum over the ranks */
    /* Average, minimum and maximum over the ranks of each rank's average; in turns the median and the bounds over the
     * runs, each until the last rank has finished, the time for which a run occupies each core, and the time of the
     * fastest row of the MPI library with the same elements (0: there is none). */
    double average_us, min_us, max_us, core_us, library_us;
    double spread;  /* ratio of the average to the shortest run */
    uint64_t wrong; /* wrong elements on all ranks */
    bool checked, identical;
} bench_row_t;

/* One measurement: a member of an entry (-1: the entry has no members), over the transport with this index. */
typedef struct bench_task {
    const trv_torus_t *torus;
    const bench_entry_t *entry;
    int member, transport;
    uint64_t bytes;
    bool in_place;
} bench_task_t;

/* Measures the task and fills in the row, which is the same on all ranks. Returns 0 or a negative code. */
int bench_measure(const bench_team_t *team, const bench_task_t *task, bench_row_t *row);
/* Measures several tasks in turns, with starts at times of the clock of the machine that all ranks share. */
int bench_measure_turns(const bench_team_t *team, const bench_task_t *task, int tasks, bench_row_t *row);

/* Measures exchanges of 8 bytes with all neighbours in the first dimensions, in turns. For each number of neighbours
 * there are two rows: for one step, and for several steps in sequence. */
#define BENCH_EXCHANGES_MAX (2 * TRV_DIMS_MAX)
int bench_measure_exchange(const bench_team_t *team, const bench_task_t *task, bench_row_t *row, int *rows);

/* Bandwidths in GB/s as nccl-tests defines them. */
double bench_algorithm_bandwidth(const bench_row_t *row);
double bench_bus_bandwidth(const bench_row_t *row);

/* ---- Output (rank 0) --------------------------------------------------------------------------------------------- */

typedef struct bench_output {
    const bench_options_t *options;
    const machine_load_t *machine_load;
    cli_table_t table;
    uint64_t wrong;
    double bandwidth; /* sum of the bus bandwidths */
    int rows;
} bench_output_t;

void bench_output_begin(bench_output_t *output, const bench_options_t *options, const machine_load_t *machine_load,
                        int ranks);
/* Called before the rows of an algorithm on a torus, for layouts with one section per algorithm. `transport`: NULL:
 * not printed. */
void bench_output_section(bench_output_t *output, const trv_torus_t *torus, const bench_entry_t *entry,
                          const char *transport);
/* Prints a row. `second`: the row of the in-place run (nccl layout only), otherwise NULL. */
void bench_output_row(bench_output_t *output, const bench_row_t *row, const bench_row_t *second);
int bench_output_end(bench_output_t *output);

/* Runs the whole program and returns the exit code. */
int bench_main(int argc, char **argv);

#endif
