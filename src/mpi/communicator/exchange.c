/*
 * The exchanges.
 */
#include "mpi/communicator/exchange.h"

#include "mpi/reports/watch.h"

static int complete(MPI_Comm comm, int posted, MPI_Request *request, const char *what)
{
    return posted == MPI_SUCCESS ? trv_mpi_watch_all(comm, request, what) : posted;
}

int trv_mpi_greatest(MPI_Comm comm, int64_t *word, int words, const char *what)
{
    MPI_Request request;
    int posted = PMPI_Iallreduce(MPI_IN_PLACE, word, words, MPI_INT64_T, MPI_MAX, comm, &request);
    return complete(comm, posted, &request, what);
}

int trv_mpi_tell(MPI_Comm comm, void *data, size_t bytes, int from, const char *what)
{
    MPI_Request request;
    int posted = PMPI_Ibcast(data, (int)bytes, MPI_BYTE, from, comm, &request);
    return complete(comm, posted, &request, what);
}

int trv_mpi_collect(MPI_Comm comm, const void *mine, void *all, size_t bytes, const char *what)
{
    MPI_Request request;
    int posted = PMPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm, &request);
    return complete(comm, posted, &request, what);
}

void trv_mpi_word_pair(int64_t word[2], uint64_t value)
{
    word[0] = (int64_t)(value & TRV_MPI_WORD_MAX);
    word[1] = TRV_MPI_WORD_MAX - word[0];
}

int trv_mpi_word_agrees(const int64_t word[2])
{
    return word[0] == TRV_MPI_WORD_MAX - word[1];
}
