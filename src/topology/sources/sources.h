/*
 * Discovery of the network of a job from the records of its ranks.
 *
 * A source is a supplier of coordinates: Slurm, Fujitsu MPI, PMIx. Each is a file of this folder with an interpreter, a
 * pure function of the records of all ranks, which finds the network and the coordinate of every rank, or an error
 * sentence that names the source and the value. The sources are tried in the order of the table; a source that is
 * present but unusable is reported, and the next one is tried. Only rank 0 interprets.
 */
#ifndef TRIVANCE_TOPOLOGY_SOURCES_SOURCES_H
#define TRIVANCE_TOPOLOGY_SOURCES_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include <trivance/torus.h>

#include "base/error.h"
#include "topology/sources/record.h"

/* ---- The record of this rank ------------------------------------------------------------------------------------- */

/* Fills the parts of the record that are in the environment of the process, and sets the other parts to absent; the
 * caller fills these. */
void trv_record_read(trv_rank_record_t *record);

/* Copies a record that another rank has sent. A record of another size remains empty, and its texts are terminated. */
void trv_record_receive(trv_rank_record_t *record, const void *data, size_t bytes);

/* Whether any source is present in the record. */
bool trv_record_has_source(const trv_rank_record_t *record);

/* ---- The network ------------------------------------------------------------------------------------------------- */

/* The network that a source describes. */
typedef struct trv_found {
    const char *source; /* name of the source: "SLURM_TOPOLOGY_ADDR" */
    trv_torus_t torus;  /* of the machine, as far as it is known */
    /* Dimension 0 numbers tori that no known link joins: ranks in several of them are a set of nodes. */
    bool separate;
    int *coordinate;  /* of every rank, by trv_torus_rank; owned */
    trv_torus_t part; /* the torus that the job's nodes form; dims 0: they form none */
    bool in_order;    /* `part` has one rank per coordinate, numbered like its coordinates */
    char note[400];   /* what the source does not know; "": nothing */
} trv_found_t;

/* Parameters of the interpreters. */
typedef struct trv_source_options {
    const char *slurm_dims; /* TRIVANCE_SLURM_DIMS; NULL: not set */
} trv_source_options_t;

/* Reports a source that is present but unusable, with one sentence. wrong: its values are invalid; otherwise they are
 * valid, but describe no torus. */
typedef void trv_source_report_t(void *context, bool wrong, const char *sentence);

/* Finds the network from the records of all ranks. Returns 1 if a source describes it, 0 if none does, or
 * TRV_ERR_MEMORY. `report` may be NULL. The caller clears *found in all cases. */
int trv_discover(trv_found_t *found, const trv_rank_record_t *record, int ranks, const trv_source_options_t *options,
                 trv_source_report_t *report, void *context);
void trv_found_clear(trv_found_t *found);

/* Writes a sentence such as "torus 4x4x8 from SLURM_TOPOLOGY_ADDR". Returns `text`. */
#define TRV_FOUND_TEXT_MAX 768
const char *trv_found_text(const trv_found_t *found, int ranks, char text[TRV_FOUND_TEXT_MAX]);

/* The name of a source by its index in the table; the index of a name in it. For messages between ranks. */
const char *trv_source_name(int index);
int trv_source_index(const char *name);

/* ---- For the files of the sources -------------------------------------------------------------------------------- */

/* A source. */
typedef struct trv_source {
    const char *name;
    bool (*present)(const trv_rank_record_t *record);
    /* Fills the torus, `separate`, the coordinates (memory is allocated) and the note. Called if the source is present
     * on any rank. TRV_OK; TRV_ERR_UNSUPPORTED if the source describes no torus, or TRV_ERR_INVALID if its values are
     * invalid, each with a sentence as the last error; TRV_ERR_MEMORY. */
    int (*interpret)(trv_found_t *found, const trv_rank_record_t *record, int ranks,
                     const trv_source_options_t *options);
} trv_source_t;

extern const trv_source_t trv_source_slurm, trv_source_fujitsu, trv_source_pmix;

/* Sets the torus and the coordinates of all ranks. at[dims * r + d]: the coordinate of rank r in dimension d. size[d]:
 * the size of dimension d, which exceeds all coordinates in it; NULL: unknown. Then the torus is the mesh from the
 * smallest to the largest coordinates. `lines`: the dimensions without wrap-around. TRV_OK, TRV_ERR_INVALID if there is
 * no such torus, or TRV_ERR_MEMORY. */
int trv_found_set(trv_found_t *found, const int *at, int ranks, int dims, const int *size, unsigned lines);

#endif
