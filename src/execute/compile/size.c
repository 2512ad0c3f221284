/*
 * Sizes for a count, see size.h. The containers of an area are contiguous, like the parts of a message. Areas are
 * placed by first fit: they are requested in the order of time, the few that are in use at the same time are sorted by
 * offset, and a new area is placed into the first gap that is large enough.
 */
#include "execute/compile/size.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ALIGNMENT = 64 };

size_t trv_part_begin(size_t count, size_t parts, size_t i) { return count / parts * i + count % parts * i / parts; }

static size_t blocks_of(const trv_program_t *program) { return (size_t)(program->space.units / program->block); }

int trv_sized_create(trv_sized_t *sized, const trv_program_t *program, bool unequal)
{
    const size_t containers = (size_t)program->containers + 1, areas = (size_t)program->areas + 1;
    *sized = (trv_sized_t){.program = program, .blocks = program->block < program->space.units};
    const size_t positions = program->space.units <= TRV_SMALL_UNITS ? (size_t)program->space.units + 1 : 0;
    const size_t sends = (size_t)program->sends, receives = (size_t)program->receives;
    const size_t blocks = unequal ? 2 * blocks_of(program) + 1 : 0;
    sized->offset = malloc((3 * containers + 2 * areas + positions + sends + receives + blocks) *
                           sizeof *sized->offset);
    sized->live = malloc(areas * sizeof *sized->live);
    const int moves = 2 * program->stretches + program->pieces + program->sources;
    sized->moves_max = moves < TRV_MOVES_MAX ? moves : TRV_MOVES_MAX;
    sized->move = malloc(((size_t)sized->moves_max + 1) * sizeof *sized->move);
    sized->listed = malloc(((size_t)program->works + 1) * sizeof *sized->listed);
    if (!sized->offset || !sized->live || !sized->move || !sized->listed)
        return trv_fail_memory();
    sized->bytes = sized->offset + containers;
    sized->first = sized->bytes + containers;
    sized->area_offset = sized->first + containers;
    sized->area_bytes = sized->area_offset + areas;
    sized->sent = sized->area_bytes + areas;
    sized->received = sized->sent + sends;
    sized->table = positions ? sized->received + receives : NULL;
    sized->before = unequal ? sized->received + receives + positions : NULL;
    sized->user = unequal ? sized->before + blocks_of(program) + 1 : NULL;
    return 0;
}

trv_sized_t trv_sized_units(const trv_program_t *program)
{
    return (trv_sized_t){.program = program,
                         .blocks = program->block < program->space.units,
                         .length = (size_t)program->block,
                         .total = (size_t)program->space.units,
                         .element_size = 1};
}

void trv_sized_clear(trv_sized_t *sized)
{
    free(sized->offset);
    free(sized->live);
    free(sized->move);
    free(sized->listed);
    memset(sized, 0, sizeof *sized);
}

size_t trv_sized_memory_bytes(const trv_sized_t *sized)
{
    return (size_t)sized->moves_max * sizeof *sized->move + (size_t)sized->program->works * sizeof *sized->listed;
}

size_t trv_sized_bytes_sent(const trv_sized_t *sized)
{
    size_t bytes = 0;
    for (int i = 0; i < sized->program->sends; i++)
        bytes += sized->sent[i];
    return bytes;
}

size_t trv_find_elements(const trv_sized_t *sized, int64_t position)
{
    const trv_space_t *space = &sized->program->space;
    size_t before = 0, length = sized->total;
    if (position >= space->units)
        return sized->total;
    if (sized->before) {
        const int64_t units = sized->program->block, block = position / units;
        return sized->before[block] + trv_part_begin(sized->before[block + 1] - sized->before[block], (size_t)units,
                                                     (size_t)(position % units));
    }
    for (int axis = 0; position > 0; axis++) {
        const int i = (int)(position / space->weight[axis]);
        const size_t first = trv_before_index(sized, axis, length, i);
        before += first;
        position %= space->weight[axis];
        if (position > 0)
            length = trv_before_index(sized, axis, length, i + 1) - first;
    }
    return before;
}

