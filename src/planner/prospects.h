/*
 * Prospects: the schedules that are worth a simulation on a network whose ranks differ, because it has lines, slow or
 * cut links. The torus of the same sizes that has none of these is called the *uniform torus*.
 */
#ifndef TRIVANCE_PLANNER_PROSPECTS_H
#define TRIVANCE_PLANNER_PROSPECTS_H

#include "planner/sample.h"

#define TRV_PROSPECTS_MAX 256

typedef struct trv_prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    double bound_ns, likely_ns; /* lower bound on the time, and likely time */
    bool listed;                /* an algorithm of the table; no choice should be slower than one of these */
    bool from_uniform;          /* a choice for the uniform torus, from which its likely time follows */
    bool is_sampled;
    trv_sample_t sample; /* valid if is_sampled and sample_error is 0 */
    int sample_error;    /* error of sampling: TRV_ERR_UNSUPPORTED if there is no such schedule */
    /* Set by nonuniform.c, which simulates prospects: */
    bool costly; /* simulating it is too much work: left out, unless there is no other */
    bool examined;
} trv_prospect_t;

typedef struct trv_prospects {
    int count; /* if there is a choice for the uniform torus, the best one comes first */
    trv_prospect_t prospect[TRV_PROSPECTS_MAX];
} trv_prospects_t;

/* Finds the choices for the uniform torus, candidates made for lines, and all algorithms of the table. */
int trv_prospects_find(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospects_t *prospects);

/* Fills in prospect->sample, once. */
int trv_prospect_sample(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospect_t *prospect);

/* The work of one choice, reading included, in simulations of the planner's hops_max. */
#define TRV_PROSPECT_WORK 10

/* Whether reading and simulating a schedule of this model is more work than a whole choice may take. */
bool trv_prospect_is_costly(const trv_planner_t *planner, const trv_model_t *model);

/* Whether simulating takes little work, as on some hundreds of nodes. A listed prospect that is cheap is left out only
 * if a lower bound shows that it cannot win. */
bool trv_prospect_is_cheap(const trv_planner_t *planner, const trv_sample_t *sample);

/* The model of an algorithm that is made for lines; NULL if there is none of this name. */
const trv_model_t *trv_prospect_model(const trv_planner_t *planner, const char *name);

/* For qsort: by likely time, the smallest first. */
int trv_prospect_order(const void *a, const void *b);

#endif
