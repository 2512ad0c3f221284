/*
 * Topology files: {"format": "trivance-topology-1", "torus": [2, 4], "ranks": [[0, 0], [0, 1], …]}.
 */
#include "settings/topology_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "settings/json_file.h"
#include "settings/topology_list.h"
#include "text/whole_file.h"

#define FORMAT "trivance-topology-1"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void warn_of_keys(const trv_json_file_t *file, trv_topology_warn_t *warn, void *context)
{
    static const char *const known[] = {"format", "torus", "wrap", "shared_port", "ranks", "hosts"};
    const char *key;
    json_t *value;
    char line[400];
    json_object_foreach(file->root, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0] && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (!found)
            warn(context, trv_json_file_tell(file, file->root, key, line, sizeof line,
                                             "the key \"%.40s\" is unknown and ignored", key));
    }
}

static int read_torus(const trv_json_file_t *file, trv_torus_t *torus)
{
    const json_t *list = json_object_get(file->root, "torus"), *entry;
    int size[TRV_DIMS_MAX];
    size_t i;
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > TRV_DIMS_MAX)
        return trv_json_file_fail(file, file->root, list ? "torus" : NULL,
                                  "\"torus\" must be a list of 1 to %d sizes, [8, 8] for example", TRV_DIMS_MAX);
    json_array_foreach(list, i, entry)
    {
        json_int_t value = json_integer_value(entry); /* 0 where it is no integer */
        if (value < 1 || value > 1 << 30)
            return trv_json_file_fail(file, entry, NULL, "the size of dimension %zu must be a whole number from 1 on",
                                      i);
        size[i] = (int)value;
    }
    if (trv_torus_init(torus, (int)json_array_size(list), size) < 0)
        return trv_json_file_fail(file, list, NULL, "%s", trv_last_error());
    return TRV_OK;
}

/* A list of one truth per dimension into the bits of those that are `marked`; without the list no bit is set. */
static int read_flags(const trv_json_file_t *file, const trv_torus_t *torus, const char *key, bool marked,
                      unsigned *bits)
{
    const json_t *list = json_object_get(file->root, key), *entry;
    size_t i;
    *bits = 0;
    if (!list)
        return TRV_OK;
    bool right = json_is_array(list) && json_array_size(list) == (size_t)torus->dims;
    json_array_foreach(list, i, entry)
    {
        right = right && json_is_boolean(entry);
        if (right && json_is_true(entry) == marked)
            *bits |= 1u << i;
    }
    return right ? TRV_OK
                 : trv_json_file_fail(file, file->root, key,
                                      "\"%s\" must be a list of true and false, one "
                                      "for each of the %d dimensions",
                                      key, torus->dims);
}

static int read_place(const trv_json_file_t *file, const trv_torus_t *torus, const json_t *list, int *place)
{
    int at[TRV_DIMS_MAX];
    if (!json_is_array(list) || json_array_size(list) != (size_t)torus->dims)
        return trv_json_file_fail(file, list, NULL, "a coordinate must be a list of %d numbers", torus->dims);
    for (int d = 0; d < torus->dims; d++) {
        const json_t *entry = json_array_get(list, (size_t)d);
        json_int_t value = json_is_integer(entry) ? json_integer_value(entry) : -1;
        if (value < 0 || value >= torus->size[d])
            return trv_json_file_fail(file, entry, NULL,
                                      "the coordinate in dimension %d must be a whole number from 0 "
                                      "to %d",
                                      d, torus->size[d] - 1);
        at[d] = (int)value;
    }
    *place = trv_torus_rank(torus, at);
    return TRV_OK;
}

static int read_ranks(const trv_json_file_t *file, const json_t *list, trv_topology_t *topology)
{
    const json_t *entry;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > 1 << 30)
        return trv_json_file_fail(file, file->root, "ranks",
                                  "\"ranks\" must be a list of coordinates, one for each "
                                  "rank of MPI_COMM_WORLD");
    topology->place = calloc(json_array_size(list), sizeof *topology->place);
    if (!topology->place)
        return trv_fail_memory();
    json_array_foreach(list, i, entry)
    {
        int code = read_place(file, &topology->torus, entry, &topology->place[i]);
        if (code < 0)
            return code;
        topology->count++;
    }
    return TRV_OK;
}

static int read_hosts(const trv_json_file_t *file, json_t *object, trv_topology_t *topology)
{
    const char *name;
    json_t *entry;
    if (!json_is_object(object) || json_object_size(object) < 1)
        return trv_json_file_fail(file, file->root, "hosts",
                                  "\"hosts\" must be an object of names and coordinates, "
                                  "{\"node0\": [0, 0], …}");
    topology->place = calloc(json_object_size(object), sizeof *topology->place);
    topology->host = calloc(json_object_size(object), sizeof *topology->host);
    if (!topology->place || !topology->host)
        return trv_fail_memory();
    json_object_foreach(object, name, entry)
    {
        int at = topology->count, code = read_place(file, &topology->torus, entry, &topology->place[at]);
        if (code < 0)
            return code;
        topology->host[at] = strdup(name);
        if (!topology->host[at])
            return trv_fail_memory();
        topology->count++;
    }
    return TRV_OK;
}

