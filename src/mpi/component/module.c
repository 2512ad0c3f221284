/*
 * The module of each communicator, with the functions that Open MPI calls, which mpi/bindings generates. Those of
 * collectives without schedules are set only if this process counts calls for the table at MPI_Finalize.
 */
#include "mpi/component/coll.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mpi/component/module_functions.h"
#include "mpi/front/intercept.h"
#include "mpi/operations/device.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"

/* ---- Callers ----------------------------------------------------------------------------------------------------- */

static void find_caller(trv_coll_caller_t *caller, const char *function)
{
    char name[64];
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *library = trv_loaded_library("libmpi.so");
    snprintf(name, sizeof name, "P%s", function);
    const char *first = library ? dlsym(library, name) : NULL;
    const bool found = first && dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
                       symbol->st_size > 0;
    if (!found)
        trv_mpi_log_warning("the size of Open MPI's function %s is not known, so its calls fall back", name);
    atomic_store(&caller->end, found ? first + symbol->st_size : (const char *)1);
    atomic_store(&caller->first, found ? first : (const char *)1);
}

bool trv_coll_is_program(trv_coll_caller_t *caller, const char *function, const void *address)
{
    if (trv_mpi_intercept_is_inside())
        return false;
    if (!atomic_load_explicit(&caller->first, memory_order_acquire))
        find_caller(caller, function);
    return (const char *)address > atomic_load(&caller->first) && (const char *)address <= atomic_load(&caller->end);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* Open MPI enables modules from the lowest priority to the highest, so *comm->c_coll contains the functions to which
 * calls fall back. */
static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    trv_coll_module_t *own = (trv_coll_module_t *)module;
    own->lower = *comm->c_coll;
    if (!trv_coll_dispatched_exist(&own->lower))
        return OMPI_ERR_NOT_FOUND;
    if (own->counts && !trv_coll_counted_exist(&own->lower)) {
        /* Whether a rank counts depends on its own log level, which must not decide whether it uses the module. */
        trv_coll_counted_clear(&own->super);
        own->counts = false;
    }
    trv_coll_dispatched_retain(&own->lower);
    if (own->counts)
        trv_coll_counted_retain(&own->lower);
    own->enabled = true;
    return OMPI_SUCCESS;
}

static void module_construct(trv_coll_module_t *module)
{
    module->enabled = false;
    module->counts = trv_mpi_settings()->info;
    module->super.coll_module_enable = module_enable;
    trv_coll_dispatched_set(&module->super);
    if (module->counts)
        trv_coll_counted_set(&module->super);
}

static void module_destruct(trv_coll_module_t *module)
{
    if (!module->enabled)
        return;
    trv_coll_dispatched_release(&module->lower);
    if (module->counts)
        trv_coll_counted_release(&module->lower);
}

OBJ_CLASS_INSTANCE(trv_coll_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* A spare module for the case that memory is exhausted: if only this rank had no module on a communicator, the other
 * ranks would wait for it. */
static _Atomic(trv_coll_module_t *) spare_module;

void trv_coll_modules_end(void)
{
    trv_coll_module_t *module = atomic_exchange(&spare_module, NULL);
    if (module)
        OBJ_RELEASE(module);
}

static trv_coll_module_t *module_create(void)
{
    trv_coll_module_t *module = OBJ_NEW(trv_coll_module_t), *none = NULL;
    if (!module)
        module = atomic_exchange(&spare_module, NULL);
    if (!module || atomic_load(&spare_module))
        return module;
    trv_coll_module_t *next = OBJ_NEW(trv_coll_module_t);
    if (next && !atomic_compare_exchange_strong(&spare_module, &none, next))
        OBJ_RELEASE(next);
    return module;
}

/* This function does not communicate: the interceptor initializes the communicator in its first collective. Internal
 * communicators of Trivance also get modules, because all ranks must make the same choice; calls of Trivance on these
 * communicators fall back. */
mca_coll_base_module_t *trv_coll_comm_query(ompi_communicator_t *comm, int *priority)
{
    *priority = trv_coll_priority();
    if (*priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
        !(trv_mpi_may_dispatch() || trv_mpi_may_discover()))
        return NULL;
    trv_coll_module_t *module = module_create();
    return module ? &module->super : NULL;
}
