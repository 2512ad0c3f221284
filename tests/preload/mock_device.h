/*
 * What the test of device buffers asks of its mock runtime beside the runtime's own functions.
 */
#ifndef TRIVANCE_TESTS_PRELOAD_MOCK_DEVICE_H
#define TRIVANCE_TESTS_PRELOAD_MOCK_DEVICE_H

#include <stddef.h>

/* `open`: the processor may touch it all the same. */
void *mock_alloc(size_t bytes, int open);
void mock_copy(void *to, const void *from, size_t bytes);
extern int mock_copies;

#endif
