/*
 * Reads attributes of PMIx. The functions are looked up in the libpmix that the process has loaded already, because a
 * preload library that is linked with another libpmix than the MPI library would replace that one. PMIx counts
 * initializations, so this one does not disturb that of the MPI library. A value that is not set is looked up in the
 * data of this process only (PMIX_OPTIONAL), because a request to the server could wait for a key that no process sets.
 */
#include "topology/pmix/pmix_place.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TRIVANCE_PMIX
#include <pmix.h>
#endif

#if defined TRIVANCE_PMIX && defined PMIX_GEOMETRY /* PMIx 4 or later */

#include <dlfcn.h>

typedef struct pmix_functions {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **);
    pmix_status_t (*finalize)(const pmix_info_t *, size_t);
    const char *(*type_name)(pmix_data_type_t);
    void (*destruct)(pmix_value_t *); /* NULL: this version has none, and values are not freed */
} pmix_functions_t;

static bool functions_find(pmix_functions_t *pmix)
{
    void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    *(void **)&pmix->init = dlsym(library, "PMIx_Init");
    *(void **)&pmix->get = dlsym(library, "PMIx_Get");
    *(void **)&pmix->finalize = dlsym(library, "PMIx_Finalize");
    *(void **)&pmix->type_name = dlsym(library, "PMIx_Data_type_string");
    *(void **)&pmix->destruct = dlsym(library, "PMIx_Value_destruct");
    dlclose(library); /* the MPI library keeps it loaded */
    return pmix->init && pmix->get && pmix->finalize && pmix->type_name;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static const bool YES = true;

/* Returns the value of a key for this process, or else for its node; NULL if there is none. */
static pmix_value_t *value_get(const pmix_functions_t *pmix, const pmix_proc_t *own, const char *key)
{
    pmix_proc_t all = *own;
    pmix_info_t option[2];
    pmix_value_t *value = NULL;
    memset(option, 0, sizeof option);
    snprintf(option[0].key, sizeof option[0].key, "%s", PMIX_OPTIONAL);
    snprintf(option[1].key, sizeof option[1].key, "%s", PMIX_NODE_INFO);
    for (int i = 0; i < 2; i++) {
        option[i].value.type = PMIX_BOOL;
        option[i].value.data.flag = YES;
    }
    all.rank = PMIX_RANK_WILDCARD;
    if (pmix->get(own, key, option, 1, &value) == PMIX_SUCCESS && value)
        return value;
    value = NULL;
    if (pmix->get(&all, key, option, 2, &value) == PMIX_SUCCESS && value)
        return value;
    value = NULL;
    return pmix->get(&all, key, option, 1, &value) == PMIX_SUCCESS ? value : NULL;
}

static void value_release(const pmix_functions_t *pmix, pmix_value_t *value)
{
    if (!value || !pmix->destruct)
        return;
    pmix->destruct(value);
    free(value);
}

/* ---- Coordinates ------------------------------------------------------------------------------------------------- */

/* Adds a device's coordinates to the record: the first ones define the location, others must be equal. */
static void location_add(trv_pmix_record_t *record, const pmix_coord_t *coordinates)
{
    const int dims = coordinates->dims > TRV_DIMS_MAX ? TRV_DIMS_MAX + 1 : (int)coordinates->dims;
    const size_t bytes = (size_t)(dims > TRV_DIMS_MAX ? 0 : dims) * sizeof *record->at;
    if (!record->locations) {
        record->dims = dims;
        if (bytes)
            memcpy(record->at, coordinates->coord, bytes);
        record->locations = 1;
    } else if (dims != record->dims || (bytes && memcmp(record->at, coordinates->coord, bytes) != 0)) {
        record->locations++;
    }
}

/* The coordinates in the logical view, or else the first ones. */
static const pmix_coord_t *view_choose(const pmix_coord_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].view == PMIX_COORD_LOGICAL_VIEW)
            return &list[i];
    return count ? list : NULL;
}

static void geometry_add(trv_pmix_record_t *record, const pmix_geometry_t *device)
{
    const pmix_coord_t *chosen = view_choose(device->coordinates, device->ncoords);
    if (chosen)
        location_add(record, chosen);
}

/* Reads the value: an array of devices, as the standard defines it; or the coordinates alone, in one view or several,
 * as some servers send them. */
static void coordinates_read(const pmix_functions_t *pmix, trv_pmix_record_t *record, const pmix_value_t *value)
{
    const pmix_data_array_t *array = value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
    const pmix_data_type_t type = array ? array->type : value->type;
    record->present = 1;
    if (type == PMIX_GEOMETRY && array)
        for (size_t i = 0; i < array->size; i++)
            geometry_add(record, (const pmix_geometry_t *)array->array + i);
    else if (type == PMIX_GEOMETRY)
        geometry_add(record, value->data.geometry);
    else if (type == PMIX_COORD && view_choose(array ? array->array : value->data.coord, array ? array->size : 1))
        location_add(record, view_choose(array ? array->array : value->data.coord, array ? array->size : 1));
    else
        snprintf(record->type, sizeof record->type, "%.*s", (int)sizeof record->type - 1, pmix->type_name(type));
}

static void sizes_read(trv_pmix_record_t *record, const pmix_value_t *dims, const pmix_value_t *shape)
{
    const pmix_data_array_t *array = dims && dims->type == PMIX_DATA_ARRAY ? dims->data.darray : NULL;
    if (dims && dims->type == PMIX_UINT32)
        record->fabric_dims = (int32_t)dims->data.uint32;
    else if (array && array->type == PMIX_UINT32 && array->size == 1) /* of one plane */
        record->fabric_dims = (int32_t) * (const uint32_t *)array->array;
    array = shape && shape->type == PMIX_DATA_ARRAY ? shape->data.darray : NULL;
    if (!array || array->type != PMIX_UINT32)
        return;
    record->shape_dims = array->size > TRV_DIMS_MAX ? TRV_DIMS_MAX + 1 : (int32_t)array->size;
    if (array->size && array->size <= TRV_DIMS_MAX)
        memcpy(record->shape, array->array, array->size * sizeof *record->shape);
}

void trv_pmix_place_read(trv_pmix_record_t *record)
{
    pmix_functions_t pmix;
    pmix_proc_t own;
    if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK") || !functions_find(&pmix) ||
        pmix.init(&own, NULL, 0) != PMIX_SUCCESS)
        return;
    pmix_value_t *coordinates = value_get(&pmix, &own, PMIX_FABRIC_COORDINATES);
    if (coordinates) {
        pmix_value_t *dims = value_get(&pmix, &own, PMIX_FABRIC_DIMS),
                     *shape = value_get(&pmix, &own, PMIX_FABRIC_SHAPE);
        coordinates_read(&pmix, record, coordinates);
        sizes_read(record, dims, shape);
        value_release(&pmix, coordinates);
        value_release(&pmix, dims);
        value_release(&pmix, shape);
    }
    pmix.finalize(NULL, 0);
}

#else

void trv_pmix_place_read(trv_pmix_record_t *record) { (void)record; }

#endif
