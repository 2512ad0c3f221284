/*
 * Fuzzes the reader of MSCCL programs and their verification: no text may crash them, and every refusal and every fault
 * has an error sentence.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/trivance.h>

#include "formats/msccl.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_gpu_program_t program;
    trv_gpu_program_verdict_t verdict;
    char *text = malloc(size + 1);
    fuzz_expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (trv_msccl_read(text, "fuzz", &program)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
    } else {
        bool small = program.gpus <= 16 && program.chunks <= 64;
        for (int gpu = 0; gpu < program.gpus; gpu++)
            small = small && program.scratch[gpu] <= 64;
        for (int s = 0; s < program.spans; s++)
            small = small && program.span[s].size <= 64;
        if (small && trv_gpu_program_verify(&program, (trv_span_t){0}, &verdict))
            fuzz_expect(strlen(trv_last_error()) > 10);
        else if (small)
            fuzz_expect(verdict.valid || strlen(verdict.fault) > 10);
    }
    trv_gpu_program_clear(&program);
    free(text);
    return 0;
}
