/*
 * Messages for errors of MPI.
 */
#ifndef TRIVANCE_TRANSPORT_MPI_MPI_ERROR_H
#define TRIVANCE_TRANSPORT_MPI_MPI_ERROR_H

/* Sets the message "`what` failed: …" with MPI's text for `code`, and returns TRV_ERR_TRANSPORT. */
int trv_mpi_transport_error(const char *what, int code);

#endif
