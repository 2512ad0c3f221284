/*
 * Encoding and decoding of queries for a relay and their answers.
 */
#include "bootstrap/tcp/relay_message.h"

#include <string.h>

enum { MAGIC_BYTES = 8, NUMBERS_AT = MAGIC_BYTES + TRV_NONCE_BYTES, CODE_AT = NUMBERS_AT + 12 };
static const char magic[2][MAGIC_BYTES + 1] = {"TRVASK01", "TRVANS01"};

static void message_sign(const uint8_t secret[TRV_SHA256_BYTES], const uint8_t data[CODE_AT],
                         uint8_t code[TRV_SHA256_BYTES])
{
    trv_hmac_t hmac;
    trv_hmac_begin(&hmac, secret, TRV_SHA256_BYTES);
    trv_hmac_add(&hmac, data, CODE_AT); /* longer than both nonces of a connection (link.c) */
    trv_hmac_end(&hmac, code);
}

static void number_write(uint8_t data[4], uint32_t number)
{
    for (int i = 0; i < 4; i++)
        data[i] = (uint8_t)(number >> (24 - 8 * i));
}

static uint32_t number_read(const uint8_t data[4])
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

void trv_relay_message_encode(const uint8_t secret[TRV_SHA256_BYTES], const trv_relay_message_t *message,
                              uint8_t data[TRV_RELAY_MESSAGE_BYTES])
{
    memcpy(data, magic[message->is_answer], MAGIC_BYTES);
    memcpy(data + MAGIC_BYTES, message->nonce, TRV_NONCE_BYTES);
    number_write(data + NUMBERS_AT, message->rank);
    number_write(data + NUMBERS_AT + 4, message->address);
    number_write(data + NUMBERS_AT + 8, message->port);
    message_sign(secret, data, data + CODE_AT);
}

bool trv_relay_message_decode(const uint8_t secret[TRV_SHA256_BYTES], const void *data, size_t bytes,
                              trv_relay_message_t *message)
{
    const uint8_t *at = data;
    uint8_t code[TRV_SHA256_BYTES];
    if (bytes != TRV_RELAY_MESSAGE_BYTES)
        return false;
    message_sign(secret, at, code);
    message->is_answer = memcmp(at, magic[1], MAGIC_BYTES) == 0;
    if (!trv_hmac_equal(code, at + CODE_AT) || memcmp(at, magic[message->is_answer], MAGIC_BYTES) != 0)
        return false;
    memcpy(message->nonce, at + MAGIC_BYTES, TRV_NONCE_BYTES);
    message->rank = number_read(at + NUMBERS_AT);
    message->address = number_read(at + NUMBERS_AT + 4);
    message->port = number_read(at + NUMBERS_AT + 8);
    return true;
}
