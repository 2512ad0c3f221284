/*
 * Frees a GOAL program.
 */
#include "simulate/goal/goal.h"

#include <stdlib.h>

void trv_goal_clear(trv_goal_t *goal)
{
    free(goal->op);
    free(goal->dependency);
    free(goal->name);
    *goal = (trv_goal_t){0};
}
