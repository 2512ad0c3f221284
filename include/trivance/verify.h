/*
 * The verifier: proves or disproves what a schedule claims, without moving data.
 *
 * It proves:
 *   - every message has both sides, in the same step, with the same units;
 *   - its peer and port exist, the port leads towards the peer, and the peer is not the sender;
 *   - on a network with cuts (trv_verify_on): no message's route passes a link that is cut;
 *   - on a network that does not forward: every message crosses one link;
 *   - there are no more messages per rank, port, stream and step than declared;
 *   - no receive overwrites what is sent or received in the same step, and no unit is read before it is written;
 *   - there is no deadlock: a rank enters a step when its sends and receives of the stream's previous step are
 *     complete, so if both sides are in one step, every rank proceeds; otherwise the ranks that would wait for each
 *     other are named;
 *   - the claimed symmetry holds for peers, ports and sizes;
 *   - at the end every rank has every contribution exactly once (with TRV_COVERS, at least once) in every unit due to
 *     it: all units after an AllReduce or AllGather, its own after a Reduce-Scatter;
 *   - consistency: all ranks' results are the same expression, where a + b = b + a, but (a + b) + c differs from
 *     a + (b + c), and one joint combine of three from two combines of two.
 *
 * Stability: stable.
 */
#ifndef TRIVANCE_VERIFY_H
#define TRIVANCE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum trv_verify_method {
    TRV_VERIFY_AUTO,       /* exhaustive if affordable, otherwise random */
    TRV_VERIFY_EXHAUSTIVE, /* a count per contribution, for every rank and unit: a proof */
    TRV_VERIFY_RANDOM      /* sums of random 64-bit values: wrong with probability 2^-60 or less (schedules that only
                              cover are always verified exhaustively: sums cannot distinguish once from twice) */
} trv_verify_method_t;

#define TRV_FAULT_TEXT_MAX 512

typedef struct trv_verdict {
    size_t size;                    /* of this struct, as the caller knows it: begin with {TRV_VERDICT} */
    bool valid;                     /* all claims of the schedule hold, its consistency claim included */
    bool consistent;                /* all ranks' results are the same expression, claimed or not */
    trv_verify_method_t method;     /* the one used */
    int64_t ranks, units, messages; /* checked; units and messages of all streams */
    double seconds;
    /* If !valid: the first fault in the order of step, stream, rank, also in words. -1 means not applicable: a step of
     * -1 is after the last one (a contribution is missing, results differ). For a duplicate contribution they are the
     * step in which, and the rank at which, it was added again. */
    int fault_rank, fault_stream, fault_step;
    int64_t fault_unit;
    char fault[TRV_FAULT_TEXT_MAX];
} trv_verdict_t;
#define TRV_VERDICT TRV_SIZED(trv_verdict_t)

/* Returns 0 if the check ran, whatever the verdict, and a negative error if it could not (TRV_ERR_MEMORY;
 * TRV_ERR_UNSUPPORTED if one block of all ranks alone would take more than 12 GiB). `progress` may be NULL;
 * otherwise it is called periodically with a fraction 0 … 1, and ends the check with TRV_ERR_CANCELLED if it does
 * not return 0. */
TRV_API int trv_verify(const trv_schedule_t *schedule, trv_verify_method_t method, trv_verdict_t *verdict,
                       int (*progress)(void *context, double fraction), void *context);

/* The same on a network whose torus is the schedule's; of it only cut links and whether it forwards matter.
 * TRV_ERR_ARGUMENT if the network has another torus, or links that do not exist. */
TRV_API int trv_verify_on(const trv_schedule_t *schedule, const trv_network_t *network, trv_verify_method_t method,
                          trv_verdict_t *verdict, int (*progress)(void *context, double fraction), void *context);

#ifdef __cplusplus
}
#endif
#endif
