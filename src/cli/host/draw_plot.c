/*
 * Plots: their data are written to the standard input of the Python package, which draws them.
 */
#include "cli/shared/plot.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/host/python.h"

static int fail_to_write(const char *path, const char *reason)
{
    return trv_fail(TRV_ERR_ARGUMENT, "--plot: the file '%.200s' cannot be written: %s", path, reason);
}

/* Checks that a file can be created beside the path, and that the path is not something else than a file. */
static int check_place(const char *path)
{
    struct stat status;
    char name[PATH_MAX];
    const bool exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode))
        return fail_to_write(path, "it is not a regular file");
    if (exists && access(path, W_OK) != 0)
        return fail_to_write(path, strerror(errno));
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    const int descriptor = mkstemp(name);
    if (descriptor < 0)
        return fail_to_write(path, strerror(errno));
    close(descriptor);
    unlink(name);
    return TRV_OK;
}

int cli_plot_check(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".svg") != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "--plot: the name '%.200s' must end in .svg, for example --plot=times.svg",
                        path);
    int rc = check_place(path);
    if (!rc && !cli_find_python())
        rc = trv_fail(TRV_ERR_ARGUMENT, "--plot: there is no python3 with numpy, matplotlib and the package trivance; "
                                        "install python3-matplotlib and python3-trivance");
    return rc;
}

/* Writes the data to a file without a name, and rewinds it. */
static int write_data(const cli_plot_t *plot, const char *path, FILE **file)
{
    json_t *data = json_pack("{s:s, s:O, s:O}", "title", plot->title, "curves", plot->curves, "limit", plot->limit);
    if (!data)
        return trv_fail_memory();
    *file = tmpfile();
    const bool written = *file && json_dumpf(data, *file, JSON_COMPACT) == 0 && fflush(*file) == 0;
    json_decref(data);
    if (!written) {
        if (*file)
            fclose(*file);
        return fail_to_write(path, "a temporary file cannot be written");
    }
    rewind(*file);
    return TRV_OK;
}

int cli_plot_draw(const char *path, const cli_plot_t *plot)
{
    const char *python = cli_find_python();
    char *const word[] = {(char *)(size_t)python, "-m", "trivance.figures.curves", (char *)(size_t)path, NULL};
    FILE *data = NULL;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    int rc = python ? write_data(plot, path, &data) : fail_to_write(path, "python3 is missing");
    if (rc)
        return rc;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(data), STDIN_FILENO);
    const bool drawn = posix_spawnp(&child, python, &actions, NULL, word, environ) == 0 &&
                       waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    posix_spawn_file_actions_destroy(&actions);
    fclose(data);
    return drawn ? TRV_OK : fail_to_write(path, "python3 failed");
}
