/*
 * MSCCL++ execution plans: schedules as programs of GPUs. docs/export-formats.md describes the translation.
 */
#ifndef TRIVANCE_FORMATS_MSCCLPP_H
#define TRIVANCE_FORMATS_MSCCLPP_H

#include <stdio.h>

#include <trivance/schedule.h>

#include "verify/gpu_program.h"

/* Writes a schedule with blocks. TRV_ERR_UNSUPPORTED, before anything is written, if it exceeds the format's limits.
 * The caller checks the stream for errors (ferror). */
int trv_mscclpp_write(const trv_schedule_t *schedule, FILE *out);

/* Reads the text of a plan, written by this function or by another tool. TRV_ERR_INVALID with an error message and the
 * position of the fault; TRV_ERR_UNSUPPORTED for features that are not supported: packets, switches, port channels. On
 * failure `program` is empty. */
int trv_mscclpp_read(const char *text, size_t length, const char *file, trv_gpu_program_t *program);

/* The error sentence for MSCCL's XML, a format of earlier versions. */
#define TRV_MSCCL_REMOVED "MSCCL's XML was removed; MSCCL++ execution plans in JSON (mscclpp) replace it"

#endif
