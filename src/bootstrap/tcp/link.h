/*
 * One end of a connection of the bootstrap protocol, without its socket: it decodes received bytes into frames, and
 * encodes frames into bytes to be sent. docs/connections.md describes the protocol.
 *
 *     rank 0 -> r     "TRVNET01", nonce (16 bytes)
 *     r -> rank 0     nonce (16 bytes), then frames
 *     rank 0 -> r     frames
 *
 * A frame consists of its type, the length of its content, the content, and an authentication code: the HMAC-SHA256 of
 * direction, sequence number, type, length and the content's SHA-256, with the key of this connection; that key is the
 * HMAC-SHA256 of both nonces with the secret of the job. Therefore only processes that know the secret can send frames,
 * no frame can be replayed, and both ends are authenticated.
 */
#ifndef TRIVANCE_BOOTSTRAP_TCP_LINK_H
#define TRIVANCE_BOOTSTRAP_TCP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bootstrap/tcp/sha256.h"
#include "bootstrap/wire.h"

enum { TRV_NONCE_BYTES = 16, TRV_HELLO_BYTES_MAX = 1100 };

typedef enum trv_frame_type {
    TRV_FRAME_HELLO = 1, /* r: version, rank, ranks, greeting, relay, address */
    TRV_FRAME_REFUSED,   /* 0: reason, a text; has no valid code, and is accepted only before any other frame */
    TRV_FRAME_ACCEPTED,  /* 0: the answer to HELLO, by which rank 0 authenticates itself */
    TRV_FRAME_WELCOME,   /* 0: data that rank 0 broadcasts */
    TRV_FRAME_RECORD,    /* r: record of this rank */
    TRV_FRAME_TABLE,     /* 0: records of all ranks */
    TRV_FRAME_FAIL,      /* either: the sentence with which the job fails */
    TRV_FRAME_BYE,       /* r: this rank leaves */
    TRV_FRAME_GONE       /* 0: all ranks leave */
} trv_frame_type_t;

typedef struct trv_frame {
    trv_frame_type_t type;
    const uint8_t *content; /* valid until the next call for this link */
    size_t bytes;
} trv_frame_t;

typedef struct trv_link {
    bool is_server; /* this is the end of rank 0 */
    bool greeted;   /* the nonce of the other end has arrived */
    uint8_t secret[TRV_SHA256_BYTES], key[TRV_SHA256_BYTES], nonce[2][TRV_NONCE_BYTES];
    uint64_t sent, received; /* number of frames; received: authenticated ones */
    size_t frame_bytes_max;  /* maximum length of the content of the next frame received */
    trv_writer_t in, out;
    size_t in_done, out_done; /* bytes that were decoded, and written */
    /* Content that trv_link_share sends without a copy; it is sent before byte shared_at of `out`. */
    const uint8_t *shared;
    size_t shared_at, shared_bytes, shared_done;
} trv_link_t;

/* nonce: the nonce of this end; it must be unpredictable. */
void trv_link_begin(trv_link_t *link, bool is_server, const uint8_t secret[TRV_SHA256_BYTES],
                    const uint8_t nonce[TRV_NONCE_BYTES]);
void trv_link_clear(trv_link_t *link);

/* Appends received bytes to the input. Returns TRV_OK or TRV_ERR_MEMORY. */
int trv_link_feed(trv_link_t *link, const void *data, size_t bytes);
/* Decodes the next frame. Returns 1; 0 if it has not arrived completely; TRV_ERR_INVALID if it is not valid. The last
 * error is then a predicate whose subject is the peer, such as "does not have the secret of this job". */
int trv_link_next(trv_link_t *link, trv_frame_t *frame);

/* Append a frame to the output. trv_link_send copies the content. trv_link_share does not: the content must stay valid
 * until it has been written, `digest` is its SHA-256, and a link has at most one such frame in its output at a time. */
int trv_link_send(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes);
int trv_link_share(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes,
                   const uint8_t digest[TRV_SHA256_BYTES]);
/* Rank 0: appends a REFUSED frame with the reason to the output. */
int trv_link_refuse(trv_link_t *link, const char *why);
/* trv_link_out returns the output to write next, NULL if there is none; trv_link_wrote removes the first `bytes` bytes
 * of it, which the caller has written. */
const void *trv_link_out(const trv_link_t *link, size_t *bytes);
void trv_link_wrote(trv_link_t *link, size_t bytes);

#endif
