/*
 * AllReduce without MPI: one process per rank, over libfabric.
 *
 *     cc allreduce_net.c $(pkg-config --cflags --libs trivance-net) -o allreduce_net
 *     trivance launch -n 4 ./allreduce_net            or: torchrun --no-python --nproc-per-node 4 ./allreduce_net
 */
#include <stdio.h>

#include <trivance/net.h>

enum { COUNT = 1000 };

static int run(trv_net_t *net)
{
    static float gradient[COUNT];
    trv_net_comm_t *world = trv_net_world(net);
    const int rank = trv_net_rank(world), ranks = trv_net_size(world);
    for (int i = 0; i < COUNT; i++)
        gradient[i] = (float)(rank + i);
    int code = trv_net_allreduce(world, gradient, gradient, COUNT, TRV_FLOAT, TRV_SUM);
    if (code == 0 && rank == 0)
        printf("%d ranks: element 1 is %g\n", ranks, gradient[1]);
    return code;
}

int main(void)
{
    trv_net_t *net;
    int code = trv_net_init(&net, NULL);
    if (code == 0) {
        code = run(net);
        if (code == 0)
            code = trv_net_finalize(&net);
    }
    if (code != 0)
        fprintf(stderr, "%s\n", trv_last_error());
    return code != 0;
}
