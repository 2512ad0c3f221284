/*
 * Reading of topologies as plain text. There are three kinds of lines; # begins a comment:
 *
 *     node17 0 3 1                                  a host and its coordinates, blanks or commas between them
 *     SwitchName=s0 Level=0 Nodes=node[00-07,12]    the hosts of a leaf switch, as `scontrol show topology` prints
 *     TorusName=t1 Dims=2x2x4 Nodes=node[00-15]     the hosts of a torus, also RingName=r1 Nodes=node[0-7] RingSize=8
 *
 * The sizes of the torus follow from the largest coordinates, or from a line "torus 4x4x8" before the hosts. Switches
 * have no coordinates: the n-th leaf, or block, is coordinate n of the first dimension, and its hosts are numbered
 * consecutively in the second. Switches and blocks above the leaves are ignored. The nodes of a torus of Slurm are
 * numbered with x, the first of its dimensions, fastest; x becomes the last dimension.
 */
#include "topology/topology_list.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/array.h"
#include "base/number.h"
#include "topology/slurm_lines.h"

#define HOSTS_MAX (1 << 20)
#define BLANK     " \t\r,"
#define DIGITS    "0123456789"
#define NAME      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_." DIGITS

typedef struct reader {
    const char *name;
    int line, dims, leaves, members; /* members: number of hosts of the current leaf so far */
    int64_t name_capacity, host_capacity;
    trv_topology_t *topology;
    struct host {
        int at[TRV_DIMS_MAX], line;
    } * host;
    bool has_switches; /* lines of leaves */
    bool has_torus;    /* a line of a torus or ring */
} reader_t;

__attribute__((format(printf, 2, 3))) static int fail(const reader_t *reader, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    trv_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return trv_fail(TRV_ERR_INVALID, "%.200s:%d: %s", reader->name, reader->line, text);
}

static int add_host(reader_t *reader, const char *host, const int at[TRV_DIMS_MAX])
{
    trv_topology_t *topology = reader->topology;
    for (const char *c = host; *c; c++)
        if (*c <= ' ' || *c > '~')
            return fail(reader, "the name of a host must consist of printable ASCII characters");
    if (topology->count == HOSTS_MAX)
        return fail(reader, "there are more than %d hosts", HOSTS_MAX);
    if (trv_array_reserve(&topology->host, &reader->name_capacity, topology->count, 1, sizeof *topology->host) ||
        trv_array_reserve(&reader->host, &reader->host_capacity, topology->count, 1, sizeof *reader->host))
        return TRV_ERR_MEMORY;
    topology->host[topology->count] = strdup(host);
    if (!topology->host[topology->count])
        return trv_fail_memory();
    reader->host[topology->count].line = reader->line;
    memcpy(reader->host[topology->count++].at, at, TRV_DIMS_MAX * sizeof *at);
    return TRV_OK;
}

/* ---- A host and its coordinates ---------------------------------------------------------------------------------- */

static int read_host(reader_t *reader, char *line)
{
    char *rest = NULL, *host = strtok_r(line, BLANK, &rest), *word;
    int at[TRV_DIMS_MAX] = {0}, dims = 0;
    while ((word = strtok_r(NULL, BLANK, &rest)) != NULL) {
        char *end;
        const long value = strtol(word, &end, 10);
        if (*end || value < 0 || value >= 1 << 30 || dims == TRV_DIMS_MAX)
            return fail(reader, "expected 1 to %d coordinates from 0 on after the host, not '%.40s'", TRV_DIMS_MAX,
                        word);
        at[dims++] = (int)value;
    }
    if (dims == 0)
        return fail(reader, "the host '%.60s' has no coordinates; expected, for example: node17 0 3 1", host);
    if (reader->dims && dims != reader->dims)
        return fail(reader, "the host '%.60s' has %d coordinate%s, and the previous ones have %d", host, dims,
                    dims == 1 ? "" : "s", reader->dims);
    reader->dims = dims;
    return add_host(reader, host, at);
}

static int read_torus(reader_t *reader, const char *text)
{
    trv_torus_t *torus = &reader->topology->torus;
    if (reader->dims)
        return fail(reader, "the line with the torus must precede the hosts and occur only once");
    if (trv_torus_parse(text, torus))
        return fail(reader, "%s", trv_last_error());
    reader->dims = torus->dims;
    return TRV_OK;
}

/* ---- Slurm ------------------------------------------------------------------------------------------------------- */

