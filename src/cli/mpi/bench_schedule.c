/*
 * A schedule from the user's file. Rank 0 reads it, because the file need not exist on every node, and broadcasts it.
 * The schedule is verified before it is executed: an incorrect one would produce wrong results or deadlock.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/text/whole_file.h"
#include "formats/schedule_file.h"
#include "cli/mpi/bench.h"
#include "cli/mpi/polled.h"
#include "cli/shared/input.h"
#include "cli/shared/tool.h"

int bench_schedule_load(const char *path, MPI_Comm comm, trv_schedule_t **schedule)
{
    int rank = 0, length = -1;
    char *text = NULL;
    const char *name;
    size_t bytes = 0;
    *schedule = NULL;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && trv_whole_file_read(path, &name, &text, &bytes) == TRV_OK)
        length = (int)bytes;
    if (polled_broadcast(comm, &length, sizeof length) < 0)
        length = -1;
    if (length < 0)
        return TRV_ERR_ARGUMENT; /* rank 0 has the error message, and only rank 0 prints */
    if (rank != 0)
        text = malloc((size_t)length + 1);
    if (!polled_all_true(comm, text != NULL)) {
        free(text);
        return trv_fail_memory();
    }
    PMPI_Bcast(text, length, MPI_BYTE, 0, comm);
    trv_schedule_file_t file = {0};
    int code = trv_schedule_file_parse(text, (size_t)length, path, &file, cli_warn_callback, (void *)(size_t) "bench");
    free(text);
    if (code == TRV_OK)
        code = cli_require_blocks(&file, path, "it cannot be executed");
    if (code == TRV_OK) {
        const trv_network_t network = trv_schedule_file_network(&file, trv_schedule_torus(file.schedule));
        code = cli_check_schedule(path, file.schedule, &network);
    }
    if (code != TRV_OK) {
        trv_schedule_destroy(file.schedule);
        return code;
    }
    *schedule = file.schedule;
    return TRV_OK;
}
