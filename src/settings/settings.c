/*
 * Reads the environment according to the table of variables.
 */
#include "settings/settings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/words.h"
#include "base/error.h"
#include "settings/ports_text.h"

#define PREFIX    "TRIVANCE_"
#define NAMES_MAX 64

extern char **environ;

/* ---- One value --------------------------------------------------------------------------------------------------- */

static int read_flag(const char *text, bool *value)
{
    int word = trv_words_index("0|no|off|1|yes|on", text);
    if (word < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is neither 0 nor 1", text);
    *value = word >= 3;
    return TRV_OK;
}

static int read_word(const trv_setting_t *setting, const char *text, int *value)
{
    int word = trv_words_index(setting->allowed, text);
    bool flag = false;
    if (word < 0 && setting->offset == offsetof(trv_settings_t, debug) && read_flag(text, &flag) == TRV_OK)
        word = flag ? TRV_DEBUG_INFO : TRV_DEBUG_OFF;
    if (word < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "'%.40s' is not one of %s", text, setting->allowed);
    *value = word;
    return TRV_OK;
}

static int read_text(const char *text, char **value)
{
    free(*value);
    *value = strdup(text);
    return *value ? TRV_OK : trv_fail_memory();
}

static int read_value(const trv_setting_t *setting, const char *text, trv_name_check_t *check_algorithm,
                      trv_settings_t *settings)
{
    void *member = (char *)settings + setting->offset;
    const int code = setting->check ? setting->check(text, check_algorithm) : TRV_OK;
    if (code < 0)
        return code;
    switch (setting->kind) {
    case TRV_SETTING_FLAG: return read_flag(text, member);
    case TRV_SETTING_TIME: return trv_parse_time_ns(text, member);
    case TRV_SETTING_RATE: return trv_parse_rate_bps(text, member);
    case TRV_SETTING_BYTES: return trv_parse_bytes(text, member);
    case TRV_SETTING_WORD: return read_word(setting, text, member);
    default: return read_text(text, member);
    }
}

static bool is_quantity(const trv_setting_t *setting)
{
    return setting->kind == TRV_SETTING_TIME || setting->kind == TRV_SETTING_RATE || setting->kind == TRV_SETTING_BYTES;
}

/* Adds the name of the variable or option before the last error message and an example after it, unless the message
 * has an example or a suggestion already or is about the contents of a file. The example of a quantity takes the place
 * of that for any quantity. */
static int fail_value(const trv_setting_t *setting, const char *name, int code)
{
    const char *message = trv_last_error();
    const char *example = is_quantity(setting) ? strstr(message, ", for example") : NULL;
    if (!example && (code == TRV_ERR_INVALID || strstr(message, "for example") || strstr(message, "did you mean")))
        return trv_fail(TRV_ERR_ARGUMENT, "%s: %s", name, message);
    return trv_fail(TRV_ERR_ARGUMENT, "%s: %.*s; for example %s=%s", name,
                    example ? (int)(example - message) : (int)strlen(message), message, name, setting->example);
}

int trv_settings_check(const trv_setting_t *setting, const char *name, const char *text,
                       trv_name_check_t *check_algorithm)
{
    trv_settings_t settings = {0};
    int code = read_value(setting, text, check_algorithm, &settings);
    if (setting->kind == TRV_SETTING_TEXT)
        free(*(char **)(void *)((char *)&settings + setting->offset));
    if (code == TRV_OK && setting->offset == offsetof(trv_settings_t, rules_file)) {
        code = trv_rules_read(&settings.file_rules, text, &(trv_rules_reader_t){.check_algorithm = check_algorithm});
        trv_rules_clear(&settings.file_rules);
    }
    if (code == TRV_OK && setting->offset == offsetof(trv_settings_t, ports))
        code = trv_ports_check(text);
    return code < 0 ? fail_value(setting, name, code) : code;
}

/* ---- All values -------------------------------------------------------------------------------------------------- */

typedef struct environment_reader {
    trv_settings_t *settings;
    const trv_rules_reader_t *callbacks;
    bool net; /* for libtrivance_net */
} environment_reader_t;

static void reader_warn(const environment_reader_t *reader, const char *sentence)
{
    if (reader->callbacks->warn)
        reader->callbacks->warn(reader->callbacks->context, sentence);
}

/* Reports the last error message, with this code, as that of a variable. */
static void reader_report(environment_reader_t *reader, const trv_setting_t *setting, int code)
{
    char line[1400];
    const bool is_net_setting = trv_settings_of_net(setting) || setting->offset == offsetof(trv_settings_t, timeout_ns);
    fail_value(setting, setting->name, code);
    if (setting->selects || (reader->net && is_net_setting)) {
        if (!reader->settings->fault)
            reader->settings->fault = strdup(trv_last_error());
        return;
    }
    snprintf(line, sizeof line, "%s; using the default: %s", trv_last_error(), setting->default_value);
    reader_warn(reader, line);
}

static void read_setting(environment_reader_t *reader, const trv_setting_t *setting)
{
    const char *text = getenv(setting->name);
    int code = TRV_OK;
    if (setting->kind != TRV_SETTING_TEXT)
        code = read_value(setting, setting->default_value, NULL, reader->settings);
    assert(code == TRV_OK);
    code = text && *text ? read_value(setting, text, reader->callbacks->check_algorithm, reader->settings) : TRV_OK;
    if (code < 0)
        reader_report(reader, setting, code);
}

static void read_all(environment_reader_t *reader)
{
    for (int i = 0; i < trv_settings_count(); i++)
        read_setting(reader, trv_settings_at(i));
}

/* Sets the network's parameters. The environment takes precedence over the rules file, and the file over the
 * defaults. */
static void apply_network(trv_settings_t *settings)
{
    const struct {
        double *value, stored;
        const char *name;
    } parameter[] = {{&settings->alpha_ns, settings->file_rules.alpha_ns, "TRIVANCE_ALPHA"},
                     {&settings->bandwidth_bps, settings->file_rules.bandwidth_bps, "TRIVANCE_BANDWIDTH"},
                     {&settings->hop_ns, settings->file_rules.hop_ns, "TRIVANCE_HOP_LATENCY"},
                     {&settings->overhead_ns, settings->file_rules.overhead_ns, "TRIVANCE_MESSAGE_OVERHEAD"}};
    for (size_t i = 0; i < sizeof parameter / sizeof parameter[0]; i++) {
        const char *text = getenv(parameter[i].name);
        if (parameter[i].stored >= 0 && !(text && *text))
            *parameter[i].value = parameter[i].stored;
    }
}

static void warn_unknown(environment_reader_t *reader)
{
    const char *name[NAMES_MAX];
    int names = 0;
    for (; names < trv_settings_count() && names < NAMES_MAX; names++)
        name[names] = trv_settings_at(names)->name + strlen(PREFIX);
    for (char **variable = environ; variable && *variable; variable++) {
        char bare[64], line[256];
        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0)
            continue;
        snprintf(bare, sizeof bare, "%s", *variable + strlen(PREFIX));
        bare[strcspn(bare, "=")] = '\0';
        bool known = false;
        for (int i = 0; i < names && !known; i++)
            known = strcmp(name[i], bare) == 0;
        if (known)
            continue;
        const char *nearest = trv_nearest(bare, name, names);
        if (strcmp(bare, "CACHE") == 0)
            snprintf(line, sizeof line,
                     PREFIX "CACHE has no effect: Trivance does not write star chains to files; unset it");
        else if (nearest)
            snprintf(line, sizeof line, "unknown variable " PREFIX "%s; did you mean " PREFIX "%s?", bare, nearest);
        else
            snprintf(line, sizeof line, "unknown variable " PREFIX "%s; `trivance info` lists the variables", bare);
        reader_warn(reader, line);
    }
}

