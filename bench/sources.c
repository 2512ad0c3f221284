/*
 * The time that rank 0 needs to find the network from the records of 1,024 ranks on 16x8x8 nodes, for each source
 * (src/topology/sources). The goal is at most 1 ms. Exit status 1 if it is missed.
 *
 *     sources
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "topology/sources/sources.h"

enum { X = 8, Y = 8, Z = 16, RANKS = X * Y * Z, ROUNDS = 101 };
#define GOAL_MS 1.0

static const char *const side_name[] = {"slurm", "slurm-mesh", "fujitsu", "pmix"};

/* Embeds a ring of `size` nodes in two rows. */
static void fold(int position, int size, int32_t *along, int32_t *across)
{
    *along = position < size / 2 ? position : size - 1 - position;
    *across = position >= size / 2;
}

static trv_rank_record_t *records_create(int side)
{
    trv_rank_record_t *record = calloc(RANKS, sizeof *record);
    for (int r = 0; record && r < RANKS; r++) {
        const int at[] = {r % X, r / X % Y, r / X / Y}, size[] = {X, Y, Z};
        snprintf(record[r].host, sizeof record[r].host, "node%04d", r);
        if (side < 2) {
            snprintf(record[r].slurm.address, sizeof record[r].slurm.address, "torus1:%d:%d:%d.node%04d", at[0], at[1],
                     at[2], r);
            snprintf(record[r].slurm.pattern, sizeof record[r].slurm.pattern, "torus:x:y:z.node");
        } else if (side == 2) {
            trv_fujitsu_record_t *own = &record[r].fujitsu;
            *own = (trv_fujitsu_record_t){.present = 1, .dims = 3, .shape = {X, Y, Z}, .has_tofu = 1};
            for (int d = 0; d < 3; d++) {
                own->logical[d] = at[d];
                fold(at[d], size[d], &own->tofu[d], &own->tofu[3 + d]);
            }
        } else {
            record[r].pmix = (trv_pmix_record_t){.present = 1, .locations = 1, .dims = 3, .shape_dims = 3};
            for (int d = 0; d < 3; d++) {
                record[r].pmix.at[2 - d] = (uint32_t)at[d];
                record[r].pmix.shape[2 - d] = (uint32_t)size[d];
            }
        }
    }
    return record;
}

static double sample(void *context, int side)
{
    trv_rank_record_t **record = context;
    const trv_source_options_t options = {.slurm_dims = side == 0 ? "other=4x4x4,torus1=8x8x16" : NULL};
    trv_found_t found;
    const double start_ns = trv_now_ns();
    const int code = trv_discover(&found, record[side], RANKS, &options, NULL, NULL);
    const double ms = (trv_now_ns() - start_ns) / 1e6;
    if (code != 1 || found.part.ranks != RANKS) {
        fprintf(stderr, "sources: %s describes no torus: %s\n", side_name[side], trv_last_error());
        exit(2);
    }
    trv_found_clear(&found);
    return ms;
}

int main(void)
{
    enum { SIDES = MEASURE_COUNT(side_name) };
    trv_rank_record_t *record[SIDES];
    double median[SIDES];
    int missed = 0;
    for (int side = 0; side < SIDES; side++)
        if (!(record[side] = records_create(side)))
            return 2;
    measure_sides(sample, record, SIDES, 3, ROUNDS, 0, median);
    printf("%d records, time of rank 0 (ms), goal %g\n", RANKS, GOAL_MS);
    for (int side = 0; side < SIDES; side++) {
        printf("  %-12s %8.3f  %5.2f of the goal  %s\n", side_name[side], median[side], median[side] / GOAL_MS,
               measure_mark(median[side] <= GOAL_MS, &missed));
        free(record[side]);
    }
    return missed > 0;
}
