/*
 * Implementation of the exchanges.
 *
 * An allreduce in an out-of-band group uses the communication pattern of Trivance: in step k a rank exchanges with the
 * ranks 3^k before and after it, so that after ceil(log3 n) steps the maximum has reached every rank. The maximum does
 * not change if a contribution is included twice, so any number of ranks is possible. The broadcast uses a binomial
 * tree.
 */
#include "mpi/communicator/exchange.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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
    return posted == MPI_SUCCESS ? trv_mpi_watch_all(ranks, 1, request, action) : posted;
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

static int member(const trv_mpi_oob_t *oob, int rank)
{
    rank = (rank % oob->ranks + oob->ranks) % oob->ranks;
    return oob->member ? oob->member[rank] : rank;
}

/* One step of the allreduce: exchanges the words with the ranks `distance` before and after this one. */
static int exchange_with(const trv_mpi_oob_t *oob, int distance, int64_t *word, int64_t received[2][TRV_MPI_WORDS_MAX],
                         int words, const char *action)
{
    MPI_Request request[4];
    int requests = 0, code = MPI_SUCCESS;
    for (int side = 0; side < 2 && code == MPI_SUCCESS; side++) {
        int peer = member(oob, oob->rank + (side ? distance : -distance));
        code = PMPI_Irecv(received[side], words, MPI_INT64_T, peer, oob->tag, oob->comm, &request[requests]);
        requests += code == MPI_SUCCESS;
    }
    for (int side = 0; side < 2 && code == MPI_SUCCESS; side++) {
        int peer = member(oob, oob->rank + (side ? distance : -distance));
        code = PMPI_Isend(word, words, MPI_INT64_T, peer, oob->tag, oob->comm, &request[requests]);
        requests += code == MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS)
        return trv_mpi_watch_all(oob->ranks, requests, request, action);
    trv_mpi_cancel_all(requests, request);
    return code;
}

int trv_mpi_oob_allreduce_max(const trv_mpi_oob_t *oob, int64_t *word, int words, const char *action)
{
    int64_t received[2][TRV_MPI_WORDS_MAX];
    int code = MPI_SUCCESS;
    for (int64_t distance = 1; distance < oob->ranks && code == MPI_SUCCESS; distance *= 3) {
        code = exchange_with(oob, (int)distance, word, received, words, action);
        for (int i = 0; i < 2 * words && code == MPI_SUCCESS; i++) {
            int64_t other = received[i / words][i % words];
            word[i % words] = other > word[i % words] ? other : word[i % words];
        }
    }
    return code;
}

int trv_mpi_oob_broadcast(const trv_mpi_oob_t *oob, void *data, size_t bytes, const char *action)
{
    MPI_Request request[32];
    int requests = 0, code = MPI_SUCCESS, bit = 1;
    while (bit < oob->ranks && !(oob->rank & bit))
        bit *= 2;
    if (oob->rank > 0)
        code = PMPI_Irecv(data, (int)bytes, MPI_BYTE, member(oob, oob->rank - bit), oob->tag, oob->comm, request);
    if (oob->rank > 0 && code == MPI_SUCCESS)
        code = trv_mpi_watch_all(oob->ranks, 1, request, action);
    for (bit /= 2; bit > 0 && code == MPI_SUCCESS; bit /= 2) {
        if (oob->rank + bit >= oob->ranks)
            continue;
        code = PMPI_Isend(data, (int)bytes, MPI_BYTE, member(oob, oob->rank + bit), oob->tag, oob->comm,
                          &request[requests]);
        requests += code == MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS)
        return trv_mpi_watch_all(oob->ranks, requests, request, action);
    trv_mpi_cancel_all(requests, request);
    return code;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

void trv_mpi_word_pair(int64_t word[2], uint64_t value)
{
    word[0] = (int64_t)(value & TRV_MPI_WORD_MAX);
    word[1] = TRV_MPI_WORD_MAX - word[0];
}

int trv_mpi_word_agrees(const int64_t word[2]) { return word[0] == TRV_MPI_WORD_MAX - word[1]; }
