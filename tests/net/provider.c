/*
 * Prints on rank 0 the provider in use, after all ranks have communicated by it once.
 */
#include <stdio.h>

#include <trivance/net.h>

int main(void)
{
    trv_net_t *net;
    if (trv_net_init(&net, NULL) < 0) {
        fprintf(stderr, "%s\n", trv_last_error());
        return 1;
    }
    trv_net_port_t port = {TRV_NET_PORT};
    if (trv_net_port(net, 0, &port) < 0 || trv_net_barrier(trv_net_world(net)) < 0)
        return 1;
    if (trv_net_rank(trv_net_world(net)) == 0)
        puts(port.provider);
    return trv_net_finalize(&net) < 0;
}
