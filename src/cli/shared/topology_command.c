/*
 * The command line of trivance topology.
 */
#include "cli/shared/topology_command.h"

#include "base/error.h"
#include "base/text/parse.h"

#define BYTES_MAX (UINT64_C(1) << 30)

static const cli_option_t option[] =
    {{"dump", TOPOLOGY_DUMP, NULL, "write the topology of the ranks of a job, as it is found without a file", NULL},
     {"why", TOPOLOGY_WHY, NULL, "without a file: also print why sources of coordinates are not used", NULL},
     {"ports", TOPOLOGY_PORTS, NULL,
      "print the network interface of each port for the ranks of a job (trivance launch, torchrun, mpirun), and "
      "measure the two directions of each dimension alone and together",
      NULL},
     {"torus", TOPOLOGY_TORUS, "T", "use this torus instead, with as many coordinates as there are ranks, or nodes",
      NULL},
     {"hosts", TOPOLOGY_HOSTS, NULL, "write a coordinate per host rather than per rank", NULL},
     {"bytes", 'b', "SIZE", "with --ports: size of the measured messages (default 1M)", NULL},
     {"rules", TOPOLOGY_RULES, "FILE",
      "with --ports: record in this rules file (TRIVANCE_RULES_FILE), created if missing, which dimensions have a "
      "shared path, that is, one path for both directions; other entries are kept, and an inconclusive measurement "
      "leaves the file unchanged",
      "FILE"},
     {"format", 'f', "F", "with --ports: table (default), json or csv", "table json csv"},
     {"output", 'o', "FILE", "write there instead of to stdout; the file appears when it is complete", "FILE"},
     CLI_OPTIONS_END};

static const cli_mode_t mode[] = {
    {"dump", "--dump writes the topology of the ranks of a job and reads no file", "torus hosts output",
     "--dump --torus=2x4 -o torus.json"},
    {"ports", "--ports measures and prints the map of interfaces and writes no file but --rules=FILE",
     "torus bytes rules format", "--ports --torus=2x4"},
    {NULL, NULL, "[FILE] why", "torus.json"},
};

const cli_command_t cli_topology_command = {
    .name = "topology",
    .summary = "report the torus of a job; check, draw and write topology files",
    .usage = "FILE…\n"
             "mpirun -n N trivance topology [--why]\n"
             "mpirun -n N trivance topology --dump [--torus=T] [--hosts] [-o FILE]\n"
             "trivance launch -n N trivance topology --ports [OPTIONS]",
    .about =
        "Checks topology files (TRIVANCE_TOPOLOGY_FILE): which coordinate of the torus each rank, or each host, "
        "has. Draws the ranks at their coordinates, the last dimension across, the one before it down. Without a file, "
        "reports the torus of the job, and its source: TRIVANCE_TOPOLOGY_FILE, TRIVANCE_TORUS, or what Slurm, Fujitsu "
        "MPI or PMIx reports to its ranks.",
    .option = option,
    .mode = mode,
    .notes =
        "Exit status: 0 success, 1 without a file: no torus is known; --ports: the measurement contradicts the map, or "
        "is inconclusive and the file of --rules is unchanged, 2 bad input.",
    .examples = "mpirun -n 64 trivance topology --dump --torus=4x4x4 -o torus.json\n"
                "trivance topology torus.json\n"
                "mpirun -n 64 trivance topology --why\n"
                "mpirun -n 9 trivance topology --ports --torus=3x3\n"
                "TRIVANCE_TOPOLOGY_FILE=torus.json trivance run -- mpirun -n 64 ./program\n",
};

static int read_bytes(const char *text, uint64_t *bytes)
{
    int rc = trv_parse_vector(text, bytes);
    return rc || *bytes <= BYTES_MAX
               ? rc
               : trv_fail(TRV_ERR_ARGUMENT, "a measured message has at most 1 GiB, for example 1M");
}

int cli_topology_option(void *context, int key)
{
    cli_topology_options_t *options = context;
    switch (key) {
    case TOPOLOGY_DUMP: options->dump = true; break;
    case TOPOLOGY_TORUS: options->torus = optarg; break;
    case TOPOLOGY_HOSTS: options->hosts = true; break;
    case TOPOLOGY_PORTS: options->ports = true; break;
    case TOPOLOGY_WHY: options->why = true; break;
    case TOPOLOGY_RULES: options->rules = optarg; break;
    case 'b': return read_bytes(optarg, &options->bytes);
    case 'f': return cli_parse_format(optarg, &options->format);
    default: options->output = optarg; break;
    }
    return TRV_OK;
}
