/*
 * MSCCL XML and MSCCL++ JSON: schedules as the programs of GPUs. docs/export-formats.md says how they are made.
 */
#ifndef TRIVANCE_FORMATS_MSCCL_H
#define TRIVANCE_FORMATS_MSCCL_H

#include <stdio.h>

#include <trivance/schedule.h>

/* Both write a schedule with blocks. TRV_ERR_UNSUPPORTED, before anything is written, where it does not fit into the
 * format's limits. Errors of the stream are left to the caller (ferror). */
int trv_msccl_write(const trv_schedule_t *schedule, FILE *out);
int trv_mscclpp_write(const trv_schedule_t *schedule, FILE *out);

#endif
