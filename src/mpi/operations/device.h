/*
 * Buffers on a GPU. No GPU runtime is linked. If the program has loaded one (CUDA, HIP), its functions classify
 * pointers and copy memory.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_DEVICE_H
#define TRIVANCE_MPI_OPERATIONS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a runtime is loaded now. The functions below use the runtimes that the latest call of this function found. */
bool trv_device_present(void);

/* Whether a runtime is loaded that cannot classify pointers (Level Zero requires the program's context for that). */
bool trv_device_unknown(void);

/* Whether the buffer is on a GPU. */
bool trv_device_holds(const void *buffer);

/* Copies between host and device, in either direction, and returns when the copy is complete. TRV_OK, or
 * TRV_ERR_TRANSPORT with the message in trv_last_error(). */
int trv_device_copy(void *to, const void *from, size_t bytes);

/* The handle of a loaded library whose file name begins with `name`, as dlopen gives it; NULL: none is loaded. */
void *trv_loaded_library(const char *name);

#endif
