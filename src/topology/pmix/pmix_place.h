/*
 * The coordinates of this process on the network, as its PMIx server reports them.
 */
#ifndef TRIVANCE_TOPOLOGY_PMIX_PMIX_PLACE_H
#define TRIVANCE_TOPOLOGY_PMIX_PMIX_PLACE_H

#include "topology/sources/record.h"

/* Fills the record, whose bytes are all 0 before. It remains so if the process has no PMIx server, has not loaded
 * libpmix, or the server has no coordinates. Sends no message to the server. */
void trv_pmix_place_read(trv_pmix_record_t *record);

#endif
