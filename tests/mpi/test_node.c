/*
 * The memory that the ranks of a node share: made by messages of its ranks only, whatever fails on one of them; and
 * what runs in it, of any count. Even ranks are one node here and odd ones another, the lowest of each leads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <trivance/trivance.h>

#include "harness.h"
#include "mpi/node/node.h"
#include "mpi/transport/channel.h"
#include "mpi/transport/wait.h"

enum { RANKS_MAX = 64, TAG = 4711 };

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

/* What fails on this rank while a node is made. */
static enum fault { NONE, NO_ROOM, NO_FILE, NO_MAP, NOT_ALLOWED, NO_PROCESS, OTHER_FILE, SHORT_FILE } fault;

int __real_memfd_create(const char *, unsigned);
int __wrap_memfd_create(const char *, unsigned);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
ssize_t __real_readlink(const char *, char *, size_t);
ssize_t __wrap_readlink(const char *, char *, size_t);
int __real_ftruncate(int, off_t);
int __wrap_ftruncate(int, off_t);
void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t, size_t);

static int fails(int error)
{
    errno = error;
    return -1;
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return fault == NO_FILE ? fails(EMFILE) : __real_memfd_create(name, flags);
}

/* Longer than the others think it is. */
int __wrap_ftruncate(int file, off_t length)
{
    return __real_ftruncate(file, fault == SHORT_FILE ? length + 4096 : length);
}

void *__wrap_mmap(void *at, size_t length, int protection, int flags, int file, off_t offset)
{
    return fault == NO_MAP ? fails(ENOMEM), MAP_FAILED : __real_mmap(at, length, protection, flags, file, offset);
}

ssize_t __wrap_readlink(const char *path, char *target, size_t size)
{
    if (fault == NOT_ALLOWED || fault == NO_PROCESS)
        return fails(fault == NOT_ALLOWED ? EACCES : ENOENT);
    if (fault != OTHER_FILE)
        return __real_readlink(path, target, size);
    memcpy(target, "/dev/null", size < 9 ? size : 9);
    return 9;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fault == NO_ROOM ? NULL : __real_calloc(count, size);
}

/* ---- Making nodes ------------------------------------------------------------------------------------------------ */

static MPI_Comm job, own_node; /* ours; that of the ranks of this rank's node, for the test's own use */
static int member[RANKS_MAX];

static trv_mpi_node_place_t own_place(void)
{
    trv_mpi_node_place_t place = {.comm = job, .tag = TAG, .member = member, .rank = test_rank / 2};
    for (int r = test_rank % 2; r < test_ranks; r += 2)
        member[place.ranks++] = r;
    return place;
}

static int mapped(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:trivance") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

/* Even ranks: the one of index `who` has a fault. Its node says so on every rank, and the other node is none the
 * wiser. */
static void try_fault(enum fault what, int who, int code, const char *words)
{
    trv_mpi_node_place_t place = own_place();
    trv_mpi_node_t *node = NULL;
    char sentence[256] = "";
    bool even = test_rank % 2 == 0;
    if (who >= (test_ranks + 1) / 2)
        return;
    fault = even && place.rank == who ? what : NONE;
    int got = trv_mpi_node_create(&node, &place);
    fault = NONE;
    if (got < 0)
        snprintf(sentence, sizeof sentence, "%s", trv_last_error());
    expect(got == (even ? code : TRV_OK), "fault %d of index %d: %d (%s)", what, who, got, sentence);
    expect(!even || code == TRV_OK || strstr(sentence, words), "fault %d: '%s' does not say '%s'", what, sentence,
           words);
    expect(mapped() == (got == TRV_OK) && (node != NULL) == (got == TRV_OK), "fault %d leaves %d memories", what,
           mapped());
    expect_identical(sentence, sizeof sentence, own_node, "the sentence");
    trv_mpi_node_destroy(node);
    expect(mapped() == 0, "a memory stays behind");
}

static void faults(void)
{
    char text[80];
    try_fault(NONE, 0, TRV_OK, "");
    try_fault(NO_FILE, 0, TRV_ERR_MEMORY, "rank 0 can not make the memory");
    for (int who = 0; who < (test_ranks + 1) / 2; who++) {
        snprintf(text, sizeof text, "rank %d has no memory", 2 * who);
        try_fault(NO_ROOM, who, TRV_ERR_MEMORY, text);
        snprintf(text, sizeof text, "rank %d can not map the memory", 2 * who);
        try_fault(NO_MAP, who, TRV_ERR_MEMORY, text);
    }
    for (int who = 1; who < (test_ranks + 1) / 2; who++) {
        snprintf(text, sizeof text, "rank %d may not open the memory of rank 0", 2 * who);
        try_fault(NOT_ALLOWED, who, TRV_ERR_UNSUPPORTED, text);
        snprintf(text, sizeof text, "ranks 0 and %d have the same coordinate, but are not on the same", 2 * who);
        try_fault(NO_PROCESS, who, TRV_ERR_UNSUPPORTED, text);
        try_fault(OTHER_FILE, who, TRV_ERR_UNSUPPORTED, text);
    }
    if (test_ranks > 2)
        try_fault(SHORT_FILE, 0, TRV_ERR_UNSUPPORTED, "ranks 0 and 2 have the same coordinate");
    try_fault(NONE, 0, TRV_OK, "");
    int pending = 0;
    test_barrier(job);
    PMPI_Iprobe(MPI_ANY_SOURCE, TAG, job, &pending, MPI_STATUS_IGNORE);
    expect(!pending, "a message is left");
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &job);
    MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
    MPI_Comm_split(job, test_rank % 2, test_rank, &own_node);
    faults();
    MPI_Comm_free(&own_node);
    MPI_Comm_free(&job);
    return test_end();
}
