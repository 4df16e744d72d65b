/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for copies: made as far as it is paid for, and taken by the window that it suits. */
#include "../../src/shadow/copy/buffers.h"
#include "../support.h"

#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

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

/* However long it takes. */
static void enlarge(struct buffer *buffer, uint64_t bytes)
{
	struct hp_error *error;

	while ((error = buffer_enlarge(buffer, bytes, FILL_PAID, UINT64_MAX, -1))) {
		ck_assert_int_eq(error->class, HP_ERROR_INSUFFICIENT);
		hp_error_destroy(error);
	}
}

/* The kernel writes to pages again that have moved, as the target would wait for that, and leaves what they
 * contain (scripts/bench/first_reading). */
TEST(pages_that_have_moved_are_written_to_again_and_stay_as_they_are)
{
	struct buffer buffer = { 0 };
	const uint8_t *before;
	void *behind;

	enlarge(&buffer, LENT_LEAST_BYTES);
	for (size_t i = 0; i < LENT_LEAST_BYTES; i += PAGE_BYTES)
		buffer.at[i] = (uint8_t)(i / PAGE_BYTES);
	/* No room is left behind it. */
	before = buffer.at;
	behind = mmap(buffer.at + buffer.bytes, PAGE_BYTES, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	enlarge(&buffer, LENT_LEAST_BYTES + PAGE_BYTES);
	ck_assert_ptr_ne(buffer.at, before);
	ck_assert_uint_gt(buffer.filled_bytes, PAGE_BYTES);
	for (size_t i = 0; i < LENT_LEAST_BYTES; i += PAGE_BYTES)
		ck_assert_uint_eq(buffer.at[i], (uint8_t)(i / PAGE_BYTES));
	if (behind != MAP_FAILED)
		munmap(behind, PAGE_BYTES);
	buffer_release(&buffer);
}

/* --- whose buffer a window takes --------------------------------------------------------------- */

static void give(struct buffers *buffers, uint64_t bytes, bool is_kept)
{
	struct buffer buffer = { .is_kept = is_kept };

	enlarge(&buffer, bytes);
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
