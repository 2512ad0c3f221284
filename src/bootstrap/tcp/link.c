/*
 * Encoding, decoding and authentication of frames. A frame is authenticated before its content is used, and a frame
 * whose length exceeds the maximum at that point of the protocol is rejected. The input buffer grows with the bytes
 * that have arrived, not with the length that a frame announces, so that an unauthenticated peer cannot make it
 * allocate memory.
 */
#include "bootstrap/tcp/link.h"

#include <string.h>

#include "base/error.h"

#define MAGIC "TRVNET01"
enum { MAGIC_BYTES = 8, HEAD_BYTES = 8 };

void trv_link_begin(trv_link_t *link, bool is_server, const uint8_t secret[TRV_SHA256_BYTES],
                    const uint8_t nonce[TRV_NONCE_BYTES])
{
    *link = (trv_link_t){.is_server = is_server, .frame_bytes_max = TRV_HELLO_BYTES_MAX};
    memcpy(link->secret, secret, sizeof link->secret);
    memcpy(link->nonce[!is_server], nonce, TRV_NONCE_BYTES);
    if (is_server)
        trv_write_bytes(&link->out, MAGIC, MAGIC_BYTES);
    trv_write_bytes(&link->out, nonce, TRV_NONCE_BYTES);
}

void trv_link_clear(trv_link_t *link)
{
    trv_writer_clear(&link->in);
    trv_writer_clear(&link->out);
    *link = (trv_link_t){.is_server = link->is_server};
}

/* ---- In ---------------------------------------------------------------------------------------------------------- */

int trv_link_feed(trv_link_t *link, const void *data, size_t bytes)
{
    trv_writer_t *in = &link->in;
    if (link->in_done > 0) {
        memmove(in->data, in->data + link->in_done, in->used - link->in_done);
        in->used -= link->in_done;
        link->in_done = 0;
    }
    trv_write_bytes(in, data, bytes);
    return in->failed ? trv_fail_memory() : TRV_OK;
}

/* Derives the key of the connection from both nonces. */
static void derive_key(trv_link_t *link, const uint8_t *nonce)
{
    trv_hmac_t hmac;
    memcpy(link->nonce[link->is_server], nonce, TRV_NONCE_BYTES);
    trv_hmac_begin(&hmac, link->secret, sizeof link->secret);
    trv_hmac_add(&hmac, link->nonce, sizeof link->nonce);
    trv_hmac_end(&hmac, link->key);
    link->greeted = true;
}

static int greeting_decode(trv_link_t *link)
{
    const size_t magic = link->is_server ? 0 : MAGIC_BYTES, there = link->in.used - link->in_done;
    const uint8_t *at = link->in.data ? link->in.data + link->in_done : NULL;
    if (magic > 0 && there > 0 && memcmp(at, MAGIC, there < magic ? there : magic) != 0)
        return trv_fail(TRV_ERR_INVALID, "is not rank 0 of Trivance, or has another version");
    if (there < magic + TRV_NONCE_BYTES)
        return 0;
    derive_key(link, at + magic);
    link->in_done += magic + TRV_NONCE_BYTES;
    return 1;
}

static void frame_sign(const trv_link_t *link, bool from_server, uint64_t number, const uint8_t head[HEAD_BYTES],
                       const uint8_t digest[TRV_SHA256_BYTES], uint8_t code[TRV_SHA256_BYTES])
{
    trv_hmac_t hmac;
    uint8_t position[9] = {from_server}; /* direction and sequence number */
    for (int i = 0; i < 8; i++)
        position[1 + i] = (uint8_t)(number >> (8 * i));
    trv_hmac_begin(&hmac, link->key, sizeof link->key);
    trv_hmac_add(&hmac, position, sizeof position);
    trv_hmac_add(&hmac, head, HEAD_BYTES);
    trv_hmac_add(&hmac, digest, TRV_SHA256_BYTES);
    trv_hmac_end(&hmac, code);
}

