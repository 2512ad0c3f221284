/*
 * The streams of a schedule as one.
 */
#ifndef TRIVANCE_SCHEDULE_TOGETHER_H
#define TRIVANCE_SCHEDULE_TOGETHER_H

#include <trivance/schedule.h>

/* Creates the schedule whose only stream contains all streams of another one: a rank begins a step when its messages of
 * the previous step have arrived in all of them. Takes ownership of `schedule`, also after an error; a schedule of one
 * stream is returned itself. TRV_ERR_UNSUPPORTED for too many units. */
int trv_schedule_together(trv_schedule_t **together, trv_schedule_t *schedule);

#endif
