/*
 * Slurm, which sets two variables in every task of a job: SLURM_TOPOLOGY_ADDR, the address of the node, and
 * SLURM_TOPOLOGY_ADDR_PATTERN, what the parts of the address are. Two plugins of Slurm 26.05 have coordinates:
 *
 *     topology/torus3d   t1:0:2:5.node17    torus:x:y:z.node
 *     topology/ring      r1:7.node17        ring:position.node
 *
 * The nodes of a torus are numbered with x fastest, so x becomes the last dimension here: then the ranks of a job have
 * the order of their coordinates. The variables do not contain the dimensions. They are in TRIVANCE_SLURM_DIMS, which
 * `trivance run` sets to those that `scontrol show topology` prints; without it, only the mesh between the job's nodes
 * is known. Other plugins describe switches or blocks of nodes, which have no coordinates.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/slurm_dims.h"
#include "topology/sources/sources.h"

#define ADDRESS "SLURM_TOPOLOGY_ADDR"
#define PATTERN ADDRESS "_PATTERN"

enum { DIMS_MAX = 3, COORDINATE_MAX = 1 << 20, TORI_MAX = 64 };

static const struct form {
    const char *pattern, *what, *example;
    int dims;
} form[] = {{"torus:x:y:z.node", "torus", "t1:0:2:5.node17", 3}, {"ring:position.node", "ring", "r1:7.node17", 1}};
enum { FORMS = sizeof form / sizeof form[0] };

/* A torus, or a ring, that ranks of the job are in. */
typedef struct slurm_torus {
    const char *name;
    size_t length;
    bool known; /* its sizes are known, x first: */
    trv_torus_t sizes;
} slurm_torus_t;

typedef struct slurm_job {
    const struct form *form;
    int count;
    slurm_torus_t torus[TORI_MAX];
    int *at; /* form->dims + 1 coordinates of every rank: the index of its torus, z, y, x */
} slurm_job_t;

static bool slurm_present(const trv_rank_record_t *record) { return *record->slurm.address || *record->slurm.pattern; }

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

