/*
 * Bytes on the wire: numbers with the least significant byte first, texts and bytes with their length before them. A
 * writer grows; a reader checks every length against what is there, and hands out zeros once anything was wrong.
 */
#ifndef TRIVANCE_BOOTSTRAP_WIRE_H
#define TRIVANCE_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trv_writer {
    uint8_t *data;
    size_t used, capacity;
    bool failed; /* there was no memory */
} trv_writer_t;

void trv_write_bytes(trv_writer_t *writer, const void *data, size_t bytes); /* as they are, without a length */
void trv_write_number(trv_writer_t *writer, uint32_t number);
void trv_write_real(trv_writer_t *writer, double number);
void trv_write_block(trv_writer_t *writer, const void *data, size_t bytes);
void trv_write_text(trv_writer_t *writer, const char *text); /* NULL as "" */
void trv_writer_clear(trv_writer_t *writer);

typedef struct trv_reader {
    const uint8_t *at, *end;
    bool bad;
} trv_reader_t;

trv_reader_t trv_reader(const void *data, size_t bytes);
uint32_t trv_read_number(trv_reader_t *reader);
double trv_read_real(trv_reader_t *reader);
/* Where the block lies; NULL if it is longer than `most`, or than what is left. */
const uint8_t *trv_read_block(trv_reader_t *reader, size_t most, size_t *bytes);
/* A text without zeros in it, into `size` bytes. */
void trv_read_text(trv_reader_t *reader, char *text, size_t size);
/* Whether all was right, and nothing is left. */
bool trv_reader_ends(const trv_reader_t *reader);

#endif
