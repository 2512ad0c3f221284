/*
 * Plots: their data are written to the standard input of the Python package, which draws them.
 */
#include "cli/shared/plot.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/host/python.h"
#include "cli/shared/output.h"

static int fail_to_write(const char *path, const char *reason)
{
    return trv_fail(TRV_ERR_ARGUMENT, "--plot: the file '%.200s' cannot be written: %s", path, reason);
}

/* Whether two paths lead to the same file, or have the same name. */
static bool same_file(const char *path, const char *other)
{
    struct stat a, b;
    return strcmp(path, other) == 0 ||
           (stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* Creates the output and discards it. */
static int check_place(const char *path)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, path);
    if (!rc)
        cli_output_end(&output, TRV_ERR_CANCELLED);
    return rc ? trv_fail(rc, "--plot: %s", trv_last_error()) : TRV_OK;
}

int cli_plot_check(const char *path, const char *output)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".svg") != 0)
        return trv_fail(TRV_ERR_ARGUMENT, "--plot: the name '%.200s' must end in .svg, for example --plot=times.svg",
                        path);
    if (output && same_file(path, output))
        return trv_fail(TRV_ERR_ARGUMENT, "--plot and --output name the same file '%.200s'; give two names", path);
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

/* Runs Python with the data as standard input and the file as standard output. */
static bool run_python(const char *python, FILE *data, FILE *file)
{
    char *const word[] = {(char *)(size_t)python, "-m", "trivance.figures.curves", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(data), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(file), STDOUT_FILENO);
    const bool ran = posix_spawnp(&child, python, &actions, NULL, word, environ) == 0 &&
                     waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return ran;
}

int cli_plot_draw(const char *path, const cli_plot_t *plot)
{
    const char *python = cli_find_python();
    FILE *data = NULL;
    cli_output_t output;
    int rc = python ? write_data(plot, path, &data) : fail_to_write(path, "python3 is missing");
    if (rc)
        return rc;
    rc = cli_output_begin(&output, path);
    if (!rc) {
        if (!run_python(python, data, output.stream))
            rc = fail_to_write(path, "python3 failed");
        rc = cli_output_end(&output, rc);
    }
    fclose(data);
    return rc;
}
