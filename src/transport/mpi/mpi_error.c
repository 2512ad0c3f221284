/*
 * Converts MPI error codes to messages, by MPI_Error_string.
 */
#include "transport/mpi/mpi_error.h"

#include <mpi.h>

#include "base/error.h"

int trv_mpi_transport_error(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    return trv_fail(TRV_ERR_TRANSPORT, "%s failed: %.400s", what, text);
}
