/*
 * The sizes of vectors for which an MSCCL++ plan is valid. Depending on its version, MSCCL++'s loader rejects other
 * sizes, or cuts the vector into unequal chunks, for which the locations in scratch memory differ from those in the
 * vector.
 */
#include "cli/mscclpp_sizes.h"

#include <stdio.h>

#include "base/text/parse.h"
#include "cli/shared/tool.h"
#include "formats/lower.h"

void cli_report_mscclpp_sizes(const char *command, const trv_schedule_t *schedule, uint64_t bytes)
{
    const uint64_t chunks = (uint64_t)trv_lower_chunks(schedule), step = TRV_MSCCLPP_ALIGNMENT * chunks;
    const unsigned long long padded = (bytes / step + 1) * step;
    char text[TRV_BYTES_TEXT_MAX];
    fprintf(stderr,
            "trivance %s: the plan is valid for vectors of %llu bytes and multiples of that (%llu chunk%s of %d "
            "bytes)\n",
            command, (unsigned long long)step, (unsigned long long)chunks, chunks == 1 ? "" : "s",
            TRV_MSCCLPP_ALIGNMENT);
    if (bytes % step)
        cli_warn(command, "the plan is not valid for %s; pad the vector to %llu bytes", trv_format_bytes(bytes, text),
                 padded);
}
