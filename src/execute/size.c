/*
 * Sizes at a count: see size.h. The containers of an area follow each other without gaps, as the parts of a message do on
 * the wire. Areas are placed by first fit: they are asked for in the order of time, the few that live at a time are kept
 * by offset, and a new one goes into the first gap that is large enough.
 */
#include "execute/size.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

enum { ALIGNMENT = 64 };

size_t trv_cut(size_t count, size_t parts, size_t i)
{
    return count / parts * i + count % parts * i / parts;
}

int trv_sized_make(trv_sized_t *sized, const trv_program_t *program)
{
    const size_t containers = (size_t)program->containers + 1, areas = (size_t)program->areas + 1;
    *sized = (trv_sized_t){ .program = program, .block = (size_t)program->block };
    sized->offset = malloc(2 * (containers + areas) * sizeof *sized->offset);
    sized->live = malloc(areas * sizeof *sized->live);
    if (!sized->offset || !sized->live)
        return trv_fail_memory();
    sized->bytes = sized->offset + containers;
    sized->area_offset = sized->bytes + containers;
    sized->area_bytes = sized->area_offset + areas;
    return 0;
}

void trv_sized_clear(trv_sized_t *sized)
{
    free(sized->offset);
    free(sized->live);
    memset(sized, 0, sizeof *sized);
}

/* ---- Containers -------------------------------------------------------------------------------------------------- */

typedef struct sum {
    const trv_sized_t *sized;
    size_t bytes;
} sum_t;

static int add_run(void *context, trv_mask_t mask, int64_t first, int64_t units)
{
    sum_t *sum = context;
    (void)mask;
    sum->bytes += trv_run_bytes(sum->sized, first, units);
    return 0;
}

static size_t container_bytes(const trv_sized_t *sized, const trv_container_t *container, trv_walk_t *walk)
{
    if (container->run)
        return trv_run_bytes(sized, container->first, container->units);
    sum_t sum = { sized, 0 };
    walk->space = &sized->program->space;
    walk->products = container->products;
    for (int i = 0; i < container->products; i++)
        walk->product[i] = container->product + i;
    walk->tell = add_run;
    walk->context = &sum;
    trv_walk(walk);
    return sum.bytes;
}

/* ---- Areas ------------------------------------------------------------------------------------------------------- */

static void place_areas(trv_sized_t *sized)
{
    const trv_program_t *program = sized->program;
    int *live = sized->live, lives = 0;
    sized->scratch_bytes = 0;
    for (int a = 0; a < program->areas; a++) {
        size_t offset = 0;
        int kept = 0, at = 0;
        for (int i = 0; i < lives; i++)
            if (program->area[live[i]].end >= program->area[a].begin)
                live[kept++] = live[i];
        for (lives = kept; at < lives; at++) {
            if (sized->area_offset[live[at]] - offset >= sized->area_bytes[a])
                break;
            offset = sized->area_offset[live[at]] + sized->area_bytes[live[at]];
        }
        memmove(live + at + 1, live + at, (size_t)(lives - at) * sizeof *live);
        live[at] = a;
        lives++;
        sized->area_offset[a] = offset;
        if (offset + sized->area_bytes[a] > sized->scratch_bytes)
            sized->scratch_bytes = offset + sized->area_bytes[a];
    }
}

void trv_size(trv_sized_t *sized, size_t elements, size_t count, int stream, int streams, size_t element_size,
              trv_walk_t *walk)
{
    const trv_program_t *program = sized->program;
    sized->begin = trv_cut(elements, (size_t)streams, (size_t)stream);
    sized->length = trv_cut(elements, (size_t)streams, (size_t)stream + 1) - sized->begin;
    sized->whole = sized->length / sized->block;
    sized->rest = sized->length % sized->block;
    sized->stride = count;
    sized->element_size = element_size;
    for (int a = 0; a < program->areas; a++) {
        const trv_area_t *area = &program->area[a];
        size_t bytes = 0;
        for (int c = area->container; c < area->container + area->containers; c++) {
            sized->offset[c] = bytes;
            bytes += sized->bytes[c] = container_bytes(sized, &program->container[c], walk);
        }
        sized->area_bytes[a] = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    place_areas(sized);
    for (int c = 0; c < program->containers; c++)
        sized->offset[c] += sized->area_offset[program->container[c].area];
}

size_t trv_extent_bytes(const trv_sized_t *sized, const trv_extent_t *extent)
{
    if (extent->containers == 0)
        return trv_run_bytes(sized, extent->first, extent->units);
    size_t bytes = 0;
    for (int c = extent->place.container; c < extent->place.container + extent->containers; c++)
        bytes += sized->bytes[c];
    return bytes;
}
