/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/text.h>

#include <string.h>

TEST(plain_text_and_foreign_scripts_print_as_they_are)
{
	static const char *const texts[] = { "", "xz -k big.tar", "größe", "日本語",
					     "\xf0\x9f\x90\xa2" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		char *printable = hp_text_printable(texts[i]);

		ck_assert_str_eq(printable, texts[i]);
		free(printable);
	}
}

TEST(controls_direction_marks_and_broken_utf8_are_spelt_out)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "a\033[2Jb", "a\\x1b[2Jb" },
		{ "a\nb\tc\177", "a\\x0ab\\x09c\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m" },
		{ "\xe2\x80\xae"
		  "gpj",
		  "\\xe2\\x80\\xaegpj" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc3", "\\xc3" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		char *printable = hp_text_printable(cases[i].text);

		ck_assert_str_eq(printable, cases[i].expected);
		free(printable);
	}
}

TEST(code_points_come_out_with_their_length)
{
	static const struct {
		const char *text;
		size_t length;
		uint32_t code_point;
	} cases[] = {
		{ "A", 1, 0x41 },
		{ "\xc3\xb6", 2, 0xf6 },
		{ "\xe2\x82\xac", 3, 0x20ac },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		uint32_t code_point = 0;

		ck_assert_uint_eq(hp_text_utf8(cases[i].text, &code_point), cases[i].length);
		ck_assert_uint_eq(code_point, cases[i].code_point);
	}
}

TEST(names_are_as_far_apart_as_letters_must_change)
{
	static const struct {
		const char *a;
		const char *b;
		size_t limit;
		size_t expected;
	} cases[] = {
		{ "memcpy", "memcpy", 3, 0 },  { "memcpy", "MemCpy", 3, 0 },
		{ "memcpy", "mempcy", 3, 1 },  { "memcpy", "memcp", 3, 1 },
		{ "memcpy", "memmove", 4, 4 }, { "memcpy", "memmove", 2, 3 },
		{ "", "abc", 3, 3 },	       { "a", "abcdefgh", 3, 4 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		ck_assert_uint_eq(hp_text_distance(cases[i].a, cases[i].b, cases[i].limit),
				  cases[i].expected);
}

TEST(cells_that_a_spreadsheet_would_carry_out_are_told_from_numbers)
{
	static const struct {
		const char *cell;
		bool is_formula;
	} cases[] = {
		{ "=1+1", true },
		{ "@SUM(A1)", true },
		{ "+cmd|' /C calc'!A0", true },
		{ "-1+1", true },
		{ "-[NSObject init]", true },
		{ "\tx", true },
		{ "-", true },
		{ "-1.5", false },
		{ "+3", false },
		{ "-1e-9", false },
		{ "main", false },
		{ "[jit node]", false },
		{ "", false },
		{ "1=1", false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		ck_assert_msg(hp_text_is_formula(cases[i].cell) == cases[i].is_formula, "%s",
			      cases[i].cell);
}

TEST(words_are_joined)
{
	static char one[] = "one";
	static char none[] = "";
	char *const words[] = { one, none, one, NULL };
	char *const nothing[] = { NULL };
	char *joined = hp_text_join(words, ", ");

	ck_assert_str_eq(joined, "one, , one");
	free(joined);
	joined = hp_text_join(nothing, ", ");
	ck_assert_str_eq(joined, "");
	free(joined);
}

TEST(lines_end_between_words)
{
	static const struct {
		const char *text;
		size_t columns;
		size_t bytes;
	} cases[] = {
		{ "one two three", 13, 13 },
		{ "one two three", 12, 7 },
		{ "one two three", 7, 7 },
		{ "one two three", 6, 3 },
		{ "one two three", 3, 3 },
		{ "one two three", 2, 3 },
		{ "one", 1, 3 },
		{ "by 2 %, one", 4, 2 },
		{ "by 2 %, one", 6, 2 },
		{ "by 2 %, one", 7, 7 },
		{ "2 %, one", 1, 4 },
		{ "", 4, 0 },
		{ "one two", 0, 7 },
		{ "\xc3\xa4\xc3\xb6 \xc3\xbc", 4, 7 },
		{ "\xc3\xa4\xc3\xb6 \xc3\xbc", 3, 4 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++)
		ck_assert_msg(hp_text_line(cases[i].text, cases[i].columns) == cases[i].bytes,
			      "'%s' in %zu columns", cases[i].text, cases[i].columns);
}

HP_TEST_MAIN("base/text")
