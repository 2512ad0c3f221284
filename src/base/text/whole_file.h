/*
 * A file as one text.
 */
#ifndef TRIVANCE_BASE_TEXT_WHOLE_FILE_H
#define TRIVANCE_BASE_TEXT_WHOLE_FILE_H

#include <stddef.h>

/* Reads all of a file ("-" is stdin, for which *name becomes "stdin"; otherwise it is the path) into *text, which
 * ends with a zero beyond `length` and which the caller frees; NULL after a failure. Files from 4 GiB are refused. */
int trv_whole_file_read(const char *path, const char **name, char **text, size_t *length);

#endif
