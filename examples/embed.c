/*
 * AllReduce inside one process: one thread per rank over the loopback transport. A transport of your own (shared
 * memory, RDMA, a simulator) can replace it: a trv_transport_t that begins with {TRV_TRANSPORT, …}.
 *
 *     cc embed.c $(pkg-config --cflags --libs trivance) -pthread -o embed && ./embed
 */
#include <pthread.h>
#include <stdio.h>

#include <trivance/trivance.h>

enum { RANKS = 9, COUNT = 1000 };

static trv_schedule_t *schedule; /* one schedule, read by all ranks */
static trv_loopback_t *hub;
static int vector[RANKS][COUNT];

static void *run_rank(void *argument)
{
    int rank = *(int *)argument;
    trv_elements_t elements = {.type = TRV_INT32, .op = TRV_SUM};
    trv_plan_t *plan = NULL;

    int code = trv_plan_create(&plan, schedule, rank, COUNT, &elements, trv_loopback_transport(hub, rank), NULL);
    if (code == 0)
        code = trv_plan_run(plan, vector[rank], vector[rank]); /* in place; a plan can be run any number of times */
    if (code != 0)
        fprintf(stderr, "rank %d: %s\n", rank, trv_last_error());
    trv_plan_destroy(plan);
    return NULL;
}

int main(void)
{
    trv_torus_t torus;
    if (trv_torus_parse("3x3", &torus) != 0 || trv_loopback_create(&hub, RANKS) != 0 ||
        trv_schedule_create(&schedule, &torus, "trivance-b", TRV_ALLREDUCE) != 0) {
        fprintf(stderr, "embed: %s\n", trv_last_error());
        return 1;
    }

    pthread_t thread[RANKS];
    int number[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        for (int i = 0; i < COUNT; i++)
            vector[rank][i] = rank * i;
        number[rank] = rank;
        pthread_create(&thread[rank], NULL, run_rank, &number[rank]);
    }
    for (int rank = 0; rank < RANKS; rank++)
        pthread_join(thread[rank], NULL);

    int wrong = 0;
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < COUNT; i++)
            wrong += vector[rank][i] != i * (RANKS * (RANKS - 1) / 2);
    printf("%d ranks, %d elements each: %d wrong\n", RANKS, COUNT, wrong);
    trv_schedule_destroy(schedule);
    trv_loopback_destroy(hub);
    return wrong != 0;
}
