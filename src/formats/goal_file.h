/*
 * GOAL, the text format of LogGOPSim: schedules are written in it, and programs read. docs/export-formats.md says what
 * is understood.
 */
#ifndef TRIVANCE_FORMATS_GOAL_FILE_H
#define TRIVANCE_FORMATS_GOAL_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/schedule.h>

#include "base/span.h"
#include "simulate/goal/goal.h"

/* Reads `length` bytes of text; `name` is the file's in messages. TRV_ERR_INVALID with a sentence that says in which
 * line the text is not what the format asks for. The program is cleared by trv_goal_clear. */
int trv_goal_file_parse(const char *text, size_t length, const char *name, trv_goal_t *goal);

/* The same from a file; "-" is stdin. */
int trv_goal_file_read(const char *path, trv_goal_t *goal);

/* Writes a schedule for a vector of `vector_bytes` as a program. At the entry of every step in which a rank sends or
 * receives it calculates for `alpha_ns`, rounded to whole ns; with 0 there are no calculations, and the operations of a
 * step require those of the step before. TRV_ERR_UNSUPPORTED where it would be too long. Progress is reported to the part. */
int trv_goal_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, double alpha_ns, trv_span_t part,
                        FILE *out);

#endif
