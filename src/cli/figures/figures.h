/*
 * The paper's evaluation, recomputed: figures 6 to 20 and what the paper says about them. And figures beyond the paper:
 * what the planner gains over all of its algorithms, and what cut links cost.
 *
 * catalogue.c  which figures there are and what each one shows
 * run.c        every simulation they need, each one once, on all cores
 * cuts.c       plans as links fail one after another
 * kept.c       what an interrupted run has simulated
 * curves.c     advantages, break-even sizes, switches from L to B
 * claims.c     what the paper says, as data; check.c decides whether we measure it, too
 * reason.c     why we differ: the same claims under other assumptions
 * volumes.c    what Trivance B transmits, and what reductions read and write
 * studies.c    what the results depend on: the model of a link, the delivery rule, the cost of reductions
 * write_*.c    CSV, gnuplot (SVG, PDF), the page, the report; page.html, page.css and page.js are built in
 *
 * The module belongs to the tool (subcommand `figures`): it uses the tool's tables, parsers and grids of simulations.
 */
#ifndef TRIVANCE_CLI_FIGURES_FIGURES_H
#define TRIVANCE_CLI_FIGURES_FIGURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <trivance/algorithms.h>

#include "cli/shared/grid.h"
#include "cli/shared/network_options.h"
#include "cli/shared/progress.h"

#define FIG_SIZES_MAX  25
#define FIG_CURVES_MAX 8
#define FIG_COUNT      28

/* ---- Which figures there are ------------------------------------------------------------------------------------- */

typedef struct fig_spec {
    int number;
    const char *torus, *title;
    const char *parameter;             /* what the curves differ in, a name of cli_network_names; NULL: the algorithm */
    const char *value[FIG_CURVES_MAX]; /* the parameter's values, as users type them; of "cut" the curves' sizes */
} fig_spec_t;

/* In the order of the paper, then those beyond it, which show `planned` against Trivance and the baselines; numbered
 * without a gap. */
extern const fig_spec_t fig_spec[FIG_COUNT];
#define FIG_PAPER_LAST 20
bool fig_is_beyond(const fig_spec_t *spec);
/* Whether its axis has numbers of links that are cut, where the others have sizes. */
bool fig_is_about_cuts(const fig_spec_t *spec);

/* A family that has a curve, as the table of algorithms says. */
typedef struct fig_algorithm {
    const char *key; /* the tool's name */
    char title[32];
    int colour;     /* and marker: 1 … FIG_COLOURS - 1; 0 is that of what has no other */
    bool symmetric; /* every schedule has a symmetry, which makes it cheap to simulate under fifo */
} fig_algorithm_t;
#define FIG_COLOURS       9
#define FIG_BASELINES_MAX (FIG_CURVES_MAX - 1)

/* The algorithms that Trivance is compared with, in the order of their colours; returns how many. */
int fig_baselines(fig_algorithm_t baseline[FIG_BASELINES_MAX]);
/* Whether the paper omits an algorithm, or its family, on the torus. */
bool fig_omits(const char *torus, const char *algorithm);
/* Whose advantage the figure shows: Trivance's, or that of the planner's choice. */
fig_algorithm_t fig_trivance(void);
fig_algorithm_t fig_own(const fig_spec_t *spec);

/* ---- What was measured ------------------------------------------------------------------------------------------- */

typedef struct fig_value {
    double time_ns;
    char member[TRV_ALGORITHM_NAME_MAX]; /* which algorithm of the family was fastest, or the plan */
} fig_value_t;

typedef struct fig_curve {
    const char *key;                  /* an algorithm, or the parameter's value */
    char title[32];                   /* the same for people */
    int colour;                       /* of an algorithm */
    fig_value_t other[FIG_SIZES_MAX]; /* the algorithm, or the fastest of all baselines */
    fig_value_t own[FIG_SIZES_MAX];   /* Trivance, or what the figure shows the advantage of (fig_own) */
    /* Of cuts: `other` is the plan of the whole torus, `own` the median of the networks, and here is … */
    fig_value_t worst[FIG_SIZES_MAX];
    int served[FIG_SIZES_MAX]; /* … on how many the whole torus's plan passes no cut link */
} fig_curve_t;

typedef struct fig_figure {
    const fig_spec_t *spec;
    int points; /* along the axis: the first of the result's sizes, or fig_cuts */
    int curves;
    fig_curve_t curve[FIG_CURVES_MAX];
} fig_figure_t;

/* Studies: what the results depend on. */
typedef struct fig_study_row { /* one algorithm at one size under the two values of an option */
    const char *torus, *algorithm;
    uint64_t bytes;
    fig_value_t other[2], trivance[2];
} fig_study_row_t;

#define FIG_STUDY_ROWS_MAX 128

