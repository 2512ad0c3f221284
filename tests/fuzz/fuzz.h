/*
 * Interface of a fuzz target: LLVMFuzzerTestOneInput, as libFuzzer requires; standalone.c runs it without libFuzzer.
 */
#ifndef TRIVANCE_TESTS_FUZZ_H
#define TRIVANCE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_expect(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))

static inline void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: expected: %s\n", file, line, condition);
    abort();
}

#endif
