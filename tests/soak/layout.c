/*
 * Memory layouts of AllGather buffers. A type with absolute addresses begins at its own first byte (the lower bound),
 * so that consecutive blocks are adjacent.
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#define CANARY      32
#define CANARY_BYTE 0x5a

static void make_gapped(layout_t *layout, const element_t *element, int count)
{
    MPI_Datatype bare;
    layout->name = "gapped";
    layout->step = 2 * layout->extent;
    layout->block *= 2;
    MPI_Type_vector(count, 1, 2, element->type, &bare);
    MPI_Type_create_resized(bare, 0, (MPI_Aint)layout->block, &layout->type);
    MPI_Type_free(&bare);
}

static void make_absolute(layout_t *layout, const element_t *element, int count)
{
    MPI_Datatype bare;
    MPI_Aint address;
    layout->name = "absolute";
    layout->absolute = true;
    MPI_Get_address(layout->memory, &address);
    MPI_Type_create_hindexed(1, &count, &address, element->type, &bare);
    MPI_Type_create_resized(bare, address, (MPI_Aint)layout->block, &layout->type);
    MPI_Type_free(&bare);
}

static void allocate(layout_t *layout, size_t bytes)
{
    layout->bytes = bytes + CANARY;
    layout->memory = malloc(layout->bytes);
}

void layout_clear(layout_t *layout)
{
    if (layout->memory)
        memset(layout->memory, CANARY_BYTE, layout->bytes);
}

layout_t layout_plain(const element_t *element, size_t count)
{
    layout_t layout = {.type = element->type,
                       .name = "plain",
                       .count = (int)count,
                       .elements = count,
                       .extent = element->extent,
                       .step = element->extent,
                       .block = count * element->extent};
    allocate(&layout, layout.block);
    return layout;
}

layout_t layout_draw(draw_t *draw, const element_t *element, int count, size_t blocks)
{
    layout_t layout = {.type = element->type,
                       .name = "plain",
                       .count = count,
                       .elements = (size_t)count,
                       .extent = element->extent,
                       .step = element->extent,
                       .block = (size_t)count * element->extent};
    int kind = draw ? draw_below(draw, 7) : 0;
    allocate(&layout, 2 * blocks * layout.block); /* the maximum size of any layout */
    if (count == 0 || kind < 4)
        return layout;
    layout.derived = true;
    layout.count = 1;
    switch (kind) {
    case 4: MPI_Type_contiguous(count, element->type, &layout.type); break;
    case 5: make_gapped(&layout, element, count); break;
    default: make_absolute(&layout, element, count);
    }
    MPI_Type_commit(&layout.type);
    return layout;
}

void layout_free(layout_t *layout)
{
    if (layout->derived)
        MPI_Type_free(&layout->type);
    free(layout->memory);
}

void *layout_start(const layout_t *layout) { return layout->absolute ? MPI_BOTTOM : layout->memory; }

static char *place(const layout_t *layout, size_t block, size_t element)
{
    return layout->memory + block * layout->block + element * layout->step;
}

void layout_put(const layout_t *layout, size_t block, const void *from, size_t blocks)
{
    const char *at = from;
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < layout->elements; i++, at += layout->extent)
            memcpy(place(layout, block + b, i), at, layout->extent);
}

void layout_get(const layout_t *layout, void *to, size_t blocks)
{
    char *at = to;
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < layout->elements; i++, at += layout->extent)
            memcpy(at, place(layout, b, i), layout->extent);
}

static bool untouched(const char *at, const char *end)
{
    while (at < end && *at == CANARY_BYTE)
        at++;
    return at >= end;
}

bool layout_is_clean(const layout_t *layout, size_t blocks)
{
    const char *end = layout->memory + layout->bytes;
    for (size_t b = 0; layout->step == 2 * layout->extent && b < blocks; b++)
        for (size_t i = 0; i < layout->elements; i++) {
            const char *gap = place(layout, b, i) + layout->extent;
            if (!untouched(gap, gap + layout->extent))
                return false;
        }
    return untouched(layout->memory + blocks * layout->block, end);
}
