/*
 * Buffers on a GPU: finds the loaded GPU runtimes and calls their functions.
 *
 * The runtimes are found in the list of loaded libraries. MPI libraries and programs may load a runtime late, so the
 * list is read again whenever a library has been loaded; the cost for a program without a runtime is the check of one
 * counter of the dynamic loader.
 *
 * CUDA is called through its driver (libcuda), which every form of the CUDA runtime loads. Sources: CUDA Driver API
 * 6.14 (cuPointerGetAttribute: unregistered pointers are host memory), HIP API (hipPointerGetAttributes).
 */
#include "mpi/operations/device.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

enum { CU_CONTEXT = 1, CU_MEMORY_TYPE = 2, CU_HOST = 1 }; /* CU_POINTER_ATTRIBUTE_…, CU_MEMORYTYPE_HOST */
enum { HIP_MEMCPY_DEFAULT = 4 };                          /* hipMemcpyDefault */

/* The first members of hipPointerAttribute_t. ROCm 6 changed the values of `type`, so only the pointers are used. */
typedef struct hip_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    char rest[64];
} hip_attributes_t;

static struct {
    int (*cu_attribute)(void *value, int attribute, unsigned long long pointer);
    int (*cu_copy)(unsigned long long to, unsigned long long from, size_t bytes);
    int (*cu_push)(void *context);
    int (*cu_pop)(void **context);
    int (*cu_complete)(void *stream);
    int (*hip_attributes)(hip_attributes_t *attributes, const void *pointer);
    int (*hip_copy)(void *to, const void *from, size_t bytes, int kind);
    bool level_zero;
} runtime;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool runtime_loaded;   /* a runtime is loaded */
static atomic_ullong libraries_seen; /* the loader's counter of loaded libraries when the list was read last */

/* ---- Loaded libraries -------------------------------------------------------------------------------------------- */

static int read_counter(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1; /* every entry has the same counter: stop after the first */
}

typedef struct search {
    const char *name;
    char path[4096];
} search_t;

static int compare_name(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    search_t *search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(file, search->name, strlen(search->name)) != 0 || strlen(info->dlpi_name) >= sizeof search->path)
        return 0;
    strcpy(search->path, info->dlpi_name);
    return 1;
}

void *trv_loaded_library(const char *name)
{
    search_t search = {.name = name};
    return dl_iterate_phdr(compare_name, &search) ? dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* ---- Runtimes ---------------------------------------------------------------------------------------------------- */

/* Stores the address of a function, or NULL. dlsym returns an object pointer; POSIX guarantees that it can be
 * converted. */
static void find_function(void *library, const char *name, void *function)
{
    *(void **)function = library ? dlsym(library, name) : NULL;
}

static void find_runtimes(void)
{
    void *cuda = trv_loaded_library("libcuda.so"), *hip = trv_loaded_library("libamdhip64.so");
    find_function(cuda, "cuPointerGetAttribute", &runtime.cu_attribute);
    find_function(cuda, "cuMemcpy", &runtime.cu_copy);
    find_function(cuda, "cuCtxPushCurrent_v2", &runtime.cu_push);
    find_function(cuda, "cuCtxPopCurrent_v2", &runtime.cu_pop);
    find_function(cuda, "cuStreamSynchronize", &runtime.cu_complete);
    find_function(hip, "hipPointerGetAttributes", &runtime.hip_attributes);
    find_function(hip, "hipMemcpy", &runtime.hip_copy);
    runtime.level_zero = trv_loaded_library("libze_loader.so") != NULL;
    atomic_store(&runtime_loaded, runtime.cu_attribute || runtime.hip_attributes || runtime.level_zero);
}

bool trv_device_present(void)
{
    unsigned long long loaded = 0;
    dl_iterate_phdr(read_counter, &loaded);
    if (loaded != atomic_load(&libraries_seen)) {
        pthread_mutex_lock(&lock);
        if (loaded != atomic_load(&libraries_seen)) {
            find_runtimes();
            atomic_store(&libraries_seen, loaded);
        }
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&runtime_loaded);
}

bool trv_device_unknown(void) { return atomic_load(&runtime_loaded) && runtime.level_zero; }

static bool cuda_holds(const void *buffer)
{
    unsigned type = CU_HOST;
    return runtime.cu_attribute &&
           runtime.cu_attribute(&type, CU_MEMORY_TYPE, (unsigned long long)(uintptr_t)buffer) == 0 && type != CU_HOST;
}

static bool hip_holds(const void *buffer)
{
    hip_attributes_t attributes;
    memset(&attributes, 0, sizeof attributes);
    return runtime.hip_attributes && runtime.hip_attributes(&attributes, buffer) == 0 && attributes.device_pointer &&
           !attributes.host_pointer;
}

bool trv_device_holds(const void *buffer)
{
    return atomic_load(&runtime_loaded) && (cuda_holds(buffer) || hip_holds(buffer));
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

/* cuMemcpy needs a current context: the context of the device's buffer is made current during the copy. */
static bool cuda_copy(void *to, const void *from, size_t bytes, const void *on_device)
{
    void *context = NULL;
    if (!runtime.cu_copy || !runtime.cu_push || !runtime.cu_pop || !runtime.cu_complete ||
        runtime.cu_attribute(&context, CU_CONTEXT, (unsigned long long)(uintptr_t)on_device) != 0 ||
        runtime.cu_push(context) != 0)
        return false;
    bool copied = runtime.cu_copy((unsigned long long)(uintptr_t)to, (unsigned long long)(uintptr_t)from, bytes) == 0 &&
                  runtime.cu_complete(NULL) == 0;
    runtime.cu_pop(&context);
    return copied;
}

int trv_device_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return TRV_OK;
    const void *on_device = trv_device_holds(to) ? to : trv_device_holds(from) ? from : NULL;
    if (!on_device) {
        memmove(to, from, bytes);
        return TRV_OK;
    }
    bool copied = cuda_holds(on_device)
                      ? cuda_copy(to, from, bytes, on_device)
                      : runtime.hip_copy && runtime.hip_copy(to, from, bytes, HIP_MEMCPY_DEFAULT) == 0;
    return copied ? TRV_OK
                  : trv_fail(TRV_ERR_TRANSPORT, "%zu bytes could not be copied between the host and a GPU", bytes);
}
