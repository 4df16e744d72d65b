/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the core is shared is told of cores that have the chain, and of no others. What it tells here is
 * chance: the other thread may be another machine's. scripts/machine/measure_core shows both. */
#include "../support.h"

#include <hpcprof/calibrate/clock.h>

TEST(other_cores_tell_nothing)
{
	struct hp_core core = *hp_core_named("zen-5");

	ck_assert_int_eq(hp_sharing_measure(NULL, 3e9), HP_SHARING_UNKNOWN);
	ck_assert_int_eq(hp_sharing_measure(hp_core_named("skylake-sp"), 3e9), HP_SHARING_UNKNOWN);
	ck_assert_int_eq(hp_sharing_measure(&core, 0), HP_SHARING_UNKNOWN);
	/* The chain would go through both halves of this core, or none. */
	core.renamed_stores = 12;
	ck_assert_int_eq(hp_sharing_measure(&core, 3e9), HP_SHARING_UNKNOWN);
	core.renamed_stores = 64;
	ck_assert_int_eq(hp_sharing_measure(&core, 3e9), HP_SHARING_UNKNOWN);
}

/* A clock that is three times too fast or too slow makes each try take too long or too short. */
TEST(tries_that_tell_neither_are_not_believed)
{
	double hz = hp_clock_measure();

	if (hz > 0)
		ck_assert_int_eq(hp_sharing_measure(hp_core_named("zen-5"), 3 * hz),
				 HP_SHARING_UNKNOWN);
	if (hz > 0)
		ck_assert_int_eq(hp_sharing_measure(hp_core_named("zen-5"), hz / 3),
				 HP_SHARING_UNKNOWN);
}

HP_TEST_MAIN("calibrate/sharing")
