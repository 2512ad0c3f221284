/*
 * Schedules as drawings and files, in a library of its own, libtrivance_formats, which needs libjansson: drawings as
 * SVG and text, files of the format trivance-schedule-1 (docs/schedule-format.md), and programs for GOAL, MSCCL++
 * and Chakra (docs/export-formats.md); and profiles of networks.
 *
 * Everything but Chakra's files is written to a stream of the caller's, which may be a file or a buffer
 * (open_memstream). Errors of the stream itself are left to the caller (ferror). `progress` of any function may be
 * NULL; otherwise it is called periodically with a fraction 0 … 1, and ends the call with TRV_ERR_CANCELLED if it does
 * not return 0. Thread-safe.
 *
 * Stability: experimental.
 */
#ifndef TRIVANCE_FORMATS_H
#define TRIVANCE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <trivance/common.h>
#include <trivance/cost.h>
#include <trivance/network.h>
#include <trivance/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Drawings ---------------------------------------------------------------------------------------------------- */

/* Begin with {TRV_DRAW_OPTIONS}. All pointers are borrowed, and may be NULL. */
typedef struct trv_draw_options {
    size_t size;                  /* of this struct, as the caller knows it */
    const trv_network_t *network; /* of the schedule's torus; its slow and cut links are marked */
    const trv_cost_t *cost;       /* of the schedule; NULL: it is computed */
    uint64_t vector_bytes;        /* for the captions */
    int rank;       /* whose messages are drawn; -1: those of all ranks on a ring or line, else of one in the middle */
    bool all_ranks; /* SVG: of all ranks on every torus */
    int stream;     /* -1: all */
    bool no_blocks; /* the schedule is of a file without blocks (trv_schedule_file_t) */
    const char *note; /* SVG: UTF-8 that follows the caption, "; 12us" */
    bool ascii;       /* text: ASCII only */
    int columns;      /* text: of the output */
} trv_draw_options_t;
#define TRV_DRAW_OPTIONS                                                                                               \
    TRV_SIZED_WITH(trv_draw_options_t, TRV_MEMBER(vector_bytes) = 65536, TRV_MEMBER(rank) = -1,                        \
                   TRV_MEMBER(stream) = -1, TRV_MEMBER(columns) = 110)

/* Draws the messages of every step and, on up to 81 ranks, the data that ranks hold after it. TRV_ERR_UNSUPPORTED with
 * the reason if the drawing would be unreadable: rings and lines above 81 ranks, 2-D tori above 9x9 or so, 3-D tori
 * above 125 ranks (one rank's messages: 256, 1024, 1000), more dimensions, more than 48 panels. TRV_ERR_ARGUMENT for a
 * rank, a stream or a network that does not belong to the schedule. Nothing is written after a failure. */
TRV_API int trv_draw_svg(const trv_schedule_t *schedule, const trv_draw_options_t *options, FILE *out);

/* The same as text. Writes nothing for tori that are not drawn as text, and one line if a drawing needs more
 * columns. */
TRV_API int trv_draw_text(const trv_schedule_t *schedule, const trv_draw_options_t *options, FILE *out);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

#define TRV_SCHEDULE_FILE_LINKS_MAX 128

typedef struct trv_schedule_file {
    trv_schedule_t *schedule; /* the caller destroys it */
    uint64_t vector_bytes;    /* size to which the bytes of the messages refer */
    bool has_blocks;          /* false: messages with bytes only, enough for cost and drawings but not for data */
    bool no_forwarding;       /* the schedule's network does not forward (trivance/network.h) */
    int slow_links;           /* of the schedule's network */
    trv_slow_link_t slow_link[TRV_SCHEDULE_FILE_LINKS_MAX];
} trv_schedule_file_t;

/* Reads a file of the format trivance-schedule-1; "-" is stdin. TRV_ERR_INVALID with an error message and the position
 * if the text violates the format. `warn` may be NULL; otherwise it receives a message for each thing that is ignored.
 * Files without blocks become schedules whose units are the largest share of the vector that all messages are multiples
 * of (or 1/2^16 of it if that is too small, with a warning). The schedule's claims are not verified. */
