/*
 * Runs topics on communicators of several sizes in one MPI job, because most topics take less time than the start of a
 * job.
 *
 *     mpirun -n RANKS test_topics SIZE[,SIZE…] TOPIC…
 *
 * For each size, every topic runs on the first SIZE ranks, while the other ranks wait. The communicator of all ranks is
 * MPI_COMM_WORLD itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "topics.h"

enum { SIZES_MAX = 32 };

static const struct topic {
    const char *name;
    void (*run)(void);
} topics[] = {
    {"check", topic_check},           {"collectives", topic_collectives},
    {"errors", topic_errors},         {"node", topic_node},
    {"operations", topic_operations}, {"plans", topic_plans},
    {"requests", topic_requests},     {"rooted", topic_rooted},
    {"schedules", topic_schedules},   {"transport", topic_transport},
    {"types", topic_types},
};

static const struct topic *topic_find(const char *name)
{
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    fprintf(stderr, "test_topics: there is no topic '%s'\n", name);
    exit(2);
}

static void topic_run(const struct topic *topic)
{
    long before = test_expectations();
    if (test_rank == 0) { /* names the topic in which a job hangs */
        printf("%s, %d ranks\n", topic->name, test_ranks);
        fflush(stdout);
    }
    topic->run();
    expect(test_expectations() > before, "%s, %d ranks: nothing was expected", topic->name, test_ranks);
}

/* Runs the topics on the first `size` ranks. */
static void run_all(int size, char *const *name)
{
    int rank, ranks;
    MPI_Comm first = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (size < 1 || size > ranks) {
        fprintf(stderr, "test_topics: %d ranks of %d\n", size, ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (size < ranks)
        MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &first);
    if (first != MPI_COMM_NULL) {
        test_use(first);
        for (; *name; name++)
            topic_run(topic_find(*name));
        test_use(MPI_COMM_WORLD);
    }
    test_barrier(MPI_COMM_WORLD);
    if (size < ranks && first != MPI_COMM_NULL)
        MPI_Comm_free(&first);
}

int main(int argc, char **argv)
{
    int size[SIZES_MAX], sizes = 0;
    if (argc < 3)
        return fprintf(stderr, "Usage: mpirun -n RANKS test_topics SIZE[,SIZE…] TOPIC…\n"), 2;
    for (char *word = strtok(argv[1], ","); word && sizes < SIZES_MAX; word = strtok(NULL, ","))
        size[sizes++] = atoi(word);
    for (int i = 2; i < argc; i++)
        if (topic_find(argv[i])->run == topic_errors)
            errors_before_init();
        else if (topic_find(argv[i])->run == topic_rooted)
            rooted_before_init();
    test_begin(&argc, &argv);
    for (int i = 0; i < sizes; i++)
        run_all(size[i], argv + 2);
    return test_end();
}
