/*
 * The exchange by which rank 0 finds the network for all ranks.
 */
#include "mpi/communicator/discover.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/communicator/fujitsu_query.h"
#include "mpi/reports/log.h"
#include "mpi/reports/watch.h"
#include "mpi/settings/job_settings.h"
#include "topology/pmix/pmix_place.h"
#include "topology/sources/sources.h"
#include "transport/mpi/mpi_error.h"

static const char FIND_NETWORK[] = "send their coordinates to rank 0";

/* The answer of rank 0. */
typedef struct trv_mpi_location {
    int32_t code;       /* as that of trv_discover */
    int32_t source;     /* index of the source */
    int32_t separate;   /* as in trv_found_t */
    int32_t coordinate; /* of the rank that receives this */
    trv_torus_t torus;
} location_t;

/* ---- The record of this rank ------------------------------------------------------------------------------------- */

static trv_rank_record_t own;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void record_read(void)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    trv_record_read(&own);
    PMPI_Get_processor_name(host, &length); /* as in topology files */
    memset(own.host, 0, sizeof own.host);
    memcpy(own.host, host, strnlen(host, sizeof own.host - 1));
    trv_mpi_fujitsu_read(&own.fujitsu);
    trv_pmix_place_read(&own.pmix);
}

bool trv_mpi_discovery_has_source(void)
{
    pthread_once(&once, record_read);
    return trv_record_has_source(&own);
}

/* ---- The exchange ------------------------------------------------------------------------------------------------ */

bool trv_mpi_discovery_begin(trv_mpi_discovery_t *discovery, MPI_Comm comm)
{
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *discovery = (trv_mpi_discovery_t){.record = NULL};
    if (rank > 0)
        return true;
    discovery->record = calloc((size_t)ranks, sizeof *discovery->record);
    discovery->location = calloc((size_t)ranks, sizeof *discovery->location);
    return discovery->record && discovery->location;
}

void trv_mpi_discovery_end(trv_mpi_discovery_t *discovery)
{
    free(discovery->record);
    free(discovery->location);
    *discovery = (trv_mpi_discovery_t){.record = NULL};
}

static char found_text[TRV_FOUND_TEXT_MAX], unusable_text[TRV_MPI_UNUSABLE_MAX];

const char *trv_mpi_discovery_found(void) { return found_text; }

const char *trv_mpi_discovery_unusable(void) { return unusable_text; }

static void report(void *context, bool wrong, const char *sentence)
{
    (void)context;
    const size_t used = strlen(unusable_text);
    snprintf(unusable_text + used, sizeof unusable_text - used, "%s\n", sentence);
    if (wrong)
        trv_mpi_log_warning("%s; this source is not used", sentence);
    else if (trv_mpi_settings()->info)
        trv_mpi_log_line("%s", sentence);
}

/* Interprets the records, logs the result, and writes the answers. Only rank 0 calls it. */
static void network_find(trv_mpi_discovery_t *discovery, int ranks)
{
    trv_found_t found;
    const trv_source_options_t options = {.slurm_dims = trv_mpi_settings()->slurm_dims};
    *found_text = *unusable_text = '\0';
    const int code = trv_discover(&found, discovery->record, ranks, &options, report, NULL);
    if (code > 0)
        trv_found_text(&found, ranks, found_text);
    if (code > 0 && trv_mpi_settings()->info)
        trv_mpi_log_line("%s", found_text);
    for (int r = 0; r < ranks; r++)
        discovery->location[r] = (location_t){.code = code,
                                              .source = trv_source_index(found.source),
                                              .separate = found.separate,
                                              .coordinate = code > 0 ? found.coordinate[r] : -1,
                                              .torus = found.torus};
    trv_found_clear(&found);
}

int trv_mpi_discovery_exchange(trv_mpi_discovery_t *discovery, MPI_Comm comm, trv_mpi_discovered_t *discovered)
{
    int rank = 0, ranks = 0;
    MPI_Request request;
    location_t mine = {.code = 0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    pthread_once(&once, record_read);
    int posted = PMPI_Igather(&own, sizeof own, MPI_BYTE, discovery->record, sizeof own, MPI_BYTE, 0, comm, &request);
    if (posted == MPI_SUCCESS)
        posted = trv_mpi_watch_request(ranks, &request, FIND_NETWORK);
    if (posted == MPI_SUCCESS && rank == 0)
        network_find(discovery, ranks);
    if (posted == MPI_SUCCESS)
        posted = PMPI_Iscatter(discovery->location, sizeof mine, MPI_BYTE, &mine, sizeof mine, MPI_BYTE, 0, comm,
                               &request);
    if (posted == MPI_SUCCESS)
        posted = trv_mpi_watch_request(ranks, &request, FIND_NETWORK);
    if (posted != MPI_SUCCESS)
        return trv_mpi_transport_error(FIND_NETWORK, posted);
    if (mine.code < 0)
        return trv_fail(TRV_ERR_MEMORY, "rank 0 has no memory for the coordinates of %d ranks", ranks);
    *discovered = (trv_mpi_discovered_t){trv_source_name(mine.source), mine.torus, mine.coordinate, mine.separate != 0};
    return mine.code;
}
