/*
 * trivance run: starts an MPI program with the preload library of its MPI.
 *
 * LD_PRELOAD and the variables are set for the ranks, not for the launcher itself: by the option -x of Open MPI's
 * launcher, once for every program of the command line, or by -genv of MPICH's. For another launcher (srun, a script)
 * they are set in its environment, which the launcher forwards. The options are the variables of the settings' table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trivance/common.h>
#include <trivance/torus.h>

#include "cli/check_setting.h"
#include "cli/scontrol.h"
#include "cli/subcommands.h"
#include "base/error.h"
#include "base/text/parse.h"
#include "cli/shared/tool.h"
#include "cli/host/handover.h"
#include "cli/host/mpi_start.h"
#include "settings/settings.h"

#define PREFIX      "TRIVANCE_"
#define NAME_BYTES  40
#define OPTIONS_MAX 64
#define PATH_BYTES  4608

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* TRIVANCE_DEBUG_FILE -> debug-file */
static void option_name(const trv_setting_t *setting, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s", setting->name + strlen(PREFIX));
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
}

/* Keys: a variable's option has the key SETTING + its index. */
enum { MPI = CLI_NO_LETTER, SETTING };
static const cli_option_t *setting_options(void)
{
    static cli_option_t option[OPTIONS_MAX + 2];
    static char name[OPTIONS_MAX][NAME_BYTES];
    int rows = 0;
    option[rows++].text = "Variables of `trivance info`";
    for (int i = 0; i < trv_settings_count() && i < OPTIONS_MAX; i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        if (trv_settings_of_net(setting))
            continue;
        option_name(setting, name[i]);
        option[rows++] = (cli_option_t){name[i], SETTING + i,
                                        setting->kind == TRV_SETTING_FLAG    ? "[0|1]"
                                        : setting->kind == TRV_SETTING_RATE  ? "RATE"
                                        : setting->kind == TRV_SETTING_TIME  ? "TIME"
                                        : setting->kind == TRV_SETTING_BYTES ? "BYTES"
                                                                             : "VALUE",
                                        setting->meaning, NULL};
    }
    return option;
}

static const cli_option_t option[] = {{"mpi", MPI, "M",
                                       "openmpi, mpich or abi; needed only if the MPI cannot be detected",
                                       "openmpi mpich abi"},
                                      CLI_OPTIONS_END};

const cli_command_t cli_run_command = {
    .name = "run",
    .summary = "start an unmodified MPI program with Trivance preloaded",
    .usage = "[OPTIONS] [--] LAUNCHER [ARGUMENTS]",
    .about =
        "Starts an unmodified MPI program whose collectives (AllReduce, Broadcast, All-to-All and others) Trivance "
        "executes: detects the MPI from the program or the launcher, preloads the matching library and reports it. "
        "Calls that Trivance does not support fall back to the MPI library; without a torus all calls do. The torus is "
        "that of --torus or --topology-file, or the one that Slurm, Fujitsu MPI or PMIx reports.",
    .option = option,
    .more = setting_options,
    .examples = "trivance run --torus 3x3 -- mpirun -n 9 ./a.out\n"
                "trivance run --torus 4x4x4 --debug=info srun -n 64 ./a.out\n",
    .passes_on = true,
};

typedef struct options {
    const char *mpi; /* NULL: not given */
    bool given[OPTIONS_MAX];
} options_t;

/* Checks a value and sets it in the tool's environment, from which it is forwarded. */
static int set_variable(const trv_setting_t *setting, const char *value)
{
    char name[NAME_BYTES], dashed[NAME_BYTES + 2];
    option_name(setting, name);
    snprintf(dashed, sizeof dashed, "--%s", name);
    if (!*value)
        return trv_fail(TRV_ERR_ARGUMENT, "%s: the value is missing; for example %s=%s", dashed, dashed,
                        setting->example);
    const int code = cli_check_setting(setting, dashed, value);
    return code == TRV_OK && setenv(setting->name, value, 1) != 0 ? trv_fail_memory() : code;
}

