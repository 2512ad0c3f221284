/*
 * The browser's counterpart of the module cli/host: an output file is written in place, and progress is reported to the
 * page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/shared/output.h"
#include "cli/shared/progress.h"
#include "cli/shared/python.h"
#include "cli/shared/tool.h"

/* ---- Progress: shown by the page while it waits ------------------------------------------------------------------ */

__attribute__((import_module("trivance"), import_name("progress"))) void page_progress(double fraction);

static int report(void *context, double fraction)
{
    cli_progress_t *progress = context;
    progress->done = fraction > progress->done ? fraction : progress->done;
    page_progress(progress->done);
    return 0; /* never cancels: the page ends a worker that it does not need any more */
}

trv_span_t cli_progress_begin(cli_progress_t *progress, const char *what, double total)
{
    (void)what;
    *progress = (cli_progress_t){.total = total, .running = true};
    return (trv_span_t){report, progress, 0, 1};
}

void cli_progress_step(cli_progress_t *progress, double work)
{
    if (progress->running)
        report(progress, progress->done + work / progress->total);
}

void cli_progress_pause(cli_progress_t *progress) { progress->paused = true; }

void cli_progress_name(cli_progress_t *progress, const char *what)
{
    (void)what;
    progress->paused = false;
}

void cli_progress_end(cli_progress_t *progress) { progress->running = false; }

/* ---- Output files ------------------------------------------------------------------------------------------------ */

bool cli_output_is_stdout(const char *path) { return !path || strcmp(path, "-") == 0; }

int cli_output_begin(cli_output_t *output, const char *path)
{
    *output = (cli_output_t){.stream = stdout};
    if (cli_output_is_stdout(path))
        return TRV_OK;
    output->path = strdup(path);
    output->stream = output->path ? fopen(path, "w") : NULL;
    if (output->stream)
        return TRV_OK;
    free(output->path);
    return trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' cannot be written: %s", path, strerror(errno));
}

int cli_output_end(cli_output_t *output, int code)
{
    if (!output->path) {
        fflush(stdout);
        return code;
    }
    free(output->path);
    return fclose(output->stream) && !code ? trv_fail(TRV_ERR_ARGUMENT, "the file could not be written") : code;
}

/* The page draws its own charts. */
int cli_python_sweep(const cli_command_t *command, int argc, char **argv)
{
    (void)argc, (void)command;
    return cli_bad(argv[0], "the explorer draws no files; leave out --plot");
}

int cli_output_write(const char *path, int (*write)(void *context, FILE *out), void *context)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, path);
    return rc ? rc : cli_output_end(&output, write(context, output.stream));
}
