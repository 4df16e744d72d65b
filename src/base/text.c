/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/text.h>

#include <hpcprof/base/bytes.h>

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
