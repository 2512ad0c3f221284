/*
 * Measures the library's own collective and our algorithms in turns, so that a disturbance of the machine affects all
 * of them equally. A time is that of the slowest rank; it is the same on all ranks, so that all make the same
 * decisions.
 *
 * Algorithms that are twice as slow as the best after a few rounds are excluded, and so are the slowest if there is no
 * time for all. The fastest of ours, if it beats the library, is then measured again, in rounds of these two alone: a
 * minimum over many candidates is biased by chance.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/planner.h>

#include "base/ascending.h"
#include "cli/mpi/samples.h"
#include "cli/mpi/polled.h"
#include "collective/model.h"
#include "cli/mpi/tune.h"
#include "schedule/collective.h"

#define LIBRARY         0 /* index of the candidate that is the library's collective */
#define ROUNDS_TO_PRUNE 3
#define ROUNDS_MIN      9     /* with fewer runs our longest must be shorter than the library's shortest */
#define SLOW            2.0   /* excluded from this multiple of the best time on */
#define MARGIN          0.95  /* maximum ratio of a winner's median to the library's */
#define BATCH_SECONDS   50e-6 /* a run consists of as many calls as fit into this */
#define BATCH_MAX       64
#define WARM_UP         0.3 /* shares of the time: for the first runs of each candidate, … */
#define CONFIRM         0.4 /* … and, of the remaining time, for the second measurement */

typedef struct job {
    const tune_t *tune;
    trv_collective_t collective;
    uint64_t count;    /* of floats: of the vector, or of a block for collectives with blocks */
    double end;        /* of the cell's time, by MPI_Wtime; rank 0's value is used */
    samples_t samples; /* of all candidates; left_out: those that are excluded */
    tune_candidate_t *candidate;
} job_t;

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static void candidate_summarize(tune_candidate_t *candidate)
{
    const int runs = candidate->runs;
    double *run_us = candidate->run_us;
    qsort(run_us, (size_t)runs, sizeof run_us[0], trv_compare_double);
    candidate->times = (tune_times_t){run_us[runs / 4], run_us[runs / 2], run_us[(3 * runs) / 4], runs};
}

