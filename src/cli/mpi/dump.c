/*
 * Reports the network of these ranks, or writes it as a topology file, on rank 0.
 */
#include "cli/mpi/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#ifdef TRIVANCE_LIBFABRIC
#include "cli/ports/probe.h"
#endif

#include "cli/shared/output.h"
#include "cli/shared/tool.h"
#include "cli/shared/topology_command.h"
#include "base/error.h"
#include "mpi/settings/job_settings.h"
#include "mpi/communicator/discover.h"
#include "mpi/communicator/world.h"
#include "topology/topology_file.h"

typedef cli_topology_options_t options_t;

/* Merges the entries into one per host, in the order of their first ranks; `name` has the host name of every rank. */
static int group_by_host(trv_topology_t *topology, const char (*name)[MPI_MAX_PROCESSOR_NAME])
{
    int ranks = topology->count;
    topology->host = calloc((size_t)ranks, sizeof *topology->host);
    topology->count = 0;
    if (!topology->host)
        return trv_fail_memory();
    for (int r = 0; r < ranks; r++) {
        int at = 0;
        while (at < topology->count && strcmp(topology->host[at], name[r]) != 0)
            at++;
        if (at < topology->count && topology->coordinate[at] != topology->coordinate[r])
            return trv_fail(TRV_ERR_UNSUPPORTED,
                            "the host %s has ranks at several coordinates, so they cannot be "
                            "written by host; leave --hosts out",
                            name[r]);
        if (at < topology->count)
            continue;
        topology->coordinate[at] = topology->coordinate[r];
        topology->host[at] = strdup(name[r]);
        if (!topology->host[at])
            return trv_fail_memory();
        topology->count++;
    }
    return TRV_OK;
}

static int write_file(const trv_topology_t *topology, const char *path)
{
    cli_output_t output;
    int code = cli_output_begin(&output, path);
    if (code < 0)
        return code;
    return cli_output_end(&output, trv_topology_write(topology, output.stream));
}

/* Returns the lowest code of all ranks. A rank with an error of its own returns that error's code and message. */
static int code_min(int code, const char *fault, const char *of_another)
{
    int worst = code;
    PMPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return code < 0 && *fault       ? trv_fail(code, "%s", fault)
           : worst < 0 && code >= 0 ? trv_fail(worst, "%s", of_another)
                                    : worst;
}

/* Returns TRV_OK, or TRV_ERR_ARGUMENT if the settings of any rank are invalid; the same on all ranks. */
static int settings_check(void)
{
    const char *fault = trv_mpi_settings()->fault;
    return code_min(fault ? TRV_ERR_ARGUMENT : TRV_OK, fault ? fault : "", "the settings of another rank are invalid");
}

