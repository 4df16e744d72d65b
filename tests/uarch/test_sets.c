/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets in order of use, against a reference that looks at everything. */
#include "../support.h"
#include "lru.h"

#include "../../src/uarch/sets.h"

#include <hpcprof/base/number.h>

static struct uarch_sets made(uint32_t sets, uint32_t ways)
{
	struct uarch_sets made;

	ck_assert(uarch_sets_create(&made, &(struct hp_uarch_sets){ sets, ways }));
	return made;
}

/* Blocks as programs use them: near the last, at a stride, or anywhere. */
static uint64_t next_block(struct hp_random *random, uint64_t last, uint64_t most)
{
	switch (hp_random_between(random, 0, 9)) {
	case 0 ... 3:
		return last;
	case 4 ... 6:
		return 1 + (last + 1) % most;
	case 7:
		return 1 + (last + 16) % most;
	default:
		return hp_random_between(random, 1, most);
	}
}

static void agrees(uint32_t sets, uint32_t ways, uint64_t most, bool removes)
{
	static const enum lru_answer answers[] = {
		[UARCH_HIT] = LRU_HIT, [UARCH_MISS] = LRU_MISS, [UARCH_UNKNOWN] = LRU_UNKNOWN
	};
	struct hp_random random = hp_random_seeded(sets * 1000 + ways);
	struct uarch_sets tested = made(sets, ways);
	struct lru reference = lru_create(sets, ways);
	unsigned seen[3] = { 0 };
	uint64_t block = 1;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t left;
		enum lru_answer expected;

		block = next_block(&random, block, most);
		if (removes && hp_random_between(&random, 0, 19) == 0) {
			bool was_there = lru_find(&reference, block) != NULL;

			ck_assert_int_eq(uarch_sets_remove(&tested, block), was_there);
			lru_remove(&reference, block);
			continue;
		}
		expected = lru_use(&reference, block, &left);
		ck_assert_int_eq(answers[uarch_sets_use(&tested, block)], expected);
		if (expected != LRU_HIT)
			ck_assert_uint_eq(tested.evicted == UARCH_EMPTY
						  ? 0
						  : tested.evicted >> UARCH_NOTE_BITS,
					  left);
		seen[expected]++;
	}
	for (unsigned i = 0; i < HP_ARRAY_COUNT(seen); i++)
		ck_assert_uint_gt(seen[i], 0);
	uarch_sets_destroy(&tested);
	lru_destroy(&reference);
}

static const struct shape {
	const char *name;
	uint32_t sets, ways;
	uint64_t most;
} shapes[] = {
	{ "direct-mapped", 16, 1, 64 },
	{ "two ways", 8, 2, 40 },
	{ "eight ways", 8, 8, 200 },
	{ "fully associative", 1, 64, 150 },
	{ "sets that are no power", 12, 4, 99 },
	{ "one block", 1, 1, 4 },
};

TEST(answers_are_those_of_the_reference)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(shapes); i++)
		agrees(shapes[i].sets, shapes[i].ways, shapes[i].most, false);
}

TEST(answers_are_those_of_the_reference_when_blocks_are_taken_out)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(shapes); i++)
		agrees(shapes[i].sets, shapes[i].ways, shapes[i].most, true);
}

TEST(notes_stay_with_their_block_until_it_leaves)
{
	struct uarch_sets sets = made(1, 3);

	uarch_sets_use(&sets, 7);
	sets.used->entry |= 5;
	uarch_sets_use(&sets, 8);
	uarch_sets_use(&sets, 9);
	ck_assert_int_eq(uarch_sets_use(&sets, 7), UARCH_HIT);
	ck_assert_uint_eq(sets.used->entry & UARCH_NOTES, 5);
	for (uint64_t block = 10; block < 12; block++)
		ck_assert_int_eq(uarch_sets_use(&sets, block), UARCH_MISS);
	ck_assert_int_eq(uarch_sets_use(&sets, 12), UARCH_MISS);
	ck_assert_uint_eq(sets.evicted, 7 << UARCH_NOTE_BITS | 5);
	uarch_sets_destroy(&sets);
}

TEST(a_reset_forgets_all)
{
	struct uarch_sets sets = made(4, 2);

	for (uint64_t block = 1; block < 100; block++)
		uarch_sets_use(&sets, block);
	uarch_sets_reset(&sets);
	ck_assert_int_eq(uarch_sets_use(&sets, 99), UARCH_UNKNOWN);
	uarch_sets_destroy(&sets);
}

/* Block 0 and the largest are blocks like others, not what an empty place looks like. */
TEST(no_block_is_taken_for_an_empty_place)
{
	struct uarch_sets sets = made(1, 4);
	const uint64_t blocks[] = { 0, (UINT64_C(1) << 59) - 1 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(blocks); i++) {
		ck_assert_int_eq(uarch_sets_use(&sets, blocks[i]), UARCH_UNKNOWN);
		ck_assert_int_eq(uarch_sets_use(&sets, blocks[i]), UARCH_HIT);
	}
	uarch_sets_destroy(&sets);
}

HP_TEST_MAIN("uarch/sets")
