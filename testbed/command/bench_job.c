/*
 * The jobs of `trivance testbed bench`: the algorithms that trivance-mpi's bench compares, in turns, and the rows that
 * it writes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/algorithms.h>
#include <trivance/schedule.h>

#include "algorithms/algorithm.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "base/text/parse.h"
#include "testbed/command/bench.h"
#include "base/error.h"
#include "base/number.h"

#define PATH_BYTES         4608
#define MESSAGE_BYTES      90 /* an exchange's 8 bytes with all headers */
#define LIBRARY_ALGORITHMS 5  /* approximate number of algorithms of an MPI library */

/* ---- Series ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *type, *words; /* the type, and its suffix to a name for trivance bench */
} elements[] = {{"int", "=int32"}, {"double", "=double"}, {"max", "=int32:max"}};
enum { INT, DOUBLE, MAX, ELEMENTS };

static void add(cli_bench_job_t *job, const char *name, int type)
{
    const size_t used = strlen(job->algorithms);
    if (job->expected == CLI_BENCH_SERIES_MAX)
        return;
    job->expected++;
    snprintf(job->algorithms + used, sizeof job->algorithms - used, ",%s%s", name, elements[type].words);
}

/* The type for which an algorithm is correct: idempotent operations if it only covers; doubles if it is consistent, or
 * if the collective does not reduce. */
static int type_for(const cli_bench_job_t *job, const trv_algorithm_t *algorithm)
{
    const bool covers = trv_algorithm_exactness(algorithm) == TRV_COVERS;
    if (!trv_collective_shape(job->collective)->reduces)
        return DOUBLE;
    return covers ? MAX : trv_algorithm_consistent(algorithm) ? DOUBLE : INT;
}

/* Adds planned or auto, for each type. */
static void add_chosen(cli_bench_job_t *job, const char *name)
{
    if (trv_collective_shape(job->collective)->reduces)
        add(job, name, INT);
    add(job, name, DOUBLE);
}

/* Checks that the job's torus, if it is known already, supports the algorithm. */
static int check_torus(const cli_bench_job_t *job, const char *algorithm)
{
    trv_schedule_t *schedule;
    if (job->network.torus.ranks == 0)
        return TRV_OK;
    const trv_network_t network = cli_bench_network(job);
    int code = trv_schedule_create_on(&schedule, &network, algorithm, job->collective, 0);
    if (code == TRV_OK)
        trv_schedule_destroy(schedule);
    return code;
}

/* Adds the forms of Trivance for AllReduce; for other collectives all algorithms but the baselines. */
static void add_trivance(cli_bench_job_t *job)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        const char *name = trv_algorithm_name(algorithm);
        const bool own = strncmp(name, "trivance-", 9) == 0 ||
                         (job->collective != TRV_ALLREDUCE && !trv_algorithm_baseline(algorithm));
        if (own && trv_algorithm_has_collective(algorithm, job->collective) && check_torus(job, name) == TRV_OK)
            add(job, name, type_for(job, algorithm));
    }
    add_chosen(job, "planned");
    add_chosen(job, "auto");
}

static int add_named(cli_bench_job_t *job, const char *algorithms)
{
    char name[CLI_BENCH_NAME_MAX];
    const char *rest = algorithms;
    int more;
    while ((more = trv_next_item(&rest, "algorithms", name, sizeof name)) > 0) {
        bool chosen = strcmp(name, "auto") == 0 || strcmp(name, "planned") == 0;
        const trv_algorithm_t *algorithm = chosen ? NULL : trv_algorithm_find(name);
        if (!chosen && !algorithm)
            return TRV_ERR_ARGUMENT;
        int code = chosen ? TRV_OK : check_torus(job, name);
        if (code < 0)
            return code;
        if (chosen)
            add_chosen(job, name);
        else
            add(job, name, type_for(job, algorithm));
    }
    return more;
}

int cli_bench_select(cli_bench_job_t *job, const char *algorithms)
{
    strcpy(job->algorithms, "--algorithm=exchange,mpi:all");
    job->expected = LIBRARY_ALGORITHMS;
    job->series_count = 0;
    if (algorithms)
        return add_named(job, algorithms);
    add_trivance(job);
    return TRV_OK;
}

