/*
 * The exchange format trivance-schedule-1: any schedule as a JSON file, and back. docs/schedule-format.md specifies it.
 */
#ifndef TRIVANCE_FORMATS_SCHEDULE_FILE_H
#define TRIVANCE_FORMATS_SCHEDULE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/formats.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

#include "base/error.h"
#include "base/span.h"

/* Writes the schedule for a vector of `vector_bytes`, one message a line. TRV_ERR_INVALID if a message lacks its
 * send or its receive, or if their units differ; TRV_ERR_UNSUPPORTED above 2^26 messages. The caller checks the
 * stream for errors (ferror). */
int trv_schedule_file_write(const trv_schedule_t *schedule, uint64_t vector_bytes, FILE *out);

/* Writes a schedule that was created for a network, which is stored in the file. Progress is reported to the part. */
int trv_schedule_file_write_on(const trv_schedule_t *schedule, const trv_network_t *network, uint64_t vector_bytes,
                               trv_span_t part, FILE *out);

/* Returns the network of the file, whose links belong to `file`. */
trv_network_t trv_schedule_file_network(const trv_schedule_file_t *file, const trv_torus_t *torus);

/* Reads `length` bytes of text; `name` is the file's name for error messages. TRV_ERR_INVALID, with an error message
 * that states the position, if the text violates the format; `warn` receives a message for each thing that is
 * ignored. Files without blocks become schedules whose units are the largest share of the vector that all messages
 * are multiples of (or 1/2^16 of it where that is too small, with a warning). */
int trv_schedule_file_parse(const char *text, size_t length, const char *name, trv_schedule_file_t *file,
                            trv_warn_t *warn, void *context);

/* Reads a file; "-" is stdin. */
int trv_schedule_file_read(const char *path, trv_schedule_file_t *file, trv_warn_t *warn, void *context);

#endif
