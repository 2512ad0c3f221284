/*
 * The component's registration with Open MPI, and its parameters.
 *
 * For every environment variable TRIVANCE_X there is a parameter coll_trivance_x with the same meaning. If both are
 * set, the parameter takes precedence.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/component/coll.h"

#include "ompi/mca/hook/base/base.h"

#include "mpi/front/intercept.h"
#include "mpi/settings/job_settings.h"

#include <trivance/common.h>

#define PREFIX         "TRIVANCE_"
#define NAME_MAX_BYTES 64
#define SETTINGS_MAX   64

static int priority;
static char *parameter[SETTINGS_MAX]; /* values, owned by Open MPI, or NULL */

int trv_coll_priority(void) { return priority; }

/* Converts the name of a variable to that of its parameter: "TRIVANCE_ON_TIMEOUT" to "on_timeout". */
static void parameter_name(const char *variable, char name[NAME_MAX_BYTES])
{
    size_t length = 0;
    for (const char *at = variable + strlen(PREFIX); *at && length + 1 < NAME_MAX_BYTES; at++)
        name[length++] = (char)tolower((unsigned char)*at);
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
        parameter_name(setting->name, name);
        snprintf(text, sizeof text, "%s Value: %s; for example %s. Default: the value of %s", setting->meaning,
                 setting->allowed, setting->example, setting->name);
        parameter[i] = NULL;
        mca_base_component_var_register(component, name, text, MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_6,
                                        MCA_BASE_VAR_SCOPE_READONLY, &parameter[i]);
    }
    return OMPI_SUCCESS;
}

/* Called at the end of MPI_Init on all ranks, even if the priority is 0, because the ranks compare their settings: the
 * priority may be greater than 0 on other ranks. */
static void after_init(int argc, char **argv, int requested, int *provided)
{
    (void)argc, (void)argv, (void)requested, (void)provided;
    trv_mpi_intercept_init(priority > 0);
}

static ompi_hook_base_component_t hook = {.hookm_mpi_init_bottom = after_init};

/* Stores the parameters in the environment, before the settings are read from it. */
static int open_component(void)
{
    trv_mpi_set_mode(TRV_MPI_COMPONENT);
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
