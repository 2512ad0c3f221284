/*
 * The paper's closed forms: the exact sums of its appendix B ("Calculations of transmission delay bounds") and the
 * limits of its tables 1 (rings) and 2 (tori, n to infinity). This file has the parts that several algorithms share;
 * the file of each algorithm defines its congestion and the limit of its Theta.
 *
 * With a the side of the torus, D its dimensions, r the radix of the algorithm, s = log_r a and c(k) the congestion
 * that the appendix gives for the k-th step along a dimension:
 *
 *     bandwidth-optimal   Theta = f * sum over d < D, k < s of c(k) / r^(1 + d + D k)
 *                         f = 2 for radix 3, whose streams use both ports of a dimension; 1 for radix 2
 *     latency-optimal     Theta = D * sum over k < s of c(k)        radix 3: D streams of m/D each
 *                         Theta = D^2 * sum over k < s of c(k)      radix 2: one stream of m
 *
 * (The appendix gives the latency-optimal sums relative to m, the table relative to m/D, as Theta is defined, hence one
 * more factor D.) If the side is not a power of the radix, there are no sums; they stay NAN.
 */
#ifndef TRIVANCE_ALGORITHMS_PAPER_H
#define TRIVANCE_ALGORITHMS_PAPER_H

#include <math.h>

#include <trivance/algorithms.h>

typedef double trv_congestion_t(int step);

/* The sums for algorithms that send whole vectors, and for those with a reduce-scatter and an allgather. */
void trv_paper_whole(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper);
void trv_paper_scatter(int side, int dims, int radix, trv_congestion_t *congestion, trv_paper_cost_t *paper);

/* All closed forms of Ring and Bucket, whose busiest link carries the minimum, (1 - 1/n) m/D. The paper rounds this to
 * 1, and likewise Delta = 1 - 1/n of all bandwidth-optimal algorithms; it rounds Lambda = 2 (n - 1) / log3 n of Ring to
 * 2n / log3 n. */
void trv_paper_neighbours(int side, int dims, trv_paper_cost_t *paper);

#endif
