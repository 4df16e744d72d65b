/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rotation set of real events as it turns, by hand and by agents. */
#include "../software.h"

#include "../../src/count/agents.h"
#include "../../src/count/rotation.h"

#include <hpcprof/base/number.h>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const struct hp_mux_scheduler_options in_order = { .policy = HP_MUX_RR };

static struct rotation open_here(const struct software *software)
{
	struct counter_place here = { getpid(), -1 };
	struct counter_options options = {
		.events = &software->events,
		.places = &here,
		.place_count = 1,
	};
	struct rotation rotation;

	hp_assert_ok(rotation_open(&rotation, &software->rotation_sets.at[0], &options,
				   software->machine, &in_order));
	return rotation;
}

static struct hp_mux_estimate estimate(const struct rotation *rotation, size_t event)
{
	struct hp_mux_estimates *estimates;
	struct hp_mux_estimate found;

	hp_assert_ok(hp_mux_estimates_create(rotation->whole, HP_MUX_SCALE, rotation->position_ns,
					     &estimates));
	ck_assert_uint_lt(event, estimates->count);
	found = estimates->events[event];
	hp_mux_estimates_destroy(estimates);
	return found;
}

/* The same in each slice: pages, and time in which nothing but time passes. */
static void work(void)
{
	software_touch(100);
	software_burn(1000000);
}

TEST(each_group_has_its_slices_and_counts_nothing_in_those_of_others)
{
	struct software software =
		software_create("page-faults:u,minor-faults:u,alignment-faults:u", 1);
	struct rotation rotation = open_here(&software);
	uint32_t began_with = rotation.current;

	ck_assert(rotation_turns(&rotation));
	hp_assert_ok(rotation_begin(&rotation, hp_clock_monotonic_ns(), NULL, false, true));
	for (int i = 0; i < 29; i++) {
		work();
		rotation_turn(&rotation);
		ck_assert_uint_eq(rotation.current, (began_with + (unsigned)i + 1) % 3);
	}
	work();
	rotation_end(&rotation);
	ck_assert_uint_eq(rotation.slices, 30);
	for (size_t event = 0; event < 3; event++) {
		struct hp_mux_estimate found = estimate(&rotation, event);
		/* x86 and Arm64 fix unaligned accesses up without telling. */
		uint64_t least = event == 2 ? 0 : 1000;

		ck_assert_uint_eq(found.slices, 10);
		ck_assert_uint_ge(found.raw, least);
		ck_assert_uint_lt(found.raw, least + 10 * SOFTWARE_STRAY);
		ck_assert(found.running > 0 && found.running < 1);
		/* 3000, but for slices that were longer than others. */
		if (least)
			ck_assert_msg(found.count > 1200 && found.count < 12000, "%g", found.count);
	}
	rotation_close(&rotation);
	software_clear(&software);
}

TEST(slices_follow_each_other_on_the_line_of_time)
{
	struct software software = software_create("page-faults:u,minor-faults:u", 1);
	struct rotation rotation = open_here(&software);
	uint64_t begin_ns = hp_clock_monotonic_ns();
	uint64_t before_ns = begin_ns;

	hp_assert_ok(rotation_begin(&rotation, begin_ns, NULL, true, true));
	for (int i = 0; i < 10; i++) {
		software_burn(500000);
		rotation_turn(&rotation);
		/* A slice of half a millisecond at least, which had all its time counted. */
		ck_assert_uint_ge(rotation.begin_ns, before_ns + 500000);
		ck_assert_uint_eq(rotation.position_ns, rotation.begin_ns);
		before_ns = rotation.begin_ns;
	}
	rotation_end(&rotation);
	ck_assert_uint_le(rotation.begin_ns, hp_clock_monotonic_ns());
	ck_assert_uint_le(rotation.slice_ns, rotation.begin_ns - begin_ns);
	ck_assert(rotation_doubt(&rotation) >= 0 && rotation_doubt(&rotation) < 1);
	rotation_close(&rotation);
	software_clear(&software);
}

TEST(what_fits_never_turns_and_is_exact)
{
	struct software software = software_create("page-faults:u,minor-faults:u", 0);
	struct rotation rotation = open_here(&software);
	struct hp_mux_estimate found;

	ck_assert(!rotation_turns(&rotation));
	hp_assert_ok(rotation_begin(&rotation, hp_clock_monotonic_ns(), NULL, false, true));
	software_touch(200);
	rotation_look(&rotation);
	software_touch(300);
	rotation_end(&rotation);
	found = estimate(&rotation, 0);
	ck_assert_int_eq(found.verdict, HP_MUX_EXACT);
	ck_assert_uint_ge(found.raw, 500);
	ck_assert_uint_lt(found.raw, 500 + SOFTWARE_STRAY);
	ck_assert_double_eq(found.low, found.high);
	ck_assert_double_eq(rotation_doubt(&rotation), 0);
	rotation_close(&rotation);
	software_clear(&software);
}

TEST(a_group_that_had_no_slice_is_not_counted)
{
	struct software software = software_create("page-faults:u,minor-faults:u", 1);
	struct rotation rotation = open_here(&software);
	uint32_t first = rotation.current;

	hp_assert_ok(rotation_begin(&rotation, hp_clock_monotonic_ns(), NULL, false, true));
	work();
	rotation_end(&rotation);
	ck_assert_int_ne(estimate(&rotation, first).verdict, HP_MUX_NOT_COUNTED);
	ck_assert_int_eq(estimate(&rotation, 1 - first).verdict, HP_MUX_NOT_COUNTED);
	rotation_close(&rotation);
	software_clear(&software);
}

