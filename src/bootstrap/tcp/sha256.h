/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), with which ranks prove to each other that they know the secret of
 * the job. Tested against the published vectors.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_SHA256_H
#define TRIVANCE_BOOTSTRAP_TCP_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRV_SHA256_BYTES = 32, TRV_SHA256_BLOCK = 64 };

typedef struct trv_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[TRV_SHA256_BLOCK];
} trv_sha256_t;

void trv_sha256_begin(trv_sha256_t *hash);
void trv_sha256_add(trv_sha256_t *hash, const void *data, size_t bytes);
void trv_sha256_end(trv_sha256_t *hash, uint8_t digest[TRV_SHA256_BYTES]);
/* The three steps for one block of data. */
void trv_sha256(const void *data, size_t bytes, uint8_t digest[TRV_SHA256_BYTES]);

/* Call begin, add any number of times, and end. Keys may have any length. */
typedef struct trv_hmac {
    trv_sha256_t inner, outer;
} trv_hmac_t;

void trv_hmac_begin(trv_hmac_t *hmac, const void *key, size_t key_bytes);
void trv_hmac_add(trv_hmac_t *hmac, const void *data, size_t bytes);
void trv_hmac_end(trv_hmac_t *hmac, uint8_t code[TRV_SHA256_BYTES]);

/* Compares two codes in a time that does not depend on their contents. */
bool trv_hmac_equal(const uint8_t a[TRV_SHA256_BYTES], const uint8_t b[TRV_SHA256_BYTES]);

#endif
