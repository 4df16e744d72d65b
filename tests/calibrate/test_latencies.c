/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured of this machine's caches holds together. */
#include "../support.h"

#include <hpcprof/calibrate/latencies.h>

TEST(each_level_is_slower_than_the_one_before)
{
	struct hp_core core = *hp_core_named("zen-4");
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	size_t second = (size_t)geometry.l2.sets * geometry.l2.ways * geometry.line_bytes;

	hp_latencies_measure(&geometry, &core);
	ck_assert_uint_ge(core.l2_cycles, core.l1_cycles);
	ck_assert_uint_ge(core.l3_cycles, core.l2_cycles);
	ck_assert_uint_ge(core.memory_cycles, core.l3_cycles);
	ck_assert_uint_gt(core.memory_cycles, core.l1_cycles);
	ck_assert(hp_uarch_geometry_is_valid(&geometry));
	ck_assert_uint_ge((size_t)geometry.l3.sets * geometry.l3.ways * geometry.line_bytes,
			  second);
}

/* Others may disturb a measurement, but not each. */
TEST(pages_and_wrong_guesses_are_measured)
{
	struct hp_core core = *hp_core_named("zen-4");

	core.walk_cycles = core.l2_tlb_cycles = core.mispredict_cycles = 0;
	for (int i = 0; i < 10 && (!core.mispredict_cycles || !core.walk_cycles); i++) {
		struct hp_uarch_geometry geometry = hp_uarch_geometry_of(&core);

		hp_latencies_measure(&geometry, &core);
	}
	ck_assert_uint_gt(core.l2_tlb_cycles, 0);
	ck_assert_uint_ge(core.walk_cycles, core.l2_tlb_cycles);
	ck_assert_uint_ge(core.mispredict_cycles, 8);
	ck_assert_uint_le(core.mispredict_cycles, 40);
}

TEST(caches_that_cannot_be_told_apart_are_left_alone)
{
	const struct hp_core before = *hp_core_named("zen-4");
	struct hp_core core = before;
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.l2.sets *= 1024;
	hp_latencies_measure(&geometry, &core);
	ck_assert_uint_eq(core.memory_cycles, before.memory_cycles);
	ck_assert_uint_eq(geometry.l3.ways, hp_uarch_geometry_generic().l3.ways);
}

HP_TEST_MAIN("calibrate/latencies")
