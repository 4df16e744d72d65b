/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and texts that are written as JSON without a tree. */
#include "../support.h"

#include "../../src/report/common/json.h"

#include <math.h>
#include <string.h>

static struct hp_buffer written;

static const char *number(double value)
{
	hp_buffer_clear(&written);
	json_add_number(&written, value);
	return hp_buffer_text(&written);
}

static const char *text_of(const char *text)
{
	hp_buffer_clear(&written);
	json_add_text(&written, text);
	ck_assert(!written.failed);
	return hp_buffer_text(&written);
}

static const char *count_of(uint64_t count)
{
	hp_buffer_clear(&written);
	json_add_count(&written, count);
	return hp_buffer_text(&written);
}

static const char *address_of(bool known, uint64_t address)
{
	hp_buffer_clear(&written);
	json_add_address(&written, known, address);
	return hp_buffer_text(&written);
}

TEST(counts_and_addresses_are_whole)
{
	ck_assert_str_eq(count_of(0), "0");
	ck_assert_str_eq(count_of(1200), "1200");
	ck_assert_str_eq(count_of(UINT64_MAX), "18446744073709551615");
	ck_assert_str_eq(address_of(true, 0), "\"0x0\"");
	ck_assert_str_eq(address_of(true, 0x40a1f0), "\"0x40a1f0\"");
	ck_assert_str_eq(address_of(true, UINT64_MAX), "\"0xffffffffffffffff\"");
	ck_assert_str_eq(address_of(false, 1), "null");
}

TEST(numbers_are_reals_without_needless_digits)
{
	ck_assert_str_eq(number(0), "0.0");
	ck_assert_str_eq(number(1), "1.0");
	ck_assert_str_eq(number(-2.5), "-2.5");
	ck_assert_str_eq(number(1234567890), "1234567890.0");
	ck_assert_str_eq(number(999999999999), "999999999999.0");
	ck_assert_str_eq(number(1e12), "1e12");
	ck_assert_str_eq(number(1e-300), "1e-300");
	ck_assert_str_eq(number(0.0001), "0.0001");
	ck_assert_str_eq(number(0.00001), "1e-5");
	ck_assert_str_eq(number(-1.5e100), "-1.5e100");
	ck_assert_str_eq(number(1. / 3), "0.333333333333");
	ck_assert_str_eq(number(2e6 / 3), "666666.666667");
	ck_assert_str_eq(number(999999.9999999), "1000000.0");
	ck_assert_str_eq(number(0.99999999999999), "1.0");
	ck_assert_str_eq(number(NAN), "null");
	ck_assert_str_eq(number(INFINITY), "null");
}

/* Over all exponents, beside powers of ten above all. */
TEST(numbers_are_right_to_twelve_digits)
{
	for (int exponent = -307; exponent < 308; exponent++)
		for (int i = 0; i < 60; i++) {
			double value = pow(10, exponent) * (1 + (i < 20 ? 1e-12 : 0.15) * (i - 10));
			char *end;
			double read;
			json_t *parsed;

			if (!(value > 0) || !isfinite(value))
				continue;
			read = strtod(number(value), &end);
			ck_assert_str_eq(end, "");
			ck_assert_msg(fabs(read / value - 1) <= 6e-12, "%.17g: %s", value,
				      hp_buffer_text(&written));
			parsed = json_loads(hp_buffer_text(&written), JSON_DECODE_ANY, NULL);
			ck_assert_msg(json_is_real(parsed), "%.17g: %s", value,
				      hp_buffer_text(&written));
			json_decref(parsed);
		}
}

TEST(texts_are_escaped_where_they_must_be)
{
	ck_assert_str_eq(text_of("mov (%rax), %ebx"), "\"mov (%rax), %ebx\"");
	ck_assert_str_eq(text_of(""), "\"\"");
	ck_assert_str_eq(text_of("a\"b\\c\n"), "\"a\\\"b\\\\c\\n\"");
	ck_assert_str_eq(text_of("\xc3\xa4"), "\"\\u00E4\"");
	ck_assert_str_eq(text_of(NULL), "null");
}

HP_TEST_MAIN("report/direct")
