/*
 * Operations that must not delay others: a message to a rank that makes no progress for a while and is not connected
 * yet; more long messages without a receive than the provider's queue can hold; more receives without a message than it
 * can hold. And more collectives than there are sequence numbers, for which the ranks wait in different orders. Five
 * ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <trivance/net.h>

#include "base/clock.h"

enum { LATE = 3, SENDS = 150, BYTES = 20000, RECEIVES = 5000, BROADCASTS = (1 << 13) + 300 };

static int rank;

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "rank %d: %s (%s)\n", rank, what, trv_last_error());
    exit(1);
}

static void receive_many(trv_net_comm_t *world)
{
    static int number[RECEIVES];
    static trv_net_request_t request[RECEIVES];
    const int ranks = trv_net_size(world), right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < RECEIVES; i++)
        check(trv_net_receive_start(world, &number[i], sizeof *number, right, i, &request[i]) == 0,
              "one of many receives");
    check(trv_net_barrier(world) == 0, "a barrier waits for receives without messages");
    for (int i = 0; i < RECEIVES; i++)
        check(trv_net_send(world, &i, sizeof i, left, i) == 0, "one of many sends");
    check(trv_net_wait_all(request, RECEIVES) == 0, "the end of many receives");
    for (int i = 0; i < RECEIVES; i++)
        check(number[i] == i, "a received number");
}

static void broadcast_many(trv_net_comm_t *world)
{
    static int number[BROADCASTS];
    static trv_net_request_t request[BROADCASTS];
    for (int i = 0; i < BROADCASTS; i++) {
        number[i] = rank == 0 ? i : -1;
        check(trv_net_broadcast_start(world, &number[i], sizeof *number, 0, &request[i]) == 0,
              "one of many broadcasts");
    }
    for (int i = 0; i < BROADCASTS; i++)
        check(trv_net_wait(&request[rank % 2 ? BROADCASTS - 1 - i : i]) == 0, "the end of one of many broadcasts");
    for (int i = 0; i < BROADCASTS; i++)
        check(number[i] == i, "the data of one of many broadcasts");
}

int main(void)
{
    static char data[SENDS][BYTES];
    trv_net_t *net;
    trv_net_comm_t *pair;
    trv_net_request_t request[SENDS] = {NULL};
    check(trv_net_init(&net, NULL) == 0, "start");
    trv_net_comm_t *world = trv_net_world(net);
    rank = trv_net_rank(world);
    check(trv_net_comm_set(world, NULL, "ring") == 0, "ring"); /* ranks 0 and LATE are not neighbours */
    check(trv_net_split(world, rank < 2 ? 0 : -1, 0, &pair) == 0, "split");
    const double start = trv_now_s();
    if (rank == LATE)
        sleep(3);
    if (rank == 0)
        check(trv_net_send_start(world, data[0], 1, LATE, 0, &request[0]) == 0, "first send");
    if (pair)
        check(trv_net_barrier(pair) == 0 && trv_now_s() - start < 2,
              "a barrier waits for a rank outside its communicator");
    if (rank == LATE)
        check(trv_net_receive(world, data[0], 1, 0, 0) == 0, "first receive");
    check(trv_net_wait(&request[0]) == 0, "end of the first send");

    for (int i = 0; i < SENDS && rank == 0; i++)
        check(trv_net_send_start(world, data[i], BYTES, LATE, i, &request[i]) == 0, "send");
    check(trv_net_barrier(world) == 0, "a barrier waits for messages without receives");
    for (int i = 0; i < SENDS && rank == LATE; i++)
        check(trv_net_receive_start(world, data[i], BYTES, 0, i, &request[i]) == 0, "receive");
    check(trv_net_wait_all(request, SENDS) == 0, "the end of the messages");
    receive_many(world);
    broadcast_many(world);
    check(trv_net_finalize(&net) == 0, "end");
    return 0;
}
