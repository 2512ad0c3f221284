/*
 * Makes the k-th allocation of Trivance's libraries fail, once. It is preloaded before all other libraries, with glibc.
 *
 * A caller is identified by the file that contains its return address, so allocations of the MPI library and of the
 * program do not fail. A program finds failing_memory_arm by dlsym and selects the allocation that fails; before that
 * FAILING_MEMORY=K selects one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

#define FRAMES_MAX 24

static atomic_long countdown; /* number of allocations up to the one that fails; 0: none fails */
static atomic_bool all_fail;  /* all later allocations fail, too */
static atomic_bool failed;

/* Makes the `number`-th allocation from now on fail, and all later ones if `on` is set; 0: no allocation fails. Returns
 * whether one has failed since the last call. */
bool failing_memory_arm(long number, bool on)
{
    atomic_store(&countdown, 0);
    bool before = atomic_exchange(&failed, false);
    atomic_store(&all_fail, on);
    atomic_store(&countdown, number);
    return before;
}

/* Makes the creation of a node's shared memory fail if FAILING_MEMFD is set. */
int memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned);
    *(void **)&next = dlsym(RTLD_NEXT, "memfd_create");
    if (getenv("FAILING_MEMFD") && strcmp(name, "trivance") == 0) {
        errno = ENOMEM;
        return -1;
    }
    return next(name, flags);
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAILING_MEMORY");
    void *frame[1];
    backtrace(frame, 1); /* allocates, the first time */
    if (number)
        failing_memory_arm(strtol(number, NULL, 10), false);
}

static bool is_ours(void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
    return strncmp(name, "libtrivance", strlen("libtrivance")) == 0 || strncmp(name, "mca_coll_trivance", 17) == 0;
}

static void print_backtrace(void)
{
    void *frame[FRAMES_MAX];
    long remaining = atomic_exchange(&countdown, 0);
    if (getenv("FAILING_MEMORY_SHOWS"))
        backtrace_symbols_fd(frame, backtrace(frame, FRAMES_MAX), STDERR_FILENO);
    atomic_store(&countdown, remaining);
}

static bool must_fail(void *caller)
{
    if (atomic_load(&countdown) == 0 || !is_ours(caller))
        return false;
    if (atomic_load(&countdown) > 1 && atomic_fetch_sub(&countdown, 1) > 1)
        return false;
    if (!atomic_load(&all_fail))
        atomic_store(&countdown, 0);
    if (!atomic_exchange(&failed, true))
        print_backtrace();
    errno = ENOMEM;
    return true;
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

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **place, size_t alignment, size_t bytes)
{
    void *made = must_fail(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
    *place = made ? made : *place;
    return made ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
