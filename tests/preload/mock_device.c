/*
 * Mock of a GPU runtime: built as libcuda.so.1, as libamdhip64.so.6, and as libze_loader.so.1. "Device memory" is
 * memory that the processor must not access, except during a copy, or where the test makes it readable to simulate a
 * GPU-aware MPI library.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "mock_device.h"

#define AREAS 8

static struct {
    char *start;
    size_t bytes;
    int open;
} area[AREAS];
static int areas;
int mock_copies;

void *mock_alloc(size_t bytes, int open)
{
    char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    area[areas].start = start;
    area[areas].bytes = bytes;
    area[areas++].open = open;
    if (!open)
        mprotect(start, bytes, PROT_NONE);
    return start;
}

void mock_copy(void *to, const void *from, size_t bytes)
{
    for (int i = 0; i < areas; i++)
        mprotect(area[i].start, area[i].bytes, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    for (int i = 0; i < areas; i++)
        if (!area[i].open)
            mprotect(area[i].start, area[i].bytes, PROT_NONE);
    mock_copies++;
}

static int holds(const void *pointer)
{
    for (int i = 0; i < areas; i++)
        if ((const char *)pointer >= area[i].start && (const char *)pointer < area[i].start + area[i].bytes)
            return 1;
    return 0;
}

/* ---- CUDA's driver ----------------------------------------------------------------------------------------------- */

static int contexts;

int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    if (!holds((void *)(uintptr_t)pointer))
        return 1; /* CUDA_ERROR_INVALID_VALUE: not a CUDA pointer */
    if (attribute == 1)
        *(void **)value = &contexts;
    else
        *(unsigned *)value = 2; /* CU_MEMORYTYPE_DEVICE */
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    contexts += context == &contexts;
    return context != &contexts;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = &contexts;
    contexts--;
    return 0;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes)
{
    if (contexts < 1)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    mock_copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return 0;
}

int cuStreamSynchronize(void *stream) { return stream != NULL; }

/* ---- HIP --------------------------------------------------------------------------------------------------------- */

int hipPointerGetAttributes(void *attributes, const void *pointer)
{
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
    } *head = attributes;
    if (!holds(pointer))
        return 1;
    head->device_pointer = (void *)pointer;
    head->host_pointer = NULL;
    return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    if (kind != 4) /* hipMemcpyDefault */
        return 1;
    mock_copy(to, from, bytes);
    return 0;
}
