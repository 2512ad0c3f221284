/*
 * Buffers on a GPU, through CUDA's driver; skipped (77) if there is no driver or no GPU.
 *
 *     mpirun -n 3 cuda
 *
 * After a call from the host, calls with the same signature use device, managed and pinned buffers on some of the
 * ranks, as send buffer, as receive buffer and in place. The sums must be right, and the program's context must stay
 * current.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "check.h"

enum { COUNT = 100000, SKIP = 77, ATTACH_GLOBAL = 1 };

typedef unsigned long long device_t;

static struct {
    int (*init)(unsigned);
    int (*get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*set_current)(void *context);
    int (*get_current)(void **context);
    int (*alloc)(device_t *memory, size_t bytes);
    int (*alloc_managed)(device_t *memory, size_t bytes, unsigned flags);
    int (*alloc_host)(void **memory, size_t bytes);
    int (*copy)(device_t to, device_t from, size_t bytes);
    int (*synchronise)(void);
} cuda;

static int rank, ranks;
static int host[COUNT], sum[COUNT];

/* Returns whether the driver and a GPU are available; makes a context of the GPU current. */
static bool cuda_begin(void **context)
{
    static const char *const name[] =
        {"cuInit",        "cuDeviceGet",       "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxGetCurrent",
         "cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocHost_v2",        "cuMemcpy",        "cuCtxSynchronize"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), **function = (void **)(void *)&cuda;
    int device = 0;
    for (size_t i = 0; driver && i < sizeof name / sizeof *name; i++)
        if (!(function[i] = dlsym(driver, name[i])))
            return false;
    return driver && cuda.init(0) == 0 && cuda.get(&device, 0) == 0 && cuda.retain(context, device) == 0 &&
           cuda.set_current(*context) == 0;
}

static void copy(const void *to, const void *from)
{
    check(cuda.copy((device_t)to, (device_t)from, sizeof host) == 0, "the driver does not copy");
    cuda.synchronise();
}

static void expect_sums(const char *what, const char *memory)
{
    int correct = 0;
    for (int i = 0; i < COUNT; i++)
        correct += sum[i] == ranks * (ranks - 1) / 2 + i % 1000 * ranks;
    check(correct == COUNT, "%s, %s memory: %d of %d sums are right", what, memory, correct, COUNT);
}

static void reduce(const void *from, void *to) { MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

/* Only ranks other than rank 0 use the buffer. */
static void test_memory(void *buffer, const char *memory)
{
    const bool uses = rank > 0;
    copy(buffer, host);
    reduce(uses ? buffer : host, sum);
    expect_sums("send buffer", memory);
    memset(sum, 0, sizeof sum);
    reduce(host, uses ? buffer : (void *)sum);
    if (uses)
        copy(sum, buffer);
    expect_sums("receive buffer", memory);
    copy(buffer, host);
    memcpy(sum, host, sizeof sum);
    reduce(MPI_IN_PLACE, uses ? buffer : (void *)sum);
    if (uses)
        copy(sum, buffer);
    expect_sums("in place", memory);
}

int main(int argc, char **argv)
{
    void *context = NULL, *after = NULL, *pinned = NULL;
    device_t device = 0, managed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COUNT; i++)
        host[i] = rank + i % 1000;
    reduce(host, sum);
    expect_sums("before the driver is loaded", "host");
    if (!cuda_begin(&context)) {
        if (rank == 0)
            puts("skipped: this machine has no CUDA driver or no GPU");
        MPI_Finalize();
        return SKIP;
    }
    check(cuda.alloc(&device, sizeof host) == 0 && cuda.alloc_managed(&managed, sizeof host, ATTACH_GLOBAL) == 0 &&
              cuda.alloc_host(&pinned, sizeof host) == 0,
          "the driver does not allocate");
    test_memory((void *)device, "device");
    test_memory((void *)managed, "managed");
    test_memory(pinned, "pinned");
    cuda.set_current(NULL);
    reduce(rank > 0 ? (void *)device : (void *)host, sum);
    cuda.get_current(&after);
    check(after == NULL, "a context has become current");
    cuda.set_current(context);
    copy((void *)device, host);
    reduce(rank > 0 ? (void *)device : (void *)host, sum);
    expect_sums("once more", "device");
    cuda.get_current(&after);
    check(after == context, "the program's context is no longer current");
    return check_end();
}
