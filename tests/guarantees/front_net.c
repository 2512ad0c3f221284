/*
 * The front end libtrivance_net (front.h).
 */
#include "front.h"

#include <stdio.h>
#include <stdlib.h>

#include <trivance/net.h>

front_limits_t front_limits = {.can_restart = true,
                               .checks_arguments = true,
                               .can_set_algorithm = true,
                               .compares_ranks = true,
                               .has_threads = true};

struct front_comm {
    trv_net_comm_t *comm;
};

struct front_task {
    trv_net_comm_t *comm;
    call_t call;
    trv_net_request_t request;
    trv_net_plan_t *plan;
};

static trv_net_t *net;

const char *front_reason(void) { return trv_last_error(); }

/* ---- Communicators ----------------------------------------------------------------------------------------------- */

static void check(int code)
{
    if (code == TRV_OK)
        return;
    fprintf(stderr, "guarantees: %s\n", trv_last_error());
    exit(2);
}

void front_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    check(trv_net_init(&net, NULL));
}

void front_end(void) { check(trv_net_finalize(&net)); }

static front_comm_t *comm_wrap(trv_net_comm_t *comm)
{
    front_comm_t *made = malloc(sizeof *made);
    made->comm = comm;
    return made;
}

front_comm_t *front_fresh(bool broken)
{
    trv_net_comm_t *made;
    if (broken && net)
        trv_net_finalize(&net); /* returns the error of the net */
    if (!net && trv_net_init(&net, NULL) < 0)
        return NULL;
    return trv_net_split(trv_net_world(net), 0, 0, &made) < 0 ? NULL : comm_wrap(made);
}

front_comm_t *front_split(front_comm_t *comm, int color, int key)
{
    trv_net_comm_t *made;
    check(trv_net_split(comm->comm, color, key, &made));
    return made ? comm_wrap(made) : NULL;
}

front_comm_t *front_duplicate(front_comm_t *comm) { return front_split(comm, 0, front_rank(comm)); }

void front_free(front_comm_t *comm)
{
    if (comm)
        trv_net_comm_free(&comm->comm);
    free(comm);
}

int front_rank(const front_comm_t *comm) { return trv_net_rank(comm->comm); }

int front_size(const front_comm_t *comm) { return trv_net_size(comm->comm); }

int front_set(front_comm_t *comm, const char *torus, const char *algorithm)
{
    return trv_net_comm_set(comm->comm, torus, algorithm);
}

int front_barrier(front_comm_t *comm) { return trv_net_barrier(comm->comm); }

void front_send(front_comm_t *comm, int peer)
{
    int word = 0;
    check(trv_net_send(comm->comm, &word, sizeof word, peer, 0));
}

void front_receive(front_comm_t *comm, int peer)
{
    int word = 0;
    check(trv_net_receive(comm->comm, &word, sizeof word, peer, 0));
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

#define POST(name, ...)                                                                                                \
    (call->form == BLOCKING ? trv_net_##name(task->comm, __VA_ARGS__)                                                  \
                            : trv_net_##name##_start(task->comm, __VA_ARGS__, &task->request))

static int task_post(front_task_t *task)
{
    const call_t *call = &task->call;
    const void *send = call->send;
    void *receive = call->receive;
    const size_t count = call->count;
    switch (call->collective) {
    case TRV_ALLREDUCE: return POST(allreduce, send, receive, count, call->type, call->op);
    case TRV_REDUCE_SCATTER: return POST(reduce_scatter, send, receive, count, call->type, call->op);
    case TRV_ALLGATHER: return POST(allgather, send, receive, count, call->type);
    case TRV_BROADCAST: return POST(broadcast, receive, count * trv_type_size(call->type), call->root);
    case TRV_REDUCE: return POST(reduce, send, receive, count, call->type, call->op, call->root);
    case TRV_GATHER: return POST(gather, send, receive, count, call->type, call->root);
    case TRV_SCATTER: return POST(scatter, send, receive, count, call->type, call->root);
    case TRV_ALLTOALL: return POST(alltoall, send, receive, count, call->type);
    }
    abort();
}

int front_create(front_task_t **task, front_comm_t *comm, const call_t *call)
{
    const trv_net_plan_options_t options = {TRV_NET_PLAN_OPTIONS, .root = call->root};
    *task = malloc(sizeof **task);
    **task = (front_task_t){.comm = comm->comm, .call = *call};
    if (call->form != REUSED)
        return TRV_OK;
    return trv_net_plan_create(&(*task)->plan, comm->comm, call->collective, call->count, call->type, call->op,
                               &options);
}

int front_start(front_task_t *task)
{
    return task->call.form == REUSED ? trv_net_plan_start(task->plan, task->call.send, task->call.receive)
                                     : task_post(task);
}

int front_test(front_task_t *task, bool *done)
{
    *done = true;
    return task->call.form == BLOCKING ? TRV_OK
           : task->call.form == REUSED ? trv_net_plan_test(task->plan, done)
                                       : trv_net_test(&task->request, done);
}

int front_wait(front_task_t *task)
{
    return task->call.form == BLOCKING ? TRV_OK
           : task->call.form == REUSED ? trv_net_plan_wait(task->plan)
                                       : trv_net_wait(&task->request);
}

int front_destroy(front_task_t *task)
{
    const int code = task->plan ? trv_net_plan_free(&task->plan) : TRV_OK;
    if (code == TRV_OK)
        free(task);
    return code;
}
