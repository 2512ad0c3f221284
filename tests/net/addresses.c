/*
 * A job that starts twice: by the option `bootstrap_broadcast`, as the PyTorch backend and MPI programs do, and by
 * MASTER_ADDR. The broadcast is a file in the folder JOB_FILES.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/net.h>

static int broadcast_by_file(void *context, void *data, size_t bytes)
{
    char path[256], renamed[256];
    const int rank = *(const int *)context;
    snprintf(path, sizeof path, "%s/broadcast%s", getenv("JOB_FILES"), rank == 0 ? ".new" : "");
    snprintf(renamed, sizeof renamed, "%s/broadcast", getenv("JOB_FILES"));
    FILE *file;
    while (!(file = fopen(path, rank == 0 ? "w" : "r")) && rank > 0)
        usleep(10000);
    const bool done = file && (rank == 0 ? fwrite(data, 1, bytes, file) : fread(data, 1, bytes, file)) == bytes;
    if (!file || fclose(file) != 0 || !done || (rank == 0 && rename(path, renamed) != 0))
        return TRV_ERR_TRANSPORT;
    if (rank == 0)
        fprintf(stderr, "rank 0 publishes%s\n", strrchr(data, ' '));
    return TRV_OK;
}

static int run(const trv_net_options_t *options)
{
    trv_net_t *net;
    int rc = trv_net_init(&net, options);
    if (rc < 0)
        return rc;
    trv_net_comm_t *world = trv_net_world(net);
    const int ranks = trv_net_size(world);
    int64_t sum = trv_net_rank(world), parts[64] = {0};
    rc = trv_net_allreduce(world, &sum, &sum, 1, TRV_INT64, TRV_SUM);
    if (rc == TRV_OK) /* messages between all pairs of ranks */
        rc = trv_net_alltoall(world, parts, parts, 1, TRV_INT64);
    if (rc == TRV_OK)
        rc = trv_net_finalize(&net);
    return rc < 0 ? rc : sum == ranks * (ranks - 1) / 2 ? TRV_OK : 1;
}

int main(void)
{
    int rank = atoi(getenv("RANK"));
    const trv_net_options_t broadcast = {TRV_NET_OPTIONS, .bootstrap_broadcast = broadcast_by_file,
                                         .bootstrap_context = &rank},
                            *const start[] = {&broadcast, NULL};
    for (int i = 0; i < 2; i++)
        if (run(start[i]) != TRV_OK) {
            fprintf(stderr, "rank %d, %s: %s\n", rank, i == 0 ? "by broadcast" : "by MASTER_ADDR", trv_last_error());
            return 1;
        }
    return 0;
}
