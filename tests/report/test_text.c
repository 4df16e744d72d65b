/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../src/report/common/text.h"
#include "../support.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static const struct {
	const char *raw;
	const char *escaped; /* for people */
	const char *valid;   /* for JSON */
	const char *field;   /* for CSV */
} texts[] = {
	{ "plain", "plain", "plain", "plain" },
	{ "", "", "", "" },
	{ "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" },
	/* ESC, C1's CSI as a character, DEL. */
	{ "\033[31m", "\\x1b[31m", "\033[31m", "\\x1b[31m" },
	{ "\xc2\x9b", "\\u009b", "\xc2\x9b", "\\u009b" },
	{ "\x7f", "\\x7f", "\x7f", "\\x7f" },
	/* Line ends stay data in CSV, inside quotes. */
	{ "a\nb", "a\\nb", "a\nb", "\"a\nb\"" },
	{ "a\tb", "a\\tb", "a\tb", "a\\tb" },
	/* Right-to-left override: "exe.txt" that is none. */
	{ "\xe2\x80\xaetxt.exe", "\\u202etxt.exe", "\xe2\x80\xaetxt.exe", "\\u202etxt.exe" },
	/* What begins and ends an isolate, marks of direction, of order and line ends of
	 * Unicode. */
	{ "\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069", "\xe2\x81\xa6\xe2\x81\xa9",
	  "\\u2066\\u2069" },
	{ "\xd8\x9c\xe2\x80\x8f", "\\u061c\\u200f", "\xd8\x9c\xe2\x80\x8f", "\\u061c\\u200f" },
	{ "\xef\xbb\xbf\xe2\x80\xa8", "\\ufeff\\u2028", "\xef\xbb\xbf\xe2\x80\xa8",
	  "\\ufeff\\u2028" },
	/* What a spreadsheet would carry out, and a number. */
	{ "=1+1", "=1+1", "=1+1", "'=1+1" },
	{ "@a,b", "@a,b", "@a,b", "\"'@a,b\"" },
	{ "-1.5", "-1.5", "-1.5", "-1.5" },
	/* No UTF-8: a lone byte, a cut character, an overlong '/', a surrogate, beyond the end. */
	{ "\xff", "\\xff", "\xef\xbf\xbd", "\xef\xbf\xbd" },
	{ "\xe2\x82", "\\xe2\\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xc0\xaf", "\\xc0\\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	/* What RFC 4180 quotes. */
	{ "f(int, int)", "f(int, int)", "f(int, int)", "\"f(int, int)\"" },
	{ "say \"x\"", "say \"x\"", "say \"x\"", "\"say \"\"x\"\"\"" },
};

static void check(void (*write)(struct hp_buffer *buffer, const char *text), const char *raw,
		  const char *expected)
{
	_cleanup_(hp_buffer_free) struct hp_buffer buffer = { 0 };

	write(&buffer, raw);
	ck_assert(!buffer.failed);
	ck_assert_str_eq(hp_buffer_text(&buffer), expected);
}

TEST(what_people_read_has_no_control_characters_and_stays_on_its_line)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++)
		check(text_escape, texts[i].raw, texts[i].escaped);
}

TEST(what_json_holds_is_valid_utf8_and_otherwise_unchanged)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++)
		check(text_make_valid, texts[i].raw, texts[i].valid);
}

TEST(csv_fields_are_quoted_where_they_must_be)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++)
		check(text_csv, texts[i].raw, texts[i].field);
}

TEST(every_single_byte_and_pair_comes_out_printable)
{
	for (unsigned first = 1; first < 256; first++) {
		for (unsigned second = 1; second < 256; second++) {
			char raw[3] = { (char)first, (char)second, 0 };
			struct hp_buffer buffer = { 0 };

			text_escape(&buffer, raw);
			for (size_t i = 0; i < buffer.size; i++) {
				unsigned char byte = (unsigned char)buffer.text[i];

				ck_assert(byte >= 0x20 && byte != 0x7f);
				ck_assert(i == 0 || byte < 0x80 || byte >= 0xa0 ||
					  (unsigned char)buffer.text[i - 1] != 0xc2);
			}
			hp_buffer_free(&buffer);
		}
	}
}

TEST(columns_are_counted_in_characters)
{
	ck_assert_uint_eq(hp_text_columns("abc"), 3);
	ck_assert_uint_eq(hp_text_columns("\xc3\xa9t\xc3\xa9"), 3);
	ck_assert_uint_eq(hp_text_prefix("\xc3\xa9t\xc3\xa9", 2), 3);
	ck_assert_uint_eq(hp_text_prefix("ab", 5), 2);
	ck_assert_uint_eq(hp_text_prefix("\xc3\xa9", 0), 0);
}

TEST(wide_characters_take_two_columns_and_joining_ones_none)
{
	/* Two ideographs, and e with an acute accent that joins it. */
	static const char wide[] = "\xe6\xbc\xa2\xe5\xad\x97";
	static const char joined[] = "e\xcc\x81!";
	_cleanup_(hp_buffer_free) struct hp_buffer cut = { 0 };

	ck_assert_uint_eq(hp_text_columns(wide), 4);
	ck_assert_uint_eq(hp_text_columns(joined), 2);
	ck_assert_uint_eq(hp_text_prefix(wide, 3), 3);
	ck_assert_uint_eq(hp_text_prefix(joined, 1), 3);
	text_cut(&cut, wide, 3);
	ck_assert_str_eq(hp_buffer_text(&cut), "\xe6\xbc\xa2…");
}

HP_TEST_MAIN("report/text")
