/*
 * Discovery of the machine's network (topology file, TRIVANCE_TORUS, sources of coordinates) and distribution of the
 * rules. A rank takes part in all exchanges even after a failure, because the other ranks wait for it.
 */
#include "mpi/communicator/world.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/parse.h"
#include "base/ascending.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text/whole_file.h"
#include "mpi/communicator/discover.h"
#include "mpi/communicator/exchange.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"
#include "transport/mpi/mpi_error.h"
#include "topology/topology_file.h"

static const char READ_FILES[] = "receive the files that rank 0 reads";
static const char FIND_NODES[] = "find the nodes";

static _Atomic(trv_mpi_world_t *) known;

const trv_mpi_world_t *trv_mpi_world(void) { return atomic_load_explicit(&known, memory_order_acquire); }

static int exchange_error(int code, const char *what)
{
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(what, code);
}

/* Returns TRV_OK on all ranks if all of them have their memory. Collective. */
static int agree_on_memory(MPI_Comm comm, const void *memory, const char *what)
{
    int64_t missing = !memory;
    const int code = exchange_error(trv_mpi_allreduce_max(comm, &missing, 1, what), what);
    return code == TRV_OK && missing ? trv_fail_memory() : code;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* A file that rank 0 broadcasts: its text, or, if it cannot be read (code < 0), the error message. */
typedef struct file_text {
    int64_t code, length;
    char *text;
} file_text_t;

static void file_text_read(file_text_t *file_text, const char *path)
{
    const char *name;
    size_t length = 0;
    file_text->code = trv_whole_file_read(path, &name, &file_text->text, &length);
    if (file_text->code < 0) {
        file_text->text = strdup(trv_last_error());
        length = file_text->text ? strlen(file_text->text) : 0;
    }
    file_text->length = (int64_t)length;
}

/* Broadcasts the file `path` from rank 0. Collective. The caller frees file_text->text. */
static int broadcast_file(MPI_Comm comm, int rank, const char *path, file_text_t *file_text)
{
    if (rank == 0)
        file_text_read(file_text, path);
    int64_t head[] = {file_text->code, file_text->length};
    int code = exchange_error(trv_mpi_broadcast(comm, head, sizeof head, 0, READ_FILES), READ_FILES);
    if (code < 0)
        return code;
    *file_text = (file_text_t){head[0], head[1], rank == 0 ? file_text->text : malloc((size_t)head[1] + 1)};
    code = agree_on_memory(comm, file_text->text, READ_FILES);
    if (code < 0)
        return code;
    code = exchange_error(trv_mpi_broadcast(comm, file_text->text, (size_t)file_text->length, 0, READ_FILES),
                          READ_FILES);
    file_text->text[file_text->length] = '\0';
    return code;
}

static int find_rules(MPI_Comm comm, int rank)
{
    const char *path = trv_mpi_settings()->rules_file;
    file_text_t file_text = {.code = TRV_OK};
    if (!path)
        return TRV_OK;
    int code = broadcast_file(comm, rank, path, &file_text);
    if (code == TRV_OK && file_text.code < 0)
        code = trv_mpi_settings_rules_fault(file_text.text);
    else if (code == TRV_OK)
        code = trv_mpi_settings_rules(file_text.text, (size_t)file_text.length);
    free(file_text.text);
    return code;
}

/* Fills *world from the text of the topology file, which all ranks have. TRV_OK, also if the file cannot be used: then
 * world->code is the error, which may be that of this rank only (its host is not in the file) and which an exchange
 * makes common; or TRV_ERR_MEMORY. */
static int read_topology(const file_text_t *file_text, trv_mpi_world_t *world)
{
    const char *path = trv_mpi_settings()->topology_file;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, rank = 0, ranks = 0;
    trv_topology_t file = {.count = 0};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_processor_name(host, &length);
    int code = file_text->code < 0 ? trv_fail((int)file_text->code, "%s", file_text->text)
                                   : trv_topology_parse(&file, path, file_text->text, (size_t)file_text->length,
                                                        trv_mpi_log_warn, NULL);
    if (code == TRV_OK && !file.host && file.count != ranks)
        code = trv_fail(TRV_ERR_INVALID, "%.200s has coordinates for %d ranks, and MPI_COMM_WORLD has %d", path,
                        file.count, ranks);
    *world = (trv_mpi_world_t){.source = "TRIVANCE_TOPOLOGY_FILE",
                               .digest = trv_hash(TRV_HASH_SEED, file_text->text, (size_t)file_text->length),
                               .network = {TRV_NETWORK, .torus = file.torus, .slow_link = file.slow_link,
                                           .slow_links = file.slow_links, .no_forwarding = file.no_forwarding},
                               .slow_link = file.slow_link,
                               .shared_port = file.shared_port,
                               .coordinate = code == TRV_OK ? trv_topology_coordinate(&file, rank, host) : -1};
    if (code == TRV_OK && world->coordinate < 0)
        code = trv_fail(TRV_ERR_INVALID, "%.200s has no coordinate for the host %.100s", path, host);
    file.slow_link = NULL; /* the world owns it */
    trv_topology_clear(&file);
    world->code = code == TRV_OK ? 1 : code;
    if (code < 0)
        snprintf(world->fault, sizeof world->fault, "%s", trv_last_error());
    return code == TRV_ERR_MEMORY ? code : TRV_OK;
}

static int find_by_file(MPI_Comm comm, int rank, trv_mpi_world_t *world)
{
    file_text_t file_text = {.code = TRV_OK};
    int code = broadcast_file(comm, rank, trv_mpi_settings()->topology_file, &file_text);
    if (code == TRV_OK)
        code = read_topology(&file_text, world);
    free(file_text.text);
    return code;
}

/* ---- TRIVANCE_TORUS ---------------------------------------------------------------------------------------------- */

/* Finds the lowest rank that shares memory with this one. Collective. */
static int lowest_on_node(MPI_Comm comm, int rank, int *lowest)
{
    MPI_Comm node = MPI_COMM_NULL;
    int64_t word = INT_MAX - rank;
    int made = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (made == MPI_SUCCESS)
        made = trv_mpi_allreduce_max(node, &word, 1, FIND_NODES);
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    *lowest = INT_MAX - (int)word;
    return exchange_error(made, FIND_NODES);
}

/* Describes a torus, or a list of tori, that fits neither the ranks nor the nodes of the job. */
static void describe_misfit(char *text, size_t size, int ranks, int nodes)
{
    const char *list = trv_mpi_settings()->torus;
    trv_torus_t torus;
    char sizes[40] = "";
    if (!strchr(list, ',') && trv_torus_parse(list, &torus) == TRV_OK)
        snprintf(sizes, sizeof sizes, "has %d ranks", torus.ranks);
    snprintf(
        text, size,
        "TRIVANCE_TORUS=%.80s %s; this job has %d rank%s on %d node%s, and the product of the sizes must be one of "
        "these numbers, for example %d",
        list, *sizes ? sizes : "lists no torus that fits", ranks, ranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s",
        ranks);
}

/* Handles a torus with a coordinate for every node instead of every rank: a rank's coordinate is the number of its
 * node. Collective over all ranks of the job. */
static int find_nodes(MPI_Comm comm, int rank, int ranks, trv_mpi_world_t *world)
{
    int mine = 0, nodes = 0, *lowest = malloc((size_t)ranks * sizeof *lowest);
    int code = agree_on_memory(comm, lowest, FIND_NODES);
    if (code == TRV_OK) {
        const int found = lowest_on_node(comm, rank, &mine),
                  collected = trv_mpi_allgather(comm, &mine, lowest, sizeof mine, FIND_NODES);
        code = found < 0 ? found : exchange_error(collected, FIND_NODES);
    }
    if (code == TRV_OK)
        qsort(lowest, (size_t)ranks, sizeof *lowest, trv_compare_int);
    for (int i = 0; code == TRV_OK && i < ranks; i++) {
        nodes += i == 0 || lowest[i] != lowest[i - 1];
        if (lowest[i] == mine)
            world->coordinate = nodes - 1;
    }
    free(lowest);
    if (code < 0 || trv_torus_from_list(trv_mpi_settings()->torus, nodes, &world->network.torus) > 0)
        return code;
    world->code = TRV_ERR_ARGUMENT;
    describe_misfit(world->fault, sizeof world->fault, ranks, nodes);
    return TRV_OK;
}

/* Fills *world from TRIVANCE_TORUS. Returns 1, or a negative code. 0: the torus has a coordinate for every node, and
 * only a communicator of all ranks can find the nodes. */
static int find_by_torus(MPI_Comm comm, trv_mpi_world_t *world)
{
    const char *list = trv_mpi_settings()->torus;
    int rank = 0, ranks = 0, size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_size(comm, &size);
    *world = (trv_mpi_world_t){.code = 1,
                               .source = "TRIVANCE_TORUS",
                               .coordinate = rank,
                               .network = {TRV_NETWORK},
                               .digest = trv_hash(TRV_HASH_SEED, list, strlen(list))};
    if (trv_torus_from_list(list, ranks, &world->network.torus) > 0)
        return 1;
    if (size != ranks)
        return 0;
    int code = find_nodes(comm, rank, ranks, world);
    return code < 0 ? code : 1;
}

/* ---- The world --------------------------------------------------------------------------------------------------- */

/* Results of find_setting and trv_mpi_world_discover's steps. */
enum { UNDECIDED, KNOWN, NO_SETTING };

/* Finds the network that the settings specify. Returns KNOWN; UNDECIDED if only a communicator of all ranks can find
 * it; NO_SETTING; or a negative code. */
static int find_setting(MPI_Comm comm, int rank, trv_mpi_world_t *world)
{
    int rules = find_rules(comm, rank), code = NO_SETTING; /* this may have failed on this rank only: continue */
    *world = (trv_mpi_world_t){.code = 0};
    if (trv_mpi_settings()->topology_file) {
        code = find_by_file(comm, rank, world);
        code = code < 0 ? code : KNOWN;
    } else if (trv_mpi_settings()->torus) {
        code = find_by_torus(comm, world);
    }
    return rules < 0 ? rules : code;
}

/* Asks the sources of coordinates, if a rank of the communicator has one. Returns as find_setting. */
static int find_by_source(trv_mpi_discovery_t *discovery, MPI_Comm comm, bool present, trv_mpi_world_t *world)
{
    int size = 0, ranks = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!present)
        return KNOWN; /* that there is none */
    if (size != ranks)
        return UNDECIDED;
    trv_mpi_discovered_t discovered;
    const int code = trv_mpi_discovery_exchange(discovery, comm, &discovered);
    if (code > 0)
        *world = (trv_mpi_world_t){.code = 1,
                                   .source = discovered.source,
                                   .coordinate = discovered.coordinate,
                                   .separate = discovered.separate,
                                   .network = {TRV_NETWORK, .torus = discovered.torus},
                                   .digest = trv_hash(TRV_HASH_SEED, &discovered.torus, sizeof discovered.torus)};
    return code < 0 ? code : KNOWN;
}

