/*
 * Reading the command line of bench (cli/shared/bench_command.h). All ranks parse it; only rank 0 prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/host/handover.h"
#include "cli/shared/bench_command.h"
#include "cli/shared/input.h"
#include "cli/shared/tool.h"
#include "cli/shared/option_words.h"
#include "base/text/parse.h"
#include "base/error.h"
#include "cli/mpi/bench.h"
#include "cli/mpi/polled.h"
#include "mpi/communicator/attribute.h"
#include "mpi/settings/job_settings.h"
#include "schedule/collective.h"
#include "settings/rules.h"

/* Values that are interpreted when all options have been read. */
typedef struct draft {
    bench_options_t *options;
    int ranks;
    MPI_Comm comm;
    const char *bytes, *algorithms; /* NULL: the default */
    const char *schedule;           /* a file, or NULL */
    const char *transports;         /* NULL: according to the environment */
    bool with_collective, with_op;
} draft_t;

/* ---- Single options ---------------------------------------------------------------------------------------------- */

static bool has_torus(const bench_options_t *options, const trv_torus_t *torus)
{
    bool has = false;
    for (int t = 0; t < options->tori && !has; t++) {
        has = options->torus[t].dims == torus->dims;
        for (int d = 0; has && d < torus->dims; d++)
            has = options->torus[t].size[d] == torus->size[d];
    }
    return has;
}

static int add_tori(bench_options_t *options, const char *list, int ranks)
{
    const char *rest = list;
    char item[TRV_TORUS_TEXT_MAX];
    int more;
    while ((more = trv_next_item(&rest, "tori", item, sizeof item)) > 0) {
        trv_torus_t torus;
        if (cli_read_torus_of(item, ranks, &torus) < 0)
            return TRV_ERR_ARGUMENT;
        if (has_torus(options, &torus))
            continue;
        if (options->tori == BENCH_TORI_MAX)
            return trv_fail(TRV_ERR_ARGUMENT, "more than %d tori; measure the others in another run", BENCH_TORI_MAX);
        options->torus[options->tori++] = torus;
    }
    return more;
}

static int parse_format(const char *text, bench_format_t *format)
{
    const int index = cli_words_find("table csv json osu nccl", text, "format", "");
    *format = index < 0 ? *format : (bench_format_t)index;
    return index < 0 ? index : TRV_OK;
}

static int parse_check(const char *text, bool *check)
{
    int value = 1;
    int code = text ? trv_parse_int(text, "--check", 0, 1, &value) : TRV_OK;
    *check = value != 0;
    return code;
}

