/*
 * Output files: writing to a temporary beside the file, then renaming it. Signals that end the process remove
 * temporaries.
 */
#include "cli/shared/output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/shared/tool.h"

enum { LINKS_MAX = 16, TEMPORARIES_MAX = 8 };

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

const int cli_ending_signals[CLI_ENDING_SIGNALS + 1] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};

static char *volatile temporary[TEMPORARIES_MAX]; /* that exist at present */

static void on_signal(int number)
{
    for (int i = 0; i < TEMPORARIES_MAX; i++)
        if (temporary[i])
            unlink(temporary[i]);
    signal(number, SIG_DFL);
    raise(number);
}

/* Installs handlers that remove temporaries. Signals for which the tool has installed another handler keep it. */
static void watch_signals(void)
{
    static bool watched;
    for (const int *number = cli_ending_signals; !watched && *number; number++) {
        struct sigaction now, action = {.sa_handler = on_signal};
        if (sigaction(*number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(*number, &action, NULL);
    }
    watched = true;
}

static void replace_temporary(char *name, char *instead)
{
    for (int i = 0; i < TEMPORARIES_MAX; i++)
        if (temporary[i] == name) {
            temporary[i] = instead;
            return;
        }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static int fail_to_write(const char *path)
{
    return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: %s", path, strerror(errno));
}

/* Follows the symbolic links of a path, whether or not its target exists. */
static char *follow(const char *path)
{
    char *name = strdup(path), to[PATH_MAX];
    struct stat status;
    for (int i = 0; name && i < LINKS_MAX && lstat(name, &status) == 0 && S_ISLNK(status.st_mode); i++) {
        const ssize_t length = readlink(name, to, sizeof to - 1);
        if (length < 0)
            break;
        to[length] = '\0';
        const char *slash = to[0] == '/' ? NULL : strrchr(name, '/');
        const size_t folder = slash ? (size_t)(slash - name) + 1 : 0;
        char *next = malloc(folder + (size_t)length + 1);
        if (next)
            sprintf(next, "%.*s%s", (int)folder, name, to);
        free(name);
        name = next;
    }
    return name;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int open_in_place(cli_output_t *output, const char *path)
{
    output->stream = fopen(path, "w");
    return output->stream ? TRV_OK : fail_to_write(path);
}

/* `old`: the status of the existing file, or NULL. */
static int open_beside(cli_output_t *output, const struct stat *old)
{
    const size_t size = strlen(output->path) + 8;
    output->temporary = malloc(size);
    if (!output->temporary)
        return trv_fail_memory();
    snprintf(output->temporary, size, "%s.XXXXXX", output->path);
    watch_signals();
    const int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        free(output->temporary);
        return fail_to_write(output->path);
    }
    replace_temporary(NULL, output->temporary);
    const mode_t mask = umask(0); /* mkstemp creates a private file; a new file gets the usual mode */
    umask(mask);
    bool owner_kept = !old || fchown(descriptor, old->st_uid, old->st_gid) == 0 || old->st_uid != geteuid();
    fchmod(descriptor, old ? old->st_mode & (owner_kept ? 07777 : 0700) : 0666 & ~mask);
    output->stream = fdopen(descriptor, "w");
    return output->stream ? TRV_OK : trv_fail_memory();
}

bool cli_output_is_stdout(const char *path)
{
    static const char *const name[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool same = !path;
    for (size_t i = 0; i < sizeof name / sizeof *name && !same; i++)
        same = strcmp(path, name[i]) == 0;
    return same;
}

int cli_output_check(const char *path)
{
    struct stat file, out;
    if (stat(path, &file) || fstat(STDOUT_FILENO, &out) || !S_ISREG(file.st_mode) || file.st_dev != out.st_dev ||
        file.st_ino != out.st_ino)
        return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT,
                    "stdout is redirected to the file '%.200s', too, and one output would overwrite the other; "
                    "redirect stdout to another file, for example >output.txt",
                    path);
}

static int open_output(cli_output_t *output, const char *path)
{
    struct stat status;
    if (cli_output_is_stdout(path))
        return TRV_OK;
    if (cli_output_check(path))
        return TRV_ERR_ARGUMENT;
    const bool exists = stat(path, &status) == 0;
    if (!exists && (errno != ENOENT || !*path)) /* for example a cycle of links */
        return fail_to_write(path);
    output->path = follow(path);
    if (!output->path)
        return trv_fail_memory();
    int rc = TRV_OK;
    if (exists && !S_ISREG(status.st_mode))
        rc = open_in_place(output, path);
    else if (exists && !(status.st_mode & 0222))
        rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: it is read-only", path);
    else if (exists && access(path, W_OK))
        rc = fail_to_write(path);
    else
        rc = open_beside(output, exists ? &status : NULL);
    if (rc)
        free(output->path);
    return rc;
}

int cli_output_begin(cli_output_t *output, const char *path)
{
    *output = (cli_output_t){.stream = stdout};
    int rc = open_output(output, path);
    if (!rc && (output->path || !cli_stdout_is_terminal()))
        output->all = cli_progress_begin(&output->progress, "writing", 1);
    return rc;
}

int cli_output_end(cli_output_t *output, int code)
{
    int rc = code;
    cli_progress_end(&output->progress);
    if (!output->path) {
        if ((fflush(stdout) || ferror(stdout)) && !code)
            rc = trv_fail(TRV_ERR_ARGUMENT, "the output could not be written: %s", strerror(errno));
        return rc;
    }
    bool written = !ferror(output->stream);
    written = fclose(output->stream) == 0 && written;
    if (!code && (!written || (output->temporary && rename(output->temporary, output->path))))
        rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' could not be written: %s", output->path, strerror(errno));
    if (output->temporary && rc)
        unlink(output->temporary);
    if (output->temporary)
        replace_temporary(output->temporary, NULL);
    free(output->temporary);
    free(output->path);
    return rc;
}

int cli_output_write(const char *path, int (*write)(void *context, FILE *out), void *context)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, path);
    if (rc)
        return rc;
    return cli_output_end(&output, write(context, output.stream));
}
