/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes little-endian data within bounds.
 *
 * The reader never reads past its end. A failed read returns false and does not move the position,
 * and every later read fails too, so that a parser may read a whole structure and check once. The
 * writer grows; if memory is short, it sets `failed` and ignores everything written later.
 *
 * Varints are LEB128: 7 bits per byte, least significant first, at most 10 bytes for 64 bits. The
 * reader refuses encodings that are longer than necessary, so each value has exactly one encoding.
 */
#ifndef HPCPROF_BASE_BYTES_H
#define HPCPROF_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_reader {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

struct hp_reader hp_reader_over(const void *bytes, size_t size);
size_t hp_reader_left(const struct hp_reader *reader);
size_t hp_reader_offset(const struct hp_reader *reader);
bool hp_read_u8(struct hp_reader *reader, uint8_t *value);
bool hp_read_u16(struct hp_reader *reader, uint16_t *value);
bool hp_read_u32(struct hp_reader *reader, uint32_t *value);
bool hp_read_u64(struct hp_reader *reader, uint64_t *value);
bool hp_read_varint(struct hp_reader *reader, uint64_t *value);
bool hp_read_varint_u32(struct hp_reader *reader, uint32_t *value); /* false if it is larger */
/* Copies bytes without changing their order, for records that the kernel of this machine wrote. */
bool hp_read_copy(struct hp_reader *reader, void *into, size_t size);
/* Points into the reader's bytes. */
bool hp_read_bytes(struct hp_reader *reader, size_t size, const uint8_t **bytes);
/* A varint length, then that many bytes without NUL; the copy is malloc'ed. False also on OOM. */
bool hp_read_string(struct hp_reader *reader, char **text);

struct hp_writer {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	bool failed;
};

void hp_writer_free(struct hp_writer *writer);
void hp_write_u8(struct hp_writer *writer, uint8_t value);
void hp_write_u16(struct hp_writer *writer, uint16_t value);
void hp_write_u32(struct hp_writer *writer, uint32_t value);
void hp_write_u64(struct hp_writer *writer, uint64_t value);
void hp_write_varint(struct hp_writer *writer, uint64_t value);
void hp_write_bytes(struct hp_writer *writer, const void *bytes, size_t size);
void hp_write_string(struct hp_writer *writer, const char *text);

/* Steps in either direction as numbers that are small if the step is. */
static inline uint64_t hp_to_zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t hp_from_zigzag(uint64_t code)
{
	return code >> 1 ^ (code & 1 ? UINT64_MAX : 0);
}

#endif
