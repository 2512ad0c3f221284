/*
 * Checks the values of environment variables, including the topology file that they name.
 */
#include "cli/check_setting.h"

#include <string.h>

#include "base/error.h"
#include "collective/algorithm_names.h"
#include "topology/topology_file.h"

static void ignore(void *context, const char *sentence) { (void)context, (void)sentence; } /* the job warns */

int cli_check_setting(const trv_setting_t *setting, const char *name, const char *value)
{
    trv_topology_t topology;
    const int code = trv_settings_check(setting, name, value, trv_algorithm_check);
    if (code < 0 || strcmp(setting->name, "TRIVANCE_TOPOLOGY_FILE") != 0)
        return code;
    if (trv_topology_read(&topology, value, ignore, NULL) < 0)
        return trv_fail(TRV_ERR_ARGUMENT, "%s: %s", name, trv_last_error());
    trv_topology_clear(&topology);
    return TRV_OK;
}
