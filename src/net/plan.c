/*
 * Plans. Each has its own decision and one instance, independent of the communicator's cache (entry.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/inside.h"

struct trv_net_plan {
    trv_net_comm_t *comm;
    trv_net_entry_t *entry;
    trv_instance_t *instance;
    size_t count;
    uint64_t inner;
    bool running;
    trv_net_plan_t *next;
};

static int plan_check(const trv_net_plan_t *plan)
{
    return plan ? TRV_OK : trv_fail(TRV_ERR_ARGUMENT, "the plan is NULL; trv_net_plan_create creates one");
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static int options_check(const trv_net_comm_t *comm, trv_collective_t collective, const trv_elements_t *elements,
                         const trv_net_plan_options_t *options)
{
    int rc = trv_check_size(options->size, sizeof *options, "TRV_NET_PLAN_OPTIONS");
    if (rc == TRV_OK)
        rc = trv_collective_check(collective, options->root, comm->size);
    if (rc == TRV_OK)
        rc = trv_elements_check(collective, elements);
    const trv_schedule_t *schedule = options->schedule;
    if (rc < 0 || !schedule)
        return rc;
    if (trv_schedule_torus(schedule)->ranks != comm->size || trv_schedule_collective(schedule) != collective)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the schedule is for %d ranks, or for another collective; the communicator "
                        "has %d ranks",
                        trv_schedule_torus(schedule)->ranks, comm->size);
    if (trv_schedule_root(schedule) != options->root)
        return trv_fail(TRV_ERR_ARGUMENT, "the schedule has root %d, but the member `root` of the options is %d",
                        trv_schedule_root(schedule), options->root);
    return TRV_OK;
}

/* Adds the plan to the list of the net, which frees the plans that the program has not freed. */
static void plan_register(trv_net_plan_t *plan)
{
    trv_net_t *net = plan->comm->net;
    pthread_mutex_lock(&net->lock);
    plan->next = net->plan;
    net->plan = plan;
    pthread_mutex_unlock(&net->lock);
}

static void plan_destroy(trv_net_plan_t *plan)
{
    if (plan->instance)
        trv_instance_give(plan->instance);
    if (plan->entry)
        trv_net_entry_release(plan->entry);
    free(plan);
}

/* Creates the instance. An error on this rank breaks the net, because the ranks have no further exchange in which they
 * could agree on it. The exception is an error in the decision of rank 0, which all ranks receive and return. */
static int plan_create_instance(trv_net_plan_t *plan, size_t count)
{
    trv_net_comm_t *comm = plan->comm;
    pthread_mutex_lock(&comm->lock);
    int rc = trv_comm_await_sequence(comm);
    if (rc == TRV_OK)
        rc = trv_instance_take(plan->entry, &plan->instance);
    if (rc == TRV_OK)
        rc = trv_net_entry_decide(plan->entry, count, NULL);
    pthread_mutex_unlock(&comm->lock);
    if (rc < 0)
        return trv_net_break(comm->net);
    bool ended;
    trv_instance_begin_creation(plan->instance, count);
    return trv_net_request_progress(&plan->instance->request, INFINITY, &ended);
}

int trv_net_plan_create(trv_net_plan_t **created, trv_net_comm_t *comm, trv_collective_t collective, size_t count,
                        trv_type_t type, trv_op_t op, const trv_net_plan_options_t *options)
{
    const trv_net_plan_options_t none = {TRV_NET_PLAN_OPTIONS};
    const trv_elements_t standard = {.type = type, .op = op};
    if (!created)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the argument for the new plan is NULL; pass the address of a trv_net_plan_t *");
    *created = NULL;
    options = options ? options : &none;
    int rc = trv_comm_check(comm);
    const trv_elements_t *elements = options->size == sizeof *options && options->elements ? options->elements
                                                                                           : &standard;
    if (rc == TRV_OK)
        rc = options_check(comm, collective, elements, options);
    if (rc == TRV_OK)
        rc = trv_count_check(collective, trv_elements_size(elements), count, comm->size);
    if (rc < 0)
        return rc;
    const uint64_t bytes = trv_vector_bytes(collective, trv_elements_size(elements), count, comm->size);
    const unsigned number = atomic_fetch_add(&comm->plans, 1);
    if (number >= TRV_SEQUENCES)
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "a communicator can have at most %d plans in its lifetime; create another one with trv_net_split",
            TRV_SEQUENCES);
    const trv_net_call_t call = {.collective = collective, .root = options->root, .elements = *elements};
    trv_net_plan_t *plan = calloc(1, sizeof *plan);
    pthread_mutex_lock(&comm->lock);
    rc = plan ? trv_net_entry_create(&plan->entry, comm, &call, bytes,
                                     options->algorithm ? options->algorithm : comm->algorithm)
              : trv_fail_memory();
    pthread_mutex_unlock(&comm->lock);
    if (rc < 0) {
        free(plan);
        return trv_net_break(comm->net);
    }
    plan->comm = comm;
    plan->count = count;
    plan->inner = trv_collective_tag(true, number);
    plan->entry->base.schedule = options->schedule;
    rc = plan_create_instance(plan, count);
    if (rc < 0) {
        plan_destroy(plan);
        return rc;
    }
    plan_register(plan);
    *created = plan;
    return TRV_OK;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

