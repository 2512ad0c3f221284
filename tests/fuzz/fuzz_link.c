/*
 * Fuzzes the bootstrap protocol. Bytes that an unauthenticated peer sends to rank 0 or to another rank, in pieces of
 * any length, are either incomplete or refused with a reason, and are never accepted as a frame. Frames of any content
 * from a peer that has the secret are received unchanged, or are refused as too long for the receiver's buffer. The
 * reader of records is fuzzed, too.
 */
#include <stdlib.h>
#include <string.h>

#include <trivance/common.h>

#include "fuzz.h"
#include "bootstrap/tcp/link.h"

static const uint8_t secret[TRV_SHA256_BYTES] = "secret", nonce[2][TRV_NONCE_BYTES] = {"one", "two"};

static void feed_stranger(const uint8_t *data, size_t size, bool serves)
{
    trv_link_t link;
    trv_frame_t frame;
    int rc = 0;
    trv_link_begin(&link, serves, secret, nonce[0]);
    for (size_t at = 0, part = 1; at < size && rc == 0; at += part) {
        part = 1 + data[at] % 61;
        part = part < size - at ? part : size - at;
        fuzz_expect(trv_link_feed(&link, data + at, part) == TRV_OK);
        while ((rc = trv_link_next(&link, &frame)) > 0)
            fuzz_expect(!serves && frame.type == TRV_FRAME_REFUSED && frame.bytes <= TRV_HELLO_BYTES_MAX);
        fuzz_expect(rc == 0 || (rc == TRV_ERR_INVALID && strlen(trv_last_error()) > 10));
        fuzz_expect(link.in.capacity < 16384);
    }
    trv_link_clear(&link);
}

static void carry(trv_link_t *from, trv_link_t *to)
{
    size_t bytes;
    const void *out;
    while ((out = trv_link_out(from, &bytes))) {
        bytes = bytes > 7 ? bytes / 2 : bytes;
        fuzz_expect(trv_link_feed(to, out, bytes) == TRV_OK);
        trv_link_wrote(from, bytes);
    }
}

/* Two ends that have the secret; the data is the content of a frame. */
static void talk(const uint8_t *data, size_t size)
{
    trv_link_t server, client;
    trv_frame_t frame;
    uint8_t digest[TRV_SHA256_BYTES];
    trv_sha256_t hash;
    trv_link_begin(&server, true, secret, nonce[0]);
    trv_link_begin(&client, false, secret, nonce[1]);
    carry(&server, &client);
    carry(&client, &server);
    fuzz_expect(trv_link_next(&server, &frame) == 0 && trv_link_next(&client, &frame) == 0);
    fuzz_expect(trv_link_send(&client, TRV_FRAME_HELLO, data, size) == TRV_OK);
    carry(&client, &server);
    const int rc = trv_link_next(&server, &frame);
    fuzz_expect(rc == (size <= TRV_HELLO_BYTES_MAX ? 1 : TRV_ERR_INVALID));
    if (rc > 0)
        fuzz_expect(frame.type == TRV_FRAME_HELLO && frame.bytes == size && memcmp(frame.content, data, size) == 0);
    trv_sha256_begin(&hash);
    trv_sha256_add(&hash, data, size);
    trv_sha256_end(&hash, digest);
    client.frame_bytes_max = size;
    fuzz_expect(trv_link_share(&server, TRV_FRAME_TABLE, data, size, digest) == TRV_OK);
    fuzz_expect(trv_link_send(&server, TRV_FRAME_GONE, NULL, 0) == TRV_OK);
    carry(&server, &client);
    fuzz_expect(trv_link_next(&client, &frame) == 1 && frame.bytes == size && memcmp(frame.content, data, size) == 0);
    fuzz_expect(trv_link_next(&client, &frame) == 1 && frame.type == TRV_FRAME_GONE && frame.bytes == 0);
    trv_link_clear(&server);
    trv_link_clear(&client);
}

static void read_anything(const uint8_t *data, size_t size)
{
    trv_reader_t reader = trv_reader(data, size);
    char text[32];
    size_t bytes;
    trv_read_text(&reader, text, sizeof text);
    fuzz_expect(strlen(text) < sizeof text);
    trv_read_number(&reader);
    const uint8_t *block = trv_read_block(&reader, 100, &bytes);
    fuzz_expect(bytes <= 100 && (bytes == 0 || (block >= data && block + bytes <= data + size)));
    fuzz_expect(reader.at <= reader.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    feed_stranger(data, size, true);
    feed_stranger(data, size, false);
    talk(data, size);
    read_anything(data, size);
    return 0;
}
