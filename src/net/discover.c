/*
 * The torus of a net for which none is set: each rank sends its record to rank 0 with its first frame, rank 0
 * interprets the records (topology/sources) and sends the torus with the other settings. So discovery takes no exchange
 * of its own.
 *
 * A torus is used if it has one rank per node, and the ranks are numbered like its coordinates; otherwise the ranks are
 * treated as a ring, and the log has the reason.
 */
#include <stdio.h>
#include <stdlib.h>

#include "net/inside.h"
#include "topology/pmix/pmix_place.h"
#include "topology/sources/sources.h"

_Static_assert(sizeof(trv_rank_record_t) <= TRV_GREETING_BYTES_MAX, "a record is a greeting");

void trv_net_read_record(trv_net_t *net, bool by_pmix, trv_bootstrap_options_t *bootstrap)
{
    trv_record_read(&net->record);
    if (by_pmix)
        trv_pmix_place_read(&net->record.pmix);
    if (!trv_record_has_source(&net->record))
        return;
    bootstrap->greeting = &net->record;
    bootstrap->greeting_bytes = sizeof net->record;
}

static void discover_report(void *context, bool wrong, const char *sentence)
{
    const trv_net_t *net = context;
    char line[TRV_REASON_MAX];
    snprintf(line, sizeof line, "%.*s%s", TRV_REASON_MAX - 40, sentence, wrong ? "; this source is not used" : "");
    if (net->log && (wrong || net->settings.info))
        net->log(net->log_context, line);
}

static void torus_use(trv_net_t *net, const trv_found_t *found)
{
    char text[TRV_FOUND_TEXT_MAX], line[TRV_FOUND_TEXT_MAX + 160];
    if (found->in_order)
        trv_torus_format(&found->part, net->torus, sizeof net->torus);
    if (!net->log || !net->settings.info)
        return;
    snprintf(line, sizeof line, "%s%s", trv_found_text(found, net->ranks, text),
             found->in_order ? ""
                             : "; libtrivance_net treats the ranks as a ring, because they are not numbered like the "
                               "coordinates of a torus, one on each node");
    net->log(net->log_context, line);
}

int trv_net_discover(trv_net_t *net)
{
    const trv_source_options_t options = {.slurm_dims = net->settings.slurm_dims};
    trv_found_t found;
    int rc = trv_bootstrap_gather(net->bootstrap);
    if (rc < 0)
        return rc;
    trv_rank_record_t *record = calloc((size_t)net->ranks, sizeof *record);
    if (!record)
        return trv_fail_memory();
    record[0] = net->record;
    for (int r = 1; r < net->ranks; r++) {
        size_t bytes;
        const void *greeting = trv_bootstrap_greeting(net->bootstrap, r, &bytes);
        trv_record_receive(&record[r], greeting, bytes);
    }
    rc = trv_discover(&found, record, net->ranks, &options, discover_report, net);
    if (rc > 0)
        torus_use(net, &found);
    trv_found_clear(&found);
    free(record);
    return rc < 0 ? rc : TRV_OK;
}