size_t trv_find_block(const trv_sized_t *sized, size_t elements)
{
    size_t first = 0, end = blocks_of(sized->program); /* the block is in first … end - 1 */
    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        if (sized->before[middle] <= elements)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* ---- Containers -------------------------------------------------------------------------------------------------- */

/* The elements of a set of an axis' indices. */
static size_t set_elements(const trv_sized_t *sized, int axis, size_t length, const trv_set_t *set)
{
    const int *bound = sized->program->space.sets.bound + set->first;
    size_t elements = 0;
    for (int i = 0; i < set->ranges; i++)
        elements += trv_before_index(sized, axis, length, bound[2 * i + 1]) -
                    trv_before_index(sized, axis, length, bound[2 * i]);
    return elements;
}

/* The elements of a product, for blocks of different sizes: of its sets from `axis` on, at the indices of the axes
 * before it that `position` has. */
static size_t count_elements(const trv_sized_t *sized, const int *id, int axis, int64_t position)
{
    const trv_space_t *space = &sized->program->space;
    const trv_set_t *set = &space->sets.set[id[axis]];
    const int *bound = space->sets.bound + set->first;
    const int64_t weight = space->weight[axis];
    bool last = true;
    size_t elements = 0;
    for (int next = axis + 1; next < space->axes; next++)
        last = last && id[next] == space->full[next];
    for (int i = 0; i < set->ranges; i++) {
        if (last)
            elements += trv_elements_before(sized, position + bound[2 * i + 1] * weight) -
                        trv_elements_before(sized, position + bound[2 * i] * weight);
        for (int index = bound[2 * i]; !last && index < bound[2 * i + 1]; index++)
            elements += count_elements(sized, id, axis + 1, position + index * weight);
    }
    return elements;
}

/* The elements of a product. An index of axis k has one of two lengths, length_min[k] or one more. From the last
 * axis to the first, `sum` has the elements of the product within an index of either length. */
static size_t product_elements(const trv_sized_t *sized, int product)
{
    const trv_space_t *space = &sized->program->space;
    const int *id = space->id + (size_t)product * (size_t)space->axes;
    size_t length_min[TRV_SPACE_AXES_MAX + 1] = {sized->total}, sum[2];
    if (sized->before)
        return count_elements(sized, id, 0, 0);
    if (space->axes == 1)
        return set_elements(sized, 0, sized->total, &space->sets.set[id[0]]);
    for (int axis = 0; axis < space->axes; axis++)
        length_min[axis + 1] = length_min[axis] / (size_t)space->size[axis];
    sum[0] = length_min[space->axes];
    sum[1] = sum[0] + 1;
    for (int axis = space->axes - 1; axis >= 0; axis--) {
        const trv_set_t *set = &space->sets.set[id[axis]];
        size_t next[2];
        for (int more = 0; more < 2; more++) {
            const size_t length = length_min[axis] + (size_t)more, members = (size_t)set->members;
            const size_t longer = set_elements(sized, axis, length, set) - members * length_min[axis + 1];
            next[more] = (members - longer) * sum[0] + longer * sum[1];
        }
        memcpy(sum, next, sizeof sum);
    }
    return sum[0];
}

static size_t container_bytes(const trv_sized_t *sized, const trv_container_t *container)
{
    const trv_stretch_t *stretch = sized->program->stretch;
    size_t elements = 0;
    if (container->run)
        return (trv_elements_before(sized, container->first + container->units) -
                trv_elements_before(sized, container->first)) *
               sized->element_size;
    for (int i = container->stretch; sized->table && i < container->stretch + container->stretches; i++)
        elements += sized->table[stretch[i].end] - sized->table[stretch[i].first];
    for (int i = 0; container->stretches == 0 && i < container->products; i++)
        elements += product_elements(sized, container->product + i);
    return elements * sized->element_size;
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* Fills in the table for the indices of an axis and of those after it. */
static void fill_table(trv_sized_t *sized, int axis, int64_t position, size_t before, size_t length)
{
    const trv_space_t *space = &sized->program->space;
    size_t at = 0;
    for (int i = 0; i < space->size[axis]; i++, position += space->weight[axis]) {
        const size_t end = trv_before_index(sized, axis, length, i + 1);
        if (axis == space->axes - 1)
            sized->table[position] = before + at;
        else
            fill_table(sized, axis + 1, position, before + at, end - at);
        at = end;
    }
}

/* ---- Areas ------------------------------------------------------------------------------------------------------- */

static void place_areas(trv_sized_t *sized)
{
    const trv_program_t *program = sized->program;
    int *live = sized->live, live_count = 0;
    sized->scratch_bytes = 0;
    for (int a = 0; a < program->areas; a++) {
        size_t offset = 0;
        int still_live = 0, at = 0;
        for (int i = 0; i < live_count; i++)
            if (program->area[live[i]].end >= program->area[a].begin)
                live[still_live++] = live[i];
        for (live_count = still_live; at < live_count; at++) {
            if (sized->area_offset[live[at]] - offset >= sized->area_bytes[a])
                break;
            offset = sized->area_offset[live[at]] + sized->area_bytes[live[at]];
        }
        memmove(live + at + 1, live + at, (size_t)(live_count - at) * sizeof *live);
        live[at] = a;
        live_count++;
        sized->area_offset[a] = offset;
        if (offset + sized->area_bytes[a] > sized->scratch_bytes)
            sized->scratch_bytes = offset + sized->area_bytes[a];
    }
}

static size_t message_bytes(const trv_sized_t *sized, const trv_extent_t *message)
{
    size_t bytes = 0;
    if (message->containers == 0)
        return (trv_elements_before(sized, message->first + message->units) -
                trv_elements_before(sized, message->first)) *
               sized->element_size;
    for (int c = message->location.container; c < message->location.container + message->containers; c++)
        bytes += sized->bytes[c];
    return bytes;
}

/* Computes the sizes of containers and messages from those of the units. */
static void size_program(trv_sized_t *sized)
{
    const trv_program_t *program = sized->program;
    sized->moves = 0;
    memset(sized->listed, 0, (size_t)program->works * sizeof *sized->listed);
    for (int a = 0; a < program->areas; a++) {
        const trv_area_t *area = &program->area[a];
        size_t bytes = 0;
        for (int c = area->container; c < area->container + area->containers; c++) {
            const trv_container_t *container = &program->container[c];
            sized->offset[c] = bytes;
            bytes += sized->bytes[c] = container_bytes(sized, container);
            sized->first[c] = container->run ? trv_elements_before(sized, container->first) : 0;
        }
        sized->area_bytes[a] = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    place_areas(sized);
    for (int c = 0; c < program->containers; c++)
        sized->offset[c] += sized->area_offset[program->container[c].area];
    for (int i = 0; i < program->sends; i++)
        sized->sent[i] = message_bytes(sized, &program->send[i]);
    for (int i = 0; i < program->receives; i++)
        sized->received[i] = message_bytes(sized, &program->receive[i]);
}

void trv_size(trv_sized_t *sized, size_t elements, size_t count, size_t element_size)
{
    const trv_program_t *program = sized->program;
    const size_t weights = (size_t)program->weights, before = (size_t)program->weights_before;
    sized->begin = trv_part_begin(elements, weights, before);
    sized->length = trv_part_begin(elements, weights, before + (size_t)program->weight) - sized->begin;
    sized->total = sized->length * blocks_of(program);
    sized->gap = count - sized->length;
    sized->element_size = element_size;
    if (sized->table) {
        fill_table(sized, 0, 0, 0, sized->total);
        sized->table[program->space.units] = sized->total;
    }
    size_program(sized);
}

void trv_size_blocks(trv_sized_t *sized, const size_t *count, const size_t *displacement, size_t begin, size_t end,
                     size_t element_size)
{
    const trv_program_t *program = sized->program;
    const size_t weights = (size_t)program->weights, before = (size_t)program->weights_before;
    sized->total = 0;
    for (size_t i = 0; i < blocks_of(program); i++) {
        const size_t elements = trv_chunk_part(count[i], begin, end), first = trv_part_begin(elements, weights, before);
        sized->before[i] = sized->total;
        sized->user[i] = displacement[i] + first;
        sized->total += trv_part_begin(elements, weights, before + (size_t)program->weight) - first;
    }
    sized->before[blocks_of(program)] = sized->total;
    sized->element_size = element_size;
    for (int64_t position = 0; sized->table && position <= program->space.units; position++)
        sized->table[position] = trv_find_elements(sized, position);
    size_program(sized);
}
