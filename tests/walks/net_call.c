/*
 * A program without MPI for walks.py: in the last trv_net_allreduce, after walk_begins, everything is already prepared.
 */
#include <stdio.h>

#include <trivance/net.h>

/* The function at which valgrind starts a new profile. */
__attribute__((noinline)) static void walk_begins(void) { __asm__ volatile(""); }

int main(void)
{
    double input = 1, output = 0;
    trv_net_t *net = NULL;
    int rc = trv_net_init(&net, NULL);
    for (int call = 0; call < 4 && rc == TRV_OK; call++) {
        if (call == 3)
            walk_begins();
        rc = trv_net_allreduce(trv_net_world(net), &input, &output, 1, TRV_DOUBLE, TRV_SUM);
    }
    const int ranks = trv_net_size(trv_net_world(net));
    if (rc < 0)
        fprintf(stderr, "%s\n", trv_last_error());
    trv_net_finalize(&net);
    return rc == TRV_OK && output == ranks ? 0 : 1;
}
