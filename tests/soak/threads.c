/*
 * The TRV_ functions under MPI_THREAD_MULTIPLE; meant for ThreadSanitizer (`make check-all`), but valid without it.
 *
 *     mpirun -n 2 threads [--rounds N]
 *
 * Threads of every rank, each with its own rounds:
 *
 *     givers   two, each with communicators of its own: a duplicate is created, used by blocking, non-blocking and
 *              persistent calls and by a plan, and freed, half of the time before its requests are complete;
 *     poster   posts requests on one communicator; four threads complete them by TRV_Wait and by TRV_Test, start the
 *              persistent ones once more, and free them.
 *
 * Every sum is checked. Exit code 1 if one is wrong or a function fails.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance_mpi.h>

#ifdef OPEN_MPI
#define GIVERS 1 /* Open MPI 4.1 sometimes hangs if several threads create communicators at the same time */
#else
#define GIVERS 2
#endif
#define COMPLETERS 4
#define REQUESTS   12
#define COUNT_MAX  600

static int rounds = 20, world_rank, world_size;
static atomic_int failed;

static void check(bool holds, const char *what)
{
    if (!holds && atomic_fetch_add(&failed, 1) < 10)
        fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, trv_last_error());
}

/* ---- One request, its buffers and its expected result ------------------------------------------------------------ */

typedef struct job {
    int in[COUNT_MAX], out[COUNT_MAX], count, salt;
    bool persistent;
    TRV_Request request;
} job_t;

static void fill(job_t *job, int number)
{
    static const int count[] = {1, 7, 33, 100, 250, COUNT_MAX};
    job->count = count[number % 6];
    job->salt = number % 31;
    for (int i = 0; i < job->count; i++)
        job->in[i] = (world_rank + 1) * (i % 50 + job->salt);
    memset(job->out, 0, sizeof job->out);
}

static void check_sum(const job_t *job, const char *what)
{
    int wrong = 0;
    for (int i = 0; i < job->count; i++)
        wrong += job->out[i] != world_size * (world_size + 1) / 2 * (i % 50 + job->salt);
    check(wrong == 0, what);
}

static void post(job_t *job, MPI_Comm comm, int number)
{
    fill(job, number);
    job->persistent = number % 4 == 3;
    if (!job->persistent) {
        check(TRV_Iallreduce(job->in, job->out, job->count, MPI_INT, MPI_SUM, comm, &job->request) == MPI_SUCCESS,
              "TRV_Iallreduce");
        return;
    }
    check(TRV_Allreduce_init(job->in, job->out, job->count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &job->request) ==
              MPI_SUCCESS,
          "TRV_Allreduce_init");
    check(TRV_Start(&job->request) == MPI_SUCCESS, "TRV_Start");
}

static void finish(job_t *job, bool test)
{
    int done = 0;
    while (test && !done)
        check(TRV_Test(&job->request, &done) == MPI_SUCCESS, "TRV_Test");
    check(TRV_Wait(&job->request) == MPI_SUCCESS, "TRV_Wait"); /* no effect on a completed request */
    check_sum(job, "the sum of a request");
}

/* A persistent request is started once more by the thread that completed it. */
static void finish_and_free(job_t *job, bool test)
{
    finish(job, test);
    if (!job->persistent)
        return;
    memset(job->out, 0, sizeof job->out);
    check(TRV_Start(&job->request) == MPI_SUCCESS, "TRV_Start again");
    finish(job, !test);
    check(TRV_Request_free(&job->request) == MPI_SUCCESS, "TRV_Request_free");
}

/* ---- The posting thread and the completing threads --------------------------------------------------------------- */

typedef struct share {
    pthread_t thread;
    job_t *job;
    int first;
} share_t;

static void *complete_share(void *context)
{
    const share_t *share = context;
    for (int i = share->first; i < REQUESTS; i += COMPLETERS)
        finish_and_free(&share->job[i], share->first % 2);
    return NULL;
}

static void *run_poster(void *context)
{
    MPI_Comm comm = *(MPI_Comm *)context;
    job_t *job = calloc(REQUESTS, sizeof *job);
    share_t share[COMPLETERS];
    fill(&job[0], 0);
    check(TRV_Allreduce(job[0].in, job[0].out, job[0].count, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "TRV_Allreduce");
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < REQUESTS; i++)
            post(&job[i], comm, round + i);
        for (int i = 0; i < COMPLETERS; i++) {
            share[i].job = job;
            share[i].first = i;
            pthread_create(&share[i].thread, NULL, complete_share, &share[i]);
        }
        for (int i = 0; i < COMPLETERS; i++)
            pthread_join(share[i].thread, NULL);
    }
    free(job);
    return NULL;
}

/* ---- Threads with communicators of their own --------------------------------------------------------------------- */

static void run_plan(MPI_Comm comm, job_t *job, int number)
{
    TRV_Plan plan;
    fill(job, number);
    check(TRV_Allreduce_plan_create(job->count, MPI_INT, MPI_SUM, comm, &plan) == MPI_SUCCESS, "creating a plan");
    check(TRV_Plan_run(plan, job->in, job->out) == MPI_SUCCESS, "TRV_Plan_run");
    check_sum(job, "the sum of a plan");
    check(TRV_Plan_free(&plan) == MPI_SUCCESS, "TRV_Plan_free");
}

static void *run_giver(void *context)
{
    MPI_Comm home = *(MPI_Comm *)context, comm;
    job_t *job = calloc(3, sizeof *job);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm_dup(home, &comm);
        fill(&job[0], round);
        check(TRV_Allreduce(job[0].in, job[0].out, job[0].count, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS,
              "TRV_Allreduce of a giver");
        check_sum(&job[0], "the sum of a blocking call");
        run_plan(comm, &job[0], round);
        for (int i = 0; i < 3; i++) { /* Trivance executes these requests, which outlive the communicator */
            fill(&job[i], round + i);
            check(TRV_Allreduce(job[i].in, job[i].out, job[i].count, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS,
                  "TRV_Allreduce of a giver");
        }
        for (int i = 0; i < 3; i++)
            post(&job[i], comm, round + i);
        if (round % 2)
            MPI_Comm_free(&comm);
        for (int i = 0; i < 3; i++)
            finish_and_free(&job[i], i % 2);
        if (round % 2 == 0)
            MPI_Comm_free(&comm);
    }
    free(job);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, all = 0;
    pthread_t thread[1 + GIVERS];
    MPI_Comm home[1 + GIVERS];
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0)
        rounds = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "threads: the MPI library provides thread level %d, not MPI_THREAD_MULTIPLE\n", provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i <= GIVERS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &home[i]);
    for (int i = 0; i <= GIVERS; i++)
        pthread_create(&thread[i], NULL, i == 0 ? run_poster : run_giver, &home[i]);
    for (int i = 0; i <= GIVERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i <= GIVERS; i++)
        MPI_Comm_free(&home[i]);
    int mine = atomic_load(&failed);
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("threads --rounds %d: %d checks failed\n", rounds, all);
    MPI_Finalize();
    return all > 0 || rounds < 1;
}
