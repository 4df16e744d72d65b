/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler is asked for, and says. */
#include "../support.h"

#include <hpcprof/base/thread.h>

#include <stdio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* struct sched_attr of the kernel, up to the slice. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static uint64_t slice_ns(void)
{
	struct attributes attributes = { 0 };

	ck_assert_int_eq(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0), 0);
	return attributes.runtime_ns;
}

static bool has_slices(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	ck_assert_int_eq(uname(&name), 0);
	return sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 12));
}

TEST(a_thread_has_the_slice_that_was_asked_for)
{
	hp_thread_set_slice(0, 300000);
	if (has_slices())
		ck_assert_uint_eq(slice_ns(), 300000);
	hp_thread_set_slice(gettid(), 5000000);
	if (has_slices())
		ck_assert_uint_eq(slice_ns(), 5000000);
	/* Nobody's. */
	hp_thread_set_slice(-1, 300000);
}

TEST(a_thread_is_a_batch_thread_for_as_long_as_it_says)
{
	int before = sched_getscheduler(0);
	bool was_batch = hp_thread_set_batch(true);

	ck_assert_int_eq(sched_getscheduler(0), SCHED_BATCH);
	ck_assert(was_batch == (before == SCHED_BATCH));
	ck_assert(hp_thread_set_batch(was_batch));
	ck_assert_int_eq(sched_getscheduler(0), before);
}

TEST(who_hurries_goes_before_others_unless_told_to_give_way)
{
	int nice_before = getpriority(PRIO_PROCESS, 0);

	hp_thread_hurry(200000, nice_before - 5);
	if (has_slices())
		ck_assert_uint_eq(slice_ns(), 200000);
	if (nice_before == 0 && geteuid() == 0)
		ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), -5);
	else
		ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), nice_before);
	ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 7), 0);
	hp_thread_hurry(300000, -5);
	if (has_slices())
		ck_assert_uint_eq(slice_ns(), 300000);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), 7);
}

static void *give_way(void *niceness)
{
	hp_thread_give_way();
	*(int *)niceness = getpriority(PRIO_PROCESS, (id_t)gettid());
	return NULL;
}

TEST(a_thread_that_gives_way_has_the_lowest_priority_alone)
{
	int before = getpriority(PRIO_PROCESS, (id_t)gettid());
	int niceness = 0;
	pthread_t thread;

	ck_assert_int_eq(hp_thread_start(&thread, give_way, &niceness), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(niceness, 19);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)gettid()), before);
}

TEST(times_of_a_thread_grow_while_it_runs)
{
	struct hp_thread_times before, after;
	struct timespec used = { 0 };

	if (!hp_thread_times(getpid(), gettid(), &before))
		return; /* a kernel without schedstat */
	while (used.tv_sec == 0 && used.tv_nsec < 30000000)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	ck_assert(hp_thread_times(getpid(), gettid(), &after));
	ck_assert_uint_gt(after.ran_ns, before.ran_ns);
	ck_assert_uint_ge(after.delayed_ns, before.delayed_ns);
	ck_assert(!hp_thread_times(getpid(), 0, &after));
}

TEST(waits_of_a_thread_are_counted)
{
	enum { WAITS = 3 };
	const struct timespec soon = { .tv_nsec = 1000000 };
	uint64_t before, after;

	ck_assert(hp_thread_waits(getpid(), gettid(), &before));
	for (int i = 0; i < WAITS; i++)
		nanosleep(&soon, NULL);
	ck_assert(hp_thread_waits(getpid(), gettid(), &after));
	ck_assert_uint_ge(after, before + WAITS);
}

TEST(reads_and_writes_of_a_thread_are_counted)
{
	uint64_t before, after;
	char byte = 0;
	int ends[2];

	if (!hp_thread_transfers(getpid(), gettid(), &before))
		return; /* a kernel without counts of I/O */
	ck_assert_int_eq(pipe(ends), 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(write(ends[1], &byte, 1), 1);
		ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	}
	ck_assert(hp_thread_transfers(getpid(), gettid(), &after));
	ck_assert_uint_ge(after, before + 200);
	/* Reading the count takes a few more. */
	ck_assert_uint_le(after, before + 220);
	ck_assert(!hp_thread_transfers(getpid(), 0, &after));
	close(ends[0]);
	close(ends[1]);
}

HP_TEST_MAIN("base/thread")
