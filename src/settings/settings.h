/*
 * The environment: one table of all variables, by which they are parsed, described (`trivance info`) and checked for
 * misspelt names. Does not depend on MPI.
 */
#ifndef TRIVANCE_SETTINGS_SETTINGS_H
#define TRIVANCE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/rules.h"

typedef enum trv_debug { TRV_DEBUG_OFF, TRV_DEBUG_WARN, TRV_DEBUG_INFO, TRV_DEBUG_TRACE } trv_debug_t;
typedef enum trv_fallback { TRV_FALLBACK_SILENT, TRV_FALLBACK_PRINT, TRV_FALLBACK_ERROR } trv_fallback_t;
typedef enum trv_transport_library { TRV_TRANSPORT_MPI, TRV_TRANSPORT_OFI } trv_transport_library_t;
typedef enum trv_on_timeout { TRV_TIMEOUT_CONTINUE, TRV_TIMEOUT_ABORT } trv_on_timeout_t;

/* The values of the environment variables. If a variable is not set, empty or invalid, a text is NULL and any other
 * value is the default. */
typedef struct trv_settings {
    char *torus, *topology_file, *slurm_dims, *algorithm, *tune, *rules_file, *debug_file, *kernels;
    bool cart, allow_inconsistent, check, recorder;
    int debug;                                                       /* trv_debug_t */
    int fallback;                                                    /* trv_fallback_t */
    int on_timeout;                                                  /* trv_on_timeout_t */
    int transport;                                                   /* trv_transport_library_t */
    double alpha_ns, bandwidth_bps, hop_ns, overhead_ns, timeout_ns; /* timeout 0: never */
    uint64_t piece_bytes;  /* size of a fragment; 0: messages are not fragmented */
    uint64_t memory_bytes; /* limit of the process for plans and their scratch memory */
    bool info;             /* debug >= TRV_DEBUG_INFO */
    trv_rules_t tune_rules, file_rules;
    char *fault; /* error message of the first invalid value on which the choice of algorithms depends; NULL: none */
    bool file_fault;        /* the fault is in the rules file, which may differ between ranks */
    char *provider, *ports; /* of libfabric */
    /* Of libtrivance_net alone; the last members (trv_settings_of_net). */
    char *secret, *master_port;
    bool listen_everywhere;
    double start_timeout_ns;
} trv_settings_t;

typedef enum trv_setting_kind {
    TRV_SETTING_TEXT,  /* char * */
    TRV_SETTING_FLAG,  /* bool: 0 or 1, also no, off, yes, on */
    TRV_SETTING_TIME,  /* double, ns */
    TRV_SETTING_RATE,  /* double, b/s */
    TRV_SETTING_BYTES, /* uint64_t */
    TRV_SETTING_WORD   /* int: the index of one of `words` */
} trv_setting_kind_t;

/* A row of the table. */
typedef struct trv_setting {
    const char *name; /* "TRIVANCE_TORUS" */
    trv_setting_kind_t kind;
    size_t offset;             /* in trv_settings_t */
    bool selects;              /* the choice of algorithms depends on it: with an invalid value all calls fall back */
    const char *default_value; /* the default as a value; for a text: the behaviour without it, in words */
    const char *allowed;       /* in words; for TRV_SETTING_WORD the words themselves, separated by | */
    const char *example;
    const char *meaning; /* one sentence */
    /* Additional check of the value; NULL: none. */
    int (*check)(const char *text, trv_name_check_t *check_algorithm);
    bool shared; /* must be the same on all ranks: affects selection, communication or the end of the program */
} trv_setting_t;

/* The table, in the order of `trivance info`. */
int trv_settings_count(void);
const trv_setting_t *trv_settings_at(int index);
/* Whether only libtrivance_net uses the setting, so that it has no effect on MPI programs. */
bool trv_settings_of_net(const trv_setting_t *setting);
/* Whether the value is secret, so that it must not be printed. */
bool trv_settings_is_secret(const trv_setting_t *setting);

/* Reads the environment, but no file. Warns about invalid values on which no choice depends (the others set
 * `fault`), and about unknown variables whose names begin with TRIVANCE_. Invalid values are treated as not set. */
void trv_settings_read(trv_settings_t *settings, const trv_rules_reader_t *callbacks);

/* The same for libtrivance_net: invalid values of the timeout and of settings that only this library uses set
 * `fault`, too. */
void trv_settings_read_net(trv_settings_t *settings, const trv_rules_reader_t *callbacks);

/* Reads the rules file, if one is named: sets file_rules, and the parameters of the network that no variable sets.
 * An invalid file sets `fault`, unless it is set already, and its negative code is returned.
 * trv_settings_parse_rules takes the text of a file that was read before. */
int trv_settings_read_rules(trv_settings_t *settings, const trv_rules_reader_t *callbacks);
int trv_settings_parse_rules(trv_settings_t *settings, const char *text, size_t length,
                             const trv_rules_reader_t *callbacks);
void trv_settings_clear(trv_settings_t *settings);

/* Checks a value, including the contents of rules files. Returns 0, or a negative code with an error message, which
 * begins with `name`: that of the variable, or of an option for it. For the tool, which reads topology files itself. */
int trv_settings_check(const trv_setting_t *setting, const char *name, const char *text,
                       trv_name_check_t *check_algorithm);

/* Finds the first torus with `ranks` ranks in a comma-separated list (TRIVANCE_TORUS). Returns 1; 0 if there is
 * none; or TRV_ERR_ARGUMENT for an earlier entry that is not a torus. */
int trv_torus_from_list(const char *list, int ranks, trv_torus_t *torus);

/* Whether any setting could make the drop-in dispatch a call to Trivance. The result does not depend on the contents
 * of files, because it must be the same on all ranks before they can compare their settings. */
bool trv_settings_may_dispatch(const trv_settings_t *settings);

/* Returns the variables that must be the same on all ranks, as in the environment: lines NAME=VALUE, in the order of
 * the table; for variables that are not set nothing follows the =. A line break in a value is written as \n. The
 * caller frees the text; *length excludes the terminating 0. NULL: out of memory. */
char *trv_settings_text(size_t *length);

#endif
