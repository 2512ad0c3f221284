/*
 * Only in builds with a leak checker: MPI libraries unload their plugins in MPI_Finalize, and a leak of code that is no
 * longer there has no name, so scripts/lsan.supp could not say that it is not ours. The program's own dlclose takes the
 * place of libc's, and everything stays loaded.
 */
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