/* A process that does nothing but have children, from the moment it is told to. */
static pid_t start_parent(int go)
{
	pid_t pid = fork();
	char byte;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (read(go, &byte, 1) != 1)
		_exit(1);
	/* Some at once, and all end with the first of them. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		if (!fork() && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
			break;
	while (true) {
		pid_t child = fork();

		if (!child) {
			software_touch(10);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Linux 6.18 refuses to read groups while a child is ending, and a child that is born at the wrong
 * moment keeps a group that is switched off: neither may pass for a slice. */
TEST(children_that_come_and_go_spoil_no_slice)
{
	struct software software = software_create(
		"page-faults:u,minor-faults:u,major-faults:u,alignment-faults:u", 2);
	struct software always = software_create("dummy:u", 0);
	int go[2];
	pid_t parent;
	struct counter_place place;
	struct counter_options options = { .events = &software.events,
					   .places = &place,
					   .place_count = 1 };
	struct rotation rotation;
	struct counters clock;
	uint64_t ran_ns;

	ck_assert_int_eq(pipe(go), 0);
	parent = start_parent(go[0]);
	place = (struct counter_place){ parent, -1 };
	hp_assert_ok(rotation_open(&rotation, &software.rotation_sets.at[0], &options,
				   software.machine, &in_order));
	options.events = &always.events;
	hp_assert_ok(counters_open(&clock, &always.rotation_sets.at[0], &options, always.machine));
	counters_switch(&clock, 0, 0, 1, true);
	hp_assert_ok(rotation_begin(&rotation, hp_clock_monotonic_ns(), &clock, false, true));
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	for (int i = 0; i < 300; i++) {
		usleep(1000);
		rotation_turn(&rotation);
	}
	rotation_end(&rotation);
	ran_ns = rotation_clock_ns(&clock);
	ck_assert_uint_gt(ran_ns, 0);
	ck_assert_uint_gt(rotation.slices, 0);
	/* Slices do not overlap: together they are no longer than what they are slices of. */
	ck_assert_msg(rotation.enabled_ns <= ran_ns + ran_ns / 10, "%lu of %lu ns",
		      (unsigned long)rotation.enabled_ns, (unsigned long)ran_ns);
	ck_assert_uint_le(rotation.position_ns, ran_ns + ran_ns / 10);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	close(go[0]);
	close(go[1]);
	counters_close(&clock);
	rotation_close(&rotation);
	software_clear(&always);
	software_clear(&software);
}

/* --- agents ----------------------------------------------------------------------------------- */

enum { MOST_CPUS = 256 };

/* A place for each CPU that this thread may run on. */
static size_t places_here(struct counter_place *places)
{
	cpu_set_t cpus;
	size_t count = 0;

	CPU_ZERO(&cpus);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < MOST_CPUS; cpu++)
		if (CPU_ISSET((size_t)cpu, &cpus))
			places[count++] = (struct counter_place){ getpid(), cpu };
	return count;
}

TEST(agents_turn_the_groups_of_all_cpus_at_once)
{
	struct software software = software_create("page-faults:u,minor-faults:u", 1);
	struct counter_place places[MOST_CPUS];
	struct counter_options options = {
		.events = &software.events,
		.places = places,
		.place_count = places_here(places),
	};
	size_t threads = software_threads();
	struct rotation rotation;
	struct agents *agents;
	uint32_t began_with;

	hp_assert_ok(rotation_open(&rotation, &software.rotation_sets.at[0], &options,
				   software.machine, &in_order));
	began_with = rotation.current;
	hp_assert_ok(agents_create(&rotation, 1, &agents));
	if (!HP_TEST_UNDER_TSAN)
		ck_assert_uint_eq(software_threads(), threads + options.place_count);
	hp_assert_ok(rotation_begin(&rotation, hp_clock_monotonic_ns(), NULL, false, true));
	for (int i = 0; i < 20; i++) {
		work();
		agents_turn(agents);
		ck_assert_uint_eq(rotation.current, (began_with + (unsigned)i + 1) % 2);
	}
	agents_destroy(agents);
	/* A thread that was joined may still be listed for a moment. */
	for (int i = 0; i < 10000 && software_threads() > threads + HP_TEST_UNDER_TSAN; i++)
		usleep(1000);
	ck_assert_uint_le(software_threads(), threads + HP_TEST_UNDER_TSAN);
	ck_assert_uint_eq(rotation.slices, 20);
	for (size_t event = 0; event < 2; event++) {
		struct hp_mux_estimate found = estimate(&rotation, event);

		ck_assert_uint_eq(found.slices, 10);
		ck_assert_uint_ge(found.raw, 1000);
		ck_assert_uint_lt(found.raw, 1000 + 10 * SOFTWARE_STRAY);
	}
	rotation_close(&rotation);
	software_clear(&software);
}

TEST(agents_leave_alone_what_never_turns)
{
	struct software software = software_create("page-faults:u", 0);
	struct rotation rotation = open_here(&software);
	size_t threads = software_threads();
	struct agents *agents;

	hp_assert_ok(agents_create(&rotation, 1, &agents));
	ck_assert_uint_eq(software_threads(), threads);
	agents_destroy(agents);
	rotation_close(&rotation);
	software_clear(&software);
}

HP_TEST_MAIN_UNLESS(software_reason(), "count/rotation")
