/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first slices of a run. */
#include "../support.h"

#include <hpcprof/mux/ramp.h>

static const struct hp_mux_ramp ramp = {
	.group_count = 5,
	.shortest_ns = 250000,
	.full_ns = 10000000,
};

/* Lets slices follow each other until they have their full length, or for `most` of them; returns
 * how long the target has run then. */
static uint64_t climb(const struct hp_mux_ramp *of, size_t most, size_t *slices)
{
	uint64_t ran_ns = 0;

	for (*slices = 0; *slices < most; ++*slices) {
		uint64_t length_ns = hp_mux_ramp_slice_ns(of, ran_ns);

		if (length_ns == of->full_ns)
			break;
		ran_ns += length_ns;
	}
	return ran_ns;
}

TEST(each_group_has_a_turn_within_the_first_milliseconds)
{
	size_t slices;

	ck_assert_uint_eq(hp_mux_ramp_slice_ns(&ramp, 0), ramp.shortest_ns);
	ck_assert_uint_eq(climb(&ramp, ramp.group_count, &slices),
			  ramp.group_count * ramp.shortest_ns);
}

TEST(slices_grow_and_never_shrink)
{
	uint64_t before_ns = 0;

	for (uint64_t ran_ns = 0; ran_ns < 1000000000; ran_ns += 1000003) {
		uint64_t length_ns = hp_mux_ramp_slice_ns(&ramp, ran_ns);

		ck_assert_uint_ge(length_ns, before_ns);
		ck_assert_uint_le(length_ns, ramp.full_ns);
		before_ns = length_ns;
	}
	ck_assert_uint_eq(before_ns, ramp.full_ns);
}

/* A round never takes longer than what was before it, once slices have begun to grow. */
TEST(whenever_the_run_ends_each_group_has_seen_its_latter_half)
{
	for (uint64_t ran_ns = 10000000; ran_ns < 1000000000; ran_ns += 1000003) {
		uint64_t round_ns = 0;

		for (uint32_t i = 0; i < ramp.group_count; i++)
			round_ns += hp_mux_ramp_slice_ns(&ramp, ran_ns + round_ns);
		ck_assert_uint_lt(round_ns, ran_ns);
	}
}

/* Geometric: ten times the full length costs as many slices more, wherever that is. */
TEST(their_number_grows_with_the_logarithm_of_their_length)
{
	struct hp_mux_ramp longer = ramp;
	size_t once, twice, thrice;

	climb(&longer, 10000, &once);
	longer.full_ns *= 10;
	climb(&longer, 10000, &twice);
	longer.full_ns *= 10;
	climb(&longer, 10000, &thrice);
	ck_assert_uint_gt(twice, once);
	ck_assert_uint_le(thrice - twice, twice - once + 1);
	ck_assert_uint_ge(thrice - twice + 1, twice - once);
}

TEST(a_full_length_below_the_shortest_wins)
{
	struct hp_mux_ramp brief = ramp;

	brief.full_ns = 1000;
	ck_assert_uint_eq(hp_mux_ramp_slice_ns(&brief, 0), 1000);
	ck_assert_uint_eq(hp_mux_ramp_slice_ns(&brief, UINT64_MAX), 1000);
}

TEST(many_groups_and_long_runs_do_not_overflow)
{
	struct hp_mux_ramp large = ramp;

	large.group_count = UINT32_MAX;
	ck_assert_uint_eq(hp_mux_ramp_slice_ns(&large, 1), ramp.shortest_ns);
	ck_assert_uint_eq(hp_mux_ramp_slice_ns(&ramp, UINT64_MAX), ramp.full_ns);
}

HP_TEST_MAIN("mux/ramp")
