/*
 * The module of each communicator, with the functions that Open MPI calls. Those of collectives without schedules are
 * defined only if this process counts calls for the table at MPI_Finalize.
 */
#include "mpi/component/coll.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "mpi/front/collectives.h"
#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"

static const mca_coll_base_comm_coll_t *lower(const mca_coll_base_module_t *module)
{
    return &((const trv_coll_module_t *)module)->lower;
}

/* ---- Callers ----------------------------------------------------------------------------------------------------- */

/* The machine code of an MPI function, from which the program's calls come. Open MPI calls the module from its other
 * functions, too, for example in MPI_Comm_split; those calls are not the program's, and neither are Trivance's own. */
typedef struct caller {
    _Atomic(const char *) first, end; /* NULL: not known yet */
} caller_t;

static void find_caller(caller_t *caller, const char *function)
{
    char name[64];
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    snprintf(name, sizeof name, "P%s", function);
    const char *first = dlsym(RTLD_DEFAULT, name);
    const bool found = first && dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
                       symbol->st_size > 0;
    atomic_store(&caller->end, found ? first + symbol->st_size : (const char *)UINTPTR_MAX);
    atomic_store(&caller->first, found ? first : (const char *)1);
}

/* Whether the program makes the call that returns to `address`. */
static bool is_program(const char *function, caller_t *caller, const void *address)
{
    if (trv_mpi_intercept_is_inside())
        return false;
    if (!atomic_load_explicit(&caller->first, memory_order_acquire))
        find_caller(caller, function);
    return (const char *)address > atomic_load(&caller->first) && (const char *)address <= atomic_load(&caller->end);
}

/* Begins the span of a call. */
static trv_mpi_span_t begin(const char *function, bool program)
{
    if (!atomic_load_explicit(&trv_mpi_observes, memory_order_relaxed))
        return (trv_mpi_span_t){.number = 0};
    return trv_mpi_span_begin(program ? function : NULL);
}

/* ---- The functions ----------------------------------------------------------------------------------------------- */

/* Defines the function `name` of the module, for the MPI function LABEL. `UNSUPPORTED`: see trv_mpi_intercept_end.
 * `RUN`: an expression that is true if Trivance has executed the call and set `code`. Calls of Open MPI itself are not
 * executed: their types may be internal ones, which have no envelope (contiguous.c). */
#define FUNCTION(name, LABEL, UNSUPPORTED, RUN, ARGUMENTS, ...)                                                        \
    static int call_##name(__VA_ARGS__, mca_coll_base_module_t *module)                                                \
    {                                                                                                                  \
        static caller_t caller;                                                                                        \
        int code;                                                                                                      \
        const bool program = is_program(LABEL, &caller, __builtin_return_address(0));                                  \
        const trv_mpi_span_t span = begin(LABEL, program);                                                             \
        if (!program || !(RUN))                                                                                        \
            code = lower(module)->coll_##name(ARGUMENTS, lower(module)->coll_##name##_module);                         \
        trv_mpi_intercept_end(span, UNSUPPORTED, comm);                                                                \
        return code;                                                                                                   \
    }

#define LIST(...) __VA_ARGS__

