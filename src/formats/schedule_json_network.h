/*
 * The network of a trivance-schedule-1 file: which dimensions wrap around, and links that are slow or cut.
 */
#ifndef TRIVANCE_FORMATS_SCHEDULE_JSON_NETWORK_H
#define TRIVANCE_FORMATS_SCHEDULE_JSON_NETWORK_H

#include "formats/schedule_file.h"
#include "json/json.h"

/* Adds "wrap" and "links" to a header, unless every dimension wraps around and no link is slow or cut. */
int trv_json_add_network(json_t *header, const trv_network_t *network);

/* Reads "links" into the file. */
int trv_json_read_links(trv_json_t *json, json_t *root, const trv_torus_t *torus, trv_schedule_file_t *file);

#endif
