/*
 * The choice of a schedule by rank 0 of a communicator: the algorithm that the user has named, if it supports the
 * collective; otherwise the planner's fastest algorithm whose results are bitwise identical on all ranks.
 */
#include "base/error.h"
#include "base/size_class.h"
#include "net/inside.h"

trv_simulate_options_t trv_net_simulation(const trv_net_t *net, const trv_network_t *network)
{
    trv_model_paths_t paths = {.declared = 0};
    paths.found = trv_fabric_shared_paths(net->fabric, &paths.found_one_path);
    return trv_chooser_simulation(&net->settings, network, &paths);
}

/* If all roots are equivalent, one planning suffices. */
static int root_of(const trv_net_entry_t *entry) { return entry->base.any_root ? 0 : entry->base.root; }

static int choice_make(const trv_net_entry_t *entry, const trv_network_t *network, trv_choice_t *choice)
{
    const trv_net_t *net = entry->comm->net;
    const trv_signature_t signature = trv_signature_of(entry->base.collective, &entry->elements);
    const trv_chooser_t chooser = {.network = network,
                                   .root = root_of(entry),
                                   .simulation = trv_net_simulation(net, network),
                                   .measured = &net->settings.file_rules,
                                   .allow_inconsistent_names = true,
                                   .explains = net->settings.info};
    int rc = trv_choose_requested(&chooser, &signature, entry->bytes, entry->requested, "requested by name", choice);
    if (rc == TRV_ERR_UNSUPPORTED && entry->base.collective != TRV_ALLREDUCE)
        rc = TRV_OK; /* few algorithms support the other collectives: leave the choice to the planner */
    if (rc == TRV_OK && !*choice->algorithm)
        rc = trv_choose_planned(&chooser, &signature, entry->bytes, NULL, choice);
    if (rc == TRV_OK && !*choice->algorithm)
        rc = trv_fail(TRV_ERR_UNSUPPORTED, "%s", choice->reason);
    return rc;
}

void trv_net_choose(const trv_net_entry_t *entry, trv_decision_t *decision)
{
    trv_choice_t choice = {.on_nodes = false};
    trv_size_class_bounds(entry->bytes, &choice.bytes_min, &choice.bytes_max);
    const int rc = choice_make(entry, &entry->network, &choice);
    trv_decision_make(decision, rc, &choice, &entry->network, entry->base.collective, root_of(entry));
}
