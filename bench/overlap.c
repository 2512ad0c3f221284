/*
 * How much of the time of reductions overlaps with messages: an AllReduce in chunks against the same one without
 * chunks.
 *
 *     overlap [TORUS [ALGORITHM…]] [--bytes B] [--chunk BYTES] [--reduction F] [--check | --order]
 *
 * Each rank has a core, and there is a network of 100 Gb/s, in virtual time (virtual.h). The speed of reductions is set
 * so that the busiest rank spends F (0.5) of the time on them that a run in one chunk takes without reductions. A run
 * in which all reductions overlap takes the time without reductions, which is the limit. Chunks may beat it, since they
 * also use links and steps that one chunk leaves idle. src/execute/run/chunk.c determines the size of the library's own
 * chunks.
 *
 * --order: instead, whether it matters in which order chunks leave (paper, section 7, joint reductions): CSV with the
 * times in 2, 3 and 4 chunks that leave in the same order in both directions (aligned), and in opposite orders (order.h),
 * their limit, which is the aligned time without reductions, and the share of the messages of the first step that has
 * arrived when the first reduction begins. trivance.figures includes it in its report.
 *
 * --check: exit status 1 if a vector above 1 MiB is not at least 1.25 times as fast in the library's own chunks, or as
 * fast as the limit if that is lower: in one chunk, reductions of one of two streams may also overlap with messages of
 * the other.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "virtual.h"

enum { RANKS_MAX = 64, ALGORITHMS_MAX = 16 };
enum { ORDER_BYTES = 81 << 15 }; /* of --order: all chunks of all blocks are equal on rings of 8, 9 and 27 */

typedef struct asked {
    trv_torus_t torus;
    const char *algorithm[ALGORITHMS_MAX];
    int algorithms;
    size_t bytes, chunk; /* 0: several sizes; the library's own */
    double reduction;
    bool check, order;
} asked_t;

typedef struct rank {
    world_t *world;
    int number;
    double per_byte, busy; /* seconds per byte of a reduction; seconds spent so far, with one second per byte */
    double *input, *output;
    trv_plan_t *plan;
    order_t *order;
    double arrived; /* before the first reduction (order_arrived) */
} rank_t;

typedef struct job {
    const trv_schedule_t *schedule;
    world_t *world;
    int ranks;
    size_t count;
    int chunks;    /* whose order is decided; 0: none */
    bool opposite; /* order */
    rank_t rank[RANKS_MAX];
} job_t;

static const network_t network = {.latency = 1e-6, .bandwidth = 12.5e9, .overhead = 0.3e-6};

static int reduce(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    rank_t *rank = context;
    double bytes = (double)((size_t)(sources - 1) * count * sizeof(double));
    int code = trv_reduce(TRV_SUM, TRV_DOUBLE, destination, source, sources, count);
    rank->busy += bytes;
    if (rank->order && rank->arrived == 0)
        rank->arrived = order_arrived(rank->order);
    if (rank->per_byte > 0)
        world_work(rank->world, rank->number, bytes * rank->per_byte);
    return code;
}

static const trv_transport_t *transport_of(job_t *job, int r)
{
    const trv_transport_t *world = world_transport(job->world, r);
    rank_t *rank = &job->rank[r];
    rank->order = NULL;
    rank->arrived = 0;
    if (job->chunks > 0)
        rank->order = order_create(world, trv_schedule_streams(job->schedule), job->chunks, job->opposite);
    return rank->order ? order_transport(rank->order) : world;
}

