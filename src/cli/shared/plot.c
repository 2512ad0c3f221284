/*
 * The data of a plot.
 */
#include "cli/shared/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cli/shared/lower_bound.h"
#include "cli/shared/network_options.h"
#include "formats/names.h"
#include "schedule/collective.h"

void cli_plot_begin(cli_plot_t *plot, const trv_torus_t *torus, trv_collective_t collective,
                    const trv_simulate_options_t *network)
{
    const trv_network_t wired = cli_network_on(torus, network);
    char shape[TRV_SHAPE_TEXT_MAX], model[TRV_PARAMETER_TEXT_MAX], links[64] = "";
    if (network->slow_links > 0)
        snprintf(links, sizeof links, ", %d slow or cut link%s", network->slow_links,
                 network->slow_links == 1 ? "" : "s");
    trv_snprintf(plot->title, sizeof plot->title, "%s on %s: %s, %g Gb/s, alpha %g us%s",
                 trv_collective_shape(collective)->title, trv_shape_words(&wired, shape),
                 cli_network_word(network, "model", model), network->bandwidth_bps / 1e9, network->alpha_ns / 1e3,
                 links);
    plot->curves = json_array();
    plot->limit = json_pack("{s:[], s:[]}", "bytes", "ns");
}

static json_t *curve_of(const cli_plot_t *plot, const char *name)
{
    json_t *curve;
    size_t i;
    json_array_foreach(plot->curves, i, curve)
    {
        if (strcmp(json_string_value(json_object_get(curve, "name")), name) == 0)
            return curve;
    }
    curve = json_pack("{s:s, s:[], s:[]}", "name", name, "bytes", "ns");
    return json_array_append_new(plot->curves, curve) == 0 ? curve : NULL;
}

static void add_point(json_t *curve, uint64_t bytes, double time_ns)
{
    json_array_append_new(json_object_get(curve, "bytes"), json_integer((json_int_t)bytes));
    json_array_append_new(json_object_get(curve, "ns"), isfinite(time_ns) ? json_real(time_ns) : json_null());
}

void cli_plot_add(cli_plot_t *plot, const char *name, uint64_t bytes, double time_ns)
{
    if (isfinite(time_ns))
        add_point(curve_of(plot, name), bytes, time_ns);
}

int cli_plot_add_limit(cli_plot_t *plot, const trv_torus_t *torus, trv_collective_t collective, int root,
                       const trv_simulate_options_t *network, uint64_t bytes)
{
    trv_limit_t limit;
    int rc = trv_compare_limit(torus, network, collective, root, bytes, &limit);
    if (!rc)
        add_point(plot->limit, bytes, limit.time_ns);
    return rc;
}

void cli_plot_clear(cli_plot_t *plot)
{
    json_decref(plot->curves);
    json_decref(plot->limit);
    *plot = (cli_plot_t){0};
}
