/*
 * trivance plan --also: schedules from files as candidates of the plan.
 */
#include "cli/plan/query.h"

#include <string.h>

#include "base/error.h"
#include "base/text/parse.h"
#include "cli/shared/input.h"

int cli_also_read(const char *command, const char *list, cli_also_t *also)
{
    char path[TRV_ALGORITHM_NAME_MAX];
    int more, rc = TRV_OK;
    while (!rc && (more = trv_next_item(&list, "--also", path, sizeof path)) != 0) {
        trv_schedule_file_t *file = &also->file[also->count];
        if (more < 0)
            return more;
        if (also->count == CLI_ALSO_MAX)
            return trv_fail(TRV_ERR_ARGUMENT, "--also: there are more than %d files", CLI_ALSO_MAX);
        rc = cli_read_schedule(command, path, true, file);
        if (rc)
            return rc;
        strcpy(also->name[also->count++], path);
        const trv_network_t network = trv_schedule_file_network(file, trv_schedule_torus(file->schedule));
        rc = cli_require_blocks(file, path, "it cannot be proved; only proved schedules are planned");
        if (!rc)
            rc = cli_check_schedule(path, file->schedule, &network);
    }
    return rc;
}

void cli_also_clear(cli_also_t *also)
{
    for (int i = 0; i < also->count; i++)
        trv_schedule_destroy(also->file[i].schedule);
    also->count = 0;
}

int cli_also_add(const cli_also_t *also, trv_planner_t *planner)
{
    int rc = TRV_OK;
    for (int i = 0; i < also->count && !rc; i++)
        rc = trv_planner_add(planner, also->file[i].schedule, also->name[i]);
    return rc ? trv_fail(rc, "--also: %s", trv_last_error()) : TRV_OK;
}

int cli_also_find(const cli_also_t *also, const char *name)
{
    for (int i = 0; i < also->count; i++)
        if (strcmp(also->name[i], name) == 0)
            return i;
    return -1;
}
