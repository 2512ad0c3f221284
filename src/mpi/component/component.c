/*
 * The component's registration with Open MPI, and its parameters.
 *
 * For every environment variable TRIVANCE_X there is a parameter coll_trivance_x with the same meaning. If both are
 * set, the parameter takes precedence.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/component/coll.h"

#include "ompi/mca/hook/base/base.h"

#include "base/text/nearest.h"
#include "mpi/front/intercept.h"
#include "mpi/reports/log.h"
#include "mpi/settings/job_settings.h"

#include <trivance/common.h>

#define PREFIX         "TRIVANCE_"
#define MCA_PREFIX     "coll_trivance_"
#define NAME_MAX_BYTES TRV_MPI_ALIAS_MAX
#define SETTINGS_MAX   64

static int priority;
static char *parameter[SETTINGS_MAX]; /* values, owned by Open MPI, or NULL */

int trv_coll_priority(void) { return priority; }

/* Converts the name of a variable to that of its parameter: "TRIVANCE_ON_TIMEOUT" to "on_timeout". */
static void parameter_name(const char *variable, char *name, size_t size)
{
    size_t length = 0;
    for (const char *at = variable + strlen(PREFIX); *at && length + 1 < size; at++)
        name[length++] = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at; /* tolower depends on the locale */
    name[length] = '\0';
}

static int register_parameters(void)
{
    const mca_base_component_t *component = &mca_coll_trivance_component.collm_version;
    priority = 0;
    mca_base_component_var_register(component, "priority",
                                    "Priority of the component; 0 disables it. With a priority above that of tuned "
                                    "(30), it executes the calls for which a torus, an algorithm or rules are set",
                                    MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY,
                                    &priority);
    for (int i = 0; i < trv_settings_count() && i < SETTINGS_MAX; i++) {
        const trv_setting_t *setting = trv_settings_at(i);
        char name[NAME_MAX_BYTES], text[512];
        parameter_name(setting->name, name, sizeof name);
        snprintf(text, sizeof text, "%s Value: %s; for example %s. Default: the value of %s", setting->meaning,
                 setting->allowed, setting->example, setting->name);
        parameter[i] = NULL;
        mca_base_component_var_register(component, name, text, MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_6,
                                        MCA_BASE_VAR_SCOPE_READONLY, &parameter[i]);
    }
    return OMPI_SUCCESS;
}

/* ---- Warnings ---------------------------------------------------------------------------------------------------- */

#define MCA_VARIABLE "OMPI_MCA_" MCA_PREFIX /* mpirun passes the parameters to the ranks in such variables */

/* Whether the parameter of a setting is set; then the log names it instead of the variable. */
static bool parameter_of(const char *variable, char name[NAME_MAX_BYTES])
{
    for (int i = 0; i < trv_settings_count() && i < SETTINGS_MAX; i++)
        if (strcmp(trv_settings_at(i)->name, variable) == 0 && parameter[i] && *parameter[i]) {
            strcpy(name, MCA_PREFIX);
            parameter_name(variable, name + strlen(MCA_PREFIX), NAME_MAX_BYTES - strlen(MCA_PREFIX));
            return true;
        }
    return false;
}

/* Warns about parameters with a wrong name, which Open MPI ignores. */
static void warn_unknown(void)
{
    static char bare[SETTINGS_MAX + 1][NAME_MAX_BYTES] = {"priority"};
    const char *name[SETTINGS_MAX + 1] = {bare[0]};
    int names = 1;
    for (int i = 0; i < trv_settings_count() && i < SETTINGS_MAX; i++, names++) {
        parameter_name(trv_settings_at(i)->name, bare[names], sizeof bare[names]);
        name[names] = bare[names];
    }
    for (char **variable = environ; variable && *variable; variable++) {
        char given[NAME_MAX_BYTES];
        bool known = false;
        if (strncmp(*variable, MCA_VARIABLE, strlen(MCA_VARIABLE)) != 0)
            continue;
        snprintf(given, sizeof given, "%s", *variable + strlen(MCA_VARIABLE));
        given[strcspn(given, "=")] = '\0';
        for (int i = 0; i < names && !known; i++)
            known = strcmp(name[i], given) == 0;
        const char *nearest = known ? NULL : trv_nearest(given, name, names);
        if (nearest)
            trv_mpi_log_warning("unknown parameter " MCA_PREFIX "%s; did you mean " MCA_PREFIX "%s?", given, nearest);
        else if (!known)
            trv_mpi_log_warning("unknown parameter " MCA_PREFIX "%s; `ompi_info --param coll trivance --level 9` lists "
                                "the parameters",
                                given);
    }
}

/* Reports that parameters are set, but not the priority, at the level info. */
static void report_no_priority(void)
{
    const char *debug = getenv(PREFIX "DEBUG");
    if (!debug || (strcmp(debug, "info") != 0 && strcmp(debug, "trace") != 0) || trv_mpi_log_rank() != 0)
        return;
    for (int i = 0; i < trv_settings_count() && i < SETTINGS_MAX; i++)
        if (parameter[i] && *parameter[i]) {
            char name[NAME_MAX_BYTES];
            parameter_name(trv_settings_at(i)->name, name, sizeof name);
            trv_mpi_log_line(MCA_PREFIX "%s is set, but not " MCA_PREFIX "priority, so the component is not used; set "
                                        "a priority above 30, for example --mca " MCA_PREFIX "priority 60",
                             name);
            return;
        }
}

/* Warns if a preload library is loaded, too: it receives the program's calls first. */
static void warn_preload(void)
{
    Dl_info info;
    const void *function = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
    if (function && dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, "libtrivance_pmpi"))
        trv_mpi_log_warning(
            "the preload library and the component of Trivance are used together, and each executes the "
            "calls that reach it; use one: without LD_PRELOAD (trivance run), or with --mca " MCA_PREFIX "priority 0");
}

/* ---- Open MPI's calls -------------------------------------------------------------------------------------------- */

/* Called at the end of MPI_Init on all ranks, even if the priority is 0, because the ranks compare their settings: the
 * priority may be greater than 0 on other ranks. */
static void after_init(int argc, char **argv, int requested, int *provided)
{
    (void)argc, (void)argv, (void)requested, (void)provided;
    warn_unknown();
    if (priority > 0)
        warn_preload();
    else
        report_no_priority();
    trv_mpi_intercept_init(priority > 0);
}

static ompi_hook_base_component_t hook = {.hookm_mpi_init_bottom = after_init};

/* Stores the parameters in the environment, before the settings are read from it. */
static int open_component(void)
{
    trv_mpi_set_mode(TRV_MPI_COMPONENT);
    trv_mpi_log_set_alias(parameter_of);
    ompi_hook_base_register_callbacks(&hook);
    for (int i = 0; i < trv_settings_count() && i < SETTINGS_MAX; i++)
        if (parameter[i] && *parameter[i])
            setenv(trv_settings_at(i)->name, parameter[i], 1);
    return OMPI_SUCCESS;
}

static int close_component(void)
{
    ompi_hook_base_deregister_callbacks(&hook);
    trv_coll_requests_end();
    trv_coll_modules_end();
    return OMPI_SUCCESS;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads, (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_trivance_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "trivance",
            MCA_BASE_MAKE_VERSION(component, TRV_VERSION_MAJOR, TRV_VERSION_MINOR, TRV_VERSION_PATCH),
            .mca_open_component = open_component,
            .mca_close_component = close_component,
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE}, /* no checkpoints */
    .collm_init_query = init_query,
    .collm_comm_query = trv_coll_comm_query,
};
