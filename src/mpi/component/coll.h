/*
 * mca_coll_trivance: Trivance as a collective component of Open MPI 4.1.
 *
 * Open MPI asks every component for a module per communicator, and takes each collective function from the module of
 * the highest priority. Ours hands every call to the interceptor (mpi/front/intercept.h), which the preload libraries
 * share, and what that passes to the module below, as other components do. Being inside the MPI library it sees
 * Fortran's calls, and requests of non-blocking and persistent calls move on in MPI's own progress.
 */
#ifndef TRIVANCE_MPI_COMPONENT_COLL_H
#define TRIVANCE_MPI_COMPONENT_COLL_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"

#include "mpi/front/serve.h"

extern mca_coll_base_component_t mca_coll_trivance_component;

typedef struct trv_coll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below; /* what the communicator had before us */
    bool enabled;                    /* modules in `below` are retained */
} trv_coll_module_t;

OBJ_CLASS_DECLARATION(trv_coll_module_t);

mca_coll_base_module_t *trv_coll_comm_query(ompi_communicator_t *comm, int *priority);
/* At the component's end. */
void trv_coll_modules_end(void);

/* Makes the request of a non-blocking call, which is started, or of a persistent one. False: pass. True: *code is what
 * the call returns. */
bool trv_coll_request(const trv_mpi_call_t *call, ompi_communicator_t *comm, bool persistent, ompi_request_t **request,
                      int *code);
/* At the component's end. */
void trv_coll_requests_end(void);

/* The parameter coll_trivance_priority. */
int trv_coll_priority(void);

#endif
