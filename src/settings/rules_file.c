/*
 * Rules from a JSON file.
 */
#include <string.h>
#include <unistd.h>

#include "base/text/parse.h"
#include "base/error.h"
#include "settings/json_file.h"
#include "settings/rules.h"

typedef struct reader {
    trv_json_file_t file;
    trv_rules_t *rules;
    trv_rules_warn_t *warn;
    void *context;
} reader_t;

static void check_keys(const reader_t *reader, json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        char line[512];
        if (!known[i] && reader->warn)
            reader->warn(reader->context, trv_json_file_tell(&reader->file, object, key, line, sizeof line,
                                                             "the key \"%.40s\" is unknown and ignored", key));
    }
}

/* A bound: a whole number, a byte count as users type it, or "inf" for the upper one. An absent key leaves it. */
static int read_bound(const reader_t *reader, json_t *object, const char *key, bool upper, uint64_t *bound)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    if (!value)
        return TRV_OK;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *bound = (uint64_t)json_integer_value(value);
    else if (text && upper && strcmp(text, "inf") == 0)
        *bound = UINT64_MAX;
    else if (!text || trv_parse_bytes(text, bound) < 0)
        return trv_json_file_fail(&reader->file, object, key,
                                  "\"%s\" must be a whole number >= 0, or a text as "
                                  "\"64KiB\"%s",
                                  key, upper ? " or \"inf\"" : "");
    return TRV_OK;
}

static int read_bounds(const reader_t *reader, json_t *object, const char *least_key, const char *most_key,
                       uint64_t *least, uint64_t *most)
{
    int code = read_bound(reader, object, least_key, false, least);
    if (code == TRV_OK)
        code = read_bound(reader, object, most_key, true, most);
    if (code == TRV_OK && *least > *most)
        code = trv_json_file_fail(&reader->file, object, most_key, "\"%s\" must not be less than \"%s\"", most_key,
                                  least_key);
    return code;
}

/* One rule; `rule` has what the group around it says. */
static int read_rule(reader_t *reader, json_t *object, trv_rule_t rule)
{
    static const char *const known[] = {"msg_size_min", "msg_size_max", "alg", NULL};
    check_keys(reader, object, known);
    int code = read_bounds(reader, object, "msg_size_min", "msg_size_max", &rule.bytes_min, &rule.bytes_max);
    if (code < 0)
        return code;
    const char *name = json_string_value(json_object_get(object, "alg"));
    if (!name)
        return trv_json_file_fail(&reader->file, object, json_object_get(object, "alg") ? "alg" : NULL,
                                  "a rule needs "
                                  "\"alg\", the name of an algorithm, for example {\"alg\": \"trivance-l\"}");
    if (trv_rules_set_algorithm(&rule, name) < 0)
        return trv_json_file_fail(&reader->file, object, "alg", "%s", trv_last_error());
    return trv_rules_add(reader->rules, &rule);
}

static int read_torus(const reader_t *reader, json_t *group, trv_torus_t *torus)
{
    json_t *value = json_object_get(group, "torus");
    if (!value)
        return TRV_OK;
    if (!json_is_string(value))
        return trv_json_file_fail(&reader->file, group, "torus", "\"torus\" must be a text, for example \"8x8\"");
    if (trv_torus_parse(json_string_value(value), torus) < 0)
        return trv_json_file_fail(&reader->file, group, "torus", "%s", trv_last_error());
    return TRV_OK;
}

/* Rules for some numbers of ranks. */
static int read_group(reader_t *reader, json_t *group, trv_collective_t collective)
{
    static const char *const known[] = {"comm_size_min", "comm_size_max", "torus", "rules", NULL};
    trv_rule_t rule = {.collective = collective, .ranks_max = UINT64_MAX, .bytes_max = UINT64_MAX};
    json_t *rules = json_object_get(group, "rules"), *entry;
    size_t i;
    check_keys(reader, group, known);
    int code = read_bounds(reader, group, "comm_size_min", "comm_size_max", &rule.ranks_min, &rule.ranks_max);
    if (code == TRV_OK)
        code = read_torus(reader, group, &rule.torus);
    if (code == TRV_OK && !json_is_array(rules))
        code = trv_json_file_fail(&reader->file, group, rules ? "rules" : NULL,
                                  "\"rules\" must be a list of rules, "
                                  "for example [{\"msg_size_max\": 65536, \"alg\": \"trivance-l\"}]");
    json_array_foreach(rules, i, entry)
    {
        if (code == TRV_OK && !json_is_object(entry))
            code = trv_json_file_fail(&reader->file, rules, NULL,
                                      "entry %zu of the list is no object; a rule is one, "
                                      "for example {\"alg\": \"auto\"}",
                                      i);
        if (code == TRV_OK)
            code = read_rule(reader, entry, rule);
    }
    return code;
}

