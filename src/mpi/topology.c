/*
 * Places of ranks. All ranks of a communicator compare what they know before any of them relies on it, because a
 * variable may be set on some nodes only, and a file may differ between them.
 */
#include "mpi/topology.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/parse.h"
#include "common/error.h"
#include "export/whole_file.h"
#include "mpi/call.h"
#include "mpi/settings.h"
#include "mpi/transport/error.h"
#include "mpi/transport/wait.h"
#include "settings/topology_file.h"

/* What this process knows of its world; made once, never changed, kept until the end. */
typedef struct world {
    int code; /* TRV_OK, or why there is no topology: `fault` is the sentence */
    char fault[800];
    uint64_t digest; /* of the file, or of the torus */
    trv_topology_t file; /* empty where the torus is by TRIVANCE_TORUS */
    trv_torus_t torus;
    int place; /* this rank's */
} world_t;

static _Atomic(world_t *) known;

/* The first of two threads that come to know wins. */
static void learn(world_t *world)
{
    world_t *none = NULL;
    if (!atomic_compare_exchange_strong(&known, &none, world)) {
        trv_topology_clear(&world->file);
        free(world);
    }
}

static uint64_t digest_of(const char *text, size_t length)
{
    uint64_t digest = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ (unsigned char)text[i]) * 1099511628211u;
    return digest;
}

static int wait_for(int posted, MPI_Request *request, const char *what)
{
    int code = posted == MPI_SUCCESS ? trv_mpi_poll(request) : posted;
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error(what, code);
}

static int least_of(MPI_Comm comm, uint64_t *word, int words)
{
    int code = trv_mpi_least(comm, word, words);
    return code == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error("comparing what ranks know of the topology", code);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* What rank 0 has to give: the file's text, or, where it can not be read, the sentence. */
typedef struct parcel {
    int code;
    int length;
    char *text;
} parcel_t;

static void pack(parcel_t *parcel)
{
    const char *name;
    size_t length = 0;
    parcel->code = trv_whole_file_read(trv_mpi_settings()->topology_file, &name, &parcel->text, &length);
    if (parcel->code == TRV_OK && length > INT_MAX) {
        free(parcel->text);
        parcel->code = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' has more than 2 GiB", name);
    }
    if (parcel->code < 0) {
        parcel->text = strdup(trv_last_error());
        length = parcel->text ? strlen(parcel->text) : 0;
    }
    parcel->length = (int)length;
}

/* Collective. The text is the caller's to free. */
static int give(MPI_Comm comm, parcel_t *parcel)
{
    int rank = 0;
    MPI_Request request;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        pack(parcel);
    int head[2] = {parcel->code, parcel->length};
    int code = wait_for(PMPI_Ibcast(head, 2, MPI_INT, 0, comm, &request), &request, "giving the topology to all ranks");
    if (code < 0)
        return code;
    *parcel = (parcel_t){head[0], head[1], rank == 0 ? parcel->text : malloc((size_t)head[1] + 1)};
    uint64_t room = parcel->text != NULL;
    code = least_of(comm, &room, 1);
    if (code < 0 || !room)
        return code < 0 ? code : trv_fail_memory();
    return wait_for(PMPI_Ibcast(parcel->text, parcel->length, MPI_CHAR, 0, comm, &request), &request,
                    "giving the topology to all ranks");
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    trv_mpi_warn("%s", sentence);
}

/* Reads the text for this rank of the world. */
static int understand(world_t *world, const parcel_t *parcel, int rank, int ranks)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    const char *path = trv_mpi_settings()->topology_file;
    if (parcel->code < 0)
        return trv_fail(parcel->code, "%.*s", parcel->length, parcel->text);
    int code = trv_topology_parse(&world->file, path, parcel->text, (size_t)parcel->length, warn, NULL);
    if (code < 0)
        return code;
    if (!world->file.host && world->file.count != ranks)
        return trv_fail(TRV_ERR_INVALID, "%.200s has coordinates for %d ranks, and MPI_COMM_WORLD has %d", path,
                        world->file.count, ranks);
    PMPI_Get_processor_name(host, &length);
    world->torus = world->file.torus;
    world->digest = digest_of(parcel->text, (size_t)parcel->length);
    world->place = trv_topology_place(&world->file, rank, host);
    if (world->place < 0)
        return trv_fail(TRV_ERR_INVALID, "%.200s has no coordinate for the host %.100s", path, host);
    return TRV_OK;
}

