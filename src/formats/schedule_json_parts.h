/*
 * Messages and combines of a trivance-schedule-1 file, one at a time; used by schedule_json_read.c only.
 */
#ifndef TRIVANCE_FORMATS_SCHEDULE_JSON_PARTS_H
#define TRIVANCE_FORMATS_SCHEDULE_JSON_PARTS_H

#include <trivance/schedule.h>

#include "formats/ranges.h"
#include "json/json.h"

typedef struct schedule_reader {
    trv_json_t json;
    int stream, step; /* those being read */
    trv_torus_t torus;
    uint64_t vector_bytes;
    trv_explicit_options_t options;
    trv_schedule_t *schedule;
    int64_t messages, with_blocks;
    int64_t *bytes; /* of every message, in the order of the file, unless the file has blocks */
    int64_t bytes_capacity;
    trv_numbers_t numbers;      /* the lists of the entry being read */
    int64_t listed, listed_max; /* numbers in all lists so far, and their maximum */
    bool warned_bytes;          /* the warning that bytes and blocks differ was reported */
} schedule_reader_t;

/* Returns the maximum number of list elements for a file of `length` bytes. Ranges are short in the file but need
 * memory for every element. */
int64_t trv_reader_listed_max(size_t length);

/* First pass: checks the shape of a message and counts it. */
int trv_reader_check_message(schedule_reader_t *reader, json_t *message);
/* For a file without blocks: chooses options.units so that messages are whole numbers of units. */
int trv_reader_choose_units(schedule_reader_t *reader);
/* Second pass: adds a message, or a combine, to the schedule. */
int trv_reader_add_message(schedule_reader_t *reader, json_t *message);
int trv_reader_add_combine(schedule_reader_t *reader, json_t *combine);
/* Whether the sends have the symmetry that the header claims, on which the cost model relies. */
int trv_reader_check_symmetry(schedule_reader_t *reader);
void trv_reader_clear(schedule_reader_t *reader);

#endif
