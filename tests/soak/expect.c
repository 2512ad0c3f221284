/*
 * Expected results. They are computed locally from the contributions of all ranks: contributions are added by the MPI
 * library's PMPI_Reduce_local, and blocks are copied.
 */
#include "call.h"

#include <stdlib.h>

/* Combines the contributions in the order of ranks, because an operation may not commute. */
static void reduce(const call_t *call, size_t first, void *output)
{
    const int last = call->giver_ranks - 1;
    char *other = malloc(call->out * call->element.extent + 1);
    call_input(call, last, first, call->out, output);
    for (int giver = last - 1; giver >= 0; giver--) {
        call_input(call, giver, first, call->out, other);
        PMPI_Reduce_local(other, output, (int)call->out, call->element.type, call->element.op);
    }
    free(other);
}

void call_expect(const call_t *call, void *output)
{
    const data_t input = call->kind->input;
    const bool own_block = input == ALL_BLOCKS || input == ROOT_ALL_BLOCKS; /* of the input of other ranks */
    const size_t first = own_block ? call->offset : 0;
    char *at = output;
    if (call->out == 0)
        return;
    if (call->kind->reduces) {
        reduce(call, first, output);
    } else if (input == ROOT_BLOCK || input == ROOT_ALL_BLOCKS) {
        call_input(call, call->root, first, call->out, output);
    } else {
        for (int giver = 0; giver < call->giver_ranks; giver++) {
            const size_t count = (size_t)call->counts[giver];
            call_input(call, giver, first, count, at);
            at += count * call->element.extent;
        }
    }
}
