/*
 * "wrap": [true, false] and "links": [{"from": 3, "port": "+0", "factor": 4}, {"from": 4, "port": "-1", "down": true}].
 */
#include "formats/schedule_json_network.h"

#include <math.h>

#include "base/error.h"

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static json_t *link_object(const trv_slow_link_t *link)
{
    char port[TRV_PORT_TEXT_MAX];
    trv_port_format(link->port, port);
    return isinf(link->factor) ? json_pack("{s:i, s:s, s:b}", "from", link->rank, "port", port, "down", 1)
                               : json_pack("{s:i, s:s, s:f}", "from", link->rank, "port", port, "factor", link->factor);
}

int trv_json_add_network(json_t *header, const trv_network_t *network)
{
    json_t *wrap = network->torus.lines ? json_array() : NULL, *links = network->slow_links > 0 ? json_array() : NULL;
    int rc = 0;
    for (int d = 0; wrap && d < network->torus.dims; d++)
        rc |= json_array_append_new(wrap, json_boolean(!(network->torus.lines >> d & 1)));
    for (int i = 0; links && i < network->slow_links; i++)
        rc |= json_array_append_new(links, link_object(&network->slow_link[i]));
    if (network->torus.lines)
        rc |= json_object_set_new(header, "wrap", wrap);
    if (network->slow_links > 0)
        rc |= json_object_set_new(header, "links", links);
    return rc ? trv_fail_memory() : TRV_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

int trv_json_read_wrap(const json_place_t *place, json_t *root, trv_torus_t *torus)
{
    json_t *wrap = json_object_get(root, "wrap");
    unsigned lines = 0;
    if (!wrap)
        return TRV_OK;
    if (!json_is_array(wrap) || (int)json_array_size(wrap) != torus->dims)
        return trv_json_fail(place, "\"wrap\" must be a list with true or false for each of the %d dimensions",
                             torus->dims);
    for (int d = 0; d < torus->dims; d++) {
        json_t *value = json_array_get(wrap, (size_t)d);
        if (!json_is_boolean(value))
            return trv_json_fail(place, "\"wrap\" must be a list with true or false for each dimension, [true, false]");
        if (json_is_false(value) && torus->size[d] > 1) /* one rank has no links in either case */
            lines |= 1u << d;
    }
    return trv_torus_set_lines(torus, lines) ? trv_json_fail(place, "%s", trv_last_error()) : TRV_OK;
}

static int read_link(const json_place_t *place, json_t *object, trv_slow_link_t *link)
{
    static const char *const known[] = {"from", "port", "factor", "down", NULL};
    const char *port = json_string_value(json_object_get(object, "port"));
    json_t *factor = json_object_get(object, "factor");
    int64_t from = 0;
    bool down = false;
    if (!json_is_object(object))
        return trv_json_fail(place,
                             "a link must be an object, for example {\"from\": 3, \"port\": \"+0\", \"factor\": 4}");
    trv_json_check_keys(place, object, known);
    int rc = trv_json_integer(place, object, "from", true, 0, 1 << 30, &from);
    if (!rc)
        rc = trv_json_boolean(place, object, "down", &down);
    if (rc)
        return rc;
    if (!port || trv_port_parse(port, &link->port))
        return trv_json_fail(place, "the \"port\" of a link must be + or - and a dimension, for example \"+0\"");
    if (down == (factor != NULL) || (factor && !json_is_number(factor)))
        return trv_json_fail(place, "a link has either a \"factor\", how many times as slow it is, or \"down\": true");
    link->rank = (int)from;
    link->factor = down ? INFINITY : json_number_value(factor);
    return TRV_OK;
}

int trv_json_read_links(const json_place_t *place, json_t *root, const trv_torus_t *torus, trv_schedule_file_t *file)
{
    json_t *links = json_object_get(root, "links");
    file->slow_links = 0;
    if (links && (!json_is_array(links) || json_array_size(links) > TRV_SCHEDULE_FILE_LINKS_MAX))
        return trv_json_fail(place, "\"links\" must be a list of at most %d links", TRV_SCHEDULE_FILE_LINKS_MAX);
    for (size_t i = 0; i < json_array_size(links); i++) {
        trv_slow_link_t *link = &file->slow_link[file->slow_links++];
        int rc = read_link(place, json_array_get(links, i), link);
        if (rc)
            return rc;
        for (int k = 0; k < file->slow_links - 1; k++)
            if (file->slow_link[k].rank == link->rank && file->slow_link[k].port == link->port)
                return trv_json_fail(place, "a link that leaves rank %d is there twice in \"links\"", link->rank);
    }
    const trv_network_t network = trv_schedule_file_network(file, torus);
    return trv_network_check(&network) ? trv_json_fail(place, "%s", trv_last_error()) : TRV_OK;
}

trv_network_t trv_schedule_file_network(const trv_schedule_file_t *file, const trv_torus_t *torus)
{
    return (trv_network_t){TRV_NETWORK, .torus = *torus, .slow_links = file->slow_links, .slow_link = file->slow_link};
}