typedef struct fig_study_spec {
    const char *title, *text, *option, *value[2];   /* option: a name of cli_network_names */
    const char *torus[8], *algorithm[8], *bytes[8]; /* every one with every one; each ends with NULL */
    double threshold;                               /* rows whose times differ by less, %, are counted only */
} fig_study_spec_t;

typedef struct fig_study {
    const fig_study_spec_t *spec;
    int rows;
    fig_study_row_t row[FIG_STUDY_ROWS_MAX];
} fig_study_t;

#define FIG_STUDIES 3
extern const fig_study_spec_t fig_study_spec[FIG_STUDIES];

/* The same figures under other assumptions, to find out why a claim does not hold under those of the run. */
typedef enum fig_variant {
    FIG_FIFO,      /* one queue per link */
    FIG_FIFO_TAIL, /* and a message has arrived when its last byte has */
    FIG_VARIANTS
} fig_variant_t;

typedef struct fig_work {
    int simulations;
    uint64_t packet_hops;
} fig_work_t;

/* ---- What an interrupted run has simulated ----------------------------------------------------------------------- */

typedef struct fig_kept {
    const char *path;
    FILE *file;
    json_t *results;      /* by the name of the point */
    pthread_mutex_t lock; /* of the file and the bar; a thread may end the process while it holds it */
    cli_progress_t progress;
} fig_kept_t;

/* Reads what is there and goes on behind it; `path` stays the caller's. */
int fig_kept_open(fig_kept_t *kept, const char *path);
/* Whether the point's result is there, which it then has. */
bool fig_kept_find(const fig_kept_t *kept, cli_point_t *point);
int fig_kept_add(fig_kept_t *kept, const cli_point_t *point);
/* Removes the file where it is not needed. */
void fig_kept_close(fig_kept_t *kept, bool needed);

/* ---- The run ----------------------------------------------------------------------------------------------------- */

typedef struct fig_result {
    fig_kept_t *kept; /* owned by the caller */
    bool quick;
    bool symmetric_only;                      /* without algorithms that no symmetry makes cheap under fifo */
    struct fig_result *variant[FIG_VARIANTS]; /* NULL: not there; owned by the caller */
    char command[256];                        /* that made all this */
    cli_network_t network;
    int workers;                   /* 0: one per core */
    int sizes;                     /* of the paper's figures, … */
    int larger;                    /* … and those behind them, on meshes */
    uint64_t bytes[FIG_SIZES_MAX]; /* ascending */
    int figures;
    fig_figure_t figure[FIG_COUNT];
    fig_study_t study[FIG_STUDIES];
    json_t *tables;        /* the rows of tables 1 and 2; owned */
    bool drawn;            /* gnuplot made SVG and PDF */
    fig_work_t paper, all; /* for the paper's figures and the studies; and for those beyond it, too */
    double wall_s;
} fig_result_t;

/* Runs all simulations of the figures listed in `result` (spec set, the rest empty) and of the studies that concern
 * their tori (none if symmetric_only). `what` stands before the progress bar. 0, or an error with its sentence. */
int fig_run(const char *what, fig_result_t *result);

/* ---- Links that fail --------------------------------------------------------------------------------------------- */

/* Numbers of links that are cut, from the first to the last of a history: of each network some have failed in their
 * order. All networks have the first number, none. */
#define FIG_CUTS_POINTS   6
#define FIG_CUTS_MAX      16
#define FIG_CUTS_NETWORKS 20
extern const int fig_cuts[FIG_CUTS_POINTS];
int fig_cuts_networks(bool quick);

/* Fills a figure about cuts: plans for every network, on all cores. */
int fig_cuts_run(const char *what, fig_result_t *result, fig_figure_t *figure);

/* ---- Reading it -------------------------------------------------------------------------------------------------- */

const fig_figure_t *fig_find(const fig_result_t *result, int number);
/* (T_A - T_own) / T_A * 100; of a curve at a size; and of the fastest of the figure's curves there. */
double fig_advantage_of(double other_ns, double own_ns);
double fig_advantage(const fig_curve_t *curve, int size);
double fig_advantage_best(const fig_figure_t *figure, int size);
/* The first size at which `value` is a bandwidth-optimal member after a latency-optimal one, or -1. */
int fig_switch(const fig_value_t *value, int sizes);
/* The same of the figure's own algorithm, of which plans have no such size. */
int fig_own_switch(const fig_figure_t *figure, const fig_curve_t *curve, int sizes);
/* "512 KiB" of a size that need not be whole, to two digits. */
#define FIG_TEXT_MAX 48
const char *fig_bytes(double bytes, char text[FIG_TEXT_MAX]);
/* "12.5 %"; beyond 100 a ratio: of more time "2.1x", of an advantage that is none "2.5x as long". */
const char *fig_percent(double percent, char text[FIG_TEXT_MAX]);
/* Bytes at which an advantage stops being positive, for the first and for the last time, interpolated between two sizes
 * over log2. first: 0 if it is not positive at the smallest size, INFINITY if it always is. last: INFINITY if it is
 * positive at the largest size, 0 if it never is. They differ if the advantage becomes positive again in between. */
