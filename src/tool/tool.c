/*
 * Messages, options and output files, shared by the subcommands.
 */
#include "tool/tool.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "text/nearest.h"

int cli_bad(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "trivance%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return CLI_BAD;
}

int cli_bad_last(const char *command)
{
    return cli_bad(command, "%s", trv_last_error());
}

static void unknown_option(const char *command, const char *text, const struct option *longs)
{
    const char *name[64];
    char bare[64];
    int count = 0;
    for (; longs[count].name && count < 64; count++)
        name[count] = longs[count].name;
    snprintf(bare, sizeof bare, "%s", text);
    bare[strcspn(bare, "=")] = '\0';
    const char *nearest = strncmp(text, "--", 2) == 0 ? trv_nearest(bare + 2, name, count) : NULL;
    if (nearest)
        cli_bad(command, "there is no option '%.40s'; did you mean --%s?", bare, nearest);
    else
        cli_bad(command, "there is no option '%.40s'; `trivance %s --help` lists them", bare, command);
}

int cli_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
    opterr = 0;
    int before = optind;
    int option = getopt_long(argc, argv, shorts, longs, NULL);
    if (option != '?' && option != ':')
        return option;
    const char *text = argv[optind > before ? optind - 1 : optind];
    if (!text)
        text = "";
    char short_text[3] = {'-', (char)optopt, '\0'};
    const char *known = NULL;
    for (const struct option *l = longs; l->name; l++)
        if (optopt && l->val == optopt)
            known = l->name;
    if (option == ':')
        cli_bad(argv[0], "the option %.40s needs a value; `trivance %s --help` shows an example", text, argv[0]);
    else if (known && strncmp(text, "--", 2) == 0)
        cli_bad(argv[0], "the option --%s takes no value", known);
    else
        unknown_option(argv[0], strncmp(text, "--", 2) == 0 || !optopt ? text : short_text, longs);
    return '?';
}

int cli_output_begin(cli_output_t *output, const char *path)
{
    *output = (cli_output_t){.stream = stdout, .path = path};
    if (!path || strcmp(path, "-") == 0)
        return TRV_OK;
    size_t size = strlen(path) + 16;
    output->temporary = malloc(size);
    if (!output->temporary)
        return trv_fail_memory();
    snprintf(output->temporary, size, "%s.XXXXXX", path);
    int descriptor = mkstemp(output->temporary);
    output->stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!output->stream) {
        int rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' can not be written: %s", path, strerror(errno));
        free(output->temporary);
        return rc;
    }
    /* mkstemp makes it private; give it the mode that any new file has. */
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, 0666 & ~mask);
    return TRV_OK;
}

int cli_output_end(cli_output_t *output, bool keep)
{
    int rc = TRV_OK;
    if (!output->temporary) {
        if (fflush(stdout) || ferror(stdout))
            rc = trv_fail(TRV_ERR_ARGUMENT, "the output could not be written: %s", strerror(errno));
        return rc;
    }
    bool good = !ferror(output->stream);
    good = fclose(output->stream) == 0 && good;
    if (keep && (!good || rename(output->temporary, output->path)))
        rc = trv_fail(TRV_ERR_ARGUMENT, "the file '%.200s' could not be written: %s", output->path, strerror(errno));
    if (rc || !keep)
        unlink(output->temporary);
    free(output->temporary);
    return rc;
}

int cli_output_write(const char *path, int (*write)(void *context, FILE *out), void *context)
{
    cli_output_t output;
    int rc = cli_output_begin(&output, path);
    if (rc)
        return rc;
    rc = write(context, output.stream);
    int end = cli_output_end(&output, rc == TRV_OK);
    return rc ? rc : end;
}

int cli_make_folder(const char *path)
{
    char part[4096];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return trv_fail(TRV_ERR_ARGUMENT, "the folder's name is longer than %zu bytes", sizeof part - 1);
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || path[i] == '\0') {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            if (mkdir(part, 0777) && errno != EEXIST)
                return trv_fail(TRV_ERR_ARGUMENT, "the folder '%.200s' can not be made: %s", part, strerror(errno));
        }
    return TRV_OK;
}

static bool is_terminal(int descriptor)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(descriptor) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_stdout_is_terminal(void) { return is_terminal(STDOUT_FILENO); }
bool cli_stderr_is_terminal(void) { return is_terminal(STDERR_FILENO); }

bool cli_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
