/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for copies: made as far as it is paid for, and taken by the window that it suits. */
#include "../../src/shadow/copy/buffers.h"
#include "../support.h"

/* What the budget pays for is spent, and no more; what was made is kept. */
TEST(the_buffer_is_filled_as_far_as_is_paid_for)
{
	struct buffer buffer = { .is_kept = true };

	hp_assert_ok(buffer_enlarge(&buffer, 65536, FILL_PAID, UINT64_MAX, -1));
	hp_assert_fails(HP_ERROR_INSUFFICIENT, buffer_enlarge(&buffer, 4194304, FILL_PAID, 0, -1));
	ck_assert_uint_eq(buffer.bytes, 65536);
	ck_assert_uint_eq(buffer.filled_bytes, 0);
	hp_assert_ok(buffer_enlarge(&buffer, 4194304, FILL_PAID, UINT64_MAX, -1));
	ck_assert_uint_eq(buffer.bytes, 4194304);
	buffer_release(&buffer);
}

/* --- whose buffer a window takes --------------------------------------------------------------- */

static void give(struct buffers *buffers, uint64_t bytes, bool is_kept)
{
	struct buffer buffer = { .is_kept = is_kept };

	hp_assert_ok(buffer_enlarge(&buffer, bytes, FILL_PAID, UINT64_MAX, -1));
	buffers_give(buffers, &buffer);
}

static void check_taken(struct buffers *buffers, uint64_t wanted, bool is_kept, uint64_t bytes,
			bool is_lendable)
{
	struct buffer buffer;

	buffers_take(buffers, wanted, is_kept, &buffer);
	ck_assert_uint_eq(buffer.bytes, bytes);
	ck_assert(buffer.is_lendable == is_lendable);
	ck_assert(buffer.is_kept == is_kept);
	buffers_give(buffers, &buffer);
}

/* Memory for a large target takes long to make, so it is not made for each maker of windows. */
TEST(a_window_takes_the_buffer_that_is_nearest_to_what_it_needs)
{
	enum { SMALL = 65536, MIDDLE = 1048576, LARGE = LENT_LEAST_BYTES };
	struct buffers buffers = { 0 };
	struct buffer mine, other;

	check_taken(&buffers, LARGE, false, 0, false);
	give(&buffers, SMALL, false);
	give(&buffers, LARGE, false);
	give(&buffers, MIDDLE, false);
	/* The smallest that suffices, else the largest of the kind, else the least worth. */
	check_taken(&buffers, SMALL / 2, false, SMALL, false);
	check_taken(&buffers, SMALL + 1, false, MIDDLE, false);
	check_taken(&buffers, 2 * MIDDLE, false, MIDDLE, false);
	check_taken(&buffers, LARGE + 1, false, LARGE, true);
	check_taken(&buffers, LARGE, true, MIDDLE, false);
	buffers_take(&buffers, LARGE, false, &mine);
	ck_assert(!buffers_away_suffice(&buffers, &mine, SMALL));
	/* The only one of the kind is away. */
	buffers_take(&buffers, LARGE, false, &other);
	ck_assert_uint_eq(other.bytes, SMALL);
	ck_assert(buffers_away_suffice(&buffers, &other, LARGE));
	ck_assert(!buffers_away_suffice(&buffers, &other, 2 * (uint64_t)LARGE));
	buffers_give(&buffers, &mine);
	ck_assert(!buffers_away_suffice(&buffers, &other, SMALL));
	buffers_give(&buffers, &other);
	buffers_clear(&buffers);
}

HP_TEST_MAIN("shadow/buffers")
