/*
 * Memory layouts of buffers. A type with absolute addresses begins at its own first byte (the lower bound), so that
 * consecutive elements are adjacent.
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#define CANARY      32
#define CANARY_BYTE 0x5a

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* `count` elements, `step` bytes apart, of which the next type begins `extent` bytes after the first byte. */
static MPI_Datatype type_of(const layout_t *layout, const element_t *element, int count, size_t extent)
{
    MPI_Datatype bare, type;
    MPI_Aint address = 0;
    if (layout->absolute)
        MPI_Get_address(layout->memory, &address);
    MPI_Type_create_hvector(count, 1, (MPI_Aint)layout->step, element->type, &bare);
    if (layout->absolute) {
        MPI_Datatype moved;
        const int one = 1;
        MPI_Type_create_hindexed(1, &one, &address, bare, &moved);
        MPI_Type_free(&bare);
        bare = moved;
    }
    MPI_Type_create_resized(bare, address, (MPI_Aint)extent, &type);
    MPI_Type_free(&bare);
    MPI_Type_commit(&type);
    return type;
}

/* Numbers the blocks' displacements in extents of the type; returns the end of the last block. */
static int displace(layout_t *layout, draw_t *draw)
{
    const bool descending = draw && draw_once_in(draw, 2), holes = draw && draw_once_in(draw, 2);
    int next = 0;
    for (int i = 0; i < layout->blocks; i++) {
        const int b = descending ? layout->blocks - 1 - i : i;
        next += holes ? draw_below(draw, 3) : 0;
        layout->displacement[b] = next;
        next += layout->count[b];
    }
    return next;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

layout_t layout_draw(draw_t *draw, layout_rule_t rule, const element_t *element, const int *count, int blocks)
{
    static const char *const kind_name[] = {"plain",        "gapped elements", "absolute elements",
                                            "whole blocks", "gapped blocks",   "absolute blocks"};
    const int drawn = draw_below(draw, 12), kinds = rule == LAYOUT_PLAIN ? 1 : rule == LAYOUT_BLOCKS ? 6 : 3;
    const int kind = drawn < 6 && !(rule == LAYOUT_BLOCKS && count[0] == 0) ? drawn % kinds : 0;
    const bool whole = kind >= 3, gapped = kind % 3 == 1;
    const size_t numbers = (size_t)blocks + 1;
    layout_t layout = {.type = element->type,
                       .name = kind_name[kind],
                       .derived = kind > 0,
                       .absolute = kind % 3 == 2,
                       .blocks = blocks,
                       .count = malloc(numbers * sizeof(int)),
                       .displacement = malloc(numbers * sizeof(int)),
                       .elements = malloc(numbers * sizeof(size_t)),
                       .start = malloc(numbers * sizeof(size_t)),
                       .extent = element->extent,
                       .step = element->extent * (gapped ? 2 : 1)};
    for (int b = 0; b < blocks; b++) {
        layout.elements[b] = (size_t)count[b];
        layout.count[b] = whole ? 1 : count[b];
    }
    const size_t unit = layout.step * (whole ? (size_t)count[0] : 1);
    const int end = displace(&layout, rule == LAYOUT_DISPLACED ? draw : NULL);
    for (int b = 0; b < blocks; b++)
        layout.start[b] = (size_t)layout.displacement[b] * unit;
    layout.bytes = (size_t)end * unit + CANARY;
    layout.memory = malloc(layout.bytes);
    if (layout.derived)
        layout.type = type_of(&layout, element, whole ? count[0] : 1, unit);
    return layout;
}

void layout_clear(layout_t *layout)
{
    if (layout->memory)
        memset(layout->memory, CANARY_BYTE, layout->bytes);
}

void layout_free(layout_t *layout)
{
    if (layout->derived)
        MPI_Type_free(&layout->type);
    free(layout->count);
    free(layout->displacement);
    free(layout->elements);
    free(layout->start);
    free(layout->memory);
}

void *layout_start(const layout_t *layout) { return layout->absolute ? MPI_BOTTOM : layout->memory; }

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

void layout_put(const layout_t *layout, int first, int end, const void *from)
{
    const char *at = from;
    for (int b = first; b < end; b++)
        for (size_t i = 0; i < layout->elements[b]; i++, at += layout->extent)
            memcpy(layout->memory + layout->start[b] + i * layout->step, at, layout->extent);
}

void layout_get(const layout_t *layout, int first, int end, void *to)
{
    char *at = to;
    for (int b = first; b < end; b++)
        for (size_t i = 0; i < layout->elements[b]; i++, at += layout->extent)
            memcpy(at, layout->memory + layout->start[b] + i * layout->step, layout->extent);
}

bool layout_is_clean(const layout_t *layout)
{
    bool clean = true;
    char *rest = malloc(layout->bytes); /* without the elements, which are replaced by canary values */
    memcpy(rest, layout->memory, layout->bytes);
    for (int b = 0; b < layout->blocks; b++)
        for (size_t i = 0; i < layout->elements[b]; i++)
            memset(rest + layout->start[b] + i * layout->step, CANARY_BYTE, layout->extent);
    for (size_t i = 0; clean && i < layout->bytes; i++)
        clean = rest[i] == CANARY_BYTE;
    free(rest);
    return clean;
}
