/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_free(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){ 0 };
}

void buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	if (buffer->text)
		buffer->text[0] = 0;
}

void buffer_add(struct buffer *buffer, const char *text, size_t size)
{
	if (buffer->failed ||
	    !hp_grow((void **)&buffer->text, &buffer->capacity, buffer->size + size + 1, 1)) {
		buffer->failed = true;
		return;
	}
	memcpy(buffer->text + buffer->size, text, size);
	buffer->size += size;
	buffer->text[buffer->size] = 0;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	char small[128];
	char *large = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(small, sizeof(small), format, arguments);
	va_end(arguments);
	if (length >= 0 && (size_t)length < sizeof(small)) {
		buffer_add(buffer, small, (size_t)length);
		return;
	}
	va_start(arguments, format);
	length = vasprintf(&large, format, arguments);
	va_end(arguments);
	if (length < 0) {
		buffer->failed = true;
		return;
	}
	buffer_add(buffer, large, (size_t)length);
	free(large);
}

const char *buffer_text(const struct buffer *buffer)
{
	return buffer->text ? buffer->text : "";
}

static void escape_point(struct buffer *buffer, uint32_t point)
{
	if (point == '\n')
		buffer_add(buffer, "\\n", 2);
	else if (point == '\t')
		buffer_add(buffer, "\\t", 2);
	else if (point < 0x80)
		buffer_printf(buffer, "\\x%02x", (unsigned)point);
	else
		buffer_printf(buffer, "\\u%04x", (unsigned)point);
}

void text_escape(struct buffer *buffer, const char *text)
{
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (!length)
			buffer_printf(buffer, "\\x%02x", (unsigned char)*text);
		else if (hp_text_is_control(point))
			escape_point(buffer, point);
		else
			buffer_add(buffer, text, length);
		text += length ? length : 1;
	}
}

void text_make_valid(struct buffer *buffer, const char *text)
{
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (length)
			buffer_add(buffer, text, length);
		else
			buffer_add(buffer, "\xef\xbf\xbd", 3);
		text += length ? length : 1;
	}
}

void text_csv(struct buffer *buffer, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		buffer_add(buffer, "\"", 1);
	if (hp_text_is_formula(text))
		buffer_add(buffer, "'", 1);
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (*text == '"')
			buffer_add(buffer, "\"\"", 2);
		else if (!length)
			buffer_add(buffer, "\xef\xbf\xbd", 3);
		else if (hp_text_is_control(point) && point != '\r' && point != '\n')
			escape_point(buffer, point);
		else
			buffer_add(buffer, text, length);
		text += length ? length : 1;
	}
	if (quoted)
		buffer_add(buffer, "\"", 1);
}

/* Of the characters that terminals give two columns, and none. */
static const struct {
	uint32_t first;
	uint32_t last;
	uint8_t columns;
} widths[] = {
	{ 0x300, 0x36f, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x200b, 0x200d, 0 },
	{ 0x20d0, 0x20ff, 0 },	 { 0x2e80, 0x303e, 2 },	  { 0x3041, 0xa4cf, 2 },
	{ 0xac00, 0xd7a3, 2 },	 { 0xf900, 0xfaff, 2 },	  { 0xfe00, 0xfe0f, 0 },
	{ 0xfe20, 0xfe2f, 0 },	 { 0xfe30, 0xfe6f, 2 },	  { 0xff00, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 },	 { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
	{ 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

static size_t width_of(uint32_t point)
{
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]) && point >= widths[i].first; i++)
		if (point <= widths[i].last)
			return widths[i].columns;
	return 1;
}

/* One character: its bytes (at least one) and its columns. */
static size_t next_character(const char *text, size_t *columns)
{
	uint32_t point;
	size_t length = (unsigned char)*text < 0x80 ? 1 : hp_text_utf8(text, &point);

	*columns = length > 1 ? width_of(point) : 1;
	return length ? length : 1;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	size_t width;

	while (*text) {
		text += next_character(text, &width);
		columns += width;
	}
	return columns;
}

size_t text_prefix(const char *text, size_t columns)
{
	size_t bytes = 0;
	size_t width;

	while (text[bytes]) {
		size_t length = next_character(text + bytes, &width);

		if (width > columns)
			break;
		columns -= width;
		bytes += length;
	}
	return bytes;
}

void text_pad(struct buffer *buffer, size_t columns)
{
	while (columns-- > 0)
		buffer_add(buffer, " ", 1);
}

void text_cut(struct buffer *buffer, const char *text, size_t columns)
{
	if (!columns || text_columns(text) <= columns) {
		buffer_add(buffer, text, strlen(text));
		return;
	}
	buffer_add(buffer, text, text_prefix(text, columns - 1));
	buffer_add(buffer, "\xe2\x80\xa6", 3);
}