static int read_option(void *context, int key)
{
    options_t *options = context;
    if (key >= SETTING) {
        options->given[key - SETTING] = true;
        return set_variable(trv_settings_at(key - SETTING), optarg ? optarg : "1");
    }
    if (strcmp(optarg, "openmpi") != 0 && strcmp(optarg, "mpich") != 0 && strcmp(optarg, CLI_MPI_ABI) != 0)
        return trv_fail(
            TRV_ERR_ARGUMENT,
            "'%.40s' is not an MPI; expected openmpi, mpich or abi (any library with the standard ABI), for "
            "example --mpi=openmpi",
            optarg);
    options->mpi = optarg;
    return TRV_OK;
}

/* Whether the value names a file, which may exist on the job's nodes only. */
static bool is_file(const trv_setting_t *setting)
{
    return setting->offset == offsetof(trv_settings_t, rules_file) ||
           setting->offset == offsetof(trv_settings_t, topology_file);
}

/* Checks the variables of the environment, because the ranks report an invalid one only after the job has started. */
static int check_environment(void)
{
    int code = TRV_OK;
    for (int i = 0; i < trv_settings_count() && code == TRV_OK; i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        const char *value = getenv(setting->name);
        if (value && *value && !trv_settings_of_net(setting) && !is_file(setting))
            code = cli_check_setting(setting, setting->name, value);
    }
    return code;
}

/* Reports options that have no effect without another one. */
static int check_effect(const options_t *options)
{
    trv_settings_t settings;
    int code = TRV_OK;
    trv_settings_read(&settings, &(trv_rules_reader_t){0});
    for (int i = 0; i < trv_settings_count() && code == TRV_OK; i++) {
        if (!options->given[i])
            continue;
        const size_t offset = trv_settings_at(i)->offset;
        const bool ofi_only = offset == offsetof(trv_settings_t, ports) || offset == offsetof(trv_settings_t, provider);
        if (ofi_only && settings.transport != TRV_TRANSPORT_OFI)
            code = trv_fail(TRV_ERR_ARGUMENT,
                            "--ports and --provider have no effect without libfabric; add --transport=ofi");
        if (offset == offsetof(trv_settings_t, on_timeout) && settings.on_timeout == TRV_TIMEOUT_ABORT &&
            settings.timeout_ns == 0)
            code = trv_fail(TRV_ERR_ARGUMENT,
                            "--on-timeout=abort has no effect without a timeout; add one, for example --timeout=30s");
    }
    trv_settings_clear(&settings);
    return code;
}

/* ---- Selection of the MPI and the library ------------------------------------------------------------------------ */

typedef struct start {
    const char *mpi;      /* of the program, or of the launcher, or specified by --mpi */
    const char *launcher; /* MPI of the launcher; NULL: unknown */
    const char *found_by; /* how `mpi` was found, for messages */
    bool oversubscribed;  /* the environment permits more ranks than cores, which it did not before */
    char library[PATH_BYTES];
} start_t;

/* Reports that a program is given without a launcher. The example has the user's torus, and the launcher of the
 * program's MPI as this system calls it. */
static int report_no_launcher(const char *command, const char *program, const char *mpi)
{
    const char *list = getenv("TRIVANCE_TORUS");
    char text[TRV_TORUS_TEXT_MAX] = "3x3", launcher[32], path[CLI_PATH_BYTES];
    trv_torus_t torus = {.ranks = 9};
    const char *launcher_mpi = cli_mpi_of_launcher("mpirun");
    if (list && *list && trv_next_item(&list, "tori", text, sizeof text) > 0)
        trv_torus_parse(text, &torus);
    snprintf(launcher, sizeof launcher, "mpirun.%s", mpi);
    const bool plain = (launcher_mpi && strcmp(launcher_mpi, mpi) == 0) || !cli_find_executable(launcher, path);
    return cli_bad(command,
                   "%.200s is a program of %s, and its launcher is missing; for example `trivance run --torus %s -- "
                   "%s -n %d %.200s`",
                   program, cli_mpi_title(mpi), text, plain ? "mpirun" : launcher, torus.ranks, program);
}

