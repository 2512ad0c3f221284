/*
 * mca_coll_trivance: Trivance as a collective component of Open MPI 4.1.
 *
 * Open MPI requests a module from every component for each communicator, and uses each collective function of the
 * module with the highest priority. Trivance's module passes every call to the interceptor (mpi/front/intercept.h),
 * which the preload libraries use, too. Calls that fall back go to the module with the next lower priority, as in other
 * components. Because the component is inside the MPI library, it receives calls from Fortran, and MPI's progress
 * function also makes progress on its non-blocking and persistent calls.
 */
#ifndef TRIVANCE_MPI_COMPONENT_COLL_H
#define TRIVANCE_MPI_COMPONENT_COLL_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"

#include "mpi/front/dispatch.h"

extern mca_coll_base_component_t mca_coll_trivance_component;

typedef struct trv_coll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t lower; /* the communicator's functions with lower priority, for calls that fall back */
    bool enabled;                    /* the modules in `lower` are retained */
    bool counts;                     /* it has the functions that only count calls, too */
} trv_coll_module_t;

OBJ_CLASS_DECLARATION(trv_coll_module_t);

/* Creates the module of a communicator, for Open MPI. NULL: Trivance does not handle its calls. */
mca_coll_base_module_t *trv_coll_comm_query(ompi_communicator_t *comm, int *priority);
/* Called when the component is closed. */
void trv_coll_modules_end(void);

/* Creates the request of a call of the MPI function `name`: a non-blocking one, which is started, or a persistent one.
 * False: fall back. True: *code is the return value of the call. */
bool trv_coll_request(const char *name, const trv_mpi_call_t *call, ompi_communicator_t *comm, bool persistent,
                      ompi_request_t **request, int *code);
/* Called when the component is closed. */
void trv_coll_requests_end(void);

/* The machine code of an MPI function of Open MPI, from which the program's calls come. Open MPI calls the module from
 * its other functions, too: for example in MPI_Comm_split, and to agree on the context id of a new communicator, by an
 * iallreduce on its parent at different points between the program's calls on each rank. These calls are not the
 * program's, and neither are Trivance's own; they are not dispatched. Nothing that this side could set distinguishes
 * them: the component is not called when the program enters MPI, and all calls have the same arguments and pointers.
 * Only the return address is different. The limit: it is not known where libmpi's symbols have no sizes; the calls then
 * fall back. */
typedef struct trv_coll_caller {
    _Atomic(const char *) first, end; /* NULL: not known yet */
} trv_coll_caller_t;
/* Whether the program makes the call that returns to `address`, by the MPI function `function`. */
bool trv_coll_is_program(trv_coll_caller_t *caller, const char *function, const void *address);

/* The value of the parameter coll_trivance_priority. */
int trv_coll_priority(void);

#endif