TRV_API int trv_schedule_read(const char *path, trv_schedule_file_t *file,
                              void (*warn)(void *context, const char *sentence), void *context);

/* Writes a schedule for a vector of `vector_bytes` in that format, one message a line, with the links of its network
 * (NULL: none). TRV_ERR_INVALID if a message lacks its send or its receive, or if their units differ;
 * TRV_ERR_UNSUPPORTED above 2^26 messages. */
TRV_API int trv_schedule_write(const trv_schedule_t *schedule, const trv_network_t *network, uint64_t vector_bytes,
                               int (*progress)(void *context, double fraction), void *context, FILE *out);

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

typedef enum trv_format {
    TRV_FORMAT_GOAL,    /* the text that LogGOPSim reads */
    TRV_FORMAT_MSCCL,   /* removed: TRV_ERR_UNSUPPORTED */
    TRV_FORMAT_MSCCLPP, /* an execution plan as JSON, for MSCCL++ */
    TRV_FORMAT_CHAKRA   /* execution traces for ASTRA-sim, a file for each rank: trv_export_chakra */
} trv_format_t;

/* Writes a schedule as a program. A GOAL program is for a vector of `vector_bytes`, and has a calculation of
 * `alpha_ns`, rounded to whole ns, at the beginning of every step in which a rank sends or receives; with 0 the
 * operations of a step require those of the previous step. An MSCCL++ plan is valid for all sizes, and has no times.
 * TRV_ERR_UNSUPPORTED, before anything is written, if the schedule exceeds the format's limits; TRV_ERR_ARGUMENT for
 * TRV_FORMAT_CHAKRA, because a stream is a single file. */
TRV_API int trv_export(const trv_schedule_t *schedule, trv_format_t format, uint64_t vector_bytes, double alpha_ns,
                       int (*progress)(void *context, double fraction), void *context, FILE *out);

/* Writes a schedule for a vector of `vector_bytes` as Chakra execution traces, which ASTRA-sim executes as a custom
 * collective: a file PREFIX.R.et for each rank R, in ASTRA-sim's numbering, in which the first dimension is the
 * fastest. With `alpha_ns` > 0, every step in which a rank sends or receives begins with a calculation. Either all
 * files appear, or, after an error, none. TRV_ERR_ARGUMENT if alpha is not a whole number of microseconds, or if a file
 * cannot be written; TRV_ERR_UNSUPPORTED above 16384 ranks or 2^26 messages. */
TRV_API int trv_export_chakra(const trv_schedule_t *schedule, const char *prefix, uint64_t vector_bytes,
                              double alpha_ns, int (*progress)(void *context, double fraction), void *context);

/* ---- Profiles of networks ---------------------------------------------------------------------------------------- */

/* A profile is a JSON file with parameters of a network (trivance/parameters.h), each with its source:
 *
 *     {"format": "trivance-network-1", "title": "Tofu-D, the torus of Fugaku",
 *      "parameters": {"bandwidth": {"value": "50.8Gb/s", "source": "Ajima et al., CLUSTER 2018"}}}
 *
 * Some, which have names, are in the library. The functions return the name and the title of one, counted from 0; NULL
 * if there is none. */
TRV_API const char *trv_profile_name(int index);
TRV_API const char *trv_profile_title(int index);

/* Receives a parameter of a profile, as texts that are valid during the call. A result other than 0 ends the reading,
 * with a sentence in trv_last_error(). */
typedef int trv_profile_set_t(void *context, const char *parameter, const char *value, const char *source);

/* Calls `set` for each parameter of a profile, in the order of its file. `name` is that of a profile, or the path of a
 * file if it has a slash or a dot. TRV_ERR_ARGUMENT if there is none, TRV_ERR_INVALID with the position for an invalid
 * file and for a parameter that `set` rejects. */
TRV_API int trv_profile_read(const char *name, trv_profile_set_t *set, void *context);

#ifdef __cplusplus
}
#endif
#endif