/* Adds a host to the current leaf, or to the torus. */
static int add_member(reader_t *reader, const char *host)
{
    const trv_torus_t *torus = &reader->topology->torus;
    int at[TRV_DIMS_MAX] = {reader->leaves, reader->members};
    if (reader->has_torus && reader->members < torus->ranks)
        trv_torus_coordinates(torus, reader->members, at);
    reader->members++;
    if (host[strspn(host, NAME)])
        return fail(reader, "'%.60s' is not a name of nodes, such as node7 or node[00-07,12]", host);
    return add_host(reader, host, at);
}

/* Adds the hosts of a range "00-07" or a number "12" between `prefix` and `suffix`. */
static int add_numbers(reader_t *reader, const char *prefix, int prefix_length, const char *range, const char *suffix)
{
    char host[512], *end;
    const int digits = (int)strspn(range, DIGITS);
    const long first = strtol(range, &end, 10);
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    int rc = TRV_OK;
    if (digits == 0 || *end || last < first || last - first >= HOSTS_MAX)
        return fail(reader, "'%.40s' is not a range of nodes, such as 00-07", range);
    for (long i = 0; i <= last - first && !rc; i++) { /* counts from 0, because `last` may be LONG_MAX */
        snprintf(host, sizeof host, "%.*s%0*ld%s", prefix_length, prefix, digits, first + i, suffix);
        rc = add_member(reader, host);
    }
    return rc;
}

/* Adds the hosts of an entry in a list of nodes: "node7", or "node[00-07,12]". */
static int add_entry(reader_t *reader, char *entry)
{
    char *open = strchr(entry, '['), *close = open ? strchr(open, ']') : NULL, *rest = NULL;
    int rc = TRV_OK;
    if (!open)
        return add_member(reader, entry);
    if (!close || strchr(close, '[') || close == open + 1)
        return fail(reader, "'%.60s' must have one pair of brackets with numbers in it, such as node[00-07,12]", entry);
    *close = '\0';
    for (char *range = strtok_r(open + 1, ",", &rest); range && !rc; range = strtok_r(NULL, ",", &rest))
        rc = add_numbers(reader, entry, (int)(open - entry), range, close + 1);
    return rc;
}

static int add_entries(reader_t *reader, char *nodes)
{
    int rc = TRV_OK, depth = 0;
    bool last = false;
    for (char *entry = nodes, *at = nodes; !rc && !last; at++) {
        depth += (*at == '[') - (*at == ']');
        last = !*at;
        if (last || (*at == ',' && depth == 0)) {
            *at = '\0';
            rc = *entry ? add_entry(reader, entry) : fail(reader, "the list of nodes has an empty entry");
            entry = at + 1;
        }
    }
    return rc;
}

static int read_leaf(reader_t *reader, const char *line)
{
    char *nodes = trv_slurm_value(line, "Nodes"), *level = trv_slurm_value(line, "Level");
    int rc = TRV_OK;
    reader->has_switches = true;
    reader->dims = 2;
    reader->members = 0;
    if (level && (!*level || level[strspn(level, DIGITS)]))
        rc = fail(reader, "Level must be a number, not '%.20s'", level);
    else if (!level || strcmp(level, "0") == 0) {
        rc = nodes ? add_entries(reader, nodes)
                   : fail(reader, "a leaf has no Nodes=; expected the output of `scontrol show topology`");
        reader->leaves++;
    }
    free(nodes);
    free(level);
    return rc;
}

/* Reads "8x8x16", x first, or the size of a ring. */
static int read_dims(reader_t *reader, const char *sizes)
{
    trv_torus_t slurm;
    int size[TRV_DIMS_MAX];
    if (!sizes || trv_torus_parse(sizes, &slurm) < 0 || slurm.lines)
        return fail(reader, "expected Dims=XxYxZ of a torus, or RingSize= of a ring, not '%.40s'", sizes ? sizes : "");
    for (int d = 0; d < slurm.dims; d++)
        size[d] = slurm.size[slurm.dims - 1 - d];
    reader->dims = slurm.dims;
    return trv_torus_init(&reader->topology->torus, slurm.dims, size);
}

/* Reads the line of a torus or ring. Placements, which are parts of a torus, are ignored. */
static int read_slurm_torus(reader_t *reader, const char *line, bool is_ring)
{
    char *nodes = trv_slurm_value(line, "Nodes"), *sizes = trv_slurm_value(line, is_ring ? "RingSize" : "Dims"),
         *placement = trv_slurm_value(line, "PlacementDims");
    int rc = TRV_OK;
    if (!placement && reader->has_torus)
        rc = fail(reader, "there are several tori or rings; a topology has one of them");
    else if (!placement) {
        rc = read_dims(reader, sizes);
        reader->has_torus = true;
        if (!rc)
            rc = nodes ? add_entries(reader, nodes) : fail(reader, "the torus has no Nodes=");
        if (!rc && reader->members != reader->topology->torus.ranks)
            rc = fail(
                reader,
                "the torus has %d coordinates and %d nodes, so the coordinates of the nodes are unknown; list each "
                "node with its coordinates",
                reader->topology->torus.ranks, reader->members);
    }
    free(nodes);
    free(sizes);
    free(placement);
    return rc;
}

