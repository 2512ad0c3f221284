/*
 * A schedule of the user's own: read by rank 0, since a file need not be on every node, and given to all. It is
 * verified before it moves data: a wrong one would give wrong results at best, and wait for ever at worst.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "formats/schedule_file.h"
#include "cli/mpi/bench.h"
#include "cli/mpi/together.h"
#include "cli/shared/input.h"

/* The file's text; NULL after trv_fail. */
static char *read_text(const char *path, int *length)
{
    FILE *file = fopen(path, "rb");
    long bytes = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    char *text = bytes >= 0 && bytes < INT_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (text) {
        rewind(file);
        *length = (int)fread(text, 1, (size_t)bytes, file);
    }
    if (!text || *length != bytes) {
        trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read, or has more than 2 GiB", path);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "trivance bench: warning: %s\n", sentence);
}

int bench_schedule_load(const char *path, MPI_Comm comm, trv_schedule_t **schedule)
{
    int rank = 0, length = -1;
    char *text = NULL;
    *schedule = NULL;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && !(text = read_text(path, &length)))
        length = -1;
    if (together_share(comm, &length, sizeof length) < 0)
        length = -1;
    if (length < 0)
        return TRV_ERR_ARGUMENT; /* rank 0 has the sentence, and it alone is heard */
    if (rank != 0)
        text = malloc((size_t)length + 1);
    if (!together_agree(comm, text != NULL)) {
        free(text);
        return trv_fail_memory();
    }
    PMPI_Bcast(text, length, MPI_BYTE, 0, comm);
    trv_schedule_file_t file = {0};
    int code = trv_schedule_file_parse(text, (size_t)length, path, &file, warn, NULL);
    free(text);
    if (code == TRV_OK && !file.has_blocks)
        code = trv_fail(TRV_ERR_INVALID,
                        "%.200s says which bytes go where, but not which blocks; only files with blocks "
                        "can move data",
                        path);
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
