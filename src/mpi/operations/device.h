/*
 * Buffers on a GPU. Nothing of a GPU runtime is linked: if the program has loaded one (CUDA, HIP), it is asked about a
 * pointer, and copies for us.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_DEVICE_H
#define TRIVANCE_MPI_OPERATIONS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a runtime is loaded by now. The functions below look at what this one found. */
bool trv_device_present(void);

/* Whether a runtime is loaded that cannot be asked about a pointer (Level Zero wants the program's own context). */
bool trv_device_unknown(void);

/* Whether the buffer lies on a GPU. */
bool trv_device_holds(const void *buffer);

/* Copies between host and device, either way, and returns when the copy is complete. TRV_OK or TRV_ERR_TRANSPORT with
 * the sentence. */
int trv_device_copy(void *to, const void *from, size_t bytes);

/* The handle of a loaded library whose file name begins with `name`, as dlopen gives it; NULL: none is loaded. */
void *trv_loaded_library(const char *name);

#endif
