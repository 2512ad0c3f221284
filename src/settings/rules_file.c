/*
 * Rules from a JSON file.
 */
#include <string.h>
#include <unistd.h>

#include "base/text/parse.h"
#include "base/error.h"
#include "base/number.h"
#include "json/json.h"
#include "settings/rules.h"

typedef struct reader {
    trv_json_t json;
    trv_rules_t *rules;
    trv_name_check_t *check_algorithm;
} reader_t;

/* Reads a bound: a whole number, a byte count as users type it, or "inf" for the upper bound. If the key is absent,
 * *bound is unchanged. */
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
        return trv_json_fail(&reader->json, object, key,
                             "\"%s\" must be a whole number >= 0, or a string such as \"64KiB\"%s", key,
                             upper ? " or \"inf\"" : "");
    return TRV_OK;
}

static int read_bounds(const reader_t *reader, json_t *object, const char *min_key, const char *max_key, uint64_t *min,
                       uint64_t *max)
{
    int code = read_bound(reader, object, min_key, false, min);
    if (code == TRV_OK)
        code = read_bound(reader, object, max_key, true, max);
    if (code == TRV_OK && *min > *max)
        code = trv_json_fail(&reader->json, object, max_key, "\"%s\" must not be less than \"%s\"", max_key, min_key);
    return code;
}

/* Reads one rule; `rule` contains the values of its group. */
static int read_rule(reader_t *reader, json_t *object, trv_rule_t rule)
{
    static const char *const known[] = {"msg_size_min", "msg_size_max", "alg", NULL};
    trv_json_check_keys(&reader->json, object, known);
    int code = read_bounds(reader, object, "msg_size_min", "msg_size_max", &rule.bytes_min, &rule.bytes_max);
    if (code < 0)
        return code;
    const char *name = json_string_value(json_object_get(object, "alg"));
    if (!name)
        return trv_json_fail(&reader->json, object, "alg",
                             "a rule needs \"alg\", the name of an algorithm, for example {\"alg\": \"trivance-l\"}");
    if (trv_rules_set_algorithm(&rule, name, reader->check_algorithm) < 0)
        return trv_json_fail(&reader->json, object, "alg", "%s", trv_last_error());
    return trv_rules_add(reader->rules, &rule);
}

static int read_torus(const reader_t *reader, json_t *group, trv_torus_t *torus)
{
    json_t *value = json_object_get(group, "torus");
    if (!value)
        return TRV_OK;
    if (!json_is_string(value))
        return trv_json_fail(&reader->json, group, "torus", "\"torus\" must be a string, for example \"8x8\"");
    if (trv_torus_parse(json_string_value(value), torus) < 0)
        return trv_json_fail(&reader->json, group, "torus", "%s", trv_last_error());
    return TRV_OK;
}

/* Reads a group of rules, which applies to a range of numbers of ranks. */
static int read_group(reader_t *reader, json_t *group, trv_collective_t collective)
{
    static const char *const known[] = {"comm_size_min", "comm_size_max", "torus", "rules", NULL};
    trv_rule_t rule = {.collective = collective, .ranks_max = UINT64_MAX, .bytes_max = UINT64_MAX};
    json_t *rules = json_object_get(group, "rules"), *entry;
    size_t i;
    trv_json_check_keys(&reader->json, group, known);
    int code = read_bounds(reader, group, "comm_size_min", "comm_size_max", &rule.ranks_min, &rule.ranks_max);
    if (code == TRV_OK)
        code = read_torus(reader, group, &rule.torus);
    if (code == TRV_OK && !json_is_array(rules))
        code = trv_json_fail(&reader->json, group, "rules",
                             "\"rules\" must be a list of rules, "
                             "for example [{\"msg_size_max\": 65536, \"alg\": \"trivance-l\"}]");
    json_array_foreach(rules, i, entry)
    {
        if (code == TRV_OK && !json_is_object(entry))
            code = trv_json_fail(
                &reader->json, rules, NULL,
                "entry %zu of the list is not an object; expected a rule, for example {\"alg\": \"auto\"}", i);
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
        return trv_json_fail(&reader->json, root, "collectives",
                             "\"collectives\" must be an "
                             "object, for example {\"allreduce\": [{\"rules\": [{\"alg\": \"auto\"}]}]}");
    int code = TRV_OK;
    json_object_foreach(collectives, key, groups)
    {
        trv_collective_t collective;
        char names[TRV_RULES_COLLECTIVES_MAX];
        if (!trv_rules_collective(key, &collective)) {
            trv_json_warn(&reader->json, collectives, key,
                          "\"%.40s\" is ignored, because it is not a collective of Trivance; expected one of %s", key,
                          trv_rules_collectives(names));
            continue;
        }
        if (code == TRV_OK && !json_is_array(groups))
            code = trv_json_fail(&reader->json, collectives, key,
                                 "\"%s\" must be a list of groups of rules, for example [{\"rules\": [{\"alg\": "
                                 "\"auto\"}]}]",
                                 key);
        json_array_foreach(groups, i, group)
        {
            if (code == TRV_OK && !json_is_object(group))
                code = trv_json_fail(&reader->json, groups, NULL,
                                     "entry %zu of the list is not an object; expected a group of rules, for example "
                                     "{\"rules\": [{\"alg\": \"auto\"}]}",
                                     i);
            if (code == TRV_OK)
                code = read_group(reader, group, collective);
        }
    }
    return code;
}

/* Reads one parameter of the network, as users type it. */
static int read_parameter(const reader_t *reader, json_t *network, const char *key,
                          int (*parse)(const char *, double *), double *value)
{
    json_t *entry = json_object_get(network, key);
    const char *text = json_string_value(entry);
    if (!entry)
        return TRV_OK;
    if (!text)
        return trv_json_fail(&reader->json, network, key, "\"%s\" must be a string with a unit, for example %s", key,
                             parse == trv_parse_latency_ns ? "\"1.5us\"" : "\"800Gb/s\"");
    if (parse(text, value) < 0)
        return trv_json_fail(&reader->json, network, key, "%s", trv_last_error());
    return TRV_OK;
}

static int read_network(reader_t *reader, json_t *root)
{
    static const char *const known[] = {"alpha", "bandwidth", "hop_latency", "message_overhead", NULL};
    json_t *network = json_object_get(root, "network");
    if (!network)
        return TRV_OK;
    if (!json_is_object(network))
        return trv_json_fail(&reader->json, root, "network",
                             "\"network\" must be an object, for example "
                             "{\"alpha\": \"1.5us\", \"bandwidth\": \"800Gb/s\"}");
    trv_json_check_keys(&reader->json, network, known);
    int code = read_parameter(reader, network, "alpha", trv_parse_latency_ns, &reader->rules->alpha_ns);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "bandwidth", trv_parse_rate_bps, &reader->rules->bandwidth_bps);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "hop_latency", trv_parse_latency_ns, &reader->rules->hop_ns);
    if (code == TRV_OK)
        code = read_parameter(reader, network, "message_overhead", trv_parse_latency_ns, &reader->rules->overhead_ns);
    return code;
}

