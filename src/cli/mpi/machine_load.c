/*
 * Detects conditions under which times depend on the machine's scheduler: more ranks than cores, other busy processes,
 * or large differences between runs of the same call. MPI libraries spin while they wait, so two ranks on a core cost
 * each other whole time slices.
 */
#include "cli/mpi/machine_load.h"

#include <sched.h>
#include <stdlib.h>

#include "base/error.h"
#include "transport/mpi/mpi_error.h"
#include "cli/shared/tool.h"

#define PROCESSES_PER_CORE_MAX 1.25 /* ranks and other processes */

/* Counts the ranks of this node and the cores that any of them may use (a launcher may bind each rank to different
 * cores). */
static int ranks_and_cores(MPI_Comm comm, int *ranks, int *cores)
{
    cpu_set_t mine, all;
    MPI_Comm node = MPI_COMM_NULL;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(node, ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_free(&node);
    *cores = code == MPI_SUCCESS && CPU_COUNT(&all) > 0 ? CPU_COUNT(&all) : 1;
    return code;
}

int machine_load_measure(MPI_Comm comm, machine_load_t *machine_load)
{
    int ranks = 1, cores = 1, code = ranks_and_cores(comm, &ranks, &cores);
    double load = 0, max[3];
    if (getloadavg(&load, 1) < 1)
        load = 0;
    const double mine[3] = {(double)ranks / cores, load / cores, (ranks + load) / cores};
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(mine, max, 3, MPI_DOUBLE, MPI_MAX, comm);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("a collective of the benchmark", code);
    *machine_load = (machine_load_t){.ranks_per_core = max[0],
                                     .load = max[1],
                                     .busy = max[0] > 1 || max[2] > PROCESSES_PER_CORE_MAX};
    return TRV_OK;
}

void machine_load_add_spread(machine_load_t *machine_load, double spread)
{
    machine_load->spread = spread;
    machine_load->busy |= spread > MACHINE_LOAD_SPREAD_MAX;
}

void machine_load_warn(const char *command, const machine_load_t *machine_load)
{
    if (machine_load->ranks_per_core > 1)
        cli_warn(command, "%.3g ranks share a core, so the times consist mostly of waiting for it",
                 machine_load->ranks_per_core);
    else if (machine_load->ranks_per_core + machine_load->load > PROCESSES_PER_CORE_MAX)
        cli_warn(command,
                 "other processes use the cores, too (a load of %.2g per core in the last minute), so the "
                 "times are longer than on an idle machine",
                 machine_load->load);
    else if (machine_load->spread > MACHINE_LOAD_SPREAD_MAX)
        cli_warn(command,
                 "the longest runs of a call took %.1f times as long as the shortest, so other activity disturbs "
                 "the machine or the network",
                 machine_load->spread);
}
