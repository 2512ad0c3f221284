/*
 * The harness of the MPI test programs: expectations are counted on every rank and summed at the end, so that one
 * launch covers many cases, and no rank waits for one that has failed.
 */
#ifndef TRIVANCE_TESTS_MPI_HARNESS_H
#define TRIVANCE_TESTS_MPI_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

extern MPI_Comm test_comm;        /* the communicator under test: MPI_COMM_WORLD, or what test_use has set */
extern int test_rank, test_ranks; /* of test_comm */

void test_begin(int *argc, char ***argv);

/* Sets the communicator under test; the caller belongs to it. */
void test_use(MPI_Comm comm);

/* Number of expectations of this rank so far. */
long test_expectations(void);

/* Counts a failure and prints the sentence (the first few of a rank) unless `holds`. Returns `holds`. */
bool expect(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Expects that the call returned `class`, and that trv_last_error() contains `words` if that is not MPI_SUCCESS. */
bool expect_class(int got, int class, const char *words, const char *what);

/* Expects the same bytes on all ranks of the communicator. */
bool expect_identical(const void *data, size_t bytes, MPI_Comm comm, const char *what);

/* Values that differ by rank and position, and whether a buffer has their sums over all ranks of the communicator. */
void test_fill(int *buffer, int count, int salt);
bool expect_sums(const int *buffer, int count, int salt, const char *what);

/* Ends MPI. The exit code: 1 if any rank counted a failure, or if nothing was expected at all. */
int test_end(void);

/* A pseudo-random number that is the same on all ranks and in all runs. */
uint64_t test_random(uint64_t seed);

/* A barrier that polls and yields. */
void test_barrier(MPI_Comm comm);

/* The number of mappings of a node's shared memory in this process. */
int test_mapped_nodes(void);

#endif
