/*
 * Scratch memory that plans share: a plan has some while it runs, and plans that run one after the other have the same.
 *
 * What is not in use is kept for the next run as long as all of it stays below TRIVANCE_MEMORY.
 */
#ifndef TRIVANCE_MPI_OPERATIONS_SCRATCH_H
#define TRIVANCE_MPI_OPERATIONS_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* As the executor's scratch_take and scratch_give; the context is not used. Any thread, no lock. */
void *trv_mpi_scratch_take(void *context, size_t bytes);
void trv_mpi_scratch_give(void *context, void *memory, size_t bytes);

/* Frees what is kept. */
void trv_mpi_scratch_clear(void);

/* Bytes that the library keeps for plans in this process, scratch and programs, and the most there ever were. */
uint64_t trv_mpi_memory_kept(void);
uint64_t trv_mpi_memory_most(void);
/* Counts the bytes of a program that is kept (negative: given up). */
void trv_mpi_memory_count(int64_t bytes);

#endif
