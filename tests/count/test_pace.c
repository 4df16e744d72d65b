/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When slices are over, by made-up clocks. */
#include "../support.h"

#include "../../src/count/pace.h"
#include "../../src/count/tuning.h"

enum { BEGIN_NS = 1000000000, RAN_NS = 70000000, LENGTH_NS = 1000000 };

static struct pace begin(void)
{
	struct pace pace;

	pace_begin(&pace, BEGIN_NS, RAN_NS, LENGTH_NS);
	ck_assert_uint_eq(pace.due_ns, BEGIN_NS + LENGTH_NS);
	return pace;
}

TEST(a_slice_in_which_the_target_ran_is_over_when_it_is_due)
{
	struct pace pace = begin();

	ck_assert(pace_is_over(&pace, pace.due_ns, RAN_NS + LENGTH_NS));
	/* Two threads. */
	pace = begin();
	ck_assert(pace_is_over(&pace, pace.due_ns, RAN_NS + 2 * LENGTH_NS));
	/* But for a moment. */
	pace = begin();
	ck_assert(pace_is_over(&pace, pace.due_ns, RAN_NS + LENGTH_NS - LENGTH_NS / 20));
}

TEST(one_in_which_it_waited_goes_on_for_what_is_missing)
{
	struct pace pace = begin();
	uint64_t due_ns = pace.due_ns;

	ck_assert(!pace_is_over(&pace, due_ns, RAN_NS + LENGTH_NS / 4));
	ck_assert_uint_eq(pace.due_ns, due_ns + LENGTH_NS - LENGTH_NS / 4);
	ck_assert(pace_is_over(&pace, pace.due_ns, RAN_NS + LENGTH_NS));
}

/* Nobody runs: it is looked at ever more rarely, and ends at last. */
TEST(one_in_which_it_sleeps_ends_when_patience_does)
{
	struct pace pace = begin();
	const uint64_t end_ns = BEGIN_NS + LENGTH_NS + pace_patience_ns;
	uint64_t before_ns = pace.due_ns;
	unsigned looks = 0;

	while (!pace_is_over(&pace, pace.due_ns, RAN_NS)) {
		uint64_t step_ns = (before_ns - BEGIN_NS) / 8;

		ck_assert_uint_gt(pace.due_ns, before_ns);
		if (pace.due_ns < end_ns)
			ck_assert_uint_eq(pace.due_ns - before_ns,
					  step_ns > LENGTH_NS ? step_ns : LENGTH_NS);
		before_ns = pace.due_ns;
		looks++;
		ck_assert_uint_lt(looks, 100);
	}
	ck_assert_uint_eq(pace.due_ns, end_ns);
}

TEST(a_line_of_time_that_was_ahead_is_no_overflow)
{
	struct pace pace = begin();
	uint64_t due_ns = pace.due_ns;

	ck_assert(!pace_is_over(&pace, due_ns, RAN_NS - 1000));
	ck_assert_uint_eq(pace.due_ns, due_ns + LENGTH_NS);
}

HP_TEST_MAIN("count/pace")
