/*
 * Suggestions for unknown names in messages.
 */
#ifndef TRIVANCE_BASE_TEXT_NEAREST_H
#define TRIVANCE_BASE_TEXT_NEAREST_H

/* The name among `count` names that is nearest to `text`; NULL if none is near. */
const char *trv_nearest(const char *text, const char *const *name, int count);

#endif
