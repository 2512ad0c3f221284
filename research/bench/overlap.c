/*
 * Measures the share of the time of reductions that overlaps with messages, by an AllReduce with and without chunks.
 *
 *     overlap [TORUS [ALGORITHM…]] [--bytes B] [--chunk BYTES] [--reduction F] [--check | --order]
 *
 * Each rank has a core, and there is a network of 100 Gb/s, in virtual time (virtual.h). The speed of reductions is set
 * so that the busiest rank spends F (0.5) of the time on them that a run in one chunk takes without reductions. A run
 * in which all reductions overlap takes the time without reductions, which is the limit. Chunks may beat it, since they
 * also use links and steps that one chunk leaves idle. src/execute/run/chunk.c determines the size of the library's own
 * chunks.
 *
 * --order: instead, the effect of the order in which chunks leave (paper, section 7, joint reductions): CSV with the
 * times in 2, 3 and 4 chunks that leave in the same order in both directions (aligned), and in opposite orders
 * (order.h), their limit, which is the aligned time without reductions, and the share of the messages of the first step
 * that has arrived when the first reduction begins. `trivance figures` includes it in its report.
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

typedef struct options {
    trv_torus_t torus;
    const char *algorithm[ALGORITHMS_MAX];
    int algorithms;
    size_t bytes, chunk; /* 0: several sizes; the library's own */
    double reduction;
    bool check, order;
} options_t;

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

static double busiest_rank(const job_t *job)
{
    double busiest = 0;
    for (int r = 0; r < job->ranks; r++)
        busiest = job->rank[r].busy > busiest ? job->rank[r].busy : busiest;
    return busiest;
}

/* Measures and prints one line; false if something failed or is too slow. */
static bool compare(job_t *job, const options_t *options)
{
    const size_t vector_bytes = job->count * sizeof(double);
    double messages = run(job, vector_bytes, 0);
    if (messages < 0)
        return false;
    double per_byte = options->reduction * messages / busiest_rank(job);
    double one = run(job, vector_bytes, per_byte), own = run(job, options->chunk, per_byte);
    if (one < 0 || own < 0)
        return false;
    printf("%-20s %10zu %12.1f %12.1f %12.1f %8.2f %8.2f\n", trv_schedule_name(job->schedule), vector_bytes,
           messages * 1e6, one * 1e6, own * 1e6, one / own, one / messages);
    fflush(stdout);
    double limit = one / messages, min = limit < 1.25 ? limit : 1.25;
    return !options->check || one / own > 0.995 * min;
}

/* The same in aligned and in opposite order, for several numbers of chunks. */
static bool compare_orders(job_t *job, const options_t *options)
{
    const size_t vector_bytes = job->count * sizeof(double);
    char torus[TRV_TORUS_TEXT_MAX];
    double messages = run(job, vector_bytes, 0), per_byte = options->reduction * messages / busiest_rank(job);
    for (int chunks = 2; messages >= 0 && chunks <= ORDER_CHUNKS_MAX; chunks++) {
        double time[2], arrived[2], limit;
        job->chunks = chunks;
        job->opposite = false;
        limit = run(job, vector_bytes / (size_t)chunks, 0);
        for (int o = 0; o < 2; o++) {
            job->opposite = o == 1;
            time[o] = run(job, vector_bytes / (size_t)chunks, per_byte);
            arrived[o] = job->rank[0].arrived;
        }
        if (limit < 0 || time[0] < 0 || time[1] < 0)
            return false;
        printf("%s,%s,%zu,%d,%.2f,%.2f,%.3f,%.2f,%.3f,%.3f\n", trv_torus_format(&options->torus, torus, sizeof torus),
               trv_schedule_name(job->schedule), vector_bytes, chunks, time[0] * 1e6, time[1] * 1e6, time[1] / time[0],
               limit * 1e6, arrived[0], arrived[1]);
        fflush(stdout);
    }
    return messages >= 0;
}

