/*
 * The command line of `layout`, `picture` and `timeline`: a torus or a schedule's file, an algorithm, a size and the
 * network, with the option names of `plan` and `simulate`.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/network.h>
#include <trivance/planner.h>

#include "base/error.h"
#include "explorer/explore.h"
#include "base/text/parse.h"
#include "cli/shared/choose.h"
#include "cli/shared/input.h"
#include "cli/shared/tool.h"

enum { OPTION_STEP = CLI_NO_LETTER, OPTION_STREAM, OPTION_RANK, OPTION_NODES, OPTION_ROOT, OPTION_FORM };

static const cli_option_t option[] =
    {{"algorithm", 'a', "A", "a name, a family or planned (default)", NULL},
     {"collective", 'c', "C", CLI_COLLECTIVE_HELP, NULL},
     {"root", OPTION_ROOT, "R", CLI_ROOT_HELP, NULL},
     {"bytes", 'b', "M", "size of the vector (default 64K, or that of the file)", NULL},
     {"schedule", 's', "FILE", "a schedule in the format trivance-schedule-1 instead; its claims are not verified",
      NULL},
     {"form", OPTION_FORM, "F", "the form of the drawing: ring, row, grid or iso (default: by the torus)", NULL},
     {"nodes", OPTION_NODES, "LIST", "the fastest plan for a job on these nodes only (0-9,16)", NULL},
     {"step", OPTION_STEP, "K", "the messages of this step only; -1: of all; -2 (default): of none", NULL},
     {"stream", OPTION_STREAM, "S", "the stream whose contributions are written", NULL},
     {"rank", OPTION_RANK, "R", "the data that this rank holds after each step; -1: all ranks; -2 (default): none",
      NULL},
     CLI_OPTIONS_END};

static const cli_command_t explore_command = {
    .name = "picture", /* or "layout", or "timeline" */
    .summary = "data for the explorer's drawings",
    .usage = "TORUS [OPTIONS]\n--schedule=FILE [OPTIONS]",
    .about = "Data with which the explorer draws a schedule and its simulation, as JSON.",
    .option = option,
    .more = cli_network_options,
    .repeated = CLI_NETWORK_REPEATED,
    .examples = "trivance plan 9\n",
};

static int read_form(const char *text, int *form)
{
    for (*form = 0; *form < TRV_FORMS; ++*form)
        if (strcmp(text, trv_form_word[*form]) == 0)
            return TRV_OK;
    return trv_fail(TRV_ERR_ARGUMENT, "--form: expected ring, row, grid or iso");
}

static int read_option(void *context, int key)
{
    explore_ask_t *ask = context;
    if (key >= CLI_NETWORK_OPTION)
        return cli_network_set(&ask->network, cli_network_name(key - CLI_NETWORK_OPTION), optarg);
    switch (key) {
    case 'a': return cli_select(optarg, &ask->selection);
    case 'c': return cli_parse_collective(optarg, &ask->collective);
    case 'b': return trv_parse_vector(optarg, &ask->bytes);
    case 's': ask->schedule = optarg; return TRV_OK;
    case OPTION_ROOT: return cli_parse_root(optarg, &ask->root);
    case OPTION_FORM: return read_form(optarg, &ask->form);
    case OPTION_NODES: ask->node_list = optarg; return TRV_OK;
    case OPTION_STEP: return trv_parse_int(optarg, "--step", -2, 1 << 30, &ask->step);
    case OPTION_STREAM: return trv_parse_int(optarg, "--stream", 0, 1 << 10, &ask->stream);
    default: return trv_parse_int(optarg, "--rank", -2, 1 << 30, &ask->rank);
    }
}

static int read_file(explore_ask_t *ask, trv_schedule_t **schedule)
{
    trv_schedule_file_t file;
    int rc = cli_read_schedule(ask->command, ask->schedule, true, &file);
    if (rc)
        return rc;
    *schedule = file.schedule;
    ask->torus = trv_schedule_torus(file.schedule);
    ask->has_blocks = file.has_blocks;
    ask->bytes = ask->bytes ? ask->bytes : file.vector_bytes;
    return cli_network_finish_file(&ask->network, &file);
}

