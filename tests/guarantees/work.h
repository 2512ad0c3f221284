/*
 * One call with its buffers, its values and its expected result, and the expectations of the scenarios.
 */
#ifndef TRIVANCE_TESTS_GUARANTEES_WORK_H
#define TRIVANCE_TESTS_GUARANTEES_WORK_H

#include "front.h"

#define expect(condition) work_expect(condition, #condition, __FILE__, __LINE__)
/* Prints a failed condition with the reason of the last error, and ends the program. */
void work_expect(bool condition, const char *text, const char *file, int line);

enum { COLLECTIVES = TRV_ALLTOALL + 1 };

static inline bool is_rooted(trv_collective_t c) { return c >= TRV_BROADCAST && c <= TRV_GATHER; }

typedef struct work {
    front_comm_t *comm;
    front_task_t *task;
    call_t call;
    int rank, ranks, salt; /* salt: of the values */
    bool in_place;         /* on this rank */
    int64_t *input, *output;
    size_t in, out; /* elements; 0 on a rank that has no input or no result */
} work_t;

/* Returns a call with buffers, which all ranks create in the same order. Of a call with a root, only the root is in
 * place. */
work_t work_create(front_comm_t *comm, trv_collective_t collective, form_t form, size_t count, int root, bool in_place);
/* Fills the buffers with the values of `salt`, in the first run 0, and starts the call. */
void work_start(work_t *work, int salt);
/* Expects the right result, the bytes after it and the input (unless in place) unchanged. */
void work_check(const work_t *work);
void work_free(work_t *work);
/* All of this, with blocking completion. */
void work_run(front_comm_t *comm, trv_collective_t collective, form_t form, size_t count, int root, bool in_place);

uint64_t work_hash(const void *data, size_t bytes);
/* Whether all ranks pass the same bytes: by a hash. */
bool work_same(front_comm_t *comm, const void *data, size_t bytes);

#endif
