/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock is measured here; how well, scripts/clock-accuracy shows. */
#include "../support.h"

#include <hpcprof/calibrate/clock.h>

#include <sched.h>

TEST(this_machine_has_a_clock)
{
	double hz = hp_clock_measure();

#if defined(__x86_64__) || defined(__aarch64__)
	ck_assert_double_gt(hz, 0);
#else
	ck_assert_double_eq(hz, 0);
#endif
}

TEST(a_meter_gives_what_was_asked_for_once)
{
	struct hp_clock_meter *meter = hp_clock_meter_create(NULL);
	struct hp_clock_reading reading = { 0 };

	ck_assert_ptr_nonnull(meter);
	ck_assert_double_eq(hp_clock_meter_take(meter).hz, 0);
	hp_clock_meter_ask(meter, sched_getcpu());
	hp_clock_meter_ask(meter, 0);
	while (hp_clock_measure() > 0 && reading.hz <= 0)
		reading = hp_clock_meter_wait(meter);
	ck_assert_double_eq(hp_clock_meter_take(meter).hz, 0);
	hp_clock_meter_destroy(meter);
}

TEST(a_cpu_that_does_not_exist_does_no_harm)
{
	static const int cpus[] = { -1, 1023, 1024, 1 << 30 };

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct hp_clock_meter *meter = hp_clock_meter_create(NULL);
		struct hp_clock_reading reading = { 0 };

		hp_clock_meter_ask(meter, cpus[i]);
		while (hp_clock_measure() > 0 && reading.hz <= 0)
			reading = hp_clock_meter_wait(meter);
		hp_clock_meter_destroy(meter);
	}
}

TEST(a_meter_can_go_while_it_measures)
{
	for (int i = 0; i < 100; i++) {
		struct hp_clock_meter *meter = hp_clock_meter_create(NULL);

		hp_clock_meter_ask(meter, i % 2);
		hp_clock_meter_destroy(meter);
	}
}

TEST(no_meter_measures_nothing)
{
	hp_clock_meter_ask(NULL, 0);
	ck_assert_double_eq(hp_clock_meter_take(NULL).hz, 0);
	ck_assert_double_eq(hp_clock_meter_wait(NULL).hz, 0);
	hp_clock_meter_destroy(NULL);
}

HP_TEST_MAIN("calibrate/clock")
