/*
 * trivance search: the distances of bandwidth-optimal phases on rings (search_rings.c), and the chains of star
 * schedules on tori (search_stars.c).
 */
#include <string.h>

#include "cli/search/found.h"
#include "cli/subcommands.h"
#include "base/error.h"
#include "cli/shared/output.h"
#include "cli/shared/tool.h"

enum { OPTION_STEPS = CLI_NO_LETTER };

static const cli_option_t option[] =
    {{"steps", OPTION_STEPS, "K", "for rings: only distances of K steps per phase", NULL},
     {"format", 'f', "F",
      "table (default), json, csv, or c (the source of a built-in table: of stars, of tori, or of the rings 2-128)",
      "table json csv c"},
     {"output", 'o', "FILE", "write there instead of to stdout; the file appears when it is complete", "FILE"},
     CLI_OPTIONS_END};

const cli_command_t cli_search_command = {
    .name = "search",
    .summary = "distances on rings and star chains on tori, from which schedules are made",
    .usage = "RING[-RING] [--steps=K] [OPTIONS]\n"
             "TORUS[,TORUS…] [OPTIONS]\n"
             "stars [OPTIONS]",
    .about =
        "Searches a ring, or every ring of a range, for the distances with which bandwidth-optimal phases send the "
        "fewest bytes: a line for each number of steps that improves on the one before. Searches tori for the vectors "
        "of star schedules, which use all ports of a rank at once; `stars` searches all tori of the built-in table.",
    .option = option,
    .examples = "trivance search 30-32\n"
                "trivance search 32 --steps=4\n"
                "trivance search 4x4x8\n",
};

int cli_search_read_form(const cli_search_t *search, cli_search_form_t *form)
{
    form->source = search->format && strcmp(search->format, "c") == 0;
    return search->format && !form->source ? cli_parse_format(search->format, &form->format) : TRV_OK;
}

typedef struct output {
    const cli_search_form_t *form;
    const void *found;
} output_t;

static int write_found(void *context, FILE *out)
{
    const output_t *output = context;
    if (!output->form->source)
        return output->form->print_table(output->found, output->form->format, out);
    output->form->print_source(output->found, out);
    return TRV_OK;
}

int cli_search_write(const cli_search_t *search, const cli_search_form_t *form, const void *found)
{
    return cli_output_write(search->output, write_found, &(output_t){form, found});
}

static int read_option(void *context, int key)
{
    cli_search_t *search = context;
    switch (key) {
    case OPTION_STEPS: search->steps = optarg; return TRV_OK;
    case 'f': search->format = optarg; return TRV_OK;
    case 'o': search->output = optarg; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

int cli_search(int argc, char **argv)
{
    cli_search_t search = {.command = argv[0]};
    int code = cli_read_options(&cli_search_command, argc, argv, read_option, &search);
    if (code >= 0)
        return code;
    if (optind + 1 != argc)
        return cli_bad(argv[0], "give one ring, range of rings or list of tori, for example `trivance search 32` or "
                                "`trivance search 4x4,8x8`");
    search.what = argv[optind];
    const size_t digits = strspn(search.what, "0123456789");
    const bool ring = digits > 0 && !search.what[digits + strspn(search.what + digits, "-0123456789")];
    if (!ring && !strpbrk(search.what, "xX") && strcmp(search.what, "stars") != 0)
        return cli_bad(argv[0],
                       "'%.40s' is not a ring, for example 32, a range of rings (2-64), a list of tori (4x4,8x8) or "
                       "the word stars",
                       search.what);
    return cli_finish(argv[0], ring ? cli_search_rings(&search) : cli_search_stars(&search));
}
