/*
 * Making and laying out the memory of a node.
 *
 * It is a file without a name (memfd_create), which the leader makes and the others open through /proc: nothing stays
 * behind, whatever happens to a rank, pages that no run touches cost nothing, and giving it up needs no other rank.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "mpi/node/memory.h"
#include "mpi/transport.h"
#include "mpi/wait.h"

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

static size_t head_bytes(int ranks)
{
    return (sizeof(node_head_t) + (size_t)ranks * sizeof(node_rank_t) + 4095) / 4096 * 4096;
}

node_head_t *trv_mpi_node_head(const trv_mpi_node_t *node, int slot)
{
    return (node_head_t *)(void *)(node->memory + (size_t)slot * node->slot_bytes);
}

static char *buffer(const trv_mpi_node_t *node, int slot, int number, uint64_t chunk)
{
    size_t at = (size_t)number * NODE_CHUNKS + (size_t)(chunk % NODE_CHUNKS);
    return (char *)node->memory + (size_t)slot * node->slot_bytes + head_bytes(node->ranks) +
           at * TRV_MPI_NODE_CHUNK_BYTES;
}

char *trv_mpi_node_input(const trv_mpi_node_t *node, int slot, int rank, uint64_t chunk)
{
    return buffer(node, slot, rank, chunk);
}

char *trv_mpi_node_sum(const trv_mpi_node_t *node, int slot, uint64_t chunk)
{
    return buffer(node, slot, node->ranks, chunk);
}

char *trv_mpi_node_result(const trv_mpi_node_t *node, int slot, uint64_t chunk)
{
    return buffer(node, slot, node->ranks + 1, chunk);
}

/* ---- Making it --------------------------------------------------------------------------------------------------- */

/* What the leader tells the others: where its file is, and what stands at its beginning until all have found it. */
typedef struct ticket {
    int64_t process, file;
    uint64_t token;
} ticket_t;

static int map(trv_mpi_node_t *node, int file)
{
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return trv_fail(TRV_ERR_MEMORY, "the memory that the ranks of a node share can not be mapped: %s",
                        strerror(errno));
    node->memory = memory;
    return TRV_OK;
}

static int make_file(trv_mpi_node_t *node, ticket_t *ticket)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ticket->process = getpid();
    ticket->token = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 0x9e3779b97f4a7c15u | 1;
    ticket->file = memfd_create("trivance", MFD_CLOEXEC);
    if (ticket->file < 0 || ftruncate((int)ticket->file, (off_t)node->bytes) < 0)
        return trv_fail(TRV_ERR_MEMORY, "the memory that the ranks of a node share can not be made: %s",
                        strerror(errno));
    int code = map(node, (int)ticket->file);
    if (code == TRV_OK)
        memcpy(node->memory, &ticket->token, sizeof ticket->token);
    return code;
}

static int open_file(trv_mpi_node_t *node, const ticket_t *ticket)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)ticket->process, (long long)ticket->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return trv_fail(TRV_ERR_UNSUPPORTED, "a rank can not open the memory of another one of its node: %s",
                        strerror(errno));
    int code = map(node, file);
    close(file);
    if (code == TRV_OK && memcmp(node->memory, &ticket->token, sizeof ticket->token) != 0)
        code = trv_fail(TRV_ERR_UNSUPPORTED, "the ranks of a node do not see the same memory");
    return code;
}

/* Local ranks are all on one machine, as MPI sees it. */
static int check_together(MPI_Comm local, int ranks)
{
    MPI_Comm together = MPI_COMM_NULL;
    int size = 0, made = PMPI_Comm_split_type(local, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &together);
    if (made != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Comm_split_type", made);
    PMPI_Comm_size(together, &size);
    PMPI_Comm_free(&together);
    return size == ranks ? TRV_OK
                         : trv_fail(TRV_ERR_UNSUPPORTED, "%d ranks have the same coordinate, and they are not all on "
                                    "the same machine", ranks);
}

/* One word of agreement; `code` on the ranks that have a sentence of their own. */
static int agree(MPI_Comm comm, int code)
{
    int worst = code;
    MPI_Request request;
    int posted = PMPI_Iallreduce(&code, &worst, 1, MPI_INT, MPI_MIN, comm, &request);
    if (posted == MPI_SUCCESS)
        posted = trv_mpi_poll(&request);
    if (posted != MPI_SUCCESS)
        return trv_mpi_transport_error("MPI_Iallreduce", posted);
    if (code == TRV_OK && worst < 0)
        code = trv_fail(worst, "the ranks of another node share no memory, or have none left");
    return code;
}

/* All ranks go through all of it, whatever fails, because the others wait. */
static int share(trv_mpi_node_t *node, MPI_Comm local)
{
    ticket_t ticket = {.file = -1};
    MPI_Request request;
    int code = check_together(local, node->ranks);
    if (code == TRV_OK && node->rank == 0)
        code = make_file(node, &ticket);
    int posted = PMPI_Ibcast(&ticket, sizeof ticket, MPI_BYTE, 0, local, &request);
    if (posted == MPI_SUCCESS)
        posted = trv_mpi_poll(&request);
    if (posted != MPI_SUCCESS)
        code = trv_mpi_transport_error("MPI_Ibcast", posted);
    if (code == TRV_OK && node->rank > 0)
        code = ticket.token ? open_file(node, &ticket) : trv_fail(TRV_ERR_MEMORY, "the leader of a node has no memory");
    code = agree(local, code);
    if (node->rank == 0 && ticket.file >= 0)
        close((int)ticket.file);
    if (code == TRV_OK && node->rank == 0)
        memset(node->memory, 0, sizeof ticket.token);
    return code;
}

int trv_mpi_node_create(trv_mpi_node_t **created, MPI_Comm comm, int place)
{
    trv_mpi_node_t scratch = {.comm = comm}, *node = calloc(1, sizeof *node);
    MPI_Comm local = MPI_COMM_NULL;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    int made = PMPI_Comm_split(comm, place, rank, &local);
    if (made != MPI_SUCCESS) {
        free(node);
        return trv_mpi_transport_error("MPI_Comm_split", made);
    }
    PMPI_Comm_rank(local, &scratch.rank);
    PMPI_Comm_size(local, &scratch.ranks);
    scratch.slot_bytes = head_bytes(scratch.ranks) +
                         (size_t)(scratch.ranks + 2) * NODE_CHUNKS * TRV_MPI_NODE_CHUNK_BYTES;
    scratch.bytes = NODE_SLOTS * scratch.slot_bytes;
    int code = share(&scratch, local);
    PMPI_Comm_free(&local);
    if (code == TRV_OK && !node)
        code = trv_fail_memory();
    code = agree(comm, code);
    if (node)
        *node = scratch;
    if (code < 0) {
        trv_mpi_node_destroy(node);
        node = NULL;
    }
    *created = node;
    return code;
}

void trv_mpi_node_destroy(trv_mpi_node_t *node)
{
    if (node && node->memory)
        munmap(node->memory, node->bytes);
    free(node);
}

bool trv_mpi_node_leads(const trv_mpi_node_t *node)
{
    return node->rank == 0;
}