/* ---- The whole text ---------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

static int read_line(reader_t *reader, char *line)
{
    char *text = line + strspn(line, BLANK);
    text[strcspn(text, "#")] = '\0';
    if (!*text)
        return TRV_OK;
    const bool leaf = begins(text, "SwitchName=") || begins(text, "BlockName="), ring = begins(text, "RingName="),
               torus = ring || begins(text, "TorusName=");
    if (begins(text, "AggregatedBlock="))
        return TRV_OK;
    if (reader->topology->count > 0 && (leaf != reader->has_switches || torus != reader->has_torus))
        return fail(
            reader,
            "the file has lines of different kinds: switches, tori, or hosts with coordinates; use one of them");
    if (leaf)
        return read_leaf(reader, text);
    if (torus)
        return read_slurm_torus(reader, text, ring);
    if (strncmp(text, "torus", 5) == 0 && strchr(BLANK, text[5])) {
        text += 5 + strspn(text + 5, BLANK);
        text[strcspn(text, BLANK)] = '\0';
        return read_torus(reader, text);
    }
    return read_host(reader, text);
}

typedef struct named {
    const char *name;
    int line;
} named_t;

static int by_name(const void *a, const void *b)
{
    const named_t *left = a, *right = b;
    const int order = strcmp(left->name, right->name);
    return order ? order : left->line - right->line;
}

static int check_duplicates(reader_t *reader)
{
    const trv_topology_t *topology = reader->topology;
    named_t *host = malloc((size_t)topology->count * sizeof *host + 1);
    int rc = host ? TRV_OK : trv_fail_memory();
    for (int i = 0; host && i < topology->count; i++)
        host[i] = (named_t){topology->host[i], reader->host[i].line};
    if (host)
        qsort(host, (size_t)topology->count, sizeof *host, by_name);
    for (int i = 1; i < topology->count && !rc; i++)
        if (strcmp(host[i - 1].name, host[i].name) == 0) {
            reader->line = host[i].line;
            rc = fail(reader, "the host '%.60s' is listed twice, first in line %d", host[i].name, host[i - 1].line);
        }
    free(host);
    return rc;
}

/* Determines the torus, if no line has specified it, and the coordinates of the hosts. */
static int assign_coordinates(reader_t *reader)
{
    trv_topology_t *topology = reader->topology;
    trv_torus_t *torus = &topology->torus;
    int size[TRV_DIMS_MAX];
    if (topology->count == 0)
        return trv_fail(TRV_ERR_INVALID,
                        "%.200s: the file has no hosts; expected JSON, a host and its coordinates per line, or "
                        "the output of `scontrol show topology`",
                        reader->name);
    for (int d = 0; d < reader->dims; d++) {
        size[d] = 1;
        for (int i = 0; i < topology->count; i++) {
            const int at = reader->host[i].at[d];
            size[d] = at >= size[d] ? at + 1 : size[d];
            reader->line = reader->host[i].line;
            if (torus->dims && at >= torus->size[d])
                return fail(reader, "coordinate %d is outside dimension %d, whose size is %d", at, d, torus->size[d]);
        }
    }
    if (!torus->dims && trv_torus_init(torus, reader->dims, size))
        return trv_fail(TRV_ERR_INVALID, "%.200s: %s", reader->name, trv_last_error());
    topology->coordinate = calloc((size_t)topology->count, sizeof *topology->coordinate);
    if (!topology->coordinate)
        return trv_fail_memory();
    for (int i = 0; i < topology->count; i++)
        topology->coordinate[i] = trv_torus_rank(torus, reader->host[i].at);
    return TRV_OK;
}

int trv_topology_list_parse(trv_topology_t *topology, const char *name, const char *text)
{
    reader_t reader = {.name = name, .line = 1, .topology = topology};
    int rc = TRV_OK;
    for (; *text && !rc; reader.line++) {
        const size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        rc = line ? read_line(&reader, line) : trv_fail_memory();
        free(line);
        text += length + (text[length] == '\n');
    }
    if (!rc)
        rc = check_duplicates(&reader);
    if (!rc)
        rc = assign_coordinates(&reader);
    free(reader.host);
    return rc;
}
