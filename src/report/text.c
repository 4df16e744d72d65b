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

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

size_t text_prefix(const char *text, size_t columns)
{
	size_t bytes = 0;

	for (; text[bytes]; bytes++)
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return bytes;
}
