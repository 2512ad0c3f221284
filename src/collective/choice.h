/*
 * The choice of a schedule: an algorithm that the user has named, or the planner's fastest. Rank 0 of a communicator
 * makes one choice for a class of sizes and broadcasts it.
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
    char reason[TRV_CHOICE_REASON_MAX];     /* for the log: why this algorithm, or why none */
    bool left_to_library;                   /* the user has selected the MPI library for these calls */
    bool on_nodes; /* true: for `torus` on a set of machine nodes in `order`; false: for the communicator's torus */
    trv_order_t order;
    trv_torus_t torus;
    uint64_t bytes_min, bytes_max; /* sizes of vectors to which the choice applies */
} trv_choice_t;

/* The network and the root for which schedules are chosen, and the limits of the choice. */
typedef struct trv_chooser {
    const trv_network_t *network;      /* the torus, with its slow and cut links */
    int root;                          /* of collectives that have one; otherwise 0 */
    trv_simulate_options_t simulation; /* network model of the planner, from trv_chooser_simulation */
    const trv_rules_t *measured;       /* rules; the reason quotes the measured shared paths that they contain */
    bool allow_inconsistent;           /* the planner may choose schedules whose results differ between ranks */
    bool allow_inconsistent_names;     /* such schedules may be chosen by name */
    bool explains;                     /* the reason also names the second best algorithm */
} trv_chooser_t;

/* The network model of TRIVANCE_ALPHA, TRIVANCE_BANDWIDTH and the other network variables, with shared paths and with
 * the slow links of `network`, to which the result points. */
trv_simulate_options_t trv_chooser_simulation(const trv_settings_t *settings, const trv_network_t *network,
                                              const trv_model_paths_t *paths);

/* Chooses the named algorithm. If it does not run on the network, or its results would be wrong, choice->algorithm
 * stays "" and the reason becomes "SOURCE: ALGORITHM, but …". Returns the code of trv_schedule_create_on; it is also
 * TRV_OK if only the results would be wrong. */
int trv_choose_named(const trv_chooser_t *chooser, const trv_signature_t *signature, const char *algorithm,
                     const char *source, trv_choice_t *choice);

/* Chooses the fastest schedule for vectors of `bytes`, among a family or (NULL) among all algorithms. Appends to the
 * reason; choice->algorithm stays "" if none is suitable. Returns TRV_OK or an error of the planner. */
int trv_choose_planned(const trv_chooser_t *chooser, const trv_signature_t *signature, uint64_t bytes,
                       const char *family, trv_choice_t *choice);

/* Chooses as the user has requested: the algorithm of this name, from `source`, or the fastest of this family.
 * choice->algorithm also stays "" if `requested` leaves the choice to the planner: "", TRV_RULE_AUTO or
 * TRV_RULE_PLANNED. Returns the code of the function above that it calls. */
int trv_choose_requested(const trv_chooser_t *chooser, const trv_signature_t *signature, uint64_t bytes,
                         const char *requested, const char *source, trv_choice_t *choice);

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

void trv_choice_append(trv_choice_t *choice, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends HOW and the times of the planner's choice, such as "planned: 4.473 us expected, of which …"; returns the unit
 * of the times. */
const trv_time_unit_t *trv_choice_append_times(trv_choice_t *choice, const char *how,
                                               const trv_planner_choice_t *planned);
/* Appends "; planning took 12 ms" if it took long. */
void trv_choice_append_duration(trv_choice_t *choice, double took_s);

#endif
