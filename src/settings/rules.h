/*
 * Rules that select an algorithm by collective, number of ranks and size of the vector. The first matching rule
 * applies.
 *
 * One line in the style of UCC (TRIVANCE_TUNE):
 *
 *     allreduce:0-64k:@trivance-l-grouped;allreduce:64k-inf:[8-64]:@auto
 *
 * or a file (TRIVANCE_RULES_FILE) in the format of Open MPI 6, with the extensions "torus", "network" and "paths":
 *
 *     {"rule_file_version": 1,
 *      "network": {"alpha": "1.5us", "bandwidth": "800Gb/s", "hop_latency": "0ns", "message_overhead": "100ns"},
 *      "paths": {"torus": "8x8", "shared_paths": [true, false], "one_path": false},
 *      "collectives": {"allreduce": [{"comm_size_min": 64, "comm_size_max": 128, "torus": "8x8",
 *                                     "rules": [{"msg_size_min": 0, "msg_size_max": "inf", "alg": "trivance-b"}]}]}}
 *
 * Bounds are inclusive. A size is that of the whole vector in bytes (of all ranks' blocks for Reduce-Scatter and
 * AllGather). An algorithm is a name (with parameters: "hybrid:4x8/3") or a family of `trivance list`, "planned" (the
 * planner's choice), "auto" (the same, where a torus is known) or "mpi" (fall back to the MPI library).
 */
#ifndef TRIVANCE_SETTINGS_RULES_H
#define TRIVANCE_SETTINGS_RULES_H

#include <stddef.h>
#include <stdint.h>

#include <trivance/schedule.h>
#include <trivance/torus.h>

#include "base/error.h"

#define TRV_RULE_AUTO    "auto"
#define TRV_RULE_PLANNED "planned"
#define TRV_RULE_MPI     "mpi"

#define TRV_RULE_NAME_MAX 128 /* of an algorithm, including the terminating zero */

typedef struct trv_rule {
    trv_collective_t collective;
    uint64_t ranks_min, ranks_max, bytes_min, bytes_max; /* UINT64_MAX: no bound */
    trv_torus_t torus;                                   /* dims 0: any */
    char algorithm[TRV_RULE_NAME_MAX];
} trv_rule_t;

typedef struct trv_rules {
    int count;
    int64_t capacity;
    trv_rule_t *rule;
    double alpha_ns, bandwidth_bps, hop_ns, overhead_ns; /* of "network"; negative: not in the file */
    trv_torus_t paths;                                   /* of "paths": the measured torus; dims 0: none */
    unsigned shared_paths;                               /* bit d: both directions of dimension d share a path, … */
    bool one_path;                                       /* … which is the same for all these dimensions */
} trv_rules_t;

/* Returns 0 if an algorithm has this name, otherwise TRV_ERR_ARGUMENT with an error message. */
typedef int trv_name_check_t(const char *name);

/* Parameters of the readers. This module does not depend on the algorithms: programs pass trv_algorithm_check
 * (collective/algorithm_names.h). */
typedef struct trv_rules_reader {
    trv_name_check_t *check_algorithm; /* NULL: every name is accepted */
    trv_warn_t *warn;                  /* receives warnings (for example about an unknown key); NULL: no warnings */
    void *context;                     /* of `warn` */
} trv_rules_reader_t;

/* All three return 0, or a negative code with an error message that states the position and what was expected; on
 * failure *rules is empty. trv_rules_clear frees the rules; rules that are all zeros are empty. */
int trv_rules_read(trv_rules_t *rules, const char *path, const trv_rules_reader_t *callbacks);
int trv_rules_parse_file(trv_rules_t *rules, const char *name, const char *text, size_t length,
                         const trv_rules_reader_t *callbacks);
int trv_rules_parse_line(trv_rules_t *rules, const char *line, trv_name_check_t *check_algorithm);
void trv_rules_clear(trv_rules_t *rules);

/* Returns the first rule that matches a vector of `bytes` on `ranks` ranks that form `torus`, or NULL. */
const trv_rule_t *trv_rules_match(const trv_rules_t *rules, trv_collective_t collective, const trv_torus_t *torus,
                                  int ranks, uint64_t bytes);

/* Creates the text of a rules file with these paths and, if `path` exists, its other contents. The caller frees the
 * text. TRV_ERR_* if the file at `path` is invalid. */
int trv_rules_with_paths(const char *path, const trv_rules_t *paths, char **text);

/* ---- Shared by the two readers of rules -------------------------------------------------------------------------- */

#define TRV_RULES_NONE                                                                                                 \
    (trv_rules_t) { .alpha_ns = -1, .bandwidth_bps = -1, .hop_ns = -1, .overhead_ns = -1 }

/* Finds the collective of a name, which may have MPI's spelling; returns false if there is none. */
bool trv_rules_collective(const char *name, trv_collective_t *collective);

/* Writes the names of all collectives, separated by commas. Returns `names`. */
#define TRV_RULES_COLLECTIVES_MAX 160
char *trv_rules_collectives(char names[TRV_RULES_COLLECTIVES_MAX]);

/* Sets the algorithm of a rule to a name that `check` accepts, or to "mpi"; TRV_ERR_ARGUMENT for any other name. */
int trv_rules_set_algorithm(trv_rule_t *rule, const char *name, trv_name_check_t *check);

int trv_rules_add(trv_rules_t *rules, const trv_rule_t *rule);

#endif
