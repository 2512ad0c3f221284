/*
 * The files of a Chakra export, PREFIX.<rank>.et. They are written into a temporary folder beside them, PREFIX.XXXXXX,
 * and renamed when all are complete, so that a failure leaves none of them; older ones are lost only if a rename fails.
 */
#include <trivance/formats.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/span.h"
#include "formats/chakra.h"

typedef struct files {
    const char *prefix;
    char *folder;           /* the temporary one */
    char *name, *temporary; /* of the current rank, by files_name */
    size_t size;            /* of each of these */
    int ranks;
} files_t;

static int fail_to_write(const char *path)
{
    return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: %s", path, strerror(errno));
}

/* Sets both names of the file of a rank, as ASTRA-sim numbers it. */
static void files_name(files_t *files, int number)
{
    snprintf(files->name, files->size, "%s.%d.et", files->prefix, number);
    snprintf(files->temporary, files->size, "%s/%d.et", files->folder, number);
}

static int files_create(files_t *files, const char *prefix, int ranks)
{
    const size_t length = strlen(prefix), size = length + 32;
    const char *slash = strrchr(prefix, '/'), *name = slash ? slash + 1 : prefix;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strncmp(prefix, "/dev/", 5) == 0)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "'%.200s' does not end with the beginning of a file name; expected, for example, traces/ring",
                        prefix);
    *files = (files_t){prefix, malloc(size), malloc(size), malloc(size), size, ranks};
    if (files->folder)
        *files->folder = '\0'; /* does not exist yet */
    if (!files->folder || !files->name || !files->temporary)
        return trv_fail_memory();
    snprintf(files->folder, size, "%s.XXXXXX", prefix);
    if (!mkdtemp(files->folder)) {
        *files->folder = '\0';
        files_name(files, 0);
        return fail_to_write(files->name);
    }
    return TRV_OK;
}

/* Removes the temporary folder. */
static void files_clear(files_t *files)
{
    if (files->folder && *files->folder) {
        for (int number = 0; number < files->ranks; number++) {
            files_name(files, number);
            unlink(files->temporary);
        }
        rmdir(files->folder);
    }
    free(files->folder);
    free(files->name);
    free(files->temporary);
}

/* Checks that the final file of a rank may be created or replaced. */
static int files_check(const files_t *files)
{
    struct stat status;
    if (stat(files->name, &status))
        return TRV_OK;
    if (!S_ISREG(status.st_mode))
        return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: it is not a regular file", files->name);
    return access(files->name, W_OK) ? fail_to_write(files->name) : TRV_OK;
}

static int files_write(files_t *files, trv_operations_t *operations, int rank)
{
    files_name(files, trv_chakra_number(trv_schedule_torus(operations->schedule), rank));
    int rc = files_check(files);
    if (rc)
        return rc;
    FILE *out = fopen(files->temporary, "wb");
    if (!out)
        return fail_to_write(files->name);
    rc = trv_chakra_write(operations, rank, out);
    const bool written = !ferror(out);
    if ((fclose(out) || !written) && !rc)
        rc = fail_to_write(files->name);
    return rc;
}

/* Moves all files to their names. If one cannot be moved, those already moved are removed. */
static int files_publish(files_t *files)
{
    for (int number = 0; number < files->ranks; number++) {
        files_name(files, number);
        if (rename(files->temporary, files->name) == 0)
            continue;
        const int rc = fail_to_write(files->name);
        while (number-- > 0) {
            files_name(files, number);
            unlink(files->name);
        }
        return rc;
    }
    return TRV_OK;
}

int trv_export_chakra(const trv_schedule_t *schedule, const char *prefix, uint64_t vector_bytes, double alpha_ns,
                      int (*progress)(void *context, double fraction), void *context)
{
    const trv_span_t all = {progress, context, 0, 1};
    const int ranks = trv_schedule_torus(schedule)->ranks;
    trv_operations_t operations;
    files_t files = {0};
    int rc = trv_chakra_create(&operations, schedule, vector_bytes, alpha_ns, trv_span(all, 0, 0.5));
    if (!rc)
        rc = files_create(&files, prefix, ranks);
    for (int rank = 0; rank < ranks && !rc; rank++) {
        rc = trv_span_report(all, 0.5 + 0.5 * rank / ranks);
        if (!rc)
            rc = files_write(&files, &operations, rank);
    }
    if (!rc)
        rc = files_publish(&files);
    files_clear(&files);
    trv_operations_clear(&operations);
    return rc;
}