static bool job_create(job_t *job, const options_t *options, const trv_schedule_t *schedule, size_t bytes)
{
    *job = (job_t){.schedule = schedule,
                   .ranks = options->torus.ranks,
                   .count = bytes / sizeof(double),
                   .world = world_create(&options->torus, &network)};
    bool created = job->world != NULL;
    for (int r = 0; r < job->ranks; r++) {
        rank_t *rank = &job->rank[r];
        *rank = (rank_t){job->world, r, 0, 0, malloc(bytes), malloc(bytes), NULL, NULL, 0};
        created = created && rank->input && rank->output;
        for (size_t i = 0; created && i < job->count; i++)
            rank->input[i] = (double)(i % 1000) + r;
    }
    return created;
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
static int try_sizes(const options_t *options, const char *algorithm)
{
    static const size_t sizes[] = {(size_t)3 << 19, (size_t)1 << 21, (size_t)1 << 22, (size_t)1 << 24};
    trv_schedule_t *schedule;
    job_t job;
    int failed = 0;
    if (trv_schedule_create(&schedule, &options->torus, algorithm, TRV_ALLREDUCE) < 0) {
        fprintf(stderr, "overlap: %s\n", trv_last_error());
        return 1;
    }
    for (size_t i = 0; i < (options->bytes ? 1 : sizeof sizes / sizeof sizes[0]); i++) {
        bool created = job_create(&job, options, schedule, options->bytes ? options->bytes : sizes[i]);
        failed |= !created || !(options->order ? compare_orders(&job, options) : compare(&job, options));
        clear_job(&job);
    }
    trv_schedule_destroy(schedule);
    return failed;
}

/* Returns false after an error message. */
static bool read_arguments(options_t *options, int count, char **argument)
{
    bool torus = false, valid = true;
    for (int i = 1; valid && i < count; i++) {
        const char *word = argument[i], *value = i + 1 < count ? argument[i + 1] : "";
        bool takes = strcmp(word, "--bytes") == 0 || strcmp(word, "--chunk") == 0 || strcmp(word, "--reduction") == 0;
        if (strcmp(word, "--check") == 0)
            options->check = true;
        else if (strcmp(word, "--order") == 0)
            options->order = true;
        else if (takes) {
            double number = atof(value);
            valid = number > 0;
            options->bytes = word[2] == 'b' ? (size_t)number : options->bytes;
            options->chunk = word[2] == 'c' ? (size_t)number : options->chunk;
            options->reduction = word[2] == 'r' ? number : options->reduction;
            i++;
        } else if (!torus) {
            valid = trv_torus_parse(word, &options->torus) == 0 && options->torus.ranks <= RANKS_MAX;
            torus = true;
        } else if ((valid = options->algorithms < ALGORITHMS_MAX)) {
            options->algorithm[options->algorithms++] = word;
        }
    }
    if (!valid)
        fprintf(stderr,
                "overlap: usage: overlap [TORUS [ALGORITHM...]] [--bytes B] [--chunk BYTES] [--reduction F] "
                "[--check | --order], TORUS of at most %d ranks\n",
                RANKS_MAX);
    return valid;
}

static int try_torus(const options_t *options)
{
    int failed = 0;
    for (int i = 0; i < options->algorithms; i++)
        failed |= try_sizes(options, options->algorithm[i]);
    return failed;
}

static void print_header(const options_t *options)
{
    if (options->order)
        puts("torus,algorithm,bytes,chunks,aligned_us,opposite_us,opposite_by_aligned,limit_us,aligned_arrived,"
             "opposite_arrived");
    else
        printf("%-20s %10s %12s %12s %12s %8s %8s\n", "schedule", "bytes", "messages us", "one chunk us",
               "in chunks us", "ratio", "limit");
}

int main(int count, char **argument)
{
    static const char *const default_algorithm[] = {"trivance-b", "ring",       "bucket",   "recdoub-b",
                                                    "swing-b",    "trivance-l", "recdoub-l"};
    static const char *const order_algorithm[] = {"trivance-b", "trivance-l", "ring"}, *const rings[] = {"8", "9",
                                                                                                         "27"};
    options_t options = {.reduction = 0.5};
    int failed = 0;
    if (!read_arguments(&options, count, argument))
        return 2;
    const char *const *list = options.order ? order_algorithm : default_algorithm;
    const int list_size = options.algorithms
                              ? 0
                              : (int)(options.order ? sizeof order_algorithm : sizeof default_algorithm) /
                                    (int)sizeof *list;
    for (int i = 0; i < list_size; i++)
        options.algorithm[options.algorithms++] = list[i];
    if (options.order && options.bytes == 0)
        options.bytes = ORDER_BYTES;
    print_header(&options);
    if (options.torus.ranks > 0)
        return try_torus(&options);
    for (size_t i = 0; i < (options.order ? sizeof rings / sizeof rings[0] : 1); i++) {
        trv_torus_parse(options.order ? rings[i] : "4", &options.torus);
        failed |= try_torus(&options);
    }
    return failed;
}
