/*
 * GOAL, the text format of LogGOPSim: writing of schedules and reading of programs. docs/export-formats.md describes
 * the supported subset.
 */
#ifndef TRIVANCE_FORMATS_GOAL_FILE_H
#define TRIVANCE_FORMATS_GOAL_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/schedule.h>

#include "base/span.h"
#include "simulate/goal/goal.h"

/* Reads `length` bytes of text; `name` is the file's name for error messages. TRV_ERR_INVALID, with an error message
 * that states the line, if the text violates the format. The caller frees the program with trv_goal_clear. */
int trv_goal_file_parse(const char *text, size_t length, const char *name, trv_goal_t *goal);

/* Reads a file; "-" is stdin. */
int trv_goal_file_read(const char *path, trv_goal_t *goal);

/* Writes a schedule for a vector of `vector_bytes` as a program. Every step in which a rank sends or receives begins
 * with a calculation of `alpha_ns`, rounded to whole ns. With 0 there are no calculations, and the operations of a
 * step require those of the previous step. TRV_ERR_UNSUPPORTED if the program would be too long. Progress is
 * reported to `part`. */
int trv_goal_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, double alpha_ns, trv_span_t part,
                        FILE *out);

#endif
