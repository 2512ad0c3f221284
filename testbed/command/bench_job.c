/*
 * The jobs of `trivance testbed bench`: the algorithms compared, and the output of the benchmark program (its lines are
 * described in testbed/programs/bench_program.h). The log of the preload library names the algorithm of a planner's choice.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/algorithms.h>
#include <trivance/schedule.h>

#include "cli/shared/tool.h"
#include "base/text/parse.h"
#include "testbed/command/bench.h"
#include "base/error.h"

#define PATH_BYTES    4608
#define MESSAGE_BYTES 90 /* of an exchange's 8 bytes with all headers */

/* ---- Rivals ------------------------------------------------------------------------------------------------------ */

static void add(cli_bench_job_t *job, bool own, int setting, const char *name, const char *type, uint64_t most_bytes)
{
    if (job->rivals == CLI_BENCH_RIVALS_MAX)
        return;
    cli_rival_t *rival = &job->rival[job->rivals++];
    *rival = (cli_rival_t){.own = own, .setting = setting, .type = type, .most_bytes = most_bytes};
    snprintf(rival->name, sizeof rival->name, "%s", name);
}

/* Numbers as in Open MPI 4.1 and MPICH 4.0. */
static void add_own(cli_bench_job_t *job)
{
    static const struct {
        const char *mpi, *name;
        int setting;
    } own[] = {{"openmpi", "default", 0}, {"openmpi", "recdoub", 3}, {"openmpi", "ring", 4},
               {"openmpi", "segring", 5}, {"openmpi", "rabens.", 6}, {"mpich", "default", 0},
               {"mpich", "recdoub", 3},   {"mpich", "redscat", 4},   {"mpich", "radix-3", 1}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].mpi, job->mpi) == 0)
            add(job, true, own[i].setting, own[i].name, "double", UINT64_MAX);
}

/* What every algorithm is right for: windows serve exact operations only, overlaps idempotent ones. */
static const char *type_for(const trv_algorithm_t *algorithm)
{
    const bool covers = trv_algorithm_exactness(algorithm) == TRV_COVERS;
    return covers ? "max" : trv_algorithm_consistent(algorithm) ? "double" : "int";
}

static void add_trivance(cli_bench_job_t *job)
{
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        const uint64_t most_bytes = trv_algorithm_in_rank_order(algorithm) ? 8192 : UINT64_MAX; /* n vectors */
        if (strncmp(trv_algorithm_name(algorithm), "trivance-", 9) == 0)
            add(job, false, 0, trv_algorithm_name(algorithm), type_for(algorithm), most_bytes);
    }
    for (int i = 0; i < 4; i++)
        add(job, false, 0, i < 2 ? "planned" : "auto", i % 2 ? "double" : "int", UINT64_MAX);
}

/* Whether the job's torus, once it has one, can have the algorithm. */
static int check_torus(const cli_bench_job_t *job, const char *algorithm)
{
    trv_schedule_t *schedule;
    if (job->network.torus.ranks == 0)
        return TRV_OK;
    const trv_network_t network = cli_bench_network(job);
    int code = trv_schedule_create_on(&schedule, &network, algorithm, TRV_ALLREDUCE);
    if (code == TRV_OK)
        trv_schedule_destroy(schedule);
    return code;
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
            add(job, false, 0, name, "int", UINT64_MAX);
        add(job, false, 0, name, chosen ? "double" : type_for(algorithm), UINT64_MAX);
    }
    return more;
}

int cli_bench_rivals(cli_bench_job_t *job, const char *algorithms)
{
    job->rivals = 0;
    add_own(job);
    if (algorithms)
        return add_named(job, algorithms);
    add_trivance(job);
    return TRV_OK;
}

char *cli_bench_label(const cli_bench_job_t *job, char text[CLI_BENCH_LABEL_MAX])
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_torus_format(&job->network.torus, torus, sizeof torus);
    snprintf(text, CLI_BENCH_LABEL_MAX, "%s-%s-%s", torus, job->mpi, job->rendezvous ? "rendezvous" : "eager");
    return text;
}

/* ---- The program's answers --------------------------------------------------------------------------------------- */

/* What exchanges cost beside the network's time: alpha and the cost of a message are those of a step that follows
 * another, with two and with all neighbours; what a first step costs more is the common start's. */
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

static void read_line(cli_bench_job_t *job, const char *line)
{
    unsigned long long bytes;
    int rival, rounds, steps, messages;
    double time_ns;
    cli_bench_cell_t cell = {.measured = true, .predicted_ns = NAN};
    if (sscanf(line, "steps %d %d %lf", &steps, &messages, &time_ns) == 3)
        fit_steps(job, steps, messages, time_ns);
    if (sscanf(line, "row %llu %d %d %lf %lf %lf %d %lf", &bytes, &rival, &rounds, &cell.median_ns, &cell.least_ns,
               &cell.most_ns, &cell.wrong, &cell.core_ns) != 8 ||
        rival < 0 || rival >= job->rivals)
        return;
    for (int i = 0; i < job->sizes; i++)
        if (job->bytes[i] == bytes)
            job->cell[i][rival] = cell;
}

