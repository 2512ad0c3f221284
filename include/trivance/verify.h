/*
 * The verifier: proves or disproves what a schedule claims, without moving data.
 *
 * Proved are: every message has both sides, in the same step, with the same units on both; the peer exists, the port
 * exists, leads towards it, and the message does not go to its sender; no more messages per rank, port, stream and
 * step than declared; nothing received overwrites what is sent or received in the same step, and nothing is read that
 * was never put there; no deadlock (a rank enters a step when its sends and receives of the stream's previous step
 * are complete: with both sides in one step, every rank gets through; otherwise the ranks that would wait for each
 * other are named); the claimed symmetry, as far as peers, ports and sizes go; and that at the end every rank has
 * every contribution exactly once (or at least once, TRV_COVERS) in every unit it is to have: all units after an
 * AllReduce or AllGather, its own after a Reduce-Scatter. Consistency: all ranks' results are the same expression,
 * where a + b = b + a but (a + b) + c differs from a + (b + c), and one joint combine of three from two combines of
 * two.
 */
#ifndef TRIVANCE_VERIFY_H
#define TRIVANCE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum trv_verify_method {
    TRV_VERIFY_AUTO,       /* exhaustive while it is affordable, else random */
    TRV_VERIFY_EXHAUSTIVE, /* a count per contribution, for every rank and unit: a proof */
    TRV_VERIFY_RANDOM      /* sums of random 64-bit values: wrong with probability 2^-60 or less (schedules that only
                              cover are always verified exhaustively: sums cannot tell once from twice) */
} trv_verify_method_t;

#define TRV_FAULT_TEXT_MAX 512

typedef struct trv_verdict {
    bool valid;                     /* everything the schedule claims is true (its consistency claim included) */
    bool consistent;                /* all ranks' results are the same expression, claimed or not */
    trv_verify_method_t method;     /* the one used */
    int64_t ranks, units, messages; /* checked; units and messages of all streams */
    double seconds;
    /* Where !valid: the first fault in the order of step, stream, rank, and in words. -1 where it does not apply: a
     * step of -1 is after the last one (a contribution that is missing, results that differ). For a contribution that
     * is there twice it is the step in which, and the rank at which, it was added again. */
    int fault_rank, fault_stream, fault_step;
    int64_t fault_unit;
    char fault[TRV_FAULT_TEXT_MAX];
} trv_verdict_t;

/* 0 when the check ran, whatever the verdict; negative when it could not (memory; TRV_ERR_UNSUPPORTED where one block
 * of all ranks alone would take more than 12 GiB). `progress` may be NULL; else it is called
 * with a fraction 0 … 1 now and then. */
TRV_API int trv_verify(const trv_schedule_t *schedule, trv_verify_method_t method, trv_verdict_t *verdict,
                       void (*progress)(void *context, double fraction), void *context);

#ifdef __cplusplus
}
#endif
#endif
