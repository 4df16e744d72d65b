/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <hpcprof/base/text.h>

#include <stdio.h>
#include <string.h>

static void escape_point(struct hp_buffer *buffer, uint32_t point)
{
	if (point == '\n')
		hp_buffer_add(buffer, "\\n", 2);
	else if (point == '\t')
		hp_buffer_add(buffer, "\\t", 2);
	else if (point < 0x80)
		hp_buffer_printf(buffer, "\\x%02x", (unsigned)point);
	else
		hp_buffer_printf(buffer, "\\u%04x", (unsigned)point);
}

void text_escape(struct hp_buffer *buffer, const char *text)
{
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (!length)
			hp_buffer_printf(buffer, "\\x%02x", (unsigned char)*text);
		else if (hp_text_is_control(point))
			escape_point(buffer, point);
		else
			hp_buffer_add(buffer, text, length);
		text += length ? length : 1;
	}
}

void text_make_valid(struct hp_buffer *buffer, const char *text)
{
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (length)
			hp_buffer_add(buffer, text, length);
		else
			hp_buffer_add(buffer, "\xef\xbf\xbd", 3);
		text += length ? length : 1;
	}
}

void text_csv(struct hp_buffer *buffer, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		hp_buffer_add(buffer, "\"", 1);
	if (hp_text_is_formula(text))
		hp_buffer_add(buffer, "'", 1);
	while (*text) {
		uint32_t point;
		size_t length = hp_text_utf8(text, &point);

		if (*text == '"')
			hp_buffer_add(buffer, "\"\"", 2);
		else if (!length)
			hp_buffer_add(buffer, "\xef\xbf\xbd", 3);
		else if (hp_text_is_control(point) && point != '\r' && point != '\n')
			escape_point(buffer, point);
		else
			hp_buffer_add(buffer, text, length);
		text += length ? length : 1;
	}
	if (quoted)
		hp_buffer_add(buffer, "\"", 1);
}

void text_pad(struct hp_buffer *buffer, size_t columns)
{
	while (columns-- > 0)
		hp_buffer_add(buffer, " ", 1);
}

void text_cut(struct hp_buffer *buffer, const char *text, size_t columns)
{
	if (!columns || hp_text_columns(text) <= columns) {
		hp_buffer_add(buffer, text, strlen(text));
		return;
	}
	hp_buffer_add(buffer, text, hp_text_prefix(text, columns - 1));
	hp_buffer_add(buffer, "\xe2\x80\xa6", 3);
}