int trv_net_plan_start(trv_net_plan_t *plan, const void *input, void *output)
{
    int rc = plan_check(plan);
    if (rc == TRV_OK)
        rc = trv_comm_check(plan->comm);
    if (rc < 0)
        return rc;
    if (plan->running)
        return trv_fail(TRV_ERR_STATE, "the plan is running; wait for it before it is started again");
    const trv_net_entry_t *entry = plan->entry;
    rc = trv_net_check_buffers(plan->comm, entry->base.collective, entry->base.root, entry->element_size, plan->count,
                               input, output);
    if (rc < 0)
        return rc;
    plan->running = true;
    trv_instance_begin(plan->instance, plan->inner, input, output, plan->count);
    return TRV_OK;
}

static int plan_progress(trv_net_plan_t *plan, bool waits, bool *done)
{
    *done = true;
    int rc = plan_check(plan);
    if (rc < 0 || !plan->running)
        return rc;
    rc = trv_net_request_progress(&plan->instance->request, waits ? INFINITY : 0, done);
    plan->running = !*done;
    return rc;
}

int trv_net_plan_test(trv_net_plan_t *plan, bool *done)
{
    return done ? plan_progress(plan, false, done)
                : trv_fail(TRV_ERR_ARGUMENT, "the argument `done` is NULL; pass the address of a bool");
}

int trv_net_plan_wait(trv_net_plan_t *plan)
{
    bool done;
    return plan_progress(plan, true, &done);
}

int trv_net_plan_run(trv_net_plan_t *plan, const void *input, void *output)
{
    int rc = trv_net_plan_start(plan, input, output);
    return rc < 0 ? rc : trv_net_plan_wait(plan);
}

int trv_net_plan_free(trv_net_plan_t **plan)
{
    int rc = plan_check(plan ? *plan : NULL);
    if (rc < 0)
        return rc;
    if ((*plan)->running)
        return trv_fail(TRV_ERR_STATE, "the plan is running; wait for it before it is freed");
    trv_net_t *net = (*plan)->comm->net;
    pthread_mutex_lock(&net->lock);
    trv_net_plan_t **at = &net->plan;
    while (*at && *at != *plan)
        at = &(*at)->next;
    if (*at)
        *at = (*plan)->next;
    pthread_mutex_unlock(&net->lock);
    plan_destroy(*plan);
    *plan = NULL;
    return TRV_OK;
}

int trv_net_plan_query(const trv_net_plan_t *plan, trv_net_plan_info_t *info)
{
    int rc = plan_check(plan);
    if (rc == TRV_OK && !info)
        rc = trv_fail(TRV_ERR_ARGUMENT, "info is NULL; pass the address of a trv_net_plan_info_t");
    if (rc == TRV_OK)
        rc = trv_check_size(info->size, sizeof *info, "TRV_NET_PLAN_INFO");
    if (rc < 0)
        return rc;
    const trv_net_entry_t *entry = plan->entry;
    *info = (trv_net_plan_info_t){.size = sizeof *info, .algorithm = ""};
    trv_torus_format(&plan->entry->network.torus, info->torus, sizeof info->torus);
    if (!entry->base.schedule)
        return TRV_OK; /* a communicator of one rank has no schedule */
    info->algorithm = trv_prepared_algorithm(&entry->base);
    info->steps = trv_schedule_steps(entry->base.schedule);
    info->bytes_sent = trv_plan_bytes_sent(plan->instance->plan);
    info->scratch_bytes = trv_plan_scratch_bytes(plan->instance->plan);
    return TRV_OK;
}

void trv_net_free_members(trv_net_t *net)
{
    while (net->plan) {
        trv_net_plan_t *next = net->plan->next;
        plan_destroy(net->plan);
        net->plan = next;
    }
    trv_net_requests_abandon(net);
    while (net->comm) {
        trv_net_comm_t *next = net->comm->next;
        trv_comm_destroy(net->comm);
        net->comm = next;
    }
    trv_comm_destroy(net->world);
    net->world = NULL;
}
