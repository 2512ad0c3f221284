/*
 * Chakra execution traces (MLCommons, schema/protobuf/et_def.proto), which ASTRA-sim reads: one file for each rank.
 * docs/export-formats.md describes the mapping.
 */
#ifndef TRIVANCE_FORMATS_CHAKRA_H
#define TRIVANCE_FORMATS_CHAKRA_H

#include <stdio.h>

#include "formats/operations.h"

/* Maximum number of ranks, each of which has a file. */
#define TRV_CHAKRA_RANKS_MAX 16384

/* Measures a schedule, and checks that it fits into the format: TRV_ERR_UNSUPPORTED for too many ranks or steps,
 * TRV_ERR_ARGUMENT for an alpha that is not a whole number of microseconds.
 * In every case the caller calls trv_operations_clear. */
int trv_chakra_create(trv_operations_t *operations, const trv_schedule_t *schedule, uint64_t vector_bytes,
                      double alpha_ns, trv_span_t part);

/* The rank's number in ASTRA-sim, where the first dimension is the fastest; in Trivance it is the last. */
int trv_chakra_number(const trv_torus_t *torus, int rank);

/* Writes the trace of a rank. The caller checks the stream for errors (ferror). */
int trv_chakra_write(trv_operations_t *operations, int rank, FILE *out);

#endif
