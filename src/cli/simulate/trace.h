/*
 * A simulation as a Chrome trace (JSON) for ui.perfetto.dev and chrome://tracing: a process per rank, with a thread per
 * stream for its steps and a thread per port for the packets on the link.
 */
#ifndef TRIVANCE_CLI_SIMULATE_TRACE_H
#define TRIVANCE_CLI_SIMULATE_TRACE_H

#include <stdint.h>

#include <trivance/simulate.h>

#define CLI_TRACE_RANKS_MAX  64
#define CLI_TRACE_EVENTS_MAX (UINT64_C(1) << 20)

/* TRV_ERR_UNSUPPORTED if the torus has too many ranks. */
int cli_trace_check(const trv_torus_t *torus);

/* Simulates the schedule and writes every event to the file at `path`, which appears only when it is complete.
 * `packet_hops` is the value of an earlier simulation. *events is the number of steps and packets that were written.
 * TRV_ERR_UNSUPPORTED if there would be too many events. */
int cli_trace_write(const char *path, const trv_schedule_t *schedule, const trv_simulate_options_t *options,
                    uint64_t vector_bytes, uint64_t packet_hops, uint64_t *events);

#endif