static int read_all(const trv_json_file_t *file, trv_topology_t *topology)
{
    const char *format = json_string_value(json_object_get(file->root, "format"));
    json_t *ranks = json_object_get(file->root, "ranks"), *hosts = json_object_get(file->root, "hosts");
    if (!json_is_object(file->root))
        return trv_json_file_fail(file, file->root, NULL,
                                  "a topology must be an object, {\"format\": \"" FORMAT "\", …}");
    if (!format || strcmp(format, FORMAT) != 0)
        return trv_json_file_fail(file, file->root, json_object_get(file->root, "format") ? "format" : NULL,
                                  "\"format\" must be \"" FORMAT "\"");
    int code = read_torus(file, &topology->torus);
    if (code == TRV_OK)
        code = read_flags(file, &topology->torus, "wrap", false, &topology->one_way);
    if (code == TRV_OK)
        code = read_flags(file, &topology->torus, "shared_port", true, &topology->shared_port);
    if (code == TRV_OK && !ranks == !hosts)
        code = trv_json_file_fail(file, file->root, hosts ? "hosts" : NULL,
                                  "there must be either \"ranks\" or \"hosts\", and not both");
    if (code < 0)
        return code;
    return ranks ? read_ranks(file, ranks, topology) : read_hosts(file, hosts, topology);
}

/* Closes the file. */
static int read_file(trv_topology_t *topology, trv_json_file_t *file, trv_topology_warn_t *warn, void *context)
{
    int code = read_all(file, topology);
    if (code < 0)
        trv_topology_clear(topology);
    else if (warn)
        warn_of_keys(file, warn, context);
    trv_json_file_close(file);
    return code;
}

int trv_topology_read(trv_topology_t *topology, const char *path, trv_topology_warn_t *warn, void *context)
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

/* JSON begins with a bracket; nothing at all is JSON that is broken. */
static bool is_list(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", text[at]))
        at++;
    return at < length && !strchr("{[", text[at]) && !memchr(text, '\0', length);
}

static int parse_list(trv_topology_t *topology, const char *name, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    int code = copy ? trv_topology_list_parse(topology, name, copy) : trv_fail_memory();
    free(copy);
    if (code < 0)
        trv_topology_clear(topology);
    return code;
}

int trv_topology_parse(trv_topology_t *topology, const char *name, const char *text, size_t length,
                       trv_topology_warn_t *warn, void *context)
{
    trv_json_file_t file;
    *topology = (trv_topology_t){.count = 0};
    if (is_list(text, length))
        return parse_list(topology, name, text, length);
    int code = trv_json_file_parse(&file, name, text, length);
    return code < 0 ? code : read_file(topology, &file, warn, context);
}

void trv_topology_clear(trv_topology_t *topology)
{
    for (int i = 0; topology->host && i < topology->count; i++)
        free(topology->host[i]);
    free(topology->host);
    free(topology->place);
    *topology = (trv_topology_t){.count = 0};
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_flags(const trv_topology_t *topology, const char *key, bool marked, unsigned bits, FILE *out)
{
    fprintf(out, "  \"%s\": [", key);
    for (int d = 0; d < topology->torus.dims; d++)
        fprintf(out, "%s%s", d ? ", " : "", ((bits >> d) & 1) == marked ? "true" : "false");
    fputs("],\n", out);
}

static void write_place(const trv_torus_t *torus, int place, FILE *out)
{
    int at[TRV_DIMS_MAX];
    trv_torus_coordinates(torus, place, at);
    for (int d = 0; d < torus->dims; d++)
        fprintf(out, "%s%d", d ? ", " : "[", at[d]);
    fputc(']', out);
}

int trv_topology_write(const trv_topology_t *topology, FILE *out)
{
    const trv_torus_t *torus = &topology->torus;
    fprintf(out, "{\n  \"format\": \"" FORMAT "\",\n  \"torus\": [");
    for (int d = 0; d < torus->dims; d++)
        fprintf(out, "%s%d", d ? ", " : "", torus->size[d]);
    fputs("],\n", out);
    write_flags(topology, "wrap", false, topology->one_way, out);
    write_flags(topology, "shared_port", true, topology->shared_port, out);
    fprintf(out, "  \"%s\": %s", topology->host ? "hosts" : "ranks", topology->host ? "{" : "[");
    for (int i = 0; i < topology->count; i++) {
        fprintf(out, "%s\n    ", i ? "," : "");
        if (topology->host) {
            json_t *name = json_string(topology->host[i]);
            int failed = json_dumpf(name, out, JSON_ENCODE_ANY);
            json_decref(name);
            if (!name || failed)
                return trv_fail_memory();
            fputs(": ", out);
        }
        write_place(torus, topology->place[i], out);
    }
    fprintf(out, "\n  %s\n}\n", topology->host ? "}" : "]");
    return TRV_OK;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static size_t short_length(const char *name) { return strcspn(name, "."); }

int trv_topology_place(const trv_topology_t *topology, int rank, const char *host)
{
    if (!topology->host)
        return rank < topology->count ? topology->place[rank] : -1;
    int near = -1;
    size_t length = short_length(host);
    for (int i = 0; i < topology->count; i++) {
        const char *name = topology->host[i];
        if (strcmp(name, host) == 0)
            return topology->place[i];
        bool whole = !name[short_length(name)] || !host[length]; /* two full names must be the same */
        if (near < 0 && whole && short_length(name) == length && strncmp(name, host, length) == 0)
            near = topology->place[i];
    }
    return near;
}
