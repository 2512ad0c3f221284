/*
 * trivance explore: writes a copy of the explorer, a page that the build creates (explorer/) and that is installed
 * beside the tool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/subcommands.h"
#include "base/error.h"
#include "base/text/whole_file.h"
#include "cli/host/handover.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"

#define PAGE           "explorer.html"
#define DEFAULT_OUTPUT "trivance-explorer.html"

static const cli_option_t option[] = {{"output", 'o', "FILE",
                                       "write there instead of to " DEFAULT_OUTPUT "; - is stdout", "FILE"},
                                      CLI_OPTIONS_END};

const cli_command_t cli_explore_command = {
    .name = "explore",
    .summary = "write a page that shows networks, schedules and times",
    .usage = "[-o FILE]",
    .about = "Writes the explorer, one HTML file that works in any browser without a network: it draws rings, tori and "
             "meshes, plays schedules step by step, simulates completion times and explains plans. It contains this "
             "tool's core, so its numbers are the tool's.",
    .option = option,
    .alone = "the torus is selected in the page, for example `trivance explore`",
    .notes = "Any web server can provide the file; its address contains everything that is shown.",
    .examples = "trivance explore\n"
                "trivance explore -o torus.html\n",
};

typedef struct page {
    char *text;
    size_t length;
} page_t;

static int read_page(page_t *page)
{
    static const char *const folder[] = {"", TRIVANCE_DATA_PLACE "/", NULL};
    char path[4608];
    const char *name;
    if (!cli_find_beside(folder, PAGE, R_OK, path, sizeof path))
        return trv_fail(
            TRV_ERR_UNSUPPORTED,
            "the explorer was not built with this tool: building it requires clang for WebAssembly and esbuild; run "
            "`scripts/dependencies.sh explorer` in the sources, then `make explorer`");
    return trv_whole_file_read(path, &name, &page->text, &page->length);
}

static int write_page(void *context, FILE *out)
{
    const page_t *page = context;
    return fwrite(page->text, 1, page->length, out) == page->length
               ? TRV_OK
               : trv_fail(TRV_ERR_ARGUMENT, "the page could not be written; is the disk full?");
}

/* Prints the command that opens the page, with the name quoted for a shell and in a form that xdg-open does not read
 * as an option. */
static void print_open_command(const char *path)
{
    const bool plain = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+:.,/@-") ==
                       strlen(path);
    printf("%s: open it in a browser, for example with `xdg-open %s%s", path, plain ? "" : "'",
           *path == '-' ? "./" : "");
    for (const char *c = path; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, stdout);
    puts(plain ? "`" : "'`");
}

static int read_option(void *context, int key)
{
    (void)key;
    *(const char **)context = optarg;
    return TRV_OK;
}

int cli_explore(int argc, char **argv)
{
    const char *path = DEFAULT_OUTPUT;
    page_t page = {0};
    int code = cli_read_options(&cli_explore_command, argc, argv, read_option, &path);
    if (code >= 0)
        return code;
    int rc = read_page(&page);
    if (!rc)
        rc = cli_output_write(path, write_page, &page);
    free(page.text);
    if (!rc && !(path[0] == '-' && !path[1]))
        print_open_command(path);
    return cli_finish(argv[0], rc);
}