/* Writes the file on rank 0, with the coordinates and host names of all ranks. */
static int write_topology(const options_t *options, const trv_mpi_world_t *world, int rank, int ranks)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", (*name)[MPI_MAX_PROCESSOR_NAME] = NULL;
    int length = 0, code = TRV_OK, *coordinate = NULL;
    PMPI_Get_processor_name(own, &length);
    if (rank == 0) {
        name = calloc((size_t)ranks, sizeof *name);
        coordinate = calloc((size_t)ranks, sizeof *coordinate);
        code = name && coordinate ? TRV_OK : trv_fail_memory();
    }
    PMPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (code < 0) {
        free(name);
        free(coordinate);
        return code;
    }
    PMPI_Gather(&world->coordinate, 1, MPI_INT, coordinate, 1, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Gather(own, sizeof own, MPI_CHAR, name, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 0)
        return TRV_OK;
    trv_topology_t topology = {.torus = world->network.torus,
                               .slow_links = world->network.slow_links,
                               .slow_link = world->slow_link,
                               .shared_port = world->shared_port,
                               .count = ranks,
                               .coordinate = coordinate};
    if (options->hosts)
        code = group_by_host(&topology, (const char(*)[MPI_MAX_PROCESSOR_NAME])name);
    if (code == TRV_OK)
        code = write_file(&topology, options->output);
    topology.slow_link = NULL;     /* belongs to `world` */
    trv_topology_clear(&topology); /* including the coordinates */
    free(name);
    return code;
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

/* Prints the network and its source on rank 0. Returns 0, or CLI_WRONG if none is known. */
static int report_print(const trv_mpi_world_t *world, bool why, int rank)
{
    char torus[TRV_TORUS_TEXT_MAX];
    const char *unusable = trv_mpi_discovery_unusable(), *found = trv_mpi_discovery_found();
    if (rank == 0 && why)
        fputs(unusable, stdout);
    if (rank == 0 && *found)
        puts(found);
    else if (rank == 0 && world->code > 0)
        printf("%s %s from %s\n", world->network.torus.lines ? "mesh" : "torus",
               trv_torus_format(&world->network.torus, torus, sizeof torus), world->source);
    else if (rank == 0)
        printf("No torus is known%s.\n",
               *unusable
                   ? why ? "" : "; --why prints why sources of coordinates are not used"
                   : ": TRIVANCE_TORUS and TRIVANCE_TOPOLOGY_FILE are not set, and neither Slurm, Fujitsu MPI nor "
                     "PMIx reports coordinates to the ranks");
    return world->code > 0 ? CLI_OK : CLI_WRONG;
}

/* ---- --ports ----------------------------------------------------------------------------------------------------- */

#ifdef TRIVANCE_LIBFABRIC
static int broadcast_by_mpi(void *context, void *data, size_t bytes)
{
    (void)context;
    return PMPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS
               ? TRV_OK
               : trv_fail(TRV_ERR_TRANSPORT, "MPI_Bcast failed");
}

/* Finds the torus of MPI_COMM_WORLD, if each rank's number is that of its coordinate; otherwise stores "" (unknown). */
static void torus_find(int rank, char torus[TRV_TORUS_TEXT_MAX])
{
    const trv_mpi_world_t *world = NULL;
    int here = 0, everywhere = 0;
    if (settings_check() == TRV_OK && trv_mpi_world_discover(MPI_COMM_WORLD) == MPI_SUCCESS)
        world = trv_mpi_world();
    here = world && world->code == 1 && world->coordinate == rank && !world->separate;
    PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *torus = '\0';
    if (everywhere)
        trv_torus_format(&world->network.torus, torus, TRV_TORUS_TEXT_MAX);
}

static int ports_main(int argc, char **argv, int rank, int ranks)
{
    char torus[TRV_TORUS_TEXT_MAX];
    torus_find(rank, torus);
    const trv_net_options_t options = {.size = sizeof(trv_net_options_t),
                                       .rank = rank,
                                       .ranks = ranks,
                                       .torus = torus,
                                       .bootstrap_broadcast = broadcast_by_mpi};
    return trv_probe_main(argc, argv, &options);
}
#else
static int ports_main(int argc, char **argv, int rank, int ranks)
{
    (void)argc, (void)argv, (void)ranks;
    return rank == 0 ? cli_bad("topology", "--ports: this Trivance was built without libfabric") : CLI_BAD;
}
#endif

/* Prints the last error message, in which a torus is attributed to the option that specified it. */
static void error_print(const options_t *options)
{
    static const char variable[] = "TRIVANCE_TORUS";
    const size_t length = options->torus && strncmp(trv_last_error(), variable, sizeof variable - 1) == 0
                              ? sizeof variable - 1
                              : 0;
    cli_bad("topology", "%s%s", length ? "--torus" : "", trv_last_error() + length);
}

int dump_main(int argc, char **argv)
{
    int rank = 0, ranks = 0;
    options_t options = {.torus = NULL};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (cli_read_options(&cli_topology_command, argc, argv, cli_topology_option, &options) >= 0)
        return CLI_BAD; /* the tool has checked the same arguments before */
    if (options.ports) {
        optind = 0;
        return ports_main(argc, argv, rank, ranks);
    }
    if (options.torus) { /* before the library reads the environment */
        setenv("TRIVANCE_TORUS", options.torus, 1);
        unsetenv("TRIVANCE_TOPOLOGY_FILE");
    }
    int code = settings_check();
    if (code == TRV_OK && trv_mpi_world_discover(MPI_COMM_WORLD) != MPI_SUCCESS)
        code = TRV_ERR_MEMORY;
    const trv_mpi_world_t *world = code == TRV_OK ? trv_mpi_world() : NULL;
    if (world)
        code = code_min(world->code, world->fault, "another rank has no coordinate in the topology");
    if (world && code >= 0 && !options.dump)
        return report_print(world, options.why, rank);
    if (world && code > 0 && world->separate)
        code =
            trv_fail(TRV_ERR_UNSUPPORTED,
                     "the ranks are in several tori, between which no links are known; a topology file has one torus");
    if (world && code == 0)
        code = trv_fail(TRV_ERR_ARGUMENT,
                        "the torus of the ranks is unknown; add --torus, the product of whose sizes is "
                        "the number of ranks (%d) or of nodes",
                        ranks);
    if (world && code > 0)
        code = write_topology(&options, world, rank, ranks);
    if (code < 0 && rank == 0)
        error_print(&options);
    PMPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code < 0 ? CLI_BAD : CLI_OK;
}