/* Whether `ours` is significantly faster than `library`. */
static bool is_faster(const tune_times_t *ours, const tune_times_t *library)
{
    const double limit_us = ours->runs < ROUNDS_MIN ? library->low_us : library->median_us;
    return ours->runs >= ROUNDS_TO_PRUNE && ours->high_us < limit_us && ours->median_us < MARGIN * library->median_us;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static int run_candidate(void *context, int kind)
{
    const job_t *job = context;
    return call_run(&job->candidate[kind].call);
}

/* Runs each candidate once and keeps the time of the slowest rank. */
static int run_round(job_t *job, int round)
{
    samples_t *samples = &job->samples;
    int code = samples_round(samples, round);
    if (code == TRV_OK)
        code = polled_reduce(job->tune->comm, samples->us, samples->kinds, MPI_MAX);
    for (int i = 0; i < samples->kinds; i++)
        if (!samples->excluded[i])
            job->candidate[i].run_us[job->candidate[i].runs++] = samples->us[i];
    return code;
}

static void candidates_prune(job_t *job)
{
    double best = job->candidate[LIBRARY].times.median_us;
    for (int i = 0; i < job->samples.kinds; i++)
        if (!job->samples.excluded[i] && job->candidate[i].times.median_us < best)
            best = job->candidate[i].times.median_us;
    for (int i = 0; i < job->samples.kinds; i++)
        job->samples.excluded[i] |= i != LIBRARY && job->candidate[i].times.median_us > SLOW * best;
}

static void candidates_summarize(job_t *job)
{
    for (int i = 0; i < job->samples.kinds; i++)
        if (!job->samples.excluded[i])
            candidate_summarize(&job->candidate[i]);
}

/* Broadcasts the remaining time of the cell, by rank 0's clock. */
static int time_left_broadcast(const job_t *job, double *seconds)
{
    *seconds = job->end - PMPI_Wtime();
    return polled_broadcast(job->tune->comm, seconds, sizeof *seconds);
}

/* Runs rounds for `seconds`, but at least a few rounds. */
static int run_rounds(job_t *job, double seconds)
{
    double left, until = 0;
    int code = time_left_broadcast(job, &left), more = 1;
    until = left - seconds;
    for (int i = 0; i < job->samples.kinds; i++)
        job->candidate[i].runs = 0;
    for (int round = 0; more && code == TRV_OK; round++) {
        code = run_round(job, round);
        if (code == TRV_OK && round + 1 == ROUNDS_TO_PRUNE) {
            candidates_summarize(job);
            candidates_prune(job);
        }
        if (code == TRV_OK)
            code = time_left_broadcast(job, &left);
        more = round + 1 < ROUNDS_TO_PRUNE || (round + 1 < TUNE_RUNS_MAX && left > until);
    }
    candidates_summarize(job);
    return code;
}

/* Excludes the slowest of our candidates until rounds of the others fit into the time, or one is left. */
static void keep_fitting(job_t *job, double seconds)
{
    const double *us = job->samples.us;
    double round_s = 0;
    int kept = 0;
    for (int i = 0; i < job->samples.kinds; i++)
        if (!job->samples.excluded[i]) {
            round_s += 1e-6 * us[i] * job->samples.batch;
            kept++;
        }
    for (; kept > 2 && round_s * ROUNDS_MIN > seconds; kept--) {
        int slowest = LIBRARY;
        for (int i = LIBRARY + 1; i < job->samples.kinds; i++)
            if (!job->samples.excluded[i] && (slowest == LIBRARY || us[i] > us[slowest]))
                slowest = i;
        job->samples.excluded[slowest] = true;
        round_s -= 1e-6 * us[slowest] * job->samples.batch;
    }
}

/* Runs each candidate twice, while there is time, and determines from the library's time how many calls form a run. */
static int candidates_warm_up(job_t *job, double seconds)
{
    samples_t *samples = &job->samples;
    const int kinds = samples->kinds;
    double left;
    int code = time_left_broadcast(job, &left);
    const double until = left - WARM_UP * seconds;
    samples->batch = 1;
    for (int i = 0; i < kinds; i++)
        samples->excluded[i] = true;
    for (int i = 0; i < kinds && code == TRV_OK; i++) {
        const bool late = i > LIBRARY + 1 && left < until;
        samples->excluded[i] = false; /* alone */
        for (int twice = 0; twice < 2 && !late && code == TRV_OK; twice++)
            code = samples_round(samples, 0);
        samples->excluded[i] = true;
        job->candidate[i].runs = !late;
        if (code == TRV_OK)
            code = time_left_broadcast(job, &left);
    }
    for (int i = 0; i < kinds; i++)
        samples->excluded[i] = job->candidate[i].runs == 0;
    if (code == TRV_OK)
        code = polled_reduce(job->tune->comm, samples->us, kinds, MPI_MAX);
    double fit = samples->us[LIBRARY] > 0 ? 1e6 * BATCH_SECONDS / samples->us[LIBRARY] : BATCH_MAX;
    if (trv_collective_has_root(job->collective)) /* its ranks would not wait for each other between the calls */
        fit = 1;
    samples->batch = fit < 1 ? 1 : fit > BATCH_MAX ? BATCH_MAX : (int)fit;
    keep_fitting(job, (1 - CONFIRM) * left);
    return code;
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

static bool is_candidate(const trv_algorithm_t *algorithm, const trv_torus_t *torus, trv_collective_t collective)
{
    return trv_algorithm_exactness(algorithm) == TRV_EXACT && trv_algorithm_consistent(algorithm) &&
           trv_algorithm_supports(algorithm, torus, collective) == TRV_OK;
}

/* Adds a candidate, unless its plan is not the requested algorithm: an All-to-All of several ranks on one torus
 * coordinate, for example, falls back to the MPI library. */
static int add_candidate(job_t *job, const char *name)
{
    const tune_t *tune = job->tune;
    char torus[TRV_TORUS_TEXT_MAX];
    for (int i = 0; i < job->samples.kinds; i++)
        if (strcmp(job->candidate[i].call.algorithm, name) == 0)
            return TRV_OK;
    call_t *call = &job->candidate[job->samples.kinds].call;
    *call = (call_t){.comm = tune->comm,
                     .collective = job->collective,
                     .type = TRV_FLOAT,
                     .op = TRV_SUM,
                     .count = job->count,
                     .send = job->collective == TRV_BROADCAST ? MPI_IN_PLACE : tune->send,
                     .receive = tune->receive};
    trv_torus_format(&tune->options.torus, torus, sizeof torus);
    int code = call_create(call, tune->options.has_torus ? torus : NULL, name);
    if (code == TRV_OK && strcmp(call->algorithm, name) == 0)
        job->samples.kinds++;
    else
        call_free(call);
    return code;
}

/* Adds the choices of the planner that it predicts to be the fastest on the measured network. */
static int add_choices(job_t *job, uint64_t bytes)
{
    const trv_hockney_t *measured = &job->tune->network;
    trv_simulate_options_t network = trv_model_network(measured->alpha_ns, measured->bandwidth_bps, measured->hop_ns,
                                                       job->tune->overhead_ns);
    const trv_planner_constraints_t constraints = {TRV_PLANNER_CONSTRAINTS,
                                                   .consistent = trv_collective_shape(job->collective)->reduces};
    trv_planner_t *planner = NULL;
    trv_planner_choice_t choice[TUNE_CHOICES_MAX];
    int code = trv_planner_create(&planner, &job->tune->options.torus, job->collective, 0, &network, &constraints);
    int choices = code < 0 ? code : trv_planner_rank(planner, bytes, TUNE_CHOICES_MAX, choice);
    trv_planner_destroy(planner);
    for (int i = 0; i < choices && code == TRV_OK; i++)
        code = add_candidate(job, choice[i].algorithm);
    return choices < 0 ? choices : code;
}

static int make_candidates(job_t *job, uint64_t bytes)
{
    int code = add_candidate(job, CALL_LIBRARY);
    if (code == TRV_OK)
        code = add_choices(job, bytes); /* first, where there is no time for all */
    for (int i = 0; i < trv_algorithms_count() && code == TRV_OK; i++) {
        const trv_algorithm_t *algorithm = trv_algorithm_at(i);
        if (is_candidate(algorithm, &job->tune->options.torus, job->collective) &&
            job->samples.kinds < TUNE_CANDIDATES_MAX)
            code = add_candidate(job, trv_algorithm_name(algorithm));
    }
    return code;
}

static void candidates_free(job_t *job)
{
    for (int i = 0; i < job->samples.kinds; i++)
        call_free(&job->candidate[i].call);
}

/* ---- A cell ------------------------------------------------------------------------------------------------------ */

static void cell_fill(const job_t *job, tune_cell_t *cell)
{
    cell->candidates = job->samples.kinds;
    for (int i = 0; i < job->samples.kinds; i++) {
        memcpy(cell->name[i], job->candidate[i].call.algorithm, sizeof cell->name[i]);
        cell->times[i] = job->candidate[i].times;
        if (i != LIBRARY && !job->samples.excluded[i] &&
            (cell->best == 0 || cell->times[i].median_us < cell->times[cell->best].median_us))
            cell->best = i;
    }
    cell->wins = cell->best > 0 && is_faster(&cell->times[cell->best], &cell->times[LIBRARY]);
}

/* Measures only the winner and the library for the rest of the time. */
static int cell_confirm(job_t *job, tune_cell_t *cell)
{
    double left;
    for (int i = 0; i < job->samples.kinds; i++)
        job->samples.excluded[i] = i != LIBRARY && i != cell->best;
    int code = time_left_broadcast(job, &left);
    if (code == TRV_OK)
        code = run_rounds(job, left);
    cell->wins = code == TRV_OK && !job->samples.excluded[cell->best] &&
                 is_faster(&job->candidate[cell->best].times, &job->candidate[LIBRARY].times);
    return code;
}

int tune_measure(tune_t *tune, double seconds, tune_cell_t *cell)
{
    static tune_candidate_t candidate[TUNE_CANDIDATES_MAX];
    const uint64_t unit = trv_collective_blocks(cell->collective, tune->ranks) * sizeof(float);
    job_t job = {.tune = tune, .collective = cell->collective, .count = cell->bytes / unit, .candidate = candidate};
    double left;
    job.samples = (samples_t){.comm = tune->comm, .run = run_candidate, .context = &job};
    job.end = PMPI_Wtime() + seconds;
    memset(candidate, 0, sizeof candidate);
    int code = make_candidates(&job, cell->bytes);
    if (code == TRV_OK)
        code = candidates_warm_up(&job, seconds);
    if (code == TRV_OK)
        code = time_left_broadcast(&job, &left);
    if (code == TRV_OK)
        code = run_rounds(&job, (1 - CONFIRM) * left);
    if (code == TRV_OK) {
        cell_fill(&job, cell);
        if (cell->wins)
            code = cell_confirm(&job, cell);
    }
    candidates_free(&job);
    return code;
}
