/*
 * Comparison of version and settings. Each rank writes a text of lines NAME=VALUE: version and protocol, then the
 * settings that all ranks must share. The ranks compare digests of their texts. Only if these differ, rank 0 broadcasts
 * its text, and the lowest rank with a different one composes the error message.
 */
#include "mpi/communicator/compare.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/communicator/exchange.h"
#include "mpi/settings/job_settings.h"

/* Incremented whenever the messages between ranks change: exchanges, tags, the layout of trv_decision_t. */
#define PROTOCOL "6"

#ifndef TRIVANCE_BUILD /* tests define it to simulate another version */
#define TRIVANCE_BUILD TRV_VERSION
#endif

#define SENTENCE_MAX 512

static char *text; /* of this process; NULL: no memory */
static uint64_t digest;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void write_text(void)
{
    static const char head[] = "Trivance's version=" TRIVANCE_BUILD "\nTrivance's protocol=" PROTOCOL "\n";
    size_t length = 0;
    const char *settings = trv_mpi_settings_text(&length);
    text = settings ? malloc(sizeof head + length) : NULL;
    if (text) {
        memcpy(text, head, sizeof head - 1);
        memcpy(text + sizeof head - 1, settings, length);
        text[sizeof head - 1 + length] = '\0';
        digest = trv_hash(TRV_HASH_SEED, text, sizeof head - 1 + length);
    }
}

uint64_t trv_mpi_settings_digest(void)
{
    pthread_once(&once, write_text);
    return digest;
}

/* Rank 0's text, which the caller frees. Collective. NULL if an exchange failed or a rank has no memory. */
static char *receive_first_text(MPI_Comm comm, int rank)
{
    static const char what[] = "compare their settings";
    int64_t length = rank == 0 && text ? (int64_t)strlen(text) : 0;
    if (trv_mpi_allreduce_max(comm, &length, 1, what) != MPI_SUCCESS)
        return NULL;
    char *theirs = calloc(1, (size_t)length + 1);
    int64_t failed = !theirs;
    if (trv_mpi_allreduce_max(comm, &failed, 1, what) != MPI_SUCCESS || failed) {
        free(theirs);
        return NULL;
    }
    if (rank == 0 && length > 0)
        memcpy(theirs, text, (size_t)length);
    trv_mpi_broadcast(comm, theirs, (size_t)length, 0, what);
    return theirs;
}

int trv_mpi_explain_difference(MPI_Comm comm)
{
    char sentence[SENTENCE_MAX] = "";
    int rank = 0, ranks = 0, world = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    trv_mpi_settings_digest();
    int64_t first_world = rank == 0 ? world : 0;
    trv_mpi_allreduce_max(comm, &first_world, 1, "compare their settings");
    char *theirs = receive_first_text(comm, rank);
    bool differs = rank > 0 && theirs && text &&
                   trv_mpi_settings_difference(text, theirs, sentence, world, (int)first_world) != NULL;
    int64_t word = differs ? ranks - rank : 0; /* the maximum identifies the lowest rank */
    trv_mpi_allreduce_max(comm, &word, 1, "compare their settings");
    if (word > 0)
        trv_mpi_broadcast(comm, sentence, sizeof sentence, ranks - (int)word, "compare their settings");
    free(theirs);
    return trv_fail(TRV_ERR_INVALID, "%s",
                    *sentence ? sentence : "the ranks' settings differ; there is no memory to report which");
}
