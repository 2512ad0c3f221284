/*
 * Suggestions for unknown names in messages.
 */
#ifndef TRIVANCE_BASE_TEXT_NEAREST_H
#define TRIVANCE_BASE_TEXT_NEAREST_H

#include <trivance/common.h>

/* The name among `count` names that is nearest to `text`; NULL if none is near. */
TRV_API const char *trv_nearest(const char *text, const char *const *name, int count);

#endif
