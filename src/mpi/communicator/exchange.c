/*
 * Exchanges by the MPI library's collectives, and by messages of an out-of-band group.
 */
#include "mpi/communicator/exchange.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <trivance/common.h>

#include "mpi/reports/watch.h"

/* ---- On a communicator of the program ---------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int idup_key = MPI_KEYVAL_INVALID; /* the attribute of communicators on which MPI_Comm_idup was called */

static void create_idup_key(void)
{
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL) == MPI_SUCCESS)
        atomic_store(&idup_key, key);
}

void trv_mpi_mark_idup(MPI_Comm comm)
{
    int inter = 1;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return;
    pthread_once(&once, create_idup_key);
    if (atomic_load(&idup_key) != MPI_KEYVAL_INVALID)
        PMPI_Comm_set_attr(comm, atomic_load(&idup_key), NULL);
}

static bool is_marked(MPI_Comm comm)
{
    void *value;
    int found = 0, key = atomic_load(&idup_key);
    return key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, key, &value, &found) == MPI_SUCCESS && found;
}

static int wait_for(MPI_Comm comm, int posted, MPI_Request *request, const char *action)
{
    int ranks = 0;
    if (posted == MPI_SUCCESS)
        posted = PMPI_Comm_size(comm, &ranks);
    return posted == MPI_SUCCESS ? trv_mpi_watch_request(ranks, request, action) : posted;
}

int trv_mpi_allreduce_max(MPI_Comm comm, int64_t *word, int words, const char *action)
{
    MPI_Request request;
    if (is_marked(comm))
        return PMPI_Allreduce(MPI_IN_PLACE, word, words, MPI_INT64_T, MPI_MAX, comm);
    int posted = PMPI_Iallreduce(MPI_IN_PLACE, word, words, MPI_INT64_T, MPI_MAX, comm, &request);
    return wait_for(comm, posted, &request, action);
}

int trv_mpi_allreduce_max_of_both(MPI_Comm comm, int64_t *word, const char *action)
{
    int code = MPI_SUCCESS;
    /* A call returns the maximum of the other group only; the second call combines the maxima of both groups. */
    for (int again = 0; again < 2 && code == MPI_SUCCESS; again++) {
        MPI_Request request;
        int64_t other = 0;
        code = PMPI_Iallreduce(word, &other, 1, MPI_INT64_T, MPI_MAX, comm, &request);
        code = wait_for(comm, code, &request, action);
        *word = other > *word ? other : *word;
    }
    return code;
}

int trv_mpi_broadcast(MPI_Comm comm, void *data, size_t bytes, int from, const char *action)
{
    MPI_Request request;
    if (is_marked(comm))
        return PMPI_Bcast(data, (int)bytes, MPI_BYTE, from, comm);
    int posted = PMPI_Ibcast(data, (int)bytes, MPI_BYTE, from, comm, &request);
    return wait_for(comm, posted, &request, action);
}

int trv_mpi_allgather(MPI_Comm comm, const void *mine, void *all, size_t bytes, const char *action)
{
    MPI_Request request;
    if (is_marked(comm))
        return PMPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm);
    int posted = PMPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm, &request);
    return wait_for(comm, posted, &request, action);
}

/* ---- In an out-of-band group ------------------------------------------------------------------------------------- */

/* The messages of an exchange. */
typedef struct messages {
    const trv_mpi_oob_t *oob;
    trv_exchange_t *exchange;
    MPI_Request request[TRV_EXCHANGE_SLOTS];
    int code; /* MPI's, of the latest call */
} messages_t;

static int messages_post(void *context, int slot, bool sends, int peer, int lane, void *data, size_t bytes)
{
    messages_t *messages = context;
    const trv_mpi_oob_t *oob = messages->oob;
    const int member = oob->member ? oob->member[peer] : peer;
    MPI_Request *request = &messages->request[slot];
    (void)lane; /* MPI matches messages in the order of their posts */
    messages->code = sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, member, oob->tag, oob->comm, request)
                           : PMPI_Irecv(data, (int)bytes, MPI_BYTE, member, oob->tag, oob->comm, request);
    return messages->code == MPI_SUCCESS ? TRV_OK : TRV_ERR_TRANSPORT;
}

static int messages_test(void *context, int slot)
{
    messages_t *messages = context;
    int complete = 0;
    messages->code = PMPI_Test(&messages->request[slot], &complete, MPI_STATUS_IGNORE);
    return messages->code == MPI_SUCCESS ? complete : TRV_ERR_TRANSPORT;
}

static int messages_advance(void *context) { return trv_exchange_advance(((messages_t *)context)->exchange); }

int trv_mpi_oob_run(const trv_mpi_oob_t *oob, trv_exchange_t *exchange, const char *action)
{
    messages_t messages = {.oob = oob, .exchange = exchange, .code = MPI_SUCCESS};
    const trv_group_t group = {oob->rank, oob->ranks, messages_post, messages_test, &messages};
    for (int i = 0; i < TRV_EXCHANGE_SLOTS; i++)
        messages.request[i] = MPI_REQUEST_NULL;
    exchange->group = &group;
    if (trv_mpi_watch_until(oob->ranks, messages_advance, &messages, action) < 0)
        trv_mpi_cancel_all(TRV_EXCHANGE_SLOTS, messages.request);
    exchange->group = NULL;
    return messages.code;
}

int trv_mpi_oob_allreduce_max(const trv_mpi_oob_t *oob, int64_t *word, int words, const char *action)
{
    trv_exchange_t exchange;
    trv_exchange_maximum(&exchange, NULL, word, words);
    return trv_mpi_oob_run(oob, &exchange, action);
}

int trv_mpi_oob_broadcast(const trv_mpi_oob_t *oob, void *data, size_t bytes, const char *action)
{
    trv_exchange_t exchange;
    trv_exchange_broadcast(&exchange, NULL, data, bytes);
    return trv_mpi_oob_run(oob, &exchange, action);
}
