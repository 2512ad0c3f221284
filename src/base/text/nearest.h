/*
 * The name that was meant by one that is unknown.
 */
#ifndef TRIVANCE_BASE_TEXT_NEAREST_H
#define TRIVANCE_BASE_TEXT_NEAREST_H

/* The name among `count` that is nearest to `text`, or NULL where none is near. */
const char *trv_nearest(const char *text, const char *const *name, int count);

#endif
