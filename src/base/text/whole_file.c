/*
 * Reading of files and stdin to their end.
 */
#include "base/text/whole_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 32)

static int read_all(FILE *in, const char *path, char **text, size_t *length)
{
    size_t capacity = 1 << 16;
    *text = malloc(capacity);
    for (*length = 0; *text;) {
        *length += fread(*text + *length, 1, capacity - *length, in);
        if (*length < capacity)
            break;
        capacity *= 2;
        char *grown = capacity > FILE_BYTES_MAX ? NULL : realloc(*text, capacity);
        if (!grown)
            free(*text);
        *text = grown;
    }
    if (!*text)
        return trv_fail_memory();
    (*text)[*length] = '\0';
    if (ferror(in)) {
        free(*text);
        *text = NULL;
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read: %s", path, strerror(errno));
    }
    return TRV_OK;
}

int trv_whole_file_read(const char *path, const char **name, char **text, size_t *length)
{
    bool from_stdin = strcmp(path, "-") == 0;
    *text = NULL;
    FILE *in = from_stdin ? stdin : fopen(path, "rb");
    if (!in)
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read: %s", path, strerror(errno));
    int rc = read_all(in, path, text, length);
    if (!from_stdin)
        fclose(in);
    *name = from_stdin ? "stdin" : path;
    return rc;
}
