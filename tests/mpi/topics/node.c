/*
 * The shared memory of a node: its creation by messages between its ranks only, also if a step fails on one of them,
 * and runs in it with any count. Even ranks are one node and odd ranks another, or all ranks are one node; the lowest
 * rank of a node is its leader.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <trivance/trivance.h>

#include "base/error.h"
#include "harness.h"
#include "topics.h"
#include "mpi/node/node.h"
#include "transport/mpi/channel.h"
#include "transport/mpi/waiting.h"

enum { RANKS_MAX = 64, TAG = 4711 };

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* The step that fails on this rank while a node is created. */
static enum fault { NONE, NO_MEMORY, NO_FILE, NO_MAP, NOT_ALLOWED, NO_PROCESS, OTHER_FILE, SHORT_FILE } fault;

int __real_memfd_create(const char *, unsigned);
int __wrap_memfd_create(const char *, unsigned);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
ssize_t __real_readlink(const char *, char *, size_t);
ssize_t __wrap_readlink(const char *, char *, size_t);
int __real_ftruncate(int, off_t);
int __wrap_ftruncate(int, off_t);
void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t, size_t);
bool test_calloc_fails;

static int fails(int error)
{
    errno = error;
    return -1;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return fault == NO_FILE ? fails(EMFILE) : __real_memfd_create(name, flags);
}

/* Makes the file longer than the other ranks expect. */
int __wrap_ftruncate(int file, off_t length)
{
    return __real_ftruncate(file, fault == SHORT_FILE ? length + 4096 : length);
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int file, off_t offset)
{
    return fault == NO_MAP ? fails(ENOMEM), MAP_FAILED : __real_mmap(at, length, protection, flags, file, offset);
}

ssize_t __wrap_readlink(const char *path, char *target, size_t size)
{
    if (fault == NOT_ALLOWED || fault == NO_PROCESS)
        return fails(fault == NOT_ALLOWED ? EACCES : ENOENT);
    if (fault != OTHER_FILE)
        return __real_readlink(path, target, size);
    memcpy(target, "/dev/null", size < 9 ? size : 9);
    return 9;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fault == NO_MEMORY || test_calloc_fails ? NULL : __real_calloc(count, size);
}

/* ---- Creating nodes ---------------------------------------------------------------------------------------------- */

static MPI_Comm job, own_node;           /* of all ranks; of the ranks of this rank's node, for the test only */
static int member[RANKS_MAX], nodes = 2; /* rank r is on node r % nodes */

static trv_mpi_node_group_t own_group(void)
{
    trv_mpi_node_group_t group = {.comm = job, .tag = TAG, .member = member, .rank = test_rank / nodes};
    for (int r = test_rank % nodes; r < test_ranks; r += nodes)
        member[group.ranks++] = r;
    return group;
}

/* Of the even ranks, the one with index `index` has a fault. All ranks of its node return the error; the other node is
 * not affected. */
static void try_fault(enum fault what, int index, int code, const char *words)
{
    trv_mpi_node_group_t group = own_group();
    trv_mpi_node_t *node = NULL;
    char sentence[256] = "";
    bool even = test_rank % 2 == 0;
    if (index >= (test_ranks + 1) / 2)
        return;
    fault = even && group.rank == index ? what : NONE;
    int got = trv_mpi_node_create(&node, &group);
    fault = NONE;
    if (got < 0)
        snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    expect(got == (even ? code : TRV_OK), "fault %d of index %d: %d (%s)", what, index, got, sentence);
    expect(!even || code == TRV_OK || strstr(sentence, words), "fault %d: '%s' does not contain '%s'", what, sentence,
           words);
    expect(test_mapped_nodes() == (got == TRV_OK) && (node != NULL) == (got == TRV_OK), "fault %d leaves %d memories",
           what, test_mapped_nodes());
    expect_identical(sentence, sizeof sentence, own_node, "the sentence");
    trv_mpi_node_destroy(node);
    expect(test_mapped_nodes() == 0, "a node's memory is still mapped");
}