int trv_link_next(trv_link_t *link, trv_frame_t *frame)
{
    uint8_t digest[TRV_SHA256_BYTES], code[TRV_SHA256_BYTES];
    if (!link->greeted) {
        const int greeted = greeting_decode(link);
        if (greeted <= 0)
            return greeted;
    }
    const size_t there = link->in.used - link->in_done;
    if (there < HEAD_BYTES)
        return 0;
    const uint8_t *at = link->in.data + link->in_done;
    trv_reader_t head = trv_reader(at, HEAD_BYTES);
    *frame = (trv_frame_t){.type = trv_read_number(&head), .content = at + HEAD_BYTES};
    frame->bytes = trv_read_number(&head);
    if (frame->type < TRV_FRAME_HELLO || frame->type > TRV_FRAME_GONE || frame->bytes > link->frame_bytes_max)
        return trv_fail(TRV_ERR_INVALID, "sent data that are not a frame of the protocol");
    if (there < HEAD_BYTES + frame->bytes + TRV_SHA256_BYTES)
        return 0;
    trv_sha256(frame->content, frame->bytes, digest);
    frame_sign(link, !link->is_server, link->received, at, digest, code);
    const bool right = trv_hmac_equal(code, frame->content + frame->bytes);
    const bool refusal = !link->is_server && link->received == 0 && frame->type == TRV_FRAME_REFUSED;
    if (!right && !refusal)
        return trv_fail(TRV_ERR_INVALID, "does not have the secret of this job");
    link->received += right;
    link->in_done += HEAD_BYTES + frame->bytes + TRV_SHA256_BYTES;
    return 1;
}

/* ---- Out --------------------------------------------------------------------------------------------------------- */

static void frame_write_head(trv_writer_t *out, trv_frame_type_t type, size_t bytes, uint8_t head[HEAD_BYTES])
{
    trv_write_number(out, type);
    trv_write_number(out, (uint32_t)bytes);
    if (!out->failed)
        memcpy(head, out->data + out->used - HEAD_BYTES, HEAD_BYTES);
}

int trv_link_send(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes)
{
    uint8_t head[HEAD_BYTES] = {0}, digest[TRV_SHA256_BYTES], code[TRV_SHA256_BYTES];
    frame_write_head(&link->out, type, bytes, head);
    trv_sha256(content, bytes, digest);
    frame_sign(link, link->is_server, link->sent++, head, digest, code);
    trv_write_bytes(&link->out, content, bytes);
    trv_write_bytes(&link->out, code, sizeof code);
    return link->out.failed ? trv_fail_memory() : TRV_OK;
}

int trv_link_share(trv_link_t *link, trv_frame_type_t type, const void *content, size_t bytes,
                   const uint8_t digest[TRV_SHA256_BYTES])
{
    uint8_t head[HEAD_BYTES] = {0}, code[TRV_SHA256_BYTES];
    frame_write_head(&link->out, type, bytes, head);
    frame_sign(link, link->is_server, link->sent++, head, digest, code);
    link->shared = content;
    link->shared_at = link->out.used;
    link->shared_bytes = bytes;
    link->shared_done = 0;
    trv_write_bytes(&link->out, code, sizeof code);
    return link->out.failed ? trv_fail_memory() : TRV_OK;
}

int trv_link_refuse(trv_link_t *link, const char *why)
{
    static const uint8_t no_code[TRV_SHA256_BYTES];
    uint8_t head[HEAD_BYTES];
    frame_write_head(&link->out, TRV_FRAME_REFUSED, strlen(why), head);
    trv_write_bytes(&link->out, why, strlen(why));
    trv_write_bytes(&link->out, no_code, sizeof no_code);
    return link->out.failed ? trv_fail_memory() : TRV_OK;
}

const void *trv_link_out(const trv_link_t *link, size_t *bytes)
{
    if (link->shared && link->out_done == link->shared_at) {
        *bytes = link->shared_bytes - link->shared_done;
        return link->shared + link->shared_done;
    }
    *bytes = (link->shared ? link->shared_at : link->out.used) - link->out_done;
    return *bytes ? link->out.data + link->out_done : NULL;
}

void trv_link_wrote(trv_link_t *link, size_t bytes)
{
    if (link->shared && link->out_done == link->shared_at) {
        link->shared_done += bytes;
        if (link->shared_done == link->shared_bytes)
            link->shared = NULL;
        return;
    }
    link->out_done += bytes;
    if (!link->shared && link->out_done == link->out.used)
        link->out_done = link->out.used = 0;
}
