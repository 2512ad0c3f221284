/*
 * The choice of a schedule: an algorithm that was asked for by name, or the planner's fastest. Rank 0 of a communicator
 * chooses for a whole class of sizes and broadcasts the choice.
 */
#ifndef TRIVANCE_COLLECTIVE_CHOICE_H
#define TRIVANCE_COLLECTIVE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include <trivance/algorithms.h>
#include <trivance/network.h>
#include <trivance/planner.h>

#include "collective/signature.h"
#include "collective/model.h"
#include "settings/settings.h"
#include "base/text/parse.h"

enum { TRV_CHOICE_REASON_MAX = 640 };

typedef struct trv_choice {
    char algorithm[TRV_ALGORITHM_NAME_MAX]; /* "": none */
    char reason[TRV_CHOICE_REASON_MAX];     /* for the log: why this one, or why none */
    bool left_to_library;                   /* the user wants the MPI library to serve */
    bool on_nodes; /* along a set of nodes of the machine in this order, on this line or ring; else on the torus */
    trv_order_t order;
    trv_torus_t torus;
    uint64_t bytes_min, bytes_max; /* of the vectors that the choice is for */
} trv_choice_t;

/* Where schedules are to run. */
typedef struct trv_chooser {
    const trv_network_t *network;      /* the torus, with its slow and cut links */
    trv_simulate_options_t simulation; /* what the planner simulates: see trv_chooser_simulation */
    const trv_rules_t *measured;       /* whose measured paths the reason may quote */
    bool allow_inconsistent;           /* the planner may choose schedules that give ranks different bits … */
    bool allow_inconsistent_names;     /* … and those may be asked for by name */
    bool explains;                     /* the reason names the second best, too */
} trv_chooser_t;

/* The network of TRIVANCE_ALPHA, TRIVANCE_BANDWIDTH and so on, with the links of `network`, which it borrows, and shared
 * paths. */
trv_simulate_options_t trv_chooser_simulation(const trv_settings_t *settings, const trv_network_t *network,
                                              const trv_model_paths_t *paths);

/* Whether the name is that of a family of algorithms, and of no algorithm. */
bool trv_choice_is_family(const char *name);

/* The named algorithm. If it does not run on the network, or its results would be wrong, choice->algorithm stays "" and the
 * reason becomes "SOURCE: ALGORITHM, but …". Returns TRV_OK, also for wrong results, or the code of
 * trv_schedule_create_on. */
int trv_choose_named(const trv_chooser_t *chooser, const trv_signature_t *signature, const char *algorithm,
                     const char *source, trv_choice_t *choice);

/* The fastest schedule for vectors of `bytes`, of a family or (NULL) of all algorithms. Appends to the reason;
 * choice->algorithm stays "" where there is none. TRV_OK or a code of the core. */
int trv_choose_planned(const trv_chooser_t *chooser, const trv_signature_t *signature, uint64_t bytes,
                       const char *family, trv_choice_t *choice);

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

void trv_choice_append(trv_choice_t *choice, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "planned: 4.473 us expected, of which …"; returns the unit of its times. */
const trv_time_unit_t *trv_choice_append_plan(trv_choice_t *choice, const char *how, const trv_planned_t *plan);
/* "; planning took 12 ms", where it was long. */
void trv_choice_append_duration(trv_choice_t *choice, double took_s);

#endif
