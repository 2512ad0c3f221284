/*
 * Shared by the tests of star chains: checks chains by counting their sums one by one.
 */
#ifndef TRIVANCE_TESTS_STARS_CHECK_H
#define TRIVANCE_TESTS_STARS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trivance/torus.h>

#include "search/stars/stars.h"

static inline trv_torus_t torus_of(const char *text)
{
    trv_torus_t torus;
    assert_int_equal(trv_torus_parse(text, &torus), 0);
    return torus;
}

static inline int plus(const trv_torus_t *torus, int rank, const int *at)
{
    int c[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, rank, c);
    for (int d = 0; d < torus->dims; d++)
        c[d] = ((c[d] + at[d]) % torus->size[d] + torus->size[d]) % torus->size[d];
    return trv_torus_rank(torus, c);
}

/* Counts how often each rank is the sum of one vector, or none, of each step in `steps` from step k on. */
static inline void count_sums(const trv_star_chain_t *stars, int k, unsigned steps, int rank, int *times)
{
    if (k == stars->steps) {
        times[rank]++;
        return;
    }
    count_sums(stars, k + 1, steps, rank, times);
    for (int i = 0; (steps >> k & 1) && i < stars->step[k].vectors; i++)
        count_sums(stars, k + 1, steps, plus(&stars->torus, rank, stars->step[k].vector[i].at), times);
}

static inline bool counts_between(const trv_star_chain_t *stars, int least, int most)
{
    int *times = calloc((size_t)stars->torus.ranks, sizeof *times);
    bool all = true;
    assert_non_null(times);
    count_sums(stars, 0, UINT32_MAX, 0, times);
    for (int r = 0; r < stars->torus.ranks; r++)
        all = all && times[r] >= least && times[r] <= most;
    free(times);
    return all;
}

/* Whether the port moves a message from `at` towards 0, the shorter way. */
static inline bool port_serves(const trv_torus_t *torus, const trv_star_vector_t *vector)
{
    int d = trv_port_dimension(vector->port), there = vector->at[d], size = torus->size[d];
    return d < torus->dims && there && (2 * abs(there) == size || (there > 0) == (trv_port_sign(vector->port) < 0));
}

static inline void expect_ports(const trv_star_chain_t *stars)
{
    for (int k = 0; k < stars->steps; k++) {
        unsigned used = 0;
        for (int i = 0; i < stars->step[k].vectors; i++) {
            assert_true(port_serves(&stars->torus, &stars->step[k].vector[i]));
            assert_false(used >> stars->step[k].vector[i].port & 1);
            used |= 1u << stars->step[k].vector[i].port;
        }
    }
}

/* Whether vectors i, i + 1, … of a step can be assigned different ports, by trying all assignments. */
static inline bool ports_exist(const trv_torus_t *torus, trv_star_step_t *step, int i, unsigned used)
{
    bool exist = i == step->vectors;
    for (int p = 0; p < 2 * torus->dims && !exist; p++) {
        step->vector[i].port = p;
        exist = !(used >> p & 1) && port_serves(torus, &step->vector[i]) &&
                ports_exist(torus, step, i + 1, used | 1u << p);
    }
    return exist;
}

#endif