static int read_paths(reader_t *reader, json_t *root)
{
    static const char *const known[] = {"torus", "shared_paths", "one_path", NULL};
    trv_rules_t *rules = reader->rules;
    json_t *paths = json_object_get(root, "paths");
    if (!paths)
        return TRV_OK;
    if (!json_is_object(paths) || !json_object_get(paths, "torus") || !json_object_get(paths, "shared_paths"))
        return trv_json_fail(&reader->json, root, "paths",
                             "\"paths\" must be an object, for example {\"torus\": \"8x8\", \"shared_paths\": [true, "
                             "false]}");
    trv_json_check_keys(&reader->json, paths, known);
    int code = read_torus(reader, paths, &rules->paths);
    if (code == TRV_OK)
        code = trv_json_flags(&reader->json, paths, "shared_paths", rules->paths.dims, true, &rules->shared_paths);
    return code == TRV_OK ? trv_json_boolean(&reader->json, paths, "one_path", &rules->one_path) : code;
}

static int read_root(reader_t *reader)
{
    static const char *const known[] = {"rule_file_version", "network", "paths", "measured", "collectives", NULL};
    json_t *root = reader->json.root, *version;
    if (!json_is_object(root))
        return trv_json_fail(&reader->json, root, NULL, "expected an object with rules, found a list");
    trv_json_check_keys(&reader->json, root, known);
    version = json_object_get(root, "rule_file_version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return trv_json_fail(&reader->json, root, "rule_file_version", "\"rule_file_version\" must be 1");
    int code = read_network(reader, root);
    if (code == TRV_OK)
        code = read_paths(reader, root);
    return code == TRV_OK ? read_collectives(reader, root) : code;
}

/* Reads the rules of a document; `code` is the result of parsing it as JSON. */
static int reader_finish(reader_t *reader, int code)
{
    *reader->rules = TRV_RULES_NONE;
    if (code < 0)
        return code;
    code = read_root(reader);
    if (code < 0)
        trv_rules_clear(reader->rules);
    trv_json_close(&reader->json);
    return code;
}

static reader_t reader_create(trv_rules_t *rules, const trv_rules_reader_t *callbacks)
{
    return (reader_t){.json = {.warn = callbacks->warn, .context = callbacks->context},
                      .rules = rules,
                      .check_algorithm = callbacks->check_algorithm};
}

int trv_rules_parse_file(trv_rules_t *rules, const char *name, const char *text, size_t length,
                         const trv_rules_reader_t *callbacks)
{
    reader_t reader = reader_create(rules, callbacks);
    return reader_finish(&reader, trv_json_parse(&reader.json, name, text, length));
}

int trv_rules_read(trv_rules_t *rules, const char *path, const trv_rules_reader_t *callbacks)
{
    reader_t reader = reader_create(rules, callbacks);
    return reader_finish(&reader, trv_json_read(&reader.json, path));
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

int trv_rules_with_paths(const char *path, const trv_rules_t *paths, char **text)
{
    char torus[TRV_TORUS_TEXT_MAX];
    trv_rules_t rules = TRV_RULES_NONE;
    reader_t reader = {.rules = &rules};
    int code = TRV_OK;
    *text = NULL;
    trv_torus_format(&paths->paths, torus, sizeof torus);
    if (access(path, F_OK) == 0) {
        code = trv_json_read(&reader.json, path);
        code = code < 0 ? code : read_root(&reader);
    } else {
        reader.json.root = json_pack("{s:i, s:{}}", "rule_file_version", 1, "collectives");
    }
    if (code == TRV_OK &&
        json_object_set_new(reader.json.root, "paths",
                            json_pack("{s:s, s:o, s:b}", "torus", torus, "shared_paths",
                                      trv_json_flags_list(paths->paths.dims, true, paths->shared_paths), "one_path",
                                      paths->one_path)) == 0) {
        const locale_t before = trv_locale_enter();
        *text = json_dumps(reader.json.root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
        trv_locale_leave(before);
    }
    if (code == TRV_OK && !*text)
        code = trv_fail_memory();
    trv_rules_clear(&rules);
    trv_json_close(&reader.json);
    return code;
}