static int read_collectives(reader_t *reader, json_t *root)
{
    json_t *collectives = json_object_get(root, "collectives"), *groups, *group;
    const char *key;
    size_t i;
    if (!json_is_object(collectives))
        return trv_json_file_fail(&reader->file, root, collectives ? "collectives" : NULL,
                                  "\"collectives\" must be an "
                                  "object, for example {\"allreduce\": [{\"rules\": [{\"alg\": \"auto\"}]}]}");
    int code = TRV_OK;
    json_object_foreach(collectives, key, groups)
    {
        trv_collective_t collective;
        char line[512];
        if (!trv_rules_collective(key, &collective)) {
            trv_json_file_tell(&reader->file, collectives, key, line, sizeof line,
                               "\"%.40s\" is no collective that "
                               "Trivance serves, and ignored; there are allreduce, reduce-scatter and allgather",
                               key);
            if (reader->warn)
                reader->warn(reader->context, line);
            continue;
        }
        if (code == TRV_OK && !json_is_array(groups))
            code = trv_json_file_fail(&reader->file, collectives, key, "\"%s\" must be a list of objects", key);
        json_array_foreach(groups, i, group)
        {
            if (code == TRV_OK && !json_is_object(group))
                code = trv_json_file_fail(&reader->file, groups, NULL, "entry %zu of the list is no object", i);
            if (code == TRV_OK)
                code = read_group(reader, group, collective);
        }
    }
    return code;
}

/* One parameter of the network, as users type it. */
static int read_parameter(const reader_t *reader, json_t *network, const char *key,
                          int (*parse)(const char *, double *), double *value)
{
    json_t *entry = json_object_get(network, key);
    const char *text = json_string_value(entry);
    if (!entry)
        return TRV_OK;
    if (!text)
        return trv_json_file_fail(&reader->file, network, key, "\"%s\" must be a text with a unit, for example %s", key,
                                  parse == trv_parse_time_ns ? "\"1.5us\"" : "\"800Gb/s\"");
    if (parse(text, value) < 0)
        return trv_json_file_fail(&reader->file, network, key, "%s", trv_last_error());
    return TRV_OK;
}

static int read_network(const reader_t *reader, json_t *root)
{
    static const char *const known[] = {"alpha", "bandwidth", "hop_latency", "message_overhead", NULL};
    json_t *network = json_object_get(root, "network");
    if (!network)
        return TRV_OK;
    if (!json_is_object(network))
        return trv_json_file_fail(&reader->file, root, "network",
                                  "\"network\" must be an object, for example "
                                  "{\"alpha\": \"1.5us\", \"bandwidth\": \"800Gb/s\"}");
    check_keys(reader, network, known);
    int code = read_parameter(reader, network, "alpha", trv_parse_time_ns, &reader->rules->alpha_ns);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "bandwidth", trv_parse_rate_bps, &reader->rules->bandwidth_bps);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "hop_latency", trv_parse_time_ns, &reader->rules->hop_ns);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "message_overhead", trv_parse_time_ns, &reader->rules->overhead_ns);
    return code;
}

