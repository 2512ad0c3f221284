/*
 * First calls with a new operation signature on a communicator while duplicates of it are being created by
 * MPI_Comm_idup. An ordinary and legal MPI program: blocking collectives are allowed meanwhile.
 *
 *     mpirun -n 4 pending [--rounds N]
 *
 * Open MPI creates a duplicate by several non-blocking collectives on the communicator. Each is started when the
 * previous one is complete, which happens at different times on the ranks: if a library posts a non-blocking collective
 * of its own there, the ranks match it with one of those.
 *
 * Exit code 1 with a message if a result is wrong, or a round does not end within PATIENCE seconds.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

enum { PATIENCE = 30, KINDS = 20, PENDING_MAX = 3 };

static void on_alarm(int signal)
{
    static const char words[] = "timeout in a round with pending duplicates\n";
    (void)signal;
    _exit(write(STDERR_FILENO, words, sizeof words - 1) > 0 ? 1 : 2);
}

/* A sum or a maximum of ones in one of several types, each with its own operation signature. Returns whether it is
 * right. */
static int reduce(int kind, MPI_Comm comm, int ranks)
{
    static const MPI_Datatype types[] = {MPI_INT,   MPI_UNSIGNED, MPI_INT32_T,        MPI_UINT32_T, MPI_LONG,
                                         MPI_SHORT, MPI_INT64_T,  MPI_UNSIGNED_SHORT, MPI_UINT64_T, MPI_INT8_T};
    const MPI_Datatype type = types[kind / 2];
    unsigned char in[8] = {1}, out[8] = {0};
    const int sum = kind % 2 == 0;
    MPI_Allreduce(in, out, 1, type, sum ? MPI_SUM : MPI_MAX, comm);
    return out[0] == (sum ? ranks : 1);
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, rounds = argc > 2 && strcmp(argv[1], "--rounds") == 0 ? atoi(argv[2]) : 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info info;
    MPI_Info_create(&info);
    signal(SIGALRM, on_alarm);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm, copy[PENDING_MAX];
        MPI_Request request[PENDING_MAX];
        alarm(PATIENCE);
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
        if (round % 2 == 0) /* else the very first collective is called while duplicates are pending */
            MPI_Barrier(comm);
        for (int kind = 0; kind < KINDS; kind++) {
            const int pending = 1 + kind % PENDING_MAX;
            for (int i = 0; i < pending; i++)
                MPI_Comm_idup(comm, &copy[i], &request[i]);
            if (round % 4 == 0 && kind % 5 == 0)
                MPI_Comm_set_info(comm, info);
            wrong += !reduce(kind, comm, ranks);
            if (round % 3 == 0) { /* and on a duplicate while another is pending */
                MPI_Wait(&request[0], MPI_STATUS_IGNORE);
                wrong += !reduce(kind, copy[0], ranks);
            }
            for (int i = 0; i < pending; i++) {
                MPI_Wait(&request[i], MPI_STATUS_IGNORE);
                MPI_Comm_free(&copy[i]);
            }
        }
        MPI_Comm_free(&comm);
    }
    alarm(0);
    MPI_Info_free(&info);
    printf("%d of %d results are wrong on rank %d\n", wrong, rounds * KINDS, rank);
    MPI_Finalize();
    return wrong > 0;
}
