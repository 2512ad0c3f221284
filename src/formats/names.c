/*
 * Words for networks, chosen by their dimensions that wrap around and by their links that are cut.
 */
#include "formats/names.h"

#include <math.h>
#include <stdbool.h>

const char *const trv_symmetry_words[3] = {"none", "parity", "translation"};

static bool has_cut(const trv_network_t *network)
{
    for (int i = 0; i < network->slow_links; i++)
        if (isinf(network->slow_link[i].factor))
            return true;
    return false;
}

const char *trv_shape_noun(const trv_network_t *network)
{
    const trv_torus_t *torus = &network->torus;
    unsigned links = 0; /* dimensions that have links */
    for (int d = 0; d < torus->dims; d++)
        links |= torus->size[d] > 1 ? 1u << d : 0;
    if (torus->dims == 1)
        return torus->lines ? "line" : "ring";
    if (has_cut(network) || (torus->lines && torus->lines != links))
        return "network";
    return torus->lines ? "mesh" : "torus";
}

char *trv_shape_words(const trv_network_t *network, char text[TRV_SHAPE_TEXT_MAX])
{
    char sizes[TRV_TORUS_TEXT_MAX];
    const char *noun = trv_shape_noun(network), *forwarding = network->no_forwarding ? " without forwarding" : "";
    if (network->torus.dims == 1)
        snprintf(text, TRV_SHAPE_TEXT_MAX, "a %s of %d%s%s", noun, network->torus.ranks,
                 has_cut(network) ? " with a cut" : "", forwarding);
    else
        snprintf(text, TRV_SHAPE_TEXT_MAX, "the %s %s%s", noun, trv_torus_format(&network->torus, sizes, sizeof sizes),
                 forwarding);
    return text;
}