static void read_environment(environment_reader_t *reader)
{
    trv_settings_t *settings = reader->settings;
    *settings = (trv_settings_t){0};
    read_all(reader);
    if (settings->tune)
        trv_rules_parse_line(&settings->tune_rules, settings->tune, NULL); /* the text has been checked before */
    warn_unknown(reader);
    const char *timeout = getenv("TRIVANCE_TIMEOUT");
    if (!reader->net && settings->on_timeout == TRV_TIMEOUT_ABORT && !(timeout && *timeout))
        reader_warn(reader, "TRIVANCE_ON_TIMEOUT=abort has no effect without a timeout; for example "
                            "TRIVANCE_TIMEOUT=30s");
    settings->info = settings->debug >= TRV_DEBUG_INFO;
}

void trv_settings_read(trv_settings_t *settings, const trv_rules_reader_t *callbacks)
{
    read_environment(&(environment_reader_t){settings, callbacks, false});
}

void trv_settings_read_net(trv_settings_t *settings, const trv_rules_reader_t *callbacks)
{
    read_environment(&(environment_reader_t){settings, callbacks, true});
}

/* ---- The rules file ---------------------------------------------------------------------------------------------- */

/* Applies the result of reading the rules file: records a fault if `code` is negative, and sets the network's
 * parameters. */
