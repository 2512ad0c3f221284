/*
 * Ranks in virtual time. Each rank is a thread, of which only one runs at a time: each of the others waits for its turn
 * on its own condition variable.
 */
#include "virtual.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A posted send or receive. Its completion time is INFINITY until the other side is posted, too. */
typedef struct request {
    bool sends, posted;
    int from, to, tag;
    void *data;
    size_t bytes;
    double complete;
    struct request *next;
} request_t;

typedef struct core {
    world_t *world;
    int rank;
    double
        now; /* time of this rank; while it is idle, the time at which it wakes up (INFINITY: with the next message) */
    bool idle, done;
    unsigned long events; /* number of posts and completions, to determine whether a poll had an effect */
    request_t *request;
    int requests;
    trv_transport_t transport;
    pthread_cond_t turn;
    pthread_t thread;
    trv_plan_t *plan;
    void *input, *output;
    int code;
    char sentence[256];
} core_t;

struct world {
    trv_torus_t torus;
    network_t network;
    core_t *core;
    double *free; /* time from which each directed link is free */
    request_t *waiting;
    pthread_mutex_t lock; /* held by the thread that runs */
    int running;          /* its rank; -1: all ranks are done */
    bool deadlocked;
};

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

static int first_in_time(const world_t *world)
{
    int first = -1;
    for (int r = 0; r < world->torus.ranks; r++)
        if (!world->core[r].done && (first < 0 || world->core[r].now < world->core[first].now))
            first = r;
    return first;
}

static void core_yield(core_t *core)
{
    world_t *world = core->world;
    world->running = first_in_time(world);
    if (world->running == core->rank || world->running < 0)
        return;
    pthread_cond_signal(&world->core[world->running].turn);
    while (!core->done && world->running != core->rank)
        pthread_cond_wait(&core->turn, &world->lock);
}

static void core_work(core_t *core, double seconds)
{
    core->now += seconds;
    core_yield(core);
}

/* Lets the rank sleep until the next of its messages is complete. */
static void core_sleep(core_t *core)
{
    double wake_at = INFINITY;
    for (int i = 0; i < core->requests; i++)
        if (core->request[i].posted && core->request[i].complete > core->now && core->request[i].complete < wake_at)
            wake_at = core->request[i].complete; /* messages that are already complete belong to a later stage */
    core->idle = true;
    core->now = wake_at;
    core_yield(core);
    core->idle = false;
    core->world->deadlocked = core->world->deadlocked || isinf(core->now);
}

static void core_wake(core_t *core, double when)
{
    if (core->idle && when < core->now)
        core->now = when;
}

/* ---- The network ------------------------------------------------------------------------------------------------- */

/* The port of the shorter path along the first dimension in which the ranks differ; at half the size even ranks use +,
 * odd ranks -. */
static int first_port(const trv_torus_t *torus, int from, int to)
{
    int a[TRV_DIMS_MAX], b[TRV_DIMS_MAX], d = 0;
    trv_torus_coordinates(torus, from, a);
    trv_torus_coordinates(torus, to, b);
    while (a[d] == b[d])
        d++;
    int hops = (b[d] - a[d] + torus->size[d]) % torus->size[d], back = torus->size[d] - hops;
    return trv_port(d, hops < back || (hops == back && from % 2 == 0) ? 1 : -1);
}

/* Sends a message whose second side was posted at `now`, and computes the completion times. */
static void travel(world_t *world, request_t *send, request_t *receive, double now)
{
    const network_t *network = &world->network;
    double head = now, duration = (double)send->bytes / network->bandwidth;
    trv_route_t route;
    int node = send->from, port;
    trv_route_begin(&route, &world->torus, send->from, send->to, first_port(&world->torus, send->from, send->to), 0);
    for (bool first = true; (port = trv_route_next(&route, &node)) >= 0; first = false) {
        double *free_at = &world->free[node * trv_port_count(&world->torus) + port];
        double start = *free_at > head ? *free_at : head;
        *free_at = start + duration;
        head = start + network->latency;
        if (first)
            send->complete = start + duration;
    }
    receive->complete = head + duration;
    memcpy(receive->data, send->data, send->bytes);
    core_wake(&world->core[send->from], send->complete);
    core_wake(&world->core[receive->to], receive->complete);
}

static int post(core_t *core, int slot, bool sends, int peer, int tag, void *data, size_t bytes)
{
    world_t *world = core->world;
    core_work(core, world->network.overhead);
    request_t *request = &core->request[slot], **at = &world->waiting;
    *request = (request_t){sends,    true, sends ? core->rank : peer, sends ? peer : core->rank, tag, data, bytes,
                           INFINITY, NULL};
    core->events++;
    while (*at &&
           ((*at)->sends == sends || (*at)->from != request->from || (*at)->to != request->to || (*at)->tag != tag))
        at = &(*at)->next;
    request_t *partner = *at;
    if (!partner) {
        *at = request;
        return 0;
    }
    *at = partner->next;
    if (partner->bytes != bytes)
        return TRV_ERR_TRANSPORT;
    travel(world, sends ? request : partner, sends ? partner : request, core->now);
    return 0;
}

