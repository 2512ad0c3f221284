/*
 * Reading and writing of topology files: {"format": "trivance-topology-1", "torus": [2, 4], "ranks": [[0, 0], [0, 1],
 * …]}. Files that are not JSON are read by topology_list.c.
 */
#include "topology/topology_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "json/json.h"
#include "topology/topology_list.h"
#include "torus/rows.h"
#include "base/text/whole_file.h"

#define FORMAT "trivance-topology-1"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

#define EXAMPLE_MAX (TRV_DIMS_MAX * 3 + 3)

/* An example of a coordinate, for messages. */
static char *coordinate_example(const trv_torus_t *torus, char text[EXAMPLE_MAX])
{
    int used = 0;
    for (int d = 0; d < torus->dims; d++)
        used += snprintf(text + used, (size_t)(EXAMPLE_MAX - used), "%s0", d ? ", " : "[");
    snprintf(text + used, (size_t)(EXAMPLE_MAX - used), "]");
    return text;
}

static int read_coordinate(const trv_json_t *file, const trv_torus_t *torus, const json_t *list, int *coordinate)
{
    int at[TRV_DIMS_MAX];
    char text[EXAMPLE_MAX];
    if (!json_is_array(list) || json_array_size(list) != (size_t)torus->dims)
        return trv_json_fail(file, list, NULL, "a coordinate must be a list of %d number%s, for example %s",
                             torus->dims, torus->dims == 1 ? "" : "s", coordinate_example(torus, text));
    for (int d = 0; d < torus->dims; d++) {
        char what[] = "the coordinate in dimension 0";
        int64_t value = 0;
        what[sizeof what - 2] = (char)('0' + d);
        int code = trv_json_entry(file, list, (size_t)d, what, 0, torus->size[d] - 1, &value);
        if (code < 0)
            return code;
        at[d] = (int)value;
    }
    *coordinate = trv_torus_rank(torus, at);
    return TRV_OK;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

#define SPEED_MIN (1 / TRV_SLOW_FACTOR_MAX)

static int read_factor(const trv_json_t *file, const json_t *entry, double *factor)
{
    const json_t *speed = json_object_get(entry, "speed"), *down = json_object_get(entry, "down");
    const double value = json_number_value(speed); /* 0 if it is not a number */
    *factor = down ? INFINITY : 1 / value;
    if (!speed == !down || (down && !json_is_true(down)))
        return trv_json_fail(file, entry, NULL, "a link has either a \"speed\", 0.25 for example, or \"down\": true");
    return down || (value >= SPEED_MIN && value <= 1)
               ? TRV_OK
               : trv_json_fail(file, entry, "speed",
                               "the speed of a link must be a number from %f to 1, relative to the bandwidth of a "
                               "regular link; a link that carries nothing has \"down\": true",
                               SPEED_MIN);
}

static int check_link_keys(const trv_json_t *file, json_t *entry)
{
    static const char *const known[] = {"from", "port", "speed", "down", "one_way", NULL};
    const char *key;
    json_t *value;
    json_object_foreach(entry, key, value)
    {
        if (!trv_json_is_known(key, known))
            return trv_json_fail(file, entry, key,
                                 "a link has no key \"%.40s\"; its keys are from, port, speed or down, and one_way",
                                 key);
    }
    return TRV_OK;
}

/* Checks the links. Cuts may divide rows, or a failed node from all others: a job may use other nodes, and a
 * communicator of nodes with divided rows is planned as a set of nodes. */
static int check_links(const trv_torus_t *torus, int links, const trv_slow_link_t *link)
{
    const trv_network_t network = {TRV_NETWORK, .torus = *torus, .slow_links = links, .slow_link = link};
    const int code = trv_network_check(&network);
    return code == TRV_ERR_UNSUPPORTED ? TRV_OK : code;
}

static int read_link(const trv_json_t *file, json_t *entry, const trv_torus_t *torus, trv_slow_link_t *link)
{
    const json_t *from = json_object_get(entry, "from");
    bool one_way = false;
    const char *port = json_string_value(json_object_get(entry, "port"));
    if (!from || !port)
        return trv_json_fail(file, entry, NULL,
                             "a link must be an object with the coordinate and the port that it leaves, for example "
                             "{\"from\": [0, 0], \"port\": \"+0\", \"speed\": 0.25}");
    int code = check_link_keys(file, entry);
    if (code == TRV_OK)
        code = read_coordinate(file, torus, from, &link->rank);
    if (code == TRV_OK)
        code = read_factor(file, entry, &link->factor);
    if (code == TRV_OK && trv_port_parse(port, &link->port) < 0)
        code = trv_json_fail(file, entry, "port", "%s", trv_last_error());
    if (code == TRV_OK)
        code = trv_json_boolean(file, entry, "one_way", &one_way);
    if (code < 0)
        return code;
    return check_links(torus, 1, link) < 0 ? trv_json_fail(file, entry, NULL, "%s", trv_last_error()) : TRV_OK;
}

/* Marks the port of a link in the bit masks of the ranks. Fails if another entry has marked it. */
static int mark_link(const trv_json_t *file, const json_t *entry, const trv_slow_link_t *link, uint16_t *marked)
{
    _Static_assert(TRV_PORTS_MAX <= 16, "a bit for each port");
    if (marked[link->rank] >> link->port & 1)
        return trv_json_fail(
            file, entry, NULL,
            "the link is listed twice; an entry means both directions unless it has \"one_way\": true");
    marked[link->rank] |= (uint16_t)(1 << link->port);
    return TRV_OK;
}

/* Reads the list of links; an entry means both directions of the link unless it has "one_way": true. */
static int read_links(const trv_json_t *file, trv_topology_t *topology)
{
    const json_t *list = json_object_get(file->root, "links");
    json_t *entry;
    size_t i;
    if (!list)
        return TRV_OK;
    if (!json_is_array(list) || json_array_size(list) > 1 << 29)
        return trv_json_fail(file, file->root, "links", "\"links\" must be a list of the links that are slow or down");
    topology->slow_link = calloc(2 * json_array_size(list) + 1, sizeof *topology->slow_link);
    uint16_t *marked = calloc((size_t)topology->torus.ranks, sizeof *marked);
    int code = topology->slow_link && marked ? TRV_OK : trv_fail_memory();
    json_array_foreach(list, i, entry)
    {
        trv_slow_link_t *link = code == TRV_OK ? &topology->slow_link[topology->slow_links] : NULL;
        code = link ? read_link(file, entry, &topology->torus, link) : code;
        const int directions = json_is_true(json_object_get(entry, "one_way")) ? 1 : 2;
        if (code == TRV_OK && directions == 2)
            link[1] = trv_link_opposite(&topology->torus, link);
        for (int d = 0; d < directions && code == TRV_OK; d++)
            code = mark_link(file, entry, &link[d], marked);
        topology->slow_links += code == TRV_OK ? directions : 0;
    }
    free(marked);
    if (code < 0)
        return code;
    return check_links(&topology->torus, topology->slow_links, topology->slow_link) < 0
               ? trv_json_fail(file, file->root, "links", "%s", trv_last_error())
               : TRV_OK;
}

/* ---- Ranks and hosts --------------------------------------------------------------------------------------------- */

static int read_ranks(const trv_json_t *file, const json_t *list, trv_topology_t *topology)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > 1 << 30)
        return trv_json_fail(file, file->root, "ranks",
                             "\"ranks\" must be a list of coordinates, one for each "
                             "rank of MPI_COMM_WORLD");
    topology->coordinate = calloc(json_array_size(list), sizeof *topology->coordinate);
    if (!topology->coordinate)
        return trv_fail_memory();
    json_array_foreach(list, i, entry)
    {
        int code = read_coordinate(file, &topology->torus, entry, &topology->coordinate[i]);
        if (code < 0)
            return code;
        topology->count++;
    }
    return TRV_OK;
}

