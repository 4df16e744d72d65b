/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock is measured here; how well, scripts/clock-accuracy shows. */
#include "../support.h"

#include "../../src/collect/clock.h"

#include <sched.h>

START_TEST(this_machine_has_a_clock)
{
	double hz = clock_measure();

#if defined(__x86_64__) || defined(__aarch64__)
	ck_assert_double_gt(hz, 0);
#else
	ck_assert_double_eq(hz, 0);
#endif
}
END_TEST

START_TEST(a_meter_gives_what_was_asked_for_once)
{
	struct clock_meter *meter = clock_meter_create();
	double hz = 0;

	ck_assert_ptr_nonnull(meter);
	ck_assert_double_eq(clock_meter_take(meter), 0);
	clock_meter_ask(meter, sched_getcpu());
	clock_meter_ask(meter, 0);
	while (clock_measure() > 0 && hz <= 0)
		hz = clock_meter_wait(meter);
	ck_assert_double_eq(clock_meter_take(meter), 0);
	clock_meter_destroy(meter);
}
END_TEST

START_TEST(a_cpu_that_does_not_exist_does_no_harm)
{
	static const int cpus[] = { -1, 1023, 1024, 1 << 30 };

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct clock_meter *meter = clock_meter_create();
		double hz = 0;

		clock_meter_ask(meter, cpus[i]);
		while (clock_measure() > 0 && hz <= 0)
			hz = clock_meter_wait(meter);
		clock_meter_destroy(meter);
	}
}
END_TEST

START_TEST(a_meter_can_go_while_it_measures)
{
	for (int i = 0; i < 100; i++) {
		struct clock_meter *meter = clock_meter_create();

		clock_meter_ask(meter, i % 2);
		clock_meter_destroy(meter);
	}
}
END_TEST

START_TEST(no_meter_measures_nothing)
{
	clock_meter_ask(NULL, 0);
	ck_assert_double_eq(clock_meter_take(NULL), 0);
	ck_assert_double_eq(clock_meter_wait(NULL), 0);
	clock_meter_destroy(NULL);
}
END_TEST

HP_TEST_MAIN("collect/clock", this_machine_has_a_clock, a_meter_gives_what_was_asked_for_once,
	     a_cpu_that_does_not_exist_does_no_harm, a_meter_can_go_while_it_measures,
	     no_meter_measures_nothing)
