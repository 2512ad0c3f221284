/*
 * The part of MPI that src/mpi/reports calls, so that its tests run in one process without an MPI library, and under
 * ThreadSanitizer, for which no MPI library is built. The tests define the functions.
 */
#ifndef TRIVANCE_TESTS_STUB_MPI_H
#define TRIVANCE_TESTS_STUB_MPI_H

typedef int MPI_Comm;
typedef int MPI_Request;
typedef int MPI_Status;

#define MPI_SUCCESS       0
#define MPI_COMM_WORLD    1
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_REQUEST_NULL  (-1)

int PMPI_Initialized(int *flag);
int PMPI_Finalized(int *flag);
int PMPI_Abort(MPI_Comm comm, int code);
int PMPI_Comm_rank(MPI_Comm comm, int *rank);
int PMPI_Comm_size(MPI_Comm comm, int *size);
int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int PMPI_Cancel(MPI_Request *request);
int PMPI_Wait(MPI_Request *request, MPI_Status *status);

#endif
