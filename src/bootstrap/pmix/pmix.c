/*
 * Bootstrap by PMIx: rank 0 publishes its data under a key, a fence distributes the data, and the other ranks read
 * them.
 *
 * The process stays connected to its PMIx server until it exits, because a process that has disconnected cannot take
 * part in further exchanges, and a job may have several nets. It disconnects in an exit handler, because the launcher
 * treats a process that exits while it is connected as failed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bootstrap/pmix/pmix.h"

#ifdef TRIVANCE_PMIX

#include <pmix.h>

bool trv_launcher_is_here(void) { return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK"); }

static int fail(const char *what, pmix_status_t code)
{
    return trv_fail(TRV_ERR_TRANSPORT,
                    "the launcher's PMIx %s (%s); without it, or in a program that a rank has started, set RANK, "
                    "WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process",
                    what, PMIx_Error_string(code));
}

static pid_t connected;

static void disconnect(void)
{
    if (getpid() == connected) /* a forked child has neither the connection nor the thread of PMIx */
        PMIx_Finalize(NULL, 0);
}

static int connect(pmix_proc_t *own)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pmix_status_t code = PMIX_ERR_INIT;
    static pmix_proc_t known;
    pthread_mutex_lock(&lock);
    if (code != PMIX_SUCCESS && (code = PMIx_Init(&known, NULL, 0)) == PMIX_SUCCESS) {
        connected = getpid();
        atexit(disconnect);
    }
    *own = known;
    const pmix_status_t said = code;
    pthread_mutex_unlock(&lock);
    return said == PMIX_SUCCESS ? TRV_OK : fail("does not answer", said);
}

int trv_launcher_ranks(int *rank, int *ranks)
{
    pmix_proc_t own, all;
    pmix_value_t *size = NULL;
    uint32_t count = 0;
    int rc = connect(&own);
    if (rc < 0)
        return rc;
    PMIX_LOAD_PROCID(&all, own.nspace, PMIX_RANK_WILDCARD);
    pmix_status_t code = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size);
    if (code == PMIX_SUCCESS)
        PMIX_VALUE_GET_NUMBER(code, size, count, uint32_t);
    if (size)
        PMIX_VALUE_RELEASE(size);
    *rank = (int)own.rank;
    *ranks = (int)count;
    return code == PMIX_SUCCESS ? TRV_OK : fail("does not say how many ranks there are", code);
}

static pmix_status_t put(const char *key, void *data, size_t bytes)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {.bytes = data, .size = bytes}};
    const pmix_status_t code = PMIx_Put(PMIX_GLOBAL, key, &value);
    return code == PMIX_SUCCESS ? PMIx_Commit() : code;
}

/* A fence with all ranks. PMIx_Get alone does not suffice: the server requests the data of another rank only once, and
 * a job may have several nets. */
static pmix_status_t exchange(const pmix_proc_t *all, double seconds)
{
    const int until = seconds < 1 ? 1 : seconds < 1e6 ? (int)seconds : 1000000;
    const bool yes = true;
    pmix_info_t how[2];
    PMIX_INFO_LOAD(&how[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&how[1], PMIX_TIMEOUT, &until, PMIX_INT);
    return PMIx_Fence(all, 1, how, 2);
}

static pmix_status_t get(const pmix_proc_t *first, const char *key, void *data, size_t bytes)
{
    pmix_value_t *value = NULL;
    pmix_status_t code = PMIx_Get(first, key, NULL, 0, &value);
    if (code == PMIX_SUCCESS && (value->type != PMIX_BYTE_OBJECT || value->data.bo.size != bytes))
        code = PMIX_ERR_TYPE_MISMATCH;
    if (code == PMIX_SUCCESS)
        memcpy(data, value->data.bo.bytes, bytes);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return code;
}

int trv_launcher_meet(void *context, void *data, size_t bytes)
{
    static atomic_uint meetings;
    char key[32];
    pmix_proc_t own, all, first;
    snprintf(key, sizeof key, "trivance.%u", atomic_fetch_add(&meetings, 1));
    int rc = connect(&own);
    if (rc < 0)
        return rc;
    PMIX_LOAD_PROCID(&all, own.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&first, own.nspace, 0);
    pmix_status_t code = own.rank == 0 ? put(key, data, bytes) : PMIX_SUCCESS;
    if (code == PMIX_SUCCESS)
        code = exchange(&all, *(const double *)context);
    if (code == PMIX_SUCCESS && own.rank != 0)
        code = get(&first, key, data, bytes);
    return code == PMIX_SUCCESS ? TRV_OK : fail("does not bring the ranks together", code);
}

#else

bool trv_launcher_is_here(void) { return false; }

static int fail(void) { return trv_fail(TRV_ERR_UNSUPPORTED, "this build of Trivance has no PMIx"); }

int trv_launcher_ranks(int *rank, int *ranks)
{
    *rank = *ranks = 0;
    return fail();
}

int trv_launcher_meet(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return fail();
}

#endif
