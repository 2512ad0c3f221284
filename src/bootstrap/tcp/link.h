/*
 * One end of a connection of the start-up protocol, without its socket: bytes go in, frames come out, and the other way
 * round. docs/connections.md describes the protocol.
 *
 *     rank 0 -> r     "TRVNET01", nonce (16 bytes)
 *     r -> rank 0     nonce (16 bytes), then frames
 *     rank 0 -> r     frames
 *
 * A frame is its type, the length of its content, the content, and a code: HMAC-SHA256 of direction, number of the frame,
 * type, length and the content's SHA-256, by the key of this connection, which is HMAC-SHA256 of both nonces by the job's
 * secret. So only processes that know the secret can send frames, none can be replayed, and both ends are
 * authenticated.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_LINK_H
#define TRIVANCE_BOOTSTRAP_TCP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bootstrap/tcp/sha256.h"
#include "bootstrap/wire.h"

enum { TRV_NONCE_BYTES = 16, TRV_HELLO_BYTES_MAX = 1024 };

typedef enum trv_frame_type {
    TRV_FRAME_HELLO = 1, /* r: version, rank, ranks */
    TRV_FRAME_REFUSED,   /* 0: why, in words; the one frame without a right code, in place of all others */
    TRV_FRAME_WELCOME,   /* 0: what rank 0 says to all */
    TRV_FRAME_RECORD,    /* r: what this rank says to all */
    TRV_FRAME_TABLE,     /* 0: all records */
    TRV_FRAME_FAIL,      /* either: the sentence by which the job ends */
    TRV_FRAME_BYE,       /* r: it leaves */
    TRV_FRAME_GONE       /* 0: all leave */
} trv_frame_type_t;

typedef struct trv_frame {
    trv_frame_type_t type;
    const uint8_t *content; /* until the link's next call */
    size_t bytes;
} trv_frame_t;

typedef struct trv_link {
    bool serves; /* it is rank 0's end */
    bool greeted;
    uint8_t secret[TRV_SHA256_BYTES], key[TRV_SHA256_BYTES], nonce[2][TRV_NONCE_BYTES];
    uint64_t sent, taken;   /* frames */
    size_t frame_bytes_max; /* of the content of what may come */
    uint8_t *in;
    size_t in_used, in_done, in_capacity;
    trv_writer_t out;
    size_t out_done;
    /* A long content that many links send: it comes before the byte shared_at of `out`. */
    const uint8_t *shared;
    size_t shared_at, shared_bytes, shared_done;
} trv_link_t;

/* nonce: of this end, unpredictable. */
void trv_link_begin(trv_link_t *link, bool serves, const uint8_t secret[TRV_SHA256_BYTES],
                    const uint8_t nonce[TRV_NONCE_BYTES]);
void trv_link_clear(trv_link_t *link);

/* Takes what has arrived. TRV_ERR_MEMORY. */
int trv_link_feed(trv_link_t *link, const void *data, size_t bytes);
/* The next frame: 1, 0 if it is not all there, TRV_ERR_INVALID for what is no such frame, with the reason as the end of
 * a sentence whose subject is the other end. */
int trv_link_next(trv_link_t *link, trv_frame_t *frame);

/* Sends a frame; with a digest (its SHA-256) the content is not copied and has to stay. A link has one of those to
 * send at a time. */
int trv_link_send(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes);
int trv_link_share(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes,
                   const uint8_t digest[TRV_SHA256_BYTES]);
/* Of rank 0: says why the other end is refused. */
int trv_link_refuse(trv_link_t *link, const char *why);
/* What is to be written next, and that so many bytes of it were. */
const void *trv_link_out(const trv_link_t *link, size_t *bytes);
void trv_link_wrote(trv_link_t *link, size_t bytes);

#endif
