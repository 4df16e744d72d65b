/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system_calls.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

static uint64_t timespec_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* CPU time of a process; 0 if it is gone. */
static uint64_t process_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return 0;
	return timespec_ns(time);
}

/* The kernel lets only a process itself read the clocks of its threads; /proc shows the same
 * number. */
static uint64_t thread_ns(pid_t pid, pid_t tid)
{
	struct hp_thread_times times = { 0 };

	(void)hp_thread_times(pid, tid, &times);
	return times.ran_ns;
}

void shadow_clock_copied(struct shadow_clock *clock, pid_t pid, pid_t tid)
{
	struct timespec stamp = { 0 };
	struct timespec real = { 0 };

	clock_gettime(CLOCK_REALTIME_COARSE, &stamp);
	clock_gettime(CLOCK_REALTIME, &real);
	clock->stamp_ns = timespec_ns(stamp);
	clock->real_ns = timespec_ns(real);
	clock->copied_ns = hp_clock_monotonic_ns();
	clock->process_ns = process_ns(pid);
	clock->thread_ns = thread_ns(pid, tid);
}

void shadow_clock_start(struct shadow_clock *clock, pid_t copy)
{
	clock->own_start_ns = process_ns(copy);
}

bool shadow_clock_read(const struct shadow_clock *clock, pid_t copy, clockid_t id,
		       struct timespec *time)
{
	uint64_t run_ns = process_ns(copy) - clock->own_start_ns;
	uint64_t value_ns;

	if (id == CLOCK_PROCESS_CPUTIME_ID) {
		value_ns = clock->process_ns + run_ns;
	} else if (id == CLOCK_THREAD_CPUTIME_ID) {
		value_ns = clock->thread_ns + run_ns;
	} else {
		/* The present time of the clock, moved back to the copy's time. */
		if (id < 0 || clock_gettime(id, time) < 0)
			return false;
		value_ns = timespec_ns(*time) - hp_clock_monotonic_ns() +
			   (clock->logged_ns ? clock->logged_ns : clock->copied_ns + run_ns);
	}
	*time = (struct timespec){ (time_t)(value_ns / 1000000000), (long)(value_ns % 1000000000) };
	return true;
}

bool shadow_clock_is_before(const struct shadow_clock *clock, struct timespec stamp)
{
	return timespec_ns(stamp) < clock->stamp_ns;
}

bool shadow_clock_is_after(const struct shadow_clock *clock, struct timespec stamp)
{
	return timespec_ns(stamp) > clock->real_ns;
}
