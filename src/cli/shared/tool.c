/*
 * Messages, options and output files, shared by the subcommands.
 */
#include "cli/shared/tool.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"

static void print_message(const char *command, const char *prefix, const char *format, va_list arguments)
{
    char text[4096];
    trv_vsnprintf(text, sizeof text, format, arguments);
    trv_make_printable(text);
    fflush(stdout);
    fprintf(stderr, "trivance%s%s: %s%s\n", command ? " " : "", command ? command : "", prefix, text);
}

int cli_bad(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(command, "", format, arguments);
    va_end(arguments);
    return CLI_BAD;
}

void cli_warn(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(command, "warning: ", format, arguments);
    va_end(arguments);
}

void cli_warn_callback(void *command, const char *sentence) { cli_warn(command, "%s", sentence); }

int cli_bad_last(const char *command) { return cli_bad(command, "%s", trv_last_error()); }

int cli_finish(const char *command, int rc)
{
    if (rc)
        cli_bad_last(command);
    return rc < 0 ? CLI_BAD : rc;
}

int cli_make_folder(const char *path)
{
    char part[4096];
    size_t length = strlen(path);
    if (length == 0)
        return trv_fail(TRV_ERR_ARGUMENT, "the folder has no name; write one, for example --output=evaluation");
    if (length >= sizeof part)
        return trv_fail(TRV_ERR_ARGUMENT, "the folder's name is longer than %zu bytes", sizeof part - 1);
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || path[i] == '\0') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            if (mkdir(part, 0777) && errno != EEXIST)
                return trv_fail(TRV_ERR_ARGUMENT, "the folder '%.200s' cannot be created: %s", part, strerror(errno));
        }
    return TRV_OK;
}

static bool is_terminal(int descriptor)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(descriptor) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

/* Open MPI gives its ranks a pseudo-terminal, whose text may be redirected to a file. */
bool cli_stdout_is_terminal(void) { return is_terminal(STDOUT_FILENO) && !getenv("OMPI_COMM_WORLD_RANK"); }
bool cli_stderr_is_terminal(void) { return is_terminal(STDERR_FILENO); }

int cli_stdout_columns(int otherwise)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int columns_set = columns ? atoi(columns) : 0;
    if (columns_set > 0)
        return columns_set;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

bool cli_utf8(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

void cli_print_text(FILE *out, const char *text)
{
    static const char dots[] = "…";
    for (const char *next; (next = strstr(text, dots)) && !cli_utf8(); text = next + strlen(dots))
        fprintf(out, "%.*s...", (int)(next - text), text);
    fputs(text, out);
}

int cli_memory_for(int rc, const char *purpose)
{
    if (rc != TRV_ERR_MEMORY)
        return rc;
    return trv_fail(rc,
                    "there is not enough memory for %s; a smaller torus needs less, and so do fewer chunks or streams "
                    "if the algorithm's name specifies them",
                    purpose);
}