static void world_store(trv_mpi_world_t *world, const trv_mpi_world_t *found)
{
    trv_mpi_world_t *none = NULL;
    *world = *found;
    if (!atomic_compare_exchange_strong(&known, &none, world)) { /* stored by another thread */
        free(world->slow_link);
        free(world);
    }
}

int trv_mpi_world_discover(MPI_Comm comm)
{
    int rank = 0;
    trv_mpi_world_t found, *world = malloc(sizeof *world);
    trv_mpi_discovery_t discovery = {.record = NULL};
    PMPI_Comm_rank(comm, &rank);
    int code = find_setting(comm, rank, &found);
    const bool asks = !trv_mpi_settings()->topology_file && !trv_mpi_settings()->torus,
               able = !asks || trv_mpi_discovery_begin(&discovery, comm);
    enum { BAD, PRESENT, WORDS };
    int64_t word[WORDS] = {[BAD] = code < 0 || !world || !able, [PRESENT] = asks && trv_mpi_discovery_has_source()};
    bool bad = trv_mpi_allreduce_max(comm, word, WORDS, READ_FILES) != MPI_SUCCESS || word[BAD];
    if (bad && code >= 0)
        trv_fail(TRV_ERR_MEMORY, "a rank had no memory for the files that rank 0 read");
    if (!bad && code == NO_SETTING) {
        code = find_by_source(&discovery, comm, word[PRESENT], &found);
        bad = code < 0; /* the same on all ranks */
    }
    trv_mpi_discovery_end(&discovery);
    if (!bad && code == KNOWN) {
        world_store(world, &found);
        return MPI_SUCCESS;
    }
    free(found.slow_link);
    free(world);
    return bad ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}
