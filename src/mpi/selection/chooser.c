/*
 * Builds the input of the choice (collective/choice.h) from a communicator and the settings.
 */
#include "mpi/selection/chooser.h"

#include "mpi/communicator/job_fabric.h"
#include "mpi/settings/job_settings.h"
#include "mpi/reports/log.h"
#include "mpi/selection/roots.h"

/* With MPI as the transport the network determines the route between two ranks. With libfabric and a map of interfaces
 * (`ports`) the sender chooses it, because each interface belongs to one port. */
trv_chooser_t trv_mpi_chooser(const trv_mpi_state_t *state, const trv_network_t *network, unsigned shared_port)
{
    const trv_mpi_settings_t *settings = trv_mpi_settings();
    trv_model_paths_t paths = {.declared = shared_port};
    paths.found = trv_mpi_job_fabric_shared_paths(state->members->domain->comm, &paths.found_one_path);
    trv_chooser_t chooser = {.network = network,
                             .simulation = trv_chooser_simulation(settings, network, &paths),
                             .measured = &settings->file_rules,
                             .allow_inconsistent = settings->allow_inconsistent,
                             .allow_inconsistent_names = settings->allow_inconsistent || !trv_mpi_is_drop_in(),
                             .explains = trv_mpi_log_enabled(TRV_DEBUG_INFO, state->rank)};
    const bool chosen = settings->transport == TRV_TRANSPORT_OFI && settings->ports;
    chooser.simulation.routes = chosen ? TRV_ROUTES_CHOSEN : TRV_ROUTES_FIXED;
    return chooser;
}

int trv_mpi_chooser_root(const trv_mpi_state_t *state, const trv_mpi_arguments_t *arguments)
{
    if (!trv_collective_has_root(arguments->collective) || trv_any_root(&state->config.network, arguments->collective))
        return 0;
    return trv_mpi_root_coordinate(state->config.node, state->config.comm_rank, arguments->root);
}
