/*
 * trivance search: the distances of bandwidth-optimal phases on rings (search_rings.c), and the chains of star
 * schedules on tori (search_stars.c).
 */
#include <string.h>

#include "cli/search/found.h"
#include "cli/subcommands.h"
#include "base/error.h"
#include "cli/shared/tool.h"

enum { OPTION_STEPS = CLI_NO_LETTER };

static const cli_option_t option[] =
    {{"steps", OPTION_STEPS, "K", "for rings: only distances of K steps per phase", NULL},
     {"format", 'f', "F", "table (default), json or csv", "table json csv"},
     {"output", 'o', "FILE", "write there instead of to stdout; the file appears when it is complete", "FILE"},
     CLI_OPTIONS_END};

const cli_command_t cli_search_command = {
    .name = "search",
    .summary = "distances on rings and star chains on tori, from which schedules are made",
    .usage = "RING[-RING] [--steps=K] [OPTIONS]\n"
             "TORUS[,TORUS…] [OPTIONS]",
    .about =
        "Searches a ring, or every ring of a range, for the distances with which bandwidth-optimal phases send the "
        "fewest bytes: a line for each number of steps that improves on the one before. Searches tori for the vectors "
        "of star schedules, which use all ports of a rank at once.",
    .option = option,
    .examples = "trivance search 30-32\n"
                "trivance search 32 --steps=4\n"
                "trivance search 4x4x8\n",
};

static int read_option(void *context, int key)
{
    cli_search_t *search = context;
    switch (key) {
    case OPTION_STEPS: search->steps = optarg; return TRV_OK;
    case 'f': return cli_parse_format(optarg, &search->format);
    case 'o': search->output = optarg; return TRV_OK;
    default: return TRV_ERR_ARGUMENT;
    }
}

int cli_search(int argc, char **argv)
{
    cli_search_t search = {.format = CLI_FORMAT_TABLE};
    int code = cli_read_options(&cli_search_command, argc, argv, read_option, &search);
    if (code >= 0)
        return code;
    if (optind + 1 != argc)
        return cli_bad(argv[0], "give one ring, range of rings or list of tori, for example `trivance search 32` or "
                                "`trivance search 4x4,8x8`");
    search.what = argv[optind];
    const size_t digits = strspn(search.what, "0123456789");
    const bool ring = digits > 0 && !search.what[digits + strspn(search.what + digits, "-0123456789")];
    if (!ring && !strpbrk(search.what, "xX"))
        return cli_bad(argv[0],
                       "'%.40s' is not a ring, for example 32, a range of rings (2-64) or a list of tori "
                       "(4x4,8x8)",
                       search.what);
    return cli_finish(argv[0], ring ? cli_search_rings(&search) : cli_search_stars(&search));
}
