/*
 * The network of a trivance-schedule-1 file: which dimensions wrap around, and links that are slow or cut.
 */
#ifndef TRIVANCE_FORMATS_SCHEDULE_JSON_NETWORK_H
#define TRIVANCE_FORMATS_SCHEDULE_JSON_NETWORK_H

#include "formats/schedule_file.h"
#include "json/json.h"

/* Adds to a header what the network has: "wrap" if a dimension is a line, "links" if some are slow or cut, "forwarding"
 * if it does not forward. */
int trv_json_add_network(json_t *header, const trv_network_t *network);

/* Reads "links" and "forwarding" into the file. */
int trv_json_read_network(trv_json_t *json, json_t *root, const trv_torus_t *torus, trv_schedule_file_t *file);

#endif
