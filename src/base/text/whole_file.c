/*
 * Reading of files and stdin to their end.
 */
#include "base/text/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define FILE_BYTES_MAX ((size_t)INT_MAX) /* the maximum count of MPI, which broadcasts texts */

static int fail_large(const char *path)
{
    return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' is too large: files are read up to 2 GiB", path);
}

/* Refuses devices, most of which have no end. On a terminal the user ends the input. */
static int check_kind(FILE *in, const char *path)
{
    struct stat status;
    if (fstat(fileno(in), &status) != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be read: %s", path, strerror(errno));
    if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !isatty(fileno(in))))
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' is a device; expected a regular file or a pipe", path);
    return S_ISREG(status.st_mode) && (uint64_t)status.st_size > FILE_BYTES_MAX ? fail_large(path) : TRV_OK;
}

static int read_all(FILE *in, const char *path, char **text, size_t *length)
{
    size_t capacity = 1 << 16;
    *text = malloc(capacity);
    for (*length = 0; *text;) {
        *length += fread(*text + *length, 1, capacity - *length, in);
        if (*length < capacity)
            break;
        if (*length > FILE_BYTES_MAX) {
            free(*text);
            *text = NULL;
            return fail_large(path);
        }
        capacity *= 2;
        char *grown = realloc(*text, capacity);
        if (!grown)
            free(*text);
        *text = grown;
    }
    if (!*text)
        return trv_fail_memory();
    if (*length >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        memmove(*text, *text + 3, *length -= 3);
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
    *name = from_stdin ? "stdin" : path;
    int rc = check_kind(in, *name);
    if (!rc)
        rc = read_all(in, *name, text, length);
    if (!from_stdin)
        fclose(in);
    return rc;
}
