/*
 * The sources in order of precedence, and the part of the network that a job occupies.
 */
#include "topology/sources/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascending.h"
#include "torus/box.h"

static const trv_source_t *const source[] = {&trv_source_slurm, &trv_source_fujitsu, &trv_source_pmix};
enum { SOURCES = sizeof source / sizeof source[0] };

const char *trv_source_name(int index) { return index >= 0 && index < SOURCES ? source[index]->name : "no source"; }

int trv_source_index(const char *name)
{
    for (int i = 0; name && i < SOURCES; i++)
        if (strcmp(source[i]->name, name) == 0)
            return i;
    return -1;
}

/* ---- The record of this rank ------------------------------------------------------------------------------------- */

static void variable_copy(const char *name, char *value, size_t size)
{
    static const char cut[] = "…";
    const char *text = getenv(name);
    if (!text)
        return;
    snprintf(value, size, "%s", text);
    if (strlen(text) >= size)
        memcpy(value + size - sizeof cut, cut, sizeof cut);
}

void trv_record_read(trv_rank_record_t *record)
{
    memset(record, 0, sizeof *record); /* including padding, because the bytes are sent */
    gethostname(record->host, sizeof record->host - 1);
    variable_copy("SLURM_TOPOLOGY_ADDR", record->slurm.address, sizeof record->slurm.address);
    variable_copy("SLURM_TOPOLOGY_ADDR_PATTERN", record->slurm.pattern, sizeof record->slurm.pattern);
}

void trv_record_receive(trv_rank_record_t *record, const void *data, size_t bytes)
{
    memset(record, 0, sizeof *record);
    if (bytes != sizeof *record)
        return;
    memcpy(record, data, bytes);
    record->host[sizeof record->host - 1] = record->slurm.address[sizeof record->slurm.address - 1] =
        record->slurm.pattern[sizeof record->slurm.pattern - 1] = record->pmix
                                                                      .type[sizeof record->pmix.type - 1] = '\0';
}

bool trv_record_has_source(const trv_rank_record_t *record)
{
    for (int i = 0; i < SOURCES; i++)
        if (source[i]->present(record))
            return true;
    return false;
}

/* ---- The torus and the coordinates ------------------------------------------------------------------------------- */

int trv_found_set(trv_found_t *found, const int *at, int ranks, int dims, const int *size, unsigned lines)
{
    int first[TRV_DIMS_MAX] = {0}, sizes[TRV_DIMS_MAX];
    for (int d = 0; d < dims; d++) {
        int last = first[d] = at[d];
        for (int r = 0; r < ranks; r++) {
            const int coordinate = at[dims * r + d];
            first[d] = coordinate < first[d] ? coordinate : first[d];
            last = coordinate > last ? coordinate : last;
        }
        sizes[d] = size ? size[d] : last - first[d] + 1;
        first[d] = size ? 0 : first[d];
        lines = (size && !(lines >> d & 1)) || sizes[d] == 1 ? lines & ~(1u << d) : lines | 1u << d;
    }
    if (trv_torus_init(&found->torus, dims, sizes) < 0 || trv_torus_set_lines(&found->torus, lines) < 0)
        return TRV_ERR_INVALID;
    found->coordinate = malloc((size_t)ranks * sizeof *found->coordinate);
    if (!found->coordinate)
        return trv_fail_memory();
    for (int r = 0; r < ranks; r++) {
        int shifted[TRV_DIMS_MAX];
        for (int d = 0; d < dims; d++)
            shifted[d] = at[dims * r + d] - first[d];
        found->coordinate[r] = trv_torus_rank(&found->torus, shifted);
    }
    return TRV_OK;
}

/* ---- The part of the job ----------------------------------------------------------------------------------------- */

typedef struct location {
    int coordinate, rank;
} location_t;

