/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/arena.h>

#include <string.h>

TEST(allocations_are_aligned_zeroed_and_do_not_overlap)
{
	enum { COUNT = 5000 };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct hp_random random = hp_random_seeded(1);
	static unsigned char *memory[COUNT];
	static size_t sizes[COUNT];

	ck_assert_ptr_nonnull(arena);
	for (size_t i = 0; i < COUNT; i++) {
		/* Mostly small, now and then more than a block. */
		sizes[i] = (size_t)hp_random_between(&random, 0, i % 100 ? 200 : 100000);
		memory[i] = hp_arena_alloc(arena, sizes[i]);
		ck_assert_ptr_nonnull(memory[i]);
		ck_assert_uint_eq((uintptr_t)memory[i] % 16, 0);
		for (size_t j = 0; j < sizes[i]; j++)
			ck_assert_uint_eq(memory[i][j], 0);
		memset(memory[i], (int)(i % 251) + 1, sizes[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < sizes[i]; j++)
			if (memory[i][j] != i % 251 + 1)
				ck_abort_msg("allocation %zu was overwritten at %zu", i, j);
}

TEST(memory_is_zeroed_again_after_a_reset)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			unsigned char *memory = hp_arena_alloc(arena, 500);

			for (size_t j = 0; j < 500; j++)
				ck_assert_uint_eq(memory[j], 0);
			memset(memory, 0xee, 500);
		}
		hp_arena_reset(arena);
	}
}

TEST(an_empty_arena_may_be_reset_and_destroyed)
{
	struct hp_arena *arena = hp_arena_create();

	hp_arena_reset(arena);
	hp_arena_destroy(arena);
	hp_arena_destroy(NULL);
}

TEST(sizes_that_overflow_are_refused)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	volatile size_t huge = SIZE_MAX;

	ck_assert_ptr_null(hp_arena_alloc(arena, huge));
	ck_assert_ptr_null(hp_arena_alloc(arena, huge - 16));
	ck_assert_ptr_null(hp_arena_alloc(arena, huge - 64));
	ck_assert_ptr_null(hp_arena_array(arena, huge / 2, 3));
	ck_assert_ptr_null(hp_arena_strndup(arena, "x", huge));
	/* And do not harm it. */
	ck_assert_ptr_nonnull(hp_arena_array(arena, 3, 5));
}

TEST(copies_of_strings_end_where_they_should)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();

	ck_assert_str_eq(hp_arena_strdup(arena, ""), "");
	ck_assert_str_eq(hp_arena_strdup(arena, "sixteen letters!"), "sixteen letters!");
	ck_assert_str_eq(hp_arena_strndup(arena, "sixteen letters!", 7), "sixteen");
}

HP_TEST_MAIN("base/arena")