/* ---- The transport ----------------------------------------------------------------------------------------------- */

static int world_open(void *context, int requests, int tags, int *base)
{
    core_t *core = context;
    (void)tags;
    core->request = calloc((size_t)requests, sizeof *core->request);
    core->requests = requests;
    *base = 0;
    return core->request ? 0 : TRV_ERR_MEMORY;
}

static void world_close(void *context, int base)
{
    core_t *core = context;
    (void)base;
    free(core->request);
    core->request = NULL;
    core->requests = 0;
}

static int world_send(void *context, int base, int slot, int peer, int tag, const void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, true, peer, tag, (void *)data, bytes);
}

static int world_receive(void *context, int base, int slot, int peer, int tag, void *data, size_t bytes)
{
    (void)base;
    return post(context, slot, false, peer, tag, data, bytes);
}

static int world_test(void *context, int base, int slot)
{
    core_t *core = context;
    request_t *request = &core->request[slot];
    (void)base;
    if (request->posted && request->complete > core->now)
        return 0;
    core->events += request->posted;
    request->posted = false;
    return 1;
}

/* After a failure no rank continues. */
static int world_cancel(void *context, int base, int slot)
{
    (void)context;
    (void)base;
    (void)slot;
    return 0;
}

const trv_transport_t *world_transport(world_t *world, int rank) { return &world->core[rank].transport; }

void world_work(world_t *world, int rank, double seconds) { core_work(&world->core[rank], seconds); }

/* ---- Worlds ------------------------------------------------------------------------------------------------------ */

world_t *world_create(const trv_torus_t *torus, const network_t *network)
{
    world_t *world = calloc(1, sizeof *world);
    if (!world)
        return NULL;
    world->torus = *torus;
    world->network = *network;
    world->core = calloc((size_t)torus->ranks, sizeof *world->core);
    world->free = calloc((size_t)(torus->ranks * trv_port_count(torus)), sizeof *world->free);
    pthread_mutex_init(&world->lock, NULL);
    for (int r = 0; world->core && r < torus->ranks; r++) {
        core_t *core = &world->core[r];
        core->world = world;
        core->rank = r;
        core->transport = (trv_transport_t){TRV_TRANSPORT, core,       world_open,   world_close, world_send,
                                            world_receive, world_test, world_cancel, NULL};
        pthread_cond_init(&core->turn, NULL);
    }
    if (world->core && world->free)
        return world;
    world_destroy(world);
    return NULL;
}

void world_destroy(world_t *world)
{
    for (int r = 0; world && world->core && r < world->torus.ranks; r++)
        pthread_cond_destroy(&world->core[r].turn);
    if (!world)
        return;
    pthread_mutex_destroy(&world->lock);
    free(world->core);
    free(world->free);
    free(world);
}

static void *live(void *context)
{
    core_t *core = context;
    world_t *world = core->world;
    pthread_mutex_lock(&world->lock);
    while (world->running != core->rank)
        pthread_cond_wait(&core->turn, &world->lock);
    core->code = trv_plan_start(core->plan, core->input, core->output);
    while (core->code == 0 && !world->deadlocked) {
        unsigned long before = core->events;
        double then = core->now;
        core->code = trv_plan_test(core->plan);
        if (core->code == 0 && core->events == before && core->now <= then)
            core_sleep(core);
    }
    if (core->code < 0)
        snprintf(core->sentence, sizeof core->sentence, "%s", trv_last_error());
    world->deadlocked = world->deadlocked || core->code < 0;
    core->done = true;
    core_yield(core);
    pthread_mutex_unlock(&world->lock);
    return NULL;
}

double world_run(world_t *world, trv_plan_t *const *plan, void *const *input, void *const *output)
{
    const int ranks = world->torus.ranks;
    double last = 0;
    world->deadlocked = false;
    world->waiting = NULL;
    world->running = 0;
    memset(world->free, 0, (size_t)(ranks * trv_port_count(&world->torus)) * sizeof *world->free);
    for (int r = 0; r < ranks; r++) {
        core_t *core = &world->core[r];
        core->now = 0;
        core->done = core->idle = false;
        core->plan = plan[r];
        core->input = input[r];
        core->output = output[r];
    }
    for (int r = 0; r < ranks; r++)
        if (pthread_create(&world->core[r].thread, NULL, live, &world->core[r]) != 0) {
            fprintf(stderr, "overlap: the thread of rank %d cannot be started\n", r);
            exit(2);
        }
    for (int r = 0; r < ranks; r++)
        pthread_join(world->core[r].thread, NULL);
    for (int r = 0; r < ranks; r++) {
        if (world->core[r].code < 0)
            fprintf(stderr, "rank %d: %s\n", r, world->core[r].sentence);
        last = world->core[r].now > last ? world->core[r].now : last;
    }
    return world->deadlocked ? -1 : last;
}