static int by_coordinate(const void *a, const void *b)
{
    const location_t *x = a, *y = b;
    return x->coordinate != y->coordinate ? (x->coordinate > y->coordinate) - (x->coordinate < y->coordinate)
                                          : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Writes a coordinate as "0,2,5". */
static const char *coordinate_text(const trv_torus_t *torus, int coordinate, char text[TRV_TORUS_TEXT_MAX])
{
    int at[TRV_DIMS_MAX], used = 0;
    trv_torus_coordinates(torus, coordinate, at);
    for (int d = 0; d < torus->dims; d++)
        used += snprintf(text + used, (size_t)(TRV_TORUS_TEXT_MAX - used), "%s%d", d ? "," : "", at[d]);
    return text;
}

/* Fails if two ranks have one coordinate and different hosts. Reduces `location`, which is sorted, to one entry per
 * coordinate; *nodes is their number. */
static int merge_locations(const trv_found_t *found, const trv_rank_record_t *record, location_t *location, int ranks,
                           int *nodes)
{
    char text[TRV_TORUS_TEXT_MAX];
    *nodes = 0;
    for (int i = 0; i < ranks; i++) {
        const location_t *last = *nodes ? &location[*nodes - 1] : NULL;
        if (!last || last->coordinate != location[i].coordinate) {
            location[(*nodes)++] = location[i];
            continue;
        }
        const trv_rank_record_t *a = &record[last->rank], *b = &record[location[i].rank];
        if (strcmp(a->host, b->host) != 0)
            return trv_fail(TRV_ERR_INVALID,
                            "%s: ranks %d and %d have the same coordinate, %s, but are on the hosts %.64s and %.64s; "
                            "only ranks of one host may share a coordinate",
                            found->source, last->rank, location[i].rank,
                            coordinate_text(&found->torus, last->coordinate, text), a->host, b->host);
    }
    return TRV_OK;
}

/* Whether the ranks are numbered like the coordinates of the box, one rank each. A line of the box that is a part of a
 * ring begins at box->first. */
static bool is_in_order(const trv_found_t *found, const trv_box_t *box, int ranks)
{
    int before = -1;
    for (int r = 0; r < ranks; r++) {
        int at[TRV_DIMS_MAX];
        trv_torus_coordinates(&found->torus, found->coordinate[r], at);
        for (int d = 0; d < box->torus.dims; d++) {
            const int wide = box->dimension[d], size = found->torus.size[wide];
            at[wide] = (at[wide] - box->first[d] + size) % size;
        }
        const int now = trv_torus_rank(&found->torus, at);
        if (now <= before)
            return false;
        before = now;
    }
    return true;
}

/* Whether the nodes are in more than one of several separate tori. */
static bool spans_tori(const trv_found_t *found, const int *node, int nodes)
{
    const int each = found->torus.ranks / found->torus.size[0];
    for (int i = 1; found->separate && i < nodes; i++)
        if (node[i] / each != node[0] / each)
            return true;
    return false;
}

/* Finds the torus that the nodes of the job form. */
static int part_find(trv_found_t *found, const trv_rank_record_t *record, int ranks)
{
    location_t *location = malloc((size_t)ranks * sizeof *location);
    int *node = malloc((size_t)ranks * sizeof *node), nodes = 0;
    trv_box_t box;
    int code = location && node ? TRV_OK : trv_fail_memory();
    for (int r = 0; code == TRV_OK && r < ranks; r++)
        location[r] = (location_t){found->coordinate[r], r};
    if (code == TRV_OK) {
        qsort(location, (size_t)ranks, sizeof *location, by_coordinate);
        code = merge_locations(found, record, location, ranks, &nodes);
    }
    for (int i = 0; code == TRV_OK && i < nodes; i++)
        node[i] = location[i].coordinate;
    if (code == TRV_OK && !spans_tori(found, node, nodes)) {
        code = trv_box_find(&box, &found->torus, nodes, node);
        if (code > 0) {
            found->part = nodes == found->torus.ranks ? found->torus : box.torus;
            found->in_order = nodes == ranks && is_in_order(found, &box, ranks);
        }
        code = code < 0 ? code : TRV_OK;
    }
    free(location);
    free(node);
    return code;
}

/* ---- Discovery --------------------------------------------------------------------------------------------------- */

void trv_found_clear(trv_found_t *found)
{
    free(found->coordinate);
    *found = (trv_found_t){.source = NULL};
}

static bool is_present(const trv_source_t *candidate, const trv_rank_record_t *record, int ranks)
{
    for (int r = 0; r < ranks; r++)
        if (candidate->present(&record[r]))
            return true;
    return false;
}

int trv_discover(trv_found_t *found, const trv_rank_record_t *record, int ranks, const trv_source_options_t *options,
                 trv_source_report_t *report, void *context)
{
    *found = (trv_found_t){.source = NULL};
    for (int i = 0; i < SOURCES; i++) {
        if (!is_present(source[i], record, ranks))
            continue;
        found->source = source[i]->name;
        int code = source[i]->interpret(found, record, ranks, options);
        if (code == TRV_OK)
            code = part_find(found, record, ranks);
        if (code == TRV_OK)
            return 1;
        trv_found_clear(found);
        if (code == TRV_ERR_MEMORY)
            return code;
        if (report)
            report(context, code != TRV_ERR_UNSUPPORTED, trv_last_error());
    }
    return 0;
}

static const char *kind_of(const trv_torus_t *torus) { return torus->lines ? "mesh" : "torus"; }

const char *trv_found_text(const trv_found_t *found, int ranks, char text[TRV_FOUND_TEXT_MAX])
{
    char whole[TRV_TORUS_TEXT_MAX], part[TRV_TORUS_TEXT_MAX];
    size_t used;
    if (found->part.ranks == 1) {
        snprintf(text, TRV_FOUND_TEXT_MAX, "all ranks are on one node, by %s", found->source);
        return text;
    }
    trv_torus_format(&found->torus, whole, sizeof whole);
    if (found->part.dims)
        trv_torus_format(&found->part, part, sizeof part);
    if (!found->part.dims)
        used = (size_t)snprintf(text, TRV_FOUND_TEXT_MAX, "a set of nodes of the %s %s from %s", kind_of(&found->torus),
                                whole, found->source);
    else if (strcmp(whole, part) == 0)
        used = (size_t)snprintf(text, TRV_FOUND_TEXT_MAX, "%s %s from %s", kind_of(&found->torus), whole,
                                found->source);
    else
        used = (size_t)snprintf(text, TRV_FOUND_TEXT_MAX, "%s %s, a part of the %s %s, from %s", kind_of(&found->part),
                                part, kind_of(&found->torus), whole, found->source);
    if (found->part.dims && ranks != found->part.ranks && used < TRV_FOUND_TEXT_MAX)
        used += (size_t)snprintf(text + used, TRV_FOUND_TEXT_MAX - used, ", %d ranks on %d nodes", ranks,
                                 found->part.ranks);
    if (*found->note && used < TRV_FOUND_TEXT_MAX)
        snprintf(text + used, TRV_FOUND_TEXT_MAX - used, "; %s", found->note);
    return text;
}