/* ---- TRIVANCE_TORUS ---------------------------------------------------------------------------------------------- */

bool trv_mpi_torus_from_list(const char *list, int ranks, trv_torus_t *torus)
{
    char item[TRV_TORUS_TEXT_MAX];
    trv_torus_t read;
    while (cli_next_item(&list, "tori", item, sizeof item) > 0)
        if (trv_torus_parse(item, &read) == TRV_OK && read.ranks == ranks) {
            *torus = read;
            return true;
        }
    return false;
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The lowest rank of the world that shares memory with this one; collective. */
static int lowest_on_node(MPI_Comm comm, int rank, int *lowest)
{
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Request request;
    int made = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int code = made == MPI_SUCCESS ? TRV_OK : trv_mpi_transport_error("MPI_Comm_split_type", made);
    if (code == TRV_OK)
        code = wait_for(PMPI_Iallreduce(&rank, lowest, 1, MPI_INT, MPI_MIN, node, &request), &request, "finding nodes");
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    return code;
}

/* The torus has a coordinate for every node rather than for every rank: this rank's is its node's number. `room` holds
 * a number for every rank. */
static int by_nodes(MPI_Comm comm, world_t *world, int rank, int ranks, int *room)
{
    const char *list = trv_mpi_settings()->torus;
    int mine = 0, nodes = 0, code = lowest_on_node(comm, rank, &mine);
    MPI_Request request;
    if (code == TRV_OK)
        code = wait_for(PMPI_Iallgather(&mine, 1, MPI_INT, room, 1, MPI_INT, comm, &request), &request,
                        "finding nodes");
    if (code < 0)
        return code;
    qsort(room, (size_t)ranks, sizeof *room, by_value);
    for (int i = 0; i < ranks; i++) {
        nodes += i == 0 || room[i] != room[i - 1];
        if (room[i] == mine)
            world->place = nodes - 1;
    }
    if (trv_mpi_torus_from_list(list, nodes, &world->torus))
        return 1;
    return trv_fail(TRV_ERR_ARGUMENT, "TRIVANCE_TORUS=%.80s has no torus of %d ranks (nor of %d, the number of nodes); "
                    "the product of its sizes must be the number of ranks", list, ranks, nodes);
}

/* 0: a part of the world can not tell nodes apart; later perhaps. */
static int by_torus(MPI_Comm comm, world_t *world, int rank, int ranks, int *room)
{
    const char *list = trv_mpi_settings()->torus;
    int size = 0;
    world->digest = digest_of(list, strlen(list));
    world->place = rank;
    if (trv_mpi_torus_from_list(list, ranks, &world->torus))
        return 1;
    PMPI_Comm_size(comm, &size);
    return size == ranks ? by_nodes(comm, world, rank, ranks, room) : 0;
}

/* ---- The world --------------------------------------------------------------------------------------------------- */

/* The ranks of the communicator find out about their world, unless that can not be known yet. `world` is new, and kept
 * or freed. */
static void find_world(MPI_Comm comm, world_t *world, int *room)
{
    int rank = 0, ranks = 0, code;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (trv_mpi_settings()->topology_file) {
        parcel_t parcel = {.code = TRV_OK};
        code = give(comm, &parcel);
        if (code == TRV_OK)
            code = understand(world, &parcel, rank, ranks);
        free(parcel.text);
    } else {
        code = by_torus(comm, world, rank, ranks, room);
        if (code == 0) {
            free(world);
            return;
        }
    }
    if (code < 0) {
        world->code = code;
        snprintf(world->fault, sizeof world->fault, "%s", trv_last_error());
    }
    learn(world);
}

/* ---- A communicator ---------------------------------------------------------------------------------------------- */

/* Every rank sees the same: processes of two worlds can not all be of one. */
static bool within_world(MPI_Comm comm, int ranks)
{
    MPI_Group group, world, both;
    int common = 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_intersection(group, world, &both);
    PMPI_Group_size(both, &common);
    PMPI_Group_free(&both);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return common == ranks;
}

typedef struct fact {
    uint64_t digest;
    int32_t place, code;
} fact_t;

/* Compares all ranks' facts, and takes over their places. */
static int agree(const fact_t *fact, int ranks, int *place)
{
    for (int r = 0; r < ranks; r++) {
        if (fact[r].code < 0)
            return trv_fail(fact[r].code, "rank %d of the communicator has no place in the topology", r);
        if (fact[r].digest != fact[0].digest)
            return trv_fail(TRV_ERR_INVALID, "rank %d of the communicator knows another topology than rank 0; "
                            "TRIVANCE_TOPOLOGY_FILE and TRIVANCE_TORUS must be the same on all ranks", r);
        place[r] = fact[r].place;
    }
    return TRV_OK;
}

static int gather_places(MPI_Comm comm, int ranks, const world_t *world, fact_t *fact, int *place)
{
    MPI_Request request;
    fact_t mine = {.code = TRV_ERR_STATE};
    if (world)
        mine = (fact_t){world->digest, world->place, world->code};
    int code = wait_for(PMPI_Iallgather(&mine, sizeof mine, MPI_BYTE, fact, sizeof mine, MPI_BYTE, comm, &request),
                        &request, "comparing the ranks' places");
    if (code == TRV_OK)
        code = agree(fact, ranks, place);
    if (code < 0 && !world)
        return trv_fail(TRV_ERR_STATE, "the nodes of TRIVANCE_TORUS are told apart by the first collective on "
                        "MPI_COMM_WORLD, and there was none yet");
    return code < 0 && world->code < 0 ? trv_fail(world->code, "%s", world->fault) : code; /* says more */
}

/* With room for everything: all ranks have it, or all of them return. */
static int find_places(MPI_Comm comm, int ranks, fact_t *fact, trv_mpi_places_t *places)
{
    world_t *world = calloc(1, sizeof *world);
    uint64_t word[] = {world && fact && places->place, atomic_load(&known) != NULL};
    int code = least_of(comm, word, 2);
    if (code == TRV_OK && !word[0])
        code = trv_fail_memory();
    if (code < 0 || word[1])
        free(world);
    else
        find_world(comm, world, places->place);
    if (code < 0)
        return code;
    world = atomic_load(&known);
    code = gather_places(comm, ranks, world, fact, places->place);
    if (code < 0)
        return code;
    places->torus = world->torus;
    places->one_way = world->file.one_way;
    places->shared_port = world->file.shared_port;
    return 1;
}

int trv_mpi_places(MPI_Comm comm, trv_mpi_places_t *places)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    int ranks = 0;
    *places = (trv_mpi_places_t){.source = settings->topology_file ? "TRIVANCE_TOPOLOGY_FILE" : "TRIVANCE_TORUS"};
    if (!settings->topology_file && !settings->torus)
        return 0;
    PMPI_Comm_size(comm, &ranks);
    if (!within_world(comm, ranks))
        return trv_fail(TRV_ERR_UNSUPPORTED, "its ranks are not all of one MPI_COMM_WORLD");
    fact_t *fact = malloc((size_t)ranks * sizeof *fact);
    places->place = malloc((size_t)ranks * sizeof *places->place);
    int code = find_places(comm, ranks, fact, places);
    free(fact);
    if (code < 0) {
        free(places->place);
        places->place = NULL;
    }
    return code;
}
