/*
 * The sizes of vectors for which an MSCCL++ plan is valid.
 */
#ifndef TRIVANCE_CLI_MSCCLPP_SIZES_H
#define TRIVANCE_CLI_MSCCLPP_SIZES_H

#include <stdint.h>

#include <trivance/schedule.h>

/* Prints to stderr which sizes the plan of a schedule accepts. If it does not accept `bytes` (0: no size is given),
 * also prints the next larger size that it accepts. */
void cli_report_mscclpp_sizes(const char *command, const trv_schedule_t *schedule, uint64_t bytes);

#endif
