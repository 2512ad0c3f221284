/*
 * The coordinates of this rank by the functions of Fujitsu MPI (topology/sources/fujitsu.c).
 */
#ifndef TRIVANCE_MPI_COMMUNICATOR_FUJITSU_QUERY_H
#define TRIVANCE_MPI_COMMUNICATOR_FUJITSU_QUERY_H

#include "topology/sources/record.h"

/* Fills the record, whose bytes are all 0 before. Local. It remains so if the MPI library does not have the
 * functions. */
void trv_mpi_fujitsu_read(trv_fujitsu_record_t *record);

#endif
