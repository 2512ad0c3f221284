/*
 * Encoding of messages: numbers are little-endian; texts and blocks of bytes are preceded by their length, a number.
 * The buffer of a writer grows as needed. A reader compares every length with the bytes that are left, and returns
 * zeros after the first error.
 */
#ifndef TRIVANCE_BOOTSTRAP_WIRE_H
#define TRIVANCE_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trv_writer {
    uint8_t *data;
    size_t used, capacity;
    bool failed; /* memory was exhausted, or a block was longer than a number can express */
} trv_writer_t;

void trv_write_bytes(trv_writer_t *writer, const void *data, size_t bytes); /* without a length */
void trv_write_number(trv_writer_t *writer, uint32_t number);
void trv_write_real(trv_writer_t *writer, double number);
void trv_write_block(trv_writer_t *writer, const void *data, size_t bytes);
void trv_write_text(trv_writer_t *writer, const char *text); /* writes NULL as "" */
void trv_writer_clear(trv_writer_t *writer);

typedef struct trv_reader {
    const uint8_t *at, *end;
    bool bad;
} trv_reader_t;

trv_reader_t trv_reader(const void *data, size_t bytes);
uint32_t trv_read_number(trv_reader_t *reader);
double trv_read_real(trv_reader_t *reader);
/* Returns a pointer to the block within the message; NULL if the block is longer than `bytes_max` bytes or than the
 * rest of the message. */
const uint8_t *trv_read_block(trv_reader_t *reader, size_t bytes_max, size_t *bytes);
/* Copies a text into `size` bytes, terminated by zero. A text that contains zeros or does not fit is an error. */
void trv_read_text(trv_reader_t *reader, char *text, size_t size);
/* True if no error occurred and the message was read to its end. */
bool trv_reader_ends(const trv_reader_t *reader);

#endif
