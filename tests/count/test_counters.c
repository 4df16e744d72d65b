/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of real events: what is counted while they are on, and of whom. */
#include "../software.h"

#include "../../src/count/counters.h"

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/breakpoints.h>

#include <linux/hw_breakpoint.h>
#include <sys/wait.h>

static struct counters open_here(const struct software *software)
{
	struct counter_place here = { getpid(), -1 };
	struct counter_options options = {
		.events = &software->events,
		.places = &here,
		.place_count = 1,
	};
	struct counters counters;

	hp_assert_ok(counters_open(&counters, &software->rotation_sets.at[0], &options,
				   software->machine));
	return counters;
}

static uint64_t read_one(const struct counters *counters, size_t group, size_t value)
{
	uint64_t values[8] = { 0 };
	struct counter_reading reading = { .values = values };

	ck_assert_uint_le(counters->value_count, HP_ARRAY_COUNT(values));
	counters_read(counters, group, 0, counters->place_count, &reading);
	return values[value];
}

TEST(a_group_counts_only_while_it_is_switched_on)
{
	struct software software = software_create("page-faults:u,minor-faults:u", 1);
	struct counters counters = open_here(&software);

	ck_assert_uint_eq(software.rotation_sets.at[0].group_count, 2);
	software_touch(300);
	counters_switch(&counters, 0, 0, 1, true);
	software_touch(1000);
	counters_switch(&counters, 0, 0, 1, false);
	software_touch(300);
	counters_switch(&counters, 0, 0, 1, true);
	software_touch(500);
	counters_switch(&counters, 0, 0, 1, false);
	software_touch(300);
	ck_assert_uint_ge(read_one(&counters, 0, 0), 1500);
	ck_assert_uint_lt(read_one(&counters, 0, 0), 1500 + SOFTWARE_STRAY);
	ck_assert_uint_eq(read_one(&counters, 1, 0), 0);
	counters_close(&counters);
	software_clear(&software);
}

TEST(clocks_in_a_group_keep_their_time_when_it_is_switched)
{
	struct software software =
		software_create("page-faults:u,task-clock:u,minor-faults:u,alignment-faults:u", 2);
	struct counters counters = open_here(&software);
	const struct hp_counter_group *group = &software.rotation_sets.at[0].groups[0];
	uint64_t begin_ns;
	uint64_t burnt_ns = 0;
	uint64_t counted;

	ck_assert_uint_eq(group->count, 2);
	ck_assert_str_eq(software.events.events[group->events[1]].name, "task-clock:u");
	for (int i = 0; i < 20; i++) {
		counters_switch(&counters, 0, 0, 1, true);
		begin_ns = hp_clock_thread_ns();
		software_touch(10);
		software_burn(2000000);
		burnt_ns += hp_clock_thread_ns() - begin_ns;
		counters_switch(&counters, 0, 0, 1, false);
		software_burn(2000000);
	}
	counted = read_one(&counters, 0, 1);
	ck_assert_msg(counted > burnt_ns / 2 && counted < burnt_ns * 3 / 2, "%lu of %lu ns",
		      (unsigned long)counted, (unsigned long)burnt_ns);
	/* What goes with the clock is counted as well. */
	ck_assert_uint_ge(read_one(&counters, 0, 0), 200);
	counters_close(&counters);
	software_clear(&software);
}

static volatile long watched;

/* Linux 6.18 forgets siblings of another of its PMUs when their group is switched on again. */
TEST(events_of_different_kinds_go_on_counting_when_their_group_is_switched)
{
	struct software software = { 0 };
	struct counters counters;
	char events[128];

	if (hp_breakpoints_try(HW_BREAKPOINT_W) != HP_BREAKPOINTS_FIRE) {
		puts("# skipped: breakpoints are not to be had here, or never fire");
		fflush(stdout);
		return;
	}
	snprintf(events, sizeof(events),
		 "page-faults:u,mem:%p/8:w:u,task-clock:u,minor-faults:u,alignment-faults:u",
		 (void *)(uintptr_t)&watched);
	software = software_create(events, 4);
	counters = open_here(&software);
	ck_assert_uint_eq(software.rotation_sets.at[0].groups[0].count, 4);
	for (long i = 0; i < 20; i++) {
		counters_switch(&counters, 0, 0, 1, true);
		software_touch(10);
		watched = i;
		counters_switch(&counters, 0, 0, 1, false);
		software_touch(10);
		watched = i;
	}
	for (size_t i = 0; i < 4; i++) {
		const uint64_t least[] = { 200, 20, 0, 200 };
		uint64_t found = read_one(&counters, 0, i);

		ck_assert_uint_ge(found, least[i]);
		if (least[i])
			ck_assert_uint_lt(found, least[i] + SOFTWARE_STRAY);
	}
	counters_close(&counters);
	software_clear(&software);
}

