/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/bytes.h>

TEST(a_varint_reads_back_as_written)
{
	static const uint64_t values[] = { 0,	     1,		 127,	     128,	300,
					   1u << 21, UINT32_MAX, 1ull << 63, UINT64_MAX };
	_cleanup_(hp_writer_free) struct hp_writer writer = { 0 };
	struct hp_reader reader;

	for (size_t i = 0; i < HP_ARRAY_COUNT(values); i++)
		hp_write_varint(&writer, values[i]);
	ck_assert(!writer.failed);
	reader = hp_reader_over(writer.bytes, writer.size);
	for (size_t i = 0; i < HP_ARRAY_COUNT(values); i++) {
		uint64_t value;

		ck_assert(hp_read_varint(&reader, &value));
		ck_assert_uint_eq(value, values[i]);
	}
	ck_assert_uint_eq(hp_reader_left(&reader), 0);
}

TEST(a_varint_that_is_cut_overlong_or_too_wide_is_refused)
{
	static const struct {
		uint8_t bytes[11];
		size_t size;
	} bad[] = {
		{ { 0x80 }, 1 },
		{ { 0x80, 0x00 }, 2 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 }, 10 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01 }, 11 },
		{ { 0 }, 0 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		struct hp_reader reader = hp_reader_over(bad[i].bytes, bad[i].size);
		uint64_t value;

		ck_assert(!hp_read_varint(&reader, &value));
		ck_assert(reader.failed);
	}
}

TEST(a_string_longer_than_the_bytes_is_refused)
{
	static const uint8_t bytes[] = { 200, 1, 'a', 'b' };
	struct hp_reader reader = hp_reader_over(bytes, sizeof(bytes));
	char *text;

	ck_assert(!hp_read_string(&reader, &text));
	ck_assert_uint_eq(hp_reader_left(&reader), 0);
}

HP_TEST_MAIN("base/bytes")
