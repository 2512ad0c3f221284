/*
 * How far the calling thread says it is (base/advance.h), as steps of a bar, wherever that is drawn.
 */
#include "base/advance.h"
#include "cli/shared/progress.h"

static void advance(void *context, double done)
{
    cli_progress_t *progress = context;
    cli_progress_step(progress, progress->watched * (done - progress->advanced));
    progress->advanced = done;
}

void cli_progress_watch(cli_progress_t *progress, double work)
{
    if (progress->watched > 0)
        advance(progress, 1);
    progress->watched = work;
    progress->advanced = 0;
    trv_advance_listen(work > 0 ? advance : NULL, progress);
}