#define BLOCKING_AS(Name, name, FORM, UNSUPPORTED, RUN)                                                                \
    FUNCTION(name, "MPI_" #Name, UNSUPPORTED, RUN, LIST(TRV_MPI_ARGUMENTS_##FORM), TRV_MPI_PARAMETERS_##FORM(int, int))
#define NONBLOCKING_AS(Name, name, FORM, UNSUPPORTED, RUN)                                                             \
    FUNCTION(i##name, "MPI_I" #name, UNSUPPORTED, RUN, LIST(TRV_MPI_ARGUMENTS_##FORM, request),                        \
             TRV_MPI_PARAMETERS_##FORM(int, int), MPI_Request *request)
#define PERSISTENT_AS(Name, name, FORM, UNSUPPORTED, RUN)                                                              \
    FUNCTION(name##_init, "MPIX_" #Name "_init", UNSUPPORTED, RUN, LIST(TRV_MPI_ARGUMENTS_##FORM, info, request),      \
             TRV_MPI_PARAMETERS_##FORM(int, int), MPI_Info info, MPI_Request *request)

#define CALL(Name) &(const trv_mpi_call_t)TRV_MPI_CALL_##Name

/* The reason, for the log, if Open MPI may have made this call to agree on a context id; else NULL. It makes such calls
 * in its progress function, at different points between the program's calls on each rank, so they must not be
 * dispatched. */
static const char *internal_reason(const trv_mpi_call_t *call)
{
    const trv_mpi_reduction_t *reduction = call->reduction;
    return reduction && reduction->collective == TRV_ALLREDUCE && reduction->count <= 2 &&
                   reduction->datatype == MPI_INT && (reduction->op == MPI_MAX || reduction->op == MPI_MIN)
               ? "Open MPI itself makes such calls, to agree on the context ids of communicators"
               : NULL;
}

#define BLOCKING(Name, name, NAME, FORM) BLOCKING_AS(Name, name, FORM, NULL, trv_mpi_intercept(CALL(Name), comm, &code))
#define NONBLOCKING(Name, name, NAME, FORM)                                                                            \
    NONBLOCKING_AS(Name, name, FORM, internal_reason(CALL(Name)),                                                      \
                   !internal_reason(CALL(Name)) &&                                                                     \
                       trv_coll_request("MPI_I" #name, CALL(Name), comm, false, request, &code))
#define PERSISTENT(Name, name, NAME, FORM)                                                                             \
    PERSISTENT_AS(Name, name, FORM, NULL,                                                                              \
                  trv_coll_request("MPIX_" #Name "_init", CALL(Name), comm, true, request, &code))

/* Functions that are only counted, of collectives without schedules. */
#define COUNTED_BLOCKING(Name, name, NAME, FORM)    BLOCKING_AS(Name, name, FORM, TRV_MPI_NO_SCHEDULES, false)
#define COUNTED_NONBLOCKING(Name, name, NAME, FORM) NONBLOCKING_AS(Name, name, FORM, TRV_MPI_NO_SCHEDULES, false)
#define COUNTED_PERSISTENT(Name, name, NAME, FORM)  PERSISTENT_AS(Name, name, FORM, TRV_MPI_NO_SCHEDULES, false)

TRV_MPI_DISPATCHED(BLOCKING)
TRV_MPI_BARRIER(BLOCKING)
TRV_MPI_DISPATCHED(NONBLOCKING)
TRV_MPI_BARRIER(NONBLOCKING)
TRV_MPI_DISPATCHED(PERSISTENT)
TRV_MPI_BARRIER(PERSISTENT)
TRV_MPI_COUNTED(COUNTED_BLOCKING)
TRV_MPI_COUNTED(COUNTED_NONBLOCKING)
TRV_MPI_COUNTED(COUNTED_PERSISTENT)

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* Calls `each` with the names of the module's functions, as Open MPI names their fields: those that dispatch, and those
 * that only count calls, which the module defines if this process counts. */
#define ALL_FORMS(Name, name, NAME, FORM) EACH(name) EACH(i##name) EACH(name##_init)
#define EACH_DISPATCHED                   TRV_MPI_DISPATCHED(ALL_FORMS) TRV_MPI_BARRIER(ALL_FORMS)
#define EACH_COUNTED                      TRV_MPI_COUNTED(ALL_FORMS)

/* Removes the functions that only count calls. Whether a rank counts depends on its own log level, which must not
 * decide whether it uses the module. */
static void stop_counting(trv_coll_module_t *module)
{
#define EACH(name) module->super.coll_##name = NULL;
    EACH_COUNTED
#undef EACH
    module->counts = false;
}

/* Open MPI enables modules from the lowest priority to the highest, so *comm->c_coll contains the functions to which
 * calls fall back. */
static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    trv_coll_module_t *own = (trv_coll_module_t *)module;
    own->lower = *comm->c_coll;
#define EACH(name) &&own->lower.coll_##name && own->lower.coll_##name##_module
    if (!(true EACH_DISPATCHED))
        return OMPI_ERR_NOT_FOUND;
    const bool countable = true EACH_COUNTED;
#undef EACH
    if (own->counts && !countable)
        stop_counting(own);
#define EACH(name) OBJ_RETAIN(own->lower.coll_##name##_module);
    EACH_DISPATCHED
    if (own->counts) {
        EACH_COUNTED
    }
#undef EACH
    own->enabled = true;
    return OMPI_SUCCESS;
}

static void module_construct(trv_coll_module_t *module)
{
    module->enabled = false;
    module->counts = trv_mpi_settings()->info;
    module->super.coll_module_enable = module_enable;
#define EACH(name) module->super.coll_##name = call_##name;
    EACH_DISPATCHED
    if (module->counts) {
        EACH_COUNTED
    }
#undef EACH
}

static void module_destruct(trv_coll_module_t *module)
{
    if (!module->enabled)
        return;
#define EACH(name) OBJ_RELEASE(module->lower.coll_##name##_module);
    EACH_DISPATCHED
    if (module->counts) {
        EACH_COUNTED
    }
#undef EACH
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
