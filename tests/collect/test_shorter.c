/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/paths/shorter.h"

#include <string.h>

/* The second and the third frame are of one procedure, which calls itself. */
static const struct last_frame path[] = {
	{ .address = 0x1000, .stack = 0x7000, .caller_stack = 0x7100, .procedure = 0x100 },
	{ .address = 0x2000, .stack = 0x7100, .caller_stack = 0x7900, .procedure = 0x200 },
	{ .address = 0x2000, .stack = 0x7900, .caller_stack = 0x9000, .procedure = 0x200 },
	{ .address = 0x4000, .stack = 0x9000, .caller_stack = 0xa000, .procedure = 0x400 },
	{ .address = 0x5000, .stack = 0xa000, .procedure = 0x500 },
};
enum { FRAMES = HP_ARRAY_COUNT(path), TID = 5 };

TEST(what_shorter_copies_give)
{
	static const struct {
		const char *name;
		uint64_t bytes;
		size_t other;	 /* this frame of the last path was another procedure's; 0: none */
		uint64_t caller; /* there it was called from here */
		enum shorter_end expected;
	} rows[] = {
		{ "all of it", 0x3000, 2, 0x6000, SHORTER_HELD },
		{ "the rest is that of the last path", 0x1000, 0, 0x5000, SHORTER_JOINED },
		{ "likewise, with nothing but the first frame", 8, 0, 0x5000, SHORTER_JOINED },
		{ "the frame is another one", 0x1000, 2, 0x5000, SHORTER_CUT },
		{ "it is the same, but not who called it", 0x1000, 0, 0x6000, SHORTER_WRONG },
		{ "another frame was below it", 0x1000, 1, 0x5000, SHORTER_JOINED },
	};

	for (size_t row = 0; row < HP_ARRAY_COUNT(rows); row++) {
		struct lasts lasts = { 0 };
		struct last_frame last[FRAMES];
		enum shorter_end end;

		memcpy(last, path, sizeof(path));
		last[FRAMES - 1].address = rows[row].caller;
		if (rows[row].other) {
			last[rows[row].other].procedure++;
			last[rows[row].other].address++;
		}
		lasts_remember(&lasts, TID, last, FRAMES);
		end = shorter_end_of(&lasts, TID, path, FRAMES, rows[row].bytes);
		ck_assert_msg(end == rows[row].expected, "%s: %d", rows[row].name, (int)end);
		lasts_clear(&lasts);
	}
}

TEST(a_call_at_the_same_place_that_is_deeper)
{
	struct lasts lasts = { 0 };
	struct last_frame deeper[FRAMES + 1];

	memcpy(deeper, path, sizeof(path));
	deeper[FRAMES] = deeper[FRAMES - 1];
	deeper[FRAMES].stack += 0x100;
	lasts_remember(&lasts, TID, deeper, FRAMES + 1);
	ck_assert_int_eq(shorter_end_of(&lasts, TID, path, FRAMES, 0x1000), SHORTER_WRONG);
	lasts_clear(&lasts);
}

TEST(without_a_last_path_there_is_nothing_to_join_to)
{
	struct lasts lasts = { 0 };

	ck_assert_int_eq(shorter_end_of(&lasts, TID, path, FRAMES, 0x1000), SHORTER_CUT);
	ck_assert_int_eq(shorter_end_of(&lasts, TID, path, FRAMES, 0x3000), SHORTER_HELD);
}

HP_TEST_MAIN("collect/shorter")
