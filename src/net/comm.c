/*
 * Communicators. Each member assigns its own context id to a communicator, and a message carries the context id of its
 * receiver. Therefore messages of different communicators cannot be confused, although the members need not agree on an
 * id.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "net/inside.h"

enum { COMMS_MAX = 1 << TRV_CONTEXT_BITS };

int trv_comm_check(const trv_net_comm_t *comm)
{
    return comm ? trv_net_check(comm->net)
                : trv_fail(TRV_ERR_ARGUMENT, "the communicator is NULL; trv_net_world returns one");
}

static void comm_set_default_torus(trv_net_comm_t *comm)
{
    trv_torus_init(&comm->torus, 1, &comm->size);
    if (*comm->net->torus && comm->size == comm->net->ranks && !comm->member)
        trv_torus_parse(comm->net->torus, &comm->torus);
}

/* The flight recorder's name of the communicator, "comm 2.1 (3 ranks, 3, rank 4 of the job)": 2.1 are the rank in the
 * job of its first member and the context id that this member has assigned, the same on all ranks. */
static void comm_name(const trv_net_comm_t *comm)
{
    char label[128 + TRV_TORUS_TEXT_MAX], torus[TRV_TORUS_TEXT_MAX], job[40] = "";
    if (!comm->recorder)
        return;
    if (comm->member)
        snprintf(job, sizeof job, ", rank %d of the job", trv_member(comm, comm->rank));
    snprintf(label, sizeof label, "comm %d.%u (%d ranks, %s%s)", trv_member(comm, 0),
             comm->context_ids ? comm->context_ids[0] : comm->context_id, comm->size,
             trv_torus_format(&comm->torus, torus, sizeof torus), job);
    trv_recorder_rename(comm->recorder, label);
}

int trv_comm_create(trv_net_comm_t **created, trv_net_t *net, int rank, int size)
{
    trv_net_comm_t *comm = calloc(1, sizeof *comm);
    if (!comm)
        return trv_fail_memory();
    comm->net = net;
    comm->rank = rank;
    comm->size = size;
    snprintf(comm->algorithm, sizeof comm->algorithm, "%s", net->algorithm);
    pthread_mutex_init(&comm->lock, NULL);
    trv_pool_init(&comm->exchanges, INT_MAX);
    comm_set_default_torus(comm);
    if (trv_recording && net->log)
        comm->recorder = trv_recorder_create(rank, "", net->log, net->log_context);
    comm_name(comm);
    *created = comm;
    return TRV_OK;
}

void trv_comm_destroy(trv_net_comm_t *comm)
{
    if (!comm)
        return;
    trv_cache_clear(&comm->roots);
    trv_cache_clear(&comm->entries);
    trv_exchanges_clear(comm);
    trv_recorder_destroy(comm->recorder);
    pthread_mutex_destroy(&comm->lock);
    free(comm->member);
    free(comm->context_ids);
    free(comm);
}

trv_net_comm_t *trv_net_world(trv_net_t *net) { return net ? net->world : NULL; }

int trv_net_rank(const trv_net_comm_t *comm) { return comm ? comm->rank : -1; }

int trv_net_size(const trv_net_comm_t *comm) { return comm ? comm->size : 0; }

int trv_net_world_rank(const trv_net_comm_t *comm, int rank)
{
    if (!comm || rank < 0 || rank >= comm->size)
        return trv_fail(TRV_ERR_ARGUMENT, "the communicator has no rank %d", rank);
    return trv_member(comm, rank);
}

/* ---- Splitting --------------------------------------------------------------------------------------------------- */

/* Contribution of a rank to a split. */
typedef struct payload {
    int32_t color, key, context_id, rank; /* context_id: negative if none is left; rank: in the communicator */
} payload_t;

static int payload_compare(const void *left, const void *right)
{
    const payload_t *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank < b->rank ? -1 : 1;
}

