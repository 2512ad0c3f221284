/*
 * A file as one text.
 */
#ifndef TRIVANCE_BASE_TEXT_WHOLE_FILE_H
#define TRIVANCE_BASE_TEXT_WHOLE_FILE_H

#include <stddef.h>

#include <trivance/common.h>

/* Reads a whole file, without a byte order mark, into *text, which is terminated by a zero after `length` bytes, and
 * which the caller frees; it is NULL after a failure. path: "-" is stdin. *name becomes the path, or "stdin". Devices
 * are rejected, and files of 2 GiB or more. */
TRV_API int trv_whole_file_read(const char *path, const char **name, char **text, size_t *length);

#endif