static int read_hosts(const trv_json_t *file, json_t *object, trv_topology_t *topology)
{
    const char *name;
    json_t *entry;
    if (!json_is_object(object) || json_object_size(object) < 1)
        return trv_json_fail(file, file->root, "hosts",
                             "\"hosts\" must be an object of names and coordinates, "
                             "{\"node0\": [0, 0], …}");
    topology->coordinate = calloc(json_object_size(object), sizeof *topology->coordinate);
    topology->host = calloc(json_object_size(object), sizeof *topology->host);
    if (!topology->coordinate || !topology->host)
        return trv_fail_memory();
    json_object_foreach(object, name, entry)
    {
        int at = topology->count, code = read_coordinate(file, &topology->torus, entry, &topology->coordinate[at]);
        if (code == TRV_OK && !*name)
            code = trv_json_fail(file, entry, NULL, "a host has no name; expected, for example, {\"node0\": [0, 0]}");
        if (code < 0)
            return code;
        topology->host[at] = strdup(name);
        if (!topology->host[at])
            return trv_fail_memory();
        topology->count++;
    }
    return TRV_OK;
}

static int read_root(const trv_json_t *file, trv_topology_t *topology)
{
    const char *format = json_string_value(json_object_get(file->root, "format"));
    json_t *ranks = json_object_get(file->root, "ranks"), *hosts = json_object_get(file->root, "hosts");
    bool forwarding = true;
    if (!json_is_object(file->root))
        return trv_json_fail(file, file->root, NULL, "a topology must be an object, {\"format\": \"" FORMAT "\", …}");
    if (!format || strcmp(format, FORMAT) != 0)
        return trv_json_fail(file, file->root, "format", "\"format\" must be \"" FORMAT "\"");
    int code = trv_json_torus(file, file->root, &topology->torus);
    if (code == TRV_OK)
        code = read_links(file, topology);
    if (code == TRV_OK)
        code = trv_json_flags(file, file->root, "shared_port", topology->torus.dims, true, &topology->shared_port);
    if (code == TRV_OK)
        code = trv_json_boolean(file, file->root, "forwarding", &forwarding);
    topology->no_forwarding = !forwarding;
    if (code == TRV_OK && !ranks && !hosts)
        code = trv_json_fail(
            file, file->root, NULL,
            "the coordinates are missing: expected \"ranks\", a list of coordinates, or \"hosts\", an object");
    if (code == TRV_OK && ranks && hosts)
        code = trv_json_fail(file, file->root, "hosts", "a topology must have either \"ranks\" or \"hosts\", not both");
    if (code < 0)
        return code;
    return ranks ? read_ranks(file, ranks, topology) : read_hosts(file, hosts, topology);
}

