/*
 * The interface of the front ends under test, of which one is linked: front_mpi.c has the functions TRV_ or, with
 * FRONT_DROP_IN, those of MPI, which a preload library or the component executes; front_net.c has libtrivance_net.
 *
 * A call is a task, which all ranks create in the same order, start, complete and free.
 * Functions that return int return 0 or an error of the front end.
 */
#ifndef TRIVANCE_TESTS_GUARANTEES_FRONT_H
#define TRIVANCE_TESTS_GUARANTEES_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/reduce.h>
#include <trivance/schedule.h>

typedef enum form {
    BLOCKING,
    NONBLOCKING,
    REUSED /* a persistent call of MPI, or a plan of libtrivance_net */
} form_t;

typedef struct call {
    trv_collective_t collective;
    form_t form;
    trv_type_t type; /* an integer of TRV_INT8 to TRV_UINT64, or TRV_DOUBLE */
    trv_op_t op;     /* TRV_SUM, TRV_MAX or TRV_BXOR */
    const void *send;
    void *receive; /* in place: the same as `send` */
    size_t count;  /* of a vector or of one rank's block */
    int root;
} call_t;

typedef struct front_comm front_comm_t;
typedef struct front_task front_task_t;

typedef struct front_limits {
    bool can_restart;       /* persistent calls: not those of MPICH itself, which then use earlier data */
    bool checks_arguments;  /* those that MPI libraries do not examine, too; and the misuse of a task is an error */
    bool can_set_algorithm; /* front_set */
    bool compares_ranks;    /* the arguments of the first call with a signature must be the same on all ranks */
    bool has_threads;       /* threads may make calls at the same time */
} front_limits_t;
extern front_limits_t front_limits;

void front_begin(int *argc, char ***argv);
void front_end(void);
/* A communicator of all ranks on which no call has been made. After an error that breaks all communicators, one of a
 * new job. NULL if another rank has broken that job already. */
front_comm_t *front_fresh(bool broken);
/* Ordered by key; NULL on a rank with a negative color. */
front_comm_t *front_split(front_comm_t *comm, int color, int key);
/* The same ranks in the same order: by MPI_Comm_dup where there is one. */
front_comm_t *front_duplicate(front_comm_t *comm);
void front_free(front_comm_t *comm);
int front_rank(const front_comm_t *comm);
int front_size(const front_comm_t *comm);
int front_set(front_comm_t *comm, const char *torus, const char *algorithm);
int front_barrier(front_comm_t *comm);
/* Sends a word, or receives it. */
void front_send(front_comm_t *comm, int peer);
void front_receive(front_comm_t *comm, int peer);
/* The reason of the last error of this thread, or "". */
const char *front_reason(void);

int front_create(front_task_t **task, front_comm_t *comm, const call_t *call);
int front_start(front_task_t *task);
int front_test(front_task_t *task, bool *done);
int front_wait(front_task_t *task);
int front_destroy(front_task_t *task);

#endif