static int apply_rules(environment_reader_t *reader, int code)
{
    trv_settings_t *settings = reader->settings;
    settings->file_fault = settings->file_fault || (code < 0 && !settings->fault);
    for (int i = 0; i < trv_settings_count() && code < 0; i++)
        if (trv_settings_at(i)->offset == offsetof(trv_settings_t, rules_file))
            reader_report(reader, trv_settings_at(i), code);
    apply_network(settings);
    return code;
}

int trv_settings_read_rules(trv_settings_t *settings, const trv_rules_reader_t *callbacks)
{
    environment_reader_t reader = {settings, callbacks, false};
    if (!settings->rules_file)
        return TRV_OK;
    trv_rules_clear(&settings->file_rules);
    return apply_rules(&reader, trv_rules_read(&settings->file_rules, settings->rules_file, callbacks));
}

int trv_settings_parse_rules(trv_settings_t *settings, const char *text, size_t length,
                             const trv_rules_reader_t *callbacks)
{
    environment_reader_t reader = {settings, callbacks, false};
    const char *name = settings->rules_file ? settings->rules_file : "rules";
    trv_rules_clear(&settings->file_rules);
    return apply_rules(&reader, trv_rules_parse_file(&settings->file_rules, name, text, length, callbacks));
}

void trv_settings_clear(trv_settings_t *settings)
{
    for (int i = 0; i < trv_settings_count(); i++)
        if (trv_settings_at(i)->kind == TRV_SETTING_TEXT)
            free(*(char **)(void *)((char *)settings + trv_settings_at(i)->offset));
    trv_rules_clear(&settings->tune_rules);
    trv_rules_clear(&settings->file_rules);
    free(settings->fault);
    *settings = (trv_settings_t){0};
}

int trv_torus_from_list(const char *list, int ranks, trv_torus_t *torus)
{
    char item[TRV_TORUS_TEXT_MAX];
    trv_torus_t read;
    int more;
    while ((more = trv_next_item(&list, "tori", item, sizeof item)) > 0) {
        if (trv_torus_parse(item, &read) < 0)
            return TRV_ERR_ARGUMENT;
        if (read.ranks != ranks)
            continue;
        *torus = read;
        return 1;
    }
    return more;
}

bool trv_settings_may_dispatch(const trv_settings_t *settings)
{
    bool by_name = settings->algorithm && strcmp(settings->algorithm, TRV_RULE_AUTO) != 0;
    return (!settings->fault || settings->file_fault) &&
           (settings->torus || settings->topology_file || settings->cart || by_name || settings->tune ||
            settings->rules_file);
}