/* Creates the fastest plan for the set of nodes, on the whole torus. */
static int make_on_nodes(explore_ask_t *ask, const trv_torus_t *torus, const trv_simulate_options_t *network,
                         trv_schedule_t **schedule)
{
    const trv_network_t machine = cli_network_on(torus, network);
    trv_network_t set = {TRV_NETWORK};
    trv_planner_node_choice_t best = {0};
    trv_schedule_t *own;
    int root = 0; /* the position of the root in that order */
    if (!ask->selection.choice[0].planned)
        return trv_fail(TRV_ERR_ARGUMENT, "the planner selects the schedule for a set of nodes: expected "
                                          "--algorithm=planned with --nodes");
    ask->node = malloc((size_t)torus->ranks * sizeof *ask->node);
    if (!ask->node)
        return trv_fail_memory();
    int rc = cli_read_nodes(ask->node_list, torus->ranks, ask->node, &ask->nodes);
    if (!rc)
        rc = trv_planner_nodes(torus, ask->nodes, ask->node, ask->collective, ask->root, ask->bytes, network, NULL, 1,
                               &best);
    const int root_node = rc >= 0 ? ask->node[ask->root] : 0;
    if (rc >= 0)
        rc = trv_order_nodes(&machine, best.order, ask->nodes, ask->node);
    set.torus = best.torus;
    while (!rc && root < ask->nodes && ask->node[root] != root_node)
        root++;
    if (!rc)
        rc = trv_schedule_create_on(&ask->on_set, &set, best.choice.algorithm, ask->collective, root);
    if (!rc)
        rc = trv_schedule_create_on(&own, &set, best.choice.algorithm, ask->collective, root);
    return rc ? rc : trv_schedule_embed(schedule, own, &machine, ask->node);
}

static int make(explore_ask_t *ask, const cli_tori_t *tori, trv_schedule_t **schedule)
{
    const bool bare = strcmp(ask->command, "layout") == 0; /* no schedule */
    if (ask->schedule)
        return read_file(ask, schedule);
    if (tori->count != 1)
        return trv_fail(TRV_ERR_ARGUMENT, "there are %d tori: expected one, for example 9 or 4x4x4", tori->count);
    if (!ask->selection.single)
        return trv_fail(TRV_ERR_ARGUMENT, "there are several algorithms: expected one, for example trivance-b");
    ask->torus = &tori->torus[0];
    ask->bytes = ask->bytes ? ask->bytes : 64 << 10;
    int rc = cli_network_finish(&ask->network, &tori->torus[0]);
    if (bare ||
        (rc && !(rc == TRV_ERR_UNSUPPORTED && ask->node_list))) /* nodes may be planned where a row is cut in two */
        return bare && rc == TRV_ERR_UNSUPPORTED ? TRV_OK : rc;
    trv_simulate_options_t planned = ask->network.options; /* plan with one queue per link, like `plan` */
    cli_time_t time;
    planned.model = TRV_FIFO;
    planned.buffer_bytes = 0;
    if (ask->node_list)
        return make_on_nodes(ask, &tori->torus[0], &planned, schedule);
    return cli_choose(&ask->selection.choice[0], &tori->torus[0], ask->collective, ask->root, &planned, NULL,
                      ask->bytes, schedule, &time);
}

/* Returns -1 to continue, else the exit code, after an error message. */
static int read_ask(explore_ask_t *ask, int argc, char **argv, trv_schedule_t **schedule)
{
    static cli_tori_t tori;
    *ask = (explore_ask_t){.command = argv[0], .form = -1, .step = -2, .rank = -2, .has_blocks = true};
    *schedule = NULL;
    cli_network_init(&ask->network);
    ask->network.options.model = TRV_FIFO;
    if (cli_select("planned", &ask->selection))
        return cli_bad_last(argv[0]);
    cli_command_t command = explore_command;
    command.name = argv[0];
    int code = cli_read_options(&command, argc, argv, read_option, ask);
    if (code >= 0)
        return code;
    int rc = cli_read_tori(argc, argv, optind, &tori);
    if (!rc)
        rc = make(ask, &tori, schedule);
    return rc ? cli_finish(argv[0], rc) : -1;
}

int explore_answer(int argc, char **argv, int (*write)(const explore_ask_t *ask, const trv_schedule_t *schedule))
{
    static explore_ask_t ask;
    trv_schedule_t *schedule;
    int code = read_ask(&ask, argc, argv, &schedule);
    if (code < 0)
        code = cli_finish(argv[0], write(&ask, schedule));
    trv_schedule_destroy(schedule);
    trv_schedule_destroy(ask.on_set);
    free(ask.node);
    return code;
}
