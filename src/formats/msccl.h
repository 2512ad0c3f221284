/*
 * MSCCL XML and MSCCL++ JSON: schedules as the programs of GPUs. docs/export-formats.md says how they are made.
 */
#ifndef TRIVANCE_FORMATS_MSCCL_H
#define TRIVANCE_FORMATS_MSCCL_H

#include <stdio.h>

#include <trivance/schedule.h>

#include "verify/gpu_program.h"

/* Both write a schedule with blocks. TRV_ERR_UNSUPPORTED, before anything is written, where it does not fit into the
 * format's limits. Errors of the stream are left to the caller (ferror). */
int trv_msccl_write(const trv_schedule_t *schedule, FILE *out);
int trv_mscclpp_write(const trv_schedule_t *schedule, FILE *out);

/* Read the text of a program, ours or another's: XML, which is cut up, and JSON, which has "gpus". TRV_ERR_INVALID
 * with a sentence and the place where it is broken, TRV_ERR_UNSUPPORTED where it has something that is not known here:
 * packets, switches, port channels. `program` is then empty. */
int trv_msccl_read(char *text, const char *file, trv_gpu_program_t *program);
int trv_mscclpp_read(const char *text, size_t length, const char *file, trv_gpu_program_t *program);

#endif
