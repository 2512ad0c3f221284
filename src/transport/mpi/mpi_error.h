/*
 * Errors of MPI, in words.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_MPI_ERROR_H
#define TRIVANCE_TRANSPORT_MPI_MPI_ERROR_H

/* TRV_ERR_TRANSPORT with the text of an MPI error code. */
int trv_mpi_transport_error(const char *what, int code);

#endif
