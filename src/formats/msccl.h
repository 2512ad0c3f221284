/*
 * MSCCL XML and MSCCL++ JSON: schedules as programs of GPUs. docs/export-formats.md describes the translation.
 */
#ifndef TRIVANCE_FORMATS_MSCCL_H
#define TRIVANCE_FORMATS_MSCCL_H

#include <stdio.h>

#include <trivance/schedule.h>

#include "verify/gpu_program.h"

/* Both write a schedule with blocks. TRV_ERR_UNSUPPORTED, before anything is written, if it exceeds the format's
 * limits. The caller checks the stream for errors (ferror). */
int trv_msccl_write(const trv_schedule_t *schedule, FILE *out);
int trv_mscclpp_write(const trv_schedule_t *schedule, FILE *out);

/* Read the text of a program, written by these functions or by another tool: XML, whose text is modified, or JSON
 * with the key "gpus". TRV_ERR_INVALID with an error message and the position of the fault; TRV_ERR_UNSUPPORTED for
 * features that are not supported: packets, switches, port channels. On failure `program` is empty. */
int trv_msccl_read(char *text, const char *file, trv_gpu_program_t *program);
int trv_mscclpp_read(const char *text, size_t length, const char *file, trv_gpu_program_t *program);

#endif