static void faults(void)
{
    char text[80];
    try_fault(NONE, 0, TRV_OK, "");
    try_fault(NO_FILE, 0, TRV_ERR_MEMORY, "rank 0 cannot create the shared memory");
    for (int index = 0; index < (test_ranks + 1) / 2; index++) {
        snprintf(text, sizeof text, "rank %d has no memory", 2 * index);
        try_fault(NO_MEMORY, index, TRV_ERR_MEMORY, text);
        snprintf(text, sizeof text, "rank %d cannot map the shared memory", 2 * index);
        try_fault(NO_MAP, index, TRV_ERR_MEMORY, text);
    }
    for (int index = 1; index < (test_ranks + 1) / 2; index++) {
        snprintf(text, sizeof text, "rank %d cannot open the shared memory of rank 0", 2 * index);
        try_fault(NOT_ALLOWED, index, TRV_ERR_UNSUPPORTED, text);
        snprintf(text, sizeof text, "ranks 0 and %d have the same coordinate, but are not on the same", 2 * index);
        try_fault(NO_PROCESS, index, TRV_ERR_UNSUPPORTED, text);
        try_fault(OTHER_FILE, index, TRV_ERR_UNSUPPORTED, text);
    }
    if (test_ranks > 2)
        try_fault(SHORT_FILE, 0, TRV_ERR_UNSUPPORTED, "ranks 0 and 2 have the same coordinate");
    try_fault(NONE, 0, TRV_OK, "");
    int pending = 0;
    test_barrier(job);
    PMPI_Iprobe(MPI_ANY_SOURCE, TAG, job, &pending, MPI_STATUS_IGNORE);
    expect(!pending, "a message is left");
    test_barrier(job); /* the next node uses the same tag */
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

enum { COUNT_MAX = 300000 };

static int first_tag;
static bool reduction_fails; /* the reductions of this rank fail */

static int add(void *context, void *destination, const void *const *source, int sources, size_t count)
{
    (void)context;
    return reduction_fails ? trv_fail(TRV_ERR_ARGUMENT, "this rank does not add")
                           : trv_reduce(TRV_SUM, TRV_INT64, destination, source, sources, count);
}

static int64_t value(int rank, size_t i) { return (int64_t)(test_random((uint64_t)rank * COUNT_MAX + i) % 1000003); }

static int64_t expected[COUNT_MAX]; /* the sums over all ranks */
static int expected_ranks;          /* the number of ranks that `expected` is for */

static void compute_expected(void)
{
    if (expected_ranks == test_ranks)
        return;
    expected_ranks = test_ranks;
    memset(expected, 0, sizeof expected);
    for (int r = 0; r < test_ranks; r++)
        for (size_t i = 0; i < COUNT_MAX; i++)
            expected[i] += value(r, i);
}

typedef struct world {
    trv_schedule_t *schedule; /* between the nodes' leaders, ranks 0 and 1 */
    trv_mpi_channel_t *channel;
    trv_mpi_node_t *node;
    trv_plan_t *plan;
    trv_mpi_node_run_t *run;
    int64_t *in, *out;
} world_t;

static void world_begin(world_t *world, const char *algorithm, size_t chunk_bytes)
{
    trv_torus_t torus;
    trv_mpi_node_group_t group = own_group();
    trv_elements_t elements = {.element_size = sizeof(int64_t), .reduce = add};
    trv_plan_options_t options = {TRV_PLAN_OPTIONS, .chunk_bytes = chunk_bytes};
    *world = (world_t){.in = malloc(COUNT_MAX * sizeof(int64_t)), .out = malloc(COUNT_MAX * sizeof(int64_t))};
    trv_torus_parse(test_ranks > 1 && nodes > 1 ? "2" : "1", &torus);
    expect(trv_mpi_node_create(&world->node, &group) == 0, "a node: %s", trv_last_error());
    expect(trv_schedule_create(&world->schedule, &torus, algorithm, TRV_ALLREDUCE) == 0, "%s", trv_last_error());
    expect(trv_mpi_channel_create(&world->channel, job, 0) == 0, "a channel");
    trv_mpi_channel_set_tag(world->channel, first_tag); /* the tags of a failed run must not be used again */
    first_tag += TRV_MPI_POSITION_TAGS;
    if (group.rank == 0)
        expect(trv_plan_create(&world->plan, world->schedule, test_rank % nodes, 0, &elements,
                               trv_mpi_channel_transport(world->channel), &options) == 0,
               "%s", trv_last_error());
    expect(trv_mpi_node_run_create(&world->run, world->node,
                                   &(trv_mpi_node_call_t){.collective = TRV_ALLREDUCE,
                                                          .elements = elements,
                                                          .plan = world->plan,
                                                          .shared = true}) == 0,
           "a run");
}

static void world_end(world_t *world)
{
    trv_mpi_node_run_destroy(world->run);
    trv_plan_destroy(world->plan);
    trv_mpi_channel_destroy(world->channel);
    trv_schedule_destroy(world->schedule);
    trv_mpi_node_destroy(world->node);
    free(world->in);
    free(world->out);
}

static int drive(world_t *world, size_t count, const void *input)
{
    int code;
    trv_mpi_node_run_start(world->run, count, input, world->out);
    for (unsigned polls = 1; (code = trv_mpi_node_run_test(world->run)) == 0; polls++)
        trv_mpi_pause(polls);
    return code;
}

/* Consecutive runs, with counts just below and above the size of a chunk, the node's (8192 elements) and the
 * schedule's. */
static void try_counts(const char *algorithm, size_t chunk_bytes)
{
    static const size_t counts[] = {5, 0, 8191, 8192, 8193, 1, 16384, 16385, 40000, 100001, COUNT_MAX, 3};
    world_t world;
    compute_expected();
    world_begin(&world, algorithm, chunk_bytes);
    for (size_t c = 0; c < 2 * sizeof counts / sizeof counts[0]; c++) {
        const size_t count = counts[c / 2];
        const bool in_place = c % 2;
        int64_t *input = in_place ? world.out : world.in;
        memset(world.out, 0xee, COUNT_MAX * sizeof *world.out);
        for (size_t i = 0; i < count; i++)
            input[i] = value(test_rank, i);
        int code = drive(&world, count, input), wrong = 0;
        for (size_t i = 0; i < count; i++)
            wrong += world.out[i] != expected[i];
        for (size_t i = count; i < COUNT_MAX && i < count + 100; i++)
            wrong += world.out[i] != (int64_t)0xeeeeeeeeeeeeeeee;
        expect(code == 1 && wrong == 0, "%s, chunks of %zu, %zu elements%s: %d, %d wrong", algorithm, chunk_bytes,
               count, in_place ? " in place" : "", code, wrong);
    }
    world_end(&world);
}

/* Makes progress on this rank's run until `failing_rank`, whose run has failed, calls this function. */
static void wait_for_failure(world_t *world, int failing_rank)
{
    MPI_Request notified;
    int code, done = 0, word = 1;
    PMPI_Ibcast(&word, 1, MPI_INT, failing_rank, job, &notified);
    for (unsigned polls = 1; !done; polls++) {
        PMPI_Test(&notified, &done, MPI_STATUS_IGNORE);
        if (test_rank != failing_rank && !done && (code = trv_mpi_node_run_test(world->run)) != 0) {
            expect(code == 1, "%d nodes, rank %d fails, and rank %d: %s", nodes, failing_rank, test_rank,
                   trv_last_error());
            PMPI_Wait(&notified, MPI_STATUS_IGNORE);
            done = 1;
        }
        trv_mpi_pause(polls);
    }
}

/* A rank that cannot reduce its part returns the error immediately. The others wait until a broadcast stops them. */
static void try_failure(int failing_rank)
{
    world_t world;
    int code;
    if (failing_rank >= test_ranks)
        return;
    world_begin(&world, "trivance-b", 100000);
    for (size_t i = 0; i < COUNT_MAX; i++)
        world.in[i] = value(test_rank, i);
    expect(drive(&world, 20000, world.in) == 1, "before the failure: %s", trv_last_error());
    reduction_fails = test_rank == failing_rank;
    if (test_rank == failing_rank) {
        code = drive(&world, COUNT_MAX, world.in);
        expect(code < 0 && strstr(trv_last_error(), "does not add"), "%d nodes, rank %d fails: %d (%s)", nodes,
               failing_rank, code, trv_last_error());
    } else {
        trv_mpi_node_run_start(world.run, COUNT_MAX, world.in, world.out);
    }
    wait_for_failure(&world, failing_rank);
    reduction_fails = false;
    test_barrier(job);
    world_end(&world);
}

/* The leader of a node reports that the last rank differs in the root, or in the count; both are named as ranks of the
 * communicator, in which they are in the reverse order. */
static void try_differences(bool other_root)
{
    const trv_elements_t elements = {.element_size = sizeof(int64_t), .reduce = add};
    const int last = test_ranks - 1;
    const bool differs = test_rank == last;
    int rank_at[RANKS_MAX];
    char words[200];
    world_t world;
    if (last == 0)
        return;
    for (int p = 0; p < test_ranks; p++)
        rank_at[p] = last - p;
    world_begin(&world, "trivance-b", 0);
    trv_mpi_node_set_layout(world.node, 0, 1, rank_at);
    trv_mpi_node_run_destroy(world.run);
    expect(trv_mpi_node_run_create(&world.run, world.node,
                                   &(trv_mpi_node_call_t){.collective = TRV_REDUCE,
                                                          .root = differs && other_root ? 0 : last,
                                                          .elements = elements,
                                                          .plan = world.plan,
                                                          .shared = true}) == 0,
           "a run");
    trv_mpi_node_run_start(world.run, differs && !other_root ? 11 : 10, world.in, world.out);
    if (test_rank == 0) {
        int code = 0;
        for (unsigned polls = 1; (code = trv_mpi_node_run_test(world.run)) == 0; polls++)
            trv_mpi_pause(polls);
        snprintf(words, sizeof words,
                 other_root ? "rank 0 calls Reduce with the root 0, but rank %d, on the same node, with the root %d;"
                            : "rank 0 has another count, type or operation than rank %d, on the same node, which calls "
                              "Reduce with 10 elements of 8 bytes",
                 last, last);
        expect(code < 0 && strstr(trv_last_error(), words), "other %s: %d (%s)", other_root ? "roots" : "counts", code,
               trv_last_error());
    }
    wait_for_failure(&world, 0);
    test_barrier(job);
    world_end(&world);
}

void topic_node(void)
{
    nodes = 2;
    first_tag = 0;
    expected_ranks = 0;
    MPI_Comm_dup(test_comm, &job);
    MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
    MPI_Comm_split(job, test_rank % 2, test_rank, &own_node);
    faults();
    try_counts("trivance-b", 0);
    try_counts("trivance-b", 50000);
    try_counts("trivance-l", 65536);
    for (int failing_rank = 0; failing_rank < test_ranks; failing_rank++)
        try_failure(failing_rank);
    nodes = 1;
    try_counts("trivance-b", 0);
    try_failure(0);
    try_failure(test_ranks - 1);
    try_differences(true);
    try_differences(false);
    MPI_Comm_free(&own_node); /* but not `job`: messages are left on it, and a later one would have its context id */
}