static int read_paths(const reader_t *reader, json_t *root)
{
    static const char *const known[] = {"torus", "narrow", "one_path", NULL};
    trv_rules_t *rules = reader->rules;
    json_t *paths = json_object_get(root, "paths"), *entry;
    const json_t *narrow = json_object_get(paths, "narrow"), *one = json_object_get(paths, "one_path");
    size_t d;
    if (!paths)
        return TRV_OK;
    if (!json_is_object(paths) || !json_object_get(paths, "torus"))
        return trv_json_file_fail(&reader->file, root, "paths",
                                  "\"paths\" must be an object, for example {\"torus\": \"8x8\", \"narrow\": [true, "
                                  "false]}");
    check_keys(reader, paths, known);
    int code = read_torus(reader, paths, &rules->paths);
    if (code < 0)
        return code;
    bool right = json_is_array(narrow) && json_array_size(narrow) == (size_t)rules->paths.dims;
    json_array_foreach(narrow, d, entry)
    {
        right = right && json_is_boolean(entry);
        rules->narrow |= right ? (unsigned)json_is_true(entry) << d : 0;
    }
    rules->one_path = json_is_true(one);
    if (!right)
        return trv_json_file_fail(&reader->file, paths, narrow ? "narrow" : NULL,
                                  "\"narrow\" must be a list of true and false, one for each of the %d dimensions",
                                  rules->paths.dims);
    return !one || json_is_boolean(one)
               ? TRV_OK
               : trv_json_file_fail(&reader->file, paths, "one_path", "\"one_path\" must be true or false");
}

static int read_root(reader_t *reader)
{
    static const char *const known[] = {"rule_file_version", "network", "paths", "measured", "collectives", NULL};
    json_t *root = reader->file.root, *version;
    if (!json_is_object(root))
        return trv_json_file_fail(&reader->file, root, NULL, "rules are an object, and this is a list");
    check_keys(reader, root, known);
    version = json_object_get(root, "rule_file_version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return trv_json_file_fail(&reader->file, root, version ? "rule_file_version" : NULL,
                                  "\"rule_file_version\" must be 1");
    int code = read_network(reader, root);
    if (code == TRV_OK)
        code = read_paths(reader, root);
    return code == TRV_OK ? read_collectives(reader, root) : code;
}

static int finish(reader_t *reader, int code)
{
    *reader->rules = TRV_RULES_NONE;
    if (code < 0)
        return code;
    code = read_root(reader);
    if (code < 0)
        trv_rules_clear(reader->rules);
    trv_json_file_close(&reader->file);
    return code;
}

int trv_rules_parse_file(trv_rules_t *rules, const char *name, const char *text, size_t length, trv_rules_warn_t *warn,
                         void *context)
{
    reader_t reader = {.rules = rules, .warn = warn, .context = context};
    return finish(&reader, trv_json_file_parse(&reader.file, name, text, length));
}

int trv_rules_read(trv_rules_t *rules, const char *path, trv_rules_warn_t *warn, void *context)
{
    reader_t reader = {.rules = rules, .warn = warn, .context = context};
    return finish(&reader, trv_json_file_read(&reader.file, path));
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int dump_with(json_t *root, const trv_rules_t *paths, char **text)
{
    char torus[TRV_TORUS_TEXT_MAX];
    json_t *narrow = json_array();
    for (int d = 0; d < paths->paths.dims; d++)
        json_array_append_new(narrow, json_boolean(paths->narrow >> d & 1));
    trv_torus_format(&paths->paths, torus, sizeof torus);
    json_t *measured = json_pack("{s:s, s:o, s:b}", "torus", torus, "narrow", narrow, "one_path", paths->one_path);
    if (measured && json_object_set_new(root, "paths", measured) == 0)
        *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    return *text ? TRV_OK : trv_fail_memory();
}

int trv_rules_with_paths(const char *path, const trv_rules_t *paths, char **text)
{
    trv_rules_t rules = TRV_RULES_NONE;
    trv_json_file_t file = {.root = NULL};
    *text = NULL;
    int code = TRV_OK;
    if (access(path, F_OK) == 0) {
        code = trv_rules_read(&rules, path, NULL, NULL);
        code = code < 0 ? code : trv_json_file_read(&file, path);
    } else {
        file.root = json_pack("{s:i, s:{}}", "rule_file_version", 1, "collectives");
        code = file.root ? TRV_OK : trv_fail_memory();
    }
    if (code == TRV_OK)
        code = dump_with(file.root, paths, text);
    trv_rules_clear(&rules);
    trv_json_file_close(&file);
    return code;
}
