/*
 * Fuzzes the messages by which ranks find a relay. Datagrams of any content from a sender without the secret are never
 * accepted. Messages of any content from a sender with the secret are received unchanged, and not after one of their
 * bytes has changed.
 */
#include <string.h>

#include "fuzz.h"
#include "bootstrap/tcp/relay_message.h"

static const uint8_t secret[TRV_SHA256_BYTES] = "secret";

static uint32_t take_number(const uint8_t *data, size_t size, size_t at)
{
    uint32_t number = 0;
    for (size_t i = at; i < at + 4 && i < size; i++)
        number = number << 8 | data[i];
    return number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trv_relay_message_t sent = {.is_answer = size % 2}, got = {.rank = 0};
    uint8_t signed_data[TRV_RELAY_MESSAGE_BYTES];
    fuzz_expect(!trv_relay_message_decode(secret, data, size, &got));
    if (size == 0)
        return 0;
    memcpy(sent.nonce, data, size < sizeof sent.nonce ? size : sizeof sent.nonce);
    sent.rank = take_number(data, size, 16);
    sent.address = take_number(data, size, 20);
    sent.port = take_number(data, size, 24);
    trv_relay_message_encode(secret, &sent, signed_data);
    fuzz_expect(trv_relay_message_decode(secret, signed_data, sizeof signed_data, &got));
    fuzz_expect(got.is_answer == sent.is_answer && memcmp(got.nonce, sent.nonce, sizeof got.nonce) == 0);
    fuzz_expect(got.rank == sent.rank && got.address == sent.address && got.port == sent.port);
    signed_data[data[0] % sizeof signed_data] ^= (uint8_t)(1 + data[size - 1] % 255);
    fuzz_expect(!trv_relay_message_decode(secret, signed_data, sizeof signed_data, &got));
    return 0;
}
