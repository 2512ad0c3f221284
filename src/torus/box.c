/*
 * Finds the torus or mesh that a set of nodes forms.
 *
 * A set is a box if its size is the product of the numbers of coordinates that occur in each dimension. The coordinates
 * of a ring form a ring themselves if every gap between neighbours is the shorter way between them; otherwise they are
 * a line that begins behind the widest gap: 6, 7, 0 and 1 of 8 begin at 6. The routes between the nodes stay in the box
 * if every dimension is a whole ring, an interval of a line of the machine, or an interval of a ring whose ends are
 * less than half of the ring apart.
 */
#include "torus/box.h"

#include <stdlib.h>

#include "base/error.h"
#include "torus/torus.h"

/* The coordinates of a set in one dimension, in their order around the ring, from the one behind the widest gap. */
typedef struct side {
    int count, first;
    int gap_max; /* between neighbours; 1 in an interval */
    int around;  /* the gap from the last to the first, around the ring */
} side_t;

static int side_measure(const trv_torus_t *machine, int nodes, const int *node, int d, side_t *side)
{
    const int size = machine->size[d];
    bool *taken = calloc((size_t)size, sizeof *taken);
    if (!taken)
        return trv_fail_memory();
    int lowest = size, highest = 0;
    for (int i = 0; i < nodes; i++) {
        const int at = trv_torus_coordinate(machine, node[i], d);
        taken[at] = true;
        lowest = at < lowest ? at : lowest;
        highest = at > highest ? at : highest;
    }
    *side = (side_t){.count = 1, .first = lowest, .gap_max = 1, .around = size - highest + lowest};
    for (int c = lowest + 1, before = lowest; c <= highest; c++) {
        if (!taken[c])
            continue;
        int gap = c - before;
        if (gap > side->around && !trv_torus_is_line(machine, d)) {
            const int other = side->around;
            side->around = gap;
            side->first = c;
            gap = other;
        }
        side->gap_max = gap > side->gap_max ? gap : side->gap_max;
        before = c;
        side->count++;
    }
    free(taken);
    return TRV_OK;
}

/* Two opposite nodes are a ring, too: both ways between them are equally long. */
static bool side_is_ring(const side_t *side, int size)
{
    return 2 * side->around < size || (side->count == 2 && 2 * side->around == size);
}

int trv_box_find(trv_box_t *box, const trv_torus_t *machine, int nodes, const int *node)
{
    int size[TRV_DIMS_MAX] = {1}, dims = 0;
    unsigned lines = 0;
    long long product = 1;
    *box = (trv_box_t){.enclosed = true};
    for (int d = 0; d < machine->dims && product <= nodes; d++) {
        side_t side = {0};
        int rc = side_measure(machine, nodes, node, d, &side);
        if (rc)
            return rc;
        product *= side.count;
        if (side.count == 1)
            continue;
        const bool on_line = trv_torus_is_line(machine, d), ring = !on_line && side_is_ring(&side, machine->size[d]);
        const bool enclosed = ring ? side.count == machine->size[d]
                                   : side.gap_max == 1 && (on_line || 2 * (side.count - 1) < machine->size[d]);
        box->enclosed = box->enclosed && enclosed;
        lines |= (unsigned)!ring << dims;
        box->first[dims] = ring || on_line ? 0 : side.first;
        box->dimension[dims] = d;
        size[dims++] = side.count;
    }
    if (product != nodes)
        return 0;
    int rc = trv_torus_init(&box->torus, dims > 0 ? dims : 1, size);
    if (!rc)
        rc = trv_torus_set_lines(&box->torus, lines);
    return rc ? rc : 1;
}
