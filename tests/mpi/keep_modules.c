/*
 * Only in builds with a leak checker: MPI libraries unload their plugins in MPI_Finalize, and a leak of code that is no
 * longer there has no name, so scripts/lsan.supp could not say that it is not ours. The program's own dlclose takes the
 * place of libc's, and everything stays loaded.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) int dlclose(void *handle);

/* What a program under a preload library starts (a shell, the checker's own symbolizer) has no sanitizer in it, and so
 * cannot load a library that has. */
__attribute__((constructor)) static void preload_no_further(void)
{
    unsetenv("LD_PRELOAD");
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
