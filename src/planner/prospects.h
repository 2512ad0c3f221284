/*
 * What is worth a simulation where ranks are not alike, before any is simulated.
 */
#ifndef TRIVANCE_PLANNER_PROSPECTS_H
#define TRIVANCE_PLANNER_PROSPECTS_H

#include "planner/look.h"

#define TRV_PROSPECTS_MAX 256

typedef struct trv_prospect {
    char name[TRV_ALGORITHM_NAME_MAX];
    double least_ns, likely_ns; /* what it takes at least, and about */
    bool listed;                /* an algorithm of the table, than which no plan should be slower */
    bool near;                  /* only from the torus without lines and links is it known what is likely */
    bool looked;
    trv_look_t look; /* at its schedule, … */
    int refusal;     /* … or why there is none: TRV_ERR_UNSUPPORTED */
    /* Of those who simulate them: */
    bool dear; /* comes after the others, or is not simulated */
    bool examined;
    double simulated_ns; /* its time, or what that is above; 0: it was not */
} trv_prospect_t;

typedef struct trv_prospects {
    int count; /* the first is what a plan must not be slower than: the best for the torus without lines and links */
    trv_prospect_t prospect[TRV_PROSPECTS_MAX];
} trv_prospects_t;

/* The plans for the torus without lines and links, what is made for lines, and the algorithms of the table. */
int trv_prospects_find(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospects_t *prospects);

/* Looks at its schedule, once. */
int trv_prospect_look(const trv_planner_t *planner, uint64_t vector_bytes, trv_prospect_t *prospect);

/* On some hundreds of nodes: there nothing that is listed is left out but for a true bound. */
bool trv_prospect_is_cheap(const trv_planner_t *planner, const trv_look_t *look);

/* The model of what is made for lines; NULL where there is none. */
const trv_model_t *trv_prospect_model(const trv_planner_t *planner, const char *name);

/* Its time; 0 where there is none. */
double trv_prospect_model_ns(const trv_planner_t *planner, const char *name, uint64_t vector_bytes);

/* For qsort: what is likely to be faster comes first. */
int trv_prospect_order(const void *a, const void *b);

#endif
