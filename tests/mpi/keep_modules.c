/*
 * Only in builds with a leak checker. MPI libraries unload their plugins in MPI_Finalize. A leak of unloaded code is
 * reported without symbols, so scripts/lsan.supp could not suppress it. This dlclose replaces that of libc, and all
 * plugins remain loaded.
 */
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
