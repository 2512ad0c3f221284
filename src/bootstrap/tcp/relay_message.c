/*
 * Encoding and decoding of queries for a relay and their answers.
 */
#include "bootstrap/tcp/relay_message.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAGIC_BYTES = 8, NUMBERS_AT = MAGIC_BYTES + TRV_NONCE_BYTES, CODE_AT = NUMBERS_AT + 3 * 4 };
static const char magic[2][MAGIC_BYTES + 1] = {"TRVASK01", "TRVANS01"};

static void message_sign(const uint8_t secret[TRV_SHA256_BYTES], const uint8_t data[CODE_AT],
                         uint8_t code[TRV_SHA256_BYTES])
{
    trv_hmac_t hmac;
    trv_hmac_begin(&hmac, secret, TRV_SHA256_BYTES);
    trv_hmac_add(&hmac, data, CODE_AT); /* longer than both nonces of a connection (link.c) */
    trv_hmac_end(&hmac, code);
}

void trv_relay_message_encode(const uint8_t secret[TRV_SHA256_BYTES], const trv_relay_message_t *message,
                              uint8_t data[TRV_RELAY_MESSAGE_BYTES])
{
    memcpy(data, magic[message->is_answer], MAGIC_BYTES);
    memcpy(data + MAGIC_BYTES, message->nonce, TRV_NONCE_BYTES);
    const uint32_t number[3] = {htonl(message->rank), htonl(message->address), htonl(message->port)};
    memcpy(data + NUMBERS_AT, number, sizeof number);
    message_sign(secret, data, data + CODE_AT);
}

bool trv_relay_message_decode(const uint8_t secret[TRV_SHA256_BYTES], const void *data, size_t bytes,
                              trv_relay_message_t *message)
{
    const uint8_t *at = data;
    uint32_t number[3];
    uint8_t code[TRV_SHA256_BYTES];
    if (bytes != TRV_RELAY_MESSAGE_BYTES)
        return false;
    message_sign(secret, at, code);
    message->is_answer = memcmp(at, magic[1], MAGIC_BYTES) == 0;
    if (!trv_hmac_equal(code, at + CODE_AT) || memcmp(at, magic[message->is_answer], MAGIC_BYTES) != 0)
        return false;
    memcpy(message->nonce, at + MAGIC_BYTES, TRV_NONCE_BYTES);
    memcpy(number, at + NUMBERS_AT, sizeof number);
    message->rank = ntohl(number[0]);
    message->address = ntohl(number[1]);
    message->port = ntohl(number[2]);
    return true;
}
