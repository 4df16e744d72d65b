/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When windows are due, and what may be spent on them. */
#include "../../src/shadow/price.h"
#include "../../src/shadow/schedule.h"
#include "../support.h"

enum { SLOT = 1000000, SLOTS = 4000 };

START_TEST(there_is_one_moment_in_each_slot)
{
	struct schedule schedule;
	uint64_t now = 0;

	schedule_init(&schedule, 1);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, now, SLOT);
		ck_assert_uint_eq(schedule.start_ns, i * SLOT);
		ck_assert_uint_eq(schedule.end_ns, (i + 1) * SLOT);
		ck_assert_uint_ge(schedule.due_ns, schedule.start_ns);
		ck_assert_uint_lt(schedule.due_ns, schedule.end_ns);
		now = schedule.due_ns;
	}
}
END_TEST

START_TEST(moments_are_even_over_a_slot)
{
	uint64_t tenths[10] = { 0 };
	struct schedule schedule;

	schedule_init(&schedule, 7);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, i * SLOT, SLOT);
		tenths[(schedule.due_ns - schedule.start_ns) * 10 / SLOT]++;
	}
	/* 400 expected each, with a deviation of 19. */
	for (int i = 0; i < 10; i++) {
		ck_assert_uint_gt(tenths[i], 300);
		ck_assert_uint_lt(tenths[i], 500);
	}
}
END_TEST

START_TEST(slots_that_have_passed_are_left_out)
{
	struct schedule schedule;

	schedule_init(&schedule, 3);
	schedule_next(&schedule, 0, SLOT);
	schedule_next(&schedule, 7 * SLOT + 5, SLOT);
	ck_assert_uint_eq(schedule.start_ns, 7 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 7 * SLOT + 5);
	ck_assert_uint_lt(schedule.due_ns, 8 * SLOT);
}
END_TEST

START_TEST(another_moment_is_in_the_rest_of_the_slot)
{
	struct schedule schedule;

	schedule_init(&schedule, 5);
	schedule_next(&schedule, 0, SLOT);
	for (int i = 0; i < 100; i++) {
		schedule_again(&schedule, SLOT / 2);
		ck_assert_uint_ge(schedule.due_ns, SLOT / 2);
		ck_assert_uint_lt(schedule.due_ns, SLOT);
	}
	schedule_again(&schedule, 3 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 3 * SLOT);
	ck_assert_uint_lt(schedule.due_ns, 4 * SLOT);
}
END_TEST

START_TEST(windows_are_longer_where_they_are_fewer_within_bounds)
{
	const uint64_t ms = 1000000;
	uint64_t last = 0;

	for (uint64_t slot_ms = 1; slot_ms < 100000; slot_ms *= 2) {
		uint64_t window = schedule_window_ns(slot_ms * ms, 0);

		ck_assert_uint_ge(window, 100 * ms);
		ck_assert_uint_le(window, 1000 * ms);
		ck_assert_uint_ge(window, last);
		last = window;
	}
	ck_assert_uint_gt(last, schedule_window_ns(ms, 0));
	ck_assert_uint_eq(schedule_window_ns(60000 * ms, 70 * ms), 70 * ms);
}
END_TEST

START_TEST(a_dearer_copy_has_a_higher_price_and_a_longer_slot)
{
	struct ledger ledger;

	ledger_init(&ledger, 1, 0);
	ck_assert_uint_gt(ledger_price(&ledger, 1 << 20, 50), ledger_price(&ledger, 0, 50));
	ck_assert_uint_gt(ledger_price(&ledger, 0, 50), ledger_price(&ledger, 0, 0));
	/* 1 %: a hundred times. */
	ck_assert_uint_eq(ledger_slot(&ledger, 1000000), 100000000);
}
END_TEST

/* Windows of any price, wherever the slots put them: never more than the share of what has run, at
 * the end of each slot. */
START_TEST(what_is_allowed_stays_within_the_budget)
{
	struct hp_random random = hp_random_seeded(11);
	struct schedule schedule;
	struct ledger ledger;
	uint64_t now = 0;
	uint64_t windows = 0;

	ledger_init(&ledger, 2, 5000);
	schedule_init(&schedule, 13);
	schedule_next(&schedule, 0, 1000);
	for (int i = 0; i < SLOTS; i++) {
		uint64_t bytes = hp_random_between(&random, 0, 50 << 20);
		uint64_t price = ledger_price(&ledger, bytes, 50);

		now = schedule.due_ns;
		if (ledger_allows(&ledger, price, schedule.end_ns)) {
			ledger_other(&ledger, price);
			windows++;
		}
		ck_assert(0.02 * (double)schedule.end_ns >= (double)ledger.lost_ns);
		schedule_next(&schedule, now, ledger_slot(&ledger, price));
	}
	ck_assert_uint_gt(windows, SLOTS / 4);
	/* And most of it is spent. */
	ck_assert((double)ledger.lost_ns > 0.01 * (double)now);
}
END_TEST

START_TEST(prices_follow_what_is_measured)
{
	const uint64_t bytes = 100 << 20;
	struct ledger ledger;
	uint64_t wrong;

	ledger_init(&ledger, 1, 0);
	for (int i = 0; i < 30; i++)
		ledger_stop(&ledger, 20000000, bytes);
	wrong = ledger_price(&ledger, bytes, 0);
	/* 20 ms, and what cold caches are reckoned to take. */
	ck_assert_uint_ge(wrong, 19000000);
	ck_assert_uint_le(wrong, 24000000);
	ck_assert_uint_ge(ledger.lost_ns, 30 * 20000000ull);
	ck_assert_uint_eq(ledger.stopped_ns, 30 * 20000000ull);
	/* Slower now. */
	for (int i = 0; i < 30; i++)
		ledger_stop(&ledger, 60000000, bytes);
	ck_assert_uint_ge(ledger_price(&ledger, bytes, 0), 55000000);
}
END_TEST

START_TEST(memory_to_spare_is_what_the_kernel_says_less_a_reserve)
{
	uint64_t total = 0;

	ck_assert_uint_eq(meminfo_available("MemTotal:  1000 kB\nMemFree: 5 kB\n"
					    "MemAvailable:    700 kB\n",
					    &total),
			  700 * 1024);
	ck_assert_uint_eq(total, 1000 * 1024);
	ck_assert_uint_eq(meminfo_available("", &total), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: many kB\n", &total), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: 99999999999999999999 kB\n", &total), 0);
}
END_TEST

HP_TEST_MAIN("shadow/schedule", there_is_one_moment_in_each_slot, moments_are_even_over_a_slot,
	     slots_that_have_passed_are_left_out, another_moment_is_in_the_rest_of_the_slot,
	     windows_are_longer_where_they_are_fewer_within_bounds,
	     a_dearer_copy_has_a_higher_price_and_a_longer_slot,
	     what_is_allowed_stays_within_the_budget, prices_follow_what_is_measured,
	     memory_to_spare_is_what_the_kernel_says_less_a_reserve)
