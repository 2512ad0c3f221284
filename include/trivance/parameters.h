/*
 * The parameters of networks, in one table: the members of trv_simulate_options_t that describe a network, each with
 * its name, unit, range, default and one sentence. The options of the tool and their help, the keys of profiles
 * (trivance/formats.h), the columns of results, the keyword arguments of the Python package and the fields of the
 * explorer are derived from it.
 *
 * Texts of values and of quantities have the same syntax everywhere: they are parsed by the functions below only, which
 * do not depend on the locale. All functions are thread-safe if no two calls write the same options. Rows and their
 * texts are constants of the library; texts that are passed must not be NULL unless a function allows it.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_PARAMETERS_H
#define TRIVANCE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trivance/common.h>
#include <trivance/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a value, which determines its text and the type of its member. */
typedef enum trv_kind {
    TRV_KIND_RATE,       /* "800Gb/s", "100GB/s": double, bit/s */
    TRV_KIND_TIME,       /* "1.5us", at most an hour: double, ns */
    TRV_KIND_BYTES,      /* "8192", "64KiB": uint32_t or uint64_t */
    TRV_KIND_SHARE,      /* "10%": double, 0 to 1 */
    TRV_KIND_FACTOR,     /* "2x", from 1x to 1000000x: double; of entries of lists */
    TRV_KIND_WHOLE,      /* "7", or a word for 0: uint32_t or uint64_t */
    TRV_KIND_WORD,       /* one of some words: an enumeration */
    TRV_KIND_FLAG,       /* "no" or "yes": bool */
    TRV_KIND_DIMENSIONS, /* "0:2", "all" or "one": unsigned, a bit for each dimension */
    TRV_KIND_LIST        /* ranks or links of one torus (trv_parameter_parse_entry): int, their number */
} trv_kind_t;

/* Consumers of a parameter (bits) */
enum {
    TRV_AFFECTS_PLANS = 1,  /* plans depend on it. `trivance plan` has no others: it ignores those of TRV_AFFECTS_TIMES,
                               and plans for the default of `model` */
    TRV_AFFECTS_LINKS = 2,  /* the links of the network and their use: verification and costs depend on it, too */
    TRV_AFFECTS_TIMES = 4,  /* only simulated times depend on it */
    TRV_STATED_RESULTS = 8, /* tables of results have it even if it has its default … */
    TRV_STATED_SUMMARY = 16 /* … and so have summaries in one line */
};

typedef struct trv_parameter {
    const char *name; /* "link-latency": the option without dashes, and the key of profiles */
    trv_kind_t kind;
    unsigned affects;
    const char *value;    /* what its text is, for help: "TIME"; "[yes|no]": optional, where none means yes */
    const char *words;    /* the words in the order of their numbers, separated by blanks; NULL: it has none */
    const char *usual;    /* the text of its default; "": its default has no text */
    const char *sentence; /* what it is, with its default */
    double low, high;     /* its range, in the unit of its member */
    const char *member;   /* of trv_simulate_options_t; of a list: the number of entries */
    const char *mark;     /* another member, a bool that its text may set: "0.01ns/stream", "one"; NULL: none */
    size_t offset, bytes, mark_offset; /* of the members */
    const char *summary;               /* for a line about a network, with %s for the value; NULL: lists */
    const char *needs;                 /* the parameter without which it has no effect; NULL: none */
    double unit; /* of numbers in the summary, in that of the member; 0: %s is the text of the value */
} trv_parameter_t;

/* A parameter, counted from 0 in the order of help texts; NULL if there is none. */
TRV_API const trv_parameter_t *trv_parameter_at(int index);

/* The parameter with a name; NULL if there is none. */
TRV_API const trv_parameter_t *trv_parameter_find(const char *name);

/* All dimensions, before the torus is known: the value of the text "all", which the simulator does not take. */
#define TRV_ALL_DIMENSIONS (~0u)

/* Sets a parameter by its name from text: trv_parameter_set(&options, "alpha", "1.5us"); a flag takes NULL for "yes".
 * TRV_ERR_ARGUMENT, which changes nothing, for an unknown name, an invalid or NULL text, or a list. */
TRV_API int trv_parameter_set(trv_simulate_options_t *options, const char *name, const char *text);

/* Writes the text of a parameter's value, with 15 digits. trv_parameter_set reads it, if the value is in the range. ""
 * for the default of a parameter whose default has no text, and for a list. Returns `text`. */
#define TRV_PARAMETER_TEXT_MAX 64
TRV_API char *trv_parameter_format(const trv_simulate_options_t *options, const trv_parameter_t *parameter,
                                   char text[TRV_PARAMETER_TEXT_MAX]);

/* Whether a parameter has its default (TRV_SIMULATE_DEFAULTS), whatever its mark. */
TRV_API bool trv_parameter_is_default(const trv_simulate_options_t *options, const trv_parameter_t *parameter);

/* An entry of the lists slow-rank, slow-link and cut. */
typedef struct trv_parameter_entry {
    int rank, port; /* port: 2d for +d, 2d + 1 for -d; -1 for a rank */
    double factor;  /* infinite for a link that is down */
    bool one_way;   /* a cut in the direction that leaves the rank only */
} trv_parameter_entry_t;

/* Parses an entry of the list `name`: "5:2x" of slow-rank; "0:+1:4x" and "0:+1:down" of slow-link; "3:+0" and
 * "3:+0:one-way" of cut. TRV_ERR_ARGUMENT. Whether the torus has the rank and the port is not checked. */
TRV_API int trv_parameter_parse_entry(const char *name, const char *text, trv_parameter_entry_t *entry);

/* Parses a rate, a time, a count of bytes, a share or a factor, in the unit of trv_kind_t. A count is exact.
 * TRV_ERR_ARGUMENT, which leaves *value as it is, for other kinds and invalid texts. */
TRV_API int trv_quantity_parse(trv_kind_t kind, const char *text, double *value);

/* Parses sizes of vectors, at least 1 byte each: "1K,64K" or ranges, "32:128M" (doubling), "1K:64K:x4", "1K:9K:+2K".
 * TRV_ERR_ARGUMENT, also for more than `max` sizes. */
TRV_API int trv_sizes_parse(const char *text, uint64_t *bytes, int max, int *count);

#ifdef __cplusplus
}
#endif
#endif