static int find_mpi(const char *command, char **words, int count, const char *given, start_t *start)
{
    const char *linked;
    int at = cli_find_mpi_program(words + 1, count - 1, &linked);
    const char *program = at < 0 ? NULL : words[1 + at];
    char path[CLI_PATH_BYTES];
    if (!cli_find_executable(words[0], path))
        return cli_bad(command, "there is no executable program '%.200s'", words[0]);
    start->launcher = cli_mpi_of_launcher(words[0]);
    const bool is_mpi_program = !start->launcher && at < 0 && cli_find_mpi_program(words, 1, &linked) == 0;
    program = is_mpi_program ? words[0] : program;
    if (is_mpi_program && !given && !cli_launcher())
        return report_no_launcher(command, program, linked);
    if (given && linked && strcmp(given, linked) != 0)
        return cli_bad(command, "--mpi=%s, and %.200s is linked with %s; leave --mpi out", given, program,
                       cli_mpi_title(linked));
    if (given && start->launcher && !cli_launcher_starts(start->launcher, given))
        return cli_bad(command,
                       "--mpi=%s, and %.200s is the launcher of %s; leave --mpi out, or start it with the "
                       "launcher of its own MPI",
                       given, words[0], cli_mpi_title(start->launcher));
    if (!given && start->launcher && linked && !cli_launcher_starts(start->launcher, linked))
        return cli_bad(command,
                       "%.200s is linked with %s, and %.200s is the launcher of %s; start it with the "
                       "launcher of its own MPI",
                       program, cli_mpi_title(linked), words[0], cli_mpi_title(start->launcher));
    start->mpi = given ? given : linked ? linked : start->launcher;
    start->found_by = given ? "--mpi" : linked ? program : words[0];
    if (!start->mpi)
        return cli_bad(command,
                       "the MPI cannot be detected from %.200s or from a program in its arguments; give --mpi=openmpi, "
                       "--mpi=mpich or --mpi=abi",
                       words[0]);
    return CLI_OK;
}

