/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

TEST(unsigned_numbers_are_read_whole_or_not_at_all)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },	  { "007", 7 },
		{ "0x0", 0 },	  { "0xFfff", 65535 },
		{ "0X10", 16 },	  { "18446744073709551615", UINT64_MAX },
		{ "1000", 1000 }, { "0xffffffffffffffff", UINT64_MAX },
	};
	static const char *const bad[] = {
		"",   " 1",  "1 ",   "+1",  "-1",  "-0",    "0x",
		"x1", "0xg", "0x 1", "1.0", "1e3", "ff",    "18446744073709551616",
		"1k", "--1", "0x-1", "1_0", "1,0", "0x0x1", "0x10000000000000000",
	};
	uint64_t value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		ck_assert_msg(hp_parse_u64(good[i].text, &value), "'%s'", good[i].text);
		ck_assert_uint_eq(value, good[i].value);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert_msg(!hp_parse_u64(bad[i], &value), "'%s' was read", bad[i]);
}

TEST(signed_numbers_are_read_whole_or_not_at_all)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "0", 0 },
		{ "-0", 0 },
		{ "-1", -1 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const char *const bad[] = {
		"",
		"-",
		"--1",
		"+1",
		" 1",
		"1 ",
		"0x1",
		"- 1",
		"9223372036854775808",
		"-9223372036854775809",
	};
	int64_t value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		ck_assert_msg(hp_parse_i64(good[i].text, &value), "'%s'", good[i].text);
		ck_assert_int_eq(value, good[i].value);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert_msg(!hp_parse_i64(bad[i], &value), "'%s' was read", bad[i]);
}

TEST(a_number_is_scanned_out_of_longer_text)
{
	static const char line[] = "\t7  18446744073709551615\n";
	const char *rest = line;
	uint64_t value = 0;

	ck_assert(hp_scan_u64(&rest, &value));
	ck_assert_uint_eq(value, 7);
	ck_assert_ptr_eq(rest, line + 2);
	ck_assert(hp_scan_u64(&rest, &value));
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_str_eq(rest, "\n");
}

TEST(where_no_number_follows_none_is_scanned)
{
	static const char *const bad[] = {
		"", " ", "\n1", "-1", "+1", "x", "18446744073709551616"
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		const char *rest = bad[i];
		uint64_t value = 5;

		ck_assert_msg(!hp_scan_u64(&rest, &value), "'%s' was read", bad[i]);
		ck_assert_ptr_eq(rest, bad[i]);
		ck_assert_uint_eq(value, 5);
	}
}

TEST(fractions_are_finite_and_decimal)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{ "0", 0 }, { "1.5", 1.5 }, { ".25", 0.25 }, { "-2", -2 }, { "1e3", 1000 },
	};
	static const char *const bad[] = {
		"", ".", "-", "nan", "inf", "-inf", "1e999", "1.5x", " 1", "1,5", "0x10", "+1",
	};
	double value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		ck_assert_msg(hp_parse_double(good[i].text, &value), "'%s'", good[i].text);
		ck_assert_double_eq(value, good[i].value);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert_msg(!hp_parse_double(bad[i], &value), "'%s' was read", bad[i]);
}

TEST(durations_take_the_units_that_people_write)
{
	static const struct {
		const char *text;
		uint64_t value_ns;
	} good[] = {
		{ "1", 1000000000 },
		{ "0", 0 },
		{ "4ms", 4000000 },
		{ "200us", 200000 },
		{ "7ns", 7 },
		{ "1.5s", 1500000000 },
		{ "10m", 600000000000 },
		{ "2h", 7200000000000 },
		{ "1d", 86400000000000 },
		{ "0.5ms", 500000 },
	};
	static const char *const bad[] = {
		"",	 "s", "-1s", "1 s", "1sec", "1S", "1msx", "nan", "1e30", "1000000000000d",
		"0x10s",
	};
	uint64_t value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		ck_assert_msg(hp_parse_duration_ns(good[i].text, &value), "'%s'", good[i].text);
		ck_assert_uint_eq(value, good[i].value_ns);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert_msg(!hp_parse_duration_ns(bad[i], &value), "'%s' was read", bad[i]);
}

TEST(sizes_count_in_powers_of_1024)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },	      { "512", 512 },
		{ "512B", 512 },      { "64k", 64 * 1024 },
		{ "64K", 64 * 1024 }, { "2M", 2 * 1024 * 1024 },
		{ "1.5k", 1536 },     { "1G", 1024 * 1024 * 1024 },
	};
	static const char *const bad[] = { "",	  "k",	  "-1k",   "1kB",
					   "1 k", "0x10", "1e30G", "17179869184G" };
	uint64_t value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		ck_assert_msg(hp_parse_bytes(good[i].text, &value), "'%s'", good[i].text);
		ck_assert_uint_eq(value, good[i].value);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert_msg(!hp_parse_bytes(bad[i], &value), "'%s' was read", bad[i]);
}

TEST(random_numbers_stay_in_their_range_and_reach_its_ends)
{
	struct hp_random random = hp_random_seeded(0);
	bool low = false;
	bool high = false;

	for (int i = 0; i < 1000; i++) {
		uint64_t value = hp_random_between(&random, 10, 13);

		ck_assert_uint_ge(value, 10);
		ck_assert_uint_le(value, 13);
		low = low || value == 10;
		high = high || value == 13;
	}
	ck_assert(low && high);
	ck_assert_uint_eq(hp_random_between(&random, 5, 5), 5);
	/* The whole range has no width that a uint64_t could hold. */
	hp_random_between(&random, 0, UINT64_MAX);
}

TEST(random_numbers_repeat_for_a_seed_and_differ_between_seeds)
{
	struct hp_random first = hp_random_seeded(1);
	struct hp_random again = hp_random_seeded(1);
	struct hp_random other = hp_random_seeded(2);
	unsigned int same = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t value = hp_random_next(&first);

		ck_assert_uint_eq(value, hp_random_next(&again));
		same += value == hp_random_next(&other);
	}
	ck_assert_uint_eq(same, 0);
}

HP_TEST_MAIN("base/number")