/* Time in seconds of a run in chunks of this size; negative after an error message. */
static double run(job_t *job, size_t chunk_bytes, double per_byte)
{
    trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = chunk_bytes};
    trv_plan_t *plan[RANKS_MAX] = {NULL};
    void *input[RANKS_MAX], *output[RANKS_MAX];
    int code = 0;
    for (int r = 0; r < job->ranks; r++) {
        rank_t *rank = &job->rank[r];
        trv_elements_t elements = {.element_size = sizeof(double), .reduce = reduce, .reduce_context = rank};
        rank->per_byte = per_byte;
        rank->busy = 0;
        input[r] = rank->input;
        output[r] = rank->output;
        memset(rank->output, 0, job->count * sizeof(double));
        code = code
                   ? code
                   : trv_plan_create(&plan[r], job->schedule, r, job->count, &elements, transport_of(job, r), &options);
    }
    double seconds = code ? -1 : world_run(job->world, plan, input, output);
    if (code)
        fprintf(stderr, "overlap: %s\n", trv_last_error());
    for (int r = 0; r < job->ranks; r++) {
        trv_plan_destroy(plan[r]);
        order_destroy(job->rank[r].order);
    }
    for (int r = 0; seconds >= 0 && r < job->ranks; r++)
        for (size_t i = 0; i < job->count; i++)
            if (job->rank[r].output[i] != (double)(job->ranks * (int)(i % 1000) + job->ranks * (job->ranks - 1) / 2)) {
                fprintf(stderr, "overlap: rank %d: element %zu is wrong\n", r, i);
                return -1;
            }
    return seconds;
}

static double most_busy(const job_t *job)
{
    double most = 0;
    for (int r = 0; r < job->ranks; r++)
        most = job->rank[r].busy > most ? job->rank[r].busy : most;
    return most;
}

/* Measures and prints one line; false if something failed or is too slow. */
static bool compare(job_t *job, const asked_t *asked)
{
    const size_t whole = job->count * sizeof(double);
    double messages = run(job, whole, 0);
    if (messages < 0)
        return false;
    double per_byte = asked->reduction * messages / most_busy(job);
    double one = run(job, whole, per_byte), own = run(job, asked->chunk, per_byte);
    if (one < 0 || own < 0)
        return false;
    printf("%-20s %10zu %12.1f %12.1f %12.1f %8.2f %8.2f\n", trv_schedule_name(job->schedule), whole, messages * 1e6,
           one * 1e6, own * 1e6, one / own, one / messages);
    fflush(stdout);
    double limit = one / messages, least = limit < 1.25 ? limit : 1.25;
    return !asked->check || one / own > 0.995 * least;
}

/* The same in aligned and in opposite order, for several numbers of chunks. */
static bool compare_orders(job_t *job, const asked_t *asked)
{
    const size_t whole = job->count * sizeof(double);
    char torus[TRV_TORUS_TEXT_MAX];
    double messages = run(job, whole, 0), per_byte = asked->reduction * messages / most_busy(job);
    for (int chunks = 2; messages >= 0 && chunks <= ORDER_CHUNKS_MAX; chunks++) {
        double time[2], arrived[2], limit;
        job->chunks = chunks;
        job->opposite = false;
        limit = run(job, whole / (size_t)chunks, 0);
        for (int o = 0; o < 2; o++) {
            job->opposite = o == 1;
            time[o] = run(job, whole / (size_t)chunks, per_byte);
            arrived[o] = job->rank[0].arrived;
        }
        if (limit < 0 || time[0] < 0 || time[1] < 0)
            return false;
        printf("%s,%s,%zu,%d,%.2f,%.2f,%.3f,%.2f,%.3f,%.3f\n", trv_torus_format(&asked->torus, torus, sizeof torus),
               trv_schedule_name(job->schedule), whole, chunks, time[0] * 1e6, time[1] * 1e6, time[1] / time[0],
               limit * 1e6, arrived[0], arrived[1]);
        fflush(stdout);
    }
    return messages >= 0;
}

static bool make_job(job_t *job, const asked_t *asked, const trv_schedule_t *schedule, size_t bytes)
{
    *job = (job_t){.schedule = schedule,
                   .ranks = asked->torus.ranks,
                   .count = bytes / sizeof(double),
                   .world = world_create(&asked->torus, &network)};
    bool made = job->world != NULL;
    for (int r = 0; r < job->ranks; r++) {
        rank_t *rank = &job->rank[r];
        *rank = (rank_t){job->world, r, 0, 0, malloc(bytes), malloc(bytes), NULL, NULL, 0};
        made = made && rank->input && rank->output;
        for (size_t i = 0; made && i < job->count; i++)
            rank->input[i] = (double)(i % 1000) + r;
    }
    return made;
}

static void clear_job(job_t *job)
{
    for (int r = 0; r < job->ranks; r++) {
        free(job->rank[r].input);
        free(job->rank[r].output);
    }
    world_destroy(job->world);
}

