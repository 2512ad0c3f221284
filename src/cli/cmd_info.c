/*
 * trivance info: every variable of the environment with its meaning, default and current value, and the build.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>
#include <trivance/reduce.h>

#include "cli/check_setting.h"
#include "cli/subcommands.h"
#include "base/error.h"
#include "collective/algorithm_names.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "cli/shared/table.h"
#include "settings/settings.h"

static const cli_option_t option[] = {{"format", 'f', "F", "table (default), json or csv", "table json csv"},
                                      CLI_OPTIONS_END};

const cli_command_t cli_info_command = {
    .name = "info",
    .summary = "the environment variables and their values, and the build",
    .usage = "[--format=table|json|csv]",
    .about = "Prints the environment variables that the MPI layer and libtrivance_net read, with their meaning, "
             "allowed values, default and current value; and how this Trivance was built, for which MPIs, and for "
             "which PyTorch, or why not. An invalid value is reported with the reason, and the exit status is 2.",
    .option = option,
    .alone = "info takes only options, for example --format=json",
    .examples = "TRIVANCE_TORUS=8x8 trivance info\n",
};

/* ---- The build --------------------------------------------------------------------------------------------------- */

typedef struct fact {
    const char *name, *meaning, *value;
} fact_t;

#define FACTS 6

#if defined __SANITIZE_ADDRESS__
#define BUILT_WITH "gcc " __VERSION__ ", sanitizers"
#elif defined __clang__
#define BUILT_WITH __VERSION__ /* includes the compiler's name */
#else
#define BUILT_WITH "gcc " __VERSION__
#endif

static const char *program_of(const char *mpi, char path[4608])
{
    return cli_find_program(mpi, path, 4608) ? path : "none";
}

static void find_facts(fact_t fact[FACTS], char path[2][4608])
{
    const fact_t all[FACTS] = {
        {"version", "version of the tool and the libraries", trv_version()},
        {"compiler", "compiler that built the tool", BUILT_WITH},
        {"kernels", "reduction kernels for this processor", trv_reduce_kernels()},
        {"openmpi", "path of the program for Open MPI", program_of("openmpi", path[0])},
        {"mpich", "path of the program for MPICH", program_of("mpich", path[1])},
        {"torch", "the PyTorch backend, trivance.torch", TRIVANCE_TORCH},
    };
    memcpy(fact, all, sizeof all);
}

/* ---- The variables ----------------------------------------------------------------------------------------------- */

typedef struct variable {
    const trv_setting_t *setting;
    const char *value; /* NULL: not set */
    char fault[1024];  /* why it is invalid; "" if it is valid */
} variable_t;

static void variable_read(const trv_setting_t *setting, variable_t *variable)
{
    const char *value = getenv(setting->name);
    *variable = (variable_t){.setting = setting, .value = value && *value ? value : NULL};
    if (variable->value && cli_check_setting(setting, setting->name, value) < 0)
        snprintf(variable->fault, sizeof variable->fault, "%s", trv_last_error());
    if (variable->value && trv_settings_is_secret(setting))
        variable->value = "(set)";
}

/* ---- As text ----------------------------------------------------------------------------------------------------- */

static int print_variable(const variable_t *variable)
{
    const trv_setting_t *setting = variable->setting;
    char text[1024], *value = strdup(variable->value ? variable->value : "");
    if (!value)
        return trv_fail_memory();
    trv_make_printable(value);
    printf("\n%s%s%s\n", setting->name, *value ? "=" : "", value);
    free(value);
    if (variable->fault[0])
        printf("    WRONG: %s\n", variable->fault);
    snprintf(text, sizeof text, "%s Takes %s; default %s; example %s", setting->meaning, setting->allowed,
             setting->default_value, setting->example);
    fputs("    ", stdout);
    cli_print_wrapped(stdout, text, 4, 4);
    return TRV_OK;
}

static int print_text(const fact_t fact[FACTS])
{
    int rc = TRV_OK;
    for (int i = 0; i < FACTS; i++)
        printf("%-10s%s\n", fact[i].name, fact[i].value);
    for (int i = 0; i < trv_settings_count() && !rc; i++) {
        variable_t variable;
        variable_read(trv_settings_at(i), &variable);
        rc = print_variable(&variable);
    }
    return rc;
}

/* ---- As rows ----------------------------------------------------------------------------------------------------- */

static void text_or_none(cli_table_t *table, const char *text)
{
    if (text && *text)
        cli_cell_text(table, text);
    else
        cli_cell_none(table);
}

static void add_row(cli_table_t *table, const char *kind, const char *name, const char *value,
                    const trv_setting_t *setting, const char *meaning, const char *fault)
{
    cli_cell_text(table, kind);
    cli_cell_text(table, name);
    text_or_none(table, value);
    text_or_none(table, setting ? setting->default_value : NULL);
    text_or_none(table, setting ? setting->allowed : NULL);
    text_or_none(table, setting ? setting->example : NULL);
    cli_cell_text(table, meaning);
    text_or_none(table, fault);
    cli_row_end(table);
}

static int print_rows(const fact_t fact[FACTS], cli_format_t format)
{
    cli_table_t table;
    cli_table_begin_keys(&table, stdout, format, "kind name value default allowed example meaning fault");
    for (int i = 0; i < FACTS; i++)
        add_row(&table, "build", fact[i].name, fact[i].value, NULL, fact[i].meaning, NULL);
    for (int i = 0; i < trv_settings_count(); i++) {
        variable_t variable;
        variable_read(trv_settings_at(i), &variable);
        add_row(&table, "variable", variable.setting->name, variable.value, variable.setting, variable.setting->meaning,
                variable.fault);
    }
    return cli_table_end(&table);
}

/* Faults of single variables are printed beside them. */
static void warn(void *context, const char *sentence)
{
    (void)context;
    for (int i = 0; i < trv_settings_count(); i++) {
        const size_t length = strlen(trv_settings_at(i)->name);
        if (strncmp(sentence, trv_settings_at(i)->name, length) == 0 && sentence[length] == ':')
            return;
    }
    cli_warn("info", "%s", sentence);
}

/* Reports faults that are detected only when all variables are read together: misspelt names, errors in a rules
 * file. */
static void warn_about_all(void)
{
    trv_settings_t settings;
    const trv_rules_reader_t how = {trv_algorithm_check, warn, NULL};
    trv_settings_read(&settings, &how);
    trv_settings_read_rules(&settings, &how); /* an error in it is printed beside the variable */
    trv_settings_clear(&settings);
}

static bool has_fault(void)
{
    variable_t variable;
    bool fault = false;
    for (int i = 0; i < trv_settings_count(); i++) {
        variable_read(trv_settings_at(i), &variable);
        fault |= variable.fault[0] != '\0';
    }
    return fault;
}

int cli_info(int argc, char **argv)
{
    cli_format_t format = CLI_FORMAT_TABLE;
    int code = cli_read_format_option(&cli_info_command, argc, argv, &format);
    if (code >= 0)
        return code;
    static char path[2][4608];
    fact_t fact[FACTS];
    find_facts(fact, path);
    if (format == CLI_FORMAT_TABLE ? print_text(fact) : print_rows(fact, format))
        return cli_bad_last(argv[0]);
    warn_about_all();
    return has_fault() ? CLI_BAD : CLI_OK;
}
