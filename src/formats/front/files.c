/*
 * Schedules as files and programs: one function for all formats.
 */
#include <trivance/formats.h>

#include "base/error.h"
#include "base/span.h"
#include "formats/goal_file.h"
#include "formats/mscclpp.h"
#include "formats/schedule_file.h"

int trv_schedule_read(const char *path, trv_schedule_file_t *file, void (*warn)(void *context, const char *sentence),
                      void *context)
{
    return trv_schedule_file_read(path, file, warn, context);
}

int trv_schedule_write(const trv_schedule_t *schedule, const trv_network_t *network, uint64_t vector_bytes,
                       int (*progress)(void *context, double fraction), void *context, FILE *out)
{
    const trv_network_t plain = {TRV_NETWORK, .torus = *trv_schedule_torus(schedule)};
    const trv_span_t all = {progress, context, 0, 1};
    return trv_schedule_file_write_on(schedule, network ? network : &plain, vector_bytes, all, out);
}

int trv_export(const trv_schedule_t *schedule, trv_format_t format, uint64_t vector_bytes, double alpha_ns,
               int (*progress)(void *context, double fraction), void *context, FILE *out)
{
    const trv_span_t all = {progress, context, 0, 1};
    switch (format) {
    case TRV_FORMAT_GOAL: return trv_goal_file_write(schedule, vector_bytes, alpha_ns, all, out);
    case TRV_FORMAT_MSCCL: return trv_fail(TRV_ERR_UNSUPPORTED, TRV_MSCCL_REMOVED);
    case TRV_FORMAT_MSCCLPP: return trv_mscclpp_write(schedule, out);
    case TRV_FORMAT_CHAKRA:
        return trv_fail(TRV_ERR_ARGUMENT, "Chakra traces are a file for each rank: call trv_export_chakra instead");
    }
    return trv_fail(TRV_ERR_ARGUMENT, "unknown format %d: expected TRV_FORMAT_GOAL or TRV_FORMAT_MSCCLPP", format);
}
