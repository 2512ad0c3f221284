/*
 * A direct implementation of SHA-256 as FIPS 180-4 specifies it. The constants are the fractional parts of the cube
 * roots and square roots of the first primes.
 */
#include "bootstrap/tcp/sha256.h"

#include <string.h>

static const uint32_t constant[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
                                      0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
                                      0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
                                      0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
                                      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
                                      0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
                                      0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
                                      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
                                      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
                                      0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
                                      0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void add_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t word[64], v[8];
    for (int i = 0; i < 16; i++)
        word[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                  block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = word[i - 15], b = word[i - 2];
        word[i] = word[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + word[i - 7] +
                  (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]),
                       majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        const uint32_t one = v[7] + (rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25)) + choice +
                             constant[i] + word[i];
        const uint32_t two = (rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void trv_sha256_begin(trv_sha256_t *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *hash = (trv_sha256_t){.bytes = 0};
    memcpy(hash->state, start, sizeof start);
}

void trv_sha256_add(trv_sha256_t *hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        const size_t used = hash->bytes % TRV_SHA256_BLOCK, left = TRV_SHA256_BLOCK - used;
        const size_t part = bytes < left ? bytes : left;
        if (part == TRV_SHA256_BLOCK) {
            add_block(hash->state, at);
        } else {
            memcpy(hash->block + used, at, part);
            if (part == left)
                add_block(hash->state, hash->block);
        }
        hash->bytes += part;
        at += part;
        bytes -= part;
    }
}

void trv_sha256_end(trv_sha256_t *hash, uint8_t digest[TRV_SHA256_BYTES])
{
    static const uint8_t padding[TRV_SHA256_BLOCK] = {0x80};
    const uint64_t bits = hash->bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    trv_sha256_add(hash, padding, 1 + (2 * TRV_SHA256_BLOCK - 9 - hash->bytes % TRV_SHA256_BLOCK) % TRV_SHA256_BLOCK);
    trv_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < TRV_SHA256_BYTES; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void trv_sha256(const void *data, size_t bytes, uint8_t digest[TRV_SHA256_BYTES])
{
    trv_sha256_t hash;
    trv_sha256_begin(&hash);
    trv_sha256_add(&hash, data, bytes);
    trv_sha256_end(&hash, digest);
}

void trv_hmac_begin(trv_hmac_t *hmac, const void *key, size_t key_bytes)
{
    uint8_t block[TRV_SHA256_BLOCK] = {0};
    if (key_bytes > sizeof block)
        trv_sha256(key, key_bytes, block);
    else if (key_bytes > 0)
        memcpy(block, key, key_bytes);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] ^= 0x36;
    trv_sha256_begin(&hmac->inner);
    trv_sha256_add(&hmac->inner, block, sizeof block);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] ^= 0x36 ^ 0x5c;
    trv_sha256_begin(&hmac->outer);
    trv_sha256_add(&hmac->outer, block, sizeof block);
}

void trv_hmac_add(trv_hmac_t *hmac, const void *data, size_t bytes) { trv_sha256_add(&hmac->inner, data, bytes); }

void trv_hmac_end(trv_hmac_t *hmac, uint8_t code[TRV_SHA256_BYTES])
{
    trv_sha256_end(&hmac->inner, code);
    trv_sha256_add(&hmac->outer, code, TRV_SHA256_BYTES);
    trv_sha256_end(&hmac->outer, code);
}

bool trv_hmac_equal(const uint8_t a[TRV_SHA256_BYTES], const uint8_t b[TRV_SHA256_BYTES])
{
    uint8_t difference = 0;
    for (int i = 0; i < TRV_SHA256_BYTES; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}