int trv_topology_read(trv_topology_t *topology, const char *path, trv_warn_t *warn, void *context)
{
    const char *name;
    char *text;
    size_t length;
    *topology = (trv_topology_t){.count = 0};
    int code = trv_whole_file_read(path, &name, &text, &length);
    if (code < 0)
        return code;
    code = trv_topology_parse(topology, name, text, length, warn, context);
    free(text);
    return code;
}

static size_t skip_blanks(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && text[at] && strchr(" \t\r\n", text[at]))
        at++;
    return at;
}

static int parse_list(trv_topology_t *topology, const char *name, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    int code = copy ? trv_topology_list_parse(topology, name, copy) : trv_fail_memory();
    free(copy);
    return code;
}

static int parse_json(trv_topology_t *topology, trv_json_t *file, const char *name, const char *text, size_t length)
{
    static const char *const known[] = {"format",     "torus", "wrap",  "links", "shared_port",
                                        "forwarding", "ranks", "hosts", NULL};
    int code = trv_json_parse(file, name, text, length);
    if (code == TRV_OK)
        code = read_root(file, topology);
    if (code == TRV_OK)
        trv_json_check_keys(file, file->root, known);
    trv_json_close(file);
    return code;
}

int trv_topology_parse(trv_topology_t *topology, const char *name, const char *text, size_t length, trv_warn_t *warn,
                       void *context)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf"; /* some editors write it */
    const size_t mark_length = length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
    trv_json_t file = {.warn = warn, .context = context};
    *topology = (trv_topology_t){.count = 0};
    text += mark_length;
    length -= mark_length;
    const size_t at = skip_blanks(text, length);
    if (at == length)
        return trv_fail(
            TRV_ERR_INVALID,
            "%.200s:1: the file is empty; `mpirun -n 8 trivance topology --dump --torus=2x4 -o torus.json` writes a "
            "topology",
            name);
    /* A JSON file begins with a bracket or brace. */
    int code = strchr("{[", text[at]) || memchr(text, '\0', length) ? parse_json(topology, &file, name, text, length)
                                                                    : parse_list(topology, name, text, length);
    if (code < 0)
        trv_topology_clear(topology);
    return code;
}

