/*
 * Functions of the mock GPU runtime, in addition to the real runtime's, for the test of device buffers.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_MOCK_DEVICE_H
#define TRIVANCE_TESTS_PRELOAD_MOCK_DEVICE_H

#include <stddef.h>

/* Allocates device memory; with `open`, the processor may access it directly. */
void *mock_alloc(size_t bytes, int open);
void mock_copy(void *to, const void *from, size_t bytes);
extern int mock_copies;

#endif