char *cli_bench_label(const cli_bench_job_t *job, char text[CLI_BENCH_LABEL_MAX])
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_torus_format(&job->network.torus, torus, sizeof torus);
    const bool named = job->collective != TRV_ALLREDUCE;
    snprintf(text, CLI_BENCH_LABEL_MAX, "%s-%s-%s%s%s", torus, job->mpi, job->rendezvous ? "rendezvous" : "eager",
             named ? "-" : "", named ? trv_collective_shape(job->collective)->name : "");
    return text;
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

/* Computes the cost of exchanges in addition to the network's time. alpha and the cost of a message follow from the
 * steps after the first, with two and with all neighbours; the additional time of the first step is that of the common
 * start. */
static void fit_steps(cli_bench_job_t *job, int steps, int messages, double time_ns)
{
    if (steps == 1) {
        job->first_step_ns = time_ns;
        return;
    }
    double alone_ns = job->network.latency_ns + MESSAGE_BYTES * 8e9 / job->network.bandwidth_bps;
    double cost_ns = fmax((time_ns - job->first_step_ns) / (steps - 1) - alone_ns, 0);
    if (messages == 2) {
        job->alpha_ns = cost_ns;
    } else {
        double two_ns = job->alpha_ns + 2 * job->message_ns;
        job->message_ns = fmin(fmax(cost_ns - two_ns, 0) / (messages - 2), two_ns / 2);
        job->alpha_ns = two_ns - 2 * job->message_ns;
    }
    job->start_ns = fmax(job->first_step_ns - alone_ns - job->alpha_ns - messages * job->message_ns, 0);
}

/* Finds the series of a row by its label, or adds it; NULL if there are too many. */
static cli_series_t *find_series(cli_bench_job_t *job, const char *label)
{
    cli_series_t *series = job->series;
    const char *words = strchr(label, '='), *name = label;
    if (strncmp(label, "mpi", 3) == 0)
        name = label[3] == ':' ? label + 4 : "default";
    for (; series < job->series + job->series_count; series++)
        if (strcmp(series->label, label) == 0)
            return series;
    if (job->series_count == CLI_BENCH_SERIES_MAX)
        return NULL;
    job->series_count++;
    *series = (cli_series_t){.own = !words, .type = elements[DOUBLE].type};
    snprintf(series->label, sizeof series->label, "%s", label);
    snprintf(series->name, sizeof series->name, "%.*s", (int)strcspn(name, "="), name);
    for (int i = 0; words && i < ELEMENTS; i++)
        if (strcmp(elements[i].words, words) == 0)
            series->type = elements[i].type;
    return series;
}

static const char *const key[] = {"bytes",         "algorithm",  "chosen_for", "steps", "bytes_sent",
                                  "run_median_us", "run_min_us", "run_max_us", "wrong", "core_us"};
enum { BYTES, ALGORITHM, CHOSEN_FOR, STEPS, SENT, MEDIAN, MIN_TIME, MAX_TIME, WRONG, CORE, KEYS };

static int split(char *line, char *cell[CLI_COLUMNS_MAX])
{
    int cells = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (line && cells < CLI_COLUMNS_MAX)
        cell[cells++] = strsep(&line, ",");
    return cells;
}

static void take_row(cli_bench_job_t *job, char *const cell[KEYS])
{
    const cli_bench_cell_t measured = {.measured = true,
                                       .predicted_ns = NAN,
                                       .median_ns = 1e3 * trv_strtod(cell[MEDIAN], NULL),
                                       .min_ns = 1e3 * trv_strtod(cell[MIN_TIME], NULL),
                                       .max_ns = 1e3 * trv_strtod(cell[MAX_TIME], NULL),
                                       .core_ns = 1e3 * trv_strtod(cell[CORE], NULL),
                                       .wrong = atoi(cell[WRONG])};
    if (strcmp(cell[ALGORITHM], "exchange") == 0) {
        const int steps = atoi(cell[STEPS]);
        fit_steps(job, steps, steps > 0 ? atoi(cell[SENT]) / 8 / steps : 0, measured.median_ns);
        return;
    }
    const cli_series_t *series = find_series(job, cell[CHOSEN_FOR]);
    for (int i = 0; series && i < job->sizes; i++)
        if (job->bytes[i] == strtoull(cell[BYTES], NULL, 10)) {
            cli_bench_cell_t *at = &job->cell[i][series - job->series];
            *at = measured;
            snprintf(at->served_by, sizeof at->served_by, "%s", series->own ? "" : cell[ALGORITHM]);
        }
}

