/*
 * Writing and reading of the network: "wrap": [true, false], "links": [{"from": 3, "port": "+0", "factor": 4},
 * {"from": 4, "port": "-1", "down": true}] and "forwarding": false.
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
    const trv_torus_t *torus = &network->torus;
    json_t *links = network->slow_links > 0 ? json_array() : NULL;
    int rc = 0;
    for (int i = 0; links && i < network->slow_links; i++)
        rc |= json_array_append_new(links, link_object(&network->slow_link[i]));
    if (torus->lines)
        rc |= json_object_set_new(header, "wrap", trv_json_flags_list(torus->dims, false, torus->lines));
    if (network->slow_links > 0)
        rc |= json_object_set_new(header, "links", links);
    if (network->no_forwarding)
        rc |= json_object_set_new(header, "forwarding", json_false());
    return rc ? trv_fail_memory() : TRV_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int read_link(trv_json_t *json, json_t *object, trv_slow_link_t *link)
{
    static const char *const known[] = {"from", "port", "factor", "down", NULL};
    const char *port = json_string_value(json_object_get(object, "port"));
    json_t *factor = json_object_get(object, "factor");
    int64_t from = 0;
    bool down = false;
    if (!json_is_object(object))
        return trv_json_fail(json, object, NULL,
                             "a link must be an object, for example {\"from\": 3, \"port\": \"+0\", \"factor\": 4}");
    trv_json_check_keys(json, object, known);
    int rc = trv_json_integer(json, object, "from", true, 0, 1 << 30, &from);
    if (!rc)
        rc = trv_json_boolean(json, object, "down", &down);
    if (rc)
        return rc;
    if (!port || trv_port_parse(port, &link->port))
        return trv_json_fail(json, object, "port",
                             "the \"port\" of a link must be + or - and a dimension, for example \"+0\"");
    if (down == (factor != NULL) || (factor && !json_is_number(factor)))
        return trv_json_fail(json, object, NULL,
                             "a link must have either a \"factor\" by which it is slower, or \"down\": true");
    link->rank = (int)from;
    link->factor = down ? INFINITY : json_number_value(factor);
    return TRV_OK;
}

int trv_json_read_network(trv_json_t *json, json_t *root, const trv_torus_t *torus, trv_schedule_file_t *file)
{
    json_t *links = json_object_get(root, "links");
    bool forwarding = true;
    file->slow_links = 0;
    const int code = trv_json_boolean(json, root, "forwarding", &forwarding);
    if (code)
        return code;
    file->no_forwarding = !forwarding;
    if (links && (!json_is_array(links) || json_array_size(links) > TRV_SCHEDULE_FILE_LINKS_MAX))
        return trv_json_fail(json, root, "links", "\"links\" must be a list of at most %d links",
                             TRV_SCHEDULE_FILE_LINKS_MAX);
    for (size_t i = 0; i < json_array_size(links); i++) {
        trv_slow_link_t *link = &file->slow_link[file->slow_links++];
        int rc = read_link(json, json_array_get(links, i), link);
        if (rc)
            return rc;
        for (int k = 0; k < file->slow_links - 1; k++)
            if (file->slow_link[k].rank == link->rank && file->slow_link[k].port == link->port)
                return trv_json_fail(json, json_array_get(links, i), NULL,
                                     "a link that leaves rank %d is in \"links\" twice", link->rank);
    }
    const trv_network_t network = trv_schedule_file_network(file, torus);
    return trv_network_check_connected(&network) ? trv_json_fail(json, root, "links", "%s", trv_last_error()) : TRV_OK;
}

trv_network_t trv_schedule_file_network(const trv_schedule_file_t *file, const trv_torus_t *torus)
{
    return (trv_network_t){TRV_NETWORK, .torus = *torus, .slow_links = file->slow_links, .slow_link = file->slow_link,
                           .no_forwarding = file->no_forwarding};
}
