/*
 * Messages by which a rank that cannot reach rank 0 finds a relay: a query over UDP to the neighbouring hosts, and the
 * answer of a connected rank.
 *
 *     magic (8 bytes), nonce of the query (16), rank of the sender (4), address (4), port (4), code (32)
 *
 * Numbers are in network byte order. Address and port are those at which the relay accepts connections, and 0 in a
 * query. The code is the HMAC-SHA256 of everything before it, with the secret of the job; therefore a rank neither
 * answers queries of other jobs nor uses their answers. Both messages have the same length, so that a query with a
 * forged sender address cannot amplify traffic.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_RELAY_MESSAGE_H
#define TRIVANCE_BOOTSTRAP_TCP_RELAY_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bootstrap/tcp/link.h"

enum { TRV_RELAY_MESSAGE_BYTES = 36 + TRV_SHA256_BYTES };

typedef struct trv_relay_message {
    bool is_answer;
    uint8_t nonce[TRV_NONCE_BYTES];
    uint32_t rank, address, port;
} trv_relay_message_t;

void trv_relay_message_encode(const uint8_t secret[TRV_SHA256_BYTES], const trv_relay_message_t *message,
                              uint8_t data[TRV_RELAY_MESSAGE_BYTES]);
/* False if the data are not a message of this job. */
bool trv_relay_message_decode(const uint8_t secret[TRV_SHA256_BYTES], const void *data, size_t bytes,
                              trv_relay_message_t *message);

#endif
