/*
 * First-fit allocation of scratch at compile time. The few areas that live at a time are kept by offset, and a new one
 * goes into the first gap that is large enough.
 */
#include "execute/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "execute/program.h"

enum { ALIGNMENT = 64 };

static void drop_ended(trv_scratch_t *scratch, int now)
{
    int kept = 0;
    for (int i = 0; i < scratch->lives; i++)
        if (scratch->area[scratch->live[i]].end >= now)
            scratch->live[kept++] = scratch->live[i];
    scratch->lives = kept;
}

int trv_scratch_take(trv_scratch_t *scratch, size_t bytes, int begin, int end)
{
    int rc = trv_room(&scratch->area, &scratch->area_room, scratch->areas, 1, sizeof *scratch->area);
    if (!rc)
        rc = trv_room(&scratch->live, &scratch->live_room, scratch->lives, 1, sizeof *scratch->live);
    if (rc)
        return rc;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    drop_ended(scratch, begin);
    size_t offset = 0;
    int at = 0;
    for (; at < scratch->lives; at++) {
        const trv_area_t *next = &scratch->area[scratch->live[at]];
        if (next->offset - offset >= bytes)
            break;
        offset = next->offset + next->bytes;
    }
    memmove(scratch->live + at + 1, scratch->live + at, (size_t)(scratch->lives - at) * sizeof *scratch->live);
    scratch->live[at] = scratch->areas;
    scratch->lives++;
    scratch->area[scratch->areas] = (trv_area_t){ offset, bytes, end };
    if (offset + bytes > scratch->bytes)
        scratch->bytes = offset + bytes;
    return scratch->areas++;
}

void trv_scratch_extend(trv_scratch_t *scratch, int area, int end)
{
    if (scratch->area[area].end < end)
        scratch->area[area].end = end;
}

void trv_scratch_clear(trv_scratch_t *scratch)
{
    free(scratch->area);
    free(scratch->live);
    memset(scratch, 0, sizeof *scratch);
}
