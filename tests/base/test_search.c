/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/search.h>

enum { MOST = 20 };

/* Element i is i / 2 * 10: every value twice. */
TEST(the_first_that_is_not_before_is_what_a_walk_finds)
{
	for (size_t count = 0; count <= MOST; count++) {
		for (size_t wanted = 0; wanted <= MOST * 5 + 5; wanted += 5) {
			size_t from = 0;
			size_t after = 0;

			while (from < count && from / 2 * 10 < wanted)
				from++;
			while (after < count && after / 2 * 10 <= wanted)
				after++;
			ck_assert_uint_eq(hp_bisect(i, count, i / 2 * 10 < wanted), from);
			ck_assert_uint_eq(hp_bisect(i, count, i / 2 * 10 <= wanted), after);
		}
	}
}

TEST(of_nothing_nothing_is_looked_at)
{
	const int *none = NULL;

	ck_assert_uint_eq(hp_bisect(i, 0, none[i] < 1), 0);
}

TEST(the_condition_sees_valid_indices_alone)
{
	size_t most = 0;

	ck_assert_uint_eq(hp_bisect(i, 7, (most = i > most ? i : most, true)), 7);
	ck_assert_uint_eq(most, 6);
}

HP_TEST_MAIN("base/search")