/* "… up to 64 KiB, double sum: hybrid:3:grouped (…planned: …": what the planner chose. */
static void read_choice(cli_bench_job_t *job, const char *line)
{
    static const struct {
        const char *type, *words;
    } named[] = {{"int", "int32 sum"}, {"double", "double sum"}, {"max", "int32 max"}};
    char size[TRV_BYTES_TEXT_MAX], sought[128];
    if (!strstr(line, "planned: "))
        return;
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->rivals; r++)
            for (size_t t = 0; t < sizeof named / sizeof named[0]; t++) {
                const cli_rival_t *rival = &job->rival[r];
                bool chosen = strcmp(rival->name, "planned") == 0 || strcmp(rival->name, "auto") == 0;
                snprintf(sought, sizeof sought, "allreduce up to %s, %s: ", trv_format_bytes(job->bytes[s], size),
                         named[t].words);
                const char *found = strstr(line, sought);
                if (chosen && found && strcmp(rival->type, named[t].type) == 0)
                    sscanf(found + strlen(sought), "%127s", job->cell[s][r].served_by);
            }
}

static int read_file(const char *path, cli_bench_job_t *job, void (*read)(cli_bench_job_t *job, const char *line))
{
    char line[1024];
    FILE *file = fopen(path, "re");
    if (!file)
        return CLI_BAD;
    while (fgets(line, sizeof line, file))
        read(job, line);
    fclose(file);
    return CLI_OK;
}

static int read_answers(const char *command, cli_bench_job_t *job, const char *answers, const char *log)
{
    if (read_file(answers, job, read_line) != CLI_OK)
        return cli_bad(command, "the benchmark has left no %.200s", answers);
    read_file(log, job, read_choice);
    for (int s = 0; s < job->sizes; s++)
        for (int r = 0; r < job->rivals; r++) {
            cli_bench_cell_t *cell = &job->cell[s][r];
            if (!cell->measured && job->bytes[s] <= job->rival[r].most_bytes)
                return cli_bad(command,
                               "the benchmark has ended without a time of %s for %llu bytes; %.200s has what "
                               "it measured",
                               job->rival[r].name, (unsigned long long)job->bytes[s], answers);
            if (cell->measured && cell->wrong)
                return cli_bad(command, "%s gives wrong sums of %llu bytes: %d elements", job->rival[r].name,
                               (unsigned long long)job->bytes[s], cell->wrong);
            if (!job->rival[r].own && !cell->served_by[0])
                snprintf(cell->served_by, sizeof cell->served_by, "%s", job->rival[r].name);
        }
    return CLI_OK;
}

/* ---- The job ----------------------------------------------------------------------------------------------------- */

/* What the MPI libraries need to be told before they let their algorithms be chosen, and Trivance to tell its own. */
static void set_environment(const char *log)
{
    static const char *const variable[][2] = {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                              {"MPIR_CVAR_DEVICE_COLLECTIVES", "none"},
                                              {"MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM", "tsp_recexch_multiple_buffer"},
                                              {"MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL", "3"},
                                              {"TRIVANCE_DEBUG", "info"}};
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++)
        setenv(variable[i][0], variable[i][1], 1);
    setenv("TRIVANCE_DEBUG_FILE", log, 1);
}

static void write_rival(const cli_rival_t *rival, char text[96])
{
    if (rival->own)
        snprintf(text, 96, "own,%d,%s,%llu", rival->setting, rival->type, (unsigned long long)rival->most_bytes);
    else
        snprintf(text, 96, "hint,%s,%s,%llu", rival->name, rival->type, (unsigned long long)rival->most_bytes);
}

/* The lists of the program's arguments. */
static void write_sizes(const cli_bench_job_t *job, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < job->sizes && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", i ? "," : "", (unsigned long long)job->bytes[i]);
}

int cli_bench_run(const char *command, cli_bench_job_t *job, const char *folder, cli_bench_progress_t *progress)
{
    static char program[PATH_BYTES], rival[CLI_BENCH_RIVALS_MAX][96];
    char file[64], label[CLI_BENCH_LABEL_MAX], answers[PATH_BYTES], log[PATH_BYTES], sizes[512], rounds[16];
    char torus[TRV_TORUS_TEXT_MAX], *word[CLI_BENCH_RIVALS_MAX + 5] = {program, answers, sizes, rounds, torus};
    snprintf(file, sizeof file, "trivance-testbed-bench.%s", job->mpi);
    int code = cli_testbed_program(command, file, program, sizeof program);
    if (code != CLI_OK)
        return code;
    cli_bench_label(job, label);
    snprintf(answers, sizeof answers, "%s/%s.rows", folder, label);
    snprintf(log, sizeof log, "%s/%s.log", folder, label);
    snprintf(rounds, sizeof rounds, "%d", job->rounds);
    trv_torus_format(&job->network.torus, torus, sizeof torus);
    write_sizes(job, sizes, sizeof sizes);
    for (int i = 0; i < job->rivals; i++) {
        write_rival(&job->rival[i], rival[i]);
        word[5 + i] = rival[i];
    }
    unlink(log);
    unlink(answers);
    set_environment(log);
    const cli_job_t start = {.mpi = job->mpi,
                             .ranks = job->network.torus.ranks,
                             .rendezvous = job->rendezvous,
                             .drop_in = true,
                             .word = word,
                             .words = 5 + job->rivals,
                             .watch = cli_bench_progress_watch,
                             .context = progress};
    tb_status_t counts = {.lateness_p99_ns = 0};
    cli_bench_progress_job(progress, job, answers);
    code = cli_testbed_job(command, &start, &counts);
    cli_bench_progress_job_end(progress);
    job->lateness_job_p99_ns = counts.lateness_p99_ns;
    job->faithful = job->faithful && counts.lateness_p99_ns <= trv_testbed_lateness_limit_ns(&job->network);
    if (code != 0)
        return code > 128 ? code : cli_bad(command, "the job %s has failed with exit code %d", label, code);
    return read_answers(command, job, answers, log);
}
