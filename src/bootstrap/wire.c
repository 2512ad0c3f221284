/*
 * Encoding and decoding of messages; wire.h describes the format.
 */
#include "bootstrap/wire.h"

#include <stdlib.h>
#include <string.h>

void trv_write_bytes(trv_writer_t *writer, const void *data, size_t bytes)
{
    if (writer->failed || bytes == 0)
        return;
    if (bytes > writer->capacity - writer->used) {
        size_t capacity = writer->capacity ? writer->capacity : 256;
        while (capacity - writer->used < bytes)
            capacity *= 2;
        uint8_t *more = realloc(writer->data, capacity);
        if (!more) {
            writer->failed = true;
            return;
        }
        writer->data = more;
        writer->capacity = capacity;
    }
    memcpy(writer->data + writer->used, data, bytes);
    writer->used += bytes;
}

void trv_write_number(trv_writer_t *writer, uint32_t number)
{
    const uint8_t byte[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
    trv_write_bytes(writer, byte, sizeof byte);
}

void trv_write_real(trv_writer_t *writer, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    trv_write_number(writer, (uint32_t)bits);
    trv_write_number(writer, (uint32_t)(bits >> 32));
}

void trv_write_block(trv_writer_t *writer, const void *data, size_t bytes)
{
    if (bytes > UINT32_MAX) {
        writer->failed = true;
        return;
    }
    trv_write_number(writer, (uint32_t)bytes);
    trv_write_bytes(writer, data, bytes);
}

void trv_write_text(trv_writer_t *writer, const char *text) { trv_write_block(writer, text, text ? strlen(text) : 0); }

void trv_writer_clear(trv_writer_t *writer)
{
    free(writer->data);
    *writer = (trv_writer_t){.data = NULL};
}

trv_reader_t trv_reader(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    return (trv_reader_t){at, at ? at + bytes : at, false};
}

uint32_t trv_read_number(trv_reader_t *reader)
{
    if (reader->end - reader->at < 4) {
        reader->bad = true;
        return 0;
    }
    const uint8_t *at = reader->at;
    reader->at += 4;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

double trv_read_real(trv_reader_t *reader)
{
    uint64_t bits = trv_read_number(reader);
    bits |= (uint64_t)trv_read_number(reader) << 32;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

const uint8_t *trv_read_block(trv_reader_t *reader, size_t bytes_max, size_t *bytes)
{
    *bytes = trv_read_number(reader);
    if (reader->bad || *bytes > bytes_max || *bytes > (size_t)(reader->end - reader->at)) {
        reader->bad = true;
        *bytes = 0;
        return NULL;
    }
    const uint8_t *block = reader->at;
    reader->at += *bytes;
    return block;
}

void trv_read_text(trv_reader_t *reader, char *text, size_t size)
{
    size_t bytes;
    const uint8_t *block = trv_read_block(reader, size - 1, &bytes);
    if (block && memchr(block, 0, bytes))
        reader->bad = true;
    if (reader->bad)
        bytes = 0;
    if (bytes > 0)
        memcpy(text, block, bytes);
    text[bytes] = '\0';
}

bool trv_reader_ends(const trv_reader_t *reader) { return !reader->bad && reader->at == reader->end; }