typedef struct fig_break_even {
    double first, last;
} fig_break_even_t;
/* curve NULL: against the fastest of all. */
fig_break_even_t fig_break_even(const fig_result_t *result, const fig_figure_t *figure, const fig_curve_t *curve);
/* "5.7 MiB", "1.3 MiB/20 MiB" if the first and the last differ, and "none" for a size that is not reached. */
#define FIG_BREAK_EVEN_TEXT_MAX (2 * FIG_TEXT_MAX + 2)
const char *fig_break_even_text(fig_break_even_t even, char text[FIG_BREAK_EVEN_TEXT_MAX]);
/* The axis of advantages: what lies outside leaves the frame. */
void fig_range(const fig_figure_t *figure, double *low, double *high);

/* Theta of Trivance B on a torus, measured by routing its messages. */
int fig_theta(const char *torus, double *theta);

/* The bytes that the reductions of a rank read (operands) and write (results), in vectors. */
int fig_reduced(const char *torus, const char *algorithm, double *operands, double *results);

/* ---- What the paper says ----------------------------------------------------------------------------------------- */

typedef enum fig_verdict { FIG_AGREES, FIG_DIFFERS, FIG_NOT_MEASURED } fig_verdict_t;
extern const char *const fig_verdict_name[];

typedef enum fig_test {
    FIG_WITHIN,       /* the advantage lies in low … high at every size of from … to */
    FIG_PEAK,         /* the largest advantage over from … to lies in low … high */
    FIG_PEAK_AT,      /* the size of the largest advantage lies in from … to */
    FIG_BREAK_EVEN,   /* the first and the last break-even size lie in from … to */
    FIG_FASTEST_FROM, /* the size from which on the curve's algorithm is the fastest of all lies in from … to */
    FIG_SWITCH,       /* the size where the curve's algorithm (none: Trivance) goes to B lies in from … to */
    FIG_FALLS_FROM,   /* the last size before the advantage over the fastest other algorithm first falls by more than a
                         point lies in from … to */
    FIG_RISING,       /* neither the first nor the last break-even size falls from one curve to the next */
    FIG_SPREAD,       /* the curves differ by at most `high` points at every size of from … to */
    FIG_FASTER,       /* the curve's algorithm takes at most `high` % longer than `than` at every size of from … to */
    FIG_WEAKER,       /* the first break-even size moves less per doubling of the parameter than in figure `low` */
} fig_test_t;

#define FIG_CLAIM_FIGURES_MAX 12

typedef struct fig_claim {
    const char *where, *text;              /* section or appendix of the paper, and the claim */
    int figure[FIG_CLAIM_FIGURES_MAX + 1]; /* which must all show it; ends with 0 */
    fig_test_t test;
    const char *curve, *than; /* key of a curve; NULL: the fastest of all, or where noted every curve */
    uint64_t from, to;        /* bytes; 0: unbounded */
    double low, high;         /* % */
    const char *why;          /* the reason, where we differ and no variant explains it */
} fig_claim_t;

extern const fig_claim_t fig_claim[];
extern const int fig_claims;

typedef struct fig_finding {
    fig_verdict_t verdict;
    char rule[192], measured[240];
} fig_finding_t;

void fig_check(const fig_result_t *result, const fig_claim_t *claim, fig_finding_t *finding);

/* Why a claim differs: the first variant in which it holds, and what is measured there, or the claim's own reason. */
#define FIG_REASON_MAX 1024
extern const char fig_assumptions[]; /* what the variants are, for readers */
extern const char fig_unexplained[]; /* the reason, if none is known */
const char *fig_reason(const fig_result_t *result, const fig_claim_t *claim, char text[FIG_REASON_MAX]);

/* ---- Writing it down --------------------------------------------------------------------------------------------- */

/* Writes one file: of the figure, or of the whole result (figure NULL). Errors of the stream are left to the caller. */
typedef int fig_write_t(const fig_result_t *result, const fig_figure_t *figure, FILE *out);

fig_write_t fig_write_csv, fig_write_gnuplot;                   /* of a figure */
fig_write_t fig_write_cuts_csv, fig_write_cuts_gnuplot;         /* of one about cuts, by the former */
fig_write_t fig_write_tables, fig_write_page, fig_write_report; /* of the whole */

/* Whether gnuplot can be run. */
bool fig_can_draw(void);
#define FIG_SVG "svg size 760,440 font 'sans,14' background '#ffffff'"
#define FIG_PDF "pdfcairo size 19cm,11cm font 'sans,12'"
/* Runs a script of fig_write_gnuplot with one of these terminals; the picture goes to `path`. */
int fig_draw(const char *script, const char *terminal, const char *path);

#endif
