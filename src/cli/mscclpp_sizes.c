/*
 * The sizes of vectors for which an MSCCL++ plan is valid: multiples of 16 bytes times the number of chunks. MSCCL++
 * aligns chunks to 16 bytes; versions of its loader reject other sizes, or cut the vector into unequal chunks, for which
 * the locations in scratch memory differ from those in the vector.
 */
#include "cli/mscclpp_sizes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <trivance/algorithms.h>
#include <trivance/cost.h>
#include <trivance/formats.h>

#include "base/text/parse.h"
#include "cli/shared/tool.h"

#define CHUNK_ALIGNMENT 16 /* bytes */

static uint64_t chunk_count(const trv_schedule_t *schedule)
{
    return (uint64_t)trv_schedule_units(schedule) * (uint64_t)trv_schedule_streams(schedule);
}

/* Whether a schedule can be written as a plan for a vector of `bytes`. */
static bool is_exportable(const trv_schedule_t *schedule, uint64_t bytes)
{
    char *text = NULL;
    size_t length;
    if (bytes % (CHUNK_ALIGNMENT * chunk_count(schedule)))
        return false;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return false;
    const int rc = trv_export(schedule, TRV_FORMAT_MSCCLPP, bytes, 0, NULL, NULL, out);
    fclose(out);
    free(text);
    return rc == 0;
}

/* Returns the name of the algorithm that is fastest by the cost model among those whose plans accept `bytes`; NULL if
 * there is none that is as fast as the schedule. */
static const char *find_alternative(const trv_schedule_t *instead_of, uint64_t bytes)
{
    const trv_hockney_t network = TRV_HOCKNEY_PAPER;
    const trv_torus_t *torus = trv_schedule_torus(instead_of);
    const char *best = NULL;
    double best_ns;
    if (trv_cost_time_ns(instead_of, &network, bytes, &best_ns))
        return NULL;
    for (int i = 0; i < trv_algorithms_count(); i++) {
        const char *name = trv_algorithm_name(trv_algorithm_at(i));
        trv_schedule_t *schedule;
        double time_ns;
        if (trv_schedule_create(&schedule, torus, name, trv_schedule_collective(instead_of)))
            continue;
        if (trv_cost_time_ns(schedule, &network, bytes, &time_ns) == 0 && time_ns <= best_ns &&
            is_exportable(schedule, bytes)) {
            best = name;
            best_ns = time_ns;
        }
        trv_schedule_destroy(schedule);
    }
    return best;
}

void cli_report_mscclpp_sizes(const char *command, const trv_schedule_t *schedule, uint64_t bytes)
{
    const uint64_t chunks = chunk_count(schedule), step = CHUNK_ALIGNMENT * chunks;
    char text[TRV_BYTES_TEXT_MAX];
    fprintf(stderr,
            "trivance %s: the plan is valid for vectors of %llu bytes and multiples of that (%llu chunk%s of %d "
            "bytes)\n",
            command, (unsigned long long)step, (unsigned long long)chunks, chunks == 1 ? "" : "s", CHUNK_ALIGNMENT);
    if (bytes % step == 0)
        return;
    const uint64_t next = (bytes / step + 1) * step;
    const char *other = find_alternative(schedule, bytes);
    cli_warn(command, "the plan is not valid for %s; pad the vector to %llu bytes%s%s", trv_format_bytes(bytes, text),
             (unsigned long long)next,
             other ? ", or export a plan that is valid for it: "
                     "--algorithm="
                   : "",
             other ? other : "");
}
