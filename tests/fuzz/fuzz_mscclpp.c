/*
 * Fuzzes the reader of MSCCL++ execution plans and their verification: no text may crash them, and every refusal and
 * every fault has an error sentence.
 */
#include <stdint.h>
#include <string.h>

#include <trivance/trivance.h>

#include "formats/mscclpp.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_gpu_program_t program;
    trv_gpu_program_verdict_t verdict;
    if (trv_mscclpp_read((const char *)data, size, "fuzz", &program)) {
        fuzz_expect(strlen(trv_last_error()) > 10);
        return 0;
    }
    bool small = program.gpus <= 16 && program.chunks <= 64;
    for (int gpu = 0; gpu < program.gpus; gpu++)
        small = small && program.scratch[gpu] <= 64;
    if (small && trv_gpu_program_verify(&program, (trv_span_t){0}, &verdict))
        fuzz_expect(strlen(trv_last_error()) > 10);
    else if (small)
        fuzz_expect(verdict.valid || strlen(verdict.fault) > 10);
    trv_gpu_program_clear(&program);
    return 0;
}