/* Reads the rows. Messages of the launcher and the program may appear between them. */
static int read_rows(const char *command, cli_bench_job_t *job, const char *path)
{
    const char *name = trv_collective_shape(job->collective)->name;
    const size_t length = strlen(name);
    char line[2048], *cell[CLI_COLUMNS_MAX], *values[KEYS];
    int column[KEYS] = {0}, width = -1;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const bool head = strncmp(line, "collective,", 11) == 0;
        if (!head && (strncmp(line, name, length) != 0 || line[length] != ','))
            continue;
        const int cells = split(line, cell);
        for (int k = 0; k < KEYS && (head || cells == width); k++) {
            for (int c = 0; head && c < cells; c++)
                column[k] = strcmp(cell[c], key[k]) == 0 ? c : column[k];
            values[k] = cell[column[k]];
        }
        if (head)
            width = cells;
        else if (cells == width)
            take_row(job, values);
    }
    if (file)
        fclose(file);
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->series_count; r++)
            if (job->cell[s][r].measured && job->cell[s][r].wrong)
                return cli_bad(command, "%s has wrong results of %llu bytes: %d wrong elements", job->series[r].name,
                               (unsigned long long)job->bytes[s], job->cell[s][r].wrong);
    if (job->series_count > 0)
        return CLI_OK;
    return cli_bad(command, "the benchmark wrote no rows; its messages are in %.3000s", path);
}

/* ---- The job ----------------------------------------------------------------------------------------------------- */

static char *write_sizes(const cli_bench_job_t *job, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < job->sizes && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu",
                                 i ? "," : "--bytes=", (unsigned long long)job->bytes[i]);
    return text;
}

int cli_bench_run(const char *command, cli_bench_job_t *job, const char *folder, cli_bench_progress_t *progress)
{
    char program[PATH_BYTES], label[CLI_BENCH_LABEL_MAX], rows[PATH_BYTES], sizes[512], rounds[32], collective[48];
    char *word[] = {program,    "bench", "--turns", "--format=csv", "--type=double",
                    collective, sizes,   rounds,    job->algorithms};
    if (!cli_find_program(job->mpi, program, sizeof program))
        return cli_bad(command, "trivance-mpi.%s is not beside the tool", job->mpi);
    snprintf(rows, sizeof rows, "%s/%s.rows", folder, cli_bench_label(job, label));
    snprintf(rounds, sizeof rounds, "--iterations=%d", job->rounds);
    snprintf(collective, sizeof collective, "--collective=%s", trv_collective_shape(job->collective)->name);
    write_sizes(job, sizes, sizeof sizes);
    unlink(rows);
    const cli_job_t start = {.mpi = job->mpi,
                             .ranks = job->network.torus.ranks,
                             .rendezvous = job->rendezvous,
                             .word = word,
                             .words = sizeof word / sizeof word[0],
                             .output = rows,
                             .watch = cli_bench_progress_watch,
                             .context = progress};
    tb_status_t counts = {.lateness_p99_ns = 0};
    cli_bench_progress_job(progress, job, rows);
    int code = cli_testbed_job(command, &start, &counts);
    cli_bench_progress_job_end(progress);
    job->lateness_job_p99_ns = counts.lateness_p99_ns;
    job->faithful = job->faithful && counts.lateness_p99_ns <= trv_testbed_lateness_limit_ns(&job->network);
    if (code > 128)
        return code;
    if (code > CLI_WRONG)
        return cli_bad(command, "the job %s failed with exit code %d; its messages are in %.3000s", label, code, rows);
    return read_rows(command, job, rows);
}