static int find_library(const char *command, start_t *start)
{
    static const char *const folder[] = {"../src/mpi/preload/", TRIVANCE_LIBRARY_PLACE "/", NULL};
    char file[64], path[PATH_BYTES];
    snprintf(file, sizeof file, "libtrivance_pmpi_%s.so", start->mpi);
    if (cli_find_beside(folder, file, R_OK, path, sizeof path) && realpath(path, start->library))
        return strpbrk(start->library, " :") ? cli_bad(command,
                                                       "LD_PRELOAD cannot contain %s, because this path has a blank or "
                                                       "a colon; install Trivance elsewhere",
                                                       start->library)
                                             : CLI_OK;
    return cli_bad(command,
                   "%s is not in %s beside the tool's folder; it is built if %s is installed, and `make install` "
                   "installs it there",
                   file, TRIVANCE_LIBRARY_PLACE, cli_mpi_title(start->mpi));
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

typedef struct words {
    char **word;
    int count;
} words_t;

static void add(words_t *words, const char *word) { words->word[words->count++] = (char *)word; }

static bool is_trivance_variable(const char *setting) { return strncmp(setting, PREFIX, strlen(PREFIX)) == 0; }

static int variables(void)
{
    int count = 0;
    for (char **at = environ; *at; at++)
        count += is_trivance_variable(*at);
    return count;
}

/* Open MPI's launcher forwards variables only with -x; the environment alone is sufficient only on this node. */
static void add_openmpi(words_t *words, const char *preload)
{
    add(words, "-x");
    add(words, preload);
    for (char **at = environ; *at; at++)
        if (is_trivance_variable(*at)) {
            add(words, "-x");
            add(words, *at);
        }
}

/* Returns the command line with the options for its launcher; NULL if memory is insufficient. `preload`:
 * "LD_PRELOAD=…". */
static char **command_line(char **given, int count, const start_t *start, const char *preload)
{
    const bool openmpi = start->launcher && strcmp(start->launcher, "openmpi") == 0;
    int programs = 1;
    for (int i = 0; i < count; i++)
        programs += strcmp(given[i], ":") == 0;
    size_t capacity = (size_t)count + (size_t)programs * (2 + 2 * (size_t)variables()) + 4;
    words_t words = {calloc(capacity, sizeof *words.word), 0};
    if (!words.word)
        return NULL;
    for (int i = 0; i < count; i++) {
        add(&words, given[i]);
        if (openmpi && (i == 0 || strcmp(given[i], ":") == 0))
            add_openmpi(&words, preload);
        if (i == 0 && start->launcher && !openmpi) {
            add(&words, "-genv");
            add(&words, "LD_PRELOAD");
            add(&words, strchr(preload, '=') + 1);
        }
    }
    return words.word;
}

static void report_start(const start_t *start)
{
    fprintf(stderr, "trivance run: %s (by %s), preloading %s", cli_mpi_title(start->mpi), start->found_by,
            start->library);
    for (char **at = environ; *at; at++)
        if (is_trivance_variable(*at))
            fprintf(stderr, ", %s", *at);
    if (start->oversubscribed)
        fprintf(stderr, "; more ranks than cores, which OMPI_MCA_rmaps_base_oversubscribe=1 permits");
    fputc('\n', stderr);
}

/* Lets Open MPI's launcher start more ranks than this machine has cores, which it refuses by default. Values that the
 * user has set are kept. The second variable is that of Open MPI 5. */
static int permit_oversubscription(char **given, int count, start_t *start)
{
    if (!start->launcher || strcmp(start->launcher, "openmpi") != 0 || getenv("OMPI_MCA_rmaps_base_oversubscribe") ||
        !cli_exceeds_cores(given, count))
        return TRV_OK;
    start->oversubscribed = setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1) == 0 &&
                            setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0) == 0;
    return start->oversubscribed ? TRV_OK : trv_fail_memory();
}

static int launch(const char *command, char **given, int count, start_t *start)
{
    const char *before = getenv("LD_PRELOAD");
    size_t size = sizeof "LD_PRELOAD=:" + strlen(start->library) + (before ? strlen(before) : 0);
    char *preload = malloc(size);
    if (preload)
        snprintf(preload, size, "LD_PRELOAD=%s%s%s", start->library, before && *before ? ":" : "",
                 before ? before : "");
    char **words = preload ? command_line(given, count, start, preload) : NULL;
    if (!words || permit_oversubscription(given, count, start) < 0 ||
        (!start->launcher && setenv("LD_PRELOAD", strchr(preload, '=') + 1, 1) != 0)) {
        free(preload);
        return cli_bad(command, "out of memory for the command line");
    }
    report_start(start);
    fflush(NULL);
    execvp(words[0], words);
    int code = cli_bad(command, "%.200s cannot be started: %s", words[0], strerror(errno));
    free(words);
    free(preload);
    return code;
}

static bool is_set(const char *name) { return getenv(name) && *getenv(name); }

int cli_run(int argc, char **argv)
{
    start_t start = {0};
    options_t options = {.mpi = NULL};
    int code = cli_read_options(&cli_run_command, argc, argv, read_option, &options);
    if (code >= 0)
        return code;
    char **words = argv + optind;
    int count = argc - optind;
    if (count == 0)
        return cli_bad(argv[0], "the command to start is missing, for example `trivance run --torus 3x3 -- mpirun -n 9 "
                                "./a.out`");
    if (check_environment() < 0 || check_effect(&options) < 0)
        return cli_bad_last(argv[0]);
    if (!is_set("TRIVANCE_TORUS") && !is_set("TRIVANCE_TOPOLOGY_FILE"))
        cli_slurm_set_dims(argv[0]);
    code = find_mpi(argv[0], words, count, options.mpi, &start);
    if (code == CLI_OK)
        code = find_library(argv[0], &start);
    return code == CLI_OK ? launch(argv[0], words, count, &start) : code;
}
