/*
 * Tori and schedule files as input.
 */
#include "tool/input.h"

#include <stdio.h>

#include "text/parse.h"
#include "common/error.h"

int cli_read_tori(int argc, char **argv, int first, cli_tori_t *tori)
{
    tori->count = 0;
    for (int i = first; i < argc; i++) {
        char item[TRV_TORUS_TEXT_MAX];
        const char *rest = argv[i];
        int more;
        while ((more = trv_next_item(&rest, "tori", item, sizeof item)) > 0) {
            if (tori->count == CLI_TORI_MAX)
                return trv_fail(TRV_ERR_ARGUMENT, "there are more than %d tori", CLI_TORI_MAX);
            int rc = trv_torus_parse(item, &tori->torus[tori->count]);
            if (rc)
                return rc;
            tori->count++;
        }
        if (more)
            return more;
    }
    return TRV_OK;
}

static void print_warning(void *context, const char *sentence)
{
    fflush(stdout);
    fprintf(stderr, "trivance %s: warning: %s\n", (const char *)context, sentence);
}

int cli_read_schedule(const char *command, const char *path, trv_schedule_file_t *file)
{
    return trv_schedule_file_read(path, file, print_warning, (void *)(size_t)command);
}