/* Whether the pattern consists of the words "switch", "block" and "node" alone, separated by dots. */
static bool has_no_coordinates(const char *pattern)
{
    static const char *const word[] = {"switch", "block", "node"};
    for (const char *at = pattern;; at++) {
        const size_t length = strcspn(at, ".");
        bool known = false;
        for (int i = 0; i < 3; i++)
            known = known || (strlen(word[i]) == length && strncmp(at, word[i], length) == 0);
        if (!known)
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static int form_find(const char *pattern, const char *address, const struct form **found)
{
    for (int i = 0; i < FORMS; i++) {
        *found = &form[i];
        if (strcmp(pattern, form[i].pattern) == 0)
            return TRV_OK;
        const size_t length = strlen(form[i].what);
        if (strncmp(pattern, form[i].what, length) == 0 && pattern[length] == ':')
            return trv_fail(TRV_ERR_INVALID,
                            PATTERN "=%s is from another version of Slurm's plugin topology/%s; expected %s, as in "
                                    "Slurm 26.05",
                            pattern, i == 0 ? "torus3d" : "ring", form[i].pattern);
    }
    if (has_no_coordinates(pattern))
        return trv_fail(TRV_ERR_UNSUPPORTED,
                        ADDRESS "=%s has the pattern %s, in which there are no coordinates; if the machine is a torus, "
                                "set TRIVANCE_TOPOLOGY_FILE",
                        address, pattern);
    return trv_fail(TRV_ERR_INVALID, PATTERN "=%s is unknown; expected %s or %s", pattern, form[0].pattern,
                    form[1].pattern);
}

/* Whether a rank has the pattern or, if not, the address. */
static bool is_set(const trv_rank_record_t *record, int ranks, bool pattern)
{
    for (int r = 0; r < ranks; r++)
        if (pattern ? *record[r].slurm.pattern : *record[r].slurm.address)
            return true;
    return false;
}

/* Finds the pattern, which must be the same on all ranks. */
static int form_read(const trv_rank_record_t *record, int ranks, const struct form **found)
{
    if (!is_set(record, ranks, false) || !is_set(record, ranks, true)) {
        const bool pattern = is_set(record, ranks, true);
        return trv_fail(TRV_ERR_INVALID, "%s is not set, but %s is", pattern ? ADDRESS : PATTERN,
                        pattern ? PATTERN : ADDRESS);
    }
    for (int r = 0; r < ranks; r++) {
        const trv_slurm_record_t *own = &record[r].slurm;
        if (!*own->address || !*own->pattern)
            return trv_fail(TRV_ERR_INVALID, "%s is not set on rank %d, but on other ranks of the job",
                            *own->address ? PATTERN : ADDRESS, r);
        if (strcmp(own->pattern, record[0].slurm.pattern) != 0)
            return trv_fail(TRV_ERR_INVALID, PATTERN " is %s on rank %d and %s on rank 0; it must be the same",
                            own->pattern, r, record[0].slurm.pattern);
    }
    return form_find(record[0].slurm.pattern, record[0].slurm.address, found);
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

static int torus_index(slurm_job_t *job, const char *name, size_t length, const char *dims)
{
    char torus_name[TRV_SLURM_NAME_MAX];
    for (int i = 0; i < job->count; i++)
        if (job->torus[i].length == length && memcmp(job->torus[i].name, name, length) == 0)
            return i;
    if (job->count == TORI_MAX || length >= sizeof torus_name)
        return trv_fail(TRV_ERR_INVALID,
                        ADDRESS ": the job has more than %d tori, or one whose name '%.*s' is too long", TORI_MAX,
                        (int)(length < 80 ? length : 80), name);
    slurm_torus_t *torus = &job->torus[job->count];
    *torus = (slurm_torus_t){.name = name, .length = length};
    snprintf(torus_name, sizeof torus_name, "%.*s", (int)length, name);
    torus->known = trv_slurm_dims_find(dims, torus_name, &torus->sizes);
    if (torus->known && torus->sizes.dims != job->form->dims)
        return trv_fail(TRV_ERR_INVALID, "TRIVANCE_SLURM_DIMS has %d dimensions for the %s %s; expected %d",
                        torus->sizes.dims, job->form->what, torus_name, job->form->dims);
    return job->count++;
}

static bool is_printable(const char *text)
{
    while (*text > ' ' && *text <= '~')
        text++;
    return !*text;
}

/* Parses ":0:2:5.node17" into the coordinates, x first. */
static bool coordinates_read(const char *text, int dims, int x[DIMS_MAX])
{
    for (int d = 0; d < dims; d++) {
        int value = 0;
        const char *digit = text + 1;
        if (*text != ':' || *digit < '0' || *digit > '9')
            return false;
        for (; *digit >= '0' && *digit <= '9' && value < COORDINATE_MAX; digit++)
            value = 10 * value + *digit - '0';
        if (value >= COORDINATE_MAX)
            return false;
        x[d] = value;
        text = digit;
    }
    return text[0] == '.' && text[1];
}

static int address_read(slurm_job_t *job, const char *address, int rank, const char *dims)
{
    const size_t length = strcspn(address, ":");
    int x[DIMS_MAX], *at = &job->at[(job->form->dims + 1) * rank];
    if (length == 0 || !is_printable(address) || !coordinates_read(address + length, job->form->dims, x))
        return trv_fail(TRV_ERR_INVALID,
                        ADDRESS "=%s on rank %d does not have the form " PATTERN "=%s; expected, for example, %s",
                        address, rank, job->form->pattern, job->form->example);
    const int index = torus_index(job, address, length, dims);
    if (index < 0)
        return index;
    at[0] = index;
    for (int d = 0; d < job->form->dims; d++) {
        const slurm_torus_t *torus = &job->torus[index];
        char sizes[TRV_TORUS_TEXT_MAX];
        if (torus->known && x[d] >= torus->sizes.size[d])
            return trv_fail(TRV_ERR_INVALID, ADDRESS "=%s on rank %d is outside the dimensions %s of the %s '%.*s'",
                            address, rank, trv_torus_format(&torus->sizes, sizes, sizeof sizes), job->form->what,
                            (int)torus->length, torus->name);
        at[job->form->dims - d] = x[d];
    }
    return TRV_OK;
}

/* ---- The network ------------------------------------------------------------------------------------------------- */

/* Sets the sizes z, y, x of the smallest torus that contains all tori of the job; a dimension in which they differ has
 * no wrap-around. Returns whether the sizes of all of them are known. */
static bool sizes_find(const slurm_job_t *job, int size[DIMS_MAX], unsigned *lines)
{
    *lines = 0;
    for (int i = 0; i < job->count; i++) {
        if (!job->torus[i].known)
            return false;
        for (int d = 0; d < job->form->dims; d++) {
            const int from = job->form->dims - 1 - d, own = job->torus[i].sizes.size[from],
                      first = job->torus[0].sizes.size[from];
            size[d] = i == 0 || own > size[d] ? own : size[d];
            if (own != first || job->torus[i].sizes.lines >> from & 1)
                *lines |= 1u << d;
        }
    }
    return true;
}

static void note_write(trv_found_t *found, const slurm_job_t *job, bool known)
{
    size_t used = 0;
    if (job->count > 1)
        used = (size_t)snprintf(found->note, sizeof found->note,
                                "the nodes are in %d %s%s, between which no links are known", job->count,
                                job->form->dims > 1 ? "tori" : "rings", known ? "" : " of unknown dimensions");
    const slurm_torus_t *first = &job->torus[0];
    for (int i = job->count - 1; i > 0 && first->known; i--)
        first = job->torus[i].known ? first : &job->torus[i];
    if (!known)
        snprintf(
            found->note + used, sizeof found->note - used,
            "%sa mesh, because the dimensions of the %s '%.*s' are unknown: start the job with `trivance run`, which "
            "asks Slurm, or set TRIVANCE_SLURM_DIMS, for example %.*s=%s",
            used ? "; " : "", job->form->what, (int)first->length, first->name, (int)first->length, first->name,
            job->form->dims > 1 ? "8x8x16" : "16");
}

static int network_set(trv_found_t *found, slurm_job_t *job, int ranks)
{
    const int dims = job->form->dims, width = dims + 1;
    int size[DIMS_MAX + 1] = {job->count};
    unsigned lines;
    const bool known = sizes_find(job, size + 1, &lines);
    note_write(found, job, known);
    found->separate = job->count > 1;
    if (found->separate)
        return trv_found_set(found, job->at, ranks, width, known ? size : NULL, lines << 1 | 1);
    for (int r = 0; r < ranks; r++) /* without the index of the torus */
        memmove(&job->at[dims * r], &job->at[width * r + 1], (size_t)dims * sizeof *job->at);
    return trv_found_set(found, job->at, ranks, dims, known ? size + 1 : NULL, lines);
}

static int slurm_interpret(trv_found_t *found, const trv_rank_record_t *record, int ranks,
                           const trv_source_options_t *options)
{
    slurm_job_t job = {.count = 0};
    int code = form_read(record, ranks, &job.form);
    if (code < 0)
        return code;
    job.at = malloc((size_t)ranks * (size_t)(job.form->dims + 1) * sizeof *job.at);
    code = job.at ? TRV_OK : trv_fail_memory();
    for (int r = 0; code == TRV_OK && r < ranks; r++)
        code = address_read(&job, record[r].slurm.address, r, options ? options->slurm_dims : NULL);
    if (code == TRV_OK)
        code = network_set(found, &job, ranks);
    free(job.at);
    return code;
}

const trv_source_t trv_source_slurm = {ADDRESS, slurm_present, slurm_interpret};