TEST(what_all_fits_counts_together)
{
	struct software software = software_create("page-faults:u,minor-faults:u,task-clock:u", 0);
	struct counters counters = open_here(&software);

	ck_assert_uint_eq(software.rotation_sets.at[0].group_count, 1);
	counters_switch(&counters, 0, 0, 1, true);
	software_touch(100);
	counters_switch(&counters, 0, 0, 1, false);
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_ge(read_one(&counters, 0, i), 100);
	ck_assert_uint_gt(read_one(&counters, 0, 2), 0);
	counters_close(&counters);
	software_clear(&software);
}

TEST(children_count_while_they_live_and_after)
{
	struct software software = software_create("page-faults:u", 0);
	struct counters counters = open_here(&software);
	pid_t child;
	int status;

	counters_switch(&counters, 0, 0, 1, true);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		software_touch(2000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_ge(read_one(&counters, 0, 0), 2000);
	counters_close(&counters);
	software_clear(&software);
}

/* A process that has ended and been waited for: nobody has its number (for a while). */
static pid_t ended(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	return child;
}

TEST(a_thread_that_has_ended_is_an_error_only_when_it_is_alone)
{
	struct software software = software_create("page-faults:u", 0);
	struct counter_place places[] = { { ended(), -1 }, { getpid(), -1 } };
	struct counter_options options = { .events = &software.events, .places = places };
	struct counters counters;

	options.place_count = 1;
	hp_assert_fails(HP_ERROR_NOT_FOUND, counters_open(&counters, &software.rotation_sets.at[0],
							  &options, software.machine));
	counters_close(&counters);
	options.place_count = 2;
	hp_assert_ok(counters_open(&counters, &software.rotation_sets.at[0], &options,
				   software.machine));
	counters_switch(&counters, 0, 0, 2, true);
	software_touch(100);
	counters_switch(&counters, 0, 0, 2, false);
	ck_assert_uint_ge(read_one(&counters, 0, 0), 100);
	counters_close(&counters);
	software_clear(&software);
}

TEST(readings_of_several_places_add_up_to_what_was_there)
{
	struct software software = software_create("page-faults:u", 0);
	struct counter_place places[] = { { getpid(), -1 }, { getpid(), -1 } };
	struct counter_options options = {
		.events = &software.events,
		.places = places,
		.place_count = 2,
	};
	struct counters counters;
	uint64_t value = 0;
	struct counter_reading reading = { .values = &value };

	hp_assert_ok(counters_open(&counters, &software.rotation_sets.at[0], &options,
				   software.machine));
	counters_switch(&counters, 0, 0, 1, true);
	software_touch(400);
	/* The second alone from here. */
	counters_switch(&counters, 0, 1, 1, true);
	counters_switch(&counters, 0, 0, 1, false);
	software_touch(100);
	counters_switch(&counters, 0, 1, 1, false);
	value = 7;
	counters_read(&counters, 0, 0, 2, &reading);
	ck_assert_uint_ge(value, 507);
	ck_assert_uint_lt(value, 507 + SOFTWARE_STRAY);
	value = 0;
	counters_read(&counters, 0, 1, 1, &reading);
	ck_assert_uint_ge(value, 100);
	ck_assert_uint_lt(value, 100 + SOFTWARE_STRAY);
	/* Nothing is the reference event here but the time it ran. */
	ck_assert_uint_eq(reading.reference, reading.running_ns);
	ck_assert_uint_gt(reading.running_ns, 0);
	counters_close(&counters);
	software_clear(&software);
}

TEST(closing_leaves_no_descriptor)
{
	struct software software = software_create("page-faults:u,minor-faults:u,task-clock:u", 2);
	size_t before = software_descriptors();
	struct counters counters = open_here(&software);

	ck_assert_uint_gt(software_descriptors(), before);
	counters_close(&counters);
	ck_assert_uint_eq(software_descriptors(), before);
	software_clear(&software);
}

HP_TEST_MAIN_UNLESS(software_reason(), "count/counters")
