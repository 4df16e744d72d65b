/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/paths/lasts.h"

static const struct last_frame path[] = {
	{ .address = 0x1000, .stack = 0x7000 },
	{ .address = 0x2000, .stack = 0x7100 },
	{ .address = 0x3000, .stack = 0x9000 },
	{ .address = 0x4000, .stack = 0xa000 },
};
enum { FRAMES = sizeof(path) / sizeof(*path) };

TEST(a_path_goes_on_as_the_last_one_did_from_the_same_frame)
{
	struct lasts lasts = { 0 };
	const struct last_frame *callers;
	struct last_frame other = path[1];

	ck_assert_uint_eq(lasts_find(&lasts, 5, &path[1], &callers), 0);
	lasts_remember(&lasts, 5, path, FRAMES);
	ck_assert_uint_eq(lasts_find(&lasts, 5, &path[1], &callers), 2);
	ck_assert_uint_eq(callers[0].address, 0x3000);
	ck_assert_uint_eq(callers[1].address, 0x4000);
	/* The same call at another place of the stack, and another call there. */
	other.stack++;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	other = path[1];
	other.address++;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	/* Other threads have other stacks, even if they are alike. */
	ck_assert_uint_eq(lasts_find(&lasts, 6, &path[1], &callers), 0);
	/* Nobody calls the root, and nothing is beyond it. */
	ck_assert_uint_eq(lasts_find(&lasts, 5, &path[FRAMES - 1], &callers), 0);
	other.stack = UINT64_MAX;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	lasts_clear(&lasts);
}

TEST(a_frame_is_known_by_its_procedure_and_its_end)
{
	static const struct last_frame known[] = {
		{ .address = 0x1000, .stack = 0x7000, .caller_stack = 0x7100, .procedure = 0x100 },
		{ .address = 0x2000, .stack = 0x7100, .caller_stack = 0x9000, .procedure = 0x200 },
		{ .address = 0x3000, .stack = 0x9000, .procedure = 0x300 },
	};
	struct lasts lasts = { 0 };
	const struct last_frame *callers;
	struct last_frame other = known[1];

	lasts_remember(&lasts, 5, known, HP_ARRAY_COUNT(known));
	/* It has called something else, or nothing, since. */
	other.address++;
	other.stack -= 8;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 1);
	ck_assert_uint_eq(callers[0].address, 0x3000);
	other.procedure++;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	other = known[1];
	other.address++;
	other.in_tree.image++;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	other = known[1];
	other.address++;
	other.caller_stack += 8;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 0);
	/* Without its end, it is known where it has not gone on. */
	other = known[1];
	other.caller_stack = 0;
	ck_assert_uint_eq(lasts_find(&lasts, 5, &other, &callers), 1);
	lasts_clear(&lasts);
}

TEST(only_the_latest_path_of_a_thread_is_kept)
{
	struct lasts lasts = { 0 };
	const struct last_frame *callers;

	lasts_remember(&lasts, 5, path, FRAMES);
	lasts_remember(&lasts, 5, &path[2], FRAMES - 2);
	ck_assert_uint_eq(lasts_find(&lasts, 5, &path[1], &callers), 0);
	ck_assert_uint_eq(lasts_find(&lasts, 5, &path[2], &callers), 1);
	lasts_clear(&lasts);
}

TEST(the_threads_that_were_not_seen_for_longest_are_forgotten)
{
	struct lasts lasts = { 0 };
	const struct last_frame *callers;

	for (uint32_t tid = 0; tid < MOST_LAST_PATHS; tid++)
		lasts_remember(&lasts, tid, path, FRAMES);
	lasts_remember(&lasts, 0, path, FRAMES);
	lasts_remember(&lasts, MOST_LAST_PATHS, path, FRAMES);
	ck_assert_uint_eq(lasts_find(&lasts, 0, &path[0], &callers), FRAMES - 1);
	ck_assert_uint_eq(lasts_find(&lasts, 1, &path[0], &callers), 0);
	ck_assert_uint_eq(lasts_find(&lasts, MOST_LAST_PATHS, &path[0], &callers), FRAMES - 1);
	lasts_clear(&lasts);
}

TEST(how_a_path_was_unwound_holds_for_its_address_space)
{
	static const struct hp_unwind_frame frames[FRAMES] = { { .address = 0x1000 } };
	const int spaces[2] = { 0 };
	struct lasts lasts = { 0 };
	const struct hp_unwind_frame *found;

	lasts_remember(&lasts, 5, path, FRAMES);
	ck_assert_ptr_null(lasts_unwinding(&lasts, 5, &spaces[0], 7));
	lasts_remember_unwinding(&lasts, 5, &(struct last_unwinding){ frames, &spaces[0], 7 });
	found = lasts_unwinding(&lasts, 5, &spaces[0], 7);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found[0].address, 0x1000);
	ck_assert_ptr_null(lasts_unwinding(&lasts, 5, &spaces[1], 7));
	ck_assert_ptr_null(lasts_unwinding(&lasts, 5, &spaces[0], 8));
	ck_assert_ptr_null(lasts_unwinding(&lasts, 6, &spaces[0], 7));
	lasts_remember(&lasts, 5, path, FRAMES);
	ck_assert_ptr_null(lasts_unwinding(&lasts, 5, &spaces[0], 7));
	lasts_clear(&lasts);
}

HP_TEST_MAIN("collect/lasts")