/* Creates the communicator of the ranks that have the color of this rank, which is not negative. */
static int comm_create_part(trv_net_comm_t *comm, payload_t *all, const payload_t *mine, trv_net_comm_t **created)
{
    int size = 0, rank = 0, rc;
    for (int r = 0; r < comm->size; r++)
        if (all[r].color == mine->color)
            all[size++] = all[r];
    qsort(all, (size_t)size, sizeof *all, payload_compare);
    while (all[rank].rank != mine->rank)
        rank++;
    trv_net_comm_t *part;
    rc = trv_comm_create(&part, comm->net, rank, size);
    if (rc < 0)
        return rc;
    part->member = malloc((size_t)size * sizeof *part->member);
    part->context_ids = malloc((size_t)size * sizeof *part->context_ids);
    part->context_id = (uint32_t)mine->context_id;
    if (!part->member || !part->context_ids) {
        trv_comm_destroy(part);
        return trv_fail_memory();
    }
    for (int r = 0; r < size; r++) {
        part->member[r] = trv_member(comm, all[r].rank);
        part->context_ids[r] = (uint32_t)all[r].context_id;
    }
    comm_set_default_torus(part);
    comm_name(part);
    pthread_mutex_lock(&comm->net->lock);
    part->next = comm->net->comm;
    comm->net->comm = part;
    pthread_mutex_unlock(&comm->net->lock);
    *created = part;
    return TRV_OK;
}

int trv_net_split(trv_net_comm_t *comm, int color, int key, trv_net_comm_t **created)
{
    if (!created)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the argument for the new communicator is NULL; pass the address of a trv_net_comm_t *");
    *created = NULL;
    int rc = trv_comm_check(comm);
    if (rc < 0)
        return rc;
    /* A rank that has no context id left contributes -1, so that all ranks return the error. */
    const unsigned context_id = atomic_fetch_add(&comm->net->comms, 1) + 1;
    const payload_t mine = {color, key, context_id < COMMS_MAX ? (int32_t)context_id : -1, comm->rank};
    payload_t *all = malloc((size_t)comm->size * sizeof *all);
    if (!all)
        return trv_fail_memory(), trv_net_break(comm->net);
    rc = trv_net_allgather(comm, &mine, all, sizeof mine / sizeof mine.color, TRV_INT32);
    for (int r = 0; rc == TRV_OK && r < comm->size; r++)
        if (all[r].context_id < 0)
            rc = trv_fail(TRV_ERR_UNSUPPORTED, "rank %d has created %d communicators, the maximum", trv_member(comm, r),
                          COMMS_MAX);
    if (rc == TRV_OK && color >= 0) {
        rc = comm_create_part(comm, all, &mine, created);
        rc = rc < 0 ? trv_net_break(comm->net) : rc;
    }
    free(all);
    return rc;
}

void trv_net_comm_free(trv_net_comm_t **comm)
{
    if (!comm || !*comm || *comm == (*comm)->net->world)
        return;
    trv_net_t *net = (*comm)->net;
    pthread_mutex_lock(&net->lock);
    trv_net_comm_t **at = &net->comm;
    while (*at && *at != *comm)
        at = &(*at)->next;
    if (*at)
        *at = (*comm)->next;
    pthread_mutex_unlock(&net->lock);
    trv_comm_destroy(*comm);
    *comm = NULL;
}

int trv_net_comm_set(trv_net_comm_t *comm, const char *torus, const char *algorithm)
{
    trv_torus_t parsed;
    int rc = trv_comm_check(comm);
    if (rc < 0)
        return rc;
    if (torus && *torus) {
        rc = trv_torus_parse(torus, &parsed);
        if (rc < 0)
            return rc;
        if (parsed.ranks != comm->size)
            return trv_fail(TRV_ERR_ARGUMENT, "the torus %s has %d ranks, and the communicator has %d", torus,
                            parsed.ranks, comm->size);
    }
    if (algorithm && strlen(algorithm) >= sizeof comm->algorithm)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "the name '%.40s…' is longer than that of any algorithm; `trivance list` lists them",
                        algorithm);
    pthread_mutex_lock(&comm->lock);
    if (torus && *torus)
        comm->torus = parsed;
    else if (torus)
        trv_torus_init(&comm->torus, 1, &comm->size);
    if (algorithm)
        snprintf(comm->algorithm, sizeof comm->algorithm, "%s", algorithm);
    comm->torus_version++;
    comm_name(comm);
    trv_cache_clear(&comm->roots);
    trv_cache_clear(&comm->entries);
    pthread_mutex_unlock(&comm->lock);
    return TRV_OK;
}
