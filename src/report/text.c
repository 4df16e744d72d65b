/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

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

/* Length of the well-formed character at `at` (no surrogates, nothing overlong), 0 for none. */
static size_t decode(const unsigned char *at, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = at[0] < 0x80	? 1
			: at[0] < 0xc2	? 0
			: at[0] < 0xe0	? 2
			: at[0] < 0xf0	? 3
			: at[0] <= 0xf4 ? 4
					: 0;

	*point = length < 2 ? at[0] : at[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (at[i] & 0x3f);
	}
	if (length &&
	    (*point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point <= 0xdfff)))
		return 0;
	return length;
}

/* Characters that act on the terminal or on the order of what is seen, not as letters. */
static bool is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x200e ||
	       point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
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
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		uint32_t point;
		size_t length = decode(at, &point);

		if (!length)
			buffer_printf(buffer, "\\x%02x", *at);
		else if (is_control(point))
			escape_point(buffer, point);
		else
			buffer_add(buffer, (const char *)at, length);
		at += length ? length : 1;
	}
}

void text_make_valid(struct buffer *buffer, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		uint32_t point;
		size_t length = decode(at, &point);

		if (length)
			buffer_add(buffer, (const char *)at, length);
		else
			buffer_add(buffer, "\xef\xbf\xbd", 3);
		at += length ? length : 1;
	}
}

void text_csv(struct buffer *buffer, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		buffer_add(buffer, "\"", 1);
	while (*at) {
		uint32_t point;
		size_t length = decode(at, &point);

		if (*at == '"')
			buffer_add(buffer, "\"\"", 2);
		else if (!length)
			buffer_add(buffer, "\xef\xbf\xbd", 3);
		else if (is_control(point) && point != '\r' && point != '\n')
			escape_point(buffer, point);
		else
			buffer_add(buffer, (const char *)at, length);
		at += length ? length : 1;
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
