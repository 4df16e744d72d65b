/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/bytes.h>

#include <hpcprof/base/vector.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct hp_reader hp_reader_over(const void *bytes, size_t size)
{
	const uint8_t *start = bytes;

	return (struct hp_reader){ .start = start, .at = start, .end = start + size };
}

size_t hp_reader_left(const struct hp_reader *reader)
{
	return reader->failed ? 0 : (size_t)(reader->end - reader->at);
}

size_t hp_reader_offset(const struct hp_reader *reader)
{
	return (size_t)(reader->at - reader->start);
}

bool hp_read_bytes(struct hp_reader *reader, size_t size, const uint8_t **bytes)
{
	if (reader->failed || hp_reader_left(reader) < size) {
		reader->failed = true;
		return false;
	}
	*bytes = reader->at;
	reader->at += size;
	return true;
}

bool hp_read_copy(struct hp_reader *reader, void *into, size_t size)
{
	const uint8_t *bytes;

	if (!hp_read_bytes(reader, size, &bytes))
		return false;
	memcpy(into, bytes, size);
	return true;
}

bool hp_read_u8(struct hp_reader *reader, uint8_t *value)
{
	return hp_read_copy(reader, value, sizeof(*value));
}

bool hp_read_u16(struct hp_reader *reader, uint16_t *value)
{
	if (!hp_read_copy(reader, value, sizeof(*value)))
		return false;
	*value = le16toh(*value);
	return true;
}

bool hp_read_u32(struct hp_reader *reader, uint32_t *value)
{
	if (!hp_read_copy(reader, value, sizeof(*value)))
		return false;
	*value = le32toh(*value);
	return true;
}

bool hp_read_u64(struct hp_reader *reader, uint64_t *value)
{
	if (!hp_read_copy(reader, value, sizeof(*value)))
		return false;
	*value = le64toh(*value);
	return true;
}

bool hp_read_varint(struct hp_reader *reader, uint64_t *value)
{
	const uint8_t *at = reader->at;
	uint64_t result = 0;

	if (reader->failed)
		return false;
	for (unsigned shift = 0; shift < 64 && at < reader->end; shift += 7) {
		uint8_t byte = *at++;

		/* The tenth byte has room for one bit; a zero last byte is a longer spelling. */
		if ((shift == 63 && byte > 1) || (byte == 0 && shift > 0))
			break;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			reader->at = at;
			*value = result;
			return true;
		}
	}
	reader->failed = true;
	return false;
}

bool hp_read_varint_u32(struct hp_reader *reader, uint32_t *value)
{
	uint64_t wide;

	if (!hp_read_varint(reader, &wide) || wide > UINT32_MAX)
		return false;
	*value = (uint32_t)wide;
	return true;
}

bool hp_read_string(struct hp_reader *reader, char **text)
{
	const uint8_t *mark = reader->at;
	const uint8_t *bytes;
	uint64_t length;

	if (!hp_read_varint(reader, &length) || length > hp_reader_left(reader) ||
	    !hp_read_bytes(reader, (size_t)length, &bytes) || memchr(bytes, 0, (size_t)length) ||
	    !(*text = strndup((const char *)bytes, (size_t)length))) {
		reader->at = mark;
		reader->failed = true;
		return false;
	}
	return true;
}

void hp_writer_free(struct hp_writer *writer)
{
	free(writer->bytes);
	*writer = (struct hp_writer){ 0 };
}

void hp_write_bytes(struct hp_writer *writer, const void *bytes, size_t size)
{
	if (writer->failed || size > SIZE_MAX - writer->size ||
	    !hp_grow((void **)&writer->bytes, &writer->capacity, writer->size + size, 1)) {
		writer->failed = true;
		return;
	}
	if (size)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

void hp_write_u8(struct hp_writer *writer, uint8_t value)
{
	hp_write_bytes(writer, &value, sizeof(value));
}

void hp_write_u16(struct hp_writer *writer, uint16_t value)
{
	value = htole16(value);
	hp_write_bytes(writer, &value, sizeof(value));
}

void hp_write_u32(struct hp_writer *writer, uint32_t value)
{
	value = htole32(value);
	hp_write_bytes(writer, &value, sizeof(value));
}

void hp_write_u64(struct hp_writer *writer, uint64_t value)
{
	value = htole64(value);
	hp_write_bytes(writer, &value, sizeof(value));
}

void hp_write_varint(struct hp_writer *writer, uint64_t value)
{
	uint8_t bytes[10];
	size_t size = 0;

	do {
		bytes[size] = (uint8_t)(value & 0x7f);
		value >>= 7;
		if (value)
			bytes[size] |= 0x80;
		size++;
	} while (value);
	hp_write_bytes(writer, bytes, size);
}

void hp_write_string(struct hp_writer *writer, const char *text)
{
	size_t length = strlen(text);

	hp_write_varint(writer, length);
	hp_write_bytes(writer, text, length);
}
