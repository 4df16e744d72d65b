/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the core is shared is told of cores that have the chain, and of no others. What it tells here is
 * chance: the other thread may be another machine's. scripts/machine/measure_core shows both. */
#include "../support.h"

#include <hpcprof/calibrate/clock.h>
#include <hpcprof/pmu/machine.h>

TEST(other_cores_tell_nothing)
{
	struct hp_core core = *hp_core_named("zen-5");

	ck_assert_int_eq(hp_sharing_measure(NULL, 3e9), HP_SHARING_UNKNOWN);
	ck_assert_int_eq(hp_sharing_measure(hp_core_named("skylake-sp"), 3e9), HP_SHARING_UNKNOWN);
	ck_assert_int_eq(hp_sharing_measure(&core, 0), HP_SHARING_UNKNOWN);
	/* Chains would go through both halves of these cores, or none. */
	core.reorder_slots = 400;
	core.renamed_stores = 12;
	ck_assert_int_eq(hp_sharing_measure(&core, 3e9), HP_SHARING_UNKNOWN);
	core.renamed_stores = 64;
	ck_assert_int_eq(hp_sharing_measure(&core, 3e9), HP_SHARING_UNKNOWN);
	core.reorder_slots = 720;
	ck_assert_int_eq(hp_sharing_measure(&core, 3e9), HP_SHARING_UNKNOWN);
}

/* A clock that is three times too fast or too slow makes each try take too long or too short. */
TEST(tries_that_tell_neither_are_not_believed)
{
	static const char *const cores[] = { "zen-5", "sapphire-rapids" };
	double hz = hp_clock_measure();

	for (size_t i = 0; hz > 0 && i < HP_ARRAY_COUNT(cores); i++) {
		const struct hp_core *core = hp_core_named(cores[i]);

		ck_assert_int_eq(hp_sharing_measure(core, 3 * hz), HP_SHARING_UNKNOWN);
		ck_assert_int_eq(hp_sharing_measure(core, hz / 3), HP_SHARING_UNKNOWN);
	}
}

/* Where tests run on one of these cores, many looks find it in one of the two states. */
TEST(the_core_that_this_runs_on_tells_if_it_is_one_of_these)
{
	enum hp_sharing sharing = HP_SHARING_UNKNOWN;
	struct hp_machine *machine;
	const struct hp_core *core;

	hp_assert_ok(hp_machine_create(&machine));
	at_end((void (*)(void *))hp_machine_destroy, machine);
	core = hp_core_of_cpu(&machine->cpu);
	if (core != hp_core_named("zen-5") && core != hp_core_named("sapphire-rapids"))
		return;
	for (int look = 0; look < 200 && sharing == HP_SHARING_UNKNOWN; look++)
		sharing = hp_sharing_measure(core, hp_clock_measure());
	ck_assert_int_ne(sharing, HP_SHARING_UNKNOWN);
}

HP_TEST_MAIN("calibrate/sharing")
