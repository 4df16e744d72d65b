/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is decided before events are opened. */
#include "../support.h"

#include "../../src/sample/opening.h"
#include "../../src/sample/tuning.h"

#include <math.h>
#include <unistd.h>

TEST(rings_hold_the_stack_that_is_copied_for_some_time)
{
	static const struct {
		size_t cpus;
		double hz;
		double stack_bytes;
		size_t kib;
	} rows[] = {
		{ 2, 1000, 0, 512 },	   { 2, 1000, 2048, 512 },     { 2, 1000, 16384, 2048 },
		{ 2, 1000, 32768, 4096 },  { 2, 4000, 32768, 8192 },   { 1, 4000, 32768, 16384 },
		{ 1, INFINITY, 1, 16384 }, { 64, 4000, 32768, 256 },   { 64, 1, 0, 256 },
		{ 2, 1, 32768, 512 },	   { 100000, 1000, 32768, 4 },
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t row = 0; row < HP_ARRAY_COUNT(rows); row++) {
		size_t pages =
			opening_ring_pages(rows[row].cpus, rows[row].hz * rows[row].stack_bytes);

		ck_assert_msg(pages * page == rows[row].kib * 1024, "row %zu: %zu KiB", row,
			      pages * page / 1024);
	}
}

HP_TEST_MAIN("sample/opening")