void trv_topology_clear(trv_topology_t *topology)
{
    for (int i = 0; topology->host && i < topology->count; i++)
        free(topology->host[i]);
    free(topology->host);
    free(topology->coordinate);
    free(topology->slow_link);
    *topology = (trv_topology_t){.count = 0};
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int write_flags(const trv_topology_t *topology, const char *key, bool marked, unsigned bits, FILE *out)
{
    fprintf(out, "  \"%s\": ", key);
    int code = trv_json_put(out, trv_json_flags_list(topology->torus.dims, marked, bits), 0);
    fputs(",\n", out);
    return code;
}

static void write_coordinate(const trv_torus_t *torus, int coordinate, FILE *out)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, coordinate, at);
    for (int d = 0; d < torus->dims; d++)
        fprintf(out, "%s%d", d ? ", " : "[", at[d]);
    fputc(']', out);
}

/* Writes the links. A link that its opposite with the same speed follows is written as one entry. */
static void write_links(const trv_topology_t *topology, FILE *out)
{
    for (int i = 0; i < topology->slow_links; i++) {
        const trv_slow_link_t *link = &topology->slow_link[i];
        const trv_slow_link_t back = trv_link_opposite(&topology->torus, link);
        const bool both = i + 1 < topology->slow_links && link[1].rank == back.rank && link[1].port == back.port &&
                          !(link[1].factor < back.factor) && !(link[1].factor > back.factor);
        char port[TRV_PORT_TEXT_MAX];
        fprintf(out, "%s\n    {\"from\": ", i ? "," : "  \"links\": [");
        write_coordinate(&topology->torus, link->rank, out);
        fprintf(out, ", \"port\": \"%s\", ", trv_port_format(link->port, port));
        if (isinf(link->factor))
            fputs("\"down\": true", out);
        else
            trv_fprintf(out, "\"speed\": %.15g", 1 / link->factor);
        fputs(both ? "}" : ", \"one_way\": true}", out);
        i += both;
    }
    fputs(topology->slow_links ? "\n  ],\n" : "", out);
}

int trv_topology_write(const trv_topology_t *topology, FILE *out)
{
    const trv_torus_t *torus = &topology->torus;
    fprintf(out, "{\n  \"format\": \"" FORMAT "\",\n  \"torus\": [");
    for (int d = 0; d < torus->dims; d++)
        fprintf(out, "%s%d", d ? ", " : "", torus->size[d]);
    fputs("],\n", out);
    int code = write_flags(topology, "wrap", false, topology->torus.lines, out);
    if (code == TRV_OK)
        code = write_flags(topology, "shared_port", true, topology->shared_port, out);
    if (topology->no_forwarding)
        fputs("  \"forwarding\": false,\n", out);
    write_links(topology, out);
    fprintf(out, "  \"%s\": %s", topology->host ? "hosts" : "ranks", topology->host ? "{" : "[");
    for (int i = 0; i < topology->count && code == TRV_OK; i++) {
        fprintf(out, "%s\n    ", i ? "," : "");
        if (topology->host) {
            code = trv_json_put(out, json_string(topology->host[i]), JSON_ENCODE_ANY);
            fputs(": ", out);
        }
        write_coordinate(torus, topology->coordinate[i], out);
    }
    fprintf(out, "\n  %s\n}\n", topology->host ? "}" : "]");
    return code;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static size_t short_length(const char *name) { return strcspn(name, "."); }

int trv_topology_coordinate(const trv_topology_t *topology, int rank, const char *host)
{
    if (!topology->host)
        return rank < topology->count ? topology->coordinate[rank] : -1;
    int short_match = -1;
    size_t length = short_length(host);
    for (int i = 0; i < topology->count; i++) {
        const char *name = topology->host[i];
        if (strcmp(name, host) == 0)
            return topology->coordinate[i];
        bool whole = !name[short_length(name)] || !host[length]; /* two full names must be equal */
        if (short_match < 0 && whole && short_length(name) == length && strncmp(name, host, length) == 0)
            short_match = topology->coordinate[i];
    }
    return short_match;
}
