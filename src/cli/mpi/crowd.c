/*
 * Detects conditions under which times depend on the machine's scheduler: more ranks than cores, other busy processes,
 * or large differences between runs of the same call. MPI libraries spin while they wait, so two ranks on a core cost
 * each other whole time slices.
 */
#include "cli/mpi/crowd.h"

#include <sched.h>
#include <stdlib.h>

#include "base/error.h"
#include "transport/mpi/mpi_error.h"
#include "cli/shared/tool.h"

#define TAKEN_MAX 1.25 /* ranks and other processes per core */

/* Counts the ranks of this node and the cores that any of them may use (a launcher may bind each rank to different
 * cores). */
static int look_around(MPI_Comm comm, int *ranks, int *cores)
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

int crowd_find(MPI_Comm comm, crowd_t *crowd)
{
    int ranks = 1, cores = 1, code = look_around(comm, &ranks, &cores);
    double load = 0, most[3];
    if (getloadavg(&load, 1) < 1)
        load = 0;
    const double mine[3] = {(double)ranks / cores, load / cores, (ranks + load) / cores};
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, comm);
    if (code != MPI_SUCCESS)
        return trv_mpi_transport_error("a collective of the benchmark", code);
    *crowd = (crowd_t){.ranks_per_core = most[0], .load = most[1], .busy = most[0] > 1 || most[2] > TAKEN_MAX};
    return TRV_OK;
}

void crowd_add_spread(crowd_t *crowd, double spread)
{
    crowd->spread = spread;
    crowd->busy |= spread > CROWD_SPREAD_MAX;
}

void crowd_warn(const char *command, const crowd_t *crowd)
{
    if (crowd->ranks_per_core > 1)
        cli_warn(command, "%.3g ranks share a core, so the times are mostly those of waiting for it",

                 crowd->ranks_per_core);
    else if (crowd->ranks_per_core + crowd->load > TAKEN_MAX)
        cli_warn(command,
                 "other processes want the cores, too (a load of %.2g per core in the last minute), so the "
                 "times are longer than they would be without them",
                 crowd->load);
    else if (crowd->spread > CROWD_SPREAD_MAX)
        cli_warn(command,
                 "the long runs took %.1f times as long as the short ones of the same, so something disturbs "
                 "the machine or the network",
                 crowd->spread);
}