/* Returns 0; or 1 if something failed or, with --check, is too slow. */
static int try_sizes(const asked_t *asked, const char *algorithm)
{
    static const size_t sizes[] = {(size_t)3 << 19, (size_t)1 << 21, (size_t)1 << 22, (size_t)1 << 24};
    trv_schedule_t *schedule;
    job_t job;
    int failed = 0;
    if (trv_schedule_create(&schedule, &asked->torus, algorithm, TRV_ALLREDUCE) < 0) {
        fprintf(stderr, "overlap: %s\n", trv_last_error());
        return 1;
    }
    for (size_t i = 0; i < (asked->bytes ? 1 : sizeof sizes / sizeof sizes[0]); i++) {
        bool made = make_job(&job, asked, schedule, asked->bytes ? asked->bytes : sizes[i]);
        failed |= !made || !(asked->order ? compare_orders(&job, asked) : compare(&job, asked));
        clear_job(&job);
    }
    trv_schedule_destroy(schedule);
    return failed;
}

/* Returns false after an error message. */
static bool read_arguments(asked_t *asked, int count, char **argument)
{
    bool torus = false, right = true;
    for (int i = 1; right && i < count; i++) {
        const char *word = argument[i], *value = i + 1 < count ? argument[i + 1] : "";
        bool takes = strcmp(word, "--bytes") == 0 || strcmp(word, "--chunk") == 0 || strcmp(word, "--reduction") == 0;
        if (strcmp(word, "--check") == 0)
            asked->check = true;
        else if (strcmp(word, "--order") == 0)
            asked->order = true;
        else if (takes) {
            double number = atof(value);
            right = number > 0;
            asked->bytes = word[2] == 'b' ? (size_t)number : asked->bytes;
            asked->chunk = word[2] == 'c' ? (size_t)number : asked->chunk;
            asked->reduction = word[2] == 'r' ? number : asked->reduction;
            i++;
        } else if (!torus) {
            right = trv_torus_parse(word, &asked->torus) == 0 && asked->torus.ranks <= RANKS_MAX;
            torus = true;
        } else if ((right = asked->algorithms < ALGORITHMS_MAX)) {
            asked->algorithm[asked->algorithms++] = word;
        }
    }
    if (!right)
        fprintf(stderr,
                "overlap: usage: overlap [TORUS [ALGORITHM...]] [--bytes B] [--chunk BYTES] [--reduction F] "
                "[--check | --order], TORUS of at most %d ranks\n",
                RANKS_MAX);
    return right;
}

static int try_torus(const asked_t *asked)
{
    int failed = 0;
    for (int i = 0; i < asked->algorithms; i++)
        failed |= try_sizes(asked, asked->algorithm[i]);
    return failed;
}

static void print_header(const asked_t *asked)
{
    if (asked->order)
        puts("torus,algorithm,bytes,chunks,aligned_us,opposite_us,opposite_by_aligned,limit_us,aligned_arrived,"
             "opposite_arrived");
    else
        printf("%-20s %10s %12s %12s %12s %8s %8s\n", "schedule", "bytes", "messages us", "one chunk us",
               "in chunks us", "ratio", "limit");
}

int main(int count, char **argument)
{
    static const char *const usual[] = {"trivance-b", "ring",       "bucket",   "recdoub-b",
                                        "swing-b",    "trivance-l", "recdoub-l"};
    static const char *const ordered[] = {"trivance-b", "trivance-l", "ring"}, *const rings[] = {"8", "9", "27"};
    asked_t asked = {.reduction = 0.5};
    int failed = 0;
    if (!read_arguments(&asked, count, argument))
        return 2;
    const char *const *own = asked.order ? ordered : usual;
    const int owns = asked.algorithms ? 0 : (int)(asked.order ? sizeof ordered : sizeof usual) / (int)sizeof *own;
    for (int i = 0; i < owns; i++)
        asked.algorithm[asked.algorithms++] = own[i];
    if (asked.order && asked.bytes == 0)
        asked.bytes = ORDER_BYTES;
    print_header(&asked);
    if (asked.torus.ranks > 0)
        return try_torus(&asked);
    for (size_t i = 0; i < (asked.order ? sizeof rings / sizeof rings[0] : 1); i++) {
        trv_torus_parse(asked.order ? rings[i] : "4", &asked.torus);
        failed |= try_torus(&asked);
    }
    return failed;
}
