/*
 * GOAL programs (Group Operation Assembly Language; LogGOPSim, Hoefler, Schneider, Lumsdaine, 2010) on the packet
 * simulator: every rank sends, receives and computes as its dependencies allow.
 */
#ifndef TRIVANCE_SIMULATE_GOAL_RUN_H
#define TRIVANCE_SIMULATE_GOAL_RUN_H

#include <trivance/simulate.h>

#include "simulate/goal/goal.h"

/* Runs the program on a torus of as many ranks, from time 0 until its last operation is complete: a send when it is
 * injected, a receive when its message has arrived. The k-th send of a rank to another with some tag is what the k-th
 * receive for it gets, in the order in which they are begun.
 *
 * A send goes the dimension-order way: ascending dimensions, each the shorter way, half way round in direction +. Where
 * there are several shortest ways, `nic` chooses: the message leaves by that port (trv_port) if one of them does. Along
 * lines, and in a dimension in which a link is cut (trv_rows_t), it goes the one way there is. With
 * P ports, `nic` P * (1 + i) + p is port p and injection by the interface of port i (trv_message_t.nic). A message to
 * its own rank arrives at once. `cpu` is not used: dependencies alone order a rank's operations.
 *
 * What requires a message begins 0.08 ns after it, as one step of a schedule does after another.
 * options->alpha_ns is paid once for every set of operations of a rank that wait for the same operations, if there is a
 * send or a receive among them; message_overhead_ns is paid for every send, by a rank one after another in the order in
 * which its sends begin; gamma_ns is not used. For alpha in the program itself (as `trivance export` writes it) pass 0.
 *
 * TRV_ERR_INVALID where operations wait for one another, a send has no receive or the other way round, or the two differ
 * in size: the sentence names rank and line. */
int trv_goal_simulate(const trv_goal_t *goal, const trv_torus_t *torus, const trv_simulate_options_t *options,
                      trv_simulation_t *result);

#endif
