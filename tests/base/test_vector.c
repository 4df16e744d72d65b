/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/vector.h>

TEST(what_is_pushed_stays_in_order_while_the_vector_grows)
{
	HP_VECTOR(uint32_t) numbers = { 0 };
	size_t moves = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		size_t before = numbers.capacity;

		ck_assert(hp_vector_push(&numbers, i * 7));
		moves += numbers.capacity != before;
	}
	ck_assert_uint_eq(numbers.count, 100000);
	for (uint32_t i = 0; i < numbers.count; i++)
		ck_assert_uint_eq(numbers.at[i], i * 7);
	/* From 8 to 131072 by doubling. */
	ck_assert_uint_eq(moves, 15);
	hp_vector_free(&numbers);
	ck_assert_ptr_null(numbers.at);
	ck_assert_uint_eq(numbers.capacity, 0);
}

TEST(a_structure_may_be_pushed_as_a_compound_literal)
{
	struct pair {
		int a, b;
	};
	HP_VECTOR(struct pair) pairs = { 0 };

	ck_assert(hp_vector_push(&pairs, (struct pair){ .a = 1, .b = 2 }));
	ck_assert_int_eq(pairs.at[0].a, 1);
	ck_assert_int_eq(pairs.at[0].b, 2);
	hp_vector_free(&pairs);
}

TEST(reserving_what_is_there_already_moves_nothing)
{
	HP_VECTOR(char) letters = { 0 };
	const char *before;

	ck_assert(hp_vector_reserve(&letters, 1000));
	before = letters.at;
	ck_assert(hp_vector_reserve(&letters, 1000));
	ck_assert(hp_vector_reserve(&letters, 0));
	ck_assert_ptr_eq(letters.at, before);
	ck_assert_uint_eq(letters.count, 0);
	hp_vector_free(&letters);
}

TEST(a_size_past_all_memory_is_refused_and_changes_nothing)
{
	static const size_t impossible[] = { SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1 };
	HP_VECTOR(uint64_t) numbers = { 0 };

	ck_assert(hp_vector_push(&numbers, 42));
	for (size_t i = 0; i < HP_ARRAY_COUNT(impossible); i++) {
		size_t capacity = numbers.capacity;
		/* Volatile: the compiler need not warn of what is wanted here. */
		volatile size_t wanted = impossible[i];

		ck_assert(!hp_vector_reserve(&numbers, wanted));
		ck_assert_uint_eq(numbers.capacity, capacity);
		ck_assert_uint_eq(numbers.at[0], 42);
	}
	hp_vector_free(&numbers);
}

HP_TEST_MAIN("base/vector")
