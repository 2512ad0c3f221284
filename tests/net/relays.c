/*
 * For hosts that do not forward (cables.sh), at least four in a ring or chain:
 *
 *     relays           messages between ranks that are not neighbours, also while the ranks between them compute
 *     relays unplug    AllReduces until a cable is pulled; all ranks must get an error that names it
 *     relays refused SENTENCE    the start must fail on all ranks, with an error that contains the sentence
 *
 * JOB_FILES is a folder that all ranks share, in which `relays unplug` creates the file `begun` when the cable may be
 * pulled.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "job.h"

enum { LONG = 3000000, MANY = 200, COMPUTES_S = 60 };

/* ---- Files that all ranks share ---------------------------------------------------------------------------------- */

static const char *file_path(const char *name)
{
    static char path[4096];
    expect(getenv("JOB_FILES"));
    snprintf(path, sizeof path, "%s/%s", getenv("JOB_FILES"), name);
    return path;
}

static void file_create(const char *name)
{
    FILE *file = fopen(file_path(name), "w");
    expect(file && fclose(file) == 0);
}

static bool file_exists(const char *name) { return access(file_path(name), F_OK) == 0; }

/* ---- The tests --------------------------------------------------------------------------------------------------- */

/* Rank 0 sends to rank 2, while the other ranks make no call of the library until the message has arrived. */
static void test_computing(trv_net_comm_t *world)
{
    char *data = calloc(1, LONG);
    expect(data && trv_net_barrier(world) == TRV_OK);
    if (rank == 0) {
        memset(data, 7, LONG);
        expect(trv_net_send(world, data, LONG, 2, 5) == TRV_OK);
    } else if (rank == 2) {
        expect(trv_net_receive(world, data, LONG, 0, 5) == TRV_OK);
        expect(data[0] == 7 && data[LONG - 1] == 7);
        file_create("received");
    } else {
        const double end_s = trv_now_s() + COMPUTES_S;
        while (!file_exists("received")) {
            expect(trv_now_s() < end_s);
            usleep(1000);
        }
    }
    expect(trv_net_barrier(world) == TRV_OK);
    free(data);
}

/* Messages of two tags keep their order within a tag, whatever the order of the receives. */
static void test_order(trv_net_comm_t *world)
{
    static int sent[2 * MANY], received[2 * MANY];
    static trv_net_request_t request[2 * MANY];
    if (rank == 0) {
        for (int i = 0; i < 2 * MANY; i++) {
            sent[i] = i;
            expect(trv_net_send_start(world, &sent[i], sizeof sent[i], 2, i % 2, &request[i]) == TRV_OK);
        }
        expect(trv_net_wait_all(request, 2 * MANY) == TRV_OK);
    } else if (rank == 2) {
        for (int tag = 1; tag >= 0; tag--)
            for (int i = 0; i < MANY; i++)
                expect(trv_net_receive_start(world, &received[tag * MANY + i], sizeof received[0], 0, tag,
                                             &request[tag * MANY + i]) == TRV_OK);
        expect(trv_net_wait_all(request, 2 * MANY) == TRV_OK);
        for (int i = 0; i < 2 * MANY; i++)
            expect(received[i] == i % MANY * 2 + i / MANY);
    }
    expect(trv_net_barrier(world) == TRV_OK);
}

/* A communicator of ranks that are not neighbours. */
static void test_members(trv_net_comm_t *world)
{
    trv_net_comm_t *even;
    expect(trv_net_split(world, rank % 2 ? -1 : 0, 0, &even) == TRV_OK);
    if (even) {
        int64_t *data = make(1000, rank), members[64];
        int member[64], size = 0;
        for (int r = 0; r < ranks; r += 2)
            member[size++] = r;
        expect(trv_net_allreduce(even, data, data, 1000, TRV_INT64, TRV_SUM) == TRV_OK);
        for (size_t i = 0; i < 1000; i++)
            expect(data[i] == sum(size, i, member));
        int64_t own = rank;
        expect(trv_net_allgather(even, &own, members, 1, TRV_INT64) == TRV_OK);
        for (int i = 0; i < size; i++)
            expect(members[i] == member[i]);
        free(data);
        trv_net_comm_free(&even);
    }
}

static int unplug(trv_net_comm_t *world)
{
    int64_t *data = make(1000, rank);
    int rc = TRV_OK;
    for (int calls = 0; rc == TRV_OK; calls++) {
        rc = trv_net_allreduce(world, data, data, 1000, TRV_INT64, TRV_MAX);
        if (calls == 10 && rank == 0)
            file_create("begun");
        usleep(1000);
    }
    free(data);
    const bool right = strstr(trv_last_error(), " has lost the cable of its interface ") != NULL;
    fprintf(stderr, "rank %d: %s\n", rank, trv_last_error());
    return right ? 0 : 1;
}

/* Returns the exit status. */
static int refused(const char *sentence)
{
    trv_net_t *net;
    const bool right = trv_net_init(&net, NULL) < 0 && strstr(trv_last_error(), sentence);
    if (!right)
        fprintf(stderr, "expected the error '%s', but the last error is '%s'\n", sentence, trv_last_error());
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    trv_net_t *net;
    if (argc > 2 && strcmp(argv[1], "refused") == 0)
        return refused(argv[2]);
    expect(trv_net_init(&net, NULL) == TRV_OK);
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    ranks = trv_net_size(world);
    if (argc > 1 && strcmp(argv[1], "unplug") == 0) {
        const int code = unplug(world);
        trv_net_finalize(&net);
        return code;
    }
    test_computing(world);
    test_order(world);
    test_members(world);
    expect(trv_net_finalize(&net) == TRV_OK);
    return 0;
}
