/*
 * Programs of GPUs as data: functions with which readers create them incrementally.
 */
#include "verify/gpu_program.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/array.h"

int trv_gpu_program_create_gpus(trv_gpu_program_t *program)
{
    program->scratch = calloc((size_t)program->gpus, sizeof *program->scratch);
    program->first_block = calloc((size_t)program->gpus + 1, sizeof *program->first_block);
    return program->scratch && program->first_block ? TRV_OK : trv_fail_memory();
}

int trv_gpu_program_add_block(trv_gpu_program_t *program, const trv_threadblock_t *block)
{
    int rc = trv_array_reserve(&program->block, &program->block_capacity, program->blocks, 1, sizeof *block);
    if (!rc)
        program->block[program->blocks++] = *block;
    return rc;
}

int trv_gpu_program_add_op(trv_gpu_program_t *program, const trv_gpu_op_t *op)
{
    int rc = trv_array_reserve(&program->op, &program->op_capacity, program->ops, 1, sizeof *op);
    if (!rc) {
        program->op[program->ops++] = *op;
        program->block[program->blocks - 1].ops++;
    }
    return rc;
}

int trv_gpu_program_add_span(trv_gpu_program_t *program, const trv_gpu_span_t *span)
{
    int rc = trv_array_reserve(&program->span, &program->span_capacity, program->spans, 1, sizeof *span);
    if (!rc)
        program->span[program->spans++] = *span;
    return rc;
}

int trv_gpu_program_add_channel(trv_gpu_program_t *program, int end)
{
    int rc = trv_array_reserve(&program->channel, &program->channel_capacity, program->channels, 1, sizeof end);
    if (!rc)
        program->channel[program->channels++] = end;
    return rc;
}

void trv_gpu_program_clear(trv_gpu_program_t *program)
{
    free(program->scratch);
    free(program->first_block);
    free(program->block);
    free(program->op);
    free(program->span);
    free(program->channel);
    free(program->other);
    *program = (trv_gpu_program_t){.gpus = 0};
}
