/*
 * Makes allocations of the preload library fail while mock_memory_fails is set; allocations of other libraries and of
 * the program succeed. It must be preloaded after the library, under glibc.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

int mock_memory_fails;

/* Returns whether an allocation by the caller at this address must fail. */
static int must_fail(void *caller)
{
    Dl_info info;
    return mock_memory_fails && dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libtrivance_pmpi");
}

void *malloc(size_t bytes) { return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
