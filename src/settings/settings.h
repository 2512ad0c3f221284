/*
 * The environment: one table of all variables, from which they are parsed, explained (`trivance info`) and checked for
 * misspelt names. No MPI here.
 */
#ifndef TRIVANCE_SETTINGS_SETTINGS_H
#define TRIVANCE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/rules.h"

typedef enum trv_debug { TRV_DEBUG_OFF, TRV_DEBUG_WARN, TRV_DEBUG_INFO, TRV_DEBUG_TRACE } trv_debug_t;
typedef enum trv_fallback { TRV_FALLBACK_SILENT, TRV_FALLBACK_PRINT, TRV_FALLBACK_ERROR } trv_fallback_t;
typedef enum trv_transport_way { TRV_TRANSPORT_MPI, TRV_TRANSPORT_OFI } trv_transport_way_t;
typedef enum trv_on_timeout { TRV_TIMEOUT_CONTINUE, TRV_TIMEOUT_ABORT } trv_on_timeout_t;

/* What the environment says. Texts are NULL where a variable is not set, or empty, or wrong; the rest has its default
 * there. */
typedef struct trv_settings {
    char *torus, *topology_file, *algorithm, *tune, *rules_file, *debug_file, *kernels;
    bool cart, allow_inconsistent, check, recorder;
    int debug;                                                       /* trv_debug_t */
    int fallback;                                                    /* trv_fallback_t */
    int on_timeout;                                                  /* trv_on_timeout_t */
    int transport;                                                   /* trv_transport_way_t */
    double alpha_ns, bandwidth_bps, hop_ns, overhead_ns, timeout_ns; /* timeout 0: never */
    uint64_t piece_bytes;                                            /* of a message; 0: all of it */
    uint64_t memory_bytes; /* for plans and their scratch, of the whole process */
    bool info;             /* debug >= TRV_DEBUG_INFO */
    trv_rules_t tune_rules, file_rules;
    char *fault;     /* the first wrong value that the choice of algorithms depends on, as a sentence; NULL: none */
    bool file_fault; /* it is in the rules file, which other ranks may see differently */
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
    size_t offset;        /* in trv_settings_t */
    bool selects;         /* the choice of algorithms depends on it: with a wrong value the MPI library serves all */
    const char *standard; /* the default as one would set it; for a text: what holds without it, in words */
    const char *allowed;  /* in words; of TRV_SETTING_WORD the words themselves, with | between */
    const char *example;
    const char *meaning; /* one sentence */
    /* Beside what the kind allows; NULL: any. */
    int (*check)(const char *text, trv_name_check_t *check_algorithm);
    bool shared; /* all ranks must see the same: what selects, and what makes ranks communicate or end the program */
} trv_setting_t;

/* The table, in the order in which it is shown. */
int trv_settings_count(void);
const trv_setting_t *trv_settings_at(int index);
/* Whether it is for libtrivance_net alone: MPI programs have no use for it. */
bool trv_settings_of_net(const trv_setting_t *setting);
/* Whether its value is nobody else's business. */
bool trv_settings_is_secret(const trv_setting_t *setting);

/* Reads the environment and no file. Warnings are wrong values on which no choice depends (the others are the fault),
 * and every variable that begins with TRIVANCE_ and is none. Wrong values hold as if they were not set. */
void trv_settings_read(trv_settings_t *settings, const trv_rules_reader_t *how);

/* The same for libtrivance_net: a wrong value of what is its alone, and of how long to wait, is the fault, too. */
void trv_settings_read_net(trv_settings_t *settings, const trv_rules_reader_t *how);

/* Reads the rules file, if one is named: file_rules, and the parameters of the network that no variable sets. A wrong
 * file is the fault, if there is none yet, and its negative code is returned. `parse` takes the text of a file that was
 * read before. */
int trv_settings_read_rules(trv_settings_t *settings, const trv_rules_reader_t *how);
int trv_settings_parse_rules(trv_settings_t *settings, const char *text, size_t length, const trv_rules_reader_t *how);
void trv_settings_clear(trv_settings_t *settings);

/* 0, or a negative code with the sentence of a wrong value, rules files and what else is read later included: for the tool,
 * which reads topology files itself. */
int trv_settings_check(const trv_setting_t *setting, const char *text, trv_name_check_t *check_algorithm);

/* Finds the first torus of a comma-separated list (TRIVANCE_TORUS) that has `ranks` ranks. 1; 0: there is none; or
 * TRV_ERR_ARGUMENT for an entry before it that is no torus. */
int trv_torus_from_list(const char *list, int ranks, trv_torus_t *torus);

/* Whether something is set that could ever make the drop-in serve a call. Does not depend on what files hold: all ranks
 * must answer alike before they can compare. */
bool trv_settings_may_dispatch(const trv_settings_t *settings);

/* The variables that all ranks must see alike, as they stand in the environment: lines NAME=VALUE, in the order of the
 * table, with nothing behind the = of what is not set. A line break in a value is written as \n. The caller frees it;
 * *length is without the 0 at the end. NULL: no memory. */
char *trv_settings_text(size_t *length);

#endif
