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

bool trv_launcher_available(void) { return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK"); }

static int pmix_fail(const char *action, pmix_status_t code)
{
    return trv_fail(
        TRV_ERR_TRANSPORT,
        "the launcher's PMIx failed to %s (%s); without PMIx, or in a program that a rank has started, set RANK, "
        "WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process",
        action, PMIx_Error_string(code));
}

static pid_t connected;

static void pmix_disconnect(void)
{
    if (getpid() == connected) /* a forked child has neither the connection nor the thread of PMIx */
        PMIx_Finalize(NULL, 0);
}

static int pmix_connect(pmix_proc_t *own)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pmix_status_t code = PMIX_ERR_INIT;
    static pmix_proc_t cached;
    pthread_mutex_lock(&lock);
    if (code != PMIX_SUCCESS && (code = PMIx_Init(&cached, NULL, 0)) == PMIX_SUCCESS) {
        connected = getpid();
        atexit(pmix_disconnect);
    }
    *own = cached;
    const pmix_status_t result = code;
    pthread_mutex_unlock(&lock);
    return result == PMIX_SUCCESS ? TRV_OK : pmix_fail("initialize", result);
}

int trv_launcher_ranks(int *rank, int *ranks)
{
    pmix_proc_t own, all;
    pmix_value_t *size = NULL;
    uint32_t count = 0;
    int rc = pmix_connect(&own);
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
    return code == PMIX_SUCCESS ? TRV_OK : pmix_fail("report the number of ranks", code);
}

static pmix_status_t pmix_put(const char *key, void *data, size_t bytes)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {.bytes = data, .size = bytes}};
    const pmix_status_t code = PMIx_Put(PMIX_GLOBAL, key, &value);
    return code == PMIX_SUCCESS ? PMIx_Commit() : code;
}

/* A fence with all ranks. PMIx_Get alone does not suffice: the server requests the data of another rank only once, and
 * a job may have several nets. */
static pmix_status_t pmix_fence(const pmix_proc_t *all, double seconds)
{
    const int timeout_s = seconds < 1 ? 1 : seconds < 1e6 ? (int)seconds : 1000000;
    const bool yes = true;
    pmix_info_t options[2];
    PMIX_INFO_LOAD(&options[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&options[1], PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    return PMIx_Fence(all, 1, options, 2);
}

static pmix_status_t pmix_get(const pmix_proc_t *first, const char *key, void *data, size_t bytes)
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

int trv_launcher_broadcast(void *context, void *data, size_t bytes)
{
    static atomic_uint broadcasts;
    char key[32];
    pmix_proc_t own, all, first;
    snprintf(key, sizeof key, "trivance.%u", atomic_fetch_add(&broadcasts, 1));
    int rc = pmix_connect(&own);
    if (rc < 0)
        return rc;
    PMIX_LOAD_PROCID(&all, own.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&first, own.nspace, 0);
    pmix_status_t code = own.rank == 0 ? pmix_put(key, data, bytes) : PMIX_SUCCESS;
    if (code == PMIX_SUCCESS)
        code = pmix_fence(&all, *(const double *)context);
    if (code == PMIX_SUCCESS && own.rank != 0)
        code = pmix_get(&first, key, data, bytes);
    return code == PMIX_SUCCESS ? TRV_OK : pmix_fail("broadcast the address of rank 0", code);
}

#else

bool trv_launcher_available(void) { return false; }

static int pmix_fail(void) { return trv_fail(TRV_ERR_UNSUPPORTED, "this Trivance was built without PMIx"); }

int trv_launcher_ranks(int *rank, int *ranks)
{
    *rank = *ranks = 0;
    return pmix_fail();
}

int trv_launcher_broadcast(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return pmix_fail();
}

#endif