static int option_apply(void *context, int key)
{
    draft_t *draft = context;
    bench_options_t *options = draft->options;
    switch (key) {
    case BENCH_TORUS: return add_tori(options, optarg, draft->ranks);
    case 'a': draft->algorithms = optarg; return TRV_OK;
    case 's': draft->schedule = optarg; return TRV_OK;
    case 'c': draft->with_collective = true; return cli_parse_collective(optarg, &options->collective);
    case 'b': draft->bytes = optarg; return TRV_OK;
    case 'd': return trv_type_parse(optarg, &options->type);
    case BENCH_OP: draft->with_op = true; return trv_op_parse(optarg, &options->op);
    case BENCH_TURNS: options->turns = true; return TRV_OK;
    case BENCH_IN_PLACE: options->in_place = true; return TRV_OK;
    case BENCH_TRANSPORT: draft->transports = optarg; return TRV_OK;
    case 'i': return trv_parse_int(optarg, "--iterations", 1, 1000000000, &options->iterations);
    case BENCH_WARMUP: return trv_parse_int(optarg, "--warmup", 0, 1000000000, &options->warmup);
    case BENCH_CHECK: return parse_check(optarg, &options->check);
    default: return parse_format(optarg, &options->format);
    }
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* The bytes of the vector per element of the executor's count, for the largest type. */
static uint64_t granule(const draft_t *draft)
{
    const bench_options_t *options = draft->options;
    size_t size = 1; /* all are powers of two */
    for (int i = 0; i < options->entries; i++) {
        const size_t own = trv_type_size(options->entry[i].data.type);
        size = own > size ? own : size;
    }
    return size * trv_collective_blocks(options->collective, draft->ranks);
}

static int report_no_element(uint64_t bytes, uint64_t unit)
{
    return trv_fail(TRV_ERR_ARGUMENT,
                    "a vector of %llu B holds no element: expected at least %llu B, for example --bytes=%llu",
                    (unsigned long long)bytes, (unsigned long long)unit, (unsigned long long)unit);
}

static int add_size(bench_options_t *options, uint64_t bytes)
{
    if (options->sizes > 0 && options->bytes[options->sizes - 1] == bytes)
        return TRV_OK;
    if (options->sizes == BENCH_SIZES_MAX)
        return trv_fail(TRV_ERR_ARGUMENT, "more than %d sizes; use a larger factor", BENCH_SIZES_MAX);
    options->bytes[options->sizes++] = bytes;
    return TRV_OK;
}

/* Adds a size that the user named, which must be a multiple of the element size. */
static int add_named(draft_t *draft, uint64_t bytes)
{
    const bench_options_t *options = draft->options;
    const uint64_t unit = granule(draft), near = bytes < unit ? unit : bytes / unit * unit;
    if (bytes % unit == 0)
        return add_size(draft->options, bytes);
    return trv_fail(TRV_ERR_ARGUMENT,
                    "%llu B are not a multiple of %llu B, one element of %s%s; for example --bytes=%llu",
                    (unsigned long long)bytes, (unsigned long long)unit, trv_type_name(options->entry[0].data.type),
                    trv_collective_has_blocks(options->collective) ? " for every rank" : "", (unsigned long long)near);
}

static int parse_sizes(draft_t *draft, const char *text)
{
    const uint64_t unit = granule(draft);
    uint64_t bytes[BENCH_SIZES_MAX];
    char item[128];
    int more, count, code = TRV_OK;
    while (code == TRV_OK && (more = trv_next_item(&text, "byte counts", item, sizeof item)) != 0) {
        const bool range = strchr(item, ':') != NULL;
        code = more < 0 ? more : trv_parse_bytes_list(item, bytes, BENCH_SIZES_MAX, &count);
        if (code == TRV_OK && range && bytes[count - 1] < unit)
            code = report_no_element(bytes[count - 1], unit);
        for (int i = 0; code == TRV_OK && i < count; i++)
            if (!range || bytes[i] >= unit)
                code = range ? add_size(draft->options, bytes[i] / unit * unit) : add_named(draft, bytes[i]);
    }
    return code;
}

/* ---- A schedule from a file -------------------------------------------------------------------------------------- */

/* Adds the schedule of a file, which defines the torus and the collective; algorithms that are named are measured,
 * too. */
static int add_schedule(draft_t *draft)
{
    bench_options_t *options = draft->options;
    int code = bench_schedule_load(draft->schedule, draft->comm, &options->schedule);
    if (code != TRV_OK)
        return code;
    const trv_torus_t *torus = trv_schedule_torus(options->schedule);
    char text[TRV_TORUS_TEXT_MAX];
    if (options->tori > 0)
        return trv_fail(TRV_ERR_ARGUMENT, "give either --torus or --schedule; the file is for the torus %s",
                        trv_torus_format(torus, text, sizeof text));
    options->collective = trv_schedule_collective(options->schedule);
    code = add_tori(options, trv_torus_format(torus, text, sizeof text), draft->ranks);
    bench_entry_t entry = {.kind = BENCH_SCHEDULE, .required = true, .comm = MPI_COMM_NULL};
    entry.data = (bench_data_t){.collective = options->collective, .type = options->type, .op = options->op};
    snprintf(entry.label, sizeof entry.label, "%.80s (file)", trv_schedule_name(options->schedule));
    return code == TRV_OK ? bench_add_entry(options, &entry) : code;
}

void bench_options_clear(bench_options_t *options)
{
    for (int i = 0; i < options->entries; i++)
        bench_data_clear(&options->entry[i].data);
    trv_schedule_destroy(options->schedule);
    options->schedule = NULL;
}

/* ---- Transports -------------------------------------------------------------------------------------------------- */

static const char *const transport_name[] = {[TRV_TRANSPORT_MPI] = "mpi", [TRV_TRANSPORT_OFI] = "ofi"};

const char *bench_transport(const bench_options_t *options, const bench_entry_t *entry, int i)
{
    return entry->kind == BENCH_LIBRARY ? NULL : transport_name[options->transport[i]];
}

static int add_transport(bench_options_t *options, const char *name)
{
    const int transport = cli_words_find("mpi ofi", name, "transport", "");
    if (transport < 0)
        return transport;
    for (int i = 0; i < options->transports; i++)
        if (options->transport[i] == transport)
            return TRV_OK;
    options->transport[options->transports++] = transport;
    return TRV_OK;
}

static int transports_parse(draft_t *draft)
{
    const char *rest = draft->transports;
    char item[64];
    int more;
    while ((more = trv_next_item(&rest, "transports", item, sizeof item)) > 0)
        if (add_transport(draft->options, item) < 0)
            return TRV_ERR_ARGUMENT;
    return more;
}

/* Sets the environment so that libfabric is opened with the first plan if any row uses it, also where the first rows
 * use MPI. */
static int transports_set(const bench_options_t *options)
{
    int transport = TRV_TRANSPORT_MPI;
    for (int i = 0; i < options->transports; i++)
        transport = options->transport[i] == TRV_TRANSPORT_OFI ? TRV_TRANSPORT_OFI : transport;
    return setenv("TRIVANCE_TRANSPORT", transport_name[transport], 1) == 0 ? TRV_OK : trv_fail_memory();
}

static int transports_read(draft_t *draft)
{
    bench_options_t *options = draft->options;
    if (draft->transports) {
        const int code = transports_parse(draft);
        return code < 0 ? code : transports_set(options);
    }
    options->transport[options->transports++] = trv_mpi_settings()->transport;
    return TRV_OK;
}

/* ---- The whole command line -------------------------------------------------------------------------------------- */

/* Finds the torus that the collectives use without TRIVANCE_TORUS: that of the topology file or the launcher, or a
 * ring. */
static int find_network(draft_t *draft)
{
    trv_mpi_state_t *state = NULL;
    if (TRV_Comm_set(draft->comm, NULL, TRV_RULE_AUTO) != MPI_SUCCESS ||
        trv_mpi_state_find(draft->comm, &state) != MPI_SUCCESS || !state)
        return TRV_ERR_ARGUMENT; /* the error message is already set */
    draft->options->network = state->config.network;
    draft->options->torus[draft->options->tori++] = state->config.network.torus;
    return TRV_OK;
}

/* Reads TRIVANCE_TORUS of rank 0, and keeps the tori with this number of ranks. */
static int torus_from_environment(draft_t *draft)
{
    char text[1024] = "", item[TRV_TORUS_TEXT_MAX];
    const char *value = getenv("TRIVANCE_TORUS"), *rest = text;
    int rank = 0, more, code = TRV_OK;
    PMPI_Comm_rank(draft->comm, &rank);
    if (rank == 0 && value)
        snprintf(text, sizeof text, "%s", value);
    PMPI_Bcast(text, sizeof text, MPI_CHAR, 0, draft->comm);
    while (*text && code == TRV_OK && (more = trv_next_item(&rest, "tori", item, sizeof item)) != 0) {
        trv_torus_t torus;
        code = more < 0 ? more : trv_torus_parse(item, &torus);
        if (code == TRV_OK && torus.ranks == draft->ranks)
            code = add_tori(draft->options, item, draft->ranks);
    }
    if (code < 0)
        return trv_fail(code, "TRIVANCE_TORUS: %s", trv_last_error());
    return *text ? TRV_OK : find_network(draft);
}

/* Rejects options that would have no effect. */
static int find_conflict(const draft_t *draft)
{
    const bench_options_t *options = draft->options;
    if (options->in_place && options->format == BENCH_NCCL)
        return trv_fail(TRV_ERR_ARGUMENT,
                        "--format=nccl shows both in-place and out-of-place runs; leave --in-place out");
    if (options->turns && options->format > BENCH_JSON)
        return trv_fail(TRV_ERR_ARGUMENT, "--turns is for the formats table, csv and json");
    if (draft->schedule && draft->with_collective)
        return trv_fail(TRV_ERR_ARGUMENT, "the file of --schedule defines the collective; leave --collective out");
    if (draft->with_op && !trv_collective_shape(options->collective)->reduces)
        return trv_fail(TRV_ERR_ARGUMENT, "%s has no reduction; leave --op out",
                        trv_collective_shape(options->collective)->title);
    return TRV_OK;
}

static int options_complete(draft_t *draft)
{
    bench_options_t *options = draft->options;
    int code = find_conflict(draft);
    if (code == TRV_OK)
        code = transports_read(draft); /* before the library reads the environment */
    if (code == TRV_OK && draft->schedule)
        code = add_schedule(draft);
    if (code == TRV_OK && options->tori == 0)
        code = torus_from_environment(draft);
    if (code == TRV_OK && options->tori == 0)
        code = trv_torus_init(&options->torus[options->tori++], 1, &draft->ranks);
    if (code == TRV_OK && options->turns && !polled_on_one_machine(draft->comm))
        code = trv_fail(TRV_ERR_UNSUPPORTED,
                        "--turns requires all ranks on one machine, because they start by its clock");
    if (code == TRV_OK)
        code = bench_check_elements(options, options->type, options->op);
    if (code == TRV_OK && (draft->algorithms || !draft->schedule))
        code = bench_read_entries(options, draft->algorithms ? draft->algorithms : TRV_RULE_AUTO, draft->comm);
    return code == TRV_OK ? parse_sizes(draft, draft->bytes ? draft->bytes : "8:4M:x8") : code;
}

static int options_parse(int argc, char **argv, draft_t *draft)
{
    optind = 1;
    int code = cli_read_options(&cli_bench_command, argc, argv, option_apply, draft);
    if (code >= 0)
        return code == CLI_OK ? -1 : code;
    return cli_finish("bench", options_complete(draft));
}

int bench_options(int argc, char **argv, MPI_Comm comm, bench_options_t *options)
{
    int rank = 0;
    *options = (bench_options_t){.type = TRV_FLOAT, .op = TRV_SUM, .iterations = -1, .warmup = -1, .check = true};
    draft_t draft = {.options = options, .comm = comm};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &draft.ranks);
    if (rank != 0)
        cli_silence(true);
    int result = options_parse(argc, argv, &draft);
    if (rank != 0)
        cli_silence(false);
    return result;
}
