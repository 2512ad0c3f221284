/*
 * The module of each communicator, with the functions that Open MPI calls.
 */
#include "mpi/component/coll.h"

#include <stdatomic.h>

#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"

/* The supported collectives, as they are named in the fields of Open MPI's modules. */
#define EACH_COLLECTIVE(each)                                                                                          \
    each(allreduce) each(reduce_scatter_block) each(allgather) each(barrier) each(iallreduce)                          \
        each(ireduce_scatter_block) each(iallgather) each(allreduce_init) each(reduce_scatter_block_init)              \
            each(allgather_init)

static const mca_coll_base_comm_coll_t *lower(const mca_coll_base_module_t *module)
{
    return &((const trv_coll_module_t *)module)->lower;
}

/* ---- Blocking ---------------------------------------------------------------------------------------------------- */

static int allreduce(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_ALLREDUCE, sbuf, rbuf, count, type, op}, comm, &code))
        return code;
    return lower(module)->coll_allreduce(sbuf, rbuf, count, type, op, comm, lower(module)->coll_allreduce_module);
}

static int reduce_scatter_block(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                                ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int code;
    if (trv_mpi_intercept_reduce(&(trv_mpi_reduction_t){TRV_REDUCE_SCATTER, sbuf, rbuf, count, type, op}, comm, &code))
        return code;
    return lower(module)->coll_reduce_scatter_block(sbuf, rbuf, count, type, op, comm,
                                                    lower(module)->coll_reduce_scatter_block_module);
}

static int allgather(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
                     ompi_datatype_t *rtype, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int code;
    if (trv_mpi_intercept_allgather(&(trv_mpi_gather_t){sbuf, rbuf, scount, rcount, stype, rtype}, comm, &code))
        return code;
    return lower(module)->coll_allgather(sbuf, scount, stype, rbuf, rcount, rtype, comm,
                                         lower(module)->coll_allgather_module);
}

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int code;
    if (trv_mpi_intercept_barrier(comm, &code))
        return code;
    return lower(module)->coll_barrier(comm, lower(module)->coll_barrier_module);
}

/* ---- Non-blocking ------------------------------------------------------------------------------------------------ */

/* Whether Open MPI may have made this call to agree on a context id. It makes such calls in its progress function, at
 * different points between the program's calls on each rank, so they must not be dispatched. */
static bool is_internal(int count, const ompi_datatype_t *type, const ompi_op_t *op)
{
    return count <= 2 && type == MPI_INT && (op == MPI_MAX || op == MPI_MIN);
}

static int iallreduce(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                      ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *module)
{
    trv_mpi_reduction_t call = {TRV_ALLREDUCE, sbuf, rbuf, count, type, op};
    int code;
    if (!is_internal(count, type, op) &&
        trv_coll_request(&(trv_mpi_call_t){.reduction = &call}, comm, false, request, &code))
        return code;
    return lower(module)->coll_iallreduce(sbuf, rbuf, count, type, op, comm, request,
                                          lower(module)->coll_iallreduce_module);
}

static int ireduce_scatter_block(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                                 ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *module)
{
    trv_mpi_reduction_t call = {TRV_REDUCE_SCATTER, sbuf, rbuf, count, type, op};
    int code;
    if (trv_coll_request(&(trv_mpi_call_t){.reduction = &call}, comm, false, request, &code))
        return code;
    return lower(module)->coll_ireduce_scatter_block(sbuf, rbuf, count, type, op, comm, request,
                                                     lower(module)->coll_ireduce_scatter_block_module);
}

static int iallgather(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
                      ompi_datatype_t *rtype, ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *module)
{
    trv_mpi_gather_t gather = {sbuf, rbuf, scount, rcount, stype, rtype};
    int code;
    if (trv_coll_request(&(trv_mpi_call_t){.gather = &gather}, comm, false, request, &code))
        return code;
    return lower(module)->coll_iallgather(sbuf, scount, stype, rbuf, rcount, rtype, comm, request,
                                          lower(module)->coll_iallgather_module);
}

/* ---- Persistent -------------------------------------------------------------------------------------------------- */

static int allreduce_init(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                          ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
                          mca_coll_base_module_t *module)
{
    trv_mpi_reduction_t call = {TRV_ALLREDUCE, sbuf, rbuf, count, type, op};
    int code;
    if (trv_coll_request(&(trv_mpi_call_t){.reduction = &call}, comm, true, request, &code))
        return code;
    return lower(module)->coll_allreduce_init(sbuf, rbuf, count, type, op, comm, info, request,
                                              lower(module)->coll_allreduce_init_module);
}

static int reduce_scatter_block_init(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
                                     ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
                                     mca_coll_base_module_t *module)
{
    trv_mpi_reduction_t call = {TRV_REDUCE_SCATTER, sbuf, rbuf, count, type, op};
    int code;
    if (trv_coll_request(&(trv_mpi_call_t){.reduction = &call}, comm, true, request, &code))
        return code;
    return lower(module)->coll_reduce_scatter_block_init(sbuf, rbuf, count, type, op, comm, info, request,
                                                         lower(module)->coll_reduce_scatter_block_init_module);
}

static int allgather_init(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
                          ompi_datatype_t *rtype, ompi_communicator_t *comm, ompi_info_t *info,
                          ompi_request_t **request, mca_coll_base_module_t *module)
{
    trv_mpi_gather_t gather = {sbuf, rbuf, scount, rcount, stype, rtype};
    int code;
    if (trv_coll_request(&(trv_mpi_call_t){.gather = &gather}, comm, true, request, &code))
        return code;
    return lower(module)->coll_allgather_init(sbuf, scount, stype, rbuf, rcount, rtype, comm, info, request,
                                              lower(module)->coll_allgather_init_module);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* Open MPI enables modules from the lowest priority to the highest, so *comm->c_coll contains the functions to which
 * calls fall back. */
static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    trv_coll_module_t *own = (trv_coll_module_t *)module;
    own->lower = *comm->c_coll;
#define IS_THERE(name) &&own->lower.coll_##name && own->lower.coll_##name##_module
    if (!(true EACH_COLLECTIVE(IS_THERE)))
        return OMPI_ERR_NOT_FOUND;
#define RETAIN(name) OBJ_RETAIN(own->lower.coll_##name##_module);
    EACH_COLLECTIVE(RETAIN)
    own->enabled = true;
    return OMPI_SUCCESS;
}

static void module_construct(trv_coll_module_t *module)
{
    module->enabled = false;
    module->super.coll_module_enable = module_enable;
#define SET(name) module->super.coll_##name = name;
    EACH_COLLECTIVE(SET)
}

static void module_destruct(trv_coll_module_t *module)
{
    if (!module->enabled)
        return;
#define RELEASE(name) OBJ_RELEASE(module->lower.coll_##name##_module);
    EACH_COLLECTIVE(RELEASE)
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
    if (*priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || !trv_mpi_may_dispatch())
        return NULL;
    trv_coll_module_t *module = module_create();
    return module ? &module->super : NULL;
}
