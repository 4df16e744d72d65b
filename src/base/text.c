/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/text.h>

#include <hpcprof/base/bytes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t hp_text_utf8(const char *text, uint32_t *code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] < 0x80   ? 1
			: at[0] < 0xc2 ? 0
			: at[0] < 0xe0 ? 2
			: at[0] < 0xf0 ? 3
				       : 4;
	uint32_t value;

	if (!at[0] || !length || at[0] > 0xf4)
		return 0;
	value = length == 1 ? at[0] : at[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3fu);
	}
	if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code_point = value;
	return length;
}

bool hp_text_is_control(uint32_t code_point)
{
	return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
	       (code_point >= 0x200e && code_point <= 0x200f) ||
	       (code_point >= 0x2028 && code_point <= 0x202e) ||
	       (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0x61c ||
	       code_point == 0xfeff;
}

char *hp_text_printable(const char *text)
{
	static const char digits[] = "0123456789abcdef";
	struct hp_writer copy = { 0 };

	while (*text) {
		uint32_t code_point;
		size_t length = hp_text_utf8(text, &code_point);
		bool safe = length && !hp_text_is_control(code_point);

		length = length ? length : 1;
		for (size_t i = 0; i < length; i++) {
			uint8_t byte = (uint8_t)text[i];

			if (safe) {
				hp_write_u8(&copy, byte);
				continue;
			}
			hp_write_bytes(&copy, "\\x", 2);
			hp_write_u8(&copy, (uint8_t)digits[byte >> 4]);
			hp_write_u8(&copy, (uint8_t)digits[byte & 15]);
		}
		text += length;
	}
	hp_write_u8(&copy, 0);
	if (!copy.failed)
		return (char *)copy.bytes;
	hp_writer_free(&copy);
	return NULL;
}

bool hp_text_is_formula(const char *cell)
{
	char *end;

	if (!*cell || !strchr("=+-@\t\r\n", *cell))
		return false;
	if (*cell != '+' && *cell != '-')
		return true;
	strtod(cell, &end);
	return end == cell || *end;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* Computes the restricted edit distance row by row; three rows are kept, because a swap looks two
 * rows back. */
size_t hp_text_distance(const char *a, const char *b, size_t limit)
{
	enum { LONGEST = 250 };
	uint8_t rows[3][LONGEST + 1];
	size_t a_length = strlen(a);
	size_t b_length = strlen(b);

	if (a_length > LONGEST || b_length > LONGEST || a_length > b_length + limit ||
	    b_length > a_length + limit)
		return limit + 1;
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		uint8_t *now = rows[i % 3];
		const uint8_t *above = rows[(i + 2) % 3];
		const uint8_t *two_above = rows[(i + 1) % 3];

		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);
			uint8_t best = (uint8_t)(above[j - 1] + !same);

			best = smaller(best, (uint8_t)(above[j] + 1));
			best = smaller(best, (uint8_t)(now[j - 1] + 1));
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				best = smaller(best, (uint8_t)(two_above[j - 2] + 1));
			now[j] = best;
		}
	}
	return rows[a_length % 3][b_length] <= limit ? rows[a_length % 3][b_length] : limit + 1;
}

char *hp_text_format_list(const char *format, va_list arguments)
{
	char *text;

	return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

char *hp_text_join(char *const *words, const char *separator)
{
	struct hp_writer text = { 0 };

	for (size_t i = 0; words[i]; i++) {
		if (i)
			hp_write_bytes(&text, separator, strlen(separator));
		hp_write_bytes(&text, words[i], strlen(words[i]));
	}
	hp_write_u8(&text, 0);
	if (!text.failed)
		return (char *)text.bytes;
	hp_writer_free(&text);
	return NULL;
}

/* Ranges of characters that take two columns on terminals, or none. */
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

/* Reads one character: returns its bytes (at least one), and sets its columns. */
static size_t next_character(const char *text, size_t *columns)
{
	uint32_t point;
	size_t length = (unsigned char)*text < 0x80 ? 1 : hp_text_utf8(text, &point);

	*columns = length > 1 ? width_of(point) : 1;
	return length ? length : 1;
}

size_t hp_text_columns(const char *text)
{
	size_t columns = 0;
	size_t width;

	while (*text) {
		text += next_character(text, &width);
		columns += width;
	}
	return columns;
}

size_t hp_text_prefix(const char *text, size_t columns)
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

/* "2 %" stays together. */
static bool ends_word(const char *at)
{
	return !*at || (*at == ' ' && at[1] != '%');
}

size_t hp_text_line(const char *text, size_t columns)
{
	size_t fits = columns ? hp_text_prefix(text, columns) : strlen(text);
	size_t end = fits;

	if (ends_word(text + fits))
		return fits;
	while (end && !ends_word(text + end))
		end--;
	if (end)
		return end;
	while (!ends_word(text + fits))
		fits++;
	return fits;
}
