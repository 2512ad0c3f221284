/*
 * GOAL programs (Group Operation Assembly Language; LogGOPSim, Hoefler, Schneider, Lumsdaine, 2010) on the packet
 * simulator: every rank sends, receives and computes as its dependencies allow.
 */
#ifndef TRIVANCE_SIMULATE_GOAL_RUN_H
#define TRIVANCE_SIMULATE_GOAL_RUN_H

#include <trivance/simulate.h>

#include "simulate/goal/goal.h"

/* Runs the program on a torus with the same number of ranks, from time 0 until its last operation is complete: a
 * send when it is injected, a receive when its message has arrived. Sends and receives with the same sender,
 * receiver and tag match in the order in which they begin: the k-th send with the k-th receive.
 *
 * A message takes dimension-order routing: ascending dimensions, in each the shorter direction, and direction + if both
 * are equally long. If there are several shortest paths, `nic` chooses: the message leaves by that port (trv_port) if
 * one of them begins with it. Along lines, and in a dimension in which a link is cut (trv_rows_t), it takes the only
 * path. With P ports, `nic` = P * (1 + i) + p means port p and injection by the interface of port i
 * (trv_message_t.nic). A message to its own rank arrives at once. `cpu` is not used: only dependencies order the
 * operations of a rank.
 *
 * An operation that requires a message begins 0.08 ns after it, like the next step of a schedule. options->alpha_ns is
 * paid once for every set of operations of a rank that wait for the same operations, if there is a send or a receive
 * among them. message_overhead_ns is paid for every send; a rank pays one after another, in the order in which its
 * sends begin. gamma_ns is not used. If alpha is in the program itself, as `trivance export` writes it, pass 0.
 *
 * TRV_ERR_INVALID if operations wait for each other in a cycle, a send has no receive or a receive no send, or the two
 * differ in size; the message names rank and line. */
int trv_goal_simulate(const trv_goal_t *goal, const trv_torus_t *torus, const trv_simulate_options_t *options,
                      trv_simulation_t *result);

#endif
