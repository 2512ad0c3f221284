/*
 * The paper's closed forms: the exact sums of its appendix B ("Calculations of transmission delay bounds") and the
 * limits of its tables 1 (rings) and 2 (tori, n to infinity). Of what is common to all algorithms of a kind; each says
 * in its own file what its congestion is and to which limit Theta goes.
 *
 * With a the side of the torus, D its dimensions, r the radix of the algorithm, s = log_r a and c(k) the congestion
 * that the appendix gives for the k-th step along a dimension:
 *
 *     bandwidth-optimal   Theta = f * sum over d < D, k < s of c(k) / r^(1 + d + D k)
 *                         f = 2 for radix 3, whose streams use both ports of a dimension; 1 for radix 2
 *     latency-optimal     Theta = D * sum over k < s of c(k)        radix 3: D streams of m/D each
 *                         Theta = D^2 * sum over k < s of c(k)      radix 2: one stream of m
 *
 * (The appendix writes the latency-optimal sums relative to m, the table relative to m/D as Theta is defined: one
 * more D.) Where the side is no power of the radix there are no sums; they are left as they are, NAN.
 */
#ifndef TRIVANCE_ALGORITHMS_PAPER_H
#define TRIVANCE_ALGORITHMS_PAPER_H

#include <math.h>

#include <trivance/algorithms.h>

typedef double trv_congestion_t(int step);

/* The sums of whole vectors, and of a reduce-scatter and allgather. */
void trv_paper_whole(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper);
void trv_paper_scatter(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper);

/* All of Ring and Bucket: they move the least that is possible over the least busy links, (1 - 1/n) m/D. The paper
 * rounds that to 1, and likewise Delta = 1 - 1/n of all bandwidth-optimal algorithms and Lambda = 2 (n - 1) / log3 n of
 * Ring to 2n / log3 n. */
void trv_paper_neighbours(int side, int dims, trv_paper_cost_t *paper);

#endif
